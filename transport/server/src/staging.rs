//! Memory between link and device, and which way through it is the quicker.
//!
//! Pageable memory is copied once more by the driver of a GPU, which cannot reach it. From page-locked
//! memory the GPU fetches by itself, while the link fills another part. A driver for which a copy is
//! work of the CPU all the same loses by page-locked memory, as the copy then changes threads. So the
//! first large copies of a process are made both ways and timed, each direction for itself.
#![allow(unsafe_code)]

use std::alloc::{Layout, handle_alloc_error};
use std::collections::VecDeque;
use std::ptr::{self, NonNull};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU8, AtomicU32, AtomicU64, Ordering};

use gtrace_link::{LinkError, Tx};
use gtrace_protocol::WINDOW;
use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous, munmap};

use crate::generated::driver::Driver;
use crate::worker::watermark::relaxed;

/// Bytes of a part, and most that are copied at once between link and device: a piece that still lies in the CPU's cache
/// when it is copied on.
pub(crate) const PART: usize = 256 << 10;
/// Parts that are used while the link sends from others: as much as it keeps for a client that does not read, of which the first may
/// be read in part. It never has more of whole ones than that, so that those need not be taken back.
const PARTS: usize = (WINDOW as usize).div_ceil(PART) + 3;
/// Pieces that are timed each way.
const SAMPLES: u32 = 16;
/// `CU_MEMHOSTREGISTER_PORTABLE`: page-locked for all contexts.
const PORTABLE: u32 = 1;
/// CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED: it ended with the context that it was locked in.
const NOT_REGISTERED: u32 = 713;
/// CUDA_ERROR_NOT_SUPPORTED
const NOT_SUPPORTED: u32 = 801;
/// Says which way is taken, instead of what is measured: `locked` or `pageable`.
const VARIABLE: &str = "GTRACE_STAGING";

/// Where bytes go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    ToDevice,
    ToHost,
}

/// How the next piece is to be copied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// By the calls without `Async`.
    Pageable,
    /// Through page-locked memory, while the link works on another part.
    Locked,
    /// As [`Way::Pageable`], to be timed.
    TimePageable,
    /// Through page-locked memory, to be timed: waited for at once.
    TimeLocked,
}

const UNDECIDED: u8 = 0;
const PAGEABLE: u8 = 1;
const LOCKED: u8 = 2;

/// What is known of a direction.
struct Choice {
    decided: AtomicU8,
    samples: AtomicU32,
    /// Shortest times of a piece, ns.
    pageable: AtomicU64,
    locked: AtomicU64,
}

impl Choice {
    const fn new() -> Self {
        Self {
            decided: AtomicU8::new(UNDECIDED),
            samples: AtomicU32::new(0),
            pageable: AtomicU64::new(u64::MAX),
            locked: AtomicU64::new(u64::MAX),
        }
    }

    fn way(&self) -> Way {
        match self.decided.load(Ordering::Relaxed) {
            PAGEABLE => Way::Pageable,
            LOCKED => Way::Locked,
            _ if self.samples.load(Ordering::Relaxed) < SAMPLES => Way::TimePageable,
            _ => Way::TimeLocked,
        }
    }

    /// Takes note of how long a whole piece took. Lanes may do so at the same time: what counts is
    /// the shortest.
    fn timed(&self, way: Way, ns: u64) {
        match way {
            Way::TimePageable => self.pageable.fetch_min(ns, Ordering::Relaxed),
            Way::TimeLocked => self.locked.fetch_min(ns, Ordering::Relaxed),
            Way::Pageable | Way::Locked => return,
        };
        let samples = self.samples.fetch_add(1, Ordering::Relaxed) + 1;
        if samples < 2 * SAMPLES {
            return;
        }
        let pageable = self.pageable.load(Ordering::Relaxed);
        let locked = self.locked.load(Ordering::Relaxed);
        if locked == u64::MAX {
            // So many lanes timed the one way at once that the other is still to come.
            return;
        }
        self.decided.store(
            if locked < pageable { LOCKED } else { PAGEABLE },
            Ordering::Relaxed,
        );
        tracing::debug!(
            "a piece of a copy takes {pageable} ns from pageable memory, {locked} ns from page-locked"
        );
    }
}

/// Of this process, which serves one client with one driver.
static CHOICES: [Choice; 2] = [const { Choice::new() }; 2];

fn choice(direction: Direction) -> &'static Choice {
    match direction {
        Direction::ToDevice => &CHOICES[0],
        Direction::ToHost => &CHOICES[1],
    }
}

/// What the environment says.
fn forced() -> Option<Way> {
    static FORCED: OnceLock<Option<Way>> = OnceLock::new();
    *FORCED.get_or_init(|| match std::env::var(VARIABLE).as_deref() {
        Ok("locked") => Some(Way::Locked),
        Ok("pageable") => Some(Way::Pageable),
        _ => None,
    })
}

/// A copy that was put into a stream and not waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct InFlight {
    /// The stream as the client names it.
    pub(crate) stream: u64,
    /// The context as frames name it.
    pub(crate) context: u32,
}

/// A part of the memory.
struct Part {
    memory: NonNull<u8>,
    locked: bool,
    /// The link may send the memory itself: it is not written to before the client has read it.
    stable: bool,
}

/// The memory of a lane: taken with its first large copy, and given back with the lane. Two parts, one for the device and
/// one for the link, and more where the link sends from them later, until the lane has nothing to do.
pub(crate) struct Staging {
    parts: Vec<Part>,
    /// The part that nothing is under way in, and the one that the device may use.
    next: usize,
    other: usize,
    /// Those that the link has, in order, and those that it had, the one that it had last behind the others.
    lent: VecDeque<usize>,
    free: Vec<usize>,
    driver: &'static Driver,
    /// The driver does not lock them.
    refused: bool,
    /// What may still read or write the part that is not the next.
    pub(crate) in_flight: Option<InFlight>,
}

// SAFETY: the memory is this value's alone.
unsafe impl Send for Staging {}

impl Part {
    fn new() -> Self {
        // Whole pages, of which nothing else is made once they are given back: a socket may have them still.
        // SAFETY: new memory.
        let memory = unsafe {
            mmap_anonymous(
                ptr::null_mut(),
                PART,
                ProtFlags::READ | ProtFlags::WRITE,
                MapFlags::PRIVATE,
            )
        };
        let memory = memory.ok().and_then(|at| NonNull::new(at.cast()));
        Self {
            memory: memory.unwrap_or_else(|| handle_alloc_error(Layout::new::<[u8; PART]>())),
            locked: false,
            stable: false,
        }
    }

    fn lock(&mut self, driver: &Driver) -> bool {
        if let (false, Some(register)) = (self.locked, driver.cuMemHostRegister_v2) {
            // SAFETY: memory of this value, which stays until it is unregistered.
            let status = relaxed(driver, || unsafe {
                register(self.memory.as_ptr().cast(), PART, PORTABLE)
            });
            self.locked = status == 0;
        }
        self.locked
    }

    fn bytes(&self) -> &[u8] {
        // SAFETY: all bytes of the part have values, and who writes there has the staging memory alone.
        unsafe { std::slice::from_raw_parts(self.memory.as_ptr(), PART) }
    }

    /// Gives the memory back, which nobody uses any more.
    fn free(self) {
        // SAFETY: mapped so; the value is gone with it.
        let unmapped = unsafe { munmap(self.memory.as_ptr().cast(), PART) };
        debug_assert!(unmapped.is_ok());
    }

    /// False if the driver may still use the memory.
    fn unlock(&mut self, driver: &Driver) -> bool {
        if self.locked {
            let status = match driver.cuMemHostUnregister {
                // SAFETY: it was registered, and nothing is under way in it.
                Some(unregister) => relaxed(driver, || unsafe {
                    unregister(self.memory.as_ptr().cast())
                }),
                None => NOT_SUPPORTED,
            };
            self.locked = status != 0 && status != NOT_REGISTERED;
        }
        !self.locked
    }
}

impl Staging {
    /// Without memory.
    pub(crate) fn new(driver: &'static Driver) -> Self {
        Self {
            parts: Vec::new(),
            next: 0,
            other: 1,
            lent: VecDeque::new(),
            free: Vec::new(),
            driver,
            refused: false,
            in_flight: None,
        }
    }

    /// How the next piece is to be copied in the current context. Locks the memory if that way needs
    /// it.
    pub(crate) fn way(&mut self, direction: Direction) -> Way {
        let way = forced().unwrap_or_else(|| choice(direction).way());
        match way {
            Way::Pageable | Way::TimePageable => way,
            Way::Locked | Way::TimeLocked if self.lock() => way,
            // Not asked again: what was refused once will be again.
            Way::Locked | Way::TimeLocked => Way::Pageable,
        }
    }

    /// Whether copies may go through page-locked memory, or it is not known yet.
    ///
    /// Memory that was locked stays so until the lane's end, also when it is known that no copy needs it: to unlock it a driver
    /// waits for all streams, and one of them may wait for a function of the client that waits for another lane's copy.
    pub(crate) fn may_lock(&self, direction: Direction) -> bool {
        let way = forced().unwrap_or_else(|| choice(direction).way());
        !self.refused && way != Way::Pageable
    }

    /// Takes note of how long a piece of [`PART`] bytes took.
    pub(crate) fn timed(&self, direction: Direction, way: Way, ns: u64) {
        choice(direction).timed(way, ns);
    }

    /// Locks the next part.
    fn lock(&mut self) -> bool {
        if !self.refused {
            let driver = self.driver;
            self.refused = !self.next_part().lock(driver);
        }
        !self.refused
    }

    fn next_part(&mut self) -> &mut Part {
        while self.parts.len() <= self.next {
            self.parts.push(Part::new());
        }
        &mut self.parts[self.next]
    }

    /// The part that nothing is under way in.
    pub(crate) fn part(&mut self) -> &mut [u8] {
        let memory = self.next_part().memory;
        // SAFETY: all bytes of the part have values; the device writes to the other one only, and the link has lent
        // what it sends from.
        unsafe { std::slice::from_raw_parts_mut(memory.as_ptr(), PART) }
    }

    /// The other part is the next.
    pub(crate) fn swap(&mut self) {
        std::mem::swap(&mut self.next, &mut self.other);
    }

    /// Sends the first `len` bytes of the next part by `tx`, which may go on sending from there: another part takes its
    /// place.
    pub(crate) fn send(&mut self, tx: &mut dyn Tx, len: usize) -> Result<(), LinkError> {
        if !tx.lends() {
            return tx.bulk(&self.part()[..len]);
        }
        let stable = len == PART;
        self.next_part().stable = stable;
        let bytes = &self.part()[..len];
        // SAFETY: the part is written to when the link says that it is not lent any more, and one that is not stable also
        // when it was taken back; it goes after the link, and is unmapped.
        unsafe {
            match stable {
                true => tx.bulk_stable(bytes)?,
                false => tx.bulk_lent(bytes)?,
            }
        }
        self.lent.push_back(self.next);
        while let Some(first) = self.lent.front().copied()
            && !tx.is_lent(self.parts[first].bytes())
        {
            self.lent.pop_front();
            self.free.push(first);
        }
        let is_unstable = |at: &usize| !self.parts[*at].stable;
        if self.free.is_empty()
            && self.parts.len() >= PARTS
            && let Some(at) = self.lent.iter().position(is_unstable)
            && let Some(unstable) = self.lent.remove(at)
        {
            tx.take_back(Some(self.parts[unstable].bytes()));
            self.free.push(unstable);
        }
        // The one that was sent last of those that were read, as most of it lies in the CPU's cache still.
        self.next = self.free.pop().unwrap_or_else(|| {
            // The other part may not have been used yet.
            self.parts.len().max(self.other + 1)
        });
        Ok(())
    }

    /// Whether there is more memory than a client needs that reads what it is sent.
    pub(crate) fn is_large(&self) -> bool {
        self.parts.len() > 2
    }

    /// Gives memory back while the lane has nothing to do: all but two parts, those that the link has, and those that are
    /// locked ([`Self::may_lock`]).
    pub(crate) fn trim(&mut self, tx: &mut dyn Tx) {
        if self.in_flight.is_some() {
            return;
        }
        let mut kept = Vec::new();
        let mut free = Vec::new();
        // Where parts are then that the link has.
        let mut places = vec![None; self.parts.len()];
        for (at, part) in std::mem::take(&mut self.parts).into_iter().enumerate() {
            if self.lent.contains(&at) && tx.is_lent(part.bytes()) {
                places[at] = Some(kept.len());
            } else if part.locked || free.len() < 2 {
                free.push(kept.len());
            } else {
                part.free();
                continue;
            }
            kept.push(part);
        }
        self.lent = self.lent.iter().filter_map(|at| places[*at]).collect();
        self.next = free.pop().unwrap_or(kept.len());
        self.other = free.pop().unwrap_or(kept.len().max(self.next + 1));
        self.free = free;
        self.parts = kept;
    }
}

impl Drop for Staging {
    fn drop(&mut self) {
        if self.in_flight.is_some() {
            // The link broke within a copy: what the device still uses is left to the end of the
            // process.
            return;
        }
        for mut part in std::mem::take(&mut self.parts) {
            if part.unlock(self.driver) {
                part.free();
            }
            // Else the driver may still use it, and it is left to the end of the process too.
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    /// A link to a client that has read all but the last `behind` pieces.
    struct Slow {
        behind: usize,
        /// What was lent and not read, in order: where it lies, or its copy.
        lent: VecDeque<Result<(*const u8, usize), Vec<u8>>>,
        /// Where what was lent for good lies, in no order.
        stable: Vec<*const u8>,
        read: Vec<u8>,
    }

    // SAFETY: a test has one thread.
    unsafe impl Send for Slow {}

    impl Slow {
        fn new(behind: usize) -> Self {
            Self {
                behind,
                lent: VecDeque::new(),
                stable: Vec::new(),
                read: Vec::new(),
            }
        }

        /// A piece of a part is as it was when it was sent: its first and its last byte are its number, modulo 251.
        fn read_to(&mut self, behind: usize) {
            while self.lent.len() > behind
                && let Some(piece) = self.lent.pop_front()
            {
                let bytes = match &piece {
                    // SAFETY: the memory is the staging's, which outlives the test's link.
                    Ok((at, len)) => unsafe { std::slice::from_raw_parts(*at, *len) },
                    Err(copied) => copied,
                };
                assert_eq!(bytes.first(), bytes.last());
                self.stable.retain(|at| *at != bytes.as_ptr());
                self.read.push(bytes[0]);
            }
        }
    }

    impl Tx for Slow {
        fn reserve(&mut self, _: usize) -> Result<&mut [u8], LinkError> {
            unreachable!("only pieces are sent")
        }
        fn commit(&mut self, _: usize) {}
        fn bulk(&mut self, _: &[u8]) -> Result<(), LinkError> {
            unreachable!("they are lent")
        }
        unsafe fn bulk_lent(&mut self, body: &[u8]) -> Result<(), LinkError> {
            self.lent.push_back(Ok((body.as_ptr(), body.len())));
            self.read_to(self.behind);
            Ok(())
        }
        unsafe fn bulk_stable(&mut self, body: &[u8]) -> Result<(), LinkError> {
            self.stable.push(body.as_ptr());
            // SAFETY: the caller promises more.
            unsafe { self.bulk_lent(body) }
        }
        fn lends(&self) -> bool {
            true
        }
        fn is_lent(&mut self, memory: &[u8]) -> bool {
            self.lent
                .iter()
                .any(|piece| matches!(piece, Ok((at, _)) if *at == memory.as_ptr()))
        }
        fn take_back(&mut self, memory: Option<&[u8]>) {
            for piece in &mut self.lent {
                if let Ok((at, len)) = *piece
                    && memory.is_none_or(|memory| memory.as_ptr() == at)
                {
                    assert!(!self.stable.contains(&at), "the link may have the memory");
                    // SAFETY: as in `read_to`.
                    *piece = Err(unsafe { std::slice::from_raw_parts(at, len) }.to_vec());
                }
            }
        }
        fn flush(&mut self) -> Result<(), LinkError> {
            Ok(())
        }
        fn pending(&self) -> usize {
            0
        }
    }

    /// Sends a part that holds `value`; where it lies. Meanwhile the device writes to the other one.
    fn send(
        staging: &mut Staging,
        slow: &mut Slow,
        len: usize,
        value: u8,
    ) -> Result<*const u8, LinkError> {
        let memory = staging.part().as_ptr();
        staging.part()[..len].fill(value);
        staging.swap();
        staging.part().fill(252);
        staging.swap();
        staging.send(slow, len)?;
        Ok(memory)
    }

    /// A part is used again when it is read, or copied back, and there are no more of them than the client is behind, nor
    /// more than allowed.
    #[test]
    fn parts_are_used_again_when_they_are_read() {
        let driver: &Driver = Box::leak(Box::new(Driver::load(Path::new("libc.so.6")).unwrap()));
        for (behind, parts) in [(0, 3), (1, 3), (7, 9), (PARTS - 2, PARTS), (1_000, PARTS)] {
            let mut staging = Staging::new(driver);
            let mut slow = Slow::new(behind);
            const PIECES: usize = 5 * PARTS;
            for nth in 0..PIECES {
                send(&mut staging, &mut slow, PART - nth, (nth % 251) as u8).unwrap();
            }
            assert!(
                staging.parts.len() <= parts,
                "{behind} behind: {} parts",
                staging.parts.len()
            );
            slow.read_to(0);
            let sent: Vec<u8> = (0..PIECES).map(|nth| (nth % 251) as u8).collect();
            assert_eq!(slow.read, sent, "{behind} behind");
        }
    }

    /// A link keeps so many bytes. Whole parts, of which it may have the memory itself, are not taken back, whatever is sent
    /// between them.
    #[test]
    fn whole_parts_wait_for_the_client_and_others_are_taken_back() {
        let driver: &Driver = Box::leak(Box::new(Driver::load(Path::new("libc.so.6")).unwrap()));
        for short in [PART, PART / 4, PART - 1] {
            let mut staging = Staging::new(driver);
            let mut slow = Slow::new(usize::MAX);
            let mut lens = VecDeque::new();
            for nth in 0..5 * PARTS {
                let len = if nth % 3 == 0 { short } else { PART };
                lens.push_back(len);
                while lens.iter().sum::<usize>() > WINDOW as usize {
                    lens.pop_front();
                    slow.read_to(lens.len() - 1);
                }
                send(&mut staging, &mut slow, len, (nth % 251) as u8).unwrap();
            }
            assert!(staging.parts.len() <= PARTS, "{}", staging.parts.len());
            slow.read_to(0);
            let sent = (0..5 * PARTS).map(|nth| (nth % 251) as u8);
            assert!(slow.read.into_iter().eq(sent), "{short}");
        }
    }

    /// Memory that a client needed once that was far behind stays where it is afterwards: a copy that went through all of it
    /// in turn would find none of it in the CPU's cache.
    #[test]
    fn a_client_that_keeps_up_is_sent_from_few_parts() {
        let driver: &Driver = Box::leak(Box::new(Driver::load(Path::new("libc.so.6")).unwrap()));
        let mut staging = Staging::new(driver);
        let mut slow = Slow::new(20);
        for _ in 0..40 {
            send(&mut staging, &mut slow, PART, 7).unwrap();
        }
        assert!(staging.parts.len() > 20);
        (slow.behind, slow.read) = (1, Vec::new());
        slow.read_to(1);
        let used: std::collections::HashSet<_> = (0..200)
            .map(|_| send(&mut staging, &mut slow, PART, 7).unwrap())
            .collect();
        assert!(used.len() <= 4, "{} parts were used", used.len());
        slow.read_to(0);
        assert!(slow.read.iter().all(|&first| first == 7));
    }

    #[test]
    fn a_lane_without_work_keeps_what_the_link_has_and_two_parts() {
        let driver: &Driver = Box::leak(Box::new(Driver::load(Path::new("libc.so.6")).unwrap()));
        let mut staging = Staging::new(driver);
        let mut slow = Slow::new(20);
        let send_all = |staging: &mut Staging, slow: &mut Slow, all: std::ops::Range<u8>| {
            for nth in all {
                send(staging, slow, PART, nth).unwrap();
            }
        };
        send_all(&mut staging, &mut slow, 0..40);
        assert!(staging.is_large() && staging.parts.len() > 20);
        slow.read_to(5);
        staging.trim(&mut slow);
        assert_eq!(staging.parts.len(), 7);
        send_all(&mut staging, &mut slow, 40..80);
        slow.read_to(0);
        staging.trim(&mut slow);
        assert!(!staging.is_large());
        send_all(&mut staging, &mut slow, 80..90);
        slow.read_to(0);
        assert!(slow.read.into_iter().eq(0..90));
    }

    fn measured(pageable: u64, locked: u64) -> Way {
        let choice = Choice::new();
        for n in 0..SAMPLES {
            assert_eq!(choice.way(), Way::TimePageable);
            choice.timed(Way::TimePageable, pageable + u64::from(n));
        }
        for n in 0..SAMPLES {
            assert_eq!(choice.way(), Way::TimeLocked);
            choice.timed(Way::TimeLocked, locked + u64::from(n));
        }
        choice.way()
    }

    #[test]
    fn nothing_is_decided_before_both_ways_were_timed() {
        let choice = Choice::new();
        for _ in 0..3 * SAMPLES {
            choice.timed(Way::TimePageable, 50);
        }
        assert_eq!(choice.way(), Way::TimeLocked);
    }

    #[test]
    fn the_quicker_way_is_taken() {
        assert_eq!(measured(100, 50), Way::Locked);
        assert_eq!(measured(50, 100), Way::Pageable);
    }
}
