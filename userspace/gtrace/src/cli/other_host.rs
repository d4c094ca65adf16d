//! Daemons and heads on other hosts: how commands find one.

use std::collections::BTreeSet;
use std::path::PathBuf;

use clap::parser::ValueSource;
use clap::{ArgMatches, FromArgMatches};
use gtrace_api::client::{Client, Endpoint, HttpsEndpoint, HttpsUrl};

use super::shared::{Failure, Instance, Place, StorePlace};

/// Where the head's Unix socket is unless it is named.
pub(super) const HEAD_SOCKET: &str = "/run/gtrace-head/head.sock";
const DAEMON: &str = "A daemon on another host";
const HEAD: &str = "A head on another host";

/// Which options the command line gives: the environment is for many commands, and what of it does not fit one is not that
/// one's mistake. It is the first field of its struct: the others take their values away.
#[derive(Clone, Debug, Default)]
pub(super) struct Typed(BTreeSet<String>);

impl FromArgMatches for Typed {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let typed =
            |id: &&clap::Id| matches.value_source(id.as_str()) == Some(ValueSource::CommandLine);
        let names = matches.ids().filter(typed);
        Ok(Self(
            names
                .map(|id| format!("--{}", id.as_str().replace('_', "-")))
                .collect(),
        ))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl clap::Args for Typed {
    fn augment_args(command: clap::Command) -> clap::Command {
        command
    }

    fn augment_args_for_update(command: clap::Command) -> clap::Command {
        command
    }
}

impl Typed {
    fn has(&self, option: &str) -> bool {
        self.0.contains(option)
    }

    /// The first of `options` that the command line gives.
    pub(super) fn first<'a>(&self, options: &[&'a str]) -> Option<&'a str> {
        options.iter().copied().find(|option| self.has(option))
    }

    /// A client of `endpoint`, which `option` or the environment's `variable` names. Where the one is typed and the other is
    /// of another host, that host's token and certificate are not shown to this one.
    fn client(&self, mut endpoint: HttpsEndpoint, option: &str, variable: &str) -> Client {
        let usual = std::env::var_os(variable).map(|usual| usual.to_string_lossy().into_owned());
        let usual = usual.filter(|usual| {
            let same = usual
                .parse::<HttpsUrl>()
                .is_ok_and(|usual| usual == endpoint.url);
            self.has(option) && !same
        });
        let Some(usual) = usual else {
            return Client::https(endpoint);
        };
        let mut left_out = Vec::new();
        if !self.has("--token-file") && endpoint.token_file.take().is_some() {
            left_out.push(format!("{variable}_TOKEN_FILE"));
        }
        if self.first(&["--cert", "--key"]).is_none() && endpoint.identity.take().is_some() {
            left_out.push(format!("{variable}_CERT"));
        }
        if !left_out.is_empty() {
            say!(
                "{} is for {}, and is not shown to {}: name what is for that with --token-file, or --cert and --key",
                left_out.join(" and "),
                crate::render::clean(&usual),
                endpoint.url
            );
        }
        Client::https(endpoint)
    }
}

/// What a client shows to another host.
const FILES: [&str; 4] = ["--token-file", "--ca", "--cert", "--key"];
const PLACE: [&str; 2] = ["--config", "--socket"];
const STORE_PLACE: [&str; 3] = ["--config", "--socket", "--store"];

/// The daemon on another host, and what this client shows it.
#[derive(Clone, Debug, Default, clap::Args)]
struct OtherHost {
    /// Ask the daemon there, over TLS: https://HOST:PORT, the port of its `listen`.
    #[arg(long, value_name = "URL", env = "GTRACE_URL", help_heading = DAEMON)]
    url: Option<HttpsUrl>,
    /// File with the token, as `gtrace token new` printed it there; other users must not read it.
    #[arg(long, value_name = "FILE", env = "GTRACE_URL_TOKEN_FILE", help_heading = DAEMON)]
    token_file: Option<PathBuf>,
    /// Authorities of its certificate, PEM; those that this system trusts by default.
    #[arg(long, value_name = "FILE", env = "GTRACE_URL_CA", help_heading = DAEMON)]
    ca: Option<PathBuf>,
    /// Certificate of this client, PEM, instead of a token.
    #[arg(long, value_name = "FILE", env = "GTRACE_URL_CERT", requires = "key", help_heading = DAEMON)]
    cert: Option<PathBuf>,
    /// Its private key, PEM.
    #[arg(long, value_name = "FILE", env = "GTRACE_URL_KEY", requires = "cert", help_heading = DAEMON)]
    key: Option<PathBuf>,
}

/// The daemon of this host, or of another one.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct DaemonPlace {
    #[command(flatten)]
    typed: Typed,
    #[command(flatten)]
    here: Place,
    #[command(flatten)]
    other_host: OtherHost,
}

/// The same of commands that also read the store of this host without a daemon.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct ReadPlace {
    #[command(flatten)]
    typed: Typed,
    #[command(flatten)]
    here: StorePlace,
    #[command(flatten)]
    other_host: OtherHost,
}

/// Which head is asked.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct HeadPlace {
    #[command(flatten)]
    typed: Typed,
    /// The head: its Unix socket as a path, its address on loopback, or https://HOST:PORT.
    #[arg(long, value_name = "PLACE", env = "GTRACE_HEAD", default_value = HEAD_SOCKET)]
    head: String,
    /// File with the token, as `gtrace token new` printed it on the head's host; other users must not read it.
    #[arg(long, value_name = "FILE", env = "GTRACE_HEAD_TOKEN_FILE", help_heading = HEAD)]
    token_file: Option<PathBuf>,
    /// Authorities of its certificate, PEM; those that this system trusts by default.
    #[arg(long, value_name = "FILE", env = "GTRACE_HEAD_CA", help_heading = HEAD)]
    ca: Option<PathBuf>,
    /// Certificate of this client, PEM, instead of a token.
    #[arg(long, value_name = "FILE", env = "GTRACE_HEAD_CERT", requires = "key", help_heading = HEAD)]
    cert: Option<PathBuf>,
    /// Its private key, PEM.
    #[arg(long, value_name = "FILE", env = "GTRACE_HEAD_KEY", requires = "cert", help_heading = HEAD)]
    key: Option<PathBuf>,
}

impl OtherHost {
    /// The client, where another host's daemon is meant: what the command line says goes before the environment. `here`:
    /// options that name what is on this host.
    fn client(&self, typed: &Typed, here: &[&str]) -> Result<Option<Client>, Failure> {
        let Some(url) = &self.url else {
            return match typed.first(&FILES) {
                Some(option) => Err(Failure::usage(format!(
                    "{option} is for a daemon on another host: name it with --url, or leave {option} out"
                ))),
                None => Ok(None),
            };
        };
        match (typed.first(here), typed.has("--url")) {
            (Some(option), true) => Err(Failure::usage(format!(
                "{option} names what is on this host, and {url} is another: leave one of them out"
            ))),
            (Some(_), false) => Ok(None),
            (None, _) => {
                let endpoint = HttpsEndpoint {
                    url: url.clone(),
                    token_file: self.token_file.clone(),
                    ca: self.ca.clone(),
                    identity: self.cert.clone().zip(self.key.clone()),
                };
                Ok(Some(typed.client(endpoint, "--url", "GTRACE_URL")))
            }
        }
    }
}

impl DaemonPlace {
    /// What is meant.
    ///
    /// # Errors
    ///
    /// As [`Place::resolve`], and [`Failure`] where two daemons are named.
    pub(super) fn resolve(&self) -> anyhow::Result<Instance> {
        match self.other_host.client(&self.typed, &PLACE)? {
            Some(client) => Ok(Instance::remote(client)),
            None => self.here.resolve(),
        }
    }
}

impl ReadPlace {
    /// What is meant.
    ///
    /// # Errors
    ///
    /// As [`StorePlace::resolve`], and [`Failure`] where two daemons, or a daemon there and a store here, are named.
    pub(super) fn resolve(&self) -> anyhow::Result<Instance> {
        match self.other_host.client(&self.typed, &STORE_PLACE)? {
            Some(client) => Ok(Instance::remote(client)),
            None => self.here.resolve(),
        }
    }
}

impl HeadPlace {
    /// A client of the head.
    ///
    /// # Errors
    ///
    /// [`Failure`] where it is no place or a URL of something else, or what a client shows is given to a head on this host.
    pub(super) fn client(&self) -> Result<Client, Failure> {
        if self.head.contains("://") {
            let url = self.head.parse::<HttpsUrl>();
            let endpoint = HttpsEndpoint {
                url: url.map_err(Failure::usage)?,
                token_file: self.token_file.clone(),
                ca: self.ca.clone(),
                identity: self.cert.clone().zip(self.key.clone()),
            };
            return Ok(self.typed.client(endpoint, "--head", "GTRACE_HEAD"));
        }
        if let Some(option) = self.typed.first(&FILES) {
            return Err(Failure::usage(format!(
                "{option} is for a head at https://HOST:PORT, and {} is on this host: name the other with --head, or leave \
                 {option} out",
                self.head
            )));
        }
        if let Ok(address) = self.head.parse() {
            return Ok(Client::new(Endpoint::Tcp(address)));
        }
        let path = self.head.strip_prefix("unix:").unwrap_or(&self.head);
        if path == self.head && path.contains(':') && !path.contains('/') {
            return Err(Failure::usage(format!(
                "{path} is no head's place: name its Unix socket as a path, its address on this host as 127.0.0.1:7480, or a \
                 head on another host as https://HOST:PORT"
            )));
        }
        Ok(Client::unix(path))
    }
}
