//! Measures a case with whichever driver this process finds.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::libcuda::Driver;
use crate::pace::{Limits, paced};
use crate::steps::Replay;
use crate::{Case, MeasureError, Paced, Step, random};

/// Launches between two synchronisations, which are not measured: what the device has not executed yet is bounded.
const LAUNCHES: u64 = 1_000;

/// What to measure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// The case.
    pub case: Case,
    /// Most calls.
    pub calls: u64,
    /// Longest time for which calls are due, ms.
    pub time_ms: u64,
    /// Calls a second; `None`: half of what a loop that waits for each makes.
    pub rate: Option<f64>,
    /// The calls of [`Case::Replay`].
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub steps: Vec<Step>,
}

/// What was measured of a case, and with what.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Measured {
    /// What its schedule has found.
    pub paced: Paced,
    /// The device's name.
    pub device: String,
    /// The driver's version, 1000 x major + 10 x minor.
    pub driver_version: i32,
    /// Free device memory before, bytes.
    pub free_bytes: u64,
}

/// What came of a plan.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// It was measured.
    Measured(Box<Measured>),
    /// It does not fit here, and why.
    Skipped(String),
}

/// Measures what the plan says, with a context of its own on the first device.
///
/// # Errors
///
/// An error of the driver, or bytes that came back changed.
pub fn run(plan: &Plan) -> Result<Outcome, MeasureError> {
    let driver = Driver::start()?;
    let (device, driver_version) = (driver.device_name()?, driver.version()?);
    let free_bytes = driver.free_bytes()?;
    let needed = plan.case.bytes().unwrap_or(0);
    if needed.max(Step::device_bytes(&plan.steps)) > free_bytes / 10 * 9 {
        return Ok(Outcome::Skipped(format!(
            "the device has {free_bytes} bytes free"
        )));
    }
    let paced = measure(&driver, plan)?;
    Ok(Outcome::Measured(Box::new(Measured {
        paced,
        device,
        driver_version,
        free_bytes,
    })))
}

fn measure(driver: &Driver, plan: &Plan) -> Result<Paced, MeasureError> {
    let mut limits = Limits {
        calls: plan.calls,
        time: Duration::from_millis(plan.time_ms),
        rate: plan.rate,
        pause_every: None,
    };
    let nothing = || Ok(());
    match plan.case {
        Case::Query => paced(limits, || driver.free_bytes().map(drop), nothing),
        Case::Launch => {
            let kernel = driver.empty()?;
            limits.pause_every = Some(LAUNCHES);
            paced(limits, || driver.launch(kernel), || driver.synchronize())
        }
        Case::LaunchSync => {
            let kernel = driver.empty()?;
            let call = || {
                driver.launch(kernel)?;
                driver.synchronize()
            };
            paced(limits, call, nothing)
        }
        Case::Graph => {
            let graph = driver.graph(driver.empty()?, Case::GRAPH_NODES)?;
            paced(limits, || driver.replay(graph), nothing)
        }
        Case::Replay => {
            let mut replay = Replay::new(driver, &plan.steps)?;
            paced(limits, || replay.once(), nothing)
        }
        Case::ToDevice(bytes) => to_device(driver, bytes, limits),
        Case::ToHost(bytes) => to_host(driver, bytes, limits),
        Case::LockedToDevice(bytes) => locked_to_device(driver, bytes, limits),
        Case::LockedToHost(bytes) => locked_to_host(driver, bytes, limits),
    }
}

/// Bytes of a copy fit the address space: the device has room for them.
fn length(bytes: u64) -> usize {
    usize::try_from(bytes).unwrap_or(usize::MAX)
}

fn to_device(driver: &Driver, bytes: u64, limits: Limits) -> Result<Paced, MeasureError> {
    let source = random::bytes(1, length(bytes));
    let memory = driver.allocate(source.len())?;
    let call = || {
        driver.to_device(memory, &source)?;
        driver.synchronize()
    };
    let found = paced(limits, call, || Ok(()))?;
    check(driver, memory, &source)?;
    Ok(found)
}

fn to_host(driver: &Driver, bytes: u64, limits: Limits) -> Result<Paced, MeasureError> {
    let source = random::bytes(1, length(bytes));
    let memory = driver.allocate(source.len())?;
    driver.to_device(memory, &source)?;
    driver.synchronize()?;
    let mut target = vec![0; source.len()];
    let found = paced(limits, || driver.to_host(&mut target, memory), || Ok(()))?;
    same(&target, &source)?;
    Ok(found)
}

fn locked_to_device(driver: &Driver, bytes: u64, limits: Limits) -> Result<Paced, MeasureError> {
    let mut source = driver.locked(length(bytes))?;
    source.copy_from_slice(&random::bytes(1, length(bytes)));
    let memory = driver.allocate(source.len())?;
    let call = || {
        driver.to_device_async(memory, &source)?;
        driver.wait_for_default_stream()
    };
    let found = paced(limits, call, || Ok(()))?;
    check(driver, memory, &source)?;
    Ok(found)
}

fn locked_to_host(driver: &Driver, bytes: u64, limits: Limits) -> Result<Paced, MeasureError> {
    let source = random::bytes(1, length(bytes));
    let memory = driver.allocate(source.len())?;
    driver.to_device(memory, &source)?;
    driver.synchronize()?;
    let mut target = driver.locked(length(bytes))?;
    let call = || {
        driver.to_host_async(&mut target, memory)?;
        driver.wait_for_default_stream()
    };
    let found = paced(limits, call, || Ok(()))?;
    same(&target, &source)?;
    Ok(found)
}

fn check(driver: &Driver, memory: u64, source: &[u8]) -> Result<(), MeasureError> {
    let mut target = vec![0; source.len()];
    driver.to_host(&mut target, memory)?;
    same(&target, source)
}

fn same(target: &[u8], source: &[u8]) -> Result<(), MeasureError> {
    match target == source {
        true => Ok(()),
        false => Err(MeasureError::Changed(source.len() as u64)),
    }
}
