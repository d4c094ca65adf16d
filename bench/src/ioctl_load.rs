//! ioctls as a program with a GPU makes them, on devices that every host has.

use std::fs::File;
use std::os::fd::AsFd as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use anyhow::Context as _;

use crate::sys;

/// `NV_ESC_RM_CONTROL` of the NVIDIA driver (`_IOWR('F', 42, 32 bytes)`); the devices used here
/// refuse it at once.
pub(crate) const REQUEST: u32 = 0xc020_462a;
/// The device that is traced: /dev/urandom, as `--devices` wants it.
pub(crate) const TRACED: &str = "1:9";
/// The same as the kernel keeps it: major << 20 | minor.
pub(crate) const TRACED_RDEV: u32 = 1 << 20 | 9;
/// Threads wake up so often.
const TICK: Duration = Duration::from_millis(1);

pub(crate) fn traced_device() -> anyhow::Result<File> {
    File::open("/dev/urandom").context("/dev/urandom")
}

/// A device that is not traced.
pub(crate) fn other_device() -> anyhow::Result<File> {
    File::open("/dev/null").context("/dev/null")
}

/// Nanoseconds for one of `calls` calls.
pub(crate) fn time_each(calls: u32, mut call: impl FnMut()) -> f64 {
    let start = Instant::now();
    for _ in 0..calls {
        call();
    }
    start.elapsed().as_nanos() as f64 / f64::from(calls.max(1))
}

/// Threads that make ioctls at a steady pace until dropped.
#[derive(Debug)]
pub(crate) struct IoctlLoad {
    stop: Arc<AtomicBool>,
    calls: Arc<AtomicU64>,
    since: Instant,
    threads: Vec<JoinHandle<()>>,
}

impl IoctlLoad {
    /// `per_second` ioctls on the traced device, from `threads` threads.
    pub(crate) fn start(per_second: u32, threads: u32) -> anyhow::Result<Self> {
        let mut load = Self {
            stop: Arc::default(),
            calls: Arc::default(),
            since: Instant::now(),
            threads: Vec::new(),
        };
        let rate = f64::from(per_second) / f64::from(threads.max(1));
        for _ in 0..threads {
            let device = traced_device()?;
            let (stop, calls) = (Arc::clone(&load.stop), Arc::clone(&load.calls));
            load.threads.push(std::thread::spawn(move || {
                let start = Instant::now();
                let mut made = 0_u64;
                while !stop.load(Ordering::Relaxed) {
                    // Behind by a lot, after a stall, it does not catch up for ever.
                    let due = (start.elapsed().as_secs_f64() * rate) as u64;
                    let now = due.saturating_sub(made).min(rate as u64 / 10 + 1);
                    for _ in 0..now {
                        sys::ioctl(device.as_fd(), REQUEST);
                    }
                    made = due;
                    calls.fetch_add(now, Ordering::Relaxed);
                    std::thread::sleep(TICK);
                }
            }));
        }
        Ok(load)
    }

    /// Calls a second so far.
    pub(crate) fn rate(&self) -> f64 {
        self.calls.load(Ordering::Relaxed) as f64 / self.since.elapsed().as_secs_f64()
    }
}

impl Drop for IoctlLoad {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_load_makes_calls_and_ends() {
        let load = IoctlLoad::start(10_000, 2).unwrap();
        while load.calls.load(Ordering::Relaxed) < 100 {
            std::thread::sleep(TICK);
        }
        assert!(load.rate() > 0.0);
    }
}
