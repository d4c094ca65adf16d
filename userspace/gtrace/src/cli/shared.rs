//! What the reading commands have in common: where daemon and store are, output, exit codes.

use std::io::{self, Write as _};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use gtrace_event::Timestamp;
use jiff::civil;
use jiff::tz::TimeZone;

use crate::api::{self, DEFAULT_SOCKET};
use crate::client::{Client, ClientError, Endpoint};
use crate::config::{Config, Keys};

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Exit {
    Fine = 0,
    Problem = 1,
    Usage = 2,
    NotPossible = 3,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

/// Where daemon and store are, as far as the user says; the rest is configuration.
#[derive(Clone, Debug, clap::Args)]
pub struct Place {
    /// The store's file; by default that of the configuration.
    #[arg(long, value_name = "PATH", env = "GTRACE_STORE")]
    pub store: Option<PathBuf>,
    /// The daemon's Unix socket; by default that of the configuration.
    #[arg(long, value_name = "PATH", env = "GTRACE_SOCKET")]
    pub socket: Option<PathBuf>,
}

/// The configured keys. One that is refused is told, and the defaults serve.
fn configured() -> Keys {
    Config::load_keys(None, Keys::default()).unwrap_or_else(|error| {
        say(&error.to_string());
        Config::defaults()
    })
}

impl Place {
    /// The store's file.
    pub(super) fn store(&self) -> PathBuf {
        if let Some(store) = &self.store {
            return store.clone();
        }
        let named = std::env::var_os("GTRACE_STATE_DIR").map(PathBuf::from);
        let directory = named.or_else(|| configured().state_dir);
        directory
            .unwrap_or_else(|| "/var/lib/gtrace".into())
            .join("store.db")
    }

    /// A client over the Unix socket, which alone may change something.
    pub(super) fn client(&self) -> Client {
        let socket = self.socket.clone().or_else(|| configured().socket);
        Client::unix(socket.unwrap_or_else(|| DEFAULT_SOCKET.into()))
    }

    /// A client for reading: over TCP where this user may not open the socket and the daemon
    /// answers there.
    pub(super) fn reading_client(&self) -> Client {
        let client = self.client();
        let forbidden = matches!(
            client.get_text("/api/v1/sources"),
            Err(ClientError::Forbidden { .. })
        );
        if !forbidden {
            return client;
        }
        let listen = std::env::var("GTRACE_LISTEN")
            .ok()
            .or_else(|| configured().listen);
        let address = listen
            .as_deref()
            .and_then(|text| text.parse::<SocketAddr>().ok());
        let tcp = address.map(|address| Client::new(Endpoint::Tcp(address)));
        let answers = |tcp: &Client| tcp.get::<crate::hub::Status>("/api/v1/status").is_ok();
        tcp.filter(answers).unwrap_or(client)
    }
}

/// Writes to standard output at once. False once the reader has gone (`| head`).
///
/// # Errors
///
/// What the system says, a closed pipe aside.
pub(super) fn print(text: &str) -> io::Result<bool> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(false),
        Err(error) => Err(error),
    }
}

/// A line for standard error.
pub(super) fn say(text: &str) {
    // With standard error gone there is nobody to tell.
    let _ = writeln!(io::stderr(), "gtrace: {text}");
}

/// `value` as one line of JSON.
pub(super) fn json_line(value: &impl serde::Serialize) -> anyhow::Result<String> {
    let mut line = serde_json::to_string(value)?;
    line.push('\n');
    Ok(line)
}

/// Ends the process with status 0 on SIGINT and SIGTERM, between two writes to standard output.
///
/// # Errors
///
/// The system's error where the signals cannot be had.
pub(super) fn end_cleanly_on_signals() -> io::Result<()> {
    on_signals(|| {
        let _whole_line = io::stdout().lock();
        std::process::exit(0);
    })
}

/// Does `action`, once, when SIGINT or SIGTERM comes, in a thread of its own.
///
/// # Errors
///
/// The system's error where the signals cannot be had.
pub(super) fn on_signals(action: impl FnOnce() + Send + 'static) -> io::Result<()> {
    use tokio::signal::unix::{SignalKind, signal};
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_io()
        .build()?;
    let (mut interrupt, mut terminate) = {
        let _in_runtime = runtime.enter();
        (
            signal(SignalKind::interrupt())?,
            signal(SignalKind::terminate())?,
        )
    };
    let wait = move || {
        runtime.block_on(async {
            tokio::select! { _ = interrupt.recv() => {} _ = terminate.recv() => {} }
        });
        action();
    };
    std::thread::Builder::new()
        .name("signals".into())
        .spawn(wait)
        .map(drop)
}

/// Reads a time as the API does, or as a person writes it: a date, a date and time, or a time of
/// today, in local time.
pub(super) fn parse_local_time(text: &str) -> Result<Timestamp, String> {
    let now = Timestamp::now();
    local_time(text, now, &TimeZone::system())
}

fn local_time(text: &str, now: Timestamp, zone: &TimeZone) -> Result<Timestamp, String> {
    let error = match api::parse_time(text, now) {
        Ok(time) => return Ok(time),
        Err(error) => error,
    };
    let civil = text.parse::<civil::DateTime>().or_else(|_| {
        let clock = text.parse::<civil::Time>();
        clock.map(|clock| now.to_zoned(zone.clone()).date().to_datetime(clock))
    });
    civil
        .and_then(|civil| civil.to_zoned(zone.clone()))
        .map(|zoned| zoned.timestamp())
        .map_err(|_| format!("{error}, or local time (2026-03-03 04:05, 04:05)"))
}

/// Waits a little before the daemon is looked for again.
pub(super) fn pause() {
    std::thread::sleep(Duration::from_millis(250));
}

/// Opens the store, after the daemon, where one answers, made everything captured readable.
pub(super) fn open_store(store: &Path, client: &Client) -> Result<api::Archive, api::ArchiveError> {
    // Without a daemon, or without the right to ask it, the store is as new as it gets.
    let _ = client.flush();
    api::Archive::open(store)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn local_times_are_read_as_people_write_them() {
        let now = "2026-03-03T12:00:00Z".parse().unwrap();
        let zone = TimeZone::fixed(jiff::tz::offset(1));
        let at = |text: &str| local_time(text, now, &zone).map(|t| t.to_string());
        assert_eq!(at("1h").unwrap(), "2026-03-03T11:00:00Z");
        assert_eq!(at("2026-03-03T04:05:06Z").unwrap(), "2026-03-03T04:05:06Z");
        assert_eq!(at("2026-03-02 04:05").unwrap(), "2026-03-02T03:05:00Z");
        assert_eq!(at("2026-03-02").unwrap(), "2026-03-01T23:00:00Z");
        assert_eq!(at("04:05").unwrap(), "2026-03-03T03:05:00Z");
        assert!(at("noon").unwrap_err().contains("local time"));
    }
}
