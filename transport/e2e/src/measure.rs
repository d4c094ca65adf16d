//! A CUDA program that measures calls of whichever driver it finds.
#![allow(unsafe_code)] // the clock of this thread's CPU time

use std::ffi::CString;
use std::fs;
use std::time::Instant;

use anyhow::{Context as _, Result, ensure};
use fastrand::Rng;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::driver::{Driver, Stream};

/// Bytes of one bulk copy.
pub const BULK: usize = 16 << 20;
/// Launches between two synchronisations.
pub const LAUNCHES: usize = 10_000;

const PTX: &str = include_str!("../../softgpu/kernels/vector_add.ptx");

/// What was found: microseconds.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub struct Found {
    /// A blocking call, cuMemGetInfo: half take less.
    pub query: f64,
    /// 99 of 100 take less.
    pub query_p99: f64,
    /// A launch, on its caller.
    pub launch: f64,
    /// The same as time of the CPU, which other programs of the host do not lengthen.
    pub launch_cpu: f64,
    /// A launch, until all are done.
    pub launch_done: f64,
    /// A launch, on its caller, where the program has page-locked memory that no kernel uses.
    pub launch_beside: f64,
    /// [`BULK`] bytes from pageable memory.
    pub to_device: f64,
    /// [`BULK`] bytes to pageable memory.
    pub to_host: f64,
    /// The last CPU of this program.
    pub cpu: i64,
}

impl Found {
    /// Reads what [`run`] printed.
    pub fn parse(text: &str) -> Result<Self> {
        serde_json::from_str(text.trim()).with_context(|| format!("the client's output: {text}"))
    }

    /// The same as JSON, for [`Self::parse`].
    pub fn json(&self) -> Value {
        json!(self)
    }
}

/// Measures with `count` queries and as many bulk copies as a thousandth of that.
///
/// # Errors
///
/// An error of the driver, or bytes that came back changed.
pub fn run(count: usize) -> Result<Found> {
    let driver = Driver::open().context("there is no CUDA driver")?;
    driver.init()?;
    driver.create_context()?;
    let mut found = Found::default();
    queries(&driver, count, &mut found)?;
    found.launch_beside = launches(&driver, &mut found)?;
    copies(&driver, (count / 1000).max(3), &mut found)?;
    found.cpu = last_cpu().unwrap_or(-1);
    Ok(found)
}

fn us(since: Instant) -> f64 {
    since.elapsed().as_nanos() as f64 / 1e3
}

fn queries(driver: &Driver, count: usize, found: &mut Found) -> Result<()> {
    for _ in 0..count / 10 {
        driver.memory_info()?;
    }
    let mut times = Vec::with_capacity(count);
    for _ in 0..count {
        let start = Instant::now();
        driver.memory_info()?;
        times.push(us(start));
    }
    found.query = quantile(&mut times, 0.5);
    found.query_p99 = quantile(&mut times, 0.99);
    Ok(())
}

/// Pieces of page-locked memory beside which launches are measured again, and bytes of each.
const PIECES: usize = 64;
const PIECE: usize = 64 << 10;

/// Fills in what a launch takes; what it takes its caller beside page-locked memory comes back.
fn launches(driver: &Driver, found: &mut Found) -> Result<f64> {
    let module = driver.load_module(&CString::new(PTX)?)?;
    let function = driver.function(module, "vector_add")?;
    let memory = driver.allocate(4096)?;
    let mut addresses = [memory.to_le_bytes(); 3];
    let mut n = 64u32.to_le_bytes();
    let [a, b, c] = &mut addresses;
    let mut parameters: [&mut [u8]; 4] = [a, b, c, &mut n];
    let (mut caller, mut cpu, mut done) = (Vec::new(), Vec::new(), Vec::new());
    let mut beside = Vec::new();
    for round in 0..11 {
        // Only then is there any: what it costs is paid by programs that have it.
        if round == 6 {
            for _ in 0..PIECES {
                driver.allocate_host(PIECE)?;
            }
        }
        let (start, cpu_start) = (Instant::now(), thread_cpu_ns());
        for _ in 0..LAUNCHES {
            driver.launch(function, (1, 64), Stream::DEFAULT, &mut parameters)?;
        }
        let called = us(start) / LAUNCHES as f64;
        let cpu_ns = thread_cpu_ns().saturating_sub(cpu_start);
        driver.synchronize()?;
        match round {
            // The first warms up.
            0 => {}
            1..6 => {
                caller.push(called);
                cpu.push(cpu_ns as f64 / 1e3 / LAUNCHES as f64);
                done.push(us(start) / LAUNCHES as f64);
            }
            _ => beside.push(called),
        }
    }
    found.launch = quantile(&mut caller, 0.5);
    found.launch_cpu = quantile(&mut cpu, 0.5);
    found.launch_done = quantile(&mut done, 0.5);
    Ok(quantile(&mut beside, 0.5))
}

fn copies(driver: &Driver, runs: usize, found: &mut Found) -> Result<()> {
    let mut source = vec![0; BULK];
    Rng::with_seed(1).fill(&mut source);
    let mut target = vec![0; BULK];
    let memory = driver.allocate(BULK)?;
    let (mut there, mut back) = (Vec::new(), Vec::new());
    for run in 0..=runs {
        let start = Instant::now();
        driver.to_device(memory, &source)?;
        driver.synchronize()?;
        let sent = us(start);
        let start = Instant::now();
        driver.to_host(&mut target, memory)?;
        if run > 0 {
            there.push(sent);
            back.push(us(start));
        }
    }
    ensure!(source == target, "16 MiB came back changed");
    found.to_device = quantile(&mut there, 0.5);
    found.to_host = quantile(&mut back, 0.5);
    Ok(())
}

/// The smallest value that at least this share of them does not exceed.
fn quantile(values: &mut [f64], share: f64) -> f64 {
    values.sort_by(f64::total_cmp);
    let rank = (share * values.len() as f64).ceil() as usize;
    let at = rank.clamp(1, values.len().max(1)) - 1;
    values.get(at).copied().unwrap_or(f64::NAN)
}

/// CPU time of this thread, nanoseconds.
fn thread_cpu_ns() -> u64 {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: writes the time to `time`; the clock is there on every Linux.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time) };
    u64::try_from(time.tv_sec).unwrap_or(0) * 1_000_000_000
        + u64::try_from(time.tv_nsec).unwrap_or(0)
}

/// The CPU that this thread was on last (proc(5): field 39 of stat).
fn last_cpu() -> Option<i64> {
    let stat = fs::read_to_string("/proc/thread-self/stat").ok()?;
    stat.rsplit_once(") ")?.1.split(' ').nth(36)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quantile_is_a_value_that_was_measured() {
        let mut values: Vec<f64> = (1..=400).rev().map(f64::from).collect();
        assert_eq!(quantile(&mut values, 0.5), 200.0);
        assert_eq!(quantile(&mut values, 0.99), 396.0);
        assert!(quantile(&mut [], 0.5).is_nan());
    }

    #[test]
    fn what_is_printed_can_be_read() {
        let found = Found {
            query: 1.5,
            to_host: 900.0,
            cpu: 3,
            ..Found::default()
        };
        let again = Found::parse(&found.json().to_string()).expect("its own JSON");
        assert_eq!((again.query, again.to_host, again.cpu), (1.5, 900.0, 3));
        assert!(Found::parse("{}").is_err());
    }
}
