//! The thread that brings the pages which the program touches.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use gtrace_cuda::types::driver::{self as cuda, CUresult};

use super::pager::{Fault, Pager, pager};
use super::pages::{Need, PAGE};
use super::{Managed, PROVISIONAL, STATE, TOUCHED, is_busy, transfer};
use crate::session::Session;
use crate::state::lock;
use crate::{log, status};

/// Starts the thread, once.
///
/// # Errors
///
/// OPERATING_SYSTEM if there cannot be one.
pub(super) fn start(session: &'static Session) -> Result<(), CUresult> {
    static STARTED: AtomicBool = AtomicBool::new(false);
    if STARTED.swap(true, Ordering::AcqRel) {
        return Ok(());
    }
    let started = gtrace_link::without_signals(|| {
        thread::Builder::new()
            .name("gtrace-managed".into())
            .spawn(move || run(session))
    });
    started.map(drop).map_err(|error| {
        STARTED.store(false, Ordering::Release);
        log::once(
            "managed thread",
            &format!("no thread for managed memory: {error}"),
        );
        cuda::CUDA_ERROR_OPERATING_SYSTEM
    })
}

fn run(session: &'static Session) {
    let Some(pager) = pager() else { return };
    let mut bytes = Vec::new();
    while let Some(fault) = pager.next() {
        lock(&STATE).resolve(session, pager, fault, &mut bytes);
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
        // Before the answer comes: what is launched meanwhile is not in it.
        let busy = is_busy();
        let Some(region) = self.at(fault.address) else {
            // Freed while somebody touched it.
            return pager.wake(fault.address);
        };
        let page = ((fault.address - region.base) / PAGE) as usize;
        let (run, dirty, zero) = match region.fault(page, fault.write) {
            Need::Nothing => return pager.wake(fault.address),
            Need::Unprotect(run) => {
                let (address, len) = region.span(run);
                region.unprotected(run);
                return pager.allow(address, len);
            }
            Need::Fill { run, dirty, zero } => (run, dirty, zero),
        };
        let (base, context) = (region.base, region.context);
        let (address, len) = region.span(run);
        let memory = region.memory(run);
        bytes.clear();
        bytes.resize(len as usize, 0);
        if !zero && !self.fetch(session, (address, len), memory, context, bytes) {
            return pager.fail(address, len);
        }
        let Some(region) = self.regions.get_mut(&base) else {
            return;
        };
        region.filled(run, dirty);
        region.provisional |= busy && !zero;
        if region.provisional {
            PROVISIONAL.store(true, Ordering::Relaxed);
        }
        TOUCHED.store(true, Ordering::Relaxed);
        let (changed, rest) = bytes.split_at(dirty * PAGE as usize);
        put(pager, address, changed, true);
        put(pager, address + changed.len() as u64, rest, false);
    }

    /// Fetches what is to be had of pages; false if the device is out of reach for good.
    fn fetch(
        &mut self,
        session: &'static Session,
        pages: (u64, u64),
        (from, len): (u64, u64),
        context: u64,
        bytes: &mut [u8],
    ) -> bool {
        let at = (from - pages.0) as usize;
        let into = &mut bytes[at..at + len as usize];
        match transfer::fetch(session, &mut self.streams, context, from, into) {
            Ok(()) => true,
            Err(status::LOST) => {
                log::once(
                    "managed lost",
                    &format!(
                        "managed memory at {from:#x} is lost with the GPU; who touches it is ended"
                    ),
                );
                false
            }
            // The program's next calls report it; its data there is lost either way.
            Err(code) => {
                log::once(
                    "managed failed",
                    &format!(
                        "managed memory at {from:#x} cannot be fetched (error {code}): it reads as 0"
                    ),
                );
                bytes.fill(0);
                true
            }
        }
    }
}

fn put(pager: &dyn Pager, address: u64, bytes: &[u8], writable: bool) {
    if !bytes.is_empty() {
        pager.put(address, bytes, writable);
    }
}
