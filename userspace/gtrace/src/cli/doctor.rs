//! `gtrace doctor`: source by source, what this host gives, what it lacks and how to get it.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use gtrace_api::client::Client;
use gtrace_api::{SourceState, SourceStatus, Status};
use gtrace_devices::{Devices, NvmlClient, NvmlConfig, NvmlSnapshot, NvmlState, ProcRoot, SysRoot};
use gtrace_engine::bpf::{self, KERNEL_BTF, Tracefs, TracefsError};
use gtrace_engine::component;
use gtrace_engine::config::{Config, Keys};
use gtrace_engine::daemon;
use gtrace_engine::host;
use gtrace_engine::hub::Hub;
use gtrace_engine::sources::devices::aer_source;
use gtrace_engine::sources::kmsg;
use gtrace_engine::sources::table::{set_state, state_of};
use gtrace_event::WitnessName;
use gtrace_uprobes::procfs::has_the_kernels_numbers;
use serde::Serialize;

use super::shared::{self, Exit};

/// List each source: whether it works on this host, why not, and how to fix that.
///
/// Exit status: 0 the kernel log can be watched as it happens, 1 it cannot, 2 wrong usage.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// One JSON object.
    #[arg(long)]
    json: bool,
    /// Configuration file.
    #[arg(long, env = "GTRACE_CONFIG")]
    config: Option<PathBuf>,
    #[command(flatten)]
    keys: Keys,
}

/// A fact about the host that decides what works.
#[derive(Debug, Serialize)]
struct Fact {
    name: &'static str,
    value: String,
    ok: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    remedy: Option<&'static str>,
}

#[derive(Debug, Serialize)]
struct Report {
    version: &'static str,
    host: Vec<Fact>,
    sources: Vec<SourceStatus>,
    /// What could not be looked at, for lack of privileges.
    not_looked_at: Vec<String>,
}

/// Runs the command. Exit 0 if the kernel log can be watched as it happens, 1 if not.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    // What the verifier said is too long for the report: whoever wants it asks for the log.
    if std::env::var_os("GTRACE_LOG").is_some() {
        super::run::init_log();
    }
    let config = Config::load(args.config.as_deref(), args.keys)?;
    let report = examine(&config);
    shared::print(&match args.json {
        true => serde_json::to_string_pretty(&report)? + "\n",
        false => text(&report),
    })?;
    let works = |witness: WitnessName| {
        let status = report.sources.iter().find(|s| s.witness == Some(witness));
        status.is_some_and(|s| s.state == SourceState::Active)
    };
    let fine = works(WitnessName::PrintkConsole) && works(WitnessName::Kmsg);
    Ok(match fine {
        true => ExitCode::SUCCESS,
        false => Exit::Problem.into(),
    })
}

fn examine(config: &Config) -> Report {
    let mut sources = component::initial();
    let mut not_looked_at = Vec::new();
    look_at_probes(&mut sources, &mut not_looked_at);
    look_at_kmsg(&mut sources);
    look_at_devices(config, &mut sources);
    probe_components(config, &mut sources);
    for name in &config.disabled {
        let reason = Some("switched off by configuration".to_owned());
        component::set_state(&mut sources, name, SourceState::Off, reason);
    }
    Report {
        version: env!("CARGO_PKG_VERSION"),
        host: facts(config).into_iter().chain(fleet(config)).collect(),
        sources,
        not_looked_at,
    }
}

fn look_at_probes(sources: &mut [SourceStatus], not_looked_at: &mut Vec<String>) {
    if host::may_trace() {
        match daemon::try_probes() {
            Ok(states) => {
                for (witness, state) in &states {
                    let (state, reason) = state_of(state);
                    set_state(sources, *witness, state, reason);
                }
            }
            Err(error) => {
                for probe in &bpf::PROBES {
                    let reason = Some(format!("{error:#}"));
                    set_state(sources, probe.witness, SourceState::Failed, reason);
                }
            }
        }
        return;
    }
    not_looked_at.push(
        "the probes: without root (CAP_BPF and CAP_PERFMON) they can be neither loaded nor \
         attached; run `sudo gtrace doctor`"
            .to_owned(),
    );
    let tracefs = Tracefs::find();
    for probe in &bpf::PROBES {
        let reason = match &tracefs {
            Ok(tracefs) => {
                let missing = probe
                    .hooks
                    .iter()
                    .find(|h| !tracefs.has(h.category, h.name));
                match missing {
                    Some(hook) => {
                        format!(
                            "this kernel has no tracepoint {}:{}",
                            hook.category, hook.name
                        )
                    }
                    None => "not tried: this user may not load BPF programs".to_owned(),
                }
            }
            Err(error) => format!("not tried: {error}"),
        };
        set_state(sources, probe.witness, SourceState::Failed, Some(reason));
    }
}

/// Those that are no witness say by themselves what they lack.
fn probe_components(config: &Config, sources: &mut [SourceStatus]) {
    let (hub, _commands) = Hub::new(Status::default());
    let context = config.components(&hub);
    let looked_at = |c: &&dyn component::Component| {
        c.witness().is_none() && !config.disabled.contains(&c.name())
    };
    for component in component::all().filter(looked_at) {
        let (state, reason) = match component.supported(&context) {
            Ok(()) => (SourceState::Active, component.lacks(&context)),
            Err(reason) => (SourceState::Absent, Some(reason)),
        };
        component::set_state(sources, component.name(), state, reason);
    }
}

fn look_at_kmsg(sources: &mut [SourceStatus]) {
    let (state, reason) = match kmsg::Reader::open(Path::new(kmsg::PATH), None) {
        Ok(_) => (SourceState::Active, None),
        Err(error) => (
            SourceState::Failed,
            Some(format!("{}: {error}", kmsg::PATH)),
        ),
    };
    set_state(sources, WitnessName::Kmsg, state, reason);
}

fn look_at_devices(config: &Config, sources: &mut [SourceStatus]) {
    let snapshot = match nvml_of_daemon(config) {
        // To ask NVML opens every GPU, which is one more fault for a GPU that does not initialise.
        Some(known) => {
            let by = "as the daemon that runs says";
            let reason = known
                .reason
                .map_or_else(|| by.to_owned(), |reason| format!("{reason} ({by})"));
            set_state(sources, WitnessName::Nvml, known.state, Some(reason));
            None
        }
        None => ask_nvml(sources),
    };
    let sys = SysRoot(config.sysfs_root.clone());
    let mut devices =
        Devices::new(sys.clone(), ProcRoot(config.proc_root.clone())).expecting(sys, config.rdma);
    let report = devices.poll(snapshot);
    if let Some(health) = &report.rdma {
        let (state, reason) = component::rdma::source(health);
        set_state(sources, WitnessName::SysfsRdma, state, reason);
    }
    let (state, reason) = match (&report.pci_error, report.gpus.len()) {
        (Some(error), _) => (SourceState::Failed, Some(error.clone())),
        (None, 0) => (
            SourceState::Active,
            Some("this host has no NVIDIA GPU".to_owned()),
        ),
        (None, n) => (SourceState::Active, Some(format!("{n} NVIDIA GPUs"))),
    };
    set_state(sources, WitnessName::SysfsPci, state, reason);
    let (state, reason) = aer_source(&report.aer.unwrap_or_default());
    set_state(sources, WitnessName::SysfsAer, state, reason);
    let (state, reason) = match report.driver {
        Some(driver) => (
            SourceState::Active,
            Some(format!("driver {}", driver.version)),
        ),
        None => (
            SourceState::Absent,
            Some("the NVIDIA driver is not loaded".to_owned()),
        ),
    };
    set_state(sources, WitnessName::ProcDriver, state, reason);
}

fn ask_nvml(sources: &mut [SourceStatus]) -> Option<NvmlSnapshot> {
    let client = match NvmlClient::new(NvmlConfig::this_program()) {
        Ok(client) => client,
        Err(error) => {
            let reason = Some(error.to_string());
            set_state(sources, WitnessName::Nvml, SourceState::Failed, reason);
            return None;
        }
    };
    let snapshot = client.sample();
    let status = client.status();
    let (state, reason) = match (&snapshot, status.state) {
        (Ok(_), _) if status.reason.is_some() => (SourceState::Degraded, status.reason),
        (Ok(_), _) => (SourceState::Active, None),
        (Err(error), NvmlState::Absent) => (SourceState::Absent, Some(error.to_string())),
        (Err(error), _) => (SourceState::Failed, Some(error.to_string())),
    };
    set_state(sources, WitnessName::Nvml, state, reason);
    snapshot.ok()
}

/// What a daemon that runs knows of NVML; nothing where it does not ask it.
fn nvml_of_daemon(config: &Config) -> Option<SourceStatus> {
    let client = Client::unix(&config.socket).with_deadline(Duration::from_secs(2));
    let status: Status = client.get("/api/v1/status").ok()?;
    let of_nvml = |source: &SourceStatus| source.witness == Some(WitnessName::Nvml);
    let known = status.sources.into_iter().find(of_nvml);
    // Whoever has paused it wants the driver for himself.
    known.filter(|source| status.paused || source.state != SourceState::Off)
}

/// Whether the daemon can ship to its head, where it has one.
fn fleet(config: &Config) -> Option<Fact> {
    let head = config.head.as_ref()?;
    let problem = super::run::agent::check(config).err();
    Some(Fact {
        name: "fleet",
        ok: problem.is_none(),
        remedy: problem.is_some().then_some(
            "enroll this host with `sudo gtrace agent enroll`, and start the daemon anew",
        ),
        value: problem.map_or_else(
            || format!("enrolled at {}", head.url),
            |error| format!("{error:#}"),
        ),
    })
}

fn facts(config: &Config) -> Vec<Fact> {
    let fact = |name, value: String, ok, remedy| Fact {
        name,
        value,
        ok,
        remedy: if ok { None } else { remedy },
    };
    let numbers_fit = has_the_kernels_numbers();
    let tracefs = Tracefs::find();
    let lockdown = host::lockdown();
    let devkmsg = host::sysctl("/proc/sys/kernel/printk_devkmsg");
    let jit = host::sysctl("/proc/sys/net/core/bpf_jit_enable");
    let rdma = rdma();
    let uprobes = uprobes();
    let store_dir = config.state_dir.clone();
    let writable = writable(&store_dir);
    vec![
        fact(
            "kernel",
            format!("{} {}", host::kernel_release(), host::machine()),
            true,
            None,
        ),
        fact(
            "privileges",
            if host::is_root() {
                "root".to_owned()
            } else {
                "not root".to_owned()
            },
            host::may_trace(),
            Some("run with sudo, or give the binary CAP_BPF, CAP_PERFMON and CAP_SYSLOG"),
        ),
        fact(
            "PID namespace",
            if numbers_fit {
                "the host's"
            } else {
                "one of its own"
            }
            .to_owned(),
            numbers_fit,
            Some(
                "run gtrace in the host's (docker run --pid=host, hostPID: true): the probes know processes by \
                 their numbers there, so that here none has a name and all count as ended",
            ),
        ),
        fact(
            "tracefs",
            tracefs
                .as_ref()
                .map_or_else(|e| e.to_string(), |t| t.root().display().to_string()),
            tracefs.is_ok(),
            tracefs.as_ref().err().map(TracefsError::remedy),
        ),
        fact(
            "BTF",
            if Path::new(KERNEL_BTF).exists() {
                KERNEL_BTF
            } else {
                "missing"
            }
            .to_owned(),
            Path::new(KERNEL_BTF).exists(),
            Some("a kernel built with CONFIG_DEBUG_INFO_BTF=y"),
        ),
        fact(
            "BPF JIT",
            jit.clone()
                .unwrap_or_else(|| "always on, or unknown by this user".to_owned()),
            jit.as_deref() != Some("0"),
            Some(
                "sysctl net.core.bpf_jit_enable=1: without it every probe costs several times more",
            ),
        ),
        fact(
            "lockdown",
            lockdown
                .clone()
                .unwrap_or_else(|| "none, or unknown".to_owned()),
            lockdown.as_deref() != Some("confidentiality"),
            Some(
                "boot with lockdown=integrity or less: confidentiality forbids BPF to read kernel memory",
            ),
        ),
        fact(
            "Secure Boot",
            match host::secure_boot() {
                Some(true) => "on (no obstacle by itself; it may imply lockdown)".to_owned(),
                Some(false) => "off".to_owned(),
                None => "no EFI variables".to_owned(),
            },
            true,
            None,
        ),
        fact(
            "uprobes",
            uprobes.0,
            uprobes.1,
            Some("CUDA calls of running processes need CONFIG_UPROBES and CONFIG_BPF_EVENTS"),
        ),
        fact("RDMA", rdma.0, rdma.1, None),
        fact(
            "printk_devkmsg",
            devkmsg.clone().unwrap_or_else(|| "unknown".to_owned()),
            devkmsg.as_deref() != Some("off"),
            Some(
                "sysctl kernel.printk_devkmsg=ratelimit, or boot without printk.devkmsg=off: nobody can \
                 open /dev/kmsg, neither to read the log nor to inject drills",
            ),
        ),
        fact(
            "store",
            match &writable {
                Ok(()) => store_dir.display().to_string(),
                Err(why) => format!("{}: {why}", store_dir.display()),
            },
            writable.is_ok(),
            Some("run as root, or choose another directory with --state-dir"),
        ),
    ]
}

/// In which way CUDA calls of running processes can be traced, and what that costs.
fn uprobes() -> (String, bool) {
    if !host::may_trace() {
        return ("unknown without privileges".to_owned(), true);
    }
    match gtrace_uprobes::survey() {
        Ok(survey) => (survey.to_string(), true),
        Err(error) => (error.to_string(), false),
    }
}

/// What RDMA devices there are for `gtrace exec` and `gtrace serve`, and whether they can be used.
/// That there are none is no fault of a host.
fn rdma() -> (String, bool) {
    match gtrace_link::rdma_devices() {
        Err(error) => (error.to_string(), gtrace_link::has_no_rdma(&error)),
        Ok(devices) => {
            let usable = devices.iter().any(|device| device.state.is_ok());
            let lines: Vec<String> = devices.iter().map(ToString::to_string).collect();
            (lines.join("; "), usable)
        }
    }
}

/// Whether the directory, or the first one above it that exists, can be written.
fn writable(dir: &Path) -> Result<(), String> {
    let existing = dir
        .ancestors()
        .find(|d| d.exists())
        .unwrap_or(Path::new("/"));
    rustix::fs::access(existing, rustix::fs::Access::WRITE_OK).map_err(|e| e.to_string())
}

/// The report for people.
fn text(report: &Report) -> String {
    let mut text = String::new();
    // Writing to a String cannot fail.
    let _ = writeln!(text, "gtrace {} on this host\n", report.version);
    for fact in &report.host {
        let _ = writeln!(text, "  {} {:<16} {}", mark(fact.ok), fact.name, fact.value);
        if let Some(remedy) = fact.remedy {
            let _ = writeln!(text, "      {:<16} -> {remedy}", "");
        }
    }
    let _ = writeln!(text, "\nsources");
    for source in &report.sources {
        let state = match source.state {
            SourceState::Active => "works",
            SourceState::Degraded => "in part",
            SourceState::Absent => "absent",
            SourceState::Failed => "fails",
            SourceState::Off => "off",
        };
        let well = matches!(source.state, SourceState::Active | SourceState::Off);
        let _ = writeln!(
            text,
            "  {} {:<26} {state:<8} {}",
            mark(well),
            source.name,
            source.gives
        );
        if let Some(reason) = &source.reason {
            let mut lines = reason.lines();
            let _ = writeln!(
                text,
                "      {:<34} {}",
                "",
                lines.next().unwrap_or_default()
            );
            for line in lines {
                let _ = writeln!(text, "      {line}");
            }
        }
        if let Some(remedy) = &source.remedy {
            let _ = writeln!(text, "      {:<34} needs {}", "", source.needs);
            let _ = writeln!(text, "      {:<34} -> {remedy}", "");
        }
    }
    if !report.not_looked_at.is_empty() {
        let _ = writeln!(text, "\nnot looked at");
        for what in &report.not_looked_at {
            let _ = writeln!(text, "  {what}");
        }
    }
    let _ = writeln!(text, "\n{}", summary(report));
    text
}

/// How many sources are in which state, and which of them need something done.
fn summary(report: &Report) -> String {
    let of = |state: SourceState| report.sources.iter().filter(move |s| s.state == state);
    let mut text = format!(
        "in short: of {} sources {} work",
        report.sources.len(),
        of(SourceState::Active).count()
    );
    for (state, word) in [
        (SourceState::Degraded, "in part"),
        (SourceState::Absent, "absent"),
        (SourceState::Failed, "fail"),
        (SourceState::Off, "off"),
    ] {
        let count = of(state).count();
        if count > 0 {
            let _ = write!(text, ", {count} {word}");
        }
    }
    let remedied = report.sources.iter().filter(|s| s.remedy.is_some());
    let remedied: Vec<&str> = remedied.map(|s| s.name.as_str()).collect();
    let facts = report.host.iter().filter(|fact| fact.remedy.is_some());
    let to_do: Vec<&str> = facts.map(|fact| fact.name).chain(remedied).collect();
    match to_do.is_empty() {
        true => text.push_str("; nothing to do"),
        false => {
            let _ = write!(text, "; what has a remedy (->): {}", to_do.join(", "));
        }
    }
    text
}

fn mark(ok: bool) -> &'static str {
    if ok { "+" } else { "-" }
}
