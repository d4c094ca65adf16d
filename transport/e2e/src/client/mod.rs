//! A CUDA program that does random things and knows what must come of them.
//!
//! Each thread has streams and buffers. Work on a buffer goes into its stream, or into another one
//! behind an event, so that it takes effect in the order in which it was asked for; a copy of each
//! buffer in host memory is changed at the same time, and now and then the two are compared. Threads
//! give each other buffers, with an event that the receiver's stream waits for.

mod work;
mod worker;

use std::ffi::CString;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, anyhow, ensure};

use self::worker::Worker;
use crate::driver::{Address, Context, Driver, Event, Function, Module, Stream};

/// What a run did.
#[derive(Clone, Copy, Debug, Default)]
pub struct Done {
    /// Calls of random kinds.
    pub steps: u64,
    /// Bytes that were compared.
    pub compared: u64,
}

/// A buffer on its way to another thread.
struct Gift {
    address: Address,
    expected: Vec<u8>,
    ready: Event,
}

struct Kernels {
    modules: [Module; 2],
    sort: Function,
    line: Function,
}

impl Kernels {
    fn load(driver: &Driver, sources: &Sources) -> Result<Self> {
        let memory = driver.load_module(&sources.memory)?;
        let calls = driver.load_module(&sources.calls)?;
        Ok(Self {
            sort: driver.function(memory, "local_sort")?,
            line: driver.function(calls, "call_line")?,
            modules: [memory, calls],
        })
    }

    fn unload(self, driver: &Driver) -> Result<()> {
        for module in self.modules {
            driver.unload_module(module)?;
        }
        Ok(())
    }
}

/// The PTX that the threads load.
struct Sources {
    memory: CString,
    calls: CString,
}

impl Sources {
    fn read() -> Result<Self> {
        let folder =
            std::env::var_os("GTRACE_KERNELS").context("GTRACE_KERNELS names no folder")?;
        let read = |name: &str| -> Result<CString> {
            let path = std::path::Path::new(&folder).join(name);
            Ok(CString::new(
                std::fs::read(&path).with_context(|| path.display().to_string())?,
            )?)
        };
        Ok(Self {
            memory: read("memory.ptx")?,
            calls: read("calls.ptx")?,
        })
    }
}

/// Works with `threads` threads for `time`, then compares and frees everything.
///
/// # Errors
///
/// An error of the driver, or a difference; with the seed and the step of the thread that saw it.
pub fn run(driver: &Driver, seed: u64, threads: usize, time: Duration) -> Result<Done> {
    driver.init()?;
    let context = driver.create_context()?;
    let (free, total) = driver.memory_info()?;
    ensure!(free <= total, "{free} of {total} bytes are free");
    let shared = Shared {
        driver,
        context,
        sources: Sources::read()?,
        gifts: Mutex::new(Vec::new()),
        failed: AtomicBool::new(false),
        end: Instant::now() + time,
    };
    let results: Vec<Result<Done>> = thread::scope(|scope| {
        let shared = &shared;
        let workers: Vec<_> = (0..threads as u64)
            .map(|index| scope.spawn(move || shared.thread(seed * 1000 + index)))
            .collect();
        let join = |worker: thread::ScopedJoinHandle<'_, _>| {
            worker
                .join()
                .unwrap_or_else(|_| Err(anyhow!("a thread panicked")))
        };
        workers.into_iter().map(join).collect()
    });
    let mut sum = Done::default();
    for done in results {
        let done = done?;
        sum.steps += done.steps;
        sum.compared += done.compared;
    }
    for gift in shared.take_gifts() {
        driver.event_synchronize(gift.ready)?;
        compare(driver, gift.address, 0, &gift.expected, None)?;
        driver.destroy_event(gift.ready)?;
        driver.free(gift.address)?;
    }
    driver.synchronize()?;
    let (now, _) = driver.memory_info()?;
    ensure!(now <= total, "{now} of {total} bytes are free");
    driver.destroy_context(context)?;
    Ok(sum)
}

struct Shared<'a> {
    driver: &'a Driver,
    context: Context,
    sources: Sources,
    gifts: Mutex<Vec<Gift>>,
    failed: AtomicBool,
    end: Instant,
}

impl Shared<'_> {
    fn take_gifts(&self) -> Vec<Gift> {
        std::mem::take(&mut *self.gifts.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn thread(&self, seed: u64) -> Result<Done> {
        self.driver.set_current(self.context)?;
        let mut worker = Worker::new(self, seed)?;
        while Instant::now() < self.end && !self.failed.load(Ordering::Relaxed) {
            if let Err(error) = worker.step() {
                self.failed.store(true, Ordering::Relaxed);
                return Err(error.context(format!("seed {seed}, step {}", worker.done.steps)));
            }
        }
        worker
            .finish()
            .with_context(|| format!("seed {seed}, at the end"))
    }
}

/// Fails unless the device's bytes from `at` on are `expected`; in a stream, or in none.
fn compare(
    driver: &Driver,
    address: Address,
    at: usize,
    expected: &[u8],
    stream: Option<Stream>,
) -> Result<()> {
    let mut found = vec![0x77; expected.len()];
    match stream {
        Some(stream) => driver.to_host_in(&mut found, address + at as u64, stream)?,
        None => driver.to_host(&mut found, address + at as u64)?,
    }
    let difference = found.iter().zip(expected).position(|(a, b)| a != b);
    match difference {
        None => Ok(()),
        Some(first) => Err(anyhow!(
            "{} bytes from {at} of the buffer at {address:#x}: byte {first} is {:#04x}, not {:#04x}; {} bytes differ",
            expected.len(),
            found[first],
            expected[first],
            found.iter().zip(expected).filter(|(a, b)| a != b).count()
        )),
    }
}
