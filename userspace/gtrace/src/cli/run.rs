//! `gtrace run`: the daemon.

pub(super) mod agent;

use std::collections::BTreeMap;
use std::io::{IsTerminal as _, Write as _};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use gtrace_api::{DEFAULT_SOCKET, ShownProvisional, SourceState, Status};
use gtrace_engine::config::{Config, Keys};
use gtrace_engine::daemon::{Ended, Options, Prepared};
use gtrace_engine::hub::{Hub, News};
use gtrace_engine::memory;
use gtrace_engine::supervise::{Task, sending};
use gtrace_event::{EventChange, Incident, IncidentId, IncidentState, Provenance, Timestamp};
use gtrace_http::{ApiConfig, Bound, Inherited};
use tokio::sync::broadcast;

use super::journal::{self, Journal};
use super::shared;
use super::signals::Signals;
use crate::render::{self, ColorChoice, Style};

/// Incidents whose state is remembered, so that it is printed once.
const INCIDENTS_MAX: usize = 256;
/// Longest time between two heartbeats.
const PRINT_SILENCE: Duration = Duration::from_secs(15);

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
    /// Keep all capabilities of root instead of dropping those that are not needed after start.
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
    let config = Config::load(args.config.as_deref(), args.keys.clone())?;
    let api = api_config(&config);
    // Before privileges are dropped, and before anything is started.
    let member = agent::Member::or_without(&config);
    let prepared = Prepared::new(config)?;
    let bound = Arc::new(gtrace_http::bind_beside(&api, Inherited::take()?)?);
    let daemon = prepared.start(Options {
        probe_log: args.probe_log,
        keep_privileges: args.keep_privileges,
        stand_in: None,
    })?;
    // Whoever has an answer may end it in order.
    let mut signals = Signals::take()?;
    gtrace_http::start(&bound, daemon.hub())?;
    if !args.quiet {
        start_printing(daemon.hub())?;
    }
    if let Some(member) = member {
        member.start(daemon.hub())?;
    }
    greet(&daemon.hub().status(), &bound);
    if std::io::stderr().is_terminal() {
        shared::print_error(&next_steps(bound.tcp_addr(), bound.socket()));
    }
    let ended = daemon.serve(async {
        signals.come().await;
        Ok(())
    });
    bound.remove_socket_file();
    Ok(match ended? {
        Ended::InOrder => {
            tracing::info!("stopped");
            ExitCode::SUCCESS
        }
        Ended::Lost(loss) => {
            say!("{} {}: only a new process helps", loss.task, loss.reason);
            ExitCode::FAILURE
        }
        Ended::Hung(name) => {
            say!("{name} does not end and is left behind");
            ExitCode::FAILURE
        }
    })
}

/// Where the daemon of `config` serves its API.
pub(super) fn api_config(config: &Config) -> ApiConfig {
    ApiConfig {
        socket: Some(config.socket.clone()),
        listen: config.listen,
        listen_https: config.listen_https.clone(),
        access: config.access.clone(),
        store: config.store(),
        limits: gtrace_http::Limits::default(),
        compat: config.compat,
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
        // A full disk, or a reader that is gone, is no reason to end: it would be reported on stderr, by
        // a macro that panics where nothing can be written.
        .log_internal_errors(false)
        .with_ansi(std::io::stderr().is_terminal())
        .with_target(false);
    // A second initialisation, in tests, is no harm.
    let _ = if journal {
        builder.event_format(JournalLine).try_init()
    } else {
        builder.try_init()
    };
}

/// A line of the log as systemd takes it: its priority in front (sd-daemon(3)), and no time, which the journal adds.
struct JournalLine;

impl<S, N> tracing_subscriber::fmt::FormatEvent<S, N> for JournalLine
where
    S: tracing::Subscriber + for<'a> tracing_subscriber::registry::LookupSpan<'a>,
    N: for<'a> tracing_subscriber::fmt::FormatFields<'a> + 'static,
{
    fn format_event(
        &self,
        context: &tracing_subscriber::fmt::FmtContext<'_, S, N>,
        mut writer: tracing_subscriber::fmt::format::Writer<'_>,
        event: &tracing::Event<'_>,
    ) -> std::fmt::Result {
        let level = *event.metadata().level();
        let priority = match level {
            tracing::Level::ERROR => 3,
            tracing::Level::WARN => 4,
            tracing::Level::INFO => 6,
            _ => 7,
        };
        write!(writer, "<{priority}>{level} ")?;
        context
            .field_format()
            .format_fields(writer.by_ref(), event)?;
        writeln!(writer)
    }
}

/// Whoever reads the output may stop reading: nothing waits for this task, and a thread that waits for
/// the reader does not hang.
fn start_printing(hub: &Arc<Hub>) -> std::io::Result<()> {
    let task = Task::optional("print", PRINT_SILENCE);
    let of_task = Arc::clone(hub);
    hub.tasks.start(task, move |pulse| {
        let mut stream = of_task.subscribe().live;
        let mut printer = Printer::new();
        while let Some(next) = pulse.wait_for(stream.recv()) {
            match next {
                Ok(News::Event(published)) => printer.print(&published),
                Ok(News::Incident(published)) => printer.print_incident(&published.incident),
                Ok(News::Health(_)) => {}
                Err(broadcast::error::RecvError::Lagged(n)) => {
                    tracing::warn!("{n} records are not printed here; `gtrace events` has them");
                }
                Err(broadcast::error::RecvError::Closed) => return Ok(()),
            }
        }
        Ok(())
    })
}

fn greet(status: &Status, bound: &Bound) {
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
    if let Some(socket) = bound.socket() {
        tracing::info!("API at {}", socket.display());
    }
    if let Some(tcp) = bound.tcp_addr() {
        tracing::info!("API at http://{tcp}, metrics at http://{tcp}/metrics");
    }
    for https in bound.https_addrs() {
        tracing::info!("API for other hosts at https://{https}");
    }
}

/// Where to look next, for who started the daemon by hand.
fn next_steps(tcp: Option<SocketAddr>, socket: Option<&Path>) -> String {
    let page = tcp.map(|tcp| format!("  http://{tcp}/   the page, in a browser of this host\n"));
    // Commands find it by themselves where it is the usual one.
    let named = |socket: &&Path| *socket != Path::new(DEFAULT_SOCKET);
    let socket = socket.filter(named);
    let socket = socket.map_or(String::new(), |it| format!(" --socket {}", it.display()));
    format!(
        "\nLook next, in another terminal:\n{}  gtrace status{socket}   what works here\n  \
         gtrace doctor   what does not, and how to get it\n  \
         gtrace inject xid 79 --gpu 0000:3b:00.0   a drill, marked as one; it shows here, and opens an incident\n  \
         gtrace incidents{socket}   what it came to\nCtrl-C ends it.\n\n",
        page.unwrap_or_default()
    )
}

/// Prints records to standard output; under systemd to the journal, with their fields.
struct Printer {
    journal: Option<Journal>,
    terminal: bool,
    style: Style,
    shown: ShownProvisional,
    /// The state in which each incident was printed last.
    incidents: BTreeMap<IncidentId, IncidentState>,
}

impl Printer {
    fn new() -> Self {
        let under_systemd = std::env::var_os("JOURNAL_STREAM").is_some();
        let socket = std::path::Path::new(journal::SOCKET);
        Self {
            journal: under_systemd.then(|| Journal::open(socket).ok()).flatten(),
            terminal: std::io::stdout().is_terminal(),
            style: Style::of_stdout(ColorChoice::Auto),
            shown: ShownProvisional::default(),
            incidents: BTreeMap::new(),
        }
    }

    fn print(&mut self, published: &gtrace_api::Published) {
        if !self.shown.is_new(published) {
            return;
        }
        let (terminal, style) = (self.terminal, &self.style);
        let event = &published.event;
        let text = match &published.change {
            None if terminal => render::event(event, style, Timestamp::now()),
            None => {
                let line = render::line(event, style);
                self.entry(&line, |journal, line| journal.event(event, line));
                return;
            }
            // On a terminal somebody looks on: who wrote it, and repeats, are worth a line.
            Some(EventChange::Amendment(amendment))
                if terminal && event.provenance != Provenance::Injected =>
            {
                render::amendment(event, amendment, style)
            }
            Some(EventChange::Amendment(_)) => return,
            Some(EventChange::Ack(ack)) => render::ack(event, ack, style),
        };
        Self::write(&text);
    }

    /// That an incident was opened, and that its state has changed.
    fn print_incident(&mut self, incident: &Incident) {
        let known = self.incidents.insert(incident.id, incident.state);
        if known != Some(incident.state) {
            let line = render::incident_line(incident, &self.style);
            self.entry(&line, |journal, line| journal.incident(incident, line));
        }
        // What is forgotten is printed once more, should it change.
        while self.incidents.len() > INCIDENTS_MAX {
            self.incidents.pop_first();
        }
    }

    /// An entry of the journal, or a line where there is none or it takes nothing.
    fn entry(&self, line: &str, send: impl FnOnce(&Journal, &str) -> std::io::Result<()>) {
        let sent = self
            .journal
            .as_ref()
            .map(|journal| send(journal, line.trim_end()));
        if !matches!(sent, Some(Ok(()))) {
            Self::write(line);
        }
    }

    fn write(text: &str) {
        // Nobody may be reading any more; the daemon goes on.
        let text = text.trim_end_matches('\n');
        let _ = sending(|| writeln!(std::io::stdout(), "{text}"));
    }
}
