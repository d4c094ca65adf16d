//! A CUDA program for the tests of GPU-over-IP: `gtrace-e2e-client random SEED THREADS SECONDS` works at
//! random and checks itself; `poll` and `hang` go on until the driver gives an error, which they print with
//! the milliseconds that the failing call took; `hold BYTES` allocates, says so, and waits to be killed;
//! `start` makes a context and waits for a line; `count THREADS` works until it reads a line, and counts what was executed; `free` prints how much memory is free; `measure COUNT` measures calls; `nvml` prints what NVML answers.

use std::io::Write as _;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use gtrace_e2e::driver::{CudaError, Driver, Stream};
use gtrace_e2e::{client, count, measure, nvml};

fn main() -> Result<ExitCode> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["measure", count] => {
            println!("{}", measure::run(count.parse()?)?.json());
            return Ok(ExitCode::SUCCESS);
        }
        // Needs no driver of CUDA.
        ["nvml"] => {
            nvml::print()?;
            return Ok(ExitCode::SUCCESS);
        }
        _ => {}
    }
    let driver = Driver::open().context("there is no CUDA driver")?;
    match words.as_slice() {
        ["random", seed, threads, seconds] => {
            let time = Duration::from_secs_f64(seconds.parse()?);
            let done = client::run(&driver, seed.parse()?, threads.parse()?, time)?;
            println!("{} steps, {} bytes compared", done.steps, done.compared);
        }
        ["count", threads] => {
            let done = count::run(&driver, threads.parse()?, || say("ready"))?;
            println!(
                "{} launches, {} bytes compared",
                done.launches, done.compared
            );
        }
        ["free"] => {
            begin(&driver)?;
            println!("{} of {}", driver.memory_info()?.0, driver.memory_info()?.1);
        }
        ["start"] => {
            begin(&driver)?;
            say("ready")?;
            std::io::stdin().read_line(&mut String::new())?;
        }
        ["poll"] => poll(&driver)?,
        ["hang"] => hang(&driver)?,
        ["hold", bytes] => hold(&driver, bytes.parse()?)?,
        _ => bail!(
            "usage: gtrace-e2e-client random SEED THREADS SECONDS | count THREADS | start | free | poll | hang | hold BYTES | measure COUNT | nvml"
        ),
    }
    Ok(ExitCode::SUCCESS)
}

fn begin(driver: &Driver) -> Result<()> {
    driver.init()?;
    driver.create_context()?;
    Ok(())
}

fn say(line: &str) -> Result<()> {
    println!("{line}");
    std::io::stdout().flush()?;
    Ok(())
}

/// Asks again and again until an answer is an error.
fn poll(driver: &Driver) -> Result<()> {
    begin(driver)?;
    say("ready")?;
    loop {
        let start = Instant::now();
        if let Err(error) = driver.memory_info() {
            return report(&error, start);
        }
    }
}

/// Waits for a kernel that never ends.
fn hang(driver: &Driver) -> Result<()> {
    begin(driver)?;
    let folder = std::env::var("GTRACE_KERNELS").context("GTRACE_KERNELS names no folder")?;
    let ptx = std::ffi::CString::new(std::fs::read(format!("{folder}/faults.ptx"))?)?;
    let module = driver.load_module(&ptx)?;
    let function = driver.function(module, "spin_for_ever")?;
    let flag = driver.allocate(4)?;
    driver.fill_u32(flag, 0, 1, Stream::DEFAULT)?;
    driver.launch(
        function,
        (1, 1),
        Stream::DEFAULT,
        &mut [&mut flag.to_le_bytes()],
    )?;
    say("ready")?;
    let start = Instant::now();
    match driver.synchronize() {
        Ok(()) => bail!("a kernel that never ends has ended"),
        Err(error) => report(&error, start),
    }
}

fn report(error: &CudaError, start: Instant) -> Result<()> {
    say(&format!(
        "error {} after {} ms",
        error.code,
        start.elapsed().as_millis()
    ))
}

/// Holds memory until it is killed.
fn hold(driver: &Driver, bytes: usize) -> Result<()> {
    begin(driver)?;
    driver.allocate(bytes)?;
    say("ready")?;
    loop {
        std::thread::sleep(Duration::from_secs(1));
    }
}
