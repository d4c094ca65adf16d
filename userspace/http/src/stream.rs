//! `/api/v1/events/stream`: history, then live records, as server-sent events (WHATWG HTML,
//! section 9.2), without gap or duplicate.
//!
//! One task feeds one reader through a short channel. While a reader takes nothing, the task leaves the
//! live stream, so that it does not keep what is published there; once the reader is back, the task fetches
//! what it missed from the store. History is read a page at a time too.

use std::collections::{HashMap, HashSet};
use std::convert::Infallible;
use std::pin::Pin;
use std::str::FromStr;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::response::sse::{Event as Message, KeepAlive, Sse};
use futures_util::Stream;
use gtrace_api::{Gap, Published, PublishedIncident};
use gtrace_engine::hub::{News, Subscription};
use gtrace_event::{Event, EventChange, EventId, Record, RecordId};
use gtrace_store::Resume;
use serde::Serialize;
use tokio::sync::{broadcast, mpsc};
use tokio::time::timeout;

use super::AppState;
use super::archive::{Archive, ArchiveError, Pages};
use super::body::PAGE_BYTES;
use super::peer::Peer;
use super::query::{DEFAULT_LIMIT, EventQuery};
use super::share::Share;

/// Messages that wait for a slow reader.
const CHANNEL_DEPTH: usize = 8;
/// Records fetched from the store at once.
const PAGE: usize = 32;
/// A reader that takes no message for so long is taken off the live stream until it does.
const PATIENCE: Duration = Duration::from_secs(1);
/// What is remembered of an event that was sent as history, bytes.
pub(super) const SEEN_BYTES: usize = 48;
/// A comment is sent after so much silence, so that both ends notice a dead connection.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

/// What a reader wants to know of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Subject {
    /// Events, their amendments and acknowledgements.
    Events,
    Incidents,
}

/// Where a reader begins.
#[derive(Clone, Debug)]
pub(super) enum Begin {
    /// With what is published from now on.
    Now,
    /// With the folded events of the store that match.
    History,
    /// After this record (`Last-Event-ID`, `after`).
    After(Position),
}

/// Where a reader was.
#[derive(Clone, Copy, Debug)]
pub(super) enum Position {
    /// At this record.
    Id(RecordId),
    /// At the record with this number, whichever the store has under it.
    Seq(u64),
}

impl FromStr for Position {
    type Err = gtrace_event::RecordIdError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text.parse() {
            Ok(seq) => Ok(Self::Seq(seq)),
            Err(_) => text.parse().map(Self::Id),
        }
    }
}

type Item = Result<Message, Infallible>;

/// The receiving end, as axum wants it.
pub(super) struct Messages(mpsc::Receiver<Message>);

impl Stream for Messages {
    type Item = Item;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Item>> {
        self.0.poll_recv(cx).map(|message| message.map(Ok))
    }
}

/// What a reader holds of what there is for all.
pub(super) struct Shares {
    pub(super) place: Share,
    /// For what is remembered of its history.
    pub(super) account: Option<Share>,
}

/// What a reader asks for.
pub(super) struct Wish {
    pub(super) subject: Subject,
    pub(super) query: EventQuery,
    pub(super) begin: Begin,
}

/// Starts a reader's task.
pub(super) fn start(
    state: AppState,
    peer: Peer,
    wish: Wish,
    shares: Shares,
) -> Sse<impl Stream<Item = Item> + use<>> {
    let Shares { place, account } = shares;
    let Wish {
        subject,
        query,
        begin,
    } = wish;
    let (out, messages) = mpsc::channel(CHANNEL_DEPTH);
    let mut shutdown = state.shutdown.clone();
    tokio::spawn(async move {
        let _place = place;
        let closed = out.clone();
        let live_query = EventQuery {
            since: None,
            ..query.clone()
        };
        let mut reader = StreamReader {
            state,
            peer,
            subject,
            query,
            live_query,
            live: None,
            out,
            cursor: 0,
            announced: None,
            history: None,
        };
        tokio::select! {
            _ = reader.run(begin, account) => {}
            // A reader that goes away frees its place at once, not at the next event.
            () = closed.closed() => {}
            _ = shutdown.wait_for(|end| *end) => {}
        }
    });
    Sse::new(Messages(messages)).keep_alive(KeepAlive::new().interval(KEEP_ALIVE))
}

/// The reader has gone.
struct Gone;

struct StreamReader {
    state: AppState,
    peer: Peer,
    subject: Subject,
    /// What the history is asked for.
    query: EventQuery,
    /// The same without `since`.
    live_query: EventQuery,
    /// `None` before it is live, and while it takes nothing.
    live: Option<broadcast::Receiver<News>>,
    out: mpsc::Sender<Message>,
    /// Every record up to this one was sent or did not match.
    cursor: u64,
    /// The last that was sent provisionally.
    announced: Option<Arc<Published>>,
    /// What was sent as history, while records that it may have are still to come.
    history: Option<History>,
}

impl StreamReader {
    async fn run(&mut self, begin: Begin, account: Option<Share>) -> Result<(), Gone> {
        // Without a gap between what the hub says is stored and what comes live.
        let provisional = self.join();
        match begin {
            Begin::Now => {}
            Begin::After(position) => self.resume(position, self.cursor).await?,
            Begin::History => self.send_history(account).await?,
        }
        // Gives the reader an id to resume from even if nothing happens before it must.
        let here = self.position().await;
        self.send(Message::default().id(here).comment("live"))
            .await?;
        self.send_announced(provisional).await?;
        loop {
            let Some(live) = &mut self.live else {
                self.rejoin().await?;
                continue;
            };
            let news = match live.recv().await {
                Ok(news) => news,
                Err(broadcast::error::RecvError::Lagged(_)) => continue,
                Err(broadcast::error::RecvError::Closed) => return Ok(()),
            };
            let id = match (news.id(), &news) {
                (Some(id), _) => id,
                (None, News::Event(published)) => {
                    self.send_provisional(Arc::clone(published)).await?;
                    continue;
                }
                (None, News::Incident(_) | News::Health(_)) => continue,
            };
            if id.seq <= self.cursor {
                continue;
            }
            if id.seq > self.cursor + 1 {
                self.catch_up(id.seq - 1).await?;
            }
            match news {
                News::Event(published) => self.deliver(id, &published).await?,
                News::Incident(published) => self.deliver_incident(id, &published).await?,
                // Whoever asks for health asks for it as it is now.
                News::Health(_) => self.cursor = id.seq,
            }
        }
    }

    /// Joins the live stream at the end of what is stored; gives what waits for the store.
    fn join(&mut self) -> Vec<Arc<Published>> {
        let Subscription {
            last,
            provisional,
            live,
        } = self.state.hub.subscribe();
        self.live = Some(live);
        self.cursor = last.map_or(0, |id| id.seq);
        provisional
    }

    /// Joins again, and sends what came meanwhile.
    async fn rejoin(&mut self) -> Result<(), Gone> {
        let cursor = self.cursor;
        let provisional = self.join();
        let last = std::mem::replace(&mut self.cursor, cursor);
        self.catch_up(last).await?;
        self.send_announced(provisional).await
    }

    /// Sends those of `provisional` that come after the last one that was sent.
    async fn send_announced(&mut self, provisional: Vec<Arc<Published>>) -> Result<(), Gone> {
        let sent = self.announced.as_ref();
        let known = provisional
            .iter()
            .position(|p| sent.is_some_and(|sent| Arc::ptr_eq(p, sent)));
        let new = known.map_or(0, |at| at + 1);
        for published in provisional.into_iter().skip(new) {
            self.send_provisional(published).await?;
        }
        Ok(())
    }

    /// The id of the record at the cursor; for a store without records its number, 0.
    async fn position(&self) -> String {
        let seq = self.cursor;
        let id = self
            .state
            .read(self.peer, move |archive| archive.id_of(seq))
            .await;
        id.ok()
            .flatten()
            .map_or_else(|| seq.to_string(), |id| id.to_string())
    }

    /// Sends the folded history, a page at a time. Records that are appended while it is read may or may
    /// not be in it: the live part sends what was not seen.
    async fn send_history(&mut self, account: Option<Share>) -> Result<(), Gone> {
        let mut query = self.query.clone();
        query.limit.get_or_insert(DEFAULT_LIMIT);
        let begin = self.cursor;
        let mut seen = HashMap::new();
        let found = self
            .state
            .read(self.peer, move |archive| Pages::new(archive, query));
        let mut pages = found.await.map(Some);
        let end = loop {
            let read = match pages {
                Ok(Some(pages)) => self
                    .state
                    .read(self.peer, move |archive| history_page(archive, pages)),
                Ok(None) => {
                    let end = self
                        .state
                        .read(self.peer, |archive| archive.last_seq())
                        .await;
                    break end.unwrap_or(begin);
                }
                Err(problem) => {
                    let reason = format!("no history: {}", problem.body.cause);
                    return self.gap(None, reason).await;
                }
            };
            pages = match read.await {
                Ok((pages, page)) => {
                    for (id, event, message) in page {
                        seen.insert(id, event);
                        self.send(message).await?;
                    }
                    Ok(Some(pages).filter(|pages| !pages.is_done()))
                }
                Err(problem) => Err(problem),
            };
        };
        self.history = (end > begin).then_some(History {
            seen,
            end,
            _account: account,
        });
        Ok(())
    }

    /// Continues where another connection, perhaps to another daemon, ended.
    async fn resume(&mut self, position: Position, last: u64) -> Result<(), Gone> {
        let found = self
            .state
            .read(self.peer, move |archive| match position {
                Position::Seq(seq) if seq <= last => Ok(Resume::After(seq)),
                Position::Seq(seq) => Ok(Resume::Lost {
                    after: last,
                    records: seq - last,
                }),
                Position::Id(id) => archive.resume_after(id, last),
            })
            .await;
        match found {
            Ok(Resume::After(seq)) => self.cursor = seq,
            Ok(Resume::Lost { after, records }) => {
                let reason = format!(
                    "the newest {records} records that were sent are lost; the store goes on after \
                     record {after}"
                );
                self.cursor = after;
                self.gap(None, reason).await?;
            }
            Ok(Resume::Unknown) => {
                let reason = "the record asked for is none of this store: all that it has follows";
                self.cursor = 0;
                self.gap(None, reason.to_owned()).await?;
            }
            Err(problem) => {
                self.cursor = last;
                return self.gap(None, problem.body.cause).await;
            }
        }
        self.catch_up(last).await
    }

    /// Sends the records after the cursor up to `last` from the store.
    async fn catch_up(&mut self, last: u64) -> Result<(), Gone> {
        while self.cursor < last {
            let after = self.cursor;
            let page = self
                .state
                .read(self.peer, move |archive| page_after(archive, after))
                .await;
            let reason = match page {
                Ok(Some(page)) => {
                    self.send_page(page, last).await?;
                    continue;
                }
                Ok(None) => "the store does not have them".to_owned(),
                Err(problem) => problem.body.cause,
            };
            self.gap(Some(last - self.cursor), reason).await?;
            self.cursor = last;
        }
        Ok(())
    }

    async fn send_page(&mut self, page: Page, last: u64) -> Result<(), Gone> {
        for (id, news) in page.records {
            if id.seq > last {
                // It is in the live channel too, or that lags and asks for it again.
                break;
            }
            self.pass_over(id.seq - 1).await?;
            match news {
                News::Event(published) => self.deliver(id, &published).await?,
                News::Incident(published) => self.deliver_incident(id, &published).await?,
                // Whoever asks for health asks for it as it is now.
                News::Health(_) => self.cursor = id.seq,
            }
        }
        self.pass_over(page.end.min(last)).await
    }

    /// What is there up to record `seq` is not sent.
    async fn pass_over(&mut self, seq: u64) -> Result<(), Gone> {
        let missed = seq.saturating_sub(self.cursor);
        if missed > 0 {
            self.gap(Some(missed), "the store no longer has them".to_owned())
                .await?;
            self.cursor = seq;
        }
        Ok(())
    }

    async fn deliver(&mut self, id: RecordId, published: &Published) -> Result<(), Gone> {
        self.cursor = id.seq;
        let known = self
            .history
            .as_ref()
            .is_some_and(|history| history.has(published));
        if self
            .history
            .as_ref()
            .is_some_and(|history| history.end <= id.seq)
        {
            self.history = None;
        }
        if known || !self.wanted(&published.event) {
            return Ok(());
        }
        let name = match published.change {
            None => "event",
            Some(EventChange::Amendment(_)) => "amendment",
            Some(EventChange::Ack(_)) => "ack",
        };
        let message = Message::default().id(id.to_string()).event(name);
        self.send_json(message, published).await
    }

    async fn deliver_incident(
        &mut self,
        id: RecordId,
        published: &PublishedIncident,
    ) -> Result<(), Gone> {
        self.cursor = id.seq;
        if self.subject == Subject::Events {
            return Ok(());
        }
        let message = Message::default().id(id.to_string()).event("incident");
        self.send_json(message, published).await
    }

    /// `since` is about the history: a repeat of an older event is news all the same.
    fn wanted(&self, event: &Event) -> bool {
        self.subject == Subject::Events && self.live_query.matches(event)
    }

    /// Without an id, so that nobody resumes from a record that the store may never have.
    async fn send_provisional(&mut self, published: Arc<Published>) -> Result<(), Gone> {
        self.announced = Some(Arc::clone(&published));
        let known = self.history.as_ref().is_some_and(|h| h.has(&published));
        if known || !self.wanted(&published.event) {
            return Ok(());
        }
        self.send_json(Message::default().event("provisional"), &*published)
            .await
    }

    async fn gap(&mut self, missed: Option<u64>, reason: String) -> Result<(), Gone> {
        self.send_json(Message::default().event("gap"), &Gap { missed, reason })
            .await
    }

    async fn send_json(&mut self, message: Message, data: &impl Serialize) -> Result<(), Gone> {
        // The types of the API always make JSON: they have string keys and no failing parts.
        let Ok(text) = serde_json::to_string(data) else {
            return Ok(());
        };
        self.send(message.data(text)).await
    }

    async fn send(&mut self, message: Message) -> Result<(), Gone> {
        let place = match timeout(PATIENCE, self.out.reserve()).await {
            Ok(place) => place,
            Err(_) => {
                self.live = None;
                self.out.reserve().await
            }
        };
        place.map_err(|_| Gone)?.send(message);
        Ok(())
    }
}

/// A page of history: what is to be remembered of each event, and its message.
type HistoryPage = Vec<(EventId, Seen, Message)>;

fn history_page(archive: &Archive, mut pages: Pages) -> Result<(Pages, HistoryPage), ArchiveError> {
    let mut page = HistoryPage::new();
    pages.next(archive, PAGE_BYTES, |event| {
        let seen = Seen {
            revision: event.revision,
            acks: event.acks.len(),
        };
        let id = event.id;
        let text = serde_json::to_string(&Published::of_history(event)).unwrap_or_default();
        // No id: a reader that loses the connection here must ask for the history again.
        let message = Message::default().event("event").data(&text);
        page.push((id, seen, message));
        text.len()
    })?;
    Ok((pages, page))
}

struct History {
    seen: HashMap<EventId, Seen>,
    /// The store's end after the history was read.
    end: u64,
    _account: Option<Share>,
}

/// How much of an event the history had.
struct Seen {
    revision: u32,
    acks: usize,
}

impl History {
    fn has(&self, published: &Published) -> bool {
        let Some(seen) = self.seen.get(&published.event.id) else {
            return false;
        };
        match &published.change {
            None => true,
            Some(EventChange::Amendment(amendment)) => amendment.revision <= seen.revision,
            Some(EventChange::Ack(_)) => published.event.acks.len() <= seen.acks,
        }
    }
}

/// Some records of the store.
struct Page {
    /// Those whose events the store has: retention takes an event before its last changes.
    records: Vec<(RecordId, News)>,
    /// The last record that was read.
    end: u64,
}

/// A page of records, each with its event as the page gives it, else as it is now; `None` if there are none.
fn page_after(archive: &Archive, seq: u64) -> Result<Option<Page>, ArchiveError> {
    let mut events: HashMap<EventId, Event> = HashMap::new();
    let mut page = Vec::new();
    let epochs = archive.epochs()?;
    let records = archive.records_after(seq, PAGE)?;
    let Some(end) = records.last().map(|(seq, _)| *seq) else {
        return Ok(None);
    };
    let mut met = HashSet::new();
    let begun_before = records.iter().filter_map(|(_, record)| {
        let id = record.event_id().filter(|id| met.insert(*id))?;
        (!matches!(record, Record::Event(_))).then_some(id)
    });
    let stored = archive.events(&begun_before.collect::<Vec<_>>())?;
    let mut stored: HashMap<EventId, Event> = stored.into_iter().map(|e| (e.id, e)).collect();
    for (seq, record) in records {
        let Some(id) = record.event_id() else {
            match (record, epochs.id_of(seq)) {
                (Record::Incident(incident), Some(id)) => {
                    let published = PublishedIncident::new(Some(id), *incident);
                    page.push((id, News::Incident(Arc::new(published))));
                }
                (Record::Health(_), Some(id)) => page.push((id, News::Health(id))),
                _ => {}
            }
            continue;
        };
        match (&record, events.get_mut(&id)) {
            (Record::Event(event), _) => {
                events.insert(id, (**event).clone());
            }
            (Record::Amendment(amendment), Some(event)) => event.apply(amendment),
            (Record::Ack(ack), Some(event)) if !event.acks.contains(ack) => {
                event.acks.push(ack.clone());
            }
            (_, Some(_)) => {}
            (_, None) => {
                events.extend(stored.remove(&id).map(|event| (id, event)));
            }
        }
        if let (Some(event), Some(id)) = (events.get(&id), epochs.id_of(seq)) {
            let published = Published::committed(id, record.into_change(), event.clone());
            page.push((id, News::Event(Arc::new(published))));
        }
    }
    Ok(Some(Page { records: page, end }))
}

#[cfg(test)]
mod tests {
    use gtrace_event::Amendment;
    use gtrace_store::{Options, Store};

    use super::*;
    use crate::archive::tests::xids;

    #[test]
    fn history_knows_what_it_had_and_not_what_came_after() {
        let time = "2026-03-03T04:05:06Z".parse().unwrap();
        let [event] = xids(time, ["x"]);
        let seen = HashMap::from([(
            event.id,
            Seen {
                revision: 1,
                acks: 0,
            },
        )]);
        let history = History {
            seen,
            end: 9,
            _account: None,
        };
        let amended = |revision| {
            let new = Event {
                revision,
                repeats: 1,
                ..event.clone()
            };
            let amendment = Amendment::between(&event, &new, time).unwrap();
            let change = EventChange::Amendment(Box::new(amendment));
            Published::provisional(Some(change), new)
        };
        assert!(history.has(&amended(1)));
        assert!(!history.has(&amended(2)));
        assert!(history.has(&Published::of_history(event)));
    }

    #[test]
    fn a_page_has_the_events_that_began_before_it() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("store.db");
        let mut store = Store::open(&path, Options::default()).unwrap();
        let time = "2026-03-03T04:05:06Z".parse().unwrap();
        let events = xids(time, ["one", "two", "three"]);
        let amended = events.clone().map(|event| Event {
            revision: 1,
            repeats: 1,
            ..event
        });
        let begun = events.iter().map(|e| Record::Event(Box::new(e.clone())));
        let changed = events.iter().zip(&amended).map(|(old, new)| {
            let amendment = Amendment::between(old, new, time).unwrap();
            Record::Amendment(Box::new(amendment))
        });
        let records: Vec<Record> = begun.chain(changed).collect();
        store.append(&records, &[]).unwrap();
        let archive = Archive::open(&path).unwrap();
        // Of the third event the page has the first record too.
        let page = page_after(&archive, 2).unwrap().unwrap();
        assert_eq!(page.end, 6);
        let given: Vec<Event> = page
            .records
            .iter()
            .filter_map(|(_, news)| match news {
                News::Event(published) => Some(published.event.clone()),
                _ => None,
            })
            .collect();
        let [first, second, third] = amended;
        let [_, _, begun] = events;
        assert_eq!(given, [begun, first, second, third]);
    }
}
