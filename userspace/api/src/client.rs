//! A small blocking HTTP/1.1 client for the daemon's own API, over its Unix socket, TCP or TLS.
//!
//! One connection per request; bodies by length, in chunks or to the end; server-sent events are
//! handed out as each one's blank line arrives. No redirects, no proxies: the peer is gtrace.

#[cfg(feature = "tls")]
mod https;
mod wire;

use std::fmt;
use std::io::{self, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::time::Duration;

use serde::Serialize;
use serde::de::DeserializeOwned;

#[cfg(feature = "tls")]
pub use self::https::{HttpsEndpoint, HttpsUrl, UrlError};
use self::wire::{Body, Connection, Response, Socket, read_line};
use crate::ProblemBody;
use crate::text::clean;

/// How long an answer may take. The daemon gives its own parts 5 seconds.
const ANSWER_DEADLINE: Duration = Duration::from_secs(10);
/// How long a stream may be silent; the daemon sends a comment every 15 seconds.
const STREAM_DEADLINE: Duration = Duration::from_secs(45);
/// Largest server-sent event, and largest whole body, bytes.
const MAX_BODY: u64 = if cfg!(test) { 1 << 20 } else { 256 << 20 };

/// Where a daemon listens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Endpoint {
    /// Its Unix socket.
    Unix(PathBuf),
    /// Its TCP address.
    Tcp(SocketAddr),
    /// Its address for other hosts, over TLS.
    #[cfg(feature = "tls")]
    Https(Box<HttpsEndpoint>),
}

impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unix(path) => path.display().fmt(f),
            Self::Tcp(address) => address.fmt(f),
            #[cfg(feature = "tls")]
            Self::Https(https) => https.url.fmt(f),
        }
    }
}

impl Endpoint {
    /// What to do where nobody answers.
    fn remedy(&self) -> &'static str {
        match self {
            Self::Unix(_) | Self::Tcp(_) => "start it with `gtrace run`",
            #[cfg(feature = "tls")]
            Self::Https(_) => {
                "does it run, does its `listen` have that address, and lets its firewall this host in?"
            }
        }
    }
}

/// Why a request failed.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// Nobody answers there.
    #[error("no gtrace daemon answers on {endpoint} ({cause}): {}", .endpoint.remedy())]
    NoDaemon {
        /// The endpoint that was tried.
        endpoint: Endpoint,
        /// The system's error.
        cause: io::Error,
    },
    /// This user may not talk to the daemon.
    #[error("not allowed to open {endpoint}: run as root or as a member of its group")]
    Forbidden {
        /// The socket.
        endpoint: Endpoint,
    },
    /// A file of this client, the server's certificate, or what it says of this client's. It stays so until somebody
    /// changes a file.
    #[error("no TLS connection: {0}")]
    Tls(String),
    /// The connection broke, or was silent for too long.
    #[error("{}", broken(.0))]
    Broken(io::Error),
    /// The daemon answered with an error.
    #[error("{}: {}; {}", .body.error, .body.cause, .body.remedy)]
    Refused {
        /// HTTP status code.
        status: u16,
        /// Its answer.
        body: ProblemBody,
    },
    /// The answer is not what gtrace answers.
    #[error(
        "the answer is not understood ({0}): is another program, or a gtrace of another version, listening there?"
    )]
    UnexpectedResponse(String),
}

fn broken(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => {
            "the daemon gave no answer in time: it is stopped, hangs or is overloaded".to_owned()
        }
        _ => format!("the connection to the daemon broke: {error}"),
    }
}

impl From<io::Error> for ClientError {
    fn from(error: io::Error) -> Self {
        #[cfg(feature = "tls")]
        if let Some(cause) = https::refusal(&error) {
            return Self::Tls(clean(&cause));
        }
        Self::Broken(error)
    }
}

/// `why` may quote the peer, whose bytes a terminal must not obey.
fn unexpected(why: &str) -> ClientError {
    ClientError::UnexpectedResponse(clean(why))
}

fn too_large() -> ClientError {
    unexpected(&format!("it is larger than {} MiB", MAX_BODY >> 20))
}

/// A client of one daemon.
#[derive(Clone, Debug)]
pub struct Client {
    endpoint: Endpoint,
    deadline: Duration,
}

/// One server-sent event.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Message {
    /// `event`, `amendment`, `ack` or `gap`; empty where only the id is reported.
    pub event: String,
    /// JSON.
    pub data: String,
}

impl Client {
    /// A client of the daemon at `endpoint`; connects on the first request.
    pub fn new(endpoint: Endpoint) -> Self {
        Self {
            endpoint,
            deadline: ANSWER_DEADLINE,
        }
    }

    /// A client over the Unix socket at `path`.
    pub fn unix(path: impl Into<PathBuf>) -> Self {
        Self::new(Endpoint::Unix(path.into()))
    }

    /// A client of a daemon, or a head, on another host.
    #[cfg(feature = "tls")]
    pub fn https(endpoint: HttpsEndpoint) -> Self {
        Self::new(Endpoint::Https(Box::new(endpoint)))
    }

    /// With so long for each step of an exchange (connect, send, each read of the answer) instead of 10
    /// seconds. Streams have their own.
    #[must_use]
    pub fn with_deadline(self, deadline: Duration) -> Self {
        Self { deadline, ..self }
    }

    /// The daemon's endpoint.
    pub fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    /// Whether this user may not open the daemon's socket; asks the daemon for nothing.
    pub fn is_forbidden(&self) -> bool {
        matches!(self.connect(), Err(ClientError::Forbidden { .. }))
    }

    /// JSON of `GET target`.
    ///
    /// # Errors
    ///
    /// Any [`ClientError`].
    pub fn get<T: DeserializeOwned>(&self, target: &str) -> Result<T, ClientError> {
        json(&self.request("GET", target, &[], None)?.whole()?)
    }

    /// Text of `GET target`.
    ///
    /// # Errors
    ///
    /// Any [`ClientError`].
    pub fn get_text(&self, target: &str) -> Result<String, ClientError> {
        String::from_utf8(self.get_bytes(target)?).map_err(|e| unexpected(&e.to_string()))
    }

    /// The file of `GET target`.
    ///
    /// # Errors
    ///
    /// Any [`ClientError`].
    pub fn get_bytes(&self, target: &str) -> Result<Vec<u8>, ClientError> {
        self.request("GET", target, &[], None)?.whole()
    }

    /// The first `most` bytes of the answer to `GET target`; the rest of a longer one is left unread.
    ///
    /// # Errors
    ///
    /// Any [`ClientError`].
    pub fn get_at_most(&self, target: &str, most: u64) -> Result<Vec<u8>, ClientError> {
        let mut body = Vec::new();
        let answer = self.request("GET", target, &[], None)?;
        answer.body.take(most).read_to_end(&mut body)?;
        Ok(body)
    }

    /// Posts `body` as JSON and reads the answer's JSON; an answer without a body reads as null.
    ///
    /// # Errors
    ///
    /// Any [`ClientError`].
    pub fn post<T: DeserializeOwned>(
        &self,
        target: &str,
        body: &impl Serialize,
    ) -> Result<T, ClientError> {
        json(&self.post_raw(target, &encode(body)?)?)
    }

    /// Posts the bytes of a file.
    ///
    /// # Errors
    ///
    /// Any [`ClientError`].
    pub fn post_file(&self, target: &str, bytes: &[u8]) -> Result<(), ClientError> {
        let headers = [("Content-Type", "application/octet-stream")];
        let sent = self.request("POST", target, &headers, Some(bytes))?;
        sent.whole().map(drop)
    }

    /// Asks the daemon to make everything captured so far readable in the store.
    ///
    /// # Errors
    ///
    /// Any [`ClientError`].
    pub fn flush(&self) -> Result<(), ClientError> {
        self.post_raw("/api/v1/flush", b"").map(drop)
    }

    fn post_raw(&self, target: &str, body: &[u8]) -> Result<Vec<u8>, ClientError> {
        let headers = [("Content-Type", "application/json")];
        self.request("POST", target, &headers, Some(body))?.whole()
    }

    /// Opens a stream of server-sent events, after the message `last_id` where one is given.
    ///
    /// # Errors
    ///
    /// Any [`ClientError`].
    pub fn stream(&self, target: &str, last_id: Option<&str>) -> Result<EventStream, ClientError> {
        let mut headers = vec![("Accept", "text/event-stream")];
        headers.extend(last_id.map(|id| ("Last-Event-ID", id)));
        let response = self.request("GET", target, &headers, None)?;
        let connection = response.body.connection();
        connection.set_deadline(STREAM_DEADLINE)?;
        let stopper = connection.socket()?;
        Ok(EventStream {
            lines: BufReader::new(response.body),
            stopper,
            last_id: last_id.map(str::to_owned),
        })
    }

    fn request(
        &self,
        method: &str,
        target: &str,
        headers: &[(&str, &str)],
        body: Option<&[u8]>,
    ) -> Result<Response, ClientError> {
        let mut connection = self.connect()?;
        connection.set_deadline(self.deadline)?;
        let (host, token): (String, Option<String>) = match &self.endpoint {
            Endpoint::Unix(_) => ("localhost".to_owned(), None),
            Endpoint::Tcp(address) => (address.to_string(), None),
            #[cfg(feature = "tls")]
            Endpoint::Https(https) => (https.url.authority(), https.token()?),
        };
        let mut head =
            format!("{method} {target} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n");
        if let Some(token) = token {
            head.push_str(&format!("Authorization: Bearer {token}\r\n"));
        }
        for (name, value) in headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        if let Some(body) = body {
            head.push_str(&format!("Content-Length: {}\r\n", body.len()));
        }
        head.push_str("\r\n");
        let mut message = head.into_bytes();
        message.extend_from_slice(body.unwrap_or_default());
        let sent = connection
            .write_all(&message)
            .and_then(|()| connection.flush());
        match sent {
            // Who refuses a request, or a certificate, says why and closes, which may come before all is sent.
            Err(error) if is_closed(&error) => {
                Response::read(connection).map_err(|answer| match answer {
                    ClientError::Broken(_) => error.into(),
                    answer => answer,
                })
            }
            Err(error) => Err(error.into()),
            Ok(()) => Response::read(connection),
        }
    }

    fn connect(&self) -> Result<Connection, ClientError> {
        let connected = match &self.endpoint {
            Endpoint::Unix(path) => UnixStream::connect(path).map(Connection::Unix),
            Endpoint::Tcp(address) => {
                TcpStream::connect_timeout(address, self.deadline).map(Connection::Tcp)
            }
            #[cfg(feature = "tls")]
            Endpoint::Https(https) => {
                let config = https.config()?;
                match https.connect(self.deadline) {
                    Ok(stream) => return Ok(https.secure(stream, config, self.deadline)?),
                    Err(error) => Err(error),
                }
            }
        };
        connected.map_err(|cause| match (cause.kind(), &self.endpoint) {
            (io::ErrorKind::PermissionDenied, Endpoint::Unix(_)) => ClientError::Forbidden {
                endpoint: self.endpoint.clone(),
            },
            _ => ClientError::NoDaemon {
                endpoint: self.endpoint.clone(),
                cause,
            },
        })
    }
}

fn is_closed(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset
    )
}

fn encode(body: &impl Serialize) -> Result<Vec<u8>, ClientError> {
    serde_json::to_vec(body).map_err(|e| unexpected(&e.to_string()))
}

fn json<T: DeserializeOwned>(body: &[u8]) -> Result<T, ClientError> {
    let body = if body.is_empty() { b"null" } else { body };
    serde_json::from_slice(body).map_err(|e| unexpected(&e.to_string()))
}

/// `path` with `pairs` as its query.
pub fn target<N: AsRef<str>, V: AsRef<str>>(path: &str, pairs: &[(N, V)]) -> String {
    let mut target = path.to_owned();
    for (index, (name, value)) in pairs.iter().enumerate() {
        target.push(if index == 0 { '?' } else { '&' });
        target.push_str(name.as_ref());
        target.push('=');
        target.push_str(&encoded(value.as_ref()));
    }
    target
}

/// Text as a value of a query.
pub fn encoded(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            true => out.push(char::from(byte)),
            false => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}

/// An open stream of server-sent events.
#[derive(Debug)]
pub struct EventStream {
    lines: BufReader<Body>,
    stopper: Socket,
    last_id: Option<String>,
}

impl EventStream {
    /// The id to resume from: of the newest message, comments aside.
    pub fn last_id(&self) -> Option<&str> {
        self.last_id.as_deref()
    }

    /// Something that ends the stream from another thread.
    ///
    /// # Errors
    ///
    /// The system's error where the connection cannot be duplicated.
    pub fn stopper(&self) -> io::Result<Stopper> {
        self.stopper.try_clone().map(Stopper)
    }

    /// The stream as it comes, lines of text/event-stream, for those who time its bytes.
    pub fn into_read(self) -> impl io::Read + Send {
        self.lines
    }

    /// Waits for the next message; `None` when the daemon ended the stream.
    ///
    /// # Errors
    ///
    /// [`ClientError::Broken`] if the connection broke or was silent for too long, [`ClientError::UnexpectedResponse`] for a
    /// message that is too large.
    pub fn next_message(&mut self) -> Result<Option<Message>, ClientError> {
        let mut message = Message::default();
        let mut begun = false;
        // The id counts once the message is whole: one that was cut off has to come again.
        let mut id = None;
        loop {
            let mut line = Vec::new();
            if read_line(&mut self.lines, &mut line, MAX_BODY)? == 0 {
                return Ok(None);
            }
            let line = String::from_utf8_lossy(&line);
            let line = line.trim_end_matches(['\n', '\r']);
            if line.is_empty() {
                if begun {
                    self.last_id = id.or(self.last_id.take());
                    return Ok(Some(message));
                }
                continue;
            }
            let (field, value) = line.split_once(':').unwrap_or((line, ""));
            let value = value.strip_prefix(' ').unwrap_or(value);
            match field {
                "id" => id = Some(value.to_owned()),
                "event" => message.event = value.to_owned(),
                "data" => {
                    if begun && !message.data.is_empty() {
                        message.data.push('\n');
                    }
                    message.data.push_str(value);
                    if message.data.len() as u64 > MAX_BODY {
                        return Err(too_large());
                    }
                }
                _ => continue,
            }
            begun = true;
        }
    }
}

/// Ends an [`EventStream`] whose reader is blocked.
#[derive(Debug)]
pub struct Stopper(Socket);

impl Stopper {
    /// Ends it: the reader gets `None` or an error at once.
    pub fn stop(&self) {
        let _ = self.0.shut_down();
    }
}

#[cfg(test)]
#[path = "client/tests.rs"]
mod tests;
