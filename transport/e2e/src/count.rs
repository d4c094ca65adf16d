//! A CUDA program that knows of each byte what it must be, and of each call how often it was executed.
//!
//! Each thread launches a kernel that adds one to numbers on the device, without waiting for it, and sends and fetches random
//! bytes. A launch that was executed twice, or not at all, shows in the numbers; a byte that is wrong, in the comparison.

use std::ffi::CString;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use anyhow::{Context as _, Result, anyhow, ensure};
use fastrand::Rng;

use crate::driver::{Context, Driver, Stream};

/// Numbers that the kernel adds to.
const NUMBERS: usize = 64;
/// Most bytes of a copy.
const MOST: usize = 1 << 20;

/// What a run did.
#[derive(Clone, Copy, Debug, Default)]
pub struct Done {
    /// Launches, each executed once.
    pub launches: u64,
    /// Bytes that were compared.
    pub compared: u64,
}

/// Works with so many threads until a line comes on the standard input, from when `ready` was called on.
///
/// # Errors
///
/// An error of the driver, and what was executed more or less often than once.
pub fn run(driver: &Driver, threads: u64, ready: impl FnOnce() -> Result<()>) -> Result<Done> {
    driver.init()?;
    let context = driver.create_context()?;
    let folder = std::env::var("GTRACE_KERNELS").context("GTRACE_KERNELS names no folder")?;
    let ptx = CString::new(std::fs::read(format!("{folder}/vector_add.ptx"))?)?;
    let end = AtomicBool::new(false);
    let mut sum = Done::default();
    let results: Vec<Result<Done>> = thread::scope(|scope| {
        let (end, ptx) = (&end, &ptx);
        let threads: Vec<_> = (0..threads)
            .map(|seed| scope.spawn(move || work(driver, context, ptx, seed, end)))
            .collect();
        let waited = ready().and_then(|()| {
            std::io::stdin().read_line(&mut String::new())?;
            Ok(())
        });
        end.store(true, Ordering::Relaxed);
        let join = |thread: thread::ScopedJoinHandle<'_, _>| {
            thread
                .join()
                .unwrap_or_else(|_| Err(anyhow!("a thread panicked")))
        };
        let mut results: Vec<_> = threads.into_iter().map(join).collect();
        results.extend(waited.err().map(Err));
        results
    });
    for done in results {
        let done = done?;
        sum.launches += done.launches;
        sum.compared += done.compared;
    }
    Ok(sum)
}

fn work(
    driver: &Driver,
    context: Context,
    ptx: &CString,
    seed: u64,
    end: &AtomicBool,
) -> Result<Done> {
    driver.set_current(context)?;
    let mut random = Rng::with_seed(seed);
    let module = driver.load_module(ptx)?;
    let add = driver.function(module, "vector_add")?;
    let stream = driver.create_stream()?;
    let [numbers, ones] = [driver.allocate(4 * NUMBERS)?, driver.allocate(4 * NUMBERS)?];
    driver.fill_u32(numbers, 0, NUMBERS, stream)?;
    driver.fill_u32(ones, 1.0_f32.to_bits(), NUMBERS, stream)?;
    let buffer = driver.allocate(MOST)?;
    let (mut bytes, mut back) = (vec![0; MOST], vec![0; MOST]);
    let mut done = Done::default();
    // Numbers above 2^24 would not be exact.
    while !end.load(Ordering::Relaxed) && done.launches < 16_000_000 {
        for _ in 0..random.usize(..40) {
            let [mut a, mut b, mut c] = [numbers, ones, numbers].map(|at| at.to_le_bytes());
            let mut count = (NUMBERS as u32).to_le_bytes();
            driver.launch(
                add,
                (1, NUMBERS as u32),
                stream,
                &mut [&mut a, &mut b, &mut c, &mut count],
            )?;
            done.launches += 1;
        }
        let most = [100, 10_000, MOST][random.usize(..3)];
        let len = 1 + random.usize(..most);
        random.fill(&mut bytes[..len]);
        match random.bool() {
            true => driver.to_device_async(buffer, &bytes[..len], stream)?,
            false => driver.to_device(buffer, &bytes[..len])?,
        }
        driver.to_host_in(&mut back[..len], buffer, stream)?;
        driver.stream_synchronize(stream)?;
        ensure!(
            bytes[..len] == back[..len],
            "thread {seed}: bytes differ after {} launches",
            done.launches
        );
        done.compared += len as u64;
        check(driver, numbers, stream, done.launches)?;
    }
    for address in [numbers, ones, buffer] {
        driver.free(address)?;
    }
    driver.destroy_stream(stream)?;
    driver.unload_module(module)?;
    Ok(done)
}

/// Each launch was executed once.
fn check(driver: &Driver, numbers: u64, stream: Stream, launches: u64) -> Result<()> {
    let mut all = [0; 4 * NUMBERS];
    driver.to_host_in(&mut all, numbers, stream)?;
    driver.stream_synchronize(stream)?;
    for number in all.as_chunks().0 {
        let executed = f32::from_le_bytes(*number);
        ensure!(
            executed == launches as f32,
            "{executed} of {launches} launches were executed"
        );
    }
    Ok(())
}
