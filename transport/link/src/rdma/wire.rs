//! What a half of a link asks of its queue pair.

use std::os::fd::{AsFd as _, BorrowedFd};

use std::sync::Arc;

use gtrace_verbs::{Domain, Outcome, QueuePair, Region, Remote, VerbsError};

use crate::pinned::PinnedRegion;

/// Where bytes are taken from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Source {
    /// The same place of this side's ring.
    Ring,
    /// This place of memory that is registered.
    Memory(PinnedRegion, usize),
}

/// A queue pair with the memory that it works on. Once it is dropped, nothing touches that memory.
pub(super) trait Wire: Send {
    /// Writes a piece, place and length, of the other side's ring; with a number, the other side learns of it.
    fn write(
        &mut self,
        piece: (usize, usize),
        from: Source,
        number: Option<u32>,
        signal: bool,
    ) -> Result<(), VerbsError>;
    /// Has the device know `memory`, if it does not.
    fn register(&mut self, memory: &PinnedRegion) -> Result<(), VerbsError> {
        Err(outside((0, memory.len()), 0))
    }
    /// Memories that the device knows.
    fn registered(&self) -> &[PinnedRegion] {
        &[]
    }
    /// The device is to know `memory` no more, or none; no write from there is under way.
    fn forget(&mut self, _: Option<&PinnedRegion>) {}
    /// Sends a number alone.
    fn send_imm(&mut self, number: u32, signal: bool) -> Result<(), VerbsError>;
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
    /// Memories of the program.
    pub(super) memories: Vec<PinnedRegion>,
    /// Of each of them.
    pub(super) regions: Vec<Region>,
    pub(super) domain: Arc<Domain>,
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

fn outside((at, len): (usize, usize), region: usize) -> VerbsError {
    VerbsError::Outside { at, len, region }
}

macro_rules! by_the_pair {
    () => {
        fn send_imm(&mut self, number: u32, signal: bool) -> Result<(), VerbsError> {
            self.pair.send_imm(number, signal.then_some(NAME))
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

impl Out {
    fn place_of(&self, memory: &PinnedRegion) -> Option<usize> {
        self.memories.iter().position(|known| known == memory)
    }
}

impl Wire for Out {
    fn write(
        &mut self,
        piece: (usize, usize),
        from: Source,
        number: Option<u32>,
        signal: bool,
    ) -> Result<(), VerbsError> {
        let to = Remote {
            address: self.remote.address + piece.0 as u64,
            key: self.remote.key,
        };
        let name = signal.then_some(NAME);
        let (region, at) = match from {
            Source::Ring => (&self.staging, piece.0),
            Source::Memory(memory, at) => match self.place_of(&memory) {
                Some(index) => (&self.regions[index], at),
                None => return Err(outside(piece, 0)),
            },
        };
        self.pair.write(region, (at, piece.1), to, number, name)
    }

    fn register(&mut self, memory: &PinnedRegion) -> Result<(), VerbsError> {
        if self.place_of(memory).is_none() {
            let region = Region::of_program(&self.domain, Arc::new(*memory))?;
            self.regions.push(region);
            self.memories.push(*memory);
        }
        Ok(())
    }

    fn registered(&self) -> &[PinnedRegion] {
        &self.memories
    }

    fn forget(&mut self, memory: Option<&PinnedRegion>) {
        let Some(memory) = memory else {
            self.memories.clear();
            return self.regions.clear();
        };
        if let Some(index) = self.place_of(memory) {
            self.memories.swap_remove(index);
            self.regions.swap_remove(index);
        }
    }

    by_the_pair!();
}

impl Wire for In {
    fn write(
        &mut self,
        piece: (usize, usize),
        _: Source,
        _: Option<u32>,
        _: bool,
    ) -> Result<(), VerbsError> {
        Err(outside(piece, self.inbox.len()))
    }

    by_the_pair!();
}
