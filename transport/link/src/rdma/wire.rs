//! What a half of a link asks of its queue pair.

use std::os::fd::{AsFd as _, BorrowedFd};

use gtrace_verbs::{Outcome, QueuePair, Region, Remote, VerbsError};

/// A queue pair with the memory that it works on. Once it is dropped, nothing touches that memory.
pub(super) trait Wire: Send {
    /// Writes a piece of this side's ring, place and length, to the same place of the other side's
    /// ring; with a number, the other side learns of it.
    fn write(
        &mut self,
        piece: (usize, usize),
        number: Option<u32>,
        signal: bool,
    ) -> Result<(), VerbsError>;
    /// Sends a number alone.
    fn tell(&mut self, number: u32, signal: bool) -> Result<(), VerbsError>;
    /// Posts so many receives.
    fn receive(&mut self, count: u32) -> Result<(), VerbsError>;
    /// Takes what has completed.
    fn poll(&mut self, each: &mut dyn FnMut(Outcome)) -> Result<(), VerbsError>;
    /// The next completion makes the descriptor readable, if it comes after this.
    fn arm(&mut self) -> Result<(), VerbsError>;
    /// Takes what made the descriptor readable.
    fn clear(&mut self);
    /// The descriptor.
    fn events(&self) -> BorrowedFd<'_>;
    /// That the device is not being taken away, which may show nowhere else.
    fn check(&self) -> Result<(), VerbsError>;
}

/// A queue pair that this side writes on.
pub(super) struct Out {
    // Dropped before the region is deregistered.
    pub(super) pair: QueuePair,
    pub(super) staging: Region,
    /// The other side's ring.
    pub(super) remote: Remote,
}

/// A queue pair that the other side writes on.
pub(super) struct In {
    pub(super) pair: QueuePair,
    /// Keeps the ring registered.
    pub(super) inbox: Region,
}

const NAME: u64 = 1;

macro_rules! by_the_pair {
    () => {
        fn tell(&mut self, number: u32, signal: bool) -> Result<(), VerbsError> {
            self.pair.tell(number, signal.then_some(NAME))
        }

        fn receive(&mut self, count: u32) -> Result<(), VerbsError> {
            self.pair.receive(count)
        }

        fn poll(&mut self, each: &mut dyn FnMut(Outcome)) -> Result<(), VerbsError> {
            let polled = self.pair.poll(|completion| each(completion.outcome));
            polled.map(|_| ())
        }

        fn arm(&mut self) -> Result<(), VerbsError> {
            self.pair.arm()
        }

        fn clear(&mut self) {
            self.pair.clear();
        }

        fn events(&self) -> BorrowedFd<'_> {
            self.pair.as_fd()
        }

        fn check(&self) -> Result<(), VerbsError> {
            self.pair.check()
        }
    };
}

impl Wire for Out {
    fn write(
        &mut self,
        piece: (usize, usize),
        number: Option<u32>,
        signal: bool,
    ) -> Result<(), VerbsError> {
        let to = Remote {
            address: self.remote.address + piece.0 as u64,
            key: self.remote.key,
        };
        let name = signal.then_some(NAME);
        self.pair.write(&self.staging, piece, to, number, name)
    }

    by_the_pair!();
}

impl Wire for In {
    fn write(
        &mut self,
        (at, len): (usize, usize),
        _: Option<u32>,
        _: bool,
    ) -> Result<(), VerbsError> {
        Err(VerbsError::Outside {
            at,
            len,
            region: self.inbox.len(),
        })
    }

    by_the_pair!();
}
