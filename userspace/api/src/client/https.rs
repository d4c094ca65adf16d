//! Daemons and heads on other hosts: where they are, and what this client shows them.

use std::fmt;
use std::io;
use std::net::{TcpStream, ToSocketAddrs as _};
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use gtrace_tls::refusal::shown_authority;
use gtrace_tls::{ClientFiles, bearer_token, client_config, system_authorities};
use rustls::pki_types::ServerName;
use rustls::{
    AlertDescription, CertificateError, ClientConfig, ClientConnection, Error, StreamOwned,
};

use super::ClientError;
use super::wire::Connection;

/// `https://HOST:PORT`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HttpsUrl {
    /// A name, or an address without brackets.
    host: String,
    port: u16,
}

/// A text that is no [`HttpsUrl`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UrlError {
    /// The credential could be read on the way.
    #[error("`{0}` is not https://: without TLS its credential could be read on the way")]
    NoTls(String),
    /// A port is missing; there is no usual one.
    #[error("`{0}` has no port: https://HOST:PORT, with the port of its `listen`, such as 7471")]
    NoPort(String),
    /// It is something else.
    #[error("`{0}` is no https://HOST:PORT, such as https://node7:7471")]
    Malformed(String),
}

impl FromStr for HttpsUrl {
    type Err = UrlError;

    fn from_str(text: &str) -> Result<Self, UrlError> {
        let malformed = || UrlError::Malformed(text.to_owned());
        let rest = match text.split_once("://") {
            Some((scheme, rest)) if scheme.eq_ignore_ascii_case("https") => rest,
            Some((scheme, _)) if scheme.eq_ignore_ascii_case("http") => {
                return Err(UrlError::NoTls(text.to_owned()));
            }
            _ => return Err(malformed()),
        };
        let rest = rest.strip_suffix('/').unwrap_or(rest);
        // An IPv6 address has colons of its own, and is in brackets.
        let (host, port) = match rest.strip_prefix('[') {
            Some(rest) => {
                let (host, port) = rest.split_once(']').ok_or_else(malformed)?;
                host.parse::<std::net::Ipv6Addr>()
                    .map_err(|_| malformed())?;
                (host, port.strip_prefix(':'))
            }
            None => match rest.split_once(':') {
                Some((host, port)) => (host, Some(port)),
                None => (rest, None),
            },
        };
        ServerName::try_from(host).map_err(|_| malformed())?;
        let port = port.ok_or_else(|| UrlError::NoPort(text.to_owned()))?;
        Ok(Self {
            host: host.to_owned(),
            port: port.parse().map_err(|_| malformed())?,
        })
    }
}

impl fmt::Display for HttpsUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "https://{}", self.authority())
    }
}

impl HttpsUrl {
    /// `HOST:PORT`, as a URL and the header `Host` have it.
    pub(super) fn authority(&self) -> String {
        match self.host.contains(':') {
            true => format!("[{}]:{}", self.host, self.port),
            false => format!("{}:{}", self.host, self.port),
        }
    }
}

/// Where a daemon or a head is, and the files of this client. They are read for each connection: tokens and certificates
/// are renewed while a client lasts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HttpsEndpoint {
    /// Where it listens.
    pub url: HttpsUrl,
    /// File with the bearer token.
    pub token_file: Option<PathBuf>,
    /// PEM file of the authorities that its certificate is checked against; `None`: those that the system trusts.
    pub ca: Option<PathBuf>,
    /// PEM files of the client's certificate and of its private key.
    pub identity: Option<(PathBuf, PathBuf)>,
}

impl HttpsEndpoint {
    pub(super) fn token(&self) -> Result<Option<String>, ClientError> {
        let token = self.token_file.as_deref().map(bearer_token).transpose();
        token.map_err(|error| ClientError::Tls(error.to_string()))
    }

    pub(super) fn config(&self) -> Result<Arc<ClientConfig>, ClientError> {
        let ca = match (&self.ca, system_authorities()) {
            (Some(ca), _) => ca.clone(),
            (None, Some(ca)) => ca.to_owned(),
            (None, None) => {
                let why = "this host trusts no authorities: name the server's with --ca";
                return Err(ClientError::Tls(why.to_owned()));
            }
        };
        let files = ClientFiles {
            ca,
            identity: self.identity.clone(),
        };
        client_config(&files, &[b"http/1.1"]).map_err(|error| ClientError::Tls(error.to_string()))
    }

    /// Tries each address of the host; `deadline` is for one of them.
    pub(super) fn connect(&self, deadline: Duration) -> io::Result<TcpStream> {
        let addresses = (self.url.host.as_str(), self.url.port).to_socket_addrs()?;
        let mut last = io::Error::new(io::ErrorKind::NotFound, "the host has no address");
        for address in addresses {
            match TcpStream::connect_timeout(&address, deadline) {
                Ok(stream) => return Ok(stream),
                Err(error) => last = error,
            }
        }
        Err(last)
    }

    /// Goes through the handshake, so that a request goes to nobody else.
    pub(super) fn secure(
        &self,
        stream: TcpStream,
        config: Arc<ClientConfig>,
        deadline: Duration,
    ) -> io::Result<Connection> {
        let name = ServerName::try_from(self.url.host.clone()).map_err(io::Error::other)?;
        let session = ClientConnection::new(config, name).map_err(io::Error::other)?;
        let mut secured = StreamOwned::new(session, stream);
        secured.sock.set_read_timeout(Some(deadline))?;
        secured.sock.set_write_timeout(Some(deadline))?;
        while secured.conn.is_handshaking() {
            secured.conn.complete_io(&mut secured.sock)?;
        }
        Ok(Connection::Tls(Box::new(secured)))
    }
}

/// What of TLS failed, and what to do; `None` of another error.
pub(super) fn refusal(error: &io::Error) -> Option<String> {
    use AlertDescription as Alert;
    let error = error.get_ref()?.downcast_ref::<Error>()?;
    if let Error::InvalidCertificate(wrong) = error
        && let Some(what) = shown_authority(wrong)
    {
        return Some(format!("the server's certificate {what}"));
    }
    Some(match error {
        // The latter where an authority of the same name signed it.
        Error::InvalidCertificate(
            CertificateError::UnknownIssuer | CertificateError::BadSignature,
        ) => {
            "none of the authorities that this client trusts has signed the server's certificate: name its authority with --ca"
                .to_owned()
        }
        Error::InvalidCertificate(
            CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
        ) => format!("{error}: use a name that the server's certificate has"),
        Error::InvalidCertificate(
            CertificateError::Expired | CertificateError::ExpiredContext { .. },
        ) => format!("{error}: renew the server's certificate, or set this host's clock"),
        Error::AlertReceived(
            alert @ (Alert::BadCertificate
            | Alert::UnsupportedCertificate
            | Alert::CertificateRevoked
            | Alert::CertificateExpired
            | Alert::CertificateUnknown
            | Alert::CertificateRequired
            | Alert::UnknownCA
            | Alert::AccessDenied
            | Alert::DecryptError),
        ) => format!("the server refuses this client's certificate ({alert:?})"),
        Error::InvalidMessage(_) => {
            format!("{error}: does something else than gtrace listen there, or without TLS?")
        }
        error => error.to_string(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_has_a_host_a_port_and_nothing_else() {
        for text in [
            "https://node7:7471",
            "https://10.0.0.1:1",
            "https://[::1]:7471",
        ] {
            let url: HttpsUrl = text.parse().unwrap();
            assert_eq!(url.to_string(), text);
            assert_eq!(format!("{text}/").parse(), Ok(url));
        }
        let refused = |text: &str| text.parse::<HttpsUrl>().unwrap_err();
        for text in [
            "",
            "node7:7471",
            "https://",
            "https://:7471",
            "https://node7:0x1",
            "https://node7:99999",
            "https://user@node7:7471",
            "https://node7:7471/api",
            "https://node7:7471?x",
            "https://[::1:7471",
            "https://[node7]:7471",
            "https://a\r\nb:1",
            "ftp://node7:7471",
        ] {
            assert!(matches!(refused(text), UrlError::Malformed(_)), "{text}");
        }
        assert!(matches!(refused("http://node7:7471"), UrlError::NoTls(_)));
        assert!(matches!(refused("https://node7"), UrlError::NoPort(_)));
        assert!(matches!(refused("https://[::1]"), UrlError::NoPort(_)));
    }
}
