//! Where a PostgreSQL server is, and how a connection to it is protected.

use std::error::Error as _;
use std::fmt;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::{Arc, Once};
use std::time::Duration;

use futures_util::{Stream, stream};
use gtrace_tls::refusal::{self, Parties};
use gtrace_tls::{ClientFiles, client_config, is_loopback, system_authorities};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_postgres::config::{Host, SslMode};
use tokio_postgres::{AsyncMessage, Client, Config, Connection, NoTls, Socket};
use tokio_postgres_rustls::MakeRustlsConnect;

/// How long connecting to a server may take, unless the URL says otherwise.
const CONNECT: Duration = Duration::from_secs(10);
/// A connection over which nothing comes is asked after this time whether it still is one, and given up after as much again.
const QUIET: Duration = Duration::from_secs(30);

/// A head has several connections, and says it once.
static UNPROTECTED: Once = Once::new();

/// What a server says without having been asked; polled, it drives the connection.
pub(super) type Messages =
    Pin<Box<dyn Stream<Item = Result<AsyncMessage, tokio_postgres::Error>> + Send>>;

/// A server, or several of which one is the first, as a URL names them.
#[derive(Clone)]
pub(super) struct Server {
    config: Config,
    tls: Option<ClientFiles>,
    /// Whether the authorities are those of the system.
    system: bool,
    names: String,
}

/// What a URL has for TLS, in libpq's words.
#[derive(Default)]
struct TlsParameters {
    mode: Option<String>,
    ca: Option<PathBuf>,
    certificate: Option<PathBuf>,
    key: Option<PathBuf>,
}

impl Server {
    /// # Errors
    /// What is wrong with the URL.
    pub(super) fn parse(url: &str) -> Result<Self, String> {
        let (url, asked) = split_tls_parameters(url)?;
        let mut config: Config = url
            .parse()
            .map_err(|e: tokio_postgres::Error| explain(&e))?;
        let is_local = config.get_hosts().iter().all(|host| match host {
            Host::Tcp(name) => is_loopback(name),
            Host::Unix(_) => true,
        }) && config.get_hostaddrs().iter().all(|at| at.is_loopback());
        let protect = match asked.mode.as_deref() {
            Some("disable") => false,
            // Whoever can be between the two could have it be the server that has no TLS.
            None | Some("allow" | "prefer") => !is_local || asked.ca.is_some(),
            Some("require" | "verify-ca" | "verify-full") => true,
            Some(other) => {
                return Err(format!(
                    "sslmode={other} is not known: disable, or require, which always checks the server's certificate and name"
                ));
            }
        };
        let identity = match (asked.certificate, asked.key) {
            (Some(certificate), Some(key)) => Some((certificate, key)),
            (None, None) => None,
            _ => return Err("sslcert and sslkey go together".to_owned()),
        };
        let system = asked.ca.is_none();
        let tls = match protect {
            false => None,
            true => {
                let ca = asked
                    .ca
                    .or_else(|| system_authorities().map(Into::into))
                    .ok_or("this system has no file of authorities: name that of the server with sslrootcert=FILE in the URL")?;
                Some(ClientFiles { ca, identity })
            }
        };
        config.ssl_mode(match tls {
            Some(_) => SslMode::Require,
            None => SslMode::Disable,
        });
        if config.get_connect_timeout().is_none() {
            config.connect_timeout(CONNECT);
        }
        // A server that is gone does not say so.
        if config.get_tcp_user_timeout().is_none() {
            config.tcp_user_timeout(QUIET);
        }
        if !url.contains("keepalives") {
            config.keepalives_idle(QUIET);
            config.keepalives_interval(QUIET / 3);
            config.keepalives_retries(3);
        }
        let names = config.get_hosts().iter().map(|host| match host {
            Host::Tcp(name) => name.clone(),
            Host::Unix(path) => path.display().to_string(),
        });
        let names = names.collect::<Vec<_>>().join(", ");
        if tls.is_none() && !is_local {
            UNPROTECTED.call_once(|| {
                tracing::warn!(
                    "sslmode=disable: records of hosts and what signs in their names go to PostgreSQL at {names} without TLS"
                );
            });
        }
        Ok(Self {
            config,
            tls,
            system,
            names,
        })
    }

    /// Connects. Files are read anew, so that a certificate is renewed by replacing its file.
    ///
    /// # Errors
    /// Why not, and what to do.
    pub(super) async fn connect(&self) -> Result<(Client, Messages), String> {
        let Some(files) = &self.tls else {
            let connected = self.config.connect(NoTls).await;
            let (client, connection) = connected.map_err(|e| self.refused(&e))?;
            return Ok((client, messages(connection)));
        };
        let tls = client_config(files, &[]).map_err(|e| e.to_string())?;
        let tls = MakeRustlsConnect::new(Arc::unwrap_or_clone(tls));
        let connected = self.config.connect(tls).await;
        let (client, connection) = connected.map_err(|e| self.refused(&e))?;
        Ok((client, messages(connection)))
    }

    fn refused(&self, error: &tokio_postgres::Error) -> String {
        let files = self.tls.as_ref();
        let certificate = files.and_then(|files| files.identity.as_ref());
        let parties = Parties {
            servers: "the PostgreSQL servers",
            names: &self.names,
            ca: files
                .filter(|_| !self.system)
                .map(|files| files.ca.as_path()),
            ca_options: "sslrootcert in the URL",
            certificate: certificate.map(|(file, _)| file.as_path()),
            certificate_options: "sslcert and sslkey in the URL",
            without_tls: "set `ssl = on` with a certificate in postgresql.conf, or sslmode=disable in the URL where the network itself is \
                          protected",
            version_setting: "`ssl_min_protocol_version` and `ssl_max_protocol_version` in postgresql.conf",
            version_needed: "of PostgreSQL 12 or newer",
        };
        if let Some(error) = refusal::tls_error(error) {
            return refusal::explained(error, &parties);
        }
        match error.source() {
            // The library has no other mark for it.
            Some(cause) if cause.to_string() == "server does not support TLS" => {
                refusal::no_tls(&parties)
            }
            _ => with_remedy(error),
        }
    }
}

impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.names)
    }
}

/// Takes out of a URL what it has for TLS: the client's library knows none of it but the mode, and of that less than libpq.
fn split_tls_parameters(url: &str) -> Result<(String, TlsParameters), String> {
    let mut asked = TlsParameters::default();
    let Some((server, query)) = url.split_once('?') else {
        return Ok((url.to_owned(), asked));
    };
    let mut rest = Vec::new();
    for pair in query.split('&') {
        let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
        let path = || -> Result<Option<PathBuf>, String> {
            match value.contains('%') || value.is_empty() {
                true => Err(format!("{key} must be the path of a file, without %")),
                false => Ok(Some(value.into())),
            }
        };
        match key {
            "sslmode" => asked.mode = Some(value.to_owned()),
            "sslrootcert" if value == "system" => {}
            "sslrootcert" => asked.ca = path()?,
            "sslcert" => asked.certificate = path()?,
            "sslkey" => asked.key = path()?,
            _ => rest.push(pair),
        }
    }
    Ok((format!("{server}?{}", rest.join("&")), asked))
}

fn messages<T>(mut connection: Connection<Socket, T>) -> Messages
where
    T: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    Box::pin(stream::poll_fn(move |context| {
        connection.poll_message(context)
    }))
}

fn with_remedy(error: &tokio_postgres::Error) -> String {
    format!(
        "{}; the URL is postgresql://USER:PASSWORD@HOST:PORT/DATABASE, the user may create tables there",
        explain(error)
    )
}

/// An error in one line, with its cause.
pub(super) fn explain(error: &tokio_postgres::Error) -> String {
    match error.as_db_error() {
        Some(error) => error.to_string(),
        None => match error.source() {
            Some(source) => format!("{error}: {source}"),
            None => error.to_string(),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mode(url: &str) -> SslMode {
        Server::parse(url).unwrap().config.get_ssl_mode()
    }

    #[test]
    fn servers_of_other_hosts_are_reached_over_tls() {
        let ca = "sslrootcert=/ca.pem";
        for url in [
            "postgresql:///gtrace?host=/run/postgresql",
            "postgresql://gtrace:secret@localhost/gtrace",
            "postgresql://gtrace@127.0.0.1:5433,localhost/gtrace?sslmode=prefer",
            "postgresql://gtrace@[::1]/gtrace",
            "postgresql://gtrace@db.example.com/gtrace?sslmode=disable",
        ] {
            assert_eq!(mode(url), SslMode::Disable, "{url}");
        }
        for url in [
            format!("postgresql://gtrace@db.example.com/gtrace?{ca}"),
            format!("postgresql://gtrace@db.example.com/gtrace?{ca}&sslmode=prefer"),
            format!("postgresql://gtrace@localhost,db.example.com/gtrace?{ca}"),
            format!("postgresql://gtrace@localhost/gtrace?hostaddr=192.0.2.1&{ca}"),
            format!("postgresql://gtrace@localhost/gtrace?{ca}&sslmode=verify-full"),
            format!("postgresql://gtrace@localhost/gtrace?{ca}"),
        ] {
            assert_eq!(mode(&url), SslMode::Require, "{url}");
        }
    }

    #[test]
    fn what_is_wrong_with_a_url_is_said() {
        for (url, wanted) in [
            ("postgresql://a@h/d?sslmode=maybe", "sslmode=maybe"),
            ("postgresql://a@h/d?sslcert=/c.pem", "go together"),
            ("postgresql://a@h/d?sslrootcert=", "path of a file"),
            ("postgresql://a@h/d?sslkey=%2Fk&sslcert=/c", "without %"),
            ("postgresql://a@h:x/d", "port"),
            ("postgresql://a@h/d?colour=red", "colour"),
        ] {
            let why = Server::parse(url).unwrap_err();
            assert!(why.contains(wanted), "{url}: {why}");
        }
    }

    #[test]
    fn passwords_and_other_parameters_stay() {
        let url = "postgresql://gtrace:p%3Fw@db/gtrace?sslmode=require&application_name=head&sslrootcert=system&connect_timeout=3";
        let server = Server::parse(url).unwrap();
        assert_eq!(server.config.get_password(), Some(&b"p?w"[..]));
        assert_eq!(server.config.get_application_name(), Some("head"));
        assert_eq!(
            server.config.get_connect_timeout(),
            Some(&Duration::from_secs(3))
        );
        assert!(server.system);
    }
}
