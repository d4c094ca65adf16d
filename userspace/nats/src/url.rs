//! Where the servers are.

use std::fmt;
use std::str::FromStr;

use gtrace_tls::is_loopback;

/// Port of a server that names none.
const PORT: u16 = 4222;

/// NATS servers of one cluster: `nats://HOST[:PORT][,HOST[:PORT]…]`.
///
/// TLS is required of each that is not on this host's loopback, and of all with `tls://`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NatsUrl {
    tls: bool,
    servers: Vec<(String, u16)>,
}

/// A text that is no URL of NATS servers.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NatsUrlError {
    /// It is something else.
    #[error("`{0}` is no URL of NATS servers: it is nats://HOST:PORT or nats://HOST1,HOST2,HOST3")]
    Malformed(String),
    /// Others see the command line.
    #[error(
        "the URL of NATS servers has no user or token: put it into a file of its own (--nats-credentials FILE)"
    )]
    Credentials,
}

impl NatsUrl {
    /// Whether TLS is required.
    pub fn is_tls(&self) -> bool {
        self.tls || !self.servers.iter().all(|(host, _)| is_loopback(host))
    }

    /// A URL for each server.
    pub(crate) fn servers(&self) -> Vec<String> {
        let scheme = if self.is_tls() { "tls" } else { "nats" };
        let server = |one: &(String, u16)| format!("{scheme}://{}", with_port(one));
        self.servers.iter().map(server).collect()
    }
}

fn with_port((host, port): &(String, u16)) -> String {
    match host.contains(':') {
        true => format!("[{host}]:{port}"),
        false => format!("{host}:{port}"),
    }
}

impl FromStr for NatsUrl {
    type Err = NatsUrlError;

    fn from_str(text: &str) -> Result<Self, NatsUrlError> {
        let malformed = || NatsUrlError::Malformed(text.to_owned());
        let (tls, rest) = match text.strip_prefix("nats://") {
            Some(rest) => (false, rest),
            None => (true, text.strip_prefix("tls://").ok_or_else(malformed)?),
        };
        if rest.contains('@') {
            return Err(NatsUrlError::Credentials);
        }
        let rest = rest.strip_suffix('/').unwrap_or(rest);
        let servers: Option<Vec<_>> = rest.split(',').map(server).collect();
        let servers = servers.ok_or_else(malformed)?;
        Ok(Self { tls, servers })
    }
}

fn server(text: &str) -> Option<(String, u16)> {
    let (host, port) = match text.strip_prefix('[') {
        Some(rest) => {
            let (host, rest) = rest.split_once(']')?;
            host.parse::<std::net::Ipv6Addr>().ok()?;
            let port = match rest {
                "" => None,
                rest => Some(rest.strip_prefix(':')?),
            };
            (host, port)
        }
        None => match text.split_once(':') {
            Some((host, port)) => (host, Some(port)),
            None => (text, None),
        },
    };
    let fine = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | '_' | ':');
    let port = match port {
        Some(port) => port.parse().ok().filter(|port| *port > 0)?,
        None => PORT,
    };
    (!host.is_empty() && host.chars().all(fine)).then(|| (host.to_owned(), port))
}

impl fmt::Display for NatsUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let servers: Vec<String> = self.servers.iter().map(with_port).collect();
        let scheme = if self.tls { "tls" } else { "nats" };
        write!(f, "{scheme}://{}", servers.join(","))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_name_servers_and_those_of_other_hosts_need_tls() {
        let url: NatsUrl = "nats://n1.example.com,10.0.0.2:4223,[fd00::1]:4224"
            .parse()
            .unwrap();
        assert_eq!(
            url.to_string(),
            "nats://n1.example.com:4222,10.0.0.2:4223,[fd00::1]:4224"
        );
        assert_eq!(url.to_string().parse(), Ok(url.clone()));
        assert_eq!(url.servers()[2], "tls://[fd00::1]:4224");
        assert!(url.is_tls());
        let local: NatsUrl = "nats://127.0.0.1:4222,localhost".parse().unwrap();
        assert!(!local.is_tls());
        assert_eq!(local.servers()[1], "nats://localhost:4222");
        assert!("tls://127.0.0.1".parse::<NatsUrl>().unwrap().is_tls());
        for wrong in [
            "nats://",
            "http://a",
            "nats://a,,b",
            "nats://a:0",
            "nats://a/b",
            "nats://a:b",
            "a",
        ] {
            let error = wrong.parse::<NatsUrl>().unwrap_err();
            assert!(matches!(error, NatsUrlError::Malformed(_)), "{wrong}");
        }
        let error = "nats://user:secret@a".parse::<NatsUrl>().unwrap_err();
        assert!(!error.to_string().contains("secret"));
    }
}
