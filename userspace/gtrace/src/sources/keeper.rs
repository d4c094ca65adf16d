//! Housekeeping of the probes: keeps their filters up to date, counts what they lose, reads their
//! histograms, measures what they cost.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use gtrace_abi::{
    Config as ProbeConfig, Counter, DeviceFilter, MAX_DEVICES, OpenFile, STATUS_BITS,
};
use gtrace_decoder::DriverVersion;
use gtrace_event::WitnessName;

use super::calls::Calls;
use super::probes::{Shared, loss};
use super::users::Users;
use super::{layouts, records, watched};
use crate::bpf::{LoadError, Probes, Tracefs};
use crate::clock::boottime_ns;
use crate::config::Config;
use crate::hub::ProbeCost;
use crate::pipeline::{InputSender, Told};

/// Between rounds of housekeeping.
const ROUND: Duration = Duration::from_millis(500);
/// Between readings of the driver-call histograms.
const CALLS_EVERY: Duration = Duration::from_secs(2);
/// Between looks at /proc/devices.
const DEVICES_EVERY: Duration = Duration::from_secs(2);
/// Between looks at calls that do not return.
const HUNG_EVERY: Duration = Duration::from_secs(5);
/// How long the cost of the probes is measured at a time.
const COST_WINDOW: Duration = Duration::from_secs(1);

/// Which devices are watched.
#[derive(Debug)]
pub(super) struct Devices {
    fixed: Option<Vec<DeviceFilter>>,
    proc_root: PathBuf,
    pub(super) slow_call_ns: u64,
    report_status: [u64; STATUS_BITS / 64],
    set: Option<Box<ProbeConfig>>,
}

impl Devices {
    pub(super) fn new(config: &Config) -> Self {
        let slow_call = config.slow_call.unwrap_or_default();
        Self {
            fixed: config.devices.clone(),
            proc_root: config.proc_root.clone(),
            slow_call_ns: u64::try_from(slow_call.as_nanos()).unwrap_or(u64::MAX),
            report_status: config.call_failures,
            set: None,
        }
    }

    /// Tells the probes what to watch and how to read it, if that has changed.
    pub(super) fn refresh(
        &mut self,
        probes: &mut Probes,
        tracefs: &Tracefs,
        driver: Option<DriverVersion>,
    ) -> Result<(), LoadError> {
        let devices = self
            .fixed
            .clone()
            .unwrap_or_else(|| watched::nvidia_devices(&self.proc_root));
        let mut config = ProbeConfig {
            slow_call_ns: self.slow_call_ns,
            exits_seen: u64::from(probes.has(WitnessName::ProcessExit)),
            report_status: self.report_status,
            decode: layouts::decode(driver),
            ..ProbeConfig::default()
        };
        for (slot, filter) in config
            .devices
            .iter_mut()
            .zip(devices.iter().take(MAX_DEVICES))
        {
            *slot = *filter;
        }
        if probes.has(WitnessName::DevXid) {
            let field = |name| tracefs.field_offset("nvidia", "nvidia_dev_xid", name);
            config.dev_xid_code = field("error_code").unwrap_or(0);
            config.dev_xid_dev = field("dev").unwrap_or(0);
            config.dev_xid_msg = field("msg").unwrap_or(0);
        }
        if self.set.as_deref() == Some(&config) {
            return Ok(());
        }
        probes.configure(&config)?;
        if self.set.as_ref().map(|set| set.devices) != Some(config.devices) {
            for (pid, rdev) in watched::users(&devices) {
                probes.remember_gpu_task(pid, rdev);
            }
        }
        self.set = Some(Box::new(config));
        Ok(())
    }
}

/// Housekeeping.
pub(super) struct Keeper<'a> {
    shared: &'a Shared,
    inputs: InputSender,
    devices: Devices,
    calls: Calls,
    users: Users,
    /// After what time a call that has not returned is told of.
    hung_call: Option<Duration>,
    /// Those told of: thread and start.
    told_hung: BTreeSet<(u64, u64)>,
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
        hung_call: Option<Duration>,
    ) -> Self {
        Self {
            shared,
            inputs,
            devices,
            calls: Calls::default(),
            users: Users::default(),
            hung_call,
            told_hung: BTreeSet::new(),
            counters: Vec::new(),
            cost_interval,
            cost: None,
            log: None,
        }
    }

    pub(super) fn run(&mut self) {
        let start = Instant::now();
        let (mut calls_at, mut devices_at, mut cost_at) = (start, start, start);
        let mut hung_at = start;
        while !self.shared.stop.load(Ordering::Relaxed) {
            // Woken early when a module comes or goes.
            std::thread::park_timeout(ROUND);
            let now = Instant::now();
            self.shared.obey_switches();
            self.shared.follow_driver(&mut self.devices);
            self.report_losses();
            if let Some(log) = &mut self.log {
                log.flush();
            }
            if now >= devices_at {
                devices_at = now + DEVICES_EVERY;
                let version = self.shared.driver_version();
                let tracefs = &self.shared.tracefs;
                let refreshed = self
                    .devices
                    .refresh(&mut self.shared.lock(), tracefs, version);
                if let Err(error) = refreshed {
                    tracing::warn!("watched devices cannot be set: {error}");
                }
            }
            if now >= calls_at {
                calls_at = now + CALLS_EVERY;
                self.read_calls();
            }
            if now >= hung_at {
                hung_at = now + HUNG_EVERY;
                self.look_for_hung_calls();
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

    /// Tells of calls that have not returned for too long, each once.
    fn look_for_hung_calls(&mut self) {
        let Some(limit) = self.hung_call else { return };
        let limit_ns = u64::try_from(limit.as_nanos()).unwrap_or(u64::MAX);
        let now_ns = boottime_ns();
        let mut hung = self.shared.lock().calls_under_way();
        hung.retain(|(_, start)| now_ns.saturating_sub(start.boottime_ns) >= limit_ns);
        let names = self.shared.device_names();
        for (id, start) in &hung {
            if self.told_hung.contains(&(*id, start.boottime_ns)) {
                continue;
            }
            let told = records::call_under_way(*id, start, now_ns, limit_ns, &names);
            let _ = self
                .inputs
                .send(Told::once(self.shared.call_witness(), told));
        }
        self.told_hung = hung
            .into_iter()
            .map(|(id, start)| (id, start.boottime_ns))
            .collect();
    }

    fn read_calls(&mut self) {
        let probes = self.shared.lock();
        let (histograms, failures) = (probes.histograms(), probes.failures());
        let open_files = probes.open_files();
        drop(probes);
        self.show_users(&open_files);
        if histograms.is_empty() && self.shared.hub.calls().is_empty() {
            return;
        }
        let names = watched::DeviceNames::read(&self.devices.proc_root);
        let names = self.shared.set_device_names(names);
        let read = self.calls.read(histograms, &failures, &names);
        let mut probes = self.shared.lock();
        for key in read.ended {
            probes.forget_histogram(key);
        }
        for key in read.ended_failures {
            probes.forget_failure(key);
        }
        drop(probes);
        self.shared.hub.set_calls(read.stats);
    }

    /// Shows which processes have the driver's devices open.
    fn show_users(&mut self, open_files: &[OpenFile]) {
        let (users, gone) = self.users.look(open_files, &self.devices.proc_root);
        let mut probes = self.shared.lock();
        for file in gone {
            probes.forget_open_file(file);
        }
        drop(probes);
        if self.shared.hub.status().gpu_processes != users {
            self.shared
                .hub
                .update_status(|status| status.gpu_processes = users);
        }
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
        | Counter::FailureKeysFull
        | Counter::ParametersUnreadable
        | Counter::ReturnMissed
        | Counter::CallsInFlightFull => return "driver calls",
        Counter::OpenFilesFull | Counter::GpuTasksFull | Counter::ExitFdsUnseen => {
            WitnessName::ProcessExit
        }
        Counter::EventRingFull | Counter::FieldReadFailed => return "probes",
    };
    witness.name()
}
