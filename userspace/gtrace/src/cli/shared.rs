//! What the reading commands have in common: where daemon and store are, times, output, exit codes.

mod times;

use std::ffi::OsString;
use std::fmt;
use std::io::{self, Write as _};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Context as _;
use gtrace_api::client::{Client, ClientError, Endpoint};
use gtrace_api::text::clean_lines;
use gtrace_api::{DEFAULT_SOCKET, Status};
use gtrace_engine::config::{Config, ConfigError, Keys};
use gtrace_event::Timestamp;
use gtrace_http::{Archive, ArchiveError};
use rustix::process::{Resource, getrlimit, setrlimit};
use serde::de::DeserializeOwned;

pub(super) use self::times::{End, parse_end_time, parse_local_time};

/// As `eprintln!`, which panics where standard error is closed or full.
macro_rules! say {
    ($($text:tt)*) => { $crate::cli::shared::say(&format!($($text)*)) };
}

/// Name of the store below the state directory.
const STORE: &str = "store.db";

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Exit {
    Success = 0,
    Problem = 1,
    Usage = 2,
    NotPossible = 3,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

/// Which daemon is meant, as far as the user says; the rest is configuration.
#[derive(Clone, Debug, Default, clap::Args)]
pub(super) struct Place {
    /// Configuration of the daemon; by default /etc/gtrace/gtrace.toml.
    #[arg(long, value_name = "PATH", env = "GTRACE_CONFIG")]
    pub config: Option<PathBuf>,
    /// The daemon's Unix socket; by default that of the configuration.
    #[arg(long, value_name = "PATH", env = "GTRACE_SOCKET")]
    pub socket: Option<PathBuf>,
}

/// The same of commands that also work without a daemon.
#[derive(Clone, Debug, Default, clap::Args)]
pub(super) struct StorePlace {
    /// Which daemon.
    #[command(flatten)]
    pub place: Place,
    /// The store's file; by default that of the configuration.
    #[arg(long, value_name = "PATH", env = "GTRACE_STORE")]
    pub store: Option<PathBuf>,
}

/// Why something was not done.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Failure(pub(super) Exit, pub(super) String);

impl Failure {
    pub(super) fn usage(why: impl ToString) -> Self {
        Self(Exit::Usage, why.to_string())
    }

    pub(super) fn not_possible(why: impl ToString) -> Self {
        Self(Exit::NotPossible, why.to_string())
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.1)
    }
}

impl std::error::Error for Failure {}

impl From<ClientError> for Failure {
    fn from(error: ClientError) -> Self {
        let ClientError::Refused { status, body } = error else {
            return Self::not_possible(error);
        };
        let exit = match status {
            404 | 409 => Exit::Problem,
            400 => Exit::Usage,
            _ => Exit::NotPossible,
        };
        let why = format!("{}: {}; {}", body.error, body.cause, body.remedy);
        Self(exit, why)
    }
}

/// How a command ends that `error` ended.
pub(super) fn exit_of(error: &anyhow::Error) -> Exit {
    match error.downcast_ref::<Failure>() {
        Some(Failure(exit, _)) => *exit,
        None if error.is::<ConfigError>() => Exit::Usage,
        None => Exit::NotPossible,
    }
}

/// What ended a command, with its causes. Many an error says its cause itself: none is said twice.
pub(super) fn why(error: &anyhow::Error) -> String {
    let mut text = error.to_string();
    for cause in error.chain().skip(1).map(|cause| cause.to_string()) {
        if !text.ends_with(&cause) {
            text.push_str(": ");
            text.push_str(&cause);
        }
    }
    text
}

/// A daemon and its store, as far as it is known which store that is.
#[derive(Clone, Debug)]
pub(super) struct Instance {
    daemon: Client,
    /// Whether the daemon is on another host.
    remote: bool,
    listen: Option<SocketAddr>,
    store: Option<PathBuf>,
    /// Whether the daemon at the socket is the one that writes the store.
    together: bool,
    /// The site's policy, where the configuration names one.
    site_policy: Option<PathBuf>,
    /// Whether which daemon or store it is goes without saying.
    usual: bool,
}

impl Place {
    /// What is meant.
    ///
    /// # Errors
    ///
    /// [`gtrace_engine::config::ConfigError`], if the user names a configuration and it is refused.
    pub(super) fn resolve(&self) -> anyhow::Result<Instance> {
        self.with_store(None)
    }

    /// A socket that the user names is not that of the configuration's store and address, and the
    /// other way round: the store of one daemon is no answer of another.
    fn with_store(&self, store: Option<&Path>) -> anyhow::Result<Instance> {
        let keys = match Config::load_keys(self.config.as_deref(), Keys::default()) {
            Ok(keys) => keys,
            Err(error) if self.config.is_some() => return Err(error.into()),
            // Nobody named it, and another user's mistake in it must not hide the events.
            Err(error) => {
                say!("{error}; the defaults are used");
                Config::defaults()
            }
        };
        let variable = |name| std::env::var_os(name).filter(|value| !value.is_empty());
        let configured = Config::from_keys(keys.clone()).ok();
        let configured_socket = keys.socket.unwrap_or_else(|| DEFAULT_SOCKET.into());
        let configured_store = keys.state_dir.map(|directory| directory.join(STORE));
        let other = |named: Option<PathBuf>, usual: Option<&PathBuf>| {
            named.filter(|named| Some(named) != usual)
        };
        let state_dir = variable("GTRACE_STATE_DIR").map(|dir| PathBuf::from(dir).join(STORE));
        let named_socket = other(self.socket.clone(), Some(&configured_socket));
        // `gtrace run` has the directory.
        let file = |path: &Path| match path.is_dir() {
            true => path.join(STORE),
            false => path.to_owned(),
        };
        let named_store = store.map(file).or(state_dir);
        let named_store = other(named_store, configured_store.as_ref());
        let named_listen = variable("GTRACE_LISTEN");
        let named_listen = named_listen.and_then(|text| loopback(text.to_str()?));
        let of_configuration = named_socket.is_none();
        Ok(Instance {
            usual: self.config.is_none() && of_configuration && named_store.is_none(),
            together: of_configuration == named_store.is_none(),
            listen: named_listen.or_else(|| {
                let configured = configured?.listen.filter(|_| of_configuration)?;
                Some(configured.into())
            }),
            site_policy: keys.site_policy,
            daemon: Client::unix(named_socket.unwrap_or(configured_socket)),
            remote: false,
            store: named_store.or_else(|| configured_store.filter(|_| of_configuration)),
        })
    }
}

/// The address on loopback among those of `listen`: commands read there, without a credential.
fn loopback(listen: &str) -> Option<SocketAddr> {
    let mut words = listen.split(',').map(str::trim);
    words.find_map(|word| word.strip_prefix("http://").unwrap_or(word).parse().ok())
}

impl StorePlace {
    /// The configuration that the user names.
    pub(super) fn config(&self) -> Option<&Path> {
        self.place.config.as_deref()
    }

    /// What is meant.
    ///
    /// # Errors
    ///
    /// As [`Place::resolve`].
    pub(super) fn resolve(&self) -> anyhow::Result<Instance> {
        let mut instance = self.place.with_store(self.store.as_deref())?;
        if instance.store.is_none()
            && let Ok(status) = instance.client().get::<Status>("/api/v1/status")
            && let Some(store) = status.store
        {
            instance.store = Some(store);
            instance.together = true;
        }
        Ok(instance)
    }
}

impl Instance {
    /// The daemon on another host.
    pub(super) fn remote(daemon: Client) -> Self {
        Self {
            daemon,
            remote: true,
            listen: None,
            store: None,
            together: true,
            site_policy: None,
            usual: false,
        }
    }

    /// Whether the daemon is on another host.
    pub(super) fn is_remote(&self) -> bool {
        self.remote
    }

    /// The store's file; why it is not known, where the user named a daemon only.
    pub(super) fn store(&self) -> Result<&Path, String> {
        let daemon = self.daemon.endpoint();
        self.store.as_deref().ok_or_else(|| match self.remote {
            true => format!("the store of the daemon on {daemon} is on its host: run this there"),
            false => format!(
                "which store the daemon on {daemon} writes is not known here: name it with --store, or its \
                 configuration with --config"
            ),
        })
    }

    /// Whether the daemon is the one that writes the store: where the user named a store only, which
    /// daemon that is, is not known.
    pub(super) fn is_together(&self) -> bool {
        self.together
    }

    /// The site's policy, where the configuration names one.
    pub(super) fn site_policy(&self) -> Option<&Path> {
        self.site_policy.as_deref()
    }

    /// The same, of which it is not said what was read.
    pub(super) fn quiet(self) -> Self {
        Self {
            usual: true,
            ..self
        }
    }

    /// A client that may change something: over the Unix socket, or over TLS with the role operate.
    pub(super) fn client(&self) -> Client {
        self.daemon.clone()
    }

    /// A client for reading: over TCP where this user may not open the socket and the daemon
    /// answers there.
    pub(super) fn reading_client(&self) -> Client {
        let client = self.client();
        if self.remote || !client.is_forbidden() {
            return client;
        }
        let tcp = self
            .listen
            .map(|address| Client::new(Endpoint::Tcp(address)));
        let answers = |tcp: &Client| tcp.get::<Status>("/api/v1/status").is_ok();
        tcp.filter(answers).unwrap_or(client)
    }

    /// What the daemon has at `target`; where none answers, or the user named a store only, what `stored` finds beside or in the store,
    /// whose path it gets.
    pub(super) fn ask<T: DeserializeOwned>(
        &self,
        target: &str,
        stored: impl FnOnce(&Path) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let store = self.store.as_deref();
        if let Some(store) = store.filter(|_| !self.together) {
            return stored(store);
        }
        let client = self.reading_client();
        match (client.get(target), store) {
            (Ok(found), _) => {
                self.say_daemon(&client);
                Ok(found)
            }
            (Err(ClientError::NoDaemon { .. } | ClientError::Forbidden { .. }), Some(store)) => {
                stored(store)
            }
            (Err(error), _) => Err(error.into()),
        }
    }

    /// Has the daemon change something; where none answers, or the user named a store only, it is done by hand.
    pub(super) fn change<T>(
        &self,
        by_daemon: impl FnOnce(&Client) -> Result<T, ClientError>,
        by_hand: impl FnOnce() -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let has_store = self.store.is_some();
        if has_store && !self.together {
            return by_hand();
        }
        let client = self.client();
        match by_daemon(&client) {
            Ok(changed) => {
                self.say_daemon(&client);
                Ok(changed)
            }
            Err(ClientError::NoDaemon { .. }) if has_store => by_hand(),
            Err(error) => Err(error.into()),
        }
    }

    /// Says which daemon has answered, if it is not the usual one.
    pub(super) fn say_daemon(&self, client: &Client) {
        if !self.usual {
            say!("the daemon on {} answers", client.endpoint());
        }
    }

    /// Says which store was read, if it is not the usual one.
    pub(super) fn say_store(&self, store: &Path) {
        if !self.usual {
            say!("read from {}", store.display());
        }
    }

    /// Says how much is not among what was read from the store, as that takes nothing. On standard error, so that what is shown
    /// stays what it is.
    pub(super) fn say_unstored(&self) {
        if !self.together {
            return;
        }
        let status = self.reading_client().get::<Status>("/api/v1/status");
        if let Ok(status) = status
            && let Some(problem) = &status.store_problem
        {
            let waiting = status.store_waiting;
            say!(
                "{waiting} records are not stored yet and not shown, as the store takes none: {problem}; \
                 `gtrace events --follow` shows what happens"
            );
        }
    }

    /// Opens the store, after its daemon, where one answers, made everything captured readable.
    pub(super) fn open_store(&self, store: &Path) -> Result<Archive, ArchiveError> {
        if self.together {
            // Without a daemon, or without the right to ask it, the store is as new as it gets.
            let _ = self.client().flush();
        }
        Archive::open(store)
    }
}

/// Writes to standard output at once. False once the reader has gone (`| head`).
///
/// # Errors
///
/// What the system says, a closed pipe aside.
pub(super) fn print(text: &str) -> anyhow::Result<bool> {
    print_bytes(text.as_bytes())
}

/// As [`print`], of text that need not be UTF-8.
pub(super) fn print_bytes(text: &[u8]) -> anyhow::Result<bool> {
    let mut out = io::stdout().lock();
    written(out.write_all(text).and_then(|()| out.flush()))
}

/// Whether the reader of standard output is still there.
///
/// # Errors
///
/// What the system says, a closed pipe aside.
pub(super) fn written(result: io::Result<()>) -> anyhow::Result<bool> {
    match result {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(false),
        Err(error) => Err(error).context("cannot write to standard output"),
    }
}

/// Writes to standard error as it is. With standard error gone nobody can be notified.
pub(super) fn print_error(text: &str) {
    let _ = io::stderr().write_all(text.as_bytes());
}

/// A line for standard error, or several.
pub(super) fn say(text: &str) {
    print_error(&spoken(text));
}

/// What [`say`] writes. Names of files and processes are in it, which a terminal must not obey.
fn spoken(text: &str) -> String {
    format!("gtrace: {}\n", clean_lines(text))
}

/// `value` as one line of JSON.
pub(super) fn json_line(value: &impl serde::Serialize) -> anyhow::Result<String> {
    let mut line = serde_json::to_string(value)?;
    line.push('\n');
    Ok(line)
}

/// Prints `value` as one line of JSON, or its text. False once the reader has gone.
///
/// # Errors
///
/// As [`print`].
pub(super) fn show(
    json: bool,
    value: &impl serde::Serialize,
    text: impl FnOnce() -> String,
) -> anyhow::Result<bool> {
    match json {
        true => print(&json_line(value)?),
        false => print(&text()),
    }
}

/// As [`show_each`]; to people it says `nothing` where there is none.
///
/// # Errors
///
/// As [`print`].
pub(super) fn list<T: serde::Serialize>(
    json: bool,
    found: &[T],
    text: impl Fn(&T) -> String,
    nothing: &str,
) -> anyhow::Result<Exit> {
    show_each(json, found, text)?;
    if found.is_empty() && !json {
        say(nothing);
    }
    Ok(Exit::Success)
}

/// The same of each of `found`, until the reader has gone.
///
/// # Errors
///
/// As [`print`].
pub(super) fn show_each<T: serde::Serialize>(
    json: bool,
    found: &[T],
    text: impl Fn(&T) -> String,
) -> anyhow::Result<()> {
    for one in found {
        if !show(json, one, || text(one))? {
            break;
        }
    }
    Ok(())
}

/// Refuses a stretch of time that ends before it begins, or has not begun.
pub(super) fn check_time(
    since: Option<Timestamp>,
    until: Option<Timestamp>,
) -> Result<(), Failure> {
    let why = match (since, until) {
        (Some(since), Some(until)) if until <= since => "--until is not later than --since",
        (Some(since), _) if since > Timestamp::now() => "--since is in the future",
        _ => return Ok(()),
    };
    Err(Failure::usage(why))
}

/// Lets this process, and those that it starts, open `wanted` files, where a shell lets a program open 1024, and more where it
/// asks. Returns how many they may open.
pub(super) fn many_files(wanted: u64) -> u64 {
    let mut limit = getrlimit(Resource::Nofile);
    if limit.current.is_some_and(|current| current < wanted) {
        limit.current = Some(limit.maximum.map_or(wanted, |most| most.min(wanted)));
        // What it is afterwards says whether it was possible.
        let _ = setrlimit(Resource::Nofile, limit);
    }
    getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX)
}

/// This user's folder for what can be made again.
pub(super) fn cache_folder() -> Option<PathBuf> {
    cache_folder_by(|name| std::env::var_os(name))
}

/// By `XDG_CACHE_HOME`, else `HOME`: one that is relative, or set to nothing, counts as none (XDG Base Directory Specification).
fn cache_folder_by(variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let folder = |name: &str| {
        let named = variable(name).map(PathBuf::from);
        named.filter(|folder| folder.is_absolute())
    };
    folder("XDG_CACHE_HOME").or_else(|| Some(folder("HOME")?.join(".cache")))
}

/// Waits a little before the next attempt to reach the daemon.
pub(super) fn pause() {
    std::thread::sleep(Duration::from_millis(250));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_that_may_be_open_become_more_and_never_fewer() {
        let before = getrlimit(Resource::Nofile);
        let now = before.current.unwrap_or(u64::MAX);
        assert_eq!(many_files(1), now);
        let most = before.maximum.map_or(4096, |most| most.min(4096));
        assert_eq!(many_files(most), now.max(most));
        assert_eq!(getrlimit(Resource::Nofile).maximum, before.maximum);
    }

    #[test]
    fn what_errors_name_changes_nothing_of_a_terminal() {
        // The name of a mapped library is its process's choice.
        let written = spoken("2 functions of /tmp/libcuda.so\u{1b}[2J\u{9b}31m\nnext");
        let shown = "gtrace: 2 functions of /tmp/libcuda.so\\x1b[2J\\x9b31m\nnext\n";
        assert_eq!(written, shown);
    }

    #[test]
    fn a_cache_is_never_made_in_the_folder_in_which_a_command_is_started() {
        let of = |cache: &str, home: &str| {
            cache_folder_by(|name| match name {
                "XDG_CACHE_HOME" => Some(cache.into()),
                "HOME" => Some(home.into()),
                _ => None,
            })
        };
        assert_eq!(of("/c", "/h"), Some("/c".into()));
        assert_eq!(of("", "/h"), Some("/h/.cache".into()));
        assert_eq!(of("c", "/h"), Some("/h/.cache".into()));
        assert_eq!(of("", ""), None);
    }

    #[test]
    fn a_cause_is_said_once() {
        let error = gtrace_profile::json::read(&b"{"[..]).unwrap_err();
        let error = anyhow::Error::from(error).context("a.json");
        let cause = "EOF while parsing an object at line 1 column 1";
        assert_eq!(
            why(&error),
            format!("a.json: no profile of gtrace: {cause}")
        );
    }
}
