//! What the API and the command line read from the store, in their own terms.

use std::collections::VecDeque;
use std::ops::ControlFlow;
use std::path::Path;

use gtrace_event::{Event, EventId, Record};
use gtrace_store::{Reader, VerifyReport};

use super::query::{EventQuery, GpuSelector};

/// The store, opened for reading. Opening is cheap, so that no reader outlives a request.
pub(crate) struct Archive(Reader);

/// Why the store could not be read, as one line.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct ArchiveError(String);

fn failed(error: impl std::error::Error) -> ArchiveError {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let cause_text = cause.to_string();
        if !text.contains(&cause_text) {
            text.push_str(": ");
            text.push_str(&cause_text);
        }
        source = cause.source();
    }
    ArchiveError(text)
}

impl Archive {
    pub(crate) fn open(path: &Path) -> Result<Self, ArchiveError> {
        Reader::open(path).map(Self).map_err(failed)
    }

    /// Folded events, oldest first; the newest `limit` of those that match.
    pub(crate) fn query(&self, query: &EventQuery) -> Result<Vec<Event>, ArchiveError> {
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

    pub(crate) fn event(&self, id: EventId) -> Result<Option<Event>, ArchiveError> {
        self.0.event(id).map_err(failed)
    }

    pub(crate) fn records_after(
        &self,
        seq: u64,
        limit: usize,
    ) -> Result<Vec<(u64, Record)>, ArchiveError> {
        self.0.records_after(seq, limit).map_err(failed)
    }

    pub(crate) fn last_seq(&self) -> Result<u64, ArchiveError> {
        self.0.last_seq().map_err(failed)
    }

    pub(crate) fn verify(&self) -> Result<VerifyReport, ArchiveError> {
        self.0.verify().map_err(failed)
    }

    /// Records met so far that a newer gtrace wrote and this one cannot read.
    pub(crate) fn unreadable(&self) -> u64 {
        self.0.unreadable()
    }
}
