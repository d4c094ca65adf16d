//! `gtrace agent`: this host as a part of a fleet.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use gtrace_agent::{
    EnrollError, Enrolled, HeadUrl, HttpUrl, NatsAccess, Options, Progress, Sampler, enroll, now_ns,
};
use gtrace_api::client::Client;
use gtrace_collect::{DaemonState, HostActor, HostSampler};
use gtrace_engine::config::{Config, Keys};
use gtrace_engine::sources::devices::nvml_of;
use gtrace_event::Timestamp;
use gtrace_fleet::nats::check_site;
use gtrace_fleet::{EnrollRequest, HostState, PAGE, check_labels};
use gtrace_http::Archive;
use tokio::sync::{Notify, watch};

use super::nats::{NATS, NatsArgs, nats_of};
use super::shared::{self, Exit, Failure, StorePlace};
use super::signals::signalled;

/// Take this host into a fleet, or ship its records to the head.
#[derive(Clone, Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: What,
}

#[derive(Clone, Debug, clap::Subcommand)]
enum What {
    /// Take this host into a fleet: get a credential for a join token.
    Enroll {
        /// The head: https://head.example.com:7481, or http://127.0.0.1:7480 on its own host.
        #[arg(long, value_name = "URL")]
        head: HttpUrl,
        /// Authorities (PEM) of the head's certificate; those of the system by default.
        #[arg(long, value_name = "FILE", value_parser = absolute)]
        ca: Option<PathBuf>,
        /// The join token, as `gtrace head token` printed it; better in the variable, as other users see arguments.
        #[arg(long, env = "GTRACE_JOIN_TOKEN", hide_env_values = true)]
        token: String,
        /// The host's name in the fleet; by default its own.
        #[arg(long, value_name = "NAME")]
        host: Option<String>,
        #[command(flatten)]
        file: File,
    },
    /// Ship the records of this host's store to the head, until it is stopped. A daemon may write the store meanwhile.
    Run(Box<RunArgs>),
}

/// What is shipped, and by which way.
#[derive(Clone, Debug, clap::Args)]
struct RunArgs {
    /// Where the head is, if not at the URL at which this host was enrolled: NATS servers between them, as in
    /// nats://n1.example.com,n2.example.com.
    #[arg(long, value_name = "URL", env = "GTRACE_HEAD_URL")]
    head: Option<HeadUrl>,
    /// Site of this host, a part of its subjects in NATS.
    #[arg(long, value_name = "NAME", env = "GTRACE_HEAD_SITE", default_value = "default", value_parser = site, help_heading = NATS)]
    site: String,
    #[command(flatten)]
    nats: NatsArgs,
    /// Label of the host, such as rack=r7, switch=s2 or feed=b; may be given several times.
    #[arg(long, value_name = "NAME=VALUE", value_parser = label)]
    label: Vec<(String, String)>,
    /// Most bytes a second to the head, on average.
    #[arg(long, value_name = "BYTES")]
    head_rate: Option<u64>,
    /// Let the head start profiling sessions here: GPUs are read by NVML while one is on, and nothing else is done for it.
    #[arg(long)]
    allow_sessions: bool,
    #[command(flatten)]
    allowed: Allowed,
    #[command(flatten)]
    file: File,
    #[command(flatten)]
    place: StorePlace,
}

/// What the head may ask for beside sessions.
#[derive(Clone, Debug, clap::Args)]
struct Allowed {
    /// What else the head may ask for: the report of an incident, the calls of a process, this host's page, the reset of a GPU or a reboot while no process has a GPU open; may be
    /// given several times. By default nothing.
    #[arg(long, value_name = "WHAT", value_enum)]
    allow: Vec<Allow>,
    /// Program that resets a GPU: it gets `--gpu-reset -i PCI-ADDRESS`.
    #[arg(long, value_name = "PROGRAM", default_value = "nvidia-smi")]
    nvidia_smi: PathBuf,
    /// Program that reboots: it gets `reboot`.
    #[arg(long, value_name = "PROGRAM", default_value = "systemctl")]
    systemctl: PathBuf,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
#[value(rename_all = "snake_case")]
enum Allow {
    /// The report of an incident, as `gtrace report` writes it.
    Report,
    /// The CUDA and driver calls of a process for at most a minute, as `gtrace trace --pid` writes them; needs root.
    Trace,
    /// The page of this host, as its daemon shows it to readers.
    Page,
    /// The reset of a GPU.
    ResetGpu,
    /// A reboot.
    Reboot,
}

impl Allow {
    /// As hosts say it to the head.
    fn name(self) -> String {
        let what = match self {
            Self::Report => "report",
            Self::Trace => "trace",
            Self::Page => PAGE,
            Self::ResetGpu => "reset_gpu",
            Self::Reboot => "reboot",
        };
        what.to_owned()
    }
}

#[derive(Clone, Debug, clap::Args)]
struct File {
    /// File with the credential, which only its owner may read.
    #[arg(
        long,
        value_name = "PATH",
        env = "GTRACE_HEAD_CREDENTIAL",
        default_value = "/var/lib/gtrace/head.json"
    )]
    credential: PathBuf,
}

/// The agent may be started in another folder.
fn absolute(text: &str) -> Result<PathBuf, String> {
    std::path::absolute(text).map_err(|error| error.to_string())
}

fn label(text: &str) -> Result<(String, String), String> {
    let (name, value) = text
        .split_once('=')
        .ok_or("a label is NAME=VALUE, as rack=r7")?;
    let pair = (name.to_owned(), value.to_owned());
    check_labels(&BTreeMap::from([pair.clone()]))?;
    Ok(pair)
}

/// All labels of a host, as a head takes them: it refuses each state with others.
fn labels_of(given: Vec<(String, String)>) -> Result<BTreeMap<String, String>, Failure> {
    let mut labels = BTreeMap::new();
    for (name, value) in given {
        if labels.contains_key(&name) {
            let why = format!("label {name} is given twice: leave one of them out");
            return Err(Failure::usage(why));
        }
        labels.insert(name, value);
    }
    check_labels(&labels).map_err(Failure::usage)?;
    Ok(labels)
}

fn site(text: &str) -> Result<String, String> {
    check_site(text).map(|()| text.to_owned())
}

/// Runs the command.
///
/// # Errors
///
/// Why it is not done; what standard output says, a closed pipe aside; a configuration that is refused.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    match args.command {
        What::Enroll {
            head,
            token,
            host,
            ca,
            file,
        } => join(&head, ca.as_deref(), token, host, &file.credential),
        What::Run(args) => ship(*args),
    }
}

fn join(
    head: &HttpUrl,
    ca: Option<&Path>,
    token: String,
    host: Option<String>,
    file: &Path,
) -> anyhow::Result<ExitCode> {
    // Enrolling uses the token up: first see that its answer can be kept.
    let folder = file
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    tempfile::tempfile_in(folder.unwrap_or(Path::new("."))).map_err(|cause| {
        failed(EnrollError::File {
            path: file.to_owned(),
            cause,
        })
    })?;
    let request = EnrollRequest {
        token,
        host: host.unwrap_or_else(gtrace_engine::host::name),
        machine_id: gtrace_engine::host::machine_id(),
        simulated: false,
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let done = runtime
        .block_on(enroll(head, ca, &request))
        .and_then(|enrolled| enrolled.write(file));
    done.map_err(failed)?;
    let file = file.display();
    shared::print(&format!(
        "{} is in the fleet of {head}; its credential is in {file}\n",
        request.host
    ))?;
    Ok(Exit::Success.into())
}

fn failed(error: EnrollError) -> Failure {
    let exit = match &error {
        EnrollError::Head(error) if error.is_final() => Exit::Problem,
        _ => Exit::NotPossible,
    };
    Failure(exit, error.to_string())
}

fn ship(args: RunArgs) -> anyhow::Result<ExitCode> {
    let RunArgs {
        head,
        site,
        nats,
        label,
        head_rate: rate,
        allow_sessions,
        allowed,
        file,
        place,
    } = args;
    if !matches!(head, Some(HeadUrl::Nats(_)))
        && let Some(why) = nats.without_servers("--head nats://HOST")
    {
        return Err(Failure::usage(why).into());
    }
    let labels = labels_of(label)?;
    super::run::init_log();
    let instance = place.resolve()?;
    let store = instance.store().map_err(Failure::not_possible)?.to_owned();
    let enrolled = Enrolled::read(&file.credential).map_err(failed)?;
    let access = |url| NatsAccess {
        access: nats.access(url),
        site,
    };
    let nats = match &head {
        Some(head) => nats_of(head, &enrolled, access)?,
        None => None,
    };
    let to = match &nats {
        Some(nats) => format!("{} (site {})", nats.access.url, nats.site),
        None => enrolled.head.clone(),
    };
    tracing::info!("{} ships {} to {to}", enrolled.host, store.display());
    let daemon = instance.reading_client();
    let mut permits: Vec<String> = allowed.allow.into_iter().map(Allow::name).collect();
    permits.sort();
    permits.dedup();
    let actor = HostActor {
        permits,
        store: store.clone(),
        daemon: daemon.clone(),
        gtrace: "/proc/self/exe".into(),
        nvidia_smi: allowed.nvidia_smi,
        systemctl: allowed.systemctl,
        generator: format!("gtrace {}", env!("CARGO_PKG_VERSION")),
    };
    let options = Options {
        enrolled,
        nats,
        store: store.clone(),
        labels,
        rate,
        allow_sessions,
        actor: Some(Arc::new(actor)),
        clock: Arc::new(now_ns),
    };
    let sampler = sampler_of(place.config(), daemon.clone());
    let (stop, stopped) = watch::channel(false);
    let woken = Arc::<Notify>::default();
    let wake = Arc::clone(&woken);
    let of_daemon = DaemonState::start(daemon, move || wake.notify_one())?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    runtime.block_on(async {
        tokio::spawn(async move {
            let _ = signalled().await;
            let _ = stop.send(true);
        });
        let state = || {
            let mut state = HostState {
                kernel: Some(gtrace_engine::host::kernel_release()),
                ..state_of(&store)
            };
            of_daemon.add_to(&mut state);
            state
        };
        let sampler = Some(sampler);
        gtrace_agent::run(options, state, sampler, woken, Progress::default(), stopped).await
    })?;
    Ok(Exit::Success.into())
}

/// Reads the GPUs with the NVML of the daemon's configuration.
fn sampler_of(config: Option<&Path>, daemon: Client) -> Box<dyn Sampler> {
    let config =
        Config::load(config, Keys::default()).or_else(|_| Config::from_keys(Config::defaults()));
    let nvml = move || match &config {
        Ok(config) => nvml_of(config),
        Err(_) => gtrace_devices::NvmlConfig::this_program(),
    };
    Box::new(HostSampler::new(Box::new(nvml), daemon))
}

/// The state of a host as its store has it.
pub(super) fn state_of(store: &Path) -> HostState {
    let mut state = HostState {
        time: Timestamp::now(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        ..HostState::default()
    };
    let Ok(archive) = Archive::open(store) else {
        return state;
    };
    state.health = archive.health().ok().flatten();
    let open = gtrace_store::IncidentFilter {
        unresolved: true,
        limit: Some(32),
        ..gtrace_store::IncidentFilter::default()
    };
    state.incidents = archive.incidents(&open).unwrap_or_default();
    state.boot_id = state
        .health
        .as_ref()
        .and_then(|health| health.boot_id.clone());
    state
}
