//! What a call costs that passes through the library of `gtrace trace`: the same function of the same driver, in one
//! process, by both ways in turn.
#![allow(unsafe_code)] // libraries and their functions

use std::ffi::c_int;
use std::time::Instant;

use anyhow::{Context as _, Result, ensure};
use libloading::{Library, Symbol};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// `cuDriverGetVersion(int *)`, the cheapest call there is.
type Version = unsafe extern "C" fn(*mut c_int) -> c_int;

/// Calls of a batch.
const BATCH: u32 = 1_000;

/// Nanoseconds a call, the medians of batches.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize)]
pub struct Passing {
    /// The driver's function, by its library's own name.
    pub direct_ns: f64,
    /// The same through libcuda.so.1 as the program finds it.
    pub through_ns: f64,
}

impl Passing {
    /// Measures in so many batches by each way. `GTRACE_LIBCUDA` names the driver's library.
    ///
    /// # Errors
    ///
    /// A library that cannot be loaded; or both are one.
    pub fn measure(batches: usize) -> Result<Self> {
        let driver = std::env::var_os("GTRACE_LIBCUDA");
        let driver = driver.context("GTRACE_LIBCUDA is not set: run this by `gtrace trace`")?;
        // SAFETY: libraries that may be loaded any time, and stay loaded.
        let (through, direct) = unsafe { (Library::new("libcuda.so.1")?, Library::new(&driver)?) };
        // SAFETY: functions of these names take these arguments.
        let (through, direct): (Symbol<'_, Version>, Symbol<'_, Version>) = unsafe {
            (
                through.get(b"cuDriverGetVersion")?,
                direct.get(b"cuDriverGetVersion")?,
            )
        };
        ensure!(
            !std::ptr::fn_addr_eq(*through, *direct),
            "libcuda.so.1 is the driver itself"
        );
        let (mut by_through, mut by_direct) = (Vec::new(), Vec::new());
        for _ in 0..batches {
            by_direct.push(batch(*direct)?);
            by_through.push(batch(*through)?);
        }
        Ok(Self {
            direct_ns: median(by_direct),
            through_ns: median(by_through),
        })
    }

    /// A line.
    pub fn json(&self) -> Value {
        json!(self)
    }

    /// From [`Self::json`].
    pub fn parse(text: &str) -> Result<Self> {
        Ok(serde_json::from_str(text.trim())?)
    }
}

fn batch(function: Version) -> Result<f64> {
    let mut version = 0;
    let begun = Instant::now();
    for _ in 0..BATCH {
        // SAFETY: a place for the version.
        let code = unsafe { std::hint::black_box(function)(&raw mut version) };
        ensure!(code == 0, "cuDriverGetVersion gave {code}");
    }
    Ok(begun.elapsed().as_nanos() as f64 / f64::from(BATCH))
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}
