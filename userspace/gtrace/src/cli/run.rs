//! `gtrace run`: the daemon.

use std::io::{IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use anyhow::Context as _;
use gtrace_catalogue::Catalogue;
use gtrace_decoder::DriverVersion;
use gtrace_event::{Provenance, Record, Timestamp, WitnessName};
use gtrace_store::Store;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::{broadcast, mpsc, watch};

use super::{NOT_POSSIBLE, USAGE};
use crate::api::{self, ApiConfig, Bound};
use crate::bpf::{self, AttachState, Probes, ProbesOptions, Tracefs};
use crate::config::{Config, Keys};
use crate::hub::{Command, Footprint, Hub, SourceState, Status};
use crate::pipeline::{self, CoreOptions, Input, InputSender, Told};
use crate::render::{self, ColorChoice, Style};
use crate::sources::probes::{Manager, ManagerOptions, loss};
use crate::sources::table::{self, show};
use crate::sources::{devices, kmsg};
use crate::{host, memory, privileges};

/// Between looks at gtrace's own footprint.
const FOOTPRINT_EVERY: Duration = Duration::from_secs(5);

/// Between looks at whether the core still runs.
const ALIVE_EVERY: Duration = Duration::from_secs(5);

/// Watch this host.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// Configuration file; by default /etc/gtrace/gtrace.toml, which need not exist.
    #[arg(long, env = "GTRACE_CONFIG")]
    config: Option<PathBuf>,
    #[command(flatten)]
    keys: Keys,
    /// Load the probes that log what they do, for debugging them; costs more.
    #[arg(long)]
    probe_log: bool,
    /// Keep all privileges.
    #[arg(long)]
    keep_privileges: bool,
    /// Print no events, only the log.
    #[arg(long, short)]
    quiet: bool,
}

/// Runs the command.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    memory::few_arenas();
    init_log();
    let config = match Config::load(args.config.as_deref(), args.keys.clone()) {
        Ok(config) => config,
        Err(error) => {
            eprintln!("gtrace: {error}");
            return Ok(ExitCode::from(USAGE));
        }
    };
    match Daemon::start(config, &args) {
        Ok(daemon) => daemon.serve(args.quiet),
        Err(error) => {
            eprintln!("gtrace: {error:#}");
            Ok(ExitCode::from(NOT_POSSIBLE))
        }
    }
}

fn init_log() {
    let filter = tracing_subscriber::EnvFilter::try_from_env("GTRACE_LOG")
        .unwrap_or_else(|_| tracing_subscriber::EnvFilter::new("info"));
    // Under systemd the journal stamps the lines.
    let journal = std::env::var_os("JOURNAL_STREAM").is_some();
    let builder = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .with_ansi(std::io::stderr().is_terminal())
        .with_target(false);
    // A second initialisation, in tests, is no harm.
    let _ = if journal {
        builder.without_time().try_init()
    } else {
        builder.try_init()
    };
}

struct Daemon {
    hub: Arc<Hub>,
    bound: Bound,
    commands: mpsc::UnboundedReceiver<Command>,
    core: pipeline::Core,
    probes: Option<Manager>,
    log: Option<LogThread>,
    devices: devices::Watcher,
}

struct LogThread {
    stop: Arc<AtomicBool>,
    thread: JoinHandle<()>,
}

impl Daemon {
    fn start(config: Config, args: &Args) -> anyhow::Result<Self> {
        let catalogue = catalogue(&config)?;
        let store = open_store(&config)?;
        let bound = api::bind(&ApiConfig {
            socket: Some(config.socket.clone()),
            listen: config.listen,
            store: config.store(),
        })?;
        // Capabilities belong to threads: before any other is started.
        if !args.keep_privileges && host::is_root() {
            let keep_stats = config.probe_cost_interval.is_some();
            if let Err(error) = privileges::drop_unneeded(keep_stats) {
                tracing::warn!("privileges that are not needed are kept: {error:#}");
            }
        }
        let (hub, commands) = Hub::new(first_status());
        let core = pipeline::spawn(CoreOptions {
            hub: Arc::clone(&hub),
            catalogue,
            store,
            store_path: config.store(),
            fold_window: config.fold_window,
            host: host::name(),
            boot_id: host::boot_id(),
        })?;
        let inputs = core.inputs.clone();
        let driver = driver_version(&config);
        let probes = start_probes(&config, args, &hub, &inputs, driver);
        let log = start_kmsg(&config, &hub, &core, driver);
        let (probes, log) = match (probes, log) {
            (Err(probes), Err(log)) => {
                core.finish();
                return Err(nothing_to_watch(&probes, &log));
            }
            (probes, log) => {
                let complain = |what: &str, error: &anyhow::Error| {
                    tracing::warn!("{what}: {error:#}; `gtrace doctor` says more");
                };
                let probes = probes.inspect_err(|e| complain("no probes", e)).ok();
                let log = log.inspect_err(|e| complain("no /dev/kmsg", e)).ok();
                (probes, log)
            }
        };
        let devices = devices::Watcher::start(&config, Arc::clone(&hub), inputs)
            .context("the thread that looks at the devices cannot be started")?;
        memory::give_back();
        Ok(Self {
            hub,
            bound,
            commands,
            core,
            probes,
            log,
            devices,
        })
    }

    fn serve(self, quiet: bool) -> anyhow::Result<ExitCode> {
        let Self {
            hub,
            bound,
            mut commands,
            core,
            probes,
            log,
            devices,
        } = self;
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .max_blocking_threads(4)
            .thread_keep_alive(Duration::from_secs(2))
            .build()
            .context("the runtime cannot be started")?;
        let pauser = probes.as_ref().map(Manager::pauser);
        let inputs = core.inputs.clone();
        runtime.block_on(async {
            let (stop, stopped) = watch::channel(false);
            let tcp = bound.tcp_addr();
            let socket = bound.socket().map(Path::to_path_buf);
            let server = tokio::spawn(api::serve(bound, Arc::clone(&hub), stopped));
            if !quiet {
                let stream = hub.subscribe();
                // Whoever reads the output may stop reading: nothing else waits for this thread.
                std::thread::Builder::new()
                    .name("gtrace-print".to_owned())
                    .spawn(move || print_events(stream))?;
            }
            tokio::spawn(watch_footprint(Arc::clone(&hub)));
            tokio::spawn(async move {
                while let Some(command) = commands.recv().await {
                    route(command, pauser.as_ref(), &inputs);
                }
            });
            greet(&hub.status(), socket.as_deref(), tcp);
            notify(&[sd_notify::NotifyState::Ready]);
            let ended = wait_for_signal(|| core.is_alive()).await?;
            notify(&[sd_notify::NotifyState::Stopping]);
            tracing::info!("stopping");
            // The server may have ended by itself.
            let _ = stop.send(true);
            let _ = tokio::time::timeout(Duration::from_secs(2), server).await;
            anyhow::ensure!(
                ended == Ended::Asked,
                "the core's thread has ended: see above"
            );
            anyhow::Ok(())
        })?;
        if let Some(probes) = probes {
            probes.stop();
        }
        if let Some(log) = log {
            log.stop.store(true, Ordering::Relaxed);
            if log.thread.join().is_err() {
                tracing::error!("the thread that reads the kernel log panicked");
            }
        }
        devices.stop();
        core.finish();
        Ok(ExitCode::SUCCESS)
    }
}

fn catalogue(config: &Config) -> anyhow::Result<Catalogue> {
    let mut catalogue = Catalogue::builtin();
    if let Some(path) = &config.site_policy {
        let text = std::fs::read_to_string(path)
            .with_context(|| format!("site policy {} cannot be read", path.display()))?;
        catalogue
            .load_site_policy(&text)
            .with_context(|| format!("site policy {} is refused", path.display()))?;
    }
    Ok(catalogue)
}

fn open_store(config: &Config) -> anyhow::Result<Store> {
    let options = gtrace_store::Options {
        retention_age: config.retention_age,
        retention_bytes: config.retention_bytes,
        ..gtrace_store::Options::default()
    };
    let store = Store::open(&config.store(), options)?;
    if let Some(moved) = store.moved_aside() {
        tracing::error!("the store was damaged and set aside: {moved:?}");
    }
    Ok(store)
}

fn first_status() -> Status {
    Status {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        pid: std::process::id(),
        host: host::name(),
        boot_id: host::boot_id(),
        started: Timestamp::now(),
        paused: false,
        last_seq: 0,
        events: std::collections::BTreeMap::new(),
        sources: table::initial(),
        probes: Vec::new(),
        footprint: Footprint::default(),
        store_problem: None,
    }
}

fn driver_version(config: &Config) -> Option<DriverVersion> {
    let root = gtrace_devices::ProcRoot(config.proc_root.clone());
    DriverVersion::parse(&gtrace_devices::DriverVersion::read(&root)?.version)
}

fn start_probes(
    config: &Config,
    args: &Args,
    hub: &Arc<Hub>,
    inputs: &InputSender,
    driver: Option<DriverVersion>,
) -> anyhow::Result<Manager> {
    let fail = |error: anyhow::Error| {
        for probe in &bpf::PROBES {
            show(
                hub,
                probe.witness,
                SourceState::Failed,
                Some(format!("{error:#}")),
            );
        }
        error
    };
    let start = || -> anyhow::Result<Manager> {
        let tracefs = Tracefs::find()?;
        let layout = bpf::read_layout(&tracefs);
        let options = ProbesOptions {
            log: args.probe_log,
            off: config.off.clone(),
            ring_bytes: config.ring_bytes,
        };
        let probes = Probes::load(layout, options).map_err(|error| explain_load(&error))?;
        let options = ManagerOptions {
            hub: Arc::clone(hub),
            inputs: inputs.clone(),
            config: config.clone(),
            driver,
        };
        Ok(Manager::start(probes, tracefs, options)?)
    };
    start().map_err(fail)
}

/// A failed load with the most likely reasons on this host.
pub(crate) fn explain_load(error: &bpf::LoadError) -> anyhow::Error {
    let mut text = error.to_string();
    if !host::may_trace() {
        text += "; this process lacks CAP_BPF and CAP_PERFMON: run it with sudo";
    }
    if host::lockdown().is_some_and(|mode| mode == "confidentiality") {
        text += "; the kernel is locked down (confidentiality), which forbids BPF to read kernel \
                 memory: boot with lockdown=integrity or less";
    }
    anyhow::anyhow!(text)
}

fn nothing_to_watch(probes: &anyhow::Error, log: &anyhow::Error) -> anyhow::Error {
    let remedy = if host::is_root() {
        "`gtrace doctor` says what this host lacks and how to get it"
    } else {
        "run it with sudo"
    };
    anyhow::anyhow!(
        "there is nothing to watch here: the probes fail ({probes:#}), and the kernel log cannot \
         be read ({log:#}); {remedy}"
    )
}

fn start_kmsg(
    config: &Config,
    hub: &Arc<Hub>,
    core: &pipeline::Core,
    driver: Option<DriverVersion>,
) -> anyhow::Result<LogThread> {
    if config.off.contains(&WitnessName::Kmsg) {
        anyhow::bail!("switched off by configuration");
    }
    let path = Path::new(kmsg::PATH);
    let opened = kmsg::Reader::open(path, core.kmsg_after);
    let mut reader = match opened {
        Ok(reader) => reader,
        Err(error) => {
            show(
                hub,
                WitnessName::Kmsg,
                SourceState::Failed,
                Some(error.to_string()),
            );
            return Err(anyhow::anyhow!("{} cannot be read: {error}", kmsg::PATH));
        }
    };
    reader.set_driver_version(driver);
    if let Err(error) = kmsg::announce(path, env!("CARGO_PKG_VERSION")) {
        tracing::debug!("the kernel log takes no line: {error}");
    }
    show(hub, WitnessName::Kmsg, SourceState::Active, None);
    let stop = Arc::new(AtomicBool::new(false));
    let (hub, inputs, stopping) = (Arc::clone(hub), core.inputs.clone(), Arc::clone(&stop));
    let thread = std::thread::Builder::new()
        .name("gtrace-kmsg".to_owned())
        .spawn(move || {
            let result = reader.run(&stopping, |told| pass_on(told, &hub, &inputs));
            if let Err(error) = result {
                tracing::error!("{} is lost: {error}", kmsg::PATH);
                show(
                    &hub,
                    WitnessName::Kmsg,
                    SourceState::Failed,
                    Some(error.to_string()),
                );
            }
        })?;
    Ok(LogThread { stop, thread })
}

fn pass_on(told: kmsg::Told, hub: &Hub, inputs: &InputSender) {
    // The core ends after this thread.
    let send = |input| {
        let _ = inputs.send(input);
    };
    match told {
        kmsg::Told::Occurrence { occurrence, .. } => {
            send(Told::once(WitnessName::Kmsg, *occurrence));
        }
        kmsg::Told::Lost { first, last } => {
            let lost = last - first + 1;
            hub.metrics.count_lost("/dev/kmsg", "overwritten", lost);
            let mut told = loss("/dev/kmsg", lost, "overwritten before they were read");
            told.detail.source.first_seq = Some(first);
            told.detail.source.last_seq = Some(last);
            send(Told::once(WitnessName::Kmsg, told));
        }
        kmsg::Told::Progress { seq, records } => {
            hub.metrics.count_records(WitnessName::Kmsg, records);
            send(Input::KmsgProgress(seq));
        }
        kmsg::Told::Garbled => hub.metrics.count_lost("/dev/kmsg", "unreadable", 1),
    }
}

fn route(command: Command, pauser: Option<&impl Fn(bool)>, inputs: &InputSender) {
    match command {
        Command::Pause(pause, answer) => {
            let result = pauser
                .map(|p| p(pause))
                .ok_or_else(|| "no probe is loaded".to_owned());
            // Whoever asked may have given up.
            let _ = answer.send(result);
        }
        other => {
            if inputs.try_send(Input::Command(other)).is_err() {
                tracing::warn!("the core is too busy for a request");
            }
        }
    }
}

fn greet(status: &Status, socket: Option<&Path>, tcp: Option<std::net::SocketAddr>) {
    let names = |state| {
        let of_state = status.sources.iter().filter(|s| s.state == state);
        of_state
            .map(|s| s.name.as_str())
            .collect::<Vec<_>>()
            .join(", ")
    };
    tracing::info!(
        "gtrace {} watches {}",
        status.version,
        names(SourceState::Active)
    );
    for state in [SourceState::Failed, SourceState::Absent] {
        let missing = names(state);
        if !missing.is_empty() {
            tracing::info!("without {missing}: `gtrace doctor` says why");
        }
    }
    if let Some(socket) = socket {
        tracing::info!("API at {}", socket.display());
    }
    if let Some(tcp) = tcp {
        tracing::info!("API at http://{tcp}, metrics at http://{tcp}/metrics");
    }
}

fn notify(state: &[sd_notify::NotifyState<'_>]) {
    if let Err(error) = sd_notify::notify(state) {
        tracing::debug!("systemd is not told: {error}");
    }
}

/// Why the daemon ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ended {
    /// SIGTERM or SIGINT.
    Asked,
    /// The thread that makes events is gone; only a new process helps.
    CoreGone,
}

async fn wait_for_signal(core_lives: impl Fn() -> bool) -> anyhow::Result<Ended> {
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    let watchdog = sd_notify::watchdog_enabled().map(|period| period / 2);
    let tick = watchdog.map_or(ALIVE_EVERY, |w| w.min(ALIVE_EVERY));
    loop {
        tokio::select! {
            _ = terminate.recv() => return Ok(Ended::Asked),
            _ = interrupt.recv() => return Ok(Ended::Asked),
            () = tokio::time::sleep(tick) => {
                if !core_lives() {
                    return Ok(Ended::CoreGone);
                }
                if watchdog.is_some() {
                    notify(&[sd_notify::NotifyState::Watchdog]);
                }
            }
        }
    }
}

fn print_events(mut stream: broadcast::Receiver<Arc<crate::hub::Published>>) {
    let terminal = std::io::stdout().is_terminal();
    let style = Style::of_stdout(ColorChoice::Auto);
    loop {
        let published = match stream.blocking_recv() {
            Ok(published) => published,
            Err(broadcast::error::RecvError::Lagged(n)) => {
                tracing::warn!("{n} records are not printed here; `gtrace events` has them");
                continue;
            }
            Err(broadcast::error::RecvError::Closed) => return,
        };
        let text = match &published.record {
            Record::Event(event) if terminal => render::event(event, &style, Timestamp::now()),
            Record::Event(event) => render::line(event, &style),
            // On a terminal somebody looks on: who wrote it, and repeats, are worth a line.
            Record::Amendment(amendment)
                if terminal && published.event.provenance != Provenance::Injected =>
            {
                render::amendment(&published.event, amendment, &style)
            }
            Record::Amendment(_) => continue,
            Record::Ack(ack) => render::ack(&published.event, ack, &style),
        };
        // Nobody may be reading any more; the daemon goes on.
        let _ = writeln!(std::io::stdout(), "{}", text.trim_end_matches('\n'));
    }
}

async fn watch_footprint(hub: Arc<Hub>) {
    loop {
        let (rss_anon_bytes, cpu_seconds) = memory::footprint();
        hub.update_status(|status| {
            status.footprint.rss_anon_bytes = rss_anon_bytes;
            status.footprint.cpu_seconds = cpu_seconds;
        });
        tokio::time::sleep(FOOTPRINT_EVERY).await;
    }
}

/// How a probe stands when tried once: what `gtrace doctor` asks.
pub(crate) fn try_probes() -> anyhow::Result<std::collections::BTreeMap<WitnessName, AttachState>> {
    let tracefs = Tracefs::find()?;
    let layout = bpf::read_layout(&tracefs);
    let mut probes =
        Probes::load(layout, ProbesOptions::default()).map_err(|error| explain_load(&error))?;
    probes.attach(&tracefs);
    let states = probes.states().clone();
    probes.detach();
    Ok(states)
}
