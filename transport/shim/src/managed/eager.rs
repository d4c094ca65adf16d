//! Page-locked memory that is kept in step without faults: what is less than a page, where the rest of the page is other
//! memory of the program, what is small, and what the kernel gives no faults of.
//!
//! A twin holds what the device had when the host last looked. What the host has changed since is what differs from it,
//! and is sent before the device uses the memory. What the device has changed is what then differs from the twin on the
//! device, and is written to the program's memory when it has waited: byte by byte, as the bytes beside may be in use.

// Reads and writes the program's memory.
#![allow(unsafe_code)]

use std::ptr;

use super::pages::differences;
use super::transfer::Owner;
use super::{Managed, is_busy, transfer};
use crate::entry::Answer;
use crate::log;
use crate::page::page_size;
use crate::session::Session;

/// Equal bytes between two changes that are sent with them where the device cannot have changed them.
const JOIN: usize = 64;

/// See the module.
#[derive(Debug)]
pub(super) struct Eager {
    base: u64,
    context: u64,
    /// It is the program's own, which it may have unmapped.
    foreign: bool,
    /// What the device has, as far as is known.
    twin: Vec<u8>,
    /// The device may have changed it since.
    used: bool,
}

impl Eager {
    /// Of `len` bytes of the program; the device has nothing of them.
    pub(super) fn new((base, len): (u64, u64), context: u64, foreign: bool) -> Self {
        Self {
            base,
            context,
            foreign,
            twin: vec![0; len as usize],
            used: false,
        }
    }

    pub(super) fn overlaps(&self, address: u64, len: u64) -> bool {
        let end = self.base + self.twin.len() as u64;
        address < end && self.base < address.saturating_add(len)
    }

    /// The program's bytes as they are now; nothing where it has unmapped them.
    fn now(&self) -> Option<Vec<u8>> {
        if self.foreign && !is_mapped(self.base, self.twin.len() as u64) {
            say_unmapped(self.base);
            return None;
        }
        let mut bytes = vec![0; self.twin.len()];
        // SAFETY: page-locked memory, which the program keeps until it gives it back. It may write there meanwhile; then
        // the bytes are the ones before or after, as a device would see them.
        unsafe { ptr::copy_nonoverlapping(self.place(0), bytes.as_mut_ptr(), bytes.len()) };
        Some(bytes)
    }

    fn place(&self, at: usize) -> *mut u8 {
        ptr::with_exposed_provenance_mut(self.base as usize + at)
    }

    /// Takes in what the device has, `bytes`: what it has changed is written to the program's memory, unless the host has
    /// changed it too.
    fn take_in(&mut self, bytes: &[u8]) {
        let parts = differences(bytes, &self.twin, 0);
        if parts.is_empty() {
            return;
        }
        let Some(now) = self.now() else { return };
        for at in parts.into_iter().flatten() {
            if now[at] == self.twin[at] {
                // SAFETY: a byte of the program that it does not change while the device does.
                unsafe { self.place(at).write_volatile(bytes[at]) };
            }
        }
        self.twin.copy_from_slice(bytes);
    }
}

/// Whether the program has memory at all of these addresses.
pub(super) fn is_mapped(base: u64, len: u64) -> bool {
    let first = base & !(page_size() - 1);
    present(first, (base + len).next_multiple_of(page_size()) - first).is_some()
}

/// For each page whether it is in memory; `None` where the program has not mapped all of them.
pub(super) fn present(first: u64, len: u64) -> Option<Vec<bool>> {
    let mut present = vec![0_u8; (len / page_size()) as usize];
    let first = ptr::with_exposed_provenance_mut(first as usize);
    // SAFETY: asks about pages, with a byte for each.
    let mapped = unsafe { libc::mincore(first, len as usize, present.as_mut_ptr()) == 0 };
    mapped.then(|| present.iter().map(|page| page & 1 != 0).collect())
}

/// The program has unmapped page-locked memory that it has not given back.
pub(super) fn say_unmapped(base: u64) {
    log::once(
        "page-locked unmapped",
        &format!(
            "page-locked memory at {base:#x} was unmapped without cuMemHostUnregister: the GPU's changes are lost"
        ),
    );
}

impl Managed {
    /// Sends what the host has changed in the parts that `which` takes; the device is about to use them.
    pub(super) fn send_eager(
        &mut self,
        session: &'static Session,
        which: impl Fn(&Eager) -> bool,
    ) -> Answer {
        for part in self.eager.values_mut().filter(|part| which(part)) {
            let Some(now) = part.now() else { continue };
            let join = if part.used { 0 } else { JOIN };
            let changed = differences(&now, &part.twin, join);
            part.used = true;
            if changed.is_empty() {
                continue;
            }
            let pieces = changed
                .iter()
                .map(|at| (part.base + at.start as u64, &now[at.clone()]));
            transfer::send(session, &mut self.way, Owner::locked(part.context), pieces)?;
            self.page_locked.look_through(&now);
            part.twin = now;
        }
        Ok(())
    }

    /// Sends all of the part that begins at `base`, of which the device has nothing.
    pub(super) fn send_first(&mut self, session: &'static Session, base: u64) -> Answer {
        let Some(part) = self.eager.get_mut(&base) else {
            return Ok(());
        };
        let Some(now) = part.now() else {
            return Ok(());
        };
        let pieces = std::iter::once((part.base, now.as_slice()));
        transfer::send(session, &mut self.way, Owner::locked(part.context), pieces)?;
        self.page_locked.look_through(&now);
        part.twin = now;
        Ok(())
    }

    /// Takes in what the device has changed: the program has waited for it.
    pub(super) fn fetch_eager(&mut self, session: &'static Session) -> Answer {
        let busy = is_busy();
        let mut contexts: Vec<u64> = self.eager.values().map(|part| part.context).collect();
        contexts.sort_unstable();
        contexts.dedup();
        for context in contexts {
            let parts = self.eager.values_mut();
            let mut parts: Vec<&mut Eager> = parts
                .filter(|part| part.used && part.context == context)
                .collect();
            if parts.is_empty() {
                continue;
            }
            let mut bytes: Vec<(u64, Vec<u8>)> = parts
                .iter()
                .map(|part| (part.base, vec![0; part.twin.len()]))
                .collect();
            transfer::fetch_all(session, &mut self.way, Owner::locked(context), &mut bytes)?;
            for (part, (_, bytes)) in parts.iter_mut().zip(&bytes) {
                part.take_in(bytes);
                part.used = busy;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_both_change_is_merged_by_bytes() {
        let mut own = b"abcdefgh".to_vec();
        let base = own.as_mut_ptr().expose_provenance() as u64;
        let mut part = Eager::new((base, 8), 1, true);
        part.twin = own.clone();
        // SAFETY: a byte of the vector, which nobody else has now.
        unsafe { part.place(1).write(b'X') };
        part.take_in(b"ABcdefgH");
        // The host's byte stays, and is still to be sent.
        let now = part.now().unwrap();
        assert_eq!(now, b"AXcdefgH");
        assert_eq!(differences(&now, &part.twin, 0), vec![1..2; 1]);
        assert!(part.overlaps(base + 7, 1) && !part.overlaps(base + 8, 1));
    }

    #[test]
    fn memory_that_is_gone_is_not_touched() {
        assert!(Eager::new((0x1000, 8), 1, true).now().is_none());
        let own = 5_u64;
        assert!(is_mapped((&raw const own).addr() as u64, 8));
    }
}
