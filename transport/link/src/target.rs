//! Where a client connects to, and how.

use std::env;
use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use crate::auth::Token;
use crate::emulated::Emulation;
use crate::link::LinkError;
use crate::networks::Networks;
use crate::tcp::TlsClient;

/// Port of `gtrace serve`.
pub const DEFAULT_PORT: u16 = 7471;
/// Longest wait of a server for what a client has to say in the handshake.
pub const HANDSHAKE: Duration = Duration::from_secs(2);
/// Longest wait of a client for a connection, and again for the handshake: the server may have to
/// start a process and its driver.
pub const CONNECT: Duration = Duration::from_secs(10);

/// Address of a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Address {
    /// Host name or IP address, and port.
    Tcp(String, u16),
    /// Path of a Unix socket.
    Unix(PathBuf),
}

impl FromStr for Address {
    type Err = LinkError;

    /// Reads `HOST`, `HOST:PORT`, `[IPV6]:PORT` or `unix:/path`.
    fn from_str(text: &str) -> Result<Self, LinkError> {
        let bad = |cause: &str| {
            LinkError::Usage(format!(
                "`{text}` is no address of a server: {cause}; write HOST:{DEFAULT_PORT}, \
                 [::1]:{DEFAULT_PORT} or unix:/path/of/socket"
            ))
        };
        if let Some(path) = text.strip_prefix("unix:") {
            return match path.is_empty() {
                true => Err(bad("the path is missing")),
                false => Ok(Self::Unix(path.into())),
            };
        }
        let (host, port) = if let Some(rest) = text.strip_prefix('[') {
            let (host, rest) = rest.split_once(']').ok_or_else(|| bad("`]` is missing"))?;
            match rest.strip_prefix(':') {
                Some(port) => (host, Some(port)),
                None if rest.is_empty() => (host, None),
                None => return Err(bad("something else than a port follows `]`")),
            }
        } else {
            match text.split_once(':') {
                Some((_, port)) if port.contains(':') => {
                    return Err(bad("an IPv6 address stands in brackets"));
                }
                Some((host, port)) => (host, Some(port)),
                None => (text, None),
            }
        };
        if host.is_empty() || host.contains(['/', ' ']) {
            return Err(bad("the host is missing"));
        }
        let port = match port {
            None => DEFAULT_PORT,
            Some(port) => match port.parse() {
                Ok(0) | Err(_) => return Err(bad("the port is no number from 1 to 65535")),
                Ok(port) => port,
            },
        };
        Ok(Self::Tcp(host.to_owned(), port))
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp(host, port) if host.contains(':') => write!(f, "[{host}]:{port}"),
            Self::Tcp(host, port) => write!(f, "{host}:{port}"),
            Self::Unix(path) => write!(f, "unix:{}", path.display()),
        }
    }
}

/// Which link is wanted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Preference {
    /// The quickest that works.
    #[default]
    Auto,
    /// Shared memory or nothing.
    SharedMemory,
    /// A Unix socket or nothing.
    Unix,
    /// TCP or nothing, with TLS if that was asked for.
    Tcp,
    /// RDMA or nothing.
    Rdma,
}

impl FromStr for Preference {
    type Err = LinkError;

    fn from_str(text: &str) -> Result<Self, LinkError> {
        match text {
            "auto" | "" => Ok(Self::Auto),
            "shm" => Ok(Self::SharedMemory),
            "unix" => Ok(Self::Unix),
            "tcp" => Ok(Self::Tcp),
            "rdma" => Ok(Self::Rdma),
            _ => Err(LinkError::Usage(format!(
                "`{text}` is no link; choose auto, shm, unix, tcp or rdma"
            ))),
        }
    }
}

impl fmt::Display for Preference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Auto => "auto",
            Self::SharedMemory => "shm",
            Self::Unix => "unix",
            Self::Tcp => "tcp",
            Self::Rdma => "rdma",
        })
    }
}

/// Where to connect to, and how.
#[derive(Clone, Debug)]
pub struct Target {
    /// The server.
    pub address: Address,
    /// TLS over TCP; none for clear text.
    pub tls: Option<TlsClient>,
    /// What the server must know too.
    pub token: Option<Token>,
    /// Which link is wanted.
    pub link: Preference,
    /// Networks whose fabric is trusted with plaintext: RDMA is asked of servers in there only.
    pub rdma_trusted: Networks,
    /// A slower network than there is.
    pub emulate: Option<Emulation>,
    /// Longest wait for the connection, and again for the handshake.
    pub timeout: Duration,
    /// How long a lane whose connection breaks waits for another one; zero: not at all.
    pub resume: Duration,
}

/// How long a lane waits for another connection unless somebody says otherwise.
pub const RESUME: Duration = Duration::from_secs(30);
/// The longest that makes sense.
const RESUME_MAX: Duration = Duration::from_secs(24 * 60 * 60);

/// Reads a time as `30s`, `5m`, `500ms` or `0`, at most a day.
pub fn parse_resume(text: &str) -> Result<Duration, String> {
    let wrong = || {
        format!(
            "`{text}` is no time to wait for a connection: use a number with ms, s, m or h, such as 30s, at most 24h, or 0"
        )
    };
    let text = text.trim();
    let end = text
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(text.len());
    let (digits, unit) = text.split_at(end);
    let number: u64 = digits.parse().map_err(|_| wrong())?;
    let ms = match unit {
        "ms" => 1,
        "s" => 1000,
        "m" => 60_000,
        "h" => 3_600_000,
        "" if number == 0 => 0,
        _ => return Err(wrong()),
    };
    let time = number.checked_mul(ms).map(Duration::from_millis);
    time.filter(|time| *time <= RESUME_MAX).ok_or_else(wrong)
}

impl Target {
    /// The server at `address`, with nothing but defaults.
    ///
    /// # Errors
    ///
    /// [`LinkError::Usage`] with the remedy.
    pub fn parse(address: &str) -> Result<Self, LinkError> {
        Ok(Self {
            address: address.parse()?,
            tls: None,
            token: None,
            link: Preference::default(),
            rdma_trusted: Networks::default(),
            emulate: None,
            timeout: CONNECT,
            resume: Duration::ZERO,
        })
    }

    /// Longest handshake, which the emulated network makes longer.
    pub(crate) fn handshake(&self) -> Duration {
        self.slower(self.timeout)
    }

    /// `time` and what the emulated network adds to some round trips.
    pub(crate) fn slower(&self, time: Duration) -> Duration {
        let emulation = self.emulate.unwrap_or_default();
        time + 8 * (emulation.rtt + 2 * emulation.jitter)
    }

    /// What the environment says: `GTRACE_REMOTE`, `GTRACE_TOKEN_FILE`, `GTRACE_TLS_CA`,
    /// `GTRACE_TLS_NAME`, `GTRACE_TLS_CERT`, `GTRACE_TLS_KEY`, `GTRACE_LINK`, `GTRACE_RDMA_TRUSTED_NET`, `GTRACE_EMULATE`, `GTRACE_RESUME`.
    ///
    /// # Errors
    ///
    /// [`LinkError::Usage`] with the variable's name.
    pub fn from_env() -> Result<Self, LinkError> {
        Self::from_variables(|name| env::var_os(name).filter(|value| !value.is_empty()))
    }

    /// As [`Target::from_env`], from variables that `get` returns.
    ///
    /// # Errors
    ///
    /// [`LinkError::Usage`] with the variable's name.
    pub fn from_variables(get: impl Fn(&str) -> Option<OsString>) -> Result<Self, LinkError> {
        let text = |name: &str| -> Result<Option<String>, LinkError> {
            get(name)
                .map(|value| {
                    value
                        .into_string()
                        .map_err(|_| LinkError::Usage(format!("{name} is not UTF-8")))
                })
                .transpose()
        };
        let named = |name: &'static str| {
            move |error: LinkError| LinkError::Usage(format!("{name}: {error}"))
        };
        let address = text("GTRACE_REMOTE")?.ok_or_else(|| {
            LinkError::Usage(
                "GTRACE_REMOTE is not set: no server is named; start the program by `gtrace exec \
                 --remote HOST -- PROGRAM`"
                    .into(),
            )
        })?;
        let mut target = Self::parse(&address).map_err(named("GTRACE_REMOTE"))?;
        if let Some(path) = get("GTRACE_TOKEN_FILE") {
            let token = Token::from_file(&PathBuf::from(path));
            target.token = Some(token.map_err(named("GTRACE_TOKEN_FILE"))?);
        }
        let name = text("GTRACE_TLS_NAME")?;
        let own = match (get("GTRACE_TLS_CERT"), get("GTRACE_TLS_KEY")) {
            (Some(certificate), Some(key)) => Some((certificate.into(), key.into())),
            (None, None) => None,
            _ => {
                return Err(LinkError::Usage(
                    "GTRACE_TLS_CERT and GTRACE_TLS_KEY go together: a client's certificate and its key".into(),
                ));
            }
        };
        target.tls = match get("GTRACE_TLS_CA") {
            Some(ca) => Some(TlsClient {
                ca: ca.into(),
                name,
                own,
            }),
            None if own.is_some() => {
                return Err(LinkError::Usage(
                    "GTRACE_TLS_CERT without GTRACE_TLS_CA: name the file with the server's certificate, too (--tls-ca)"
                        .into(),
                ));
            }
            None if name.is_some() => {
                return Err(LinkError::Usage(
                    "GTRACE_TLS_NAME without GTRACE_TLS_CA: name the file with the certificate \
                     too (--tls-ca)"
                        .into(),
                ));
            }
            None => None,
        };
        if let Some(link) = text("GTRACE_LINK")? {
            target.link = link.parse().map_err(named("GTRACE_LINK"))?;
        }
        if let Some(networks) = text("GTRACE_RDMA_TRUSTED_NET")? {
            let networks = networks.parse();
            target.rdma_trusted = networks.map_err(named("GTRACE_RDMA_TRUSTED_NET"))?;
        }
        if let Some(emulate) = text("GTRACE_EMULATE")? {
            target.emulate = Some(emulate.parse().map_err(named("GTRACE_EMULATE"))?);
        }
        target.resume = match text("GTRACE_RESUME")? {
            Some(time) => parse_resume(&time)
                .map_err(|error| LinkError::Usage(format!("GTRACE_RESUME: {error}")))?,
            None => RESUME,
        };
        Ok(target)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read_and_shown() {
        for (text, address) in [
            ("gpu-host", Address::Tcp("gpu-host".into(), 7471)),
            ("gpu-host:1", Address::Tcp("gpu-host".into(), 1)),
            ("127.0.0.1:7471", Address::Tcp("127.0.0.1".into(), 7471)),
            ("[::1]:99", Address::Tcp("::1".into(), 99)),
            ("[::1]", Address::Tcp("::1".into(), 7471)),
            ("unix:/run/a.sock", Address::Unix("/run/a.sock".into())),
        ] {
            let read: Address = text.parse().unwrap();
            assert_eq!(read, address);
            assert_eq!(read.to_string().parse::<Address>().unwrap(), address);
        }
    }

    #[test]
    fn wrong_addresses_come_with_the_remedy() {
        for (text, cause) in [
            ("", "host is missing"),
            (":7471", "host is missing"),
            ("host:0", "port is no number"),
            ("host:http", "port is no number"),
            ("host:70000", "port is no number"),
            ("::1", "brackets"),
            ("[::1:7471", "`]` is missing"),
            ("[::1]7471", "follows `]`"),
            ("unix:", "path is missing"),
            ("/run/a.sock", "host is missing"),
        ] {
            let error = text.parse::<Address>().unwrap_err().to_string();
            assert!(error.contains(cause), "{text}: {error}");
            assert!(error.contains("HOST:7471"), "{text}: {error}");
        }
    }

    #[test]
    fn times_are_read() {
        for (text, ms) in [
            ("0", 0),
            ("0s", 0),
            ("500ms", 500),
            ("30s", 30_000),
            ("2m", 120_000),
            ("24h", 86_400_000),
        ] {
            assert_eq!(parse_resume(text), Ok(Duration::from_millis(ms)), "{text}");
        }
        for text in ["", "30", "s", "-1s", "25h", "99999999999999999999s", "1 s"] {
            assert!(parse_resume(text).is_err(), "{text}");
        }
    }

    #[test]
    fn the_environment_names_what_is_wrong() {
        let read = |variables: &[(&str, &str)]| {
            Target::from_variables(|name| {
                let found = variables.iter().find(|(n, _)| *n == name);
                found.map(|(_, value)| value.into())
            })
        };
        let target = read(&[
            ("GTRACE_REMOTE", "gpu-host"),
            ("GTRACE_LINK", "tcp"),
            ("GTRACE_EMULATE", "rtt=30ms"),
        ])
        .unwrap();
        assert_eq!(target.link, Preference::Tcp);
        assert!(target.emulate.is_some());
        assert_eq!(target.resume, RESUME);
        for (variables, wanted) in [
            (&[][..], "gtrace exec"),
            (&[("GTRACE_REMOTE", "a:b")][..], "GTRACE_REMOTE: `a:b`"),
            (
                &[("GTRACE_REMOTE", "a"), ("GTRACE_LINK", "ib")][..],
                "GTRACE_LINK: `ib` is no link",
            ),
            (
                &[("GTRACE_REMOTE", "a"), ("GTRACE_TOKEN_FILE", "/no/file")][..],
                "/no/file",
            ),
            (
                &[("GTRACE_REMOTE", "a"), ("GTRACE_TLS_NAME", "b")][..],
                "--tls-ca",
            ),
            (
                &[
                    ("GTRACE_REMOTE", "a"),
                    ("GTRACE_RDMA_TRUSTED_NET", "10.0.0.0/33"),
                ][..],
                "GTRACE_RDMA_TRUSTED_NET: `10.0.0.0/33`",
            ),
            (
                &[("GTRACE_REMOTE", "a"), ("GTRACE_EMULATE", "rtt=fast")][..],
                "GTRACE_EMULATE",
            ),
            (
                &[("GTRACE_REMOTE", "a"), ("GTRACE_RESUME", "30")][..],
                "GTRACE_RESUME: `30`",
            ),
        ] {
            let error = read(variables).unwrap_err().to_string();
            assert!(error.contains(wanted), "{error}");
        }
    }
}
