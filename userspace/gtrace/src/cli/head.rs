//! `gtrace head`: the head of a fleet.

use std::fs::DirBuilder;
use std::net::SocketAddr;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Context as _;
use gtrace_api::client::Client;
use gtrace_head::db::Place;
use gtrace_head::http::{Gswarm, Listen, ListenError, RemoteWrite, bind, serve};
use gtrace_head::remediation::Remediation;
use gtrace_head::{Nats, TokenAnswer, TokenRequest};
use gtrace_nats::NatsUrl;
use gtrace_tls::AccessFiles;
use tokio::sync::watch;

use super::ack::user_name;
use super::duration::{seconds, whole_seconds};
use super::nats::{NATS, NatsArgs};
use super::other_host::HEAD_SOCKET;
use super::shared::{self, Exit, Failure};
use super::signals::signalled;

/// Open files: the connections that a head takes, and its own.
const FILES: u64 = 21_000;

const DATABASE: &str = "/var/lib/gtrace-head/fleet.db";
/// Headings of options.
const REMOTE_WRITE: &str = "Remote write";
const GSWARM: &str = "gswarm-profiler";
/// How long what waits for others, as for a receiver of metrics that hangs, or reads for long may go on when the head ends.
const BLOCKED: Duration = Duration::from_secs(1);

/// Serve as the head of a fleet: take the records of many hosts, and answer questions about all of them.
///
/// Agents come with the credential that `gtrace agent enroll` got for a join token of `gtrace head token`: over TLS, or over TCP on
/// loopback. People read on loopback; over TLS they show a token or a client certificate (`gtrace token new`); over the Unix socket
/// they may do everything.
#[derive(Clone, Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct Args {
    #[command(subcommand)]
    command: Option<What>,
    /// Address for agents and readers, on loopback.
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:7480")]
    listen: SocketAddr,
    /// Address for other hosts, over TLS 1.3: 0.0.0.0:7481.
    #[arg(long, value_name = "ADDRESS", requires_all = ["tls_cert", "tls_key"])]
    listen_https: Option<SocketAddr>,
    /// The head's certificate, with those between it and its authority (PEM).
    #[arg(long, value_name = "FILE", requires = "listen_https")]
    tls_cert: Option<PathBuf>,
    /// Its private key (PEM).
    #[arg(long, value_name = "FILE", requires = "listen_https")]
    tls_key: Option<PathBuf>,
    /// Authorities whose certificates people may show instead of a token (PEM).
    #[arg(long, value_name = "FILE", requires = "listen_https")]
    tls_client_ca: Option<PathBuf>,
    /// Certificates that those authorities have revoked (PEM).
    #[arg(long, value_name = "FILE", requires = "tls_client_ca")]
    tls_client_crl: Option<PathBuf>,
    /// Tokens and certificates of people, as `gtrace token new` writes them.
    #[arg(long, value_name = "FILE", default_value = gtrace_tls::DEFAULT_CREDENTIALS)]
    credentials: PathBuf,
    /// Unix socket for who may change something.
    #[arg(long, value_name = "PATH", default_value = HEAD_SOCKET)]
    socket: PathBuf,
    /// Database: a file, or the URL of a PostgreSQL server: postgresql://USER:PASSWORD@HOST/DATABASE. One of another host is reached over
    /// TLS; libpq's sslmode, sslrootcert, sslcert and sslkey in the URL are understood.
    #[arg(long, value_name = "PLACE", env = "GTRACE_HEAD_DATABASE", default_value = DATABASE, hide_env_values = true)]
    database: String,
    /// Days for which records are kept, and sessions after their end; 0 for ever.
    #[arg(long, value_name = "N", default_value_t = 90)]
    retention_days: u32,
    /// Policy of remediation: what is done about which faults (TOML). It is dry unless it says otherwise.
    #[arg(long, value_name = "FILE")]
    remediation: Option<PathBuf>,
    /// Push the metrics of the fleet to Prometheus, or what takes its remote write: https://HOST/api/v1/write. Where several heads share a
    /// database, one of them does.
    #[arg(long, value_name = "URL", help_heading = REMOTE_WRITE)]
    remote_write: Option<String>,
    /// User, where the receiver wants one; the token is its password then.
    #[arg(long, value_name = "NAME", requires = "remote_write", help_heading = REMOTE_WRITE)]
    remote_write_user: Option<String>,
    /// File with a bearer token.
    #[arg(long, value_name = "FILE", requires = "remote_write", help_heading = REMOTE_WRITE)]
    remote_write_token_file: Option<PathBuf>,
    /// Authorities of the receiver's certificate (PEM); those of the system by default.
    #[arg(long, value_name = "FILE", requires = "remote_write", help_heading = REMOTE_WRITE)]
    remote_write_ca: Option<PathBuf>,
    /// Between two rounds.
    #[arg(long, value_name = "TIME", default_value = "30s", value_parser = seconds, requires = "remote_write", help_heading = REMOTE_WRITE)]
    remote_write_every: Duration,
    /// NATS servers through which agents come too, with JetStream: nats://n1.example.com,n2.example.com,n3.example.com. The streams are made
    /// where they are not there.
    #[arg(long, value_name = "URL", env = "GTRACE_HEAD_NATS", help_heading = NATS)]
    nats: Option<NatsUrl>,
    #[command(flatten)]
    nats_files: NatsArgs,
    /// How many servers keep each stream that this head makes; an existing one stays as it is.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u8).range(1..=5), requires = "nats", help_heading = NATS)]
    nats_replicas: u8,
    /// How long a head may take for a message, before another head gets it.
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = seconds, requires = "nats", help_heading = NATS)]
    nats_ack_wait: Duration,
    /// Port on loopback for the routes of gswarm-profiler's head: POST /start, /start/NAME and /stop.
    #[arg(long, value_name = "PORT", help_heading = GSWARM)]
    gswarm_port: Option<u16>,
    /// Length of a frame of sessions that are started there.
    #[arg(long, value_name = "TIME", default_value = "500ms", value_parser = super::session::interval, requires = "gswarm_port", help_heading = GSWARM)]
    gswarm_interval: u32,
    /// Folder for the files of these sessions.
    #[arg(long, value_name = "PATH", default_value = ".", requires = "gswarm_port", help_heading = GSWARM)]
    gswarm_folder: PathBuf,
    /// Show a fleet of ten simulated hosts, with drills, in a folder that is removed at the end.
    #[arg(long, conflicts_with_all = ["database", "retention_days"])]
    demo: bool,
}

#[derive(Clone, Debug, clap::Subcommand)]
enum What {
    /// Make a join token, by which hosts come into the fleet.
    Token(Token),
}

#[derive(Clone, Debug, clap::Args)]
struct Token {
    /// Only the host of this name may use it, also where another machine had the name.
    #[arg(long, value_name = "NAME")]
    host: Option<String>,
    /// For how long it is good, up to 7d.
    #[arg(long = "for", value_name = "TIME", default_value = "1h", value_parser = seconds)]
    length: Duration,
    /// How many hosts may use it.
    #[arg(long, value_name = "N", default_value_t = 1)]
    uses: u32,
    /// The head's Unix socket.
    #[arg(long, value_name = "PATH", default_value = HEAD_SOCKET)]
    socket: PathBuf,
}

/// Runs the command.
///
/// # Errors
///
/// Why it is not done; what standard output says, a closed pipe aside; why the head cannot serve.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    match &args.command {
        Some(What::Token(asked)) => token(asked),
        None => head(args),
    }
}

fn token(asked: &Token) -> anyhow::Result<ExitCode> {
    let request = TokenRequest {
        host: asked.host.clone(),
        for_s: whole_seconds(asked.length),
        uses: asked.uses,
        by: user_name(),
    };
    let client = Client::unix(&asked.socket);
    let answer = client.post::<TokenAnswer>("/fleet/v1/tokens", &request);
    let answer = answer.map_err(super::fleet::failure)?;
    shared::print(&format!("{}\n", answer.token))?;
    Ok(Exit::Success.into())
}

/// Each agent is a connection, which is a file.
fn many_files() {
    let now = shared::many_files(FILES);
    if now < FILES {
        tracing::info!(
            "at most {now} agents and readers can be connected: it takes more than {now} open files (`ulimit -Hn`, \
             LimitNOFILE= of a unit) for more"
        );
    }
}

/// The folder of the database that nobody named, as the unit makes it.
fn make_database_folder(database: &Path) -> anyhow::Result<()> {
    let Some(folder) = database.parent() else {
        return Ok(());
    };
    let made = DirBuilder::new().recursive(true).mode(0o700).create(folder);
    made.with_context(|| {
        format!(
            "cannot make {}; run as root, or name a --database of your own",
            folder.display()
        )
    })
}

fn head(args: Args) -> anyhow::Result<ExitCode> {
    if args.nats.is_none()
        && let Some(why) = args.nats_files.without_servers("--nats nats://HOST")
    {
        return Err(Failure::usage(why).into());
    }
    // Before other threads start. What one of them frees is of use to the next agent.
    gtrace_engine::memory::few_arenas();
    super::run::init_log();
    many_files();
    let demo = args.demo.then(tempfile::tempdir).transpose()?;
    let database = match &demo {
        Some(dir) => Place::File(dir.path().join("fleet.db")),
        // It cannot fail.
        None => args.database.parse::<Place>()?,
    };
    if database == Place::File(DATABASE.into()) {
        make_database_folder(Path::new(DATABASE))?;
    }
    let files = args.tls_cert.clone().zip(args.tls_key.clone());
    let files = files.map(|(certificate, key)| AccessFiles {
        certificate,
        key,
        client_ca: args.tls_client_ca.clone(),
        client_crl: args.tls_client_crl.clone(),
        credentials: args.credentials.clone(),
        credentials_optional: true,
    });
    let nats = args.nats.clone().map(|url| Nats {
        access: args.nats_files.access(url),
        replicas: usize::from(args.nats_replicas),
        ack_wait: args.nats_ack_wait,
    });
    if let Some(nats) = &nats {
        // A head that serves by HTTP and not by NATS would not be noticed.
        nats.access.check()?;
    }
    let bound = bind(Listen {
        tcp: Some(args.listen),
        https: args.listen_https.zip(files),
        socket: Some(args.socket.clone()),
        database: database.clone(),
        retention_days: (args.retention_days > 0).then_some(args.retention_days),
        gswarm: args.gswarm_port.map(|port| Gswarm {
            port,
            interval_ms: args.gswarm_interval,
            folder: args.gswarm_folder.clone(),
        }),
        remediation: args
            .remediation
            .clone()
            .map(|policy| Remediation { policy }),
        nats,
        remote_write: args.remote_write.clone().map(|url| RemoteWrite {
            url,
            user: args.remote_write_user.clone(),
            token_file: args.remote_write_token_file.clone(),
            ca_file: args.remote_write_ca.clone(),
            every: args.remote_write_every,
        }),
    });
    let bound = bound.map_err(|error| match error {
        ListenError::NotLoopback(_) => anyhow::Error::new(Failure::usage(error)),
        _ => anyhow::Error::new(error),
    })?;
    let address = bound.tcp_addr();
    let (https, gswarm) = (bound.https_addr(), bound.gswarm_addr());
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .thread_name("gtrace-head")
        .enable_all()
        .build()?;
    let (stop, stopped) = watch::channel(false);
    let socket = args.socket.display().to_string();
    let ready = move || {
        if let Some(address) = address {
            tracing::info!("head at http://{address}, records in {database}");
        }
        if let Some(address) = https {
            tracing::info!("for other hosts at https://{address}");
        }
        if let Some(address) = gswarm {
            tracing::info!("routes of gswarm-profiler at http://{address}");
        }
        tracing::info!("`gtrace head token --socket {socket}` lets hosts in");
        // Only systemd waits for it.
        let _ = sd_notify::notify(&[sd_notify::NotifyState::Ready]);
    };
    let simulated = demo.as_ref().zip(address).map(|(dir, address)| {
        super::demo::start(dir.path(), &args.socket, address, stopped.clone())
    });
    let served = runtime.block_on(async {
        tokio::spawn(async move {
            let _ = signalled().await;
            let _ = sd_notify::notify(&[sd_notify::NotifyState::Stopping]);
            let _ = stop.send(true);
        });
        serve(bound, stopped, ready).await
    });
    runtime.shutdown_timeout(BLOCKED);
    served?;
    if let Some(thread) = simulated {
        let _ = thread?.join();
    }
    Ok(Exit::Success.into())
}
