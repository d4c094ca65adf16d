//! Memory that clients share, kept as the driver's descriptors.

use std::collections::HashMap;
use std::fmt;

use crate::worker::shared_memory::{Shared, Ticket};

/// Most descriptors of one worker, and of all: this process needs others for its clients.
const OF_ONE: usize = 256;
const OF_ALL: usize = 512;

struct Kept {
    /// The session of the worker that has made it.
    session: [u8; 16],
    /// Who may open it: clients of the same credential, or of none.
    credential: Option<String>,
    shared: Shared,
}

/// By ticket.
#[derive(Default)]
pub(super) struct SharedMemory(HashMap<Ticket, Kept>);

impl fmt::Debug for SharedMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Whoever knows a ticket may open its memory.
        write!(f, "SharedMemory({})", self.0.len())
    }
}

impl SharedMemory {
    /// Keeps memory of a session until it ends. False if there is too much.
    pub(super) fn keep(
        &mut self,
        ticket: Ticket,
        session: [u8; 16],
        credential: Option<String>,
        shared: Shared,
    ) -> bool {
        let own = self
            .0
            .values()
            .filter(|kept| kept.session == session)
            .count();
        if own >= OF_ONE || self.0.len() >= OF_ALL || self.0.contains_key(&ticket) {
            return false;
        }
        let kept = Kept {
            session,
            credential,
            shared,
        };
        self.0.insert(ticket, kept);
        true
    }

    /// Another descriptor of the memory, for a client with this credential.
    pub(super) fn open(&self, ticket: &Ticket, credential: Option<&str>) -> Option<Shared> {
        let kept = self.0.get(ticket)?;
        if kept.credential.as_deref() != credential {
            return None;
        }
        Some(Shared {
            memory: kept.shared.memory.try_clone().ok()?,
            bytes: kept.shared.bytes,
        })
    }

    /// Forgets what a session had that has ended.
    pub(super) fn forget(&mut self, session: &[u8; 16]) {
        self.0.retain(|_, kept| kept.session != *session);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn memory() -> Shared {
        Shared {
            memory: std::fs::File::open("/dev/null").unwrap().into(),
            bytes: 5,
        }
    }

    #[test]
    fn memory_is_opened_by_those_of_the_same_credential_while_its_session_lives() {
        let mut all = SharedMemory::default();
        let alice = || Some("token alice".to_owned());
        assert!(all.keep([1; 32], [7; 16], alice(), memory()));
        assert!(!all.keep([1; 32], [8; 16], None, memory()), "it is taken");
        let opened = all.open(&[1; 32], Some("token alice"));
        assert_eq!(opened.unwrap().bytes, 5);
        assert!(all.open(&[1; 32], Some("token bob")).is_none());
        assert!(all.open(&[1; 32], None).is_none());
        assert!(all.open(&[2; 32], Some("token alice")).is_none());
        all.forget(&[7; 16]);
        assert!(all.open(&[1; 32], Some("token alice")).is_none());
    }

    #[test]
    fn one_session_does_not_take_all() {
        let mut all = SharedMemory::default();
        let ticket = |at: usize| {
            let mut ticket = [0; 32];
            ticket[..8].copy_from_slice(&at.to_le_bytes());
            ticket
        };
        for at in 0..OF_ONE {
            assert!(all.keep(ticket(at), [1; 16], None, memory()));
        }
        assert!(!all.keep(ticket(OF_ONE), [1; 16], None, memory()));
        assert!(all.keep(ticket(OF_ONE), [2; 16], None, memory()));
    }
}
