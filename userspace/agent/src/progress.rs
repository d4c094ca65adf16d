//! What an agent has come to.

use std::sync::{Arc, Mutex, PoisonError};

use gtrace_fleet::Position;

use crate::transport::LinkError;

/// What an agent has come to, for who watches it.
#[derive(Clone, Debug, Default)]
pub struct Progress(Arc<Mutex<Shown>>);

#[derive(Clone, Debug, Default)]
pub(crate) struct Shown {
    pub(crate) cursor: Option<Position>,
    pub(crate) caught_up: bool,
    /// Why the last batch or state failed, and whether it was a batch.
    error: Option<(bool, String)>,
    /// Why the head could not be asked for work.
    question: Option<String>,
    pub(crate) sent_bytes: u64,
}

impl Progress {
    pub(crate) fn change(&self, change: impl FnOnce(&mut Shown)) {
        change(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner));
    }

    fn shown(&self) -> Shown {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// Whether the head has all that the store had when it was last looked at.
    pub fn is_caught_up(&self) -> bool {
        self.shown().caught_up
    }

    /// The newest record that the head has.
    pub fn cursor(&self) -> Option<Position> {
        self.shown().cursor
    }

    /// Why the last request failed, or the last question for work; `None` where neither did.
    pub fn error(&self) -> Option<String> {
        let shown = self.shown();
        let error = shown.error.map(|(_, error)| error);
        error.or(shown.question)
    }

    /// A batch or a state failed; whether for another reason than what failed before.
    pub(crate) fn failed(&self, is_batch: bool, error: &LinkError) -> bool {
        let text = error.to_string();
        let is_new = self.shown().error.is_none_or(|(_, known)| known != text);
        self.change(|shown| shown.error = Some((is_batch, text)));
        is_new
    }

    /// A batch or a state was taken; whether that ends what failed. A state says nothing of records that are not taken, as of a store
    /// that cannot be read. After a state that failed no batch goes before another state.
    pub(crate) fn succeeded(&self, is_batch: bool) -> bool {
        let error = self.shown().error;
        let ended = error.is_some_and(|(of_batch, _)| of_batch == is_batch);
        if ended {
            self.change(|shown| shown.error = None);
        }
        ended
    }

    /// The head has all that the store has; whether that ends what failed: a batch of which no answer came.
    pub(crate) fn caught_up(&self) -> bool {
        self.change(|shown| shown.caught_up = true);
        self.succeeded(true)
    }

    /// How the last question for work ended; whether it failed for another reason than the one before.
    pub(crate) fn asked(&self, error: Option<&LinkError>) -> bool {
        let error = error.map(LinkError::to_string);
        let is_new = error.is_some() && error != self.shown().question;
        self.change(|shown| shown.question = error);
        is_new
    }

    /// Bytes of batches and states that were sent.
    pub fn sent_bytes(&self) -> u64 {
        self.shown().sent_bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn why_the_head_cannot_be_asked_for_work_is_said_once_and_shown_until_it_can() {
        let progress = Progress::default();
        let away = || LinkError::NotUnderstood("one".to_owned());
        assert!(progress.asked(Some(&away())));
        assert!(!progress.asked(Some(&away())));
        assert!(progress.error().is_some_and(|error| error.contains("one")));
        assert!(progress.asked(Some(&LinkError::NotUnderstood("two".to_owned()))));
        // What stops records goes first.
        let records = LinkError::NotUnderstood("records".to_owned());
        assert!(progress.failed(true, &records));
        assert!(progress.error().is_some_and(|e| e.contains("records")));
        assert!(progress.succeeded(true));
        assert!(!progress.asked(None));
        assert_eq!(progress.error(), None);
    }

    #[test]
    fn a_state_that_is_taken_ends_no_trouble_with_records() {
        let progress = Progress::default();
        let store = LinkError::NotUnderstood("the store".to_owned());
        assert!(progress.failed(true, &store));
        for _ in 0..3 {
            assert!(!progress.succeeded(false));
            assert!(!progress.failed(true, &store));
            assert!(progress.error().is_some());
        }
        assert!(progress.succeeded(true));
        assert_eq!(progress.error(), None);
        // A state ends what was wrong with a state; that a batch was taken may show without an answer to it.
        let away = LinkError::NotUnderstood("away".to_owned());
        assert!(progress.failed(false, &away));
        assert!(!progress.caught_up());
        assert!(progress.succeeded(false));
        assert!(progress.failed(true, &away));
        assert!(progress.caught_up());
        assert_eq!(progress.error(), None);
    }
}
