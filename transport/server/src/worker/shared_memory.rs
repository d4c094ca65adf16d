//! Memory that other clients of this server can open, by a ticket that the client puts into a file descriptor of its own.
//!
//! The descriptor that the driver makes for the memory is kept by the supervisor, which gives it to workers of the same
//! credential.

use std::fs::File;
use std::io::{self, Read as _};
use std::os::fd::{AsFd as _, OwnedFd};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use crate::control::{Channel, FromWorker};

/// A number that nobody guesses.
pub(crate) type Ticket = [u8; 32];

/// How long the supervisor may take for an answer.
const ANSWER_MAX: Duration = Duration::from_secs(2);
/// The supervisor may learn of a ticket from the one that wants it before it learns of it from the one that has it.
const TRIES: u32 = 8;
const PAUSE: Duration = Duration::from_millis(5);

/// Memory that clients share.
#[derive(Debug)]
pub(crate) struct Shared {
    /// The driver's descriptor.
    pub(crate) memory: OwnedFd,
    /// Its bytes, which count for each client that has it.
    pub(crate) bytes: u64,
}

/// See the module.
pub(crate) struct SharedMemory {
    supervisor: Arc<Channel>,
    /// One lane asks at a time.
    asking: Mutex<()>,
    answer: Mutex<Option<(Ticket, Option<Shared>)>>,
    answered: Condvar,
}

impl SharedMemory {
    /// Kept by the supervisor behind this channel.
    pub(crate) fn new(supervisor: Arc<Channel>) -> Self {
        Self {
            supervisor,
            asking: Mutex::default(),
            answer: Mutex::default(),
            answered: Condvar::new(),
        }
    }

    /// Gives the supervisor memory to keep; the ticket by which it is had.
    ///
    /// # Errors
    ///
    /// The system's: no random numbers, or the supervisor does not read. The supervisor does not keep it, as there is too much.
    pub(crate) fn keep(&self, shared: &Shared) -> io::Result<Ticket> {
        let mut ticket = [0; 32];
        File::open("/dev/urandom")?.read_exact(&mut ticket)?;
        let _one = self.asking.lock().unwrap_or_else(PoisonError::into_inner);
        let keep = FromWorker::KeepMemory(ticket, shared.bytes);
        self.supervisor.send(&keep, Some(shared.memory.as_fd()))?;
        // It reads in order, so that its answer says whether it has kept it.
        match self.ask(ticket) {
            Some(Some(_)) => Ok(ticket),
            _ => Err(io::Error::other(
                "the server keeps 256 handles of a client and 512 of all",
            )),
        }
    }

    /// The memory of a ticket, if there is some that this client may have.
    pub(crate) fn fetch(&self, ticket: Ticket) -> Option<Shared> {
        let _one = self.asking.lock().unwrap_or_else(PoisonError::into_inner);
        for at in 0..TRIES {
            if at > 0 {
                std::thread::sleep(PAUSE);
            }
            let found = self.ask(ticket)?;
            if found.is_some() {
                return found;
            }
        }
        None
    }

    /// What the supervisor answers; `None` if it does not.
    fn ask(&self, ticket: Ticket) -> Option<Option<Shared>> {
        let mut answer = self.answer.lock().unwrap_or_else(PoisonError::into_inner);
        *answer = None;
        let question = FromWorker::WantMemory(ticket);
        self.supervisor.send(&question, None).ok()?;
        let missing =
            |answer: &mut Option<(Ticket, _)>| !matches!(answer, Some((of, _)) if *of == ticket);
        let (mut answer, _) = self
            .answered
            .wait_timeout_while(answer, ANSWER_MAX, missing)
            .unwrap_or_else(PoisonError::into_inner);
        answer
            .take()
            .filter(|(of, _)| *of == ticket)
            .map(|(_, shared)| shared)
    }

    /// The supervisor has answered.
    pub(crate) fn deliver(&self, ticket: Ticket, shared: Option<Shared>) {
        let mut answer = self.answer.lock().unwrap_or_else(PoisonError::into_inner);
        *answer = Some((ticket, shared));
        self.answered.notify_all();
    }
}
