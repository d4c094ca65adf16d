//! How pages of managed memory come and go at the host: what the kernel offers for it.

use std::sync::OnceLock;

use super::protected::Protected;
use super::userfault::Userfault;
use crate::log;

/// A fault of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    pub(crate) address: u64,
    pub(crate) write: bool,
    /// There is no page.
    pub(crate) missing: bool,
    /// Who waits, if the pager has to know.
    pub(crate) ticket: u64,
}

/// Pages at addresses that [`Pager::map`] was given. Addresses and lengths are those of whole pages.
pub(crate) trait Pager: Send + Sync {
    /// Puts memory at addresses that are kept free; all of its pages are missing. False if the kernel
    /// does not.
    fn map(&self, base: u64, len: u64) -> bool;
    /// Takes it away; the addresses are kept free as before.
    fn unmap(&self, base: u64, len: u64);
    /// Takes over memory of the program, which is one private anonymous mapping: afterwards all of its pages are missing.
    /// Where their bytes are now, as a mapping of its own; `None` if the kernel does not, and all is as it was.
    fn adopt(&self, base: u64, len: u64) -> Option<u64>;
    /// Gives memory back that was taken over, once all of its pages are there and can be written.
    fn restore(&self, base: u64, len: u64);
    /// The program has unmapped memory that was taken over, and may have other things there.
    fn abandon(&self, base: u64, len: u64);
    /// Whether the program still has these pages of memory that was taken over, as far as the kernel shows it. Afterwards who
    /// writes there may wait.
    fn is_there(&self, address: u64, len: u64) -> bool;
    /// Of pages that cannot be written, puts empty ones where the program has given back some (madvise(2)).
    fn complete(&self, _address: u64, _len: u64) {}
    /// The process is about to fork, and all pages of memory that was taken over are there: its child is to have them.
    fn before_fork(&self, _base: u64, _len: u64) {}
    /// In the parent afterwards: who writes these pages does not wait for it any more.
    fn after_fork(&self, _base: u64, _len: u64, _writable: &[(u64, u64)]) {}
    /// Puts bytes where pages are missing, to be written or not, and lets go who waits for them.
    fn put(&self, address: u64, bytes: &[u8], writable: bool);
    /// Lets pages be written, and lets go who waits for that.
    fn allow(&self, address: u64, len: u64);
    /// From now on who writes there waits.
    fn forbid(&self, address: u64, len: u64);
    /// Pages that cannot be written now.
    fn bytes(&self, address: u64, len: u64) -> &[u8];
    /// The pages are missing again.
    fn drop(&self, address: u64, len: u64);
    /// Lets go who waits there.
    fn wake(&self, address: u64);
    /// Who touches these pages is ended by a signal, as with memory that broke.
    fn fail(&self, address: u64, len: u64);
    /// Waits for a fault. `None` if there will be none any more.
    fn next(&self) -> Option<Fault>;
    /// What a fault needed is done.
    fn done(&self, _fault: Fault) {}
}

/// Moves the pages of a mapping to another address and leaves it as it is, without pages (Linux 5.7; libc does not have it for
/// all systems).
pub(super) const MREMAP_DONTUNMAP: i32 = 4;

/// The pager of this process, if it can have one. GTRACE_MANAGED=signals has it do without
/// userfaultfd(2).
pub(crate) fn pager() -> Option<&'static dyn Pager> {
    static PAGER: OnceLock<Option<Box<dyn Pager>>> = OnceLock::new();
    PAGER.get_or_init(make).as_deref()
}

fn make() -> Option<Box<dyn Pager>> {
    let without = std::env::var_os("GTRACE_MANAGED").is_some_and(|text| text == "signals");
    if !without && let Ok(made) = Userfault::new() {
        return Some(Box::new(made));
    }
    match Protected::new() {
        Ok(made) => Some(Box::new(made)),
        Err(error) => {
            log::once("managed", &format!("no managed memory: {error}"));
            None
        }
    }
}
