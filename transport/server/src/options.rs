//! The options of a server.

use std::fmt;
use std::net::{SocketAddr, ToSocketAddrs as _};
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;

use gtrace_link::Networks;
use serde::{Deserialize, Serialize};

use crate::sandbox::{Confinement, SandboxMode, Users};

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
    /// File of named tokens and certificates of clients; each is enough, as is the token above.
    pub credentials: Option<PathBuf>,
    /// Certificate and key, PEM files.
    pub tls: Option<(PathBuf, PathBuf)>,
    /// Authorities whose certificates clients may show, and what those have revoked, PEM files.
    pub tls_client_ca: Option<PathBuf>,
    /// See above.
    pub tls_client_crl: Option<PathBuf>,
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
    /// Whether workers are confined.
    pub sandbox: SandboxMode,
    /// Whom workers become; `None`: users that nobody has, where the server may give them out.
    pub worker_users: Option<Users>,
    /// Most memory of this host that each worker has, bytes, where there are control groups.
    pub worker_memory: Option<u64>,
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
            credentials: None,
            tls: None,
            tls_client_ca: None,
            tls_client_crl: None,
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
            sandbox: SandboxMode::On,
            worker_users: None,
            worker_memory: None,
            environment: Vec::new(),
        }
    }
}

impl Options {
    /// That nothing beyond this host is reachable without token and TLS, and that nothing is given which is not used.
    ///
    /// # Errors
    ///
    /// What is missing and what to do.
    pub fn check(&self) -> Result<(), String> {
        if self.tls_client_ca.is_some() && (self.tls.is_none() || self.credentials.is_none()) {
            return Err(
                "--tls-client-ca needs --tls-cert and --tls-key, and --credentials, whose [[certificate]] entries say \
                 which certificates may do what"
                    .into(),
            );
        }
        if self.tls_client_crl.is_some() && self.tls_client_ca.is_none() {
            return Err("--tls-client-crl needs --tls-client-ca".into());
        }
        let open: Vec<String> = self
            .listen
            .iter()
            .filter(|listen| !listen.is_local())
            .map(ToString::to_string)
            .collect();
        if open.is_empty() || self.insecure {
            return Ok(());
        }
        let asks = self.token.is_some() || self.credentials.is_some();
        let missing = match (asks, &self.tls) {
            (true, Some(_)) => return Ok(()),
            (true, None) => "--tls-cert and --tls-key",
            (false, Some(_)) => "--token-file or --credentials",
            (false, None) => "--token-file or --credentials, and --tls-cert and --tls-key",
        };
        Err(format!(
            "{} can be reached from other hosts, and whoever reaches it runs programs on the GPU: \
             give {missing}, listen on 127.0.0.1 behind a tunnel, or say --insecure if every host \
             that reaches it may do so",
            open.join(", ")
        ))
    }

    /// How a worker confines itself that becomes `user` and opens these libraries; `None`: not at all.
    pub(crate) fn confinement<'a>(
        &self,
        user: Result<(u32, u32), String>,
        libraries: impl Iterator<Item = &'a Path>,
    ) -> Option<Confinement> {
        if self.sandbox == SandboxMode::Off {
            return None;
        }
        let folders = libraries.filter_map(Path::parent).map(Path::to_owned);
        let mps = std::env::var_os("CUDA_MPS_PIPE_DIRECTORY");
        Some(Confinement {
            user,
            rdma: !self.rdma_trusted.is_empty(),
            folders: folders.collect(),
            mps: mps.map(PathBuf::from),
        })
    }
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
}
