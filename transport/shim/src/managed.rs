//! Managed memory: one address at the host and on the device, as CUDA has it on devices without
//! CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS.
//!
//! The host's pages are kept in step where CUDA lets the one side see what the other has done. Before
//! the device may use the memory, what the host has changed is sent and the host's pages are dropped;
//! what the host then touches is fetched ([`serve`]). What the host fetched while the device was at
//! work is dropped once more when the host has waited for it.
//!
//! Page-locked memory that the device uses is kept in step by the same means ([`page_locked`]), except that the host may use
//! it while the device does: of pages that both change only the host's bytes are sent.
//!
//! One lock guards all regions, also while bytes travel. Nobody who holds it touches managed memory
//! that may fault, and nothing that the thread which resolves faults needs is ever held by a thread
//! that may fault: its lane is its own, and frames leave a lane whole.

mod api;
mod eager;
mod holds;
mod mappings;
mod page_locked;
mod pager;
mod pages;
mod protected;
mod serve;
mod transfer;
mod userfault;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use gtrace_cuda::Operation;
use gtrace_protocol::OpId;

use self::eager::Eager;
use self::page_locked::{PageLocked, take_in, waits_for_device};
use self::pager::{Pager, pager};
use self::pages::{Attach, Region, Run};
use crate::capture;
use crate::entry::Answer;
use crate::page::page_size;
use crate::reserve::claim;
use crate::session::{self, Session, with_lane};
use crate::state::lock;

pub(crate) use self::api::*;
pub(crate) use self::holds::{Held, hold};
pub(crate) use self::page_locked::{
    SEEN_MAX, add as add_page_locked, after_fork, any_is_wanted, before_fork, in_child, in_step,
    is_mapped, leave, leave_context, may_be_reached, may_map, reach, reach_bytes,
};

/// All managed memory, and page-locked memory.
struct Managed {
    /// By first address.
    regions: BTreeMap<u64, Region>,
    /// Memory that is kept in step without faults, by first address.
    eager: BTreeMap<u64, Eager>,
    page_locked: PageLocked,
    way: transfer::Way,
    /// A thread forks: pages of the program stay where they are.
    forking: bool,
}

static STATE: Mutex<Managed> = Mutex::new(Managed {
    regions: BTreeMap::new(),
    eager: BTreeMap::new(),
    page_locked: PageLocked::new(),
    way: transfer::Way::new(),
    forking: false,
});
/// Notified when [`Managed::forking`] ends.
static FORKED: Condvar = Condvar::new();
/// How long others wait for a thread that forks: it may be held up by a lock of the program that one of them has.
const FORK_MAX: Duration = Duration::from_secs(10);
/// There is managed memory.
static ACTIVE: AtomicBool = AtomicBool::new(false);
/// The server has some page-locked memory.
static MAPPED: AtomicBool = AtomicBool::new(false);
/// Some memory is kept in step without faults.
static EAGER: AtomicBool = AtomicBool::new(false);
/// The host has some of it, so that the next launch has something to do.
static TOUCHED: AtomicBool = AtomicBool::new(false);
/// Pages were fetched while the device may have changed them.
static PROVISIONAL: AtomicBool = AtomicBool::new(false);
/// Calls that give the device something to do with managed memory, those of them that were sent, and those that it is done
/// with.
static GIVEN: AtomicU64 = AtomicU64::new(0);
static SENT: AtomicU64 = AtomicU64::new(0);
static DONE: AtomicU64 = AtomicU64::new(0);

/// A call that gives the device something to do, until it is sent. Meanwhile a thread that waits for the device has not waited
/// for it.
#[must_use]
#[derive(Debug, Default)]
pub(crate) struct Giving(u64);

impl Giving {
    fn begin(&mut self) {
        self.0 += 1;
        GIVEN.fetch_add(1, Ordering::AcqRel);
    }
}

impl Drop for Giving {
    #[inline]
    fn drop(&mut self) {
        if self.0 > 0 {
            SENT.fetch_add(self.0, Ordering::AcqRel);
        }
    }
}

/// Whether there is managed memory. Calls that may use memory ask first.
#[inline]
pub(crate) fn in_use() -> bool {
    ACTIVE.load(Ordering::Relaxed)
}

/// Whether this machine can have managed memory.
pub(crate) fn is_possible() -> bool {
    pager().is_some()
}

/// Whether `address` lies in managed memory.
pub(crate) fn contains(address: u64) -> bool {
    if !in_use() {
        return false;
    }
    let mut state = lock(&STATE);
    state.at(address).is_some() || state.page_locked.is_mapped(address)
}

/// Whether the next use of memory by the device has something to do before. If not, what others have done for it is named by
/// what the caller sends ([`Session::pages`]).
fn has_work() -> bool {
    TOUCHED.load(Ordering::Acquire) || EAGER.load(Ordering::Relaxed)
}

/// The state, for what takes pages of the program away or gives them back: not while a thread forks.
fn lock_to_move() -> MutexGuard<'static, Managed> {
    let free = FORKED.wait_timeout_while(lock(&STATE), FORK_MAX, |state| state.forking);
    free.unwrap_or_else(PoisonError::into_inner).0
}

/// While this lasts no pages are on their way between the program's memory and a lane.
pub(crate) fn between_transfers() -> impl Drop {
    lock(&STATE)
}

impl Managed {
    /// The region that has the page of `address`.
    fn at(&mut self, address: u64) -> Option<&mut Region> {
        let (_, region) = self.regions.range_mut(..=address).next_back()?;
        (address < region.base + region.len()).then_some(region)
    }

    /// Has the calls that use memory know whether they have to ask here.
    fn note_use(&self) {
        let mapped = self.page_locked.any_is_mapped();
        let any = !self.regions.is_empty() || !self.eager.is_empty() || mapped;
        ACTIVE.store(any, Ordering::Relaxed);
        MAPPED.store(mapped, Ordering::Relaxed);
        EAGER.store(!self.eager.is_empty(), Ordering::Relaxed);
    }

    /// Sends what the host has changed of `within`; the host keeps it, and cannot change it unseen.
    fn send(&mut self, session: &'static Session, base: u64, within: Option<Run>) -> Answer {
        let (Some(pager), Some(region)) = (pager(), self.regions.get_mut(&base)) else {
            return Ok(());
        };
        let dirty = region.dirty(within.unwrap_or(region.all()));
        if dirty.is_empty() {
            return Ok(());
        }
        if is_gone(pager, region, &dirty) {
            self.let_go(base);
            return Ok(());
        }
        for run in &dirty {
            let (address, len) = region.span(*run);
            pager.forbid(address, len);
            if region.foreign {
                pager.complete(address, len);
            }
        }
        let mut pieces = Vec::new();
        for run in &dirty {
            for (address, len) in region.memory(*run) {
                let bytes = pager.bytes(address, len);
                match region.has_twins() {
                    true => pieces.extend(region.changes(*run, bytes).into_iter().map(|part| {
                        let at = address + part.start as u64;
                        (at, &bytes[part])
                    })),
                    false => pieces.push((address, bytes)),
                }
                self.page_locked.look_through(bytes);
            }
        }
        let sent = transfer::send(session, &mut self.way, region.owner(), pieces.into_iter());
        for run in &dirty {
            match sent {
                Ok(()) => region.sent(*run),
                Err(_) => {
                    let (address, len) = region.span(*run);
                    pager.allow(address, len);
                }
            }
        }
        sent
    }

    /// Leaves `within` to the device.
    fn release(&mut self, session: &'static Session, base: u64, within: Option<Run>) -> Answer {
        self.send(session, base, within)?;
        let (Some(pager), Some(region)) = (pager(), self.regions.get_mut(&base)) else {
            return Ok(());
        };
        let runs = region.valid(within.unwrap_or(region.all()));
        if is_gone(pager, region, &runs) {
            self.let_go(base);
            return Ok(());
        }
        drop_pages(pager, region, &runs);
        region.used();
        Ok(())
    }

    /// Lets a kernel in `stream` have all of it.
    ///
    /// CUDA leaves open what a kernel finds in memory that is attached to another stream or to the host. GPUs with concurrent
    /// access, for which many programs are written, give it the memory as it is. So it gets what the host has changed there
    /// too, where one of its `arguments` points there. The host may be using that memory, and keeps its pages until it has
    /// waited for something.
    fn before_kernel(
        &mut self,
        session: &'static Session,
        stream: u64,
        arguments: &[u64],
    ) -> Answer {
        self.release_where(session, |region| region.attach.allows(stream))?;
        let others: Vec<u64> = self
            .regions
            .iter()
            .filter(|(_, region)| region.is_touched() && !region.attach.allows(stream))
            .filter(|(_, region)| arguments.iter().any(|at| region.run(*at, 1).is_some()))
            .map(|(base, _)| *base)
            .collect();
        for base in others {
            if self.regions.get(&base).is_some_and(Region::is_changed) {
                self.send(session, base, None)?;
            }
            if let Some(region) = self.regions.get_mut(&base) {
                region.all_sent();
                region.used();
                if region.is_at_host() {
                    region.provisional = true;
                    PROVISIONAL.store(true, Ordering::Relaxed);
                }
            }
        }
        Ok(())
    }

    fn release_where(
        &mut self,
        session: &'static Session,
        which: impl Fn(&Region) -> bool,
    ) -> Answer {
        let touched = |region: &Region| region.is_touched() && which(region);
        let all = self.regions.iter();
        let all = all.filter(|(_, region)| touched(region));
        let all: Vec<u64> = all.map(|(base, _)| *base).collect();
        for base in all {
            if self.regions.get(&base).is_some_and(touched) {
                self.release(session, base, None)?;
            }
        }
        let touched = self.regions.values().any(Region::is_touched);
        TOUCHED.store(touched, Ordering::Release);
        Ok(())
    }

    /// Does `action` with each region that `len` bytes from `address` on reach, and the part of it.
    fn reached(
        &mut self,
        address: u64,
        len: u64,
        mut action: impl FnMut(&mut Self, u64, Run) -> Answer,
    ) -> Answer {
        let end = address.saturating_add(len);
        let parts = reached_of(&self.regions, end, |region| region.run(address, len));
        for (base, run) in parts {
            action(self, base, run)?;
        }
        Ok(())
    }
}

/// Whether the program has unmapped some of these pages, which may be of other memory now.
fn is_gone(pager: &dyn Pager, region: &Region, runs: &[Run]) -> bool {
    let is_there = |run: &Run| {
        let (address, len) = region.span(*run);
        pager.is_there(address, len)
    };
    region.foreign && !runs.iter().all(is_there)
}

fn drop_pages(pager: &dyn Pager, region: &mut Region, runs: &[Run]) {
    for run in runs {
        let (address, len) = region.span(*run);
        pager.drop(address, len);
    }
    region.stale(runs);
}

/// A kernel is about to be launched in `stream`; `arguments` are the aligned words of its parameters.
///
/// # Errors
///
/// What became of an earlier call; [`crate::status::LOST`]; what `arguments` says.
pub(crate) fn before_launch(
    session: &'static Session,
    stream: u64,
    arguments: impl FnOnce() -> Answer<Vec<u64>>,
) -> Answer<Giving> {
    let mut giving = Giving::default();
    // What is captured runs with its graph.
    if capture::is_captured(session, stream) {
        return Ok(giving);
    }
    giving.begin();
    if has_work() {
        let arguments = arguments()?;
        page_locked::until_all_is_mapped(session, |state| {
            state.send_eager(session, |_| true)?;
            state.before_kernel(session, stream, &arguments)
        })?;
    }
    Ok(giving)
}

/// The device is about to do something else with whatever memory.
pub(crate) fn before_any(session: &'static Session) -> Answer<Giving> {
    let mut giving = Giving::default();
    giving.begin();
    if has_work() {
        page_locked::until_all_is_mapped(session, |state| {
            state.send_eager(session, |_| true)?;
            state.release_where(session, |_| true)
        })?;
    }
    Ok(giving)
}

/// As [`before_any`], of a call with these arguments. What is captured runs with its graph, and to send anything would end
/// a capture that is not relaxed.
pub(crate) fn before_call(
    session: &'static Session,
    op: Operation,
    arguments: &[u8],
) -> Answer<Giving> {
    match op.attributes.stream.and_then(|stream| stream.of(arguments)) {
        Some(stream) if capture::is_captured(session, stream) => Ok(Giving::default()),
        _ => before_any(session),
    }
}

/// The device is about to read `len` bytes at `address`.
pub(crate) fn before_read(session: &'static Session, address: u64, len: u64) -> Answer {
    let mut state = lock_to_move();
    state.send_eager(session, |part| part.overlaps(address, len))?;
    state.reached(address, len, |state, base, run| {
        state.send(session, base, Some(run))
    })
}

/// The device is about to write `len` bytes at `address`.
pub(crate) fn before_write(session: &'static Session, address: u64, len: u64) -> Answer<Giving> {
    let mut giving = Giving::default();
    let mut state = lock_to_move();
    state.send_eager(session, |part| part.overlaps(address, len))?;
    if EAGER.load(Ordering::Relaxed) {
        giving.begin();
    }
    state.reached(address, len, |state, base, run| {
        giving.begin();
        state.release(session, base, Some(run))
    })?;
    Ok(giving)
}

/// Those of `regions` that begin before `end` and of which `part` has something: the last of them, as they lie apart.
fn reached_of<T>(
    regions: &BTreeMap<u64, T>,
    end: u64,
    part: impl Fn(&T) -> Option<Run>,
) -> Vec<(u64, Run)> {
    let last = regions.range(..end).rev();
    let reached = last.map_while(|(base, region)| Some((*base, part(region)?)));
    let mut all: Vec<(u64, Run)> = reached.collect();
    all.reverse();
    all
}

/// What the device has been given up to now, for [`after_wait`]: nothing where some call is still to be sent, which the
/// device can be given after the wait.
#[inline]
pub(crate) fn given() -> u64 {
    // In this order: calls that are begun after it are not among those that were sent before.
    let sent = SENT.load(Ordering::Acquire);
    match GIVEN.load(Ordering::Acquire) == sent {
        true => sent,
        false => 0,
    }
}

/// The program has waited for something; `all`: for everything that was given before `given`.
#[inline]
pub(crate) fn after_wait(given: u64, all: bool) {
    if in_use() {
        after_answer(given, all);
        take_in();
    }
}

/// As [`after_wait`], of the answer to `op`, which may have waited for something.
#[inline]
pub(crate) fn after_call(op: OpId, given: u64, all: bool) {
    if in_use() {
        after_answer(given, all);
        if waits_for_device(op) {
            take_in();
        }
    }
}

fn after_answer(given: u64, all: bool) {
    if all {
        DONE.fetch_max(given, Ordering::AcqRel);
    }
    if PROVISIONAL.load(Ordering::Acquire) {
        drop_provisional();
    }
}

#[cold]
fn drop_provisional() {
    let Some(pager) = pager() else { return };
    let mut state = lock_to_move();
    let provisional = |(base, region): (&u64, &Region)| region.provisional.then_some(*base);
    let all: Vec<u64> = state.regions.iter().filter_map(provisional).collect();
    for base in all {
        // Pages that both have changed are made one on the device.
        if state.regions.get(&base).is_some_and(Region::has_twins)
            && let Ok(session) = session::cuda()
        {
            // Where it fails the pages stay the host's.
            let sent = state.send(session, base, None);
            report(session, sent);
        }
        let Some(region) = state.regions.get_mut(&base) else {
            continue;
        };
        region.provisional = false;
        let runs = region.clean(region.all());
        if is_gone(pager, region, &runs) {
            state.let_go(base);
            continue;
        }
        drop_pages(pager, region, &runs);
    }
    // Only now: another thread that has waited for the device meanwhile must not go on before its pages are dropped.
    PROVISIONAL.store(false, Ordering::Release);
}

/// What became of pages that were moved behind a call that has succeeded: the thread's next call says so.
fn report(session: &'static Session, outcome: Answer) {
    if let Err(code) = outcome {
        // A connection that is lost says so itself.
        let _ = with_lane(session, |lane| {
            lane.note_sticky(code);
            Ok(())
        });
    }
}

/// Whether the device may be at work on memory that the host has too.
pub(crate) fn is_at_work() -> bool {
    in_use() && is_busy()
}

/// As [`is_at_work`], on what the host would read without a fault.
pub(crate) fn may_change() -> bool {
    let any = EAGER.load(Ordering::Relaxed) || PROVISIONAL.load(Ordering::Acquire);
    any && is_at_work()
}

/// Whether pages go past the calls of the process now: then what a call does that has not waited for the device need not be
/// done when the host touches them.
pub(crate) fn goes_past(session: &Session) -> bool {
    in_use() && session.state.host_functions.awaited().is_some()
}

/// Whether the device may be at work on managed memory.
fn is_busy() -> bool {
    GIVEN.load(Ordering::Acquire) != DONE.load(Ordering::Acquire)
}

/// The memory that begins at `base` is about to be freed.
pub(crate) fn forget(base: u64) {
    if in_use() {
        forget_where(|region| region.base == base & !(page_size() - 1) && region.give_up(base));
    }
}

/// A module or library is about to be unloaded.
pub(crate) fn forget_variables(owner: u64) {
    if in_use() {
        forget_where(|region| region.give_up_of(owner));
    }
}

/// A context is gone, with its memory.
pub(crate) fn forget_context(context: u64) {
    if in_use() {
        forget_where(|region| region.context == context && !region.shared);
        lock(&STATE).way.forget(context);
    }
}

fn forget_where(which: impl Fn(&mut Region) -> bool) {
    let Some(pager) = pager() else { return };
    let mut state = lock(&STATE);
    state.regions.retain(|_, region| {
        let gone = which(region);
        if gone {
            pager.unmap(region.base, region.len());
        }
        !gone
    });
    state.note_use();
}

/// Takes up memory that the server has allocated at addresses that are kept free here. False if the
/// kernel does not map it.
fn add(session: &'static Session, region: Region) -> Answer<bool> {
    let Some(pager) = pager() else {
        return Ok(false);
    };
    serve::start(session)?;
    let mut state = lock(&STATE);
    if !pager.map(region.base, region.len()) {
        return Ok(false);
    }
    state.regions.insert(region.base, region);
    ACTIVE.store(true, Ordering::Relaxed);
    TOUCHED.store(true, Ordering::Relaxed);
    Ok(true)
}

/// A variable whose first pages, or its last one, may be those of others of the kernel's images too.
///
/// # Errors
///
/// As [`send`], and OUT_OF_MEMORY where pages are none that can be had.
fn add_variable(
    session: &'static Session,
    (base, size): (u64, u64),
    context: u64,
    owner: u64,
) -> Answer<bool> {
    let end = base + size;
    let mut at = base & !(page_size() - 1);
    while at < end {
        let taken = {
            let mut state = lock(&STATE);
            let next = state.regions.range(at..).next().map(|(base, _)| *base);
            match state
                .at(at)
                .map(|region| (region.base, region.base + region.len()))
            {
                Some((region, region_end)) => {
                    let (from, until) = (base.max(at), end.min(region_end));
                    // With pages at the host, what is new there would be missing in them.
                    state.release(session, region, None)?;
                    if let Some(region) = state.regions.get_mut(&region) {
                        region.share(from, until, owner);
                    }
                    Ok(region_end)
                }
                None => Err(next.map_or(end, |next| next.min(end))),
            }
        };
        match taken {
            Ok(region_end) => at = region_end,
            Err(until) => {
                let from = base.max(at);
                let pages = until.next_multiple_of(page_size()) - at;
                let region = Region::new(from, until - from, context).of(owner);
                if !claim(at, pages) || !add(session, region)? {
                    return Ok(false);
                }
                at += pages;
            }
        }
    }
    Ok(true)
}

/// Pages that `len` bytes take.
fn whole_pages(len: u64) -> Option<u64> {
    len.checked_next_multiple_of(page_size())
}

/// Changes who may use the memory at `address`.
fn attach(address: u64, to: Attach) {
    if let Some(region) = lock(&STATE).at(address) {
        region.attach = to;
        TOUCHED.store(true, Ordering::Relaxed);
    }
}

/// A stream is gone, and with it what was attached to it alone.
fn detach(stream: u64) {
    let mut state = lock(&STATE);
    for region in state.regions.values_mut() {
        if region.attach == Attach::Stream(stream) {
            region.attach = region.attach_first;
            TOUCHED.store(true, Ordering::Relaxed);
        }
    }
}

/// The program is going to read `len` bytes at `address`.
fn want(address: u64, len: u64) {
    let mut state = lock(&STATE);
    if let Some(region) = state.at(address) {
        region.wanted = region.run(address, len);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_found_without_a_search_of_all_regions() {
        let page = page_size();
        let all = (1..=10_000).map(|at| (at * 4 * page, Region::new(at * 4 * page, 2 * page, 1)));
        let regions: BTreeMap<u64, Region> = all.collect();
        let asked = std::cell::Cell::new(0);
        let reached = |address: u64, len: u64| -> Vec<(u64, usize, usize)> {
            asked.set(0);
            let found = reached_of(&regions, address + len, |region| {
                asked.set(asked.get() + 1);
                region.run(address, len)
            });
            let place = |(base, run): (u64, Run)| (base / page, run.first, run.count);
            found.into_iter().map(place).collect()
        };
        // The second page of one, all of the next, and the first page of the third.
        let found = reached(39_981 * page, 8 * page);
        assert_eq!(found, [(39_980, 1, 1), (39_984, 0, 2), (39_988, 0, 1)]);
        assert_eq!(asked.get(), 4);
        // Between two, before all and behind all.
        for address in [39_982 * page, page, 50_000 * page] {
            assert!(reached(address, page).is_empty());
            assert!(asked.get() <= 1);
        }
    }

    #[test]
    fn a_call_that_is_still_to_be_sent_is_not_waited_for() {
        let before = given();
        let mut first = Giving::default();
        first.begin();
        assert_eq!(given(), 0);
        let mut second = Giving::default();
        second.begin();
        second.begin();
        drop(first);
        assert_eq!(given(), 0);
        drop(second);
        assert_eq!(given(), before + 3);
        assert!(is_busy());
        DONE.fetch_max(given(), Ordering::AcqRel);
        assert!(!is_busy());
    }
}
