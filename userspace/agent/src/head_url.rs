//! Where a head is.

use std::fmt;
use std::str::FromStr;

use gtrace_nats::{NatsUrl, NatsUrlError};
use gtrace_tls::is_loopback;
use hyper::Uri;

/// Where a head is: `https://HOST:PORT`, or `http://` on loopback; or the NATS servers between: `nats://HOST[,HOST…]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HeadUrl {
    /// Straight to it.
    Http(HttpUrl),
    /// Through NATS JetStream.
    Nats(NatsUrl),
}

/// Where a head is: `https://HOST:PORT`, or `http://` on loopback.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HttpUrl {
    pub(crate) tls: bool,
    pub(crate) host: String,
    pub(crate) port: u16,
}

impl FromStr for HttpUrl {
    type Err = UrlError;

    fn from_str(text: &str) -> Result<Self, UrlError> {
        let malformed = || UrlError::Malformed(text.to_owned());
        let uri: Uri = text.parse().map_err(|_| malformed())?;
        let tls = match uri.scheme_str() {
            Some("https") => true,
            Some("http") => false,
            _ => return Err(malformed()),
        };
        let fine = matches!(uri.path(), "" | "/");
        let (Some(host), Some(port), true) = (uri.host(), uri.port_u16(), fine) else {
            return Err(malformed());
        };
        let bare = host.trim_start_matches('[').trim_end_matches(']');
        match tls || is_loopback(bare) {
            true => Ok(Self {
                tls,
                host: bare.to_owned(),
                port,
            }),
            false => Err(UrlError::NotLoopback(text.to_owned())),
        }
    }
}

impl fmt::Display for HttpUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = if self.tls { "https" } else { "http" };
        match self.host.contains(':') {
            true => write!(f, "{scheme}://[{}]:{}", self.host, self.port),
            false => write!(f, "{scheme}://{}:{}", self.host, self.port),
        }
    }
}

/// A text that is no URL of a head.
#[derive(Debug, thiserror::Error)]
pub enum UrlError {
    /// It is something else.
    #[error(
        "`{0}` is no URL of a head: it is https://HOST:PORT, or http://127.0.0.1:7480 on the head's own host; through NATS (nats://HOST) a host ships once it was enrolled there"
    )]
    Malformed(String),
    /// Credentials would go over the network in clear.
    #[error(
        "`{0}` is not on this host's loopback: without TLS its credential could be read on the way; use https://"
    )]
    NotLoopback(String),
    /// NATS servers are named in another way.
    #[error(transparent)]
    Nats(#[from] NatsUrlError),
    /// A name of a site is none.
    #[error("{0}")]
    Site(String),
}

impl FromStr for HeadUrl {
    type Err = UrlError;

    fn from_str(text: &str) -> Result<Self, UrlError> {
        match text.starts_with("nats://") || text.starts_with("tls://") {
            true => Ok(Self::Nats(text.parse()?)),
            false => text.parse().map(Self::Http),
        }
    }
}

impl fmt::Display for HeadUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Http(url) => url.fmt(f),
            Self::Nats(url) => url.fmt(f),
        }
    }
}
