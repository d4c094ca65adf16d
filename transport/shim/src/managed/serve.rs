//! The thread that brings the pages which the program touches.

use std::sync::atomic::{AtomicBool, Ordering};

use gtrace_cuda::types::driver as cuda;

use super::pager::{Fault, Pager, pager};
use super::pages::{Need, Run, WINDOW_MAX, pages_of};
use super::transfer::Owner;
use super::{Managed, PROVISIONAL, STATE, TOUCHED, is_busy, transfer};
use crate::entry::Answer;
use crate::page::page_size;
use crate::session::Session;
use crate::state::lock;
use crate::{background, log, status};

const THREAD: &str = "gtrace-managed";

/// Pages that are brought home at once.
fn at_once() -> usize {
    pages_of(WINDOW_MAX, page_size())
}

/// Starts the thread, once.
///
/// # Errors
///
/// OPERATING_SYSTEM if there cannot be one.
pub(super) fn start(session: &'static Session) -> Answer {
    static STARTED: AtomicBool = AtomicBool::new(false);
    if STARTED.swap(true, Ordering::AcqRel) {
        return Ok(());
    }
    if !background::start(session, THREAD, "managed memory", move || run(session)) {
        STARTED.store(false, Ordering::Release);
        return Err(cuda::CUDA_ERROR_OPERATING_SYSTEM);
    }
    Ok(())
}

fn run(session: &'static Session) {
    let Some(pager) = pager() else { return };
    let mut bytes = Vec::new();
    serve(
        pager,
        |why| session.lose_for(why),
        |fault| lock(&STATE).resolve(session, pager, fault, &mut bytes),
    );
}

/// Resolves faults until there are no more. One that cannot be, for a fault of this library's own, ends the session and
/// whoever waits for the page, who would wait for ever: the thread goes on for the others.
fn serve(pager: &dyn Pager, lose: impl Fn(&str), mut resolve: impl FnMut(Fault)) {
    while let Some(fault) = pager.next() {
        if background::supervised(THREAD, &lose, || resolve(fault)) {
            pager.fail(fault.address & !(page_size() - 1), page_size());
        }
        pager.done(fault);
    }
}

impl Managed {
    fn resolve(
        &mut self,
        session: &'static Session,
        pager: &dyn Pager,
        fault: Fault,
        bytes: &mut Vec<u8>,
    ) {
        // All before the answer comes: what is launched meanwhile is not in it, asks for these pages first, and whoever has
        // waited for what is launched already drops them.
        TOUCHED.swap(true, Ordering::SeqCst);
        let (busy, forking) = (is_busy(), self.forking);
        let Some(region) = self.at(fault.address) else {
            // Freed while somebody touched it.
            return pager.wake(fault.address);
        };
        let page = ((fault.address - region.base) / page_size()) as usize;
        let (run, dirty, zero) = match region.fault(page, fault.write) {
            Need::Nothing if fault.missing && region.foreign => {
                // The program has given the page back (madvise(2)); one that another fault has brought stays as it is.
                let run = Run {
                    first: page,
                    count: 1,
                };
                let writable = !region.dirty(run).is_empty();
                return pager.put(
                    region.span(run).0,
                    &vec![0_u8; page_size() as usize],
                    writable,
                );
            }
            Need::Nothing if fault.write && forking => {
                // Written after what the child gets.
                return pager.allow(fault.address & !(page_size() - 1), page_size());
            }
            Need::Nothing => return pager.wake(fault.address),
            Need::Unprotect(run) => {
                let (address, len) = region.span(run);
                // Pages that were fetched while the device was at work are not what it has now, even if it is not any more.
                if region.shared && (busy || region.provisional) {
                    pager.complete(address, len);
                    region.keep_twins(run.first, pager.bytes(address, len));
                }
                region.unprotected(run);
                return pager.allow(address, len);
            }
            Need::Fill { run, dirty, zero } => (run, dirty, zero),
        };
        if busy && !zero {
            region.provisional = true;
            PROVISIONAL.swap(true, Ordering::SeqCst);
        }
        let (base, owner) = (region.base, region.owner());
        let (address, len) = region.span(run);
        let memory = region.memory(run);
        bytes.clear();
        bytes.resize(len as usize, 0);
        if !zero && !self.fetch(session, (address, len), &memory, owner, bytes) {
            return pager.fail(address, len);
        }
        let Some(region) = self.regions.get_mut(&base) else {
            return;
        };
        if region.shared && busy {
            region.keep_twins(run.first, &bytes[..dirty * page_size() as usize]);
        }
        region.filled(run, dirty);
        let (changed, rest) = bytes.split_at(dirty * page_size() as usize);
        put(pager, address, changed, true);
        put(pager, address + changed.len() as u64, rest, false);
    }

    /// Has the host have all memory that is the program's own, as a child of fork(2) gets what is there.
    pub(super) fn bring_for_child(&mut self, session: &'static Session) {
        let Some(pager) = pager() else { return };
        let fetched = self.fetch_eager(session);
        super::report(session, fetched);
        let own = self.regions.values().filter(|region| region.foreign);
        let own: Vec<(u64, u64)> = own.map(|region| (region.base, region.len())).collect();
        for (base, len) in own {
            if self.bring_all(session, pager, base) {
                pager.before_fork(base, len);
            }
        }
    }

    /// Brings all pages to the host, which are the device's too as before. False if they are not to be had.
    fn bring_all(&mut self, session: &'static Session, pager: &dyn Pager, base: u64) -> bool {
        // As in `resolve`.
        TOUCHED.swap(true, Ordering::SeqCst);
        let busy = is_busy();
        let Some(region) = self.regions.get_mut(&base) else {
            return false;
        };
        if !pager.is_there(base, region.len()) {
            self.let_go(base);
            return false;
        }
        let missing: Vec<Run> = region.missing(at_once()).collect();
        if busy && !missing.is_empty() {
            region.provisional = true;
            PROVISIONAL.swap(true, Ordering::SeqCst);
        }
        // Who writes the pages that the host may write does not wait for it.
        for run in region.dirty(region.all()) {
            let (address, len) = region.span(run);
            pager.complete(address, len);
            pager.allow(address, len);
        }
        let owner = region.owner();
        let pieces: Vec<_> = missing
            .iter()
            .map(|run| (*run, region.span(*run)))
            .collect();
        let mut bytes = Vec::new();
        for (run, piece) in pieces {
            bytes.clear();
            bytes.resize(piece.1 as usize, 0);
            if !self.fetch(session, piece, &[piece], owner, &mut bytes) {
                return false;
            }
            if let Some(region) = self.regions.get_mut(&base) {
                region.filled(run, 0);
            }
            put(pager, piece.0, &bytes, false);
        }
        true
    }

    /// Brings all pages to the host for good: the region is gone afterwards, and its memory as it was before there was one.
    /// False if the program has unmapped it.
    pub(super) fn bring_home(&mut self, session: &'static Session, base: u64) -> bool {
        let (Some(pager), Some(region)) = (pager(), self.regions.get(&base)) else {
            return true;
        };
        if region.foreign && !pager.is_there(base, region.len()) {
            self.let_go(base);
            return false;
        }
        let (owner, valid) = (region.owner(), region.valid(region.all()));
        let spans: Vec<_> = valid.iter().map(|run| region.span(*run)).collect();
        let pieces: Vec<_> = region
            .missing(at_once())
            .map(|run| region.span(run))
            .collect();
        let mut bytes = Vec::new();
        for (address, len) in pieces {
            bytes.clear();
            bytes.resize(len as usize, 0);
            let piece = (address, len);
            // What is lost with the device reads as 0: the program may have other things there later.
            self.fetch(session, piece, &[piece], owner, &mut bytes);
            put(pager, address, &bytes, true);
        }
        for (address, len) in spans {
            pager.allow(address, len);
        }
        if let Some(region) = self.regions.remove(&base) {
            pager.restore(region.base, region.len());
        }
        true
    }

    /// Fetches what is to be had of pages; false if the device is out of reach for good.
    fn fetch(
        &mut self,
        session: &'static Session,
        pages: (u64, u64),
        parts: &[(u64, u64)],
        owner: Owner,
        bytes: &mut [u8],
    ) -> bool {
        for &(from, len) in parts {
            let at = (from - pages.0) as usize;
            let into = &mut bytes[at..at + len as usize];
            match transfer::fetch(session, &mut self.way, owner, from, into) {
                Ok(()) => {}
                Err(status::LOST) => {
                    log::once(
                        "managed lost",
                        &format!(
                            "managed memory at {from:#x} is lost with the GPU; who touches it is ended"
                        ),
                    );
                    return false;
                }
                // The program's next calls report it; its data there is lost either way.
                Err(code) => {
                    log::once(
                        "managed failed",
                        &format!(
                            "managed memory at {from:#x} cannot be fetched (error {code}): it reads as 0"
                        ),
                    );
                    into.fill(0);
                }
            }
        }
        true
    }
}

fn put(pager: &dyn Pager, address: u64, bytes: &[u8], writable: bool) {
    if !bytes.is_empty() {
        pager.put(address, bytes, writable);
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::sync::Mutex;

    use super::*;

    /// Faults that are to come, and what became of them.
    struct Written(Mutex<Vec<Fault>>, Mutex<Vec<String>>);

    impl Pager for Written {
        fn map(&self, _: u64, _: u64) -> bool {
            false
        }
        fn unmap(&self, _: u64, _: u64) {}
        fn adopt(&self, _: u64, _: u64) -> Option<u64> {
            None
        }
        fn restore(&self, _: u64, _: u64) {}
        fn abandon(&self, _: u64, _: u64) {}
        fn is_there(&self, _: u64, _: u64) -> bool {
            true
        }
        fn put(&self, _: u64, _: &[u8], _: bool) {}
        fn allow(&self, _: u64, _: u64) {}
        fn forbid(&self, _: u64, _: u64) {}
        fn bytes(&self, _: u64, _: u64) -> &[u8] {
            &[]
        }
        fn drop(&self, _: u64, _: u64) {}
        fn wake(&self, _: u64) {}
        fn fail(&self, address: u64, len: u64) {
            lock(&self.1).push(format!("fail {address:#x} {len}"));
        }
        fn next(&self) -> Option<Fault> {
            lock(&self.0).pop()
        }
        fn done(&self, fault: Fault) {
            lock(&self.1).push(format!("done {:#x}", fault.address));
        }
    }

    #[test]
    fn nobody_waits_for_a_page_whose_fault_panics() {
        let fault = |address| Fault {
            address,
            write: false,
            missing: false,
            ticket: 0,
        };
        let pager = Written(
            Mutex::new(vec![fault(0x5010), fault(0x2ff0)]),
            Mutex::default(),
        );
        let lost = RefCell::new(Vec::new());
        serve(
            &pager,
            |why| lost.borrow_mut().push(why.to_owned()),
            |fault| assert!(fault.address > 0x3000, "a fault of our own"),
        );
        let did = ["fail 0x2000 4096", "done 0x2ff0", "done 0x5010"];
        assert_eq!(*lock(&pager.1), did);
        let lost = lost.borrow();
        assert!(lost.len() == 1 && lost[0].contains(THREAD), "{lost:?}");
    }
}
