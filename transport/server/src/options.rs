//! The options of a server.

use std::fmt;
use std::net::{SocketAddr, ToSocketAddrs as _};
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use gtrace_link::Networks;
use serde::{Deserialize, Serialize};

/// Port of GPU-over-IP.
pub const PORT: u16 = 7471;

/// An address to listen on.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Listen {
    /// TCP.
    Tcp(SocketAddr),
    /// A Unix socket.
    Unix(PathBuf),
}

impl Listen {
    /// Whether only this host can reach it.
    pub fn is_local(&self) -> bool {
        match self {
            Self::Tcp(address) => address.ip().is_loopback(),
            Self::Unix(_) => true,
        }
    }
}

impl fmt::Display for Listen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp(address) => write!(f, "{address}"),
            Self::Unix(path) => write!(f, "unix:{}", path.display()),
        }
    }
}

impl FromStr for Listen {
    type Err = String;

    /// `HOST:PORT`, `HOST`, `[::1]:PORT`, `unix:/path`.
    fn from_str(text: &str) -> Result<Self, String> {
        if let Some(path) = text.strip_prefix("unix:") {
            if path.is_empty() {
                return Err("`unix:` needs a path, as in unix:/run/gtrace/serve.sock".into());
            }
            return Ok(Self::Unix(path.into()));
        }
        if let Ok(address) = text.parse() {
            return Ok(Self::Tcp(address));
        }
        let with_port = if text.contains(':') && !text.ends_with(']') {
            text.to_owned()
        } else {
            format!("{text}:{PORT}")
        };
        let mut found = with_port.to_socket_addrs().map_err(|e| {
            format!("`{text}` is no address to listen on: {e}; use HOST:PORT or unix:/path")
        })?;
        found
            .next()
            .map(Self::Tcp)
            .ok_or_else(|| format!("`{text}` has no address"))
    }
}

/// What each client may use.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// Device memory, bytes, over all devices.
    pub max_memory: Option<u64>,
    /// Devices that are visible: ordinals or UUIDs, as CUDA_VISIBLE_DEVICES takes them.
    pub gpus: Option<String>,
    /// Frames that a lane may have on the way.
    pub credits: u32,
    /// Lanes of a session.
    pub max_lanes: u16,
}

/// The options of a server.
#[derive(Clone, Debug)]
pub struct Options {
    /// Where to listen.
    pub listen: Vec<Listen>,
    /// Listeners that may fail, with a line in the log.
    pub listen_optional: Vec<Listen>,
    /// Permissions of Unix sockets for clients.
    pub socket_mode: u32,
    /// The socket that gives its state; `None`: none.
    pub status_socket: Option<PathBuf>,
    /// The driver's library; `None`: where it usually is.
    pub libcuda: Option<PathBuf>,
    /// NVML's library; `None`: where it usually is.
    pub libnvml: Option<PathBuf>,
    /// What clients have to know.
    pub token: Option<String>,
    /// Certificate and key, PEM files.
    pub tls: Option<(PathBuf, PathBuf)>,
    /// Networks whose fabric is trusted with plaintext, to whose hosts RDMA is used.
    pub rdma_trusted: Networks,
    /// Listen beyond loopback without token and TLS.
    pub insecure: bool,
    /// What each client may use.
    pub limits: Limits,
    /// Most clients at a time.
    pub max_clients: usize,
    /// Most clients at a time that have not shown yet that they know the token.
    pub max_pending: usize,
    /// Where kernel images are kept; `None`: nowhere.
    pub image_cache: Option<PathBuf>,
    /// Most bytes of it.
    pub image_cache_max: u64,
    /// How long a connection may take for its preamble.
    pub preamble_deadline: Duration,
    /// How long a lane whose connection breaks is kept for its client, at most; zero: not at all.
    pub resume: Duration,
    /// Environment of the workers in addition.
    pub environment: Vec<(String, String)>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            listen: Vec::new(),
            listen_optional: Vec::new(),
            socket_mode: 0o660,
            status_socket: None,
            libcuda: None,
            libnvml: None,
            token: None,
            tls: None,
            rdma_trusted: Networks::default(),
            insecure: false,
            limits: Limits {
                max_memory: None,
                gpus: None,
                credits: 16 << 10,
                max_lanes: 1024,
            },
            max_clients: 64,
            max_pending: 16,
            image_cache: None,
            image_cache_max: 2 << 30,
            preamble_deadline: Duration::from_secs(2),
            resume: gtrace_link::RESUME,
            environment: Vec::new(),
        }
    }
}

impl Options {
    /// That nothing beyond this host is reachable without token and TLS.
    ///
    /// # Errors
    ///
    /// What is missing and what to do.
    pub fn check(&self) -> Result<(), String> {
        let open: Vec<String> = self
            .listen
            .iter()
            .filter(|listen| !listen.is_local())
            .map(ToString::to_string)
            .collect();
        if open.is_empty() || self.insecure {
            return Ok(());
        }
        let missing = match (&self.token, &self.tls) {
            (Some(_), Some(_)) => return Ok(()),
            (Some(_), None) => "--tls-cert and --tls-key",
            (None, Some(_)) => "--token-file",
            (None, None) => "--token-file, --tls-cert and --tls-key",
        };
        Err(format!(
            "{} can be reached from other hosts, and whoever reaches it runs programs on the GPU: \
             give {missing}, listen on 127.0.0.1 behind a tunnel, or say --insecure if every host \
             that reaches it may do so",
            open.join(", ")
        ))
    }
}

/// Bytes from `512`, `16M`, `8GiB`: K, M, G and T are powers of 1024.
///
/// # Errors
///
/// What is wrong with it.
pub fn parse_size(text: &str) -> Result<u64, String> {
    let wrong = || format!("`{text}` is no size: use a number with K, M, G or T, such as 8G");
    let end = text
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(text.len());
    let (digits, unit) = text.split_at(end);
    let unit = unit.trim().trim_end_matches("iB").trim_end_matches('B');
    let shift = match unit {
        "" => 0,
        "k" | "K" => 10,
        "M" => 20,
        "G" => 30,
        "T" => 40,
        _ => return Err(wrong()),
    };
    let number: u64 = digits.parse().map_err(|_| wrong())?;
    number.checked_mul(1 << shift).ok_or_else(wrong)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read() {
        let tcp = |text: &str| Listen::Tcp(text.parse().unwrap());
        assert_eq!("127.0.0.1".parse(), Ok(tcp("127.0.0.1:7471")));
        assert_eq!("127.0.0.1:80".parse(), Ok(tcp("127.0.0.1:80")));
        assert_eq!("[::1]:80".parse(), Ok(tcp("[::1]:80")));
        assert_eq!("[::1]".parse(), Ok(tcp("[::1]:7471")));
        assert_eq!("unix:/run/x".parse(), Ok(Listen::Unix("/run/x".into())));
        assert!("unix:".parse::<Listen>().is_err());
        assert!("127.0.0.1:port".parse::<Listen>().is_err());
    }

    #[test]
    fn beyond_this_host_needs_token_and_tls() {
        let mut options = Options {
            listen: vec!["0.0.0.0:7471".parse().unwrap()],
            ..Options::default()
        };
        assert!(options.check().unwrap_err().contains("--token-file"));
        options.token = Some("secret".into());
        let error = options.check().unwrap_err();
        assert!(error.contains("--tls-cert") && !error.contains("--token-file"));
        options.insecure = true;
        assert_eq!(options.check(), Ok(()));
        options = Options {
            listen: vec!["127.0.0.1:7471".parse().unwrap()],
            ..Options::default()
        };
        assert_eq!(options.check(), Ok(()));
    }

    #[test]
    fn sizes_are_read() {
        assert_eq!(parse_size("512"), Ok(512));
        assert_eq!(parse_size("8G"), Ok(8 << 30));
        assert_eq!(parse_size("8GiB"), Ok(8 << 30));
        assert_eq!(parse_size("64MB"), Ok(64 << 20));
        assert!(parse_size("many").is_err());
        assert!(parse_size("99999999999T").is_err());
    }
}
