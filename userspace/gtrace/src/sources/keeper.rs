//! Housekeeping of the probes: keeps their filters up to date, counts what they lose, reads their
//! histograms, measures what they cost.

use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use gtrace_abi::{Config as ProbeConfig, Counter, DeviceFilter, MAX_DEVICES};
use gtrace_event::WitnessName;

use super::calls::Calls;
use super::probes::{Shared, loss};
use super::watched;
use crate::bpf::{LoadError, Probes};
use crate::config::Config;
use crate::hub::ProbeCost;
use crate::pipeline::{InputSender, Told};

/// Between rounds of housekeeping.
const ROUND: Duration = Duration::from_millis(500);
/// Between readings of the driver-call histograms.
const CALLS_EVERY: Duration = Duration::from_secs(2);
/// Between looks at /proc/devices.
const DEVICES_EVERY: Duration = Duration::from_secs(2);
/// How long the cost of the probes is measured at a time.
const COST_WINDOW: Duration = Duration::from_secs(1);

/// Which devices are watched.
#[derive(Debug)]
pub(super) struct Devices {
    fixed: Option<Vec<DeviceFilter>>,
    proc_root: PathBuf,
    pub(super) slow_call_ns: u64,
    set: Option<(Vec<DeviceFilter>, bool)>,
}

impl Devices {
    pub(super) fn new(config: &Config) -> Self {
        let slow_call = config.slow_call.unwrap_or_default();
        Self {
            fixed: config.devices.clone(),
            proc_root: config.proc_root.clone(),
            slow_call_ns: u64::try_from(slow_call.as_nanos()).unwrap_or(u64::MAX),
            set: None,
        }
    }

    /// Tells the probes which devices to watch, if that has changed.
    pub(super) fn refresh(&mut self, probes: &mut Probes) -> Result<(), LoadError> {
        let now = self
            .fixed
            .clone()
            .unwrap_or_else(|| watched::nvidia_devices(&self.proc_root));
        let exits_seen = probes.has(WitnessName::ProcessExit);
        let now = (now, exits_seen);
        if self.set.as_ref() == Some(&now) {
            return Ok(());
        }
        let devices = &now.0;
        let mut config = ProbeConfig {
            slow_call_ns: self.slow_call_ns,
            exits_seen: u64::from(exits_seen),
            ..ProbeConfig::default()
        };
        for (slot, filter) in config
            .devices
            .iter_mut()
            .zip(devices.iter().take(MAX_DEVICES))
        {
            *slot = *filter;
        }
        probes.configure(&config)?;
        for (pid, rdev) in watched::users(devices) {
            probes.remember_gpu_task(pid, rdev);
        }
        self.set = Some(now);
        Ok(())
    }
}

/// Housekeeping.
pub(super) struct Keeper<'a> {
    shared: &'a Shared,
    inputs: InputSender,
    devices: Devices,
    calls: Calls,
    counters: Vec<(Counter, u64)>,
    cost_interval: Option<Duration>,
    cost: Option<CostWindow>,
    /// What the probes log, if they do.
    pub(super) log: Option<aya_log::EbpfLogger<&'static dyn log::Log>>,
}

struct CostWindow {
    /// Statistics are on while this is open.
    _enabled: std::os::fd::OwnedFd,
    since: Instant,
    before: Vec<(&'static str, crate::bpf::RunStats)>,
}

impl<'a> Keeper<'a> {
    pub(super) fn new(
        shared: &'a Shared,
        inputs: InputSender,
        devices: Devices,
        cost_interval: Option<Duration>,
    ) -> Self {
        Self {
            shared,
            inputs,
            devices,
            calls: Calls::default(),
            counters: Vec::new(),
            cost_interval,
            cost: None,
            log: None,
        }
    }

    pub(super) fn run(&mut self) {
        let start = Instant::now();
        let (mut calls_at, mut devices_at, mut cost_at) = (start, start, start);
        while !self.shared.stop.load(Ordering::Relaxed) {
            std::thread::sleep(ROUND);
            let now = Instant::now();
            self.shared.obey_switches();
            self.report_losses();
            if let Some(log) = &mut self.log {
                log.flush();
            }
            if now >= devices_at {
                devices_at = now + DEVICES_EVERY;
                if let Err(error) = self.devices.refresh(&mut self.shared.lock()) {
                    tracing::warn!("watched devices cannot be set: {error}");
                }
            }
            if now >= calls_at {
                calls_at = now + CALLS_EVERY;
                self.read_calls();
            }
            self.measure_cost(now, &mut cost_at);
        }
        self.read_calls();
    }

    /// Whatever the probes have dropped since the last round is counted and told.
    fn report_losses(&mut self) {
        let now = self.shared.lock().counters();
        for (i, (counter, value)) in now.iter().enumerate() {
            let before = self.counters.get(i).map_or(0, |(_, before)| *before);
            let lost = value.saturating_sub(before);
            if lost == 0 {
                continue;
            }
            let source = source_of(*counter);
            self.shared
                .hub
                .metrics
                .count_lost(source, counter.name(), lost);
            // A limit that is met all the time, and no record lost.
            if *counter == Counter::ExitFdsUnseen {
                continue;
            }
            let told = loss(source, lost, counter.name());
            let _ = self.inputs.send(Told::once(WitnessName::Gtrace, told));
        }
        self.counters = now;
    }

    fn read_calls(&mut self) {
        let histograms = self.shared.lock().histograms();
        if histograms.is_empty() && self.shared.hub.calls().is_empty() {
            return;
        }
        let (stats, forget) = self.calls.read(histograms);
        for key in forget {
            self.shared.lock().forget_histogram(key);
        }
        self.shared.hub.set_calls(stats);
    }

    /// Switches the kernel's run statistics on for a short window now and then: while they are
    /// on, every BPF program on the host pays for them.
    fn measure_cost(&mut self, now: Instant, next: &mut Instant) {
        let Some(interval) = self.cost_interval else {
            return;
        };
        if let Some(window) = self.cost.take_if(|w| w.since.elapsed() >= COST_WINDOW) {
            let after = self.shared.lock().run_stats();
            let costs = costs(&window.before, &after, window.since.elapsed());
            self.shared
                .hub
                .update_status(|status| status.probes = costs);
        } else if self.cost.is_none() && now >= *next {
            *next = now + interval;
            match aya::sys::enable_stats(aya::sys::Stats::RunTime) {
                Ok(enabled) => {
                    let before = self.shared.lock().run_stats();
                    self.cost = Some(CostWindow {
                        _enabled: enabled,
                        since: Instant::now(),
                        before,
                    });
                }
                Err(error) => {
                    tracing::warn!("the probes' cost cannot be measured: {error}");
                    self.cost_interval = None;
                }
            }
        }
    }
}

fn costs(
    before: &[(&'static str, crate::bpf::RunStats)],
    after: &[(&'static str, crate::bpf::RunStats)],
    window: Duration,
) -> Vec<ProbeCost> {
    let seconds = window.as_secs_f64().max(f64::EPSILON);
    after
        .iter()
        .map(|(name, after)| {
            let before = before
                .iter()
                .find(|(n, _)| n == name)
                .map_or_else(Default::default, |b| b.1);
            let runs = after.runs.saturating_sub(before.runs);
            let ns = after.ns.saturating_sub(before.ns);
            ProbeCost {
                probe: (*name).to_owned(),
                mean_ns: if after.runs == 0 {
                    0.0
                } else {
                    after.ns as f64 / after.runs as f64
                },
                runs_per_second: runs as f64 / seconds,
                core_share: ns as f64 / 1e9 / seconds,
                missed: after.missed,
            }
        })
        .collect()
}

/// The source that is the poorer for it.
fn source_of(counter: Counter) -> &'static str {
    let witness = match counter {
        Counter::LogRingFull | Counter::LogReadFailed | Counter::LogCut => {
            WitnessName::PrintkConsole
        }
        Counter::CallRingFull
        | Counter::DeviceReadFailed
        | Counter::HistKeysFull
        | Counter::CallsInFlightFull => WitnessName::SyscallIoctl,
        Counter::GpuTasksFull | Counter::ExitFdsUnseen => WitnessName::ProcessExit,
        Counter::EventRingFull | Counter::FieldReadFailed => return "probes",
    };
    witness.name()
}
