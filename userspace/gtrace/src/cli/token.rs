//! `gtrace token`: tokens of those who may use the https listener, or the GPUs of `gtrace serve`.

use std::fmt::Write as _;
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use gtrace_engine::config::{Config, Keys};
use gtrace_event::Timestamp;
use gtrace_tls::{FileError, GpuShare, NewToken, Role, TokenEntry};
use jiff::SignedDuration;

use super::shared::{self, Exit, Failure};

/// Longest time for which a token is good: 100 years.
const EXPIRY_MAX_DAYS: i64 = 36_525;

/// Make, list and revoke tokens for the https listener and for `gtrace serve --credentials`. A running server follows
/// within a second.
#[derive(Clone, Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Clone, Debug, clap::Subcommand)]
enum What {
    /// Make a token and print its secret, which is kept nowhere.
    New {
        /// Its name in logs: letters, digits and ._-@.
        #[arg(value_parser = name)]
        name: String,
        /// What its holder may do: read, or operate (acknowledge, pause, capture, read evidence; run programs on GPUs).
        #[arg(long, default_value = "read")]
        role: Role,
        /// Days until it expires; 0 for never.
        #[arg(long, value_name = "DAYS", default_value_t = 365)]
        expires: i64,
        /// Requests in a minute; by default 1200.
        #[arg(long, value_name = "N")]
        rate: Option<NonZeroU32>,
        /// For `gtrace serve`: programs at a time.
        #[arg(long, value_name = "N")]
        max_clients: Option<NonZeroU32>,
        /// For `gtrace serve`: device memory of each program, such as 8G.
        #[arg(long, value_name = "SIZE", value_parser = size)]
        max_memory: Option<String>,
        /// For `gtrace serve`: devices, by their numbers among those that are served or by UUID, with commas between them.
        #[arg(long, value_name = "LIST")]
        gpus: Option<String>,
        /// For `gtrace head`: the hosts that it may see, by name, pattern or label (team=ml, gpu-*), with commas between them. It reads
        /// their health, events, incidents, GPU-hours, latency and pages, and nothing about the fleet as a whole.
        #[arg(long, value_name = "LIST", value_delimiter = ',')]
        hosts: Vec<String>,
        /// Which file.
        #[command(flatten)]
        file: File,
    },
    /// List the tokens.
    List {
        /// Print JSON.
        #[arg(long)]
        json: bool,
        /// Which file.
        #[command(flatten)]
        file: File,
    },
    /// Revoke a token: from then on it is refused, and what it has open is closed.
    Revoke {
        /// Its name.
        name: String,
        /// Which file.
        #[command(flatten)]
        file: File,
    },
}

#[derive(Clone, Debug, clap::Args)]
struct File {
    /// The file of credentials; by default that of the configuration.
    #[arg(long, value_name = "PATH", env = "GTRACE_CREDENTIALS")]
    credentials: Option<PathBuf>,
    /// Configuration of the daemon; by default /etc/gtrace/gtrace.toml.
    #[arg(long, value_name = "PATH", env = "GTRACE_CONFIG")]
    config: Option<PathBuf>,
}

impl File {
    fn path(self) -> anyhow::Result<PathBuf> {
        if let Some(path) = self.credentials {
            return Ok(path);
        }
        let keys = Config::load_keys(self.config.as_deref(), Keys::default())?;
        Ok(keys
            .credentials
            .unwrap_or_else(|| gtrace_tls::DEFAULT_CREDENTIALS.into()))
    }
}

/// Runs the command.
///
/// # Errors
///
/// Why it is not done; what standard output says, a closed pipe aside, and a configuration that is refused.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let now = Timestamp::now();
    match args.what {
        What::New {
            name,
            role,
            expires,
            rate,
            max_clients,
            max_memory,
            gpus,
            hosts,
            file,
        } => {
            if !(0..=EXPIRY_MAX_DAYS).contains(&expires) {
                let why = format!("--expires takes 0 to {EXPIRY_MAX_DAYS} days");
                return Err(Failure::usage(why).into());
            }
            let until = now.saturating_add(SignedDuration::from_hours(24 * expires))?;
            let token = NewToken {
                name,
                role,
                expires: (expires > 0).then_some(until),
                requests_per_minute: rate,
                gpu: GpuShare {
                    max_clients,
                    max_memory,
                    gpus,
                },
                hosts,
            };
            let path = file.path()?;
            let secret = gtrace_tls::new_token(&path, &token, now);
            let secret = secret.map_err(Failure::not_possible)?;
            shared::print(&format!("{}\n", secret.expose()))?;
            shared::say(&format!(
                "this is the only time that the secret is shown; {} has a hash of it",
                path.display()
            ));
        }
        What::List { json, file } => {
            let path = file.path()?;
            let entries = listed(&path).map_err(Failure::not_possible)?;
            shared::show(json, &entries, || match entries.is_empty() {
                true => none_in(&path),
                false => table(&entries, now),
            })?;
        }
        What::Revoke { name, file } => {
            let revoked = gtrace_tls::revoke_token(&file.path()?, &name, now);
            revoked.map_err(Failure::not_possible)?;
            shared::print(&format!("{name} is revoked\n"))?;
        }
    }
    Ok(Exit::Success.into())
}

/// The tokens; none where there is no file yet.
fn listed(path: &Path) -> Result<Vec<TokenEntry>, FileError> {
    match path.try_exists() {
        Ok(false) => Ok(Vec::new()),
        _ => gtrace_tls::list_tokens(path),
    }
}

fn name(text: &str) -> Result<String, String> {
    gtrace_tls::check_name(text).map(|()| text.to_owned())
}

/// A size, as it is written into the file.
fn size(text: &str) -> Result<String, String> {
    gtrace_tls::parse_size(text).map(|_| text.to_owned())
}

fn none_in(path: &Path) -> String {
    let path = path.display();
    format!("no tokens in {path}; `gtrace token new NAME` makes one\n")
}

fn table(entries: &[TokenEntry], now: Timestamp) -> String {
    let width = entries.iter().map(|e| e.name.len()).max().unwrap_or(0);
    let mut text = format!(
        "{:<width$}  {:<7}  {:<20}  {}\n",
        "NAME", "ROLE", "CREATED", "STATE"
    );
    for entry in entries {
        let created = entry.created.map(|at| at.to_string()).unwrap_or_default();
        let state = match (entry.revoked, entry.expires) {
            (Some(at), _) => format!("revoked {at}"),
            (None, Some(at)) if at <= now => format!("expired {at}"),
            (None, Some(at)) => format!("good until {at}"),
            (None, None) => "good".to_owned(),
        };
        let rate = entry
            .requests_per_minute
            .map(|rate| format!(", {rate} requests a minute"))
            .unwrap_or_default();
        let share = [
            entry
                .gpu
                .max_clients
                .map(|most| format!(", {most} programs")),
            entry
                .gpu
                .max_memory
                .as_ref()
                .map(|most| format!(", {most} of device memory")),
            entry.gpu.gpus.as_ref().map(|list| format!(", GPUs {list}")),
        ];
        let mut share: String = share.into_iter().flatten().collect();
        if let Some(hosts) = &entry.hosts {
            let _ = write!(share, ", hosts {}", hosts.join(","));
        }
        // Writing to a String cannot fail.
        let _ = writeln!(
            text,
            "{:<width$}  {:<7}  {created:<20}  {state}{rate}{share}",
            entry.name,
            entry.role.to_string(),
        );
    }
    text
}
