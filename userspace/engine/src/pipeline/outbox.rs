//! Records between the core and the store: in order, and shared by both threads, so that what waits
//! can reach live readers while the store's thread is stuck in a write.

use std::collections::VecDeque;
use std::ops::RangeInclusive;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use gtrace_api::Published;
use gtrace_event::{
    Epoch, Event, EventChange, EventId, HealthRecord, Incident, RecordId, RecordRef,
};
use gtrace_store::Encoded;

use crate::hub::Hub;

/// A record that the store has not taken after so long is published provisionally.
const PROVISIONAL_AFTER: Duration = Duration::from_millis(200);
/// Records of one transaction at most, unless the core sent more at once.
const MAX_AT_ONCE: usize = 1024;

/// Says whether the store has it, or why not.
pub(super) type Answer = Box<dyn FnOnce(Result<(), String>) + Send>;

/// A record on its way to the store.
pub(super) struct Pending {
    pub(super) encoded: Encoded,
    news: Unstored,
}

/// What live readers get once the store has it.
enum Unstored {
    Event(Arc<Published>),
    Incident(Box<Incident>),
    Health,
}

impl Pending {
    /// `event` is new, or has `change` applied.
    pub(super) fn new(
        change: Option<EventChange>,
        event: Event,
    ) -> Result<Self, serde_json::Error> {
        Ok(Self {
            encoded: Encoded::new(RecordRef::of(change.as_ref(), &event))?,
            news: Unstored::Event(Arc::new(Published::provisional(change, event))),
        })
    }

    /// A change of an incident.
    pub(super) fn incident(incident: Incident) -> Result<Self, serde_json::Error> {
        Ok(Self {
            encoded: Encoded::new(RecordRef::Incident(&incident))?,
            news: Unstored::Incident(Box::new(incident)),
        })
    }

    /// A record of health.
    pub(super) fn health(record: &HealthRecord) -> Result<Self, serde_json::Error> {
        Ok(Self {
            encoded: Encoded::new(RecordRef::Health(record))?,
            news: Unstored::Health,
        })
    }

    fn event(&self) -> Option<&Arc<Published>> {
        match &self.news {
            Unstored::Event(published) => Some(published),
            Unstored::Incident(_) | Unstored::Health => None,
        }
    }
}

/// What goes into one transaction: a cursor into the kernel log must not be older than the events
/// that the log's records have led to, nor newer.
pub(super) struct Batch {
    pub(super) records: Vec<Pending>,
    pub(super) cursor: Option<(String, String)>,
}

struct Waiting {
    batch: Arc<Batch>,
    came: Instant,
    /// Called once the store has the batch, or could not take it.
    answers: Vec<Answer>,
}

/// See the module.
#[derive(Default)]
pub(super) struct Outbox {
    queue: Mutex<Queue>,
    /// Something came, or the core has ended.
    changed: Condvar,
}

#[derive(Default)]
struct Queue {
    batches: VecDeque<Waiting>,
    /// How many of them, from the front, were published provisionally.
    announced: usize,
    /// Records in them.
    records: usize,
    /// Why the store took nothing the last time.
    problem: Option<String>,
    /// A new store was begun in the place of the one before.
    renewed: bool,
    closed: bool,
}

impl Outbox {
    fn lock(&self) -> MutexGuard<'_, Queue> {
        // Nothing that is done under the lock leaves the queue half changed.
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records that are not in the store yet.
    pub(super) fn waiting(&self) -> usize {
        self.lock().records
    }

    /// Puts records at the end. While the store takes nothing they are published at once.
    pub(super) fn push(
        &self,
        records: Vec<Pending>,
        cursor: Option<(String, String)>,
        answer: Option<Answer>,
        hub: &Hub,
    ) {
        let mut queue = self.lock();
        queue.records += records.len();
        let last = queue.batches.back_mut();
        // Not one that is being stored.
        let last = last.and_then(|waiting| Arc::get_mut(&mut waiting.batch));
        match last.filter(|_| records.is_empty()) {
            // The kernel log goes on for as long as the store takes nothing.
            Some(last) => last.cursor = cursor.or(last.cursor.take()),
            None => queue.batches.push_back(Waiting {
                batch: Arc::new(Batch { records, cursor }),
                came: Instant::now(),
                answers: Vec::new(),
            }),
        }
        let refused = queue.when_stored(answer);
        if queue.problem.is_some() {
            queue.announce(hub);
        }
        drop(queue);
        self.changed.notify_one();
        if let Some((answer, result)) = refused {
            answer(result);
        }
    }

    /// Answers once the store has everything that was pushed before, or has failed to take it.
    pub(super) fn flush(&self, answer: Answer) {
        let answered = self.lock().when_stored(Some(answer));
        if let Some((answer, result)) = answered {
            answer(result);
        }
    }

    /// The event as the newest record of it that waits has it.
    pub(super) fn event(&self, id: EventId) -> Option<Event> {
        let queue = self.lock();
        let newest_first = queue.batches.iter().rev();
        let records = newest_first.flat_map(|waiting| waiting.batch.records.iter().rev());
        let mut events = records.filter_map(Pending::event);
        let found = events.find(|published| published.event.id == id)?;
        Some(found.event.clone())
    }

    /// When [`Self::announce_overdue`] has something to do, unless the store is quicker.
    pub(super) fn overdue_at(&self) -> Option<Instant> {
        let queue = self.lock();
        Some(queue.batches.get(queue.announced)?.came + PROVISIONAL_AFTER)
    }

    /// Publishes provisionally what the store has not taken in time.
    pub(super) fn announce_overdue(&self, hub: &Hub) {
        if self.overdue_at().is_some_and(|at| at <= Instant::now()) {
            self.lock().announce(hub);
        }
    }

    /// A new store was begun: it has nothing of what it was given before.
    pub(super) fn set_renewed(&self) {
        self.lock().renewed = true;
    }

    /// Whether a new store was begun since the last call.
    pub(super) fn take_renewed(&self) -> bool {
        std::mem::take(&mut self.lock().renewed)
    }

    /// No more will come.
    pub(super) fn close(&self) {
        self.lock().closed = true;
        self.changed.notify_one();
    }

    /// Waits until there is something for the store, the core has ended or `until` has come; with
    /// `resting` until the latter two only. False once the core has ended.
    pub(super) fn wait(&self, until: Instant, resting: bool) -> bool {
        let mut queue = self.lock();
        loop {
            let left = until.saturating_duration_since(Instant::now());
            let something = !resting && !queue.batches.is_empty();
            if queue.closed || something || left.is_zero() {
                return !queue.closed;
            }
            let waited = self.changed.wait_timeout(queue, left);
            queue = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// The oldest batches that wait, for one transaction. They stay until they are [`Self::stored`].
    pub(super) fn front(&self) -> Vec<Arc<Batch>> {
        let queue = self.lock();
        let mut records = 0;
        let batches = queue.batches.iter().map(|waiting| &waiting.batch);
        let few = batches.take_while(|batch| {
            let first = records == 0;
            records += batch.records.len();
            first || records <= MAX_AT_ONCE
        });
        few.cloned().collect()
    }

    /// The store has `batches`, which were at the front, as the records `seqs` of `epoch`: publishes
    /// them.
    pub(super) fn stored(
        &self,
        batches: Vec<Arc<Batch>>,
        epoch: Epoch,
        seqs: RangeInclusive<u64>,
        hub: &Hub,
    ) {
        let mut queue = self.lock();
        queue.problem = None;
        queue.announced = queue.announced.saturating_sub(batches.len());
        let stored: Vec<_> = queue.batches.drain(..batches.len()).collect();
        drop(batches);
        let mut seqs = seqs;
        let mut answers = Vec::new();
        for waiting in stored {
            answers.extend(waiting.answers);
            // The store's thread has given its reference back.
            let records = Arc::into_inner(waiting.batch).map_or_else(Vec::new, |b| b.records);
            queue.records -= records.len();
            for (pending, seq) in records.into_iter().zip(seqs.by_ref()) {
                let id = RecordId { epoch, seq };
                match pending.news {
                    Unstored::Event(published) => {
                        let Published { change, event, .. } = Arc::unwrap_or_clone(published);
                        hub.publish(id, change, event);
                    }
                    Unstored::Incident(incident) => hub.publish_incident(id, *incident),
                    Unstored::Health => hub.publish_health(id),
                }
            }
        }
        drop(queue);
        answers.into_iter().for_each(|answer| answer(Ok(())));
    }

    /// The store took nothing: everything that waits is published provisionally.
    pub(super) fn failed(&self, problem: &str, hub: &Hub) {
        let mut queue = self.lock();
        queue.problem = Some(problem.to_owned());
        queue.announce(hub);
        let waiting = queue.batches.iter_mut();
        let answers: Vec<_> = waiting.flat_map(|w| w.answers.drain(..)).collect();
        drop(queue);
        let error = || Err(problem.to_owned());
        answers.into_iter().for_each(|answer| answer(error()));
    }
}

impl Queue {
    /// Under the lock, so that a record is never published provisionally after it was published.
    fn announce(&mut self, hub: &Hub) {
        let new = self.batches.iter().skip(self.announced);
        let records = new.flat_map(|waiting| &waiting.batch.records);
        for published in records.filter_map(Pending::event) {
            hub.publish_provisional(Arc::clone(published), true);
        }
        self.announced = self.batches.len();
    }

    /// Keeps `answer` for when everything that waits is stored; gives it back with the result if that
    /// is known already.
    fn when_stored(&mut self, answer: Option<Answer>) -> Option<(Answer, Result<(), String>)> {
        let answer = answer?;
        match (&self.problem, self.batches.back_mut()) {
            (Some(problem), _) => Some((answer, Err(problem.clone()))),
            (None, None) => Some((answer, Ok(()))),
            (None, Some(last)) => {
                last.answers.push(answer);
                None
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cursors_without_records_do_not_add_up_while_the_store_takes_nothing() {
        let (hub, _commands) = Hub::new(crate::hub::bare_status());
        let outbox = Outbox::default();
        let cursor = |seq: u32| Some(("kmsg".to_owned(), seq.to_string()));
        let push = |seq| outbox.push(Vec::new(), cursor(seq), None, &hub);
        (0..1000).for_each(push);
        let stored = outbox.front();
        assert_eq!(stored.len(), 1);
        assert_eq!(stored[0].cursor, cursor(999));
        // What is being stored stays as it is.
        (1000..2000).for_each(push);
        assert_eq!(stored[0].cursor, cursor(999));
        assert_eq!(outbox.lock().batches.len(), 2);
        outbox.push(Vec::new(), None, None, &hub);
        let all = outbox.front();
        assert_eq!((all.len(), &all[1].cursor), (2, &cursor(1999)));
    }
}
