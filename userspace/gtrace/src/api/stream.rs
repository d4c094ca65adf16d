//! `/api/v1/events/stream`: history, then live records, as server-sent events (WHATWG HTML,
//! section 9.2), without gap or duplicate.
//!
//! One task feeds one reader through a short channel. While a reader is slow the task waits and
//! reads nothing, so the reader costs no memory; the broadcast channel then runs over, and the
//! task fetches what it missed from the store.

use std::collections::HashMap;
use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::response::sse::{Event as Message, KeepAlive, Sse};
use futures_core::Stream;
use gtrace_event::{Event, EventId, Record};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio::sync::{OwnedSemaphorePermit, broadcast, mpsc};

use super::AppState;
use super::archive::{Archive, ArchiveError};
use super::query::{DEFAULT_LIMIT, EventQuery};
use crate::hub::Published;

/// Messages that wait for a slow reader.
const CHANNEL_DEPTH: usize = 32;
/// Records fetched from the store at once.
const PAGE: usize = 256;
/// A comment is sent after so much silence, so that both ends notice a dead connection.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

/// What `event: gap` tells: records that this reader will not get.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Gap {
    /// How many records, where that is known.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub missed: Option<u64>,
    /// Why.
    pub reason: String,
}

/// Where a reader begins.
#[derive(Clone, Debug)]
pub(super) enum Begin {
    /// With what is published from now on.
    Now,
    /// With the folded events of the store that match.
    History,
    /// After this record (`Last-Event-ID`).
    After(u64),
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

/// Starts a reader's task.
pub(super) fn start(
    state: AppState,
    query: EventQuery,
    begin: Begin,
    permit: OwnedSemaphorePermit,
) -> Sse<impl Stream<Item = Item>> {
    let live = state.hub.subscribe();
    let (out, messages) = mpsc::channel(CHANNEL_DEPTH);
    let mut shutdown = state.shutdown.clone();
    tokio::spawn(async move {
        let _permit = permit;
        let closed = out.clone();
        let live_query = EventQuery {
            since: None,
            ..query.clone()
        };
        let mut reader = StreamReader {
            state,
            query,
            live_query,
            live,
            out,
            cursor: 0,
            history: None,
        };
        tokio::select! {
            _ = reader.run(begin) => {}
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
    /// What the history is asked for.
    query: EventQuery,
    /// The same without `since`.
    live_query: EventQuery,
    live: broadcast::Receiver<Arc<Published>>,
    out: mpsc::Sender<Message>,
    /// Every record up to this one was sent or did not match.
    cursor: u64,
    /// What was sent as history, while records that it may have are still to come.
    history: Option<History>,
}

impl StreamReader {
    async fn run(&mut self, begin: Begin) -> Result<(), Gone> {
        // Subscribed first, then flushed: a record is in the live channel, in the store, or both.
        let flushed = self.state.flush().await;
        if let Err(problem) = flushed {
            self.gap(None, format!("the store lags: {}", problem.body.cause))
                .await?;
        }
        match begin {
            Begin::Now => self.cursor = self.last_seq().await,
            Begin::After(seq) => self.resume(seq).await?,
            Begin::History => self.send_history().await?,
        }
        // Gives the reader an id to resume from even if nothing happens before it must.
        self.send(
            Message::default()
                .id(self.cursor.to_string())
                .comment("live"),
        )
        .await?;
        loop {
            let published = match self.live.recv().await {
                Ok(published) => published,
                Err(broadcast::error::RecvError::Lagged(_)) => continue,
                Err(broadcast::error::RecvError::Closed) => return Ok(()),
            };
            if published.seq <= self.cursor {
                continue;
            }
            if published.seq > self.cursor + 1 {
                self.catch_up(published.seq - 1).await?;
            }
            self.deliver(&published).await?;
        }
    }

    /// Sends the folded history. Records that are appended while it is read may or may not be in
    /// it: the live part tells by what was seen.
    async fn send_history(&mut self) -> Result<(), Gone> {
        let mut query = self.query.clone();
        query.limit.get_or_insert(DEFAULT_LIMIT);
        let read = self.state.read(move |archive| {
            let begin = archive.last_seq()?;
            let events = archive.query(&query)?;
            Ok((begin, events, archive.last_seq()?))
        });
        let (begin, events, end) = match read.await {
            Ok(read) => read,
            Err(problem) => {
                self.cursor = self.last_seq().await;
                return self
                    .gap(None, format!("no history: {}", problem.body.cause))
                    .await;
            }
        };
        let mut seen = HashMap::new();
        for event in events {
            if end > begin {
                seen.insert(
                    event.id,
                    Seen {
                        revision: event.revision,
                        acks: event.acks.len(),
                    },
                );
            }
            // No id: a reader that loses the connection here must ask for the history again.
            let record = Record::Event(Box::new(event.clone()));
            let published = Published {
                seq: begin,
                record,
                event,
            };
            self.send_json(Message::default().event("event"), &published)
                .await?;
        }
        self.cursor = begin;
        self.history = (end > begin).then_some(History { seen, end });
        Ok(())
    }

    /// Continues after `seq`, which another connection, perhaps to another daemon, ended with.
    async fn resume(&mut self, seq: u64) -> Result<(), Gone> {
        let last = self.last_seq().await;
        if seq > last {
            let reason = format!("the store ends at record {last}, before the one asked for");
            self.cursor = last;
            return self.gap(None, reason).await;
        }
        self.cursor = seq;
        self.catch_up(last).await
    }

    /// Sends the records after the cursor up to `last` from the store.
    async fn catch_up(&mut self, last: u64) -> Result<(), Gone> {
        let mut flushed = false;
        while self.cursor < last {
            let after = self.cursor;
            let page = self
                .state
                .read(move |archive| page_after(archive, after))
                .await;
            let reason = match page {
                Ok(Some(page)) => {
                    self.send_page(page, last).await?;
                    continue;
                }
                // What was published a moment ago may not be readable yet.
                Ok(None) if !flushed => {
                    flushed = true;
                    match self.state.flush().await {
                        Ok(()) => continue,
                        Err(problem) => problem.body.cause,
                    }
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
        for published in page.records {
            if published.seq > last {
                // It is in the live channel too, or that lags and asks for it again.
                break;
            }
            self.pass_over(published.seq - 1).await?;
            self.deliver(&published).await?;
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

    async fn deliver(&mut self, published: &Published) -> Result<(), Gone> {
        self.cursor = published.seq;
        let known = self
            .history
            .as_ref()
            .is_some_and(|history| history.has(published));
        if self
            .history
            .as_ref()
            .is_some_and(|history| history.end <= published.seq)
        {
            self.history = None;
        }
        if known || !self.wanted(&published.event) {
            return Ok(());
        }
        let name = match published.record {
            Record::Event(_) => "event",
            Record::Amendment(_) => "amendment",
            Record::Ack(_) => "ack",
        };
        let message = Message::default().id(published.seq.to_string()).event(name);
        self.send_json(message, published).await
    }

    /// `since` is about the history: a repeat of an older event is news all the same.
    fn wanted(&self, event: &Event) -> bool {
        self.live_query.matches(event)
    }

    async fn last_seq(&self) -> u64 {
        let read = self.state.read(|archive| archive.last_seq()).await;
        read.unwrap_or_else(|_| self.state.hub.status().last_seq)
    }

    async fn gap(&self, missed: Option<u64>, reason: String) -> Result<(), Gone> {
        self.send_json(Message::default().event("gap"), &Gap { missed, reason })
            .await
    }

    async fn send_json(&self, message: Message, data: &impl Serialize) -> Result<(), Gone> {
        // The types of the API always make JSON: they have string keys and no failing parts.
        let Ok(message) = message.json_data(data) else {
            return Ok(());
        };
        self.send(message).await
    }

    async fn send(&self, message: Message) -> Result<(), Gone> {
        self.out.send(message).await.map_err(|_| Gone)
    }
}

struct History {
    seen: HashMap<EventId, Seen>,
    /// The store's end after the history was read.
    end: u64,
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
        match &published.record {
            Record::Event(_) => true,
            Record::Amendment(amendment) => amendment.revision <= seen.revision,
            Record::Ack(_) => published.event.acks.len() <= seen.acks,
        }
    }
}

/// Some records of the store.
struct Page {
    /// Those whose events the store has: retention takes an event before its last changes.
    records: Vec<Published>,
    /// The last record that was looked at.
    end: u64,
}

/// A page of records, each with its event as far as the page tells it, else as it is now; `None` if there are none.
fn page_after(archive: &Archive, seq: u64) -> Result<Option<Page>, ArchiveError> {
    let mut events: HashMap<EventId, Event> = HashMap::new();
    let mut page = Vec::new();
    let records = archive.records_after(seq, PAGE)?;
    let Some(end) = records.last().map(|(seq, _)| *seq) else {
        return Ok(None);
    };
    for (seq, record) in records {
        let id = record.event_id();
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
                if let Some(event) = archive.event(id)? {
                    events.insert(id, event);
                }
            }
        }
        if let Some(event) = events.get(&id) {
            page.push(Published {
                seq,
                record,
                event: event.clone(),
            });
        }
    }
    Ok(Some(Page { records: page, end }))
}

#[cfg(test)]
mod tests {
    use gtrace_event::{Amendment, Kind, Occurrence, Severity, Witness, WitnessName};

    use super::*;

    #[test]
    fn history_knows_what_it_had_and_not_what_came_after() {
        let time = "2026-03-03T04:05:06Z".parse().unwrap();
        let witness = Witness {
            source: WitnessName::Kmsg,
            count: 1,
            first_time: time,
        };
        let occurrence = Occurrence::new(Kind::Xid, Severity::Warning, "x");
        let event = Event::new(time, witness, occurrence);
        let seen = HashMap::from([(
            event.id,
            Seen {
                revision: 1,
                acks: 0,
            },
        )]);
        let history = History { seen, end: 9 };
        let amended = |revision| {
            let new = Event {
                revision,
                repeats: 1,
                ..event.clone()
            };
            let amendment = Amendment::between(&event, &new, time).unwrap();
            Published {
                seq: 9,
                record: Record::Amendment(Box::new(amendment)),
                event: new,
            }
        };
        assert!(history.has(&amended(1)));
        assert!(!history.has(&amended(2)));
        let record = Record::Event(Box::new(event.clone()));
        assert!(history.has(&Published {
            seq: 9,
            record,
            event
        }));
    }
}
