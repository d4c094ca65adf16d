//! One CPU emulator device: its identity, memory, busy time and condition.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard};
use std::time::{Duration, Instant};

use crate::arena::{Arena, rounded};
use crate::config::Config;
use crate::faults::Faults;
use crate::pages::{self, MapError, page_size};
use crate::sync::lock;

/// Reserved address space beyond the memory, in multiples of it; see [`Arena`].
const SPREAD: u64 = 4;
/// Freed parts from this size on are given back to the kernel; smaller ones are soon used again.
const DISCARD_FROM: u64 = 32 << 20;
/// PCI domain of the CPU emulators: real machines count domains from 0.
pub(crate) const PCI_DOMAIN: u32 = 0x5350;

/// See the module.
pub(crate) struct Device {
    /// Position among all devices, seen by the program or not.
    pub(crate) index: usize,
    pub(crate) name: String,
    pub(crate) uuid: [u8; 16],
    /// Bytes.
    pub(crate) memory: u64,
    pub(crate) faults: Faults,
    /// Address and length of the range that its memory lies in.
    range: (u64, u64),
    arena: Mutex<Arena>,
    lost: AtomicBool,
    /// Uncorrected ECC errors that launches failed of.
    pub(crate) ecc_uncorrected: AtomicU64,
    busy: Busy,
}

impl Device {
    pub(crate) fn new(index: usize, config: &Config) -> Result<Self, MapError> {
        let spread = config.memory.saturating_mul(SPREAD);
        // Where the kernel counts reserved address space as used, only the memory itself fits.
        let (base, length) = match pages::reserve(index, spread) {
            Ok(base) => (base, spread),
            Err(_) => (pages::reserve(index, config.memory)?, config.memory),
        };
        let what = if config.skip_launches {
            ", launches skipped"
        } else {
            ""
        };
        let mut uuid = *b"gtrace softgpu 0";
        uuid[15] = b'0' + index as u8;
        Ok(Self {
            index,
            name: format!("gtrace softgpu (CPU emulator{what}) {index}"),
            uuid,
            memory: config.memory,
            faults: Faults::new(index, config.fault.as_deref()),
            range: (base, length),
            arena: Mutex::new(Arena::new(base, length, config.memory)),
            lost: AtomicBool::new(false),
            ecc_uncorrected: AtomicU64::new(0),
            busy: Busy::new(),
        })
    }

    /// `GPU-` and the UUID in groups, as NVML prints it.
    pub(crate) fn uuid_text(&self) -> String {
        let hex: String = self.uuid.iter().map(|byte| format!("{byte:02x}")).collect();
        format!(
            "GPU-{}-{}-{}-{}-{}",
            &hex[..8],
            &hex[8..12],
            &hex[12..16],
            &hex[16..20],
            &hex[20..]
        )
    }

    /// PCI bus number.
    pub(crate) fn bus(&self) -> u32 {
        self.index as u32 + 1
    }

    fn arena(&self) -> MutexGuard<'_, Arena> {
        lock(&self.arena)
    }

    /// Takes `size` bytes of memory.
    pub(crate) fn take(&self, size: u64) -> Option<u64> {
        self.arena().take(size)
    }

    /// Address and length of the range that its memory lies in.
    pub(crate) fn range(&self) -> (u64, u64) {
        self.range
    }

    /// Counts memory that lies elsewhere; false if there is not as much left.
    pub(crate) fn charge(&self, size: u64) -> bool {
        self.arena().charge(size)
    }

    /// Takes back what [`charge`](Self::charge) has counted.
    pub(crate) fn refund(&self, size: u64) {
        self.arena().refund(size);
    }

    /// Takes whole pages that are zero.
    #[allow(unsafe_code)]
    pub(crate) fn take_pages(&self, size: u64) -> Option<u64> {
        let page = page_size();
        let size = size.checked_next_multiple_of(page)?;
        let base = self.arena().take_aligned(size, page)?;
        // SAFETY: whole pages that nobody but the caller has from now on.
        unsafe { pages::discard(base, size) };
        Some(base)
    }

    /// Gives back what [`take_pages`](Self::take_pages) gave.
    pub(crate) fn give_pages(&self, base: u64, size: u64) {
        self.give(base, size.next_multiple_of(page_size()));
    }

    /// Gives back what [`take`](Self::take) gave.
    #[allow(unsafe_code)]
    pub(crate) fn give(&self, base: u64, size: u64) {
        let mut arena = self.arena();
        if size >= DISCARD_FROM
            && let Some(length) = rounded(size)
        {
            let page = page_size();
            let (from, to) = (base.next_multiple_of(page), (base + length) & !(page - 1));
            // SAFETY: within the part that is being given back, and the lock is held, so nobody
            // has taken it yet.
            unsafe { pages::discard(from, to - from) };
        }
        arena.give(base, size);
    }

    /// Bytes in use.
    pub(crate) fn used(&self) -> u64 {
        self.arena().used()
    }

    /// Whether it fell off the bus.
    pub(crate) fn is_lost(&self) -> bool {
        self.lost.load(Ordering::Relaxed)
    }

    /// Falls off the bus; true the first time.
    pub(crate) fn lose(&self) -> bool {
        !self.lost.swap(true, Ordering::Relaxed)
    }

    /// Time in which at least one kernel ran.
    pub(crate) fn busy(&self) -> &Busy {
        &self.busy
    }
}

/// How long kernels ran, for the utilisation that NVML reports.
pub(crate) struct Busy {
    state: Mutex<BusyState>,
}

struct BusyState {
    running: u32,
    since: Instant,
    total: Duration,
    sampled: (Instant, Duration),
    percent: u32,
}

impl BusyState {
    fn total(&self) -> (Instant, Duration) {
        let now = Instant::now();
        let running = match self.running {
            0 => Duration::ZERO,
            _ => now - self.since,
        };
        (now, self.total + running)
    }
}

/// Shortest period over which utilisation is reported, as NVML documents.
const SAMPLE: Duration = Duration::from_millis(167);

impl Busy {
    fn new() -> Self {
        let now = Instant::now();
        Self {
            state: Mutex::new(BusyState {
                running: 0,
                since: now,
                total: Duration::ZERO,
                sampled: (now, Duration::ZERO),
                percent: 0,
            }),
        }
    }

    /// A kernel begins.
    pub(crate) fn begin(&self) {
        let mut state = lock(&self.state);
        if state.running == 0 {
            state.since = Instant::now();
        }
        state.running += 1;
    }

    /// A kernel ends.
    pub(crate) fn end(&self) {
        let mut state = lock(&self.state);
        state.running -= 1;
        if state.running == 0 {
            let ran = state.since.elapsed();
            state.total += ran;
        }
    }

    /// How long kernels have run up to now.
    pub(crate) fn total(&self) -> (Instant, Duration) {
        lock(&self.state).total()
    }

    /// Share of the time since the last sample in which a kernel ran, per cent.
    pub(crate) fn utilisation(&self) -> u32 {
        let mut state = lock(&self.state);
        let (now, total) = state.total();
        let (then, before) = state.sampled;
        let period = now - then;
        if period >= SAMPLE {
            let share = (total - before).as_secs_f64() / period.as_secs_f64();
            state.percent = (share * 100.0).round().clamp(0.0, 100.0) as u32;
            state.sampled = (now, total);
        }
        state.percent
    }
}
