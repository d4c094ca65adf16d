//! Around every exported call of the driver API, where it is asked for: delays, and a list of how long
//! calls took, against which what a tracer says can be held.

use std::cell::RefCell;
use std::io::Write as _;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU8, AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock};
use std::time::{Duration, Instant};

use crate::config::warn;
use crate::faults::parse_time;
use crate::sync::lock;

/// Calls of a thread that are kept before they are written.
const KEPT: usize = 1 << 16;

const UNKNOWN: u8 = 0;
const PLAIN: u8 = 1;
const WATCHED: u8 = 2;
static MODE: AtomicU8 = AtomicU8::new(UNKNOWN);

/// What is asked for.
struct Wanted {
    /// `GTRACE_SOFTGPU_STAMPS`
    stamps: Option<PathBuf>,
    delays: Vec<Delay>,
}

/// Calls of a function take longer.
#[derive(Debug, PartialEq)]
pub(crate) struct Delay {
    function: String,
    least: Duration,
    most: Duration,
}

impl Delay {
    /// `cuCtxGetDevice=50us` or `cuCtxGetDevice=50us-300us`.
    pub(crate) fn parse(entry: &str) -> Option<Self> {
        let (function, times) = entry.split_once('=')?;
        let (least, most) = times.split_once('-').unwrap_or((times, times));
        let (least, most) = (parse_time(least)?, parse_time(most)?);
        (function.starts_with("cu") && least <= most).then(|| Self {
            function: function.to_owned(),
            least,
            most,
        })
    }
}

fn wanted() -> &'static Wanted {
    static WANTED: OnceLock<Wanted> = OnceLock::new();
    WANTED.get_or_init(|| {
        let faults = std::env::var("GTRACE_SOFTGPU_FAULT").unwrap_or_default();
        let entries = faults.split([',', '\n']).map(str::trim);
        let delays = entries.filter_map(|entry| Delay::parse(entry.strip_prefix("delay:")?));
        let stamps = std::env::var_os("GTRACE_SOFTGPU_STAMPS").filter(|path| !path.is_empty());
        Wanted {
            stamps: stamps.map(PathBuf::from),
            delays: delays.collect(),
        }
    })
}

/// Calls that wait for the device with the driver's lock held.
static WAITING: AtomicU32 = AtomicU32::new(0);
static LOCK: Mutex<()> = Mutex::new(());

/// Beginnings of the names of functions that need the driver's lock.
const LOCKING: [&str; 8] = [
    "cuMemcpy",
    "cuMemset",
    "cuMemAlloc",
    "cuMemHostAlloc",
    "cuLaunch",
    "cuGraphLaunch",
    "cuStreamSynchronize",
    "cuEventRecord",
];

/// What a call holds that waits for all work with the driver's lock held.
pub(crate) struct Waiting {
    _lock: MutexGuard<'static, ()>,
}

impl Drop for Waiting {
    fn drop(&mut self) {
        WAITING.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Held by calls that free, unregister, load and unload: driver 580.159 waits for all work of the context in them, kernels
/// and functions of the host, and calls of other threads that begin meanwhile wait for them.
pub(crate) fn wait_with_lock() -> Waiting {
    WAITING.fetch_add(1, Ordering::SeqCst);
    Waiting { _lock: lock(&LOCK) }
}

/// Threads that wait have stayed in the parent.
pub(crate) fn forked() {
    WAITING.store(0, Ordering::SeqCst);
}

#[cold]
fn behind_waiting(name: &str) {
    if LOCKING.iter().any(|begin| name.starts_with(begin)) {
        drop(LOCK.lock());
    }
}

/// Runs the body of the function `name`.
#[inline]
pub(crate) fn around(name: &'static str, body: impl FnOnce() -> u32) -> u32 {
    if WAITING.load(Ordering::SeqCst) > 0 {
        behind_waiting(name);
    }
    match MODE.load(Ordering::Relaxed) {
        PLAIN => body(),
        _ => watched(name, body),
    }
}

#[cold]
fn watched(name: &'static str, body: impl FnOnce() -> u32) -> u32 {
    let begun = Instant::now();
    let wanted = wanted();
    let any = wanted.stamps.is_some() || !wanted.delays.is_empty();
    MODE.store(if any { WATCHED } else { PLAIN }, Ordering::Relaxed);
    if let Some(delay) = wanted.delays.iter().find(|delay| delay.function == name) {
        let span = delay.most - delay.least;
        let until = begun + delay.least + span.mul_f64(share());
        // Not asleep: that takes some 50 us more than asked for.
        while Instant::now() < until {
            std::hint::spin_loop();
        }
    }
    let code = body();
    if let Some(path) = &wanted.stamps {
        let took = begun.elapsed();
        // A thread that is at its end reports its calls no more.
        let _ = STAMPS.try_with(|stamps| stamps.borrow_mut().push(path, name, took));
    }
    code
}

/// A number from 0 to 1, evenly distributed.
fn share() -> f64 {
    thread_local! {
        static STATE: std::cell::Cell<u64> = const { std::cell::Cell::new(0x9e37_79b9_7f4a_7c15) };
    }
    let Ok(number) = STATE.try_with(|state| {
        // xorshift64 (Marsaglia, 2003).
        let mut number = state.get();
        number ^= number << 13;
        number ^= number >> 7;
        number ^= number << 17;
        state.set(number);
        number
    }) else {
        return 0.5;
    };
    (number >> 11) as f64 / (1u64 << 53) as f64
}

thread_local! {
    static STAMPS: RefCell<Stamps> = const { RefCell::new(Stamps(Vec::new())) };
}

/// How long calls of a thread took.
struct Stamps(Vec<(&'static str, Duration)>);

impl Stamps {
    fn push(&mut self, path: &std::path::Path, name: &'static str, took: Duration) {
        self.0.push((name, took));
        if self.0.len() >= KEPT {
            self.write(path);
        }
    }

    /// Appends a line a call: its function's name and nanoseconds.
    fn write(&mut self, path: &std::path::Path) {
        let mut text = Vec::new();
        for (name, took) in self.0.drain(..) {
            let _ = writeln!(text, "{name} {}", took.as_nanos());
        }
        let file = std::fs::OpenOptions::new()
            .create(true)
            .append(true)
            .open(path);
        // One write, so that lines of threads stay apart.
        if let Err(error) = file.and_then(|mut file| file.write_all(&text)) {
            warn(&format!(
                "GTRACE_SOFTGPU_STAMPS={}: {error}",
                path.display()
            ));
        }
    }
}

impl Drop for Stamps {
    fn drop(&mut self) {
        if let Some(path) = &wanted().stamps
            && !self.0.is_empty()
        {
            self.write(path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delays_are_read() {
        let delay = Delay::parse("cuCtxGetDevice=50us-1ms").expect("a delay");
        assert_eq!(delay.function, "cuCtxGetDevice");
        assert_eq!(
            (delay.least, delay.most),
            (Duration::from_micros(50), Duration::from_millis(1))
        );
        for wrong in [
            "launch=1ms",
            "cuInit",
            "cuInit=2ms-1ms",
            "cuInit=1",
            "cuInit=-",
        ] {
            assert_eq!(Delay::parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn shares_lie_between_nothing_and_all() {
        let shares: Vec<f64> = (0..1000).map(|_| share()).collect();
        assert!(shares.iter().all(|share| (0.0..1.0).contains(share)));
        let mean = shares.iter().sum::<f64>() / 1000.0;
        assert!((0.4..0.6).contains(&mean), "{mean}");
    }
}
