//! `gtrace-bench remote-client COUNT`: a CUDA program that opens the driver as any other does, measures calls
//! of it, and prints what it found. Run through `gtrace exec`, or directly on the stand-in.

use std::ffi::CString;
use std::fs;
use std::time::Instant;

use anyhow::{Context as _, ensure};
use gtrace_e2e::driver::{Driver, Stream};
use gtrace_e2e::random::Random;
use serde_json::{Value, json};

use super::{BULK, LAUNCHES};
use crate::stats::Samples;
use crate::sys;

/// The argument that makes the program a client.
pub(crate) const ARGUMENT: &str = "remote-client";

const PTX: &str = include_str!("../../../transport/softgpu/kernels/vector_add.ptx");

/// What a client found: microseconds.
#[derive(Clone, Debug, Default)]
pub(crate) struct Found {
    pub(crate) query: f64,
    pub(crate) query_p99: f64,
    /// A launch, on its caller.
    pub(crate) launch: f64,
    /// The same as time of the CPU, which other programs of the host do not lengthen.
    pub(crate) launch_cpu: f64,
    /// A launch, until all are done.
    pub(crate) launch_done: f64,
    pub(crate) to_device: f64,
    pub(crate) to_host: f64,
    /// The last CPU of this program.
    pub(crate) cpu: i64,
}

impl Found {
    pub(crate) fn parse(text: &str) -> anyhow::Result<Self> {
        let value: Value = serde_json::from_str(text.trim()).context("the client's output")?;
        let number = |name: &str| {
            value[name]
                .as_f64()
                .with_context(|| format!("no {name}: {text}"))
        };
        Ok(Self {
            query: number("query")?,
            query_p99: number("query_p99")?,
            launch: number("launch")?,
            launch_cpu: number("launch_cpu")?,
            launch_done: number("launch_done")?,
            to_device: number("to_device")?,
            to_host: number("to_host")?,
            cpu: value["cpu"].as_i64().unwrap_or(-1),
        })
    }

    fn json(&self) -> Value {
        json!({
            "query": self.query,
            "query_p99": self.query_p99,
            "launch": self.launch,
            "launch_cpu": self.launch_cpu,
            "launch_done": self.launch_done,
            "to_device": self.to_device,
            "to_host": self.to_host,
            "cpu": self.cpu,
        })
    }
}

/// Measures with `count` queries and as many bulk copies as a thousandth of that; prints a line.
pub(crate) fn main(count: &str) -> anyhow::Result<()> {
    let count: usize = count.parse()?;
    let driver = Driver::open().context("there is no CUDA driver")?;
    driver.init()?;
    driver.create_context()?;
    let mut found = Found::default();
    queries(&driver, count, &mut found)?;
    launches(&driver, &mut found)?;
    copies(&driver, (count / 1000).max(3), &mut found)?;
    found.cpu = last_cpu().unwrap_or(-1);
    println!("{}", found.json());
    Ok(())
}

fn us(since: Instant) -> f64 {
    since.elapsed().as_nanos() as f64 / 1e3
}

fn queries(driver: &Driver, count: usize, found: &mut Found) -> anyhow::Result<()> {
    for _ in 0..count / 10 {
        driver.memory_info()?;
    }
    let mut times = Vec::with_capacity(count);
    for _ in 0..count {
        let start = Instant::now();
        driver.memory_info()?;
        times.push(us(start));
    }
    let times = Samples::new(times);
    found.query = times.quantile(0.5);
    found.query_p99 = times.quantile(0.99);
    Ok(())
}

fn launches(driver: &Driver, found: &mut Found) -> anyhow::Result<()> {
    let module = driver.load_module(&CString::new(PTX)?)?;
    let function = driver.function(module, "vector_add")?;
    let memory = driver.allocate(4096)?;
    let mut addresses = [memory.to_le_bytes(); 3];
    let mut n = 64u32.to_le_bytes();
    let [a, b, c] = &mut addresses;
    let mut parameters: [&mut [u8]; 4] = [a, b, c, &mut n];
    let (mut caller, mut cpu, mut done) = (Vec::new(), Vec::new(), Vec::new());
    for round in 0..6 {
        let (start, cpu_start) = (Instant::now(), sys::thread_cpu_ns());
        for _ in 0..LAUNCHES {
            driver.launch(function, (1, 64), Stream::DEFAULT, &mut parameters)?;
        }
        let called = us(start) / LAUNCHES as f64;
        let cpu_ns = sys::thread_cpu_ns().saturating_sub(cpu_start);
        driver.synchronize()?;
        // The first warms up.
        if round > 0 {
            caller.push(called);
            cpu.push(cpu_ns as f64 / 1e3 / LAUNCHES as f64);
            done.push(us(start) / LAUNCHES as f64);
        }
    }
    found.launch = Samples::new(caller).median();
    found.launch_cpu = Samples::new(cpu).median();
    found.launch_done = Samples::new(done).median();
    Ok(())
}

fn copies(driver: &Driver, runs: usize, found: &mut Found) -> anyhow::Result<()> {
    let mut source = vec![0; BULK];
    Random::new(1).fill(&mut source);
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
    found.to_device = Samples::new(there).median();
    found.to_host = Samples::new(back).median();
    Ok(())
}

/// The CPU that this thread was on last (proc(5): field 39 of stat).
fn last_cpu() -> Option<i64> {
    let stat = fs::read_to_string("/proc/thread-self/stat").ok()?;
    stat.rsplit_once(") ")?.1.split(' ').nth(36)?.parse().ok()
}
