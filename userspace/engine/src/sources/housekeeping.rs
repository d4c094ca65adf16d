//! Housekeeping of the probes: keeps their filters up to date, counts what they lose, reads their
//! histograms, measures what they cost.

use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::MutexGuard;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use gtrace_abi::{
    CMD_CLOSE, CallKey, Config as ProbeConfig, Counter, Decode, DeviceFilter, MAX_DEVICES,
    STATUS_BITS,
};
use gtrace_api::{CallStats, DeviceUser, ProbeCost};
use gtrace_decoder::DriverVersion;
use gtrace_devices::{ProcGpus, ProcRoot};
use gtrace_event::{Process, Timestamp, WitnessName};
use gtrace_profile::Histogram;
use gtrace_recorder::{ProcessChange, What};

use super::calls::{self, Calls};
use super::reported::{Reported, call_of};
use super::shared::{MANY_ENDED, Shared};
use super::users::Users;
use super::watched::{DeviceNames, NamesPoll};
use super::{layouts, records, watched};
use crate::bpf::{Probes, RunStats, Tracefs};
use crate::clock::boottime_ns;
use crate::component::holders::NAME as HOLDERS;
use crate::config::Config;
use crate::host;
use crate::input::{Input, InputSender, loss};
use crate::lock::lock;
use crate::process;
use crate::samples::{DRIVER_CALLS, Latency};
use crate::supervise::{beat, period_start};

/// Between rounds of housekeeping: readings of /proc/devices, of the driver-call histograms and of what the probes have dropped.
const ROUND: Duration = Duration::from_secs(2);
/// The same where somebody asks for them: a client that asks all the time must not keep the daemon busy.
const CALLS_ASKED_EVERY: Duration = Duration::from_millis(100);
/// Between two times that the tables of ended processes are emptied.
const RETIRE_EVERY: Duration = Duration::from_secs(1);
/// The same if so many have ended that they cannot wait.
const RETIRE_MANY_EVERY: Duration = Duration::from_millis(100);
/// Between polls of calls that do not return.
const HUNG_EVERY: Duration = Duration::from_secs(4);
/// Between two looks for threads that are gone, while there is no room for others.
const FORGET_EVERY: Duration = Duration::from_secs(60);
/// How long the cost of the probes is measured at a time.
const COST_WINDOW: Duration = Duration::from_secs(1);

/// Which devices are watched.
#[derive(Debug)]
pub(super) struct Devices {
    fixed: Option<Vec<DeviceFilter>>,
    proc_root: PathBuf,
    pub(super) slow_call_ns: u64,
    report_status: [u64; STATUS_BITS / 64],
    report_errno: [u64; 2],
    /// Made once for each version of the driver.
    decode: Option<(Option<DriverVersion>, Box<Decode>)>,
    set: Option<Box<ProbeConfig>>,
}

impl Devices {
    pub(super) fn new(config: &Config) -> Self {
        let slow_call = config.slow_call.unwrap_or_default();
        Self {
            fixed: config.devices.clone(),
            proc_root: config.proc_root.clone(),
            slow_call_ns: u64::try_from(slow_call.as_nanos()).unwrap_or(u64::MAX),
            report_status: config.call_failures.statuses,
            report_errno: config.call_failures.errnos,
            decode: None,
            set: None,
        }
    }

    /// A reader of what the driver says of its GPUs, which knows none yet.
    pub(super) fn proc_gpus(&self) -> ProcGpus {
        ProcGpus::new(ProcRoot(self.proc_root.clone()))
    }

    /// Which devices are watched, as last set.
    fn filters(&self) -> Vec<DeviceFilter> {
        let set = self.set.as_ref().map_or(&[][..], |set| &set.devices);
        set.iter().copied().filter(|f| f.major != 0).collect()
    }

    /// What the probes are to watch and how to read it, if that has changed. Never
    /// blocks.
    pub(super) fn refresh(
        &mut self,
        probes: &Probes,
        tracefs: &Tracefs,
        driver: Option<DriverVersion>,
    ) -> Option<Change> {
        let devices = self
            .fixed
            .clone()
            .unwrap_or_else(|| watched::nvidia_devices(&self.proc_root));
        if self.decode.as_ref().is_none_or(|(of, _)| *of != driver) {
            self.decode = Some((driver, Box::new(layouts::decode(driver))));
        }
        let mut config = ProbeConfig {
            slow_call_ns: self.slow_call_ns,
            exits_seen: u64::from(probes.has(WitnessName::ProcessExit)),
            report_status: self.report_status,
            report_errno: self.report_errno,
            ..ProbeConfig::default()
        };
        if let Some((_, decode)) = &self.decode {
            config.decode = **decode;
        }
        for (slot, filter) in config
            .devices
            .iter_mut()
            .zip(devices.iter().take(MAX_DEVICES))
        {
            *slot = *filter;
        }
        // Whether or not it is attached right now.
        if probes.wants_dev_xid() && tracefs.has("nvidia", "nvidia_dev_xid") {
            let field = |name| tracefs.field_offset("nvidia", "nvidia_dev_xid", name);
            config.dev_xid_code = field("error_code").unwrap_or(0);
            config.dev_xid_dev = field("dev").unwrap_or(0);
            config.dev_xid_msg = field("msg").unwrap_or(0);
        }
        if self.set.as_deref() == Some(&config) {
            return None;
        }
        self.set = Some(Box::new(config));
        Some(Change { config, devices })
    }
}

/// The new configuration of the probes.
#[derive(Debug)]
pub(super) struct Change {
    pub(super) config: ProbeConfig,
    pub(super) devices: Vec<DeviceFilter>,
}

/// The latency of one row of a live process; what the ended ones add up to has been seen while they lived.
fn latency_of(row: &CallStats) -> Option<Latency> {
    if row.pid == 0 && row.comm != calls::OTHERS {
        return None;
    }
    let mut labels = vec![
        ("call", row.code_name.clone().unwrap_or_else(|| row.label())),
        ("device", row.device.clone()),
        ("pid", row.pid.to_string()),
        ("process", row.comm.clone()),
    ];
    labels.extend(row.gpu.map(|gpu| ("gpu", gpu.to_string())));
    Some(Latency {
        name: DRIVER_CALLS,
        labels,
        histogram: Histogram::from_buckets(&row.buckets, row.total_ns, row.max_ns).ok()?,
    })
}

/// Housekeeping.
pub(super) struct ProbeHousekeeping<'a> {
    shared: &'a Shared,
    inputs: InputSender,
    devices: Devices,
    calls: Calls,
    users: Users,
    names: NamesPoll,
    /// After what time a call that has not returned is reported.
    hung_call: Option<Duration>,
    /// When the places of threads that are gone were given back last.
    forgot_threads: Option<Instant>,
    cost_interval: Option<Duration>,
    cost: Option<CostWindow>,
    /// What the probes log, if they do.
    pub(super) log: Option<aya_log::EbpfLogger<&'static dyn log::Log>>,
}

struct CostWindow {
    /// Statistics are on while this is open, where they are not anyway.
    _enabled: Option<OwnedFd>,
    since: Instant,
    before: Vec<(&'static str, RunStats)>,
}

impl<'a> ProbeHousekeeping<'a> {
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
            names: NamesPoll::default(),
            hung_call,
            forgot_threads: None,
            cost_interval,
            cost: None,
            log: None,
        }
    }

    pub(super) fn run(&mut self) {
        let start = Instant::now();
        // Not at once: a start has enough to do.
        let mut round_at = start + ROUND / 2;
        let (mut hung_at, mut cost_at) = (start, start);
        let mut calls_not_before = start;
        let mut retired_at = start;
        while !self.shared.stop.load(Ordering::Relaxed) {
            beat();
            // Woken early when a module comes or goes, a process ends, or somebody wants the calls.
            let mut until = round_at;
            if self.shared.hub.are_calls_wanted() {
                until = until.min(calls_not_before);
            }
            if let Some(every) = self.retire_every() {
                until = until.min(retired_at + every);
            }
            if let Some(cost) = &self.cost {
                until = until.min(cost.since + COST_WINDOW);
            }
            std::thread::park_timeout(until.saturating_duration_since(Instant::now()));
            if self.shared.stop.load(Ordering::Relaxed) {
                break;
            }
            let now = Instant::now();
            self.shared.obey_switches();
            if self.shared.follow_driver() {
                self.names = NamesPoll::default();
                // What was read may be of the driver before.
                *self.shared.proc_gpus() = self.devices.proc_gpus();
                // Shown as working only once they are configured.
                self.refresh();
                self.shared.show_states();
            }
            if self
                .retire_every()
                .is_some_and(|every| now >= retired_at + every)
            {
                retired_at = now;
                self.retire_ended();
            }
            if let Some(log) = &mut self.log {
                log.flush();
            }
            let is_round = now >= round_at;
            if is_round {
                round_at = period_start(now, ROUND) + ROUND;
                self.refresh();
                self.report_losses();
            }
            let wanted = now >= calls_not_before && self.shared.hub.are_calls_wanted();
            if is_round || wanted {
                self.read_calls();
                calls_not_before = Instant::now() + CALLS_ASKED_EVERY;
            }
            if now >= hung_at {
                hung_at = period_start(now, HUNG_EVERY) + HUNG_EVERY;
                self.look_for_hung_calls();
            }
            self.measure_cost(now, &mut cost_at);
        }
        self.read_calls();
    }

    /// How often the tables of ended processes are to be emptied now, if any has ended.
    fn retire_every(&self) -> Option<Duration> {
        match self.shared.ended_count() {
            0 => None,
            MANY_ENDED.. => Some(RETIRE_MANY_EVERY),
            _ => Some(RETIRE_EVERY),
        }
    }

    fn refresh(&mut self) {
        let shared = self.shared;
        let version = shared.driver_version();
        let change = self
            .devices
            .refresh(&shared.lock(), &shared.tracefs, version);
        if let Some(change) = &change
            && let Err(error) = shared.lock().configure(&change.config)
        {
            tracing::warn!("the probes cannot be configured: {error}");
            // So that the next round tries again.
            self.devices.set = None;
        }
        if shared.rescan.swap(false, Ordering::Relaxed) && !shared.hub.is_paused() {
            // Without the lock: it reads every process.
            let filters = self.devices.filters();
            let users = watched::all_users(&filters);
            let mut probes = shared.lock();
            for (pid, rdev) in &users {
                probes.remember_gpu_task(*pid, *rdev);
            }
            drop(probes);
            self.users.set_earlier(filters, users);
        }
        if self.names.is_due(&self.devices.proc_root) {
            let names = DeviceNames::read_with(&self.devices.proc_root, &mut shared.proc_gpus());
            shared.set_device_names(names);
        }
    }

    /// Counts and reports what the probes have dropped since the last round.
    fn report_losses(&mut self) {
        let now = self.shared.lock().counters();
        let risen = self.reported().losses(now);
        for (counter, lost) in risen {
            if counter == Counter::CallsInFlightFull
                && self
                    .forgot_threads
                    .is_none_or(|at| at.elapsed() >= FORGET_EVERY)
            {
                self.forgot_threads = Some(Instant::now());
                let is_there = |id: u64| {
                    let (tgid, tid) = (id >> 32, id & u64::from(u32::MAX));
                    Path::new(&format!("/proc/{tgid}/task/{tid}")).exists()
                };
                self.shared.lock().forget_gone_threads(is_there);
            }
            let source = source_of(counter);
            self.shared
                .hub
                .metrics
                .count_lost(source, counter.name(), lost);
            // Limits that are met all the time, and no record lost.
            if matches!(
                counter,
                Counter::ExitFdsUnseen | Counter::ParametersUnreadable | Counter::HistKeysShared
            ) {
                continue;
            }
            let observation = loss(source, lost, counter.name());
            let _ = self
                .inputs
                .send(Input::once(WitnessName::Gtrace, observation));
        }
    }

    /// What was reported, for the thread that is to report now.
    fn reported(&self) -> MutexGuard<'a, Reported> {
        // One that another has replaced ends here: what it has read may be old.
        beat();
        lock(&self.shared.reported)
    }

    /// Reports calls that have not returned for too long, each once.
    fn look_for_hung_calls(&mut self) {
        let Some(limit) = self.hung_call.filter(|_| !self.shared.hub.is_paused()) else {
            return;
        };
        let limit_ns = u64::try_from(limit.as_nanos()).unwrap_or(u64::MAX);
        let now_ns = boottime_ns();
        let mut hung = self.shared.lock().calls_under_way();
        let new = self.reported().not_yet_hung(&hung, now_ns, limit_ns);
        // A return that was missed leaves a start without an end. The lock is not held meanwhile: a thread that is stuck in execve(2)
        // lets nobody read what it does.
        hung.retain(|one| new.contains(&call_of(one)) && process::is_in_call(one.0, one.1.cmd));
        self.reported()
            .add_hung(&hung.iter().map(call_of).collect());
        let names = self.shared.device_names();
        for (id, start) in &hung {
            let observation = records::call_under_way(*id, start, now_ns, limit_ns, &names);
            let _ = self
                .inputs
                .send(Input::once(self.shared.call_witness(), observation));
        }
    }

    /// Takes the calls of processes that have ended out of the probes' tables: short-lived programs would fill them. Only
    /// the driver's closing of files comes after the probe on the end; [`Calls::read`] finds that by /proc.
    fn retire_ended(&mut self) {
        let ended = self.shared.take_ended();
        if ended.is_empty() {
            return;
        }
        let is_over = |key: &CallKey| key.cmd != CMD_CLOSE && ended.contains_key(&key.tgid);
        let mut probes = self.shared.lock();
        let histograms = probes.histograms_where(is_over);
        let mut failures = probes.failures();
        failures.retain(|(key, _)| is_over(&key.call));
        for (key, _) in &histograms {
            probes.forget_histogram(*key);
        }
        for (key, _) in &failures {
            probes.forget_failure(*key);
        }
        drop(probes);
        self.calls.retire(histograms, failures, &ended);
    }

    fn read_calls(&mut self) {
        let wanted = self.shared.hub.take_calls_wanted();
        let probes = self.shared.lock();
        let (histograms, failures) = (probes.histograms(), probes.failures());
        let open_files = probes.open_files();
        drop(probes);
        let names = self.shared.device_names();
        let (users, gone) = self.users.poll(&open_files, &names);
        let came = self.record_users(&users);
        self.shared.hub.set_gpu_processes(users);
        if came {
            self.shared.hub.tasks.wake(HOLDERS);
        }
        let nothing =
            histograms.is_empty() && !self.calls.has_retired() && self.shared.hub.no_calls();
        let read = if nothing {
            calls::Read::default()
        } else {
            self.calls.read(histograms, &failures, &names)
        };
        let mut probes = self.shared.lock();
        for file in gone {
            probes.forget_open_file(file);
        }
        for key in read.ended {
            probes.forget_histogram(key);
        }
        for key in read.ended_failures {
            probes.forget_failure(key);
        }
        drop(probes);
        if read.given_up > 0 {
            let metrics = &self.shared.hub.metrics;
            metrics.count_lost("driver calls", "series_ended", read.given_up);
        }
        if !nothing {
            let rows = read.stats.iter().filter_map(latency_of);
            let latency = self.reported().latency.rises(rows);
            self.shared
                .hub
                .samples
                .publish_latency(Timestamp::now(), &latency);
            self.shared.hub.set_calls(read.stats);
        }
        for answer in wanted {
            // Whoever asked may have given up.
            let _ = answer.send(());
        }
    }

    /// Has the recorder know who has opened its first device, and who has closed its last. Whether anybody has opened one.
    fn record_users(&self, now: &[DeviceUser]) -> bool {
        let hub = &self.shared.hub;
        let before = hub.gpu_processes();
        let has = |users: &[DeviceUser], pid: u32| users.iter().any(|user| user.pid == pid);
        let came = now.iter().filter(|user| !has(&before, user.pid));
        let went = before.iter().filter(|user| !has(now, user.pid));
        let came: Vec<_> = came.map(|user| (ProcessChange::Opened, user)).collect();
        let has_come = !came.is_empty();
        for (change, user) in came
            .into_iter()
            .chain(went.map(|user| (ProcessChange::Closed, user)))
        {
            let mut process = Process {
                pid: Some(user.pid),
                comm: Some(user.comm.clone()),
                ..Process::default()
            };
            if change == ProcessChange::Opened {
                process::enrich(&mut process);
            }
            let job = process.cgroup.as_deref().and_then(gtrace_incident::job_of);
            hub.recorder.note(What::Process {
                change,
                process: Box::new(process),
                devices: user.devices.clone(),
                job,
            });
        }
        has_come
    }

    /// Reads the kernel's run statistics over a short window now and then. Where they are off it switches
    /// them on for the window, if it may: while they are on, every BPF program on the host pays for them.
    fn measure_cost(&mut self, now: Instant, next: &mut Instant) {
        let Some(interval) = self.cost_interval else {
            return;
        };
        if let Some(window) = self.cost.take_if(|w| w.since.elapsed() >= COST_WINDOW) {
            let after = self.shared.lock().run_stats();
            let costs = costs(Some((&window.before, window.since.elapsed())), &after);
            self.shared
                .hub
                .update_status(|status| status.probes = costs);
        } else if self.cost.is_none() && now >= *next {
            *next = now + interval;
            // The sysctl may change at any time, so this is tried again.
            let unmeasured = match run_statistics() {
                Ok(enabled) => {
                    let before = self.shared.lock().run_stats();
                    self.cost = Some(CostWindow {
                        _enabled: enabled,
                        since: Instant::now(),
                        before,
                    });
                    None
                }
                Err(why) => {
                    // Runs that it skipped the kernel counts in any case.
                    let costs = costs(None, &self.shared.lock().run_stats());
                    self.shared
                        .hub
                        .update_status(|status| status.probes = costs);
                    Some(why)
                }
            };
            self.shared
                .hub
                .update_status(|status| status.probe_cost_unmeasured = unmeasured);
        }
    }
}

/// Has the kernel count runs and run time of BPF programs while what it returns exists; `None` where it
/// does so anyway.
fn run_statistics() -> Result<Option<OwnedFd>, String> {
    const SYSCTL: &str = "/proc/sys/kernel/bpf_stats_enabled";
    if host::sysctl(SYSCTL).is_some_and(|on| on != "0") {
        return Ok(None);
    }
    // The kernel asks for CAP_SYS_ADMIN here, which the daemon gives up (kernel/bpf/syscall.c).
    aya::sys::enable_stats(aya::sys::Stats::RunTime)
        .map(Some)
        .map_err(|_| {
            "the kernel's run statistics are off: `sysctl kernel.bpf_stats_enabled=1` switches them \
             on for every BPF program of the host, `gtrace run --keep-privileges` for one second at \
             a time"
                .to_owned()
        })
}

/// `measured`: the statistics of some time ago, and how long ago, if the kernel has kept them since.
fn costs(
    measured: Option<(&[(&'static str, RunStats)], Duration)>,
    after: &[(&'static str, RunStats)],
) -> Vec<ProbeCost> {
    let cost = |(name, after): &(&'static str, RunStats)| {
        let window = measured.map(|(before, window)| {
            let before = before.iter().find(|(n, _)| n == name);
            let before = before.map_or_else(Default::default, |b| b.1);
            let runs = after.runs.saturating_sub(before.runs);
            let ns = after.ns.saturating_sub(before.ns);
            let seconds = window.as_secs_f64().max(f64::EPSILON);
            (runs as f64 / seconds, ns as f64 / 1e9 / seconds)
        });
        ProbeCost {
            probe: (*name).to_owned(),
            witness: crate::bpf::witness_of_program(name),
            mean_ns: window.map(|_| match after.runs {
                0 => 0.0,
                runs => after.ns as f64 / runs as f64,
            }),
            runs_per_second: window.map(|(runs, _)| runs),
            core_share: window.map(|(_, share)| share),
            missed: after.missed,
        }
    };
    after.iter().map(cost).collect()
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
        | Counter::HistKeysShared
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
