//! Batches out of their stream, several hosts' in one transaction.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use gtrace_fleet::Batch;
use gtrace_fleet::nats::{GENERATION, HeadPosition, Kind, LAST};
use gtrace_nats::async_nats::jetstream::consumer::{Consumer, pull};
use gtrace_nats::async_nats::jetstream::{AckKind, Context, Message};
use gtrace_nats::{NatsError, RECORDS};
use std::time::Duration;

use super::positions::write;
use super::{
    CONSUMER, LATER, Never, PULL, Refused, count, end, failed, header, published, refuse, sender,
    together,
};
use crate::db::Ingested;
use crate::intake::{Intake, KnownHost, NotTaken};

/// Batches of a pull.
const MESSAGES: usize = 256;
/// Bytes of a pull, or one message that is as large as the servers take.
const PULLED: usize = 16 << 20;
/// What a server counts of a message beside its payload, at most.
const BESIDE: usize = 64 << 10;
/// Bytes of batches that are taken together, compressed.
const BYTES: usize = 1 << 20;
/// The same for records, uncompressed: one batch may be more by itself.
const PLAIN: usize = 16 << 20;
/// Before a batch comes again whose records before it are still under way. It does not grow: where two heads take turns, each batch of a backlog
/// waits for the one before it.
const SOON: Duration = Duration::from_millis(50);
/// A batch that the database refuses so often, while it takes others, is removed: those that it takes would wait behind such ones in the end.
const REFUSED: u32 = 10;
/// Batches whose refusals are counted.
const REFUSED_KEPT: usize = 4096;

/// A batch that was read.
struct Arrived {
    message: Message,
    host: KnownHost,
    generation: String,
    batch: Batch,
}

/// Takes batches until something fails.
pub(super) async fn take(
    jetstream: &Context,
    consumer: &Consumer<pull::Config>,
    intake: &Intake,
    payload_max: usize,
) -> Result<Never, NatsError> {
    let mut left = None;
    let mut refusals = Refusals::default();
    let most = PULLED.max(payload_max.saturating_add(BESIDE));
    loop {
        let pull = consumer.batch().max_messages(MESSAGES).max_bytes(most);
        let pull = pull.expires(PULL);
        let mut pulled = pull.messages().await.map_err(failed)?;
        let mut idle = true;
        loop {
            let mut bytes = 0;
            let more = |message: &Message| {
                bytes += message.payload.len();
                bytes < BYTES
            };
            let messages = together(&mut pulled, more).await.map_err(failed)?;
            if messages.is_empty() {
                break;
            }
            idle = false;
            let mut messages = VecDeque::from(messages);
            let mut first = true;
            while !messages.is_empty() {
                if !std::mem::take(&mut first) {
                    // What waits behind others is not given to another head meanwhile.
                    for message in &messages {
                        end(message, AckKind::Progress).await?;
                    }
                }
                let mut group = Vec::new();
                let mut plain = 0;
                while plain < PLAIN
                    && let Some(message) = messages.pop_front()
                {
                    if let Some(arrived) = read(message, intake).await? {
                        let sizes = arrived.batch.records.iter().map(|record| record.size());
                        plain += sizes.sum::<usize>();
                        group.push(arrived);
                    }
                }
                commit(jetstream, intake, group, &mut refusals).await?;
            }
        }
        if !idle {
            left = None;
            continue;
        }
        let now = left_out(jetstream, consumer).await;
        if now.is_some() && now == left {
            let stream = jetstream
                .get_stream_no_info(RECORDS)
                .await
                .map_err(failed)?;
            stream.delete_consumer(CONSUMER).await.map_err(failed)?;
            return Err(failed(
                "the stream has batches that the consumer leaves out; the consumer is made anew",
            ));
        }
        left = now;
    }
}

/// Number of the first batch in the stream, where the consumer has none to give, under way or put off. So nats-server 2.9 leaves other
/// batches out after a subject was purged.
async fn left_out(jetstream: &Context, consumer: &Consumer<pull::Config>) -> Option<u64> {
    let of_consumer = consumer.get_info().await.ok()?;
    let stream = jetstream.get_stream_no_info(RECORDS).await.ok()?;
    let state = stream.get_info().await.ok()?.state;
    let none = of_consumer.num_pending == 0 && of_consumer.num_ack_pending == 0;
    (none && state.messages > 0).then_some(state.first_sequence)
}

/// Checks whose a message is, and decodes it; `None` where it was removed or put off.
async fn read(message: Message, intake: &Intake) -> Result<Option<Arrived>, NatsError> {
    let headers = message.headers.as_ref();
    let generation = header(headers, GENERATION).unwrap_or_default().to_owned();
    let last = header(headers, LAST).unwrap_or_default();
    let parts: [&[u8]; 5] = [
        b"records",
        message.subject.as_bytes(),
        generation.as_bytes(),
        last.as_bytes(),
        &message.payload,
    ];
    let from = sender(intake, &message.subject, Kind::Records, headers, &parts).await;
    let host = match from {
        Ok(host) => host,
        Err(Refused::Never(why)) => {
            refuse(intake, &message.subject, why);
            end(&message, AckKind::Ack).await?;
            return Ok(None);
        }
        Err(Refused::Later) => {
            put_off(intake, &message, LATER).await?;
            return Ok(None);
        }
    };
    let decoded = async {
        let _turn = intake.turn().await?;
        intake.decode(message.payload.clone()).await
    };
    match decoded.await {
        Ok(batch) => Ok(Some(Arrived {
            message,
            host,
            generation,
            batch,
        })),
        Err(NotTaken::Bad { cause, .. }) => {
            // Its agent sends it again only where it is asked: the records go missing, and are asked for.
            refuse(intake, &message.subject, &cause);
            end(&message, AckKind::Ack).await?;
            Ok(None)
        }
        Err(NotTaken::Unavailable(_)) => {
            put_off(intake, &message, LATER).await?;
            Ok(None)
        }
    }
}

async fn put_off(intake: &Intake, message: &Message, by: Duration) -> Result<(), NatsError> {
    count(&intake.nats.again);
    end(message, AckKind::Nak(Some(by))).await
}

/// Commits batches, those of one host in their order, writes how far their hosts are, and acknowledges them.
async fn commit(
    jetstream: &Context,
    intake: &Intake,
    group: Vec<Arrived>,
    refusals: &mut Refusals,
) -> Result<(), NatsError> {
    let taking = group.iter().map(|arrived| {
        let (batch, at) = (arrived.batch.clone(), published(&arrived.message));
        intake.batch(arrived.host.id, batch, at)
    });
    // They are given to the writer in this order, and share its next transaction.
    let taken = futures_util::future::join_all(taking).await;
    let takes_others = taken.iter().any(Result::is_ok);
    let mut done: Vec<&Message> = Vec::new();
    let mut positions: BTreeMap<i64, (&KnownHost, &str, Option<String>)> = BTreeMap::new();
    let mut waiting = BTreeSet::new();
    for (arrived, taken) in group.iter().zip(taken) {
        let Arrived {
            message,
            host,
            generation,
            batch,
        } = arrived;
        let subject = message.subject.as_str();
        let of_generation =
            |(_, _, missing): &(_, _, Option<String>)| missing.as_ref() == Some(generation);
        let fate = match taken {
            Ok(ingested) if !ingested.missing => Fate::Taken,
            // What follows a gap in its generation is sent again after it.
            Ok(_) if positions.get(&host.id).is_some_and(of_generation) => Fate::Missing,
            Ok(_) if waiting.contains(&host.id) => Fate::Waits,
            Ok(_) => {
                let earlier = || is_earlier_there(jetstream, message);
                let again = async || {
                    let at = published(message);
                    intake.batch(host.id, batch.clone(), at).await
                };
                after_gap(earlier, again).await?
            }
            Err(_) if takes_others && refusals.is_last(number(message)?) => Fate::Refused,
            Err(_) => Fate::Failed,
        };
        match fate {
            Fate::Taken => {
                count(&intake.nats.taken);
                positions.entry(host.id).or_insert((host, subject, None));
                done.push(message);
            }
            Fate::Missing => {
                count(&intake.nats.missing);
                positions.insert(host.id, (host, subject, Some(generation.clone())));
                done.push(message);
            }
            Fate::Waits => {
                waiting.insert(host.id);
                put_off(intake, message, SOON).await?;
            }
            Fate::Failed => put_off(intake, message, LATER).await?,
            Fate::Refused => {
                // What follows it lacks it, so that its agent is asked for it.
                let why = "the database takes others and refuses it again and again";
                refuse(intake, subject, why);
                end(message, AckKind::Ack).await?;
            }
        }
    }
    for (host, subject, missing) in positions.into_values() {
        let Ok(cursor) = intake.cursor(host.id).await else {
            // Without a place the batches of this host stay in the stream.
            done.retain(|message| message.subject.as_str() != subject);
            continue;
        };
        write(jetstream, host, subject, &HeadPosition { cursor, missing }).await?;
    }
    for message in done {
        end(message, AckKind::Ack).await?;
    }
    Ok(())
}

/// What becomes of a batch.
#[derive(Debug, PartialEq, Eq)]
enum Fate {
    /// The database has it.
    Taken,
    /// Records before it are missing, and come no more.
    Missing,
    /// Records before it are under way.
    Waits,
    /// The database did not take it.
    Failed,
    /// The database does not take it, however often it comes.
    Refused,
}

/// How often the database refused batches alone while it took others, by their numbers in the stream.
#[derive(Default)]
struct Refusals(BTreeMap<u64, u32>);

impl Refusals {
    /// Counts a refusal; whether the batch is refused for the last time.
    fn is_last(&mut self, number: u64) -> bool {
        let count = self.0.entry(number).or_default();
        *count += 1;
        let is_last = *count >= REFUSED;
        if is_last {
            self.0.remove(&number);
        } else if self.0.len() > REFUSED_KEPT {
            // Those that came in the end, here or at another head, are among the oldest.
            self.0.pop_first();
        }
        is_last
    }
}

/// Number of a batch in the stream.
fn number(message: &Message) -> Result<u64, NatsError> {
    Ok(message.info().map_err(failed)?.stream_sequence)
}

/// Decides about a batch before which records were missing. They may be with another head, or come again. Where the stream has none of them,
/// another head may have committed them just now: only a batch that is tried once more, and still lacks them, has a gap before it.
async fn after_gap(
    is_earlier_there: impl AsyncFnOnce() -> Result<bool, NatsError>,
    again: impl AsyncFnOnce() -> Result<Ingested, NotTaken>,
) -> Result<Fate, NatsError> {
    if is_earlier_there().await? {
        return Ok(Fate::Waits);
    }
    Ok(match again().await {
        Ok(ingested) if ingested.missing => Fate::Missing,
        Ok(_) => Fate::Taken,
        Err(_) => Fate::Failed,
    })
}

/// Whether the stream has an earlier batch of the host: one that is not committed, or not acknowledged yet.
async fn is_earlier_there(jetstream: &Context, message: &Message) -> Result<bool, NatsError> {
    let own = number(message)?;
    let stream = jetstream.get_stream_no_info(RECORDS).await;
    let stream = stream.map_err(failed)?;
    let first = stream.get_first_raw_message_by_subject(&message.subject, 1);
    // Where that cannot be known, it comes again.
    Ok(first.await.map_or(true, |first| first.sequence < own))
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    #[test]
    fn a_batch_is_refused_so_often_and_others_do_not_count_for_it() {
        let mut refusals = Refusals::default();
        for _ in 1..REFUSED {
            assert!(!refusals.is_last(7) && !refusals.is_last(8));
        }
        assert!(refusals.is_last(7) && !refusals.is_last(7));
        (100..).take(2 * REFUSED_KEPT).for_each(|number| {
            refusals.is_last(number);
        });
        assert_eq!(refusals.0.len(), REFUSED_KEPT);
    }

    #[tokio::test]
    async fn what_another_head_commits_meanwhile_is_no_gap() {
        let decide = async |is_there: bool, other_commits: bool| {
            let committed = Cell::new(false);
            let earlier = async || {
                // The other head acknowledges what it has committed.
                committed.set(other_commits);
                Ok(is_there)
            };
            let again = async || {
                Ok(Ingested {
                    cursor: None,
                    taken: 0,
                    missing: !committed.get(),
                })
            };
            after_gap(earlier, again).await.unwrap()
        };
        assert_eq!(decide(false, true).await, Fate::Taken);
        assert_eq!(decide(false, false).await, Fate::Missing);
        assert_eq!(decide(true, true).await, Fate::Waits);
    }
}
