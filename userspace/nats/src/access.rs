//! Where servers are, and what a client shows them.

use std::path::PathBuf;
use std::time::Duration;

use async_nats::{ConnectError, ConnectErrorKind, ConnectOptions};
use gtrace_tls::refusal::{self, Parties};
use gtrace_tls::{ClientFiles, FileError, client_config, system_authorities};

use crate::url::NatsUrl;

/// How long connecting to a server may take.
const CONNECT: Duration = Duration::from_secs(5);
/// Between two questions whether the server is there: a connection that hangs is replaced after some of them.
const PING: Duration = Duration::from_secs(10);

/// Where NATS servers are, and with which files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Access {
    /// The servers.
    pub url: NatsUrl,
    /// File with the credentials: a `.creds` file, the seed of an nkey, `USER:PASSWORD`, or a token. Only its owner may read it.
    pub credentials: Option<PathBuf>,
    /// PEM file of the authorities of the servers' certificates; those of the system without it.
    pub ca: Option<PathBuf>,
    /// PEM files of a client certificate and its key.
    pub identity: Option<(PathBuf, PathBuf)>,
}

/// Why there is no connection.
#[derive(Debug, thiserror::Error)]
pub enum NatsError {
    /// A file cannot be used.
    #[error(transparent)]
    File(#[from] FileError),
    /// What is in the file of credentials is none.
    #[error(
        "{path}: {cause}; it has to be a .creds file, the seed of an nkey (SU…), USER:PASSWORD or a token on one line"
    )]
    Credentials {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        cause: String,
    },
    /// This system's authorities are not known.
    #[error("this system has no file of authorities: name that of the NATS servers with --nats-ca")]
    NoAuthorities,
    /// A stream of that name is there, and is another one.
    #[error(
        "the stream {name} cannot be used: {wrong}; remove it (`nats stream rm {name}`), and `gtrace head --nats` makes it anew: agents send again what heads do not have"
    )]
    Stream {
        /// Its name.
        name: String,
        /// What of it is not as it has to be.
        wrong: String,
    },
    /// The servers do not let the client in, or are not there.
    #[error("{0}")]
    Connect(String),
}

/// What a file of credentials has.
#[derive(PartialEq, Eq)]
enum Secret {
    /// A JWT and a seed, as `nsc` writes them.
    Creds(String),
    /// The seed of an nkey.
    Seed(String),
    User(String, String),
    Token(String),
}

fn secret(text: &str) -> Result<Secret, String> {
    if text.contains("-----BEGIN NATS USER JWT-----") {
        return Ok(Secret::Creds(text.to_owned()));
    }
    let mut lines = text.lines().map(str::trim);
    // As `nk -gen user` and people write it, with remarks.
    let mut lines = lines
        .by_ref()
        .filter(|line| !line.is_empty() && !line.starts_with('#'));
    let (Some(line), None) = (lines.next(), lines.next()) else {
        return Err("it does not have exactly one line".to_owned());
    };
    if !line.chars().all(|c| c.is_ascii_graphic()) {
        return Err("it has other characters than printable ASCII".to_owned());
    }
    let seed = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit();
    if line.len() == 58 && line.starts_with("SU") && line.chars().all(seed) {
        return Ok(Secret::Seed(line.to_owned()));
    }
    Ok(match line.split_once(':') {
        Some((user, password)) => Secret::User(user.to_owned(), password.to_owned()),
        None => Secret::Token(line.to_owned()),
    })
}

impl Access {
    /// Reads the files and says what is wrong with them, without connecting.
    ///
    /// # Errors
    /// [`NatsError`].
    pub fn check(&self) -> Result<(), NatsError> {
        self.options().map(drop)
    }

    /// Whether it connects with TLS alone.
    pub(crate) fn speaks_tls(&self) -> bool {
        self.url.is_tls() || self.ca.is_some() || self.identity.is_some()
    }

    /// The servers and this client, as explanations name them.
    fn parties(&self) -> Parties<'_> {
        Parties {
            servers: "the NATS servers",
            names: &self.url,
            ca: self.ca.as_deref(),
            ca_options: "--nats-ca, head_nats_ca",
            certificate: self.identity.as_ref().map(|(file, _)| file.as_path()),
            certificate_options: "--nats-cert and --nats-key, head_nats_cert and head_nats_key",
            without_tls: "give nats-server a certificate (`tls {}` in its configuration); without TLS, nats:// reaches servers of \
                          this host alone",
            version_setting: "`min_version` in `tls {}`",
            version_needed: "of nats-server 2.9 or newer",
        }
    }

    /// What is wrong, and what to do about it, in one line.
    pub(crate) fn explained(&self, error: &ConnectError) -> String {
        if let Some(of_tls) = refusal::tls_error(error) {
            return refusal::explained(of_tls, &self.parties());
        }
        match error.kind() {
            ConnectErrorKind::AuthorizationViolation => {
                format!(
                    "{error}: give the file of the credentials (--nats-credentials, head_nats_credentials)"
                )
            }
            ConnectErrorKind::Tls => {
                let error = error.to_string().replace('\n', "; ");
                format!(
                    "{error}: a name in the URL is none that a certificate can have, or this system's authorities cannot be read"
                )
            }
            ConnectErrorKind::TimedOut => format!("{error}{}", refusal::timeout_hint()),
            _ => error.to_string(),
        }
    }

    pub(crate) fn options(&self) -> Result<ConnectOptions, NatsError> {
        // The servers that others of the cluster name may not be reachable from here, nor have certificates under those addresses.
        let mut options = ConnectOptions::new()
            .connection_timeout(CONNECT)
            .ping_interval(PING)
            .ignore_discovered_servers();
        if self.speaks_tls() {
            let ca = match &self.ca {
                Some(ca) => ca.as_path(),
                None => system_authorities().ok_or(NatsError::NoAuthorities)?,
            };
            let files = ClientFiles {
                ca: ca.to_owned(),
                identity: self.identity.clone(),
            };
            // TLS 1.3 alone, and these authorities alone.
            let config = client_config(&files, &[])?;
            options = options
                .require_tls(true)
                .tls_client_config((*config).clone());
        }
        let Some(path) = &self.credentials else {
            return Ok(options);
        };
        let failed = |cause: String| NatsError::Credentials {
            path: path.clone(),
            cause,
        };
        let text = gtrace_tls::secret_text(path)?;
        Ok(match secret(&text).map_err(failed)? {
            Secret::Creds(creds) => options
                .credentials(&creds)
                .map_err(|e| failed(e.to_string()))?,
            Secret::Seed(seed) => options.nkey(seed),
            Secret::User(user, password) => options.user_and_password(user, password),
            Secret::Token(token) => options.token(token),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_credentials_have_four_forms() {
        let creds = "-----BEGIN NATS USER JWT-----\na.b.c\n------END NATS USER JWT------\n";
        assert!(matches!(secret(creds), Ok(Secret::Creds(_))));
        let seed = format!("SU{}", "A2".repeat(28));
        assert!(matches!(
            secret(&format!("# mine\n{seed}\n")),
            Ok(Secret::Seed(_))
        ));
        assert!(secret("gtrace:p:w\n") == Ok(Secret::User("gtrace".to_owned(), "p:w".to_owned())));
        assert!(secret("s3cret\n") == Ok(Secret::Token("s3cret".to_owned())));
        for wrong in ["", "\n# x\n", "a\nb\n", "a b\n"] {
            assert!(secret(wrong).is_err(), "{wrong:?}");
        }
    }
}
