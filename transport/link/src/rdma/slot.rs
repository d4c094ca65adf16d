//! The place of a queue pair, as both halves of a side see it.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;

use gtrace_verbs::{Outcome, VerbsError};

use super::wire::Wire;

/// A queue pair, until it is given up: by whichever half finds out, and for both.
///
/// The reading half polls the one that this side writes on before it sleeps, since a request that failed
/// may be the one whose answer is waited for.
#[derive(Default)]
pub(super) struct Slot {
    wire: Option<Box<dyn Wire>>,
    /// What the reading half found and the writing half has not seen.
    seen: Vec<Outcome>,
    events: Option<Arc<OwnedFd>>,
}

impl Slot {
    /// With this queue pair in it.
    ///
    /// # Errors
    ///
    /// There is no second descriptor, for who sleeps while another thread gives the queue pair up.
    pub(super) fn new(wire: Box<dyn Wire>) -> io::Result<Self> {
        let events = wire.events().try_clone_to_owned()?;
        Ok(Self {
            wire: Some(wire),
            seen: Vec::new(),
            events: Some(Arc::new(events)),
        })
    }

    /// That its device is there still.
    pub(super) fn check(&self) -> Result<(), VerbsError> {
        self.wire.as_ref().map_or(Ok(()), |wire| wire.check())
    }

    /// The queue pair, unless it is given up.
    pub(super) fn wire(&mut self) -> Option<&mut (dyn Wire + 'static)> {
        self.wire.as_deref_mut()
    }

    /// Takes what has completed since the last call, into account.
    pub(super) fn poll(&mut self, each: &mut dyn FnMut(Outcome)) -> Result<(), VerbsError> {
        self.seen.drain(..).for_each(&mut *each);
        match &mut self.wire {
            Some(wire) => wire.poll(each),
            None => Ok(()),
        }
    }

    /// Polls it for the reading half: completions are kept, and later ones make
    /// the descriptor readable.
    pub(super) fn look(&mut self) -> Result<(), VerbsError> {
        let Some(wire) = &mut self.wire else {
            return Ok(());
        };
        wire.clear();
        wire.arm()?;
        let seen = &mut self.seen;
        wire.poll(&mut |outcome| seen.push(outcome))
    }

    /// Readable when something has completed, once armed.
    pub(super) fn events(&self) -> Option<Arc<OwnedFd>> {
        self.events.clone()
    }

    /// Gives the queue pair up.
    pub(super) fn close(&mut self) {
        *self = Self::default();
    }
}
