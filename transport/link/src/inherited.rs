//! Descriptors that the child of a fork(2) is not to keep.
//!
//! A child has a copy of each of its parent's sockets, so that the server would not see the end of the parent while the
//! child lives. Each socket of this crate therefore stands in a table from before it is connected until it is closed, and a
//! handler of `pthread_atfork` has the child give its copies up. The handler takes no lock: the table is of atomic numbers.

use std::os::fd::{AsRawFd as _, BorrowedFd, RawFd};
use std::sync::atomic::{AtomicI32, AtomicU64, AtomicUsize, Ordering};

use crate::sys;

/// As many as a process may have open by default on most systems (`fs.nr_open` permits more). What has no place stays with a
/// child.
const PLACES: usize = 1 << 16;

/// A socket that is open here.
struct Place {
    /// Its descriptor and 1; 0: the place is free.
    descriptor: AtomicI32,
    /// Its inode: a program that closes all its descriptors may have another file by this number since.
    inode: AtomicU64,
}

static TABLE: [Place; PLACES] = [const {
    Place {
        descriptor: AtomicI32::new(0),
        inode: AtomicU64::new(0),
    }
}; PLACES];
/// Places that were ever taken are below.
static USED: AtomicUsize = AtomicUsize::new(0);
/// Where a free place was last.
static HINT: AtomicUsize = AtomicUsize::new(0);

/// An open socket's place in the table. To be dropped before the socket is closed, as its number is given again then.
#[derive(Debug)]
pub(crate) struct Inherited {
    at: Option<usize>,
    descriptor: RawFd,
}

impl Inherited {
    /// Of a socket that has just been made, and that `inode` identifies.
    pub(crate) fn new(socket: BorrowedFd<'_>, inode: u64) -> Self {
        let descriptor = socket.as_raw_fd();
        let first = HINT.load(Ordering::Relaxed);
        let places = (first..PLACES).chain(0..first.min(PLACES));
        let at = places
            .filter_map(|at| Some((at, TABLE.get(at)?)))
            .find(|(_, place)| {
                let free = place.descriptor.compare_exchange(
                    0,
                    descriptor + 1,
                    Ordering::AcqRel,
                    Ordering::Relaxed,
                );
                if free.is_ok() {
                    place.inode.store(inode, Ordering::Release);
                }
                free.is_ok()
            })
            .map(|(at, _)| at);
        if let Some(at) = at {
            USED.fetch_max(at + 1, Ordering::AcqRel);
            HINT.store(at + 1, Ordering::Relaxed);
        }
        Self { at, descriptor }
    }
}

impl Drop for Inherited {
    fn drop(&mut self) {
        if let Some(at) = self.at {
            // In the child of a fork the place may be another's by now.
            let ours = TABLE[at].descriptor.compare_exchange(
                self.descriptor + 1,
                0,
                Ordering::AcqRel,
                Ordering::Relaxed,
            );
            if ours.is_ok() {
                HINT.store(at, Ordering::Relaxed);
            }
        }
    }
}

/// In the child of a fork: gives up its copies of all connections, also of those that are being opened, without ending
/// them for the parent. The child finds them closed. Makes system calls only, and so may be called from a handler of
/// `pthread_atfork`.
pub fn forget_in_child() {
    for place in TABLE.iter().take(USED.swap(0, Ordering::AcqRel)) {
        let descriptor = place.descriptor.swap(0, Ordering::AcqRel) - 1;
        let inode = place.inode.load(Ordering::Acquire);
        if descriptor >= 0 && sys::inode(descriptor) == Some(inode) {
            let _ = sys::disconnect(descriptor);
        }
    }
    HINT.store(0, Ordering::Relaxed);
}
