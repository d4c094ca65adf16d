//! Page-locked memory that the device uses. With unified addressing the device has all of it at the host's addresses.
//!
//! Most programs only copy from and to it, which needs nothing on the server. So the server gets memory at its addresses
//! when one of them can reach the device for the first time: as an argument of a launch, of a fill or a copy on the device,
//! within a small copy to the device, or within other memory that both have; when the program asks for the device's
//! pointer, or with the next use of the device where it was allocated for one. From then on it is kept in step: whole pages
//! as managed memory is ([`super::pages`]), the rest without faults ([`super::eager`]).

// mmap(2), and the program's memory.
#![allow(unsafe_code)]

use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock};
use std::{ptr, slice};

use gtrace_cuda::attributes;
use gtrace_cuda::payload::{MAP_HOST, UNMAP_HOST};
use gtrace_cuda::types::driver::{self as cuda, CUresult};
use gtrace_protocol::{Flags, OpId, Writer, op_id};

use super::eager::Eager;
use super::mappings::may_fault;
use super::pager::pager;
use super::pages::Region;
use super::transfer::Owner;
use super::{
    EAGER, FORKED, MAPPED, Managed, STATE, eager, holds, lock_to_move, protected, serve, transfer,
};
use crate::context::{self, Current};
use crate::entry::{Answer, answer_to, exchange, holding_back};
use crate::generated::driver::remote;
use crate::page::page_size;
use crate::session::{self, Session};
use crate::state::lock;
use crate::status::fail_if;
use crate::{deferred_copies, host_memory, log};

/// Up to so many bytes of whole pages are kept in step without faults: a fault costs more.
const EAGER_MAX: u64 = 16 << 10;
/// Copies to the device up to this size are looked through for addresses.
pub(crate) const SEEN_MAX: usize = 16 << 10;
/// Bytes of an address range in which the program's memory is looked at at once.
const PIECE: usize = 1 << 20;

/// Page-locked memory that the server does not have.
#[derive(Clone, Copy, Debug)]
struct Candidate {
    size: u64,
    /// The program can have the device's pointer.
    wanted: bool,
    /// The program's own memory, and not the shim's.
    foreign: bool,
    /// Its whole pages may be kept in step by faults.
    faults: bool,
}

/// Page-locked memory that the server has too.
#[derive(Clone, Debug)]
struct Mapped {
    candidate: Candidate,
    context: u64,
    /// What the server has for it: the program's own bytes, which may share pages with others of the program, or whole pages.
    there: (u64, u64),
    /// The region of its whole pages.
    region: Option<u64>,
    /// First addresses of what is kept in step without faults.
    eager: Vec<u64>,
}

/// All page-locked memory, by first address.
pub(super) struct PageLocked {
    candidates: BTreeMap<u64, Candidate>,
    mapped: BTreeMap<u64, Mapped>,
    /// Candidates to which addresses were found in what was sent.
    found: Vec<u64>,
}

/// Between which addresses candidates are.
static LOWEST: AtomicU64 = AtomicU64::new(u64::MAX);
static END: AtomicU64 = AtomicU64::new(0);
/// A candidate is wanted.
static WANTED: AtomicBool = AtomicBool::new(false);
/// Held while memory becomes the device's too, or only the host's again. Taken before the lock of [`STATE`].
static CHANGING: Mutex<()> = Mutex::new(());

thread_local! {
    /// This thread forks, and has begun [`Managed::forking`].
    static FORKING: Cell<bool> = const { Cell::new(false) };
}

/// Whether some page-locked memory is not on the server yet, so that addresses are to be looked for.
#[inline]
pub(crate) fn may_map() -> bool {
    END.load(Ordering::Acquire) != 0
}

/// Whether a word may be an address of such memory.
#[inline]
pub(crate) fn may_be_reached(word: u64) -> bool {
    word >= LOWEST.load(Ordering::Acquire) && word < END.load(Ordering::Acquire)
}

/// Whether the next use of the device maps some.
#[inline]
pub(crate) fn any_is_wanted() -> bool {
    WANTED.load(Ordering::Acquire)
}

/// Whether all page-locked memory is mapped as soon as the device is used: for programs that hide its addresses where they
/// are not seen.
fn all_is_wanted() -> bool {
    static ALL: OnceLock<bool> = OnceLock::new();
    *ALL.get_or_init(|| std::env::var_os("GTRACE_PAGE_LOCKED").is_some_and(|text| text == "mapped"))
}

impl PageLocked {
    pub(super) const fn new() -> Self {
        Self {
            candidates: BTreeMap::new(),
            mapped: BTreeMap::new(),
            found: Vec::new(),
        }
    }

    /// Has the calls know where candidates are.
    fn note(&self) {
        let first = self.candidates.first_key_value();
        let last = self.candidates.last_key_value();
        let (lowest, end) = match (first, last) {
            (Some((first, _)), Some((last, it))) => (*first, last + it.size),
            _ => (u64::MAX, 0),
        };
        // Whoever asks meanwhile finds what stays within both.
        LOWEST.fetch_min(lowest, Ordering::AcqRel);
        END.fetch_max(end, Ordering::AcqRel);
        LOWEST.store(lowest, Ordering::Release);
        END.store(end, Ordering::Release);
        let wanted = self.candidates.values().any(|it| it.wanted);
        WANTED.store(wanted, Ordering::Release);
    }

    /// The candidate that has this address.
    fn candidate(&self, address: u64) -> Option<u64> {
        let (base, it) = self.candidates.range(..=address).next_back()?;
        (address - base < it.size).then_some(*base)
    }

    /// Whether the server has any.
    pub(super) fn any_is_mapped(&self) -> bool {
        !self.mapped.is_empty()
    }

    /// Whether some of it, mapped or not, is the program's own.
    fn any_is_foreign(&self) -> bool {
        let mapped = self.mapped.values().map(|it| it.candidate);
        mapped
            .chain(self.candidates.values().copied())
            .any(|it| it.foreign)
    }

    /// Whether the server has the memory at `address`.
    pub(super) fn is_mapped(&self, address: u64) -> bool {
        let found = self.mapped.range(..=address).next_back();
        found.is_some_and(|(base, it)| address - base < it.candidate.size)
    }

    /// Notes which candidates the device can reach through these bytes, which begin with a word.
    pub(super) fn look_through(&mut self, bytes: &[u8]) {
        if !may_map() {
            return;
        }
        let (words, _) = bytes.as_chunks::<8>();
        for word in words.iter().map(|word| u64::from_le_bytes(*word)) {
            if may_be_reached(word)
                && let Some(base) = self.candidate(word)
                && !self.found.contains(&base)
            {
                self.found.push(base);
            }
        }
    }
}

/// Page-locked memory of the program. `wanted`: it was allocated for the device; `foreign`: it is the program's own.
pub(crate) fn add(base: u64, size: u64, wanted: bool, foreign: bool) {
    let mut state = lock(&STATE);
    let wanted = wanted || all_is_wanted();
    let candidate = Candidate {
        size,
        wanted,
        foreign,
        faults: !foreign,
    };
    state.page_locked.candidates.insert(base, candidate);
    state.page_locked.note();
}

/// Whether the server has the page-locked memory at `address` too.
pub(crate) fn is_mapped(address: u64) -> bool {
    MAPPED.load(Ordering::Relaxed) && lock(&STATE).page_locked.is_mapped(address)
}

/// The device is about to use memory, with these words among what it is given.
///
/// # Errors
///
/// Memory that the server cannot have: OUT_OF_MEMORY, and what its driver says; [`crate::status::LOST`].
pub(crate) fn reach(session: &'static Session, words: impl Iterator<Item = u64>) -> Answer {
    if !may_map() {
        return Ok(());
    }
    let mut found: Vec<u64> = words.filter(|word| may_be_reached(*word)).collect();
    if any_is_wanted() {
        let state = lock(&STATE);
        let wanted = state.page_locked.candidates.iter();
        found.extend(wanted.filter(|(_, it)| it.wanted).map(|(base, _)| *base));
    }
    for address in found {
        map(session, address)?;
    }
    Ok(())
}

/// As [`reach`], of bytes that begin with a word.
pub(crate) fn reach_bytes(session: &'static Session, bytes: &[u8]) -> Answer {
    let (words, _) = bytes.as_chunks::<8>();
    reach(session, words.iter().map(|word| u64::from_le_bytes(*word)))
}

/// Does `action` until it has sent no address of memory that the server does not have.
pub(super) fn until_all_is_mapped(
    session: &'static Session,
    action: impl Fn(&mut Managed) -> Answer,
) -> Answer {
    loop {
        let found = {
            let mut state = lock_to_move();
            action(&mut state)?;
            std::mem::take(&mut state.page_locked.found)
        };
        if found.is_empty() {
            return Ok(());
        }
        for base in found {
            map(session, base)?;
        }
    }
}

/// Gives the server the page-locked memory at `address`, if it does not have it, and what is reached from there.
fn map(session: &'static Session, address: u64) -> Answer {
    let mut left = vec![address];
    while let Some(address) = left.pop() {
        let _alone = lock(&CHANGING);
        map_one(session, address)?;
        left.append(&mut lock(&STATE).page_locked.found);
    }
    Ok(())
}

/// [`CHANGING`] is held.
fn map_one(session: &'static Session, address: u64) -> Answer {
    let found = {
        let state = lock(&STATE);
        let all = &state.page_locked;
        all.candidate(address)
            .and_then(|base| Some((base, *all.candidates.get(&base)?)))
    };
    let Some((base, mut candidate)) = found else {
        return Ok(());
    };
    // Before the lock of the regions is held: it reads the program's memory.
    candidate.faults = !candidate.foreign
        || whole_pages((base, candidate.size))
            .is_some_and(|whole| may_fault(whole, (base, candidate.size)));
    let current = context::current()?;
    // What is still to come there comes before, also by a copy that is begun meanwhile, and no link takes anything from there
    // any more.
    deferred_copies::settle(session, base as usize, candidate.size as usize)?;
    let _changing = holds::change(base, candidate.size);
    deferred_copies::settle(session, base as usize, candidate.size as usize)?;
    host_memory::release_at(session, base);
    let there = match candidate.foreign {
        true => (base, candidate.size),
        false => (base, candidate.size.next_multiple_of(page_size())),
    };
    serve::start(session)?;
    let zero = map_there(session, there).inspect_err(|code| refused(base, *code))?;
    let mut state = lock_to_move();
    let adopted = state.adopt(session, (base, candidate), there, current.handle, zero);
    if let Err(code) = adopted {
        drop(state);
        let _ = holding_back(session, || unmap_there(session, there, current.handle));
        return Err(code);
    }
    Ok(())
}

fn refused(base: u64, code: CUresult) {
    let why = match code {
        cuda::CUDA_ERROR_NOT_SUPPORTED => {
            "the server or its device cannot use registered memory by the host's address"
        }
        cuda::CUDA_ERROR_OUT_OF_MEMORY => {
            "the server has no memory for it, or has something else at its addresses"
        }
        _ => "the server's driver refuses it",
    };
    log::once(
        "page-locked",
        &format!("page-locked memory at {base:#x} cannot be used by the GPU: {why} (error {code})"),
    );
}

/// Has the server map memory; whether all of its pages are 0.
fn map_there(session: &'static Session, (first, len): (u64, u64)) -> Answer<bool> {
    let write = |w: &mut Writer| {
        w.u64(len);
        w.u64(first);
    };
    answer_to(session, MAP_HOST, write, |r| {
        r.u64()?;
        Ok(r.u8()? != 0)
    })
}

fn unmap_there(session: &'static Session, (first, len): (u64, u64), context: u64) -> Answer {
    context::within(of_frame(context), || {
        exchange(
            session,
            UNMAP_HOST,
            Flags::default(),
            |w| {
                w.u64(first);
                w.u64(len);
            },
            |_| Ok(()),
        )
    })
}

/// A context as frames name it.
fn of_frame(handle: u64) -> Current {
    Current { handle, device: 0 }
}

/// What of memory is whole pages, if that is enough for faults.
fn whole_pages((base, size): (u64, u64)) -> Option<(u64, u64)> {
    let first = base.next_multiple_of(page_size());
    let end = (base + size) & !(page_size() - 1);
    (end > first && end - first > EAGER_MAX).then(|| (first, end - first))
}

impl Managed {
    /// Keeps memory in step with that of the server from now on, which gets what the program has there.
    fn adopt(
        &mut self,
        session: &'static Session,
        (base, candidate): (u64, Candidate),
        there: (u64, u64),
        context: u64,
        zero: bool,
    ) -> Answer {
        // Freed meanwhile.
        fail_if(
            !self.page_locked.candidates.contains_key(&base),
            cuda::CUDA_ERROR_INVALID_VALUE,
        )?;
        // Another thread that uses the memory meanwhile finds it a candidate still, and waits until all of it is there.
        super::ACTIVE.store(true, Ordering::SeqCst);
        let mut mapped = Mapped {
            candidate,
            context,
            there,
            region: None,
            eager: Vec::new(),
        };
        let outcome = self.adopt_as(session, (base, base + candidate.size), &mut mapped, zero);
        if outcome.is_err() {
            self.take_home(session, &mapped);
        } else {
            self.page_locked.mapped.insert(base, mapped);
            self.page_locked.candidates.remove(&base);
        }
        self.note_use();
        self.page_locked.note();
        outcome
    }

    fn adopt_as(
        &mut self,
        session: &'static Session,
        (base, end): (u64, u64),
        mapped: &mut Mapped,
        zero: bool,
    ) -> Answer {
        let foreign = mapped.candidate.foreign;
        // What the shim has mapped has whole pages to itself.
        let own_end = if foreign {
            end
        } else {
            end.next_multiple_of(page_size())
        };
        let whole = whole_pages((base, own_end - base));
        let whole = whole.filter(|_| mapped.candidate.faults);
        let adopted = match whole {
            Some((first, len)) => {
                pager().and_then(|pager| Some((first, len, pager.adopt(first, len)?)))
            }
            None => None,
        };
        let mut rest = vec![(base, end)];
        if let Some((first, len, moved)) = adopted {
            let region = Region::new(first, len, mapped.context).shared(foreign);
            self.regions.insert(first, region);
            mapped.region = Some(first);
            let sent = self.send_moved(session, (first, len, moved), mapped.context, zero);
            if let Err(code) = sent {
                // The program's bytes go back to where they were.
                self.put_back((first, len, moved));
                mapped.region = None;
                return Err(code);
            }
            // SAFETY: the mapping that `adopt` has made, whose bytes the server has.
            unsafe { libc::munmap(place(moved), len as usize) };
            rest = vec![(base, first), (first + len, end)];
        }
        for (address, to) in rest.into_iter().filter(|(from, to)| from < to) {
            let part = Eager::new((address, to - address), mapped.context, foreign);
            self.eager.insert(address, part);
            mapped.eager.push(address);
            self.send_first(session, address)?;
        }
        Ok(())
    }

    /// Sends pages that were moved to `moved`, without those that are 0 where the server's are too.
    fn send_moved(
        &mut self,
        session: &'static Session,
        (first, len, moved): (u64, u64, u64),
        context: u64,
        zero: bool,
    ) -> Answer {
        // SAFETY: as many bytes, which nobody has but this call.
        let bytes: &[u8] = unsafe { slice::from_raw_parts(place(moved).cast(), len as usize) };
        for (at, piece) in bytes.chunks(PIECE).enumerate() {
            let mut runs: Vec<(usize, usize)> = Vec::new();
            for (page, content) in piece.chunks(page_size() as usize).enumerate() {
                if zero && content.iter().all(|byte| *byte == 0) {
                    continue;
                }
                let begin = page * page_size() as usize;
                match runs.last_mut() {
                    Some((_, end)) if *end == begin => *end += content.len(),
                    _ => runs.push((begin, begin + content.len())),
                }
            }
            if runs.is_empty() {
                continue;
            }
            let from = first + (at * PIECE) as u64;
            let pieces = runs
                .iter()
                .map(|(begin, end)| (from + *begin as u64, &piece[*begin..*end]));
            transfer::send(session, &mut self.way, Owner::locked(context), pieces)?;
            self.page_locked.look_through(piece);
        }
        Ok(())
    }

    /// The program's pages are where they were before they were moved.
    fn put_back(&mut self, (first, len, moved): (u64, u64, u64)) {
        let Some(pager) = pager() else { return };
        // SAFETY: as in `send_moved`.
        let bytes: &[u8] = unsafe { slice::from_raw_parts(place(moved).cast(), len as usize) };
        pager.put(first, bytes, true);
        pager.restore(first, len);
        self.regions.remove(&first);
        // SAFETY: the mapping that `adopt` has made.
        unsafe { libc::munmap(place(moved), len as usize) };
    }

    /// Memory is the host's alone again, with all that the device has written there.
    fn take_home(&mut self, session: &'static Session, mapped: &Mapped) {
        let is_there = match mapped.region {
            Some(first) => self.bring_home(session, first),
            None => true,
        };
        if is_there {
            let fetched = self.fetch_eager(session);
            super::report(session, fetched);
        }
        for address in &mapped.eager {
            self.eager.remove(address);
        }
    }

    /// The program has unmapped the region at `base`, which is page-locked memory: its addresses are the program's for other
    /// things. The server has the memory until it is given back.
    pub(super) fn let_go(&mut self, base: u64) {
        eager::say_unmapped(base);
        if let (Some(region), Some(pager)) = (self.regions.remove(&base), pager()) {
            pager.abandon(region.base, region.len());
        }
        let mut mapped = self.page_locked.mapped.values_mut();
        if let Some(mapped) = mapped.find(|it| it.region == Some(base)) {
            mapped.region = None;
            for address in mapped.eager.drain(..) {
                self.eager.remove(&address);
            }
        }
        self.note_use();
    }

    /// Memory that is about to be freed, or that the program has unmapped.
    fn drop_mapped(&mut self, mapped: &Mapped) {
        if let (Some(first), Some(pager)) = (mapped.region, pager())
            && let Some(region) = self.regions.remove(&first)
        {
            match mapped.candidate.foreign {
                true => pager.abandon(region.base, region.len()),
                false => pager.unmap(region.base, region.len()),
            }
        }
        for address in &mapped.eager {
            self.eager.remove(address);
        }
    }
}

fn place(address: u64) -> *mut libc::c_void {
    ptr::with_exposed_provenance_mut(address as usize)
}

/// Page-locked memory that begins at `base` is given back. Unless it is freed, it holds what the device has written there.
pub(crate) fn leave(session: &'static Session, base: u64, freed: bool) {
    let _alone = lock(&CHANGING);
    leave_one(session, base, freed);
}

/// [`CHANGING`] is held. What it was.
fn leave_one(session: &'static Session, base: u64, freed: bool) -> Option<Candidate> {
    let context = {
        let mut state = lock(&STATE);
        if let Some(candidate) = state.page_locked.candidates.remove(&base) {
            state.page_locked.note();
            return Some(candidate);
        }
        state.page_locked.mapped.get(&base)?.context
    };
    context::within(of_frame(context), || {
        if !freed {
            // What the device is doing there belongs to it.
            // SAFETY: a call without arguments. Its error comes with the next call too.
            holding_back(session, || unsafe { remote::cuCtxSynchronize() });
        }
        let mapped = {
            let mut state = lock_to_move();
            let mapped = state.page_locked.mapped.remove(&base)?;
            match freed {
                true => state.drop_mapped(&mapped),
                false => state.take_home(session, &mapped),
            }
            state.note_use();
            mapped
        };
        // Where it fails the memory is the server's until the session ends.
        let _ = holding_back(session, || unmap_there(session, mapped.there, context));
        Some(mapped.candidate)
    })
}

/// A context is about to end. Page-locked memory outlives it: the host has it alone, until the device uses it again.
pub(crate) fn leave_context(session: &'static Session, context: u64) {
    if !super::in_use() {
        return;
    }
    let _alone = lock(&CHANGING);
    let all: Vec<u64> = {
        let state = lock(&STATE);
        let mapped = state.page_locked.mapped.iter();
        mapped
            .filter(|(_, it)| it.context == context)
            .map(|(base, _)| *base)
            .collect()
    };
    for base in all {
        if let Some(candidate) = leave_one(session, base, false) {
            // Its address may be where it is not seen again: in a graph, or in memory of the device.
            add(base, candidate.size, true, candidate.foreign);
        }
    }
}

/// The process is about to fork: its child has the program's memory, and no device that has parts of it. So all of it is at
/// the host until the child is there, also of what the device is at work on. Nobody waits for the device, which may wait
/// for the program, and faults are resolved: another handler of the fork may touch the memory.
pub(crate) fn before_fork() {
    let Some(session) = session::current() else {
        return;
    };
    if !super::in_use() && !may_map() {
        return;
    }
    let mut state = lock_to_move();
    if state.page_locked.any_is_foreign() {
        FORKING.set(true);
        state.forking = true;
        state.bring_for_child(session);
    }
}

/// The process has forked, or could not; this is the parent.
pub(crate) fn after_fork() {
    if !FORKING.replace(false) {
        return;
    }
    let mut state = lock(&STATE);
    if let Some(pager) = pager() {
        for region in state.regions.values().filter(|region| region.foreign) {
            let dirty = region.dirty(region.all());
            let writable: Vec<_> = dirty.iter().map(|run| region.span(*run)).collect();
            pager.after_fork(region.base, region.len(), &writable);
        }
    }
    state.forking = false;
    FORKED.notify_all();
}

/// This is the child. It has no use for anything else of the state: its CUDA is not initialised.
pub(crate) fn in_child() {
    FORKING.set(false);
    protected::in_child();
}

/// Whether an operation that succeeds has waited for something that the device did.
pub(crate) fn waits_for_device(op: OpId) -> bool {
    const QUERIES: [OpId; 4] = [
        op_id("cuStreamQuery"),
        op_id("cuEventQuery"),
        op_id("cuEventElapsedTime"),
        op_id("cuEventElapsedTime_v2"),
    ];
    EAGER.load(Ordering::Relaxed) && (attributes(op).synchronising || QUERIES.contains(&op))
}

/// The program has waited for the device, which may have changed what is kept in step without faults.
pub(crate) fn take_in() {
    if EAGER.load(Ordering::Relaxed)
        && let Ok(session) = session::cuda()
    {
        let fetched = lock(&STATE).fetch_eager(session);
        super::report(session, fetched);
    }
}

/// Gives the server the page-locked memory at `address`, for which the program wants the device's pointer.
pub(crate) fn in_step(session: &'static Session, address: u64) -> Answer {
    map(session, address)?;
    fail_if(!is_mapped(address), cuda::CUDA_ERROR_INVALID_VALUE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_that_are_not_the_programs_alone_are_not_taken() {
        assert_eq!(whole_pages((0x1010, 0x4000)), None);
        assert_eq!(whole_pages((0x1010, 0x8000)), Some((0x2000, 0x7000)));
        assert_eq!(whole_pages((0x1000, EAGER_MAX)), None);
    }

    #[test]
    fn addresses_are_found_within_candidates_only() {
        let mut all = PageLocked::new();
        let candidate = Candidate {
            size: 100,
            wanted: false,
            foreign: true,
            faults: false,
        };
        all.candidates.insert(0x1000, candidate);
        assert_eq!(all.candidate(0x1063), Some(0x1000));
        assert_eq!(all.candidate(0x1064), None);
        assert_eq!(all.candidate(0xfff), None);
    }
}
