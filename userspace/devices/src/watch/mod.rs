//! Findings in NVML samples: what changed between one and the next, and what is trouble now.

mod bit_errors;
mod flags;
mod growth;
mod license;
mod links;
mod memory;
mod mig;
mod recovery;
mod throttle;

use std::collections::BTreeMap;
use std::time::Duration;

use gtrace_event::{Gpu, Kind, Occurrence, PciAddress, Provenance, Severity, WitnessName};

use crate::{GpuSample, Observed};

/// What still holds is stated so often: what was thought to have ended it may not have helped.
const STATED_EVERY: Duration = Duration::from_secs(60);

/// Compares each sample of a GPU with the one before.
///
/// The first sample of a GPU makes counters known and gives an event only for clocks held down for
/// protection; flags that are set then are how the GPU stands. Message texts carry no readings (those
/// are in `detail`), so that repeats of one finding fold into one event.
#[derive(Debug, Default)]
pub struct SampleWatch {
    gpus: BTreeMap<PciAddress, State>,
    /// For how long the memory of a process has to rise to be reported; `None` for never.
    growth_window: Option<Duration>,
    /// How GPUs stand, for [`Self::standing`].
    standing: Vec<Observed>,
}

#[derive(Debug)]
struct State {
    uuid: Option<String>,
    last: GpuSample,
    throttle: throttle::Episodes,
    replays: links::Replays,
    crc_errors: links::CrcErrors,
    growth: growth::Growth,
    mig: mig::Division,
    license: license::License,
    recovery: recovery::Recovery,
    flags: flags::Flags,
    bit_errors: bit_errors::BitErrors,
}

impl SampleWatch {
    /// A watch that has seen nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Reports processes whose GPU memory has only risen for so long.
    pub fn report_growth(&mut self, window: Option<Duration>) {
        self.growth_window = window;
    }

    /// What `sample` of `gpu` shows. A sample of the same moment as the last one shows nothing;
    /// neither does one of a GPU without PCI address.
    pub fn observe(&mut self, gpu: &Gpu, sample: &GpuSample) -> Vec<Observed> {
        let Some(pci) = gpu.pci else {
            return Vec::new();
        };
        let state = self.gpus.get(&pci);
        // An earlier time is that of a clock that was set back.
        if state.is_some_and(|s| sample.time == s.last.time) {
            return Vec::new();
        }
        // Another UUID is another GPU in the same slot.
        let same =
            state.is_some_and(|s| s.uuid.is_none() || gpu.uuid.is_none() || s.uuid == gpu.uuid);
        let old = if same { self.gpus.remove(&pci) } else { None };
        let (last, mut throttle, of_links, mut growth, mut mig, watched) = match old {
            Some(state) => (
                Some(state.last),
                state.throttle,
                (state.replays, state.crc_errors, state.bit_errors),
                state.growth,
                state.mig,
                (state.license, state.recovery, state.flags),
            ),
            None => Default::default(),
        };
        let (mut replays, mut crc_errors, mut bit_errors) = of_links;
        let (mut license, mut recovery, mut flags) = watched;
        let mut found = Findings {
            gpu,
            events: Vec::new(),
            standing: Vec::new(),
        };
        throttle.observe(last.as_ref(), sample, &mut found);
        memory::observe(last.as_ref(), sample, &mut found);
        flags.observe(sample, &mut found);
        links::observe(last.as_ref(), sample, &mut found);
        crc_errors.observe(last.as_ref(), sample, &mut found);
        bit_errors.observe(sample, &mut found);
        replays.observe(sample, &mut found);
        mig.observe(sample, &mut found);
        license.observe(sample, &mut found);
        recovery.observe(sample, &mut found);
        if let Some(window) = self.growth_window {
            growth.observe(window, sample, &mut found);
        }
        let Findings {
            events, standing, ..
        } = found;
        self.standing.extend(standing);
        let state = State {
            uuid: gpu.uuid.clone(),
            last: sample.clone(),
            throttle,
            replays,
            crc_errors,
            growth,
            mig,
            license,
            recovery,
            flags,
            bit_errors,
        };
        self.gpus.insert(pci, state);
        events
    }

    /// How GPUs stand by the samples since the last call, where no change was seen that led to it: at the first sample, and now
    /// and then as long as a fault lasts. It is news only for who does not know it yet, as a daemon that was restarted may.
    pub fn standing(&mut self) -> Vec<Observed> {
        std::mem::take(&mut self.standing)
    }

    /// Whether the GPU worked hard when its newest sample was taken, no longer than `max_age`
    /// before `now`: performance state 0 to 2 and at least half of the time a kernel running.
    /// Only such a load means that its PCIe link ought to be at full speed.
    pub fn busy(&self, pci: PciAddress, now: jiff::Timestamp, max_age: Duration) -> bool {
        self.gpus.get(&pci).is_some_and(|state| {
            let age = now.duration_since(state.last.time).unsigned_abs();
            age <= max_age
                && state
                    .last
                    .utilization
                    .gpu
                    .is_some_and(|percent| percent >= 50)
                && state.last.performance_state.is_none_or(|p| p <= 2)
        })
    }
}

/// The events of one sample.
struct Findings<'a> {
    gpu: &'a Gpu,
    events: Vec<Observed>,
    /// How the GPU stands.
    standing: Vec<Observed>,
}

/// A counter that rose, or a state that began.
struct Reading {
    metric: &'static str,
    value: Option<f64>,
    previous: Option<f64>,
    limit: Option<f64>,
}

impl Reading {
    fn of(metric: &'static str) -> Self {
        Self {
            metric,
            value: None,
            previous: None,
            limit: None,
        }
    }

    fn counter(metric: &'static str, previous: Option<u64>, value: u64) -> Self {
        Self {
            value: Some(value as f64),
            previous: previous.map(|p| p as f64),
            ..Self::of(metric)
        }
    }

    fn occurrence(
        self,
        gpu: &Gpu,
        (kind, severity): (Kind, Severity),
        text: impl Into<String>,
    ) -> Occurrence {
        let mut found = Occurrence::new(kind, severity, text);
        found.gpu = Some(gpu.clone());
        found.provenance = Provenance::Kernel;
        found.detail.sample.metric = Some(self.metric.to_owned());
        found.detail.sample.value = self.value;
        found.detail.sample.previous = self.previous;
        found.detail.sample.limit = self.limit;
        found
    }
}

/// What NVML has shown once.
fn once(occurrence: Occurrence) -> Observed {
    Observed::new(WitnessName::Nvml, occurrence, 1)
}

impl Findings<'_> {
    fn happened(&mut self, occurrence: Occurrence) {
        self.events.push(once(occurrence));
    }

    fn stands(&mut self, occurrence: Occurrence) {
        self.standing.push(once(occurrence));
    }

    fn add(
        &mut self,
        what: (Kind, Severity),
        text: impl Into<String>,
        reading: Reading,
        count: u64,
    ) -> &mut Occurrence {
        let at = self.events.len();
        let occurrence = reading.occurrence(self.gpu, what, text);
        self.events
            .push(Observed::new(WitnessName::Nvml, occurrence, count));
        &mut self.events[at].occurrence
    }
}

/// By how much a counter rose. One that fell was reset with the driver, so all of it is new.
fn rise(old: Option<u64>, new: Option<u64>) -> u64 {
    match (old, new) {
        (Some(old), Some(new)) if new >= old => new - old,
        (Some(_), Some(new)) => new,
        _ => 0,
    }
}

#[cfg(test)]
mod tests;
