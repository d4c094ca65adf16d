//! The steps of the check.

mod ended;
mod frameworks;
mod measured;
mod nvml;
mod programs;

use std::collections::BTreeSet;
use std::time::Duration;

use anyhow::Result;

use super::place::Place;
use super::report::{Measured, Outcome};

/// What a step found.
#[derive(Debug)]
pub(super) struct Done {
    pub(super) outcome: Outcome,
    pub(super) measured: Vec<Measured>,
    pub(super) changing: BTreeSet<String>,
}

impl Done {
    /// It passed, with figures.
    fn passed(note: impl Into<String>) -> Self {
        Self::of(Outcome::Passed(note.into()))
    }

    /// It cannot be done here.
    fn skipped(why: impl Into<String>) -> Self {
        Self::of(Outcome::Skipped(why.into()))
    }

    fn of(outcome: Outcome) -> Self {
        Self {
            outcome,
            measured: Vec::new(),
            changing: BTreeSet::new(),
        }
    }
}

/// Does a step.
pub(super) type Run = Box<dyn FnOnce(&Place) -> Result<Done> + Send>;

/// A step that is to be done.
pub(super) struct Planned {
    pub(super) name: String,
    pub(super) limit: Duration,
    pub(super) run: Run,
}

impl Planned {
    fn new(
        name: impl Into<String>,
        limit_s: u64,
        run: impl FnOnce(&Place) -> Result<Done> + Send + 'static,
    ) -> Self {
        Self {
            name: name.into(),
            limit: Duration::from_secs(limit_s),
            run: Box::new(run),
        }
    }
}

/// All of them, in their order: what may leave the device in disorder comes last.
pub(super) fn steps(short: bool) -> Vec<Planned> {
    let mut all = vec![
        Planned::new("NVML", 300, nvml::functions),
        Planned::new("nvidia-smi", 120, nvml::nvidia_smi),
    ];
    all.extend(programs::planned());
    all.push(Planned::new("round trips", 120, programs::round_trips));
    all.push(Planned::new("random client", 240, move |place| {
        programs::random(place, if short { 1 } else { 5 })
    }));
    all.push(Planned::new("times", 240, move |place| {
        measured::measured(place, if short { 200 } else { 20_000 })
    }));
    all.extend(frameworks::planned(short));
    all.push(Planned::new("killed client", 120, ended::client));
    all.push(Planned::new(
        "killed client whose kernel never ends",
        120,
        ended::hanging_client,
    ));
    all.push(Planned::new("killed server", 120, ended::server));
    all
}
