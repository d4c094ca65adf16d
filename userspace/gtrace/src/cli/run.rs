//! `gtrace run`: the daemon.

mod start;

use std::io::{IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use anyhow::Context as _;
use gtrace_devices::{PciTree, SysRoot};
use gtrace_event::{Provenance, Record, Timestamp};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::{broadcast, mpsc, watch};

use self::start::{
    LogThread, catalogue, driver_version, first_status, nothing_to_watch, open_store, start_kmsg,
    start_probes,
};
use super::{NOT_POSSIBLE, USAGE};
use crate::api::{self, ApiConfig, Bound};
use crate::config::{Config, Keys};
use crate::cuda;
use crate::hub::{Command, Hub, SourceState, Status};
use crate::pipeline::{self, CoreOptions, Input, InputSender};
use crate::render::{self, ColorChoice, Style};
use crate::sources::driver::DriverHold;
use crate::sources::probes::Manager;
use crate::sources::{devices, look};
use crate::{host, memory, privileges};

pub(crate) use self::start::{explain_load, try_probes};

/// Between looks at gtrace's own footprint.
const FOOTPRINT_EVERY: Duration = Duration::from_secs(5);

/// Grown by so many bytes, what the allocator keeps and nothing uses goes back to the kernel.
const GIVEN_BACK_BEYOND: u64 = 2 << 20;

/// So many bytes given back are reason to try once more at the next look: what was in use then may not be now.
const WORTH_IT: u64 = 256 << 10;

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

pub(super) fn init_log() {
    init_log_to(std::io::stderr);
}

/// As [`init_log`], to another place than standard error.
pub(super) fn init_log_to<W>(writer: W)
where
    W: for<'w> tracing_subscriber::fmt::MakeWriter<'w> + Send + Sync + 'static,
{
    let filter = tracing_subscriber::EnvFilter::try_from_env("GTRACE_LOG")
        .unwrap_or_else(|_| tracing_subscriber::EnvFilter::new("info"));
    // Under systemd the journal stamps the lines.
    let journal = std::env::var_os("JOURNAL_STREAM").is_some();
    let builder = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(writer)
        // A full disk, or a reader that is gone, is no reason to end: it would be told on stderr, by
        // a macro that panics where nothing can be written.
        .log_internal_errors(false)
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
    cuda: Option<cuda::Service>,
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
            if let Err(error) = privileges::drop_unneeded(keep_stats, config.cuda_api) {
                tracing::warn!("privileges that are not needed are kept: {error:#}");
            }
        }
        let (hub, commands) = Hub::new(first_status());
        let (look_soon, looks) = look::channel();
        let core = pipeline::spawn(CoreOptions {
            hub: Arc::clone(&hub),
            catalogue,
            store,
            store_path: config.store(),
            fold_window: config.fold_window,
            host: host::name(),
            boot_id: host::boot_id(),
            tree: PciTree::read(&SysRoot(config.sysfs_root.clone())),
            look_soon,
        })?;
        let inputs = core.inputs.clone();
        let driver = driver_version(&config);
        let hold = Arc::new(DriverHold::default());
        let probes = start_probes(&config, args.probe_log, &hub, &inputs, driver, &hold);
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
        let devices = devices::Watcher::start(&config, Arc::clone(&hub), inputs, looks, hold)
            .context("the thread that looks at the devices cannot be started")?;
        let cuda = cuda_calls(&config, &hub)?;
        memory::give_back();
        Ok(Self {
            hub,
            bound,
            commands,
            core,
            probes,
            log,
            devices,
            cuda,
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
            cuda,
        } = self;
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .max_blocking_threads(4)
            .thread_keep_alive(Duration::from_secs(2))
            .build()
            .context("the runtime cannot be started")?;
        let probes_pauser = probes.as_ref().map(Manager::pauser);
        let cuda_pauser = cuda.as_ref().map(cuda::Service::pauser);
        let pauser = probes_pauser.map(|of_probes| {
            move |pause| {
                of_probes(pause);
                if let Some(of_cuda) = &cuda_pauser {
                    of_cuda(pause);
                }
            }
        });
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
        if let Some(cuda) = cuda {
            cuda.stop();
        }
        devices.stop();
        core.finish();
        Ok(ExitCode::SUCCESS)
    }
}

/// The thread that counts CUDA calls, if that is asked for.
fn cuda_calls(config: &Config, hub: &Arc<Hub>) -> anyhow::Result<Option<cuda::Service>> {
    if !config.cuda_api {
        return Ok(None);
    }
    let options = cuda::ServiceOptions {
        hub: Arc::clone(hub),
        budget: config.cuda_api_budget,
    };
    cuda::Service::start(options)
        .context("the thread that counts CUDA calls cannot be started")
        .map(Some)
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
    let mut least = u64::MAX;
    let mut again = false;
    loop {
        let (mut rss_anon_bytes, cpu_seconds) = memory::footprint();
        let grown = rss_anon_bytes > least.saturating_add(GIVEN_BACK_BEYOND);
        if grown || again {
            // An answer of the API or a driver's probes took it for a moment, and the allocator has
            // kept it. What is in use is the measure from now on, once that brings no more.
            memory::give_back();
            let before = std::mem::replace(&mut rss_anon_bytes, memory::footprint().0);
            least = rss_anon_bytes;
            again = grown || before.saturating_sub(rss_anon_bytes) >= WORTH_IT;
        }
        least = least.min(rss_anon_bytes);
        hub.update_status(|status| {
            status.footprint.rss_anon_bytes = rss_anon_bytes;
            status.footprint.cpu_seconds = cpu_seconds;
        });
        tokio::time::sleep(FOOTPRINT_EVERY).await;
    }
}
