//! What the API and the command line read from the store, in their own terms.

use std::collections::{HashSet, VecDeque};
use std::ops::ControlFlow;
use std::path::Path;

use gtrace_api::text::causes;
use gtrace_event::{
    Event, EventId, HealthReport, Incident, IncidentId, Record, RecordId, Timestamp,
};
use gtrace_store::{Epochs, IncidentFilter, Reader, Resume, StoreError, VerifyReport};
use jiff::SignedDuration;

use super::query::{EventQuery, GpuSelector};

/// The store, opened for reading. Opening is cheap, so that no reader outlives a request.
pub struct Archive(Reader);

/// Why the store could not be read, as one line.
#[derive(Debug, thiserror::Error)]
#[error("{text}")]
pub struct ArchiveError {
    text: String,
    /// What the store said.
    pub cause: StoreError,
}

fn failed(cause: StoreError) -> ArchiveError {
    let text = causes(&cause);
    ArchiveError { text, cause }
}

impl Archive {
    /// Opens the store's file.
    ///
    /// # Errors
    ///
    /// [`ArchiveError`] where it is missing, not readable by this user, or no store.
    pub fn open(path: &Path) -> Result<Self, ArchiveError> {
        Reader::open(path).map(Self).map_err(failed)
    }

    /// Folded events, oldest first; the newest `limit` of those that match.
    pub fn query(&self, query: &EventQuery) -> Result<Vec<Event>, ArchiveError> {
        let filter = query.filter();
        let Some(GpuSelector::Index(_)) = query.gpu else {
            return self.0.query(&filter).map_err(failed);
        };
        let mut newest = VecDeque::new();
        let keep = |event: Event| {
            if query.matches(&event) {
                newest.push_back(event);
                if query.limit.is_some_and(|limit| newest.len() > limit) {
                    newest.pop_front();
                }
            }
            ControlFlow::Continue(())
        };
        self.0.for_each(&filter, keep).map_err(failed)?;
        Ok(newest.into())
    }

    /// One event with all its amendments; `None` where the store does not have it.
    pub fn event(&self, id: EventId) -> Result<Option<Event>, ArchiveError> {
        self.0.event(id).map_err(failed)
    }

    /// The events `ids` with all their amendments, in this order, without those that the store does not have.
    pub fn events(&self, ids: &[EventId]) -> Result<Vec<Event>, ArchiveError> {
        self.0.events(ids).map_err(failed)
    }

    /// As [`Self::events`], without those that cannot be read either.
    pub fn readable_events(&self, ids: &[EventId]) -> Vec<Event> {
        let all = self.0.events(ids);
        all.unwrap_or_else(|_| self.0.readable_events(ids))
    }

    /// Incidents that match, the one that began first at the front.
    pub fn incidents(&self, filter: &IncidentFilter) -> Result<Vec<Incident>, ArchiveError> {
        self.0.incidents(filter).map_err(failed)
    }

    /// One incident; `None` where the store does not have it.
    pub fn incident(&self, id: IncidentId) -> Result<Option<Incident>, ArchiveError> {
        self.0.incident(id).map_err(failed)
    }

    /// The health of the host as its records have it: as of the newest, without what components see only now. `None` where it has no
    /// record of health.
    pub fn health(&self) -> Result<Option<HealthReport>, ArchiveError> {
        gtrace_engine::health::report_of(&self.0).map_err(failed)
    }

    /// At most `limit` records with numbers above `seq`, in order.
    pub fn records_after(
        &self,
        seq: u64,
        limit: usize,
    ) -> Result<Vec<(u64, Record)>, ArchiveError> {
        self.0.records_after(seq, limit).map_err(failed)
    }

    pub(crate) fn epochs(&self) -> Result<Epochs, ArchiveError> {
        self.0.epochs().map_err(failed)
    }

    pub(crate) fn id_of(&self, seq: u64) -> Result<Option<RecordId>, ArchiveError> {
        Ok(self.epochs()?.id_of(seq))
    }

    pub(crate) fn resume_after(&self, id: RecordId, last_seq: u64) -> Result<Resume, ArchiveError> {
        Ok(self.epochs()?.resume_after(id, last_seq))
    }

    /// Number of the newest record; 0 in an empty store.
    pub fn last_seq(&self) -> Result<u64, ArchiveError> {
        self.0.last_seq().map_err(failed)
    }

    /// Checks the checksum of every record.
    pub fn verify(&self) -> Result<VerifyReport, ArchiveError> {
        self.0.verify().map_err(failed)
    }

    /// Records met so far that a newer gtrace wrote and this one cannot read.
    pub fn unreadable(&self) -> u64 {
        self.0.unreadable()
    }
}

/// The events of a query, oldest first, a page at a time. Between two pages it holds nothing of the store, so
/// that who reads them slowly costs neither memory nor the writer's WAL.
pub(crate) struct Pages {
    /// Its times close in on what is left.
    query: EventQuery,
    /// Events that may still come.
    left: usize,
    /// Events before the newest so many that have the time of the first one.
    skip: usize,
    /// What was passed at the time `query.since`, where the next page begins.
    passed: HashSet<EventId>,
}

impl Pages {
    /// Finds the newest `limit` events that match.
    pub(crate) fn new(archive: &Archive, mut query: EventQuery) -> Result<Self, ArchiveError> {
        let limit = query.limit.take().unwrap_or(usize::MAX);
        let (mut left, mut skip) = (0, 0);
        let mut ends: Option<(Timestamp, Timestamp)> = None;
        let look = |event: Event| {
            if !query.matches(&event) {
                return ControlFlow::Continue(());
            }
            let (oldest, newest) = ends.unwrap_or((event.time, event.time));
            if left < limit {
                left += 1;
                ends = Some((event.time, newest));
            } else if event.time == oldest {
                skip += 1;
            } else {
                return ControlFlow::Break(());
            }
            ControlFlow::Continue(())
        };
        let filter = query.filter();
        archive.0.newest_first(&filter, look).map_err(failed)?;
        if let Some((oldest, newest)) = ends {
            query.since = Some(oldest);
            let after = newest.checked_add(SignedDuration::from_nanos(1)).ok();
            query.until = after.or(query.until);
        }
        Ok(Self {
            query,
            left,
            skip,
            passed: HashSet::new(),
        })
    }

    pub(crate) fn is_done(&self) -> bool {
        self.left == 0
    }

    /// Gives events to `take`, which answers their bytes, until these are `bytes` or more.
    pub(crate) fn next(
        &mut self,
        archive: &Archive,
        bytes: usize,
        mut take: impl FnMut(Event) -> usize,
    ) -> Result<(), ArchiveError> {
        if self.left == 0 {
            return Ok(());
        }
        let filter = self.query.filter();
        let mut taken = 0;
        let before = self.left;
        let visit = |event: Event| {
            let at = self.query.since == Some(event.time);
            if !self.query.matches(&event) || at && self.passed.contains(&event.id) {
                return ControlFlow::Continue(());
            }
            if !at {
                self.query.since = Some(event.time);
                self.passed.clear();
            }
            self.passed.insert(event.id);
            if self.skip > 0 {
                self.skip -= 1;
                return ControlFlow::Continue(());
            }
            taken += take(event);
            self.left -= 1;
            match self.left == 0 || taken >= bytes {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            }
        };
        archive.0.for_each(&filter, visit).map_err(failed)?;
        // Retention may have taken what was there, or an amendment made it match no more.
        if self.left == before {
            self.left = 0;
        }
        Ok(())
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use gtrace_event::{Kind, Occurrence, Severity, WitnessName};
    use gtrace_store::{Options, Store};

    use super::*;

    /// Xids of one moment.
    pub(crate) fn xids<const N: usize>(time: Timestamp, messages: [&str; N]) -> [Event; N] {
        messages.map(|message| {
            let occurrence = Occurrence::new(Kind::Xid, Severity::Warning, message);
            Event::seen(time, WitnessName::Kmsg, 1, occurrence)
        })
    }

    #[test]
    fn an_event_that_cannot_be_read_hides_no_other() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("store.db");
        let mut store = Store::open(&path, Options::default()).unwrap();
        let time = "2026-03-03T04:05:06Z".parse().unwrap();
        let events = xids(time, ["the first", "the damaged one", "the last"]);
        let records = events.clone().map(|event| Record::Event(Box::new(event)));
        store.append(&records, &[]).unwrap();
        drop(store);
        let mut bytes = std::fs::read(&path).unwrap();
        let text = b"the damaged one";
        let mut parts = bytes.windows(text.len());
        let at = parts.position(|part| part == text).unwrap();
        // Not UTF-8.
        bytes[at] = 0xff;
        std::fs::write(&path, bytes).unwrap();
        let archive = Archive::open(&path).unwrap();
        let ids = events.each_ref().map(|event| event.id);
        assert!(archive.events(&ids).is_err());
        let [first, _, last] = events;
        assert_eq!(archive.readable_events(&ids), [first, last]);
    }

    #[test]
    fn pages_have_what_the_whole_query_has_whatever_their_size() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("store.db");
        let mut store = Store::open(&path, Options::default()).unwrap();
        let begin: Timestamp = "2026-03-03T04:00:00Z".parse().unwrap();
        // Three of each time, and the kinds in turn.
        for n in 0..30_i64 {
            let time = begin + SignedDuration::from_secs(n / 3);
            let kind = [Kind::Xid, Kind::Aer][usize::from(n % 2 == 0)];
            let occurrence = Occurrence::new(kind, Severity::Warning, format!("number {n}"));
            let event = Event::seen(time, WitnessName::Kmsg, 1, occurrence);
            store
                .append(&[Record::Event(Box::new(event))], &[])
                .unwrap();
        }
        let archive = Archive::open(&path).unwrap();
        for kinds in [vec![], vec![Kind::Aer], vec![Kind::OomKill]] {
            for limit in [None, Some(1), Some(2), Some(4), Some(13), Some(100)] {
                let query = EventQuery {
                    kinds: kinds.clone(),
                    limit,
                    ..EventQuery::default()
                };
                let whole = archive.query(&query).unwrap();
                for page in [1, 2, 3, 7, 50] {
                    let mut pages = Pages::new(&archive, query.clone()).unwrap();
                    let mut paged = Vec::new();
                    while !pages.is_done() {
                        let before = paged.len();
                        let take = |event| {
                            paged.push(event);
                            1
                        };
                        pages.next(&archive, page, take).unwrap();
                        assert!(paged.len() - before <= page);
                    }
                    assert_eq!(paged, whole, "{query:?} in pages of {page}");
                }
            }
        }
    }
}
