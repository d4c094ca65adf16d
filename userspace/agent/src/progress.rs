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
    pub(crate) error: Option<String>,
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
        shown.error.or(shown.question)
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
        progress.change(|shown| shown.error = Some("records".to_owned()));
        assert_eq!(progress.error().as_deref(), Some("records"));
        progress.change(|shown| shown.error = None);
        assert!(!progress.asked(None));
        assert_eq!(progress.error(), None);
    }
}
