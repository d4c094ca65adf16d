//! How pages of managed memory come and go at the host: what the kernel offers for it.

use std::sync::OnceLock;

use super::userfault::Userfault;
use crate::log;

/// A fault of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    pub(crate) address: u64,
    pub(crate) write: bool,
}

/// Pages at addresses that [`Pager::map`] was given. Addresses and lengths are those of whole pages.
pub(crate) trait Pager: Send + Sync {
    /// Puts memory at addresses that are kept free; all of its pages are missing. False if the kernel
    /// does not.
    fn map(&self, base: u64, len: u64) -> bool;
    /// Takes it away; the addresses are kept free as before.
    fn unmap(&self, base: u64, len: u64);
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
}

/// The pager of this process, if the kernel has one.
pub(crate) fn pager() -> Option<&'static dyn Pager> {
    static PAGER: OnceLock<Option<Userfault>> = OnceLock::new();
    let made = PAGER.get_or_init(|| match Userfault::new() {
        Ok(made) => Some(made),
        Err(error) => {
            log::once(
                "managed",
                &format!(
                    "no managed memory: userfaultfd(2): {error}; it needs Linux 5.7, and a container \
                     needs a seccomp profile that allows it"
                ),
            );
            None
        }
    });
    made.as_ref().map(|made| made as &dyn Pager)
}
