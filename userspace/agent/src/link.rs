//! One HTTP/2 connection to a head, over which everything goes.

use std::fmt;
use std::path::Path;
use std::str::FromStr;
use std::time::Duration;

use gtrace_api::ProblemBody;
use gtrace_tls::{ClientFiles, client_config};
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::body::Bytes;
use hyper::client::conn::http2;
use hyper::{Request, StatusCode, Uri};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::pki_types::ServerName;

/// How long connecting and an answer may take.
const PATIENCE: Duration = Duration::from_secs(30);
/// The same where a file of some MiB goes first.
const UPLOAD: Duration = Duration::from_secs(110);
/// Largest answer of a head.
const ANSWER_MAX: usize = 256 * 1024;
/// What HTTP/2 keeps for answers: they are small.
const WINDOW: u32 = 64 * 1024;

/// The authorities that this system trusts, as Debian and Ubuntu keep them.
pub(crate) const SYSTEM_CA: &str = "/etc/ssl/certs/ca-certificates.crt";

/// Where a head is: `https://HOST:PORT`, or `http://` on loopback.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeadUrl {
    tls: bool,
    host: String,
    port: u16,
}

/// A text that is no URL of a head.
#[derive(Debug, thiserror::Error)]
pub enum UrlError {
    /// It is something else.
    #[error(
        "`{0}` is no URL of a head: it is https://HOST:PORT, or http://127.0.0.1:7480 on the head's own host"
    )]
    Malformed(String),
    /// Credentials would go over the network in clear.
    #[error(
        "`{0}` is not on this host's loopback: without TLS its credential could be read on the way; use https://"
    )]
    NotLoopback(String),
}

impl FromStr for HeadUrl {
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
        let loopback = bare == "localhost"
            || bare
                .parse::<std::net::IpAddr>()
                .is_ok_and(|address| address.is_loopback());
        match loopback || tls {
            true => Ok(Self {
                tls,
                host: bare.to_owned(),
                port,
            }),
            false => Err(UrlError::NotLoopback(text.to_owned())),
        }
    }
}

impl fmt::Display for HeadUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = if self.tls { "https" } else { "http" };
        match self.host.contains(':') {
            true => write!(f, "{scheme}://[{}]:{}", self.host, self.port),
            false => write!(f, "{scheme}://{}:{}", self.host, self.port),
        }
    }
}

/// Why a request failed.
#[derive(Debug, thiserror::Error)]
pub enum LinkError {
    /// Nobody answers, or the connection broke.
    #[error("the head at {url} cannot be reached: {cause}")]
    Unreachable {
        /// The head.
        url: String,
        /// Why.
        cause: String,
    },
    /// It answered with an error.
    #[error("the head answers {status}: {}; {}", .body.cause, .body.remedy)]
    Refused {
        /// HTTP status.
        status: u16,
        /// Its answer.
        body: ProblemBody,
    },
    /// Its answer is not understood.
    #[error("the head's answer is not understood ({0}): is another program listening there?")]
    NotUnderstood(String),
}

impl LinkError {
    /// Whether trying again is of no use before a person has done something.
    pub fn is_final(&self) -> bool {
        matches!(
            self,
            Self::Refused {
                status: 400..=403,
                ..
            }
        )
    }
}

/// A refusal that is no JSON.
fn plain(status: StatusCode, body: &[u8]) -> ProblemBody {
    let reason = status.canonical_reason().unwrap_or("refused").to_owned();
    let text = String::from_utf8_lossy(body);
    let text: String = text.chars().take(200).collect();
    let text = text.replace(char::is_control, " ").trim().to_owned();
    ProblemBody {
        cause: if text.is_empty() {
            reason.clone()
        } else {
            text
        },
        error: reason,
        remedy: "is another program, or a proxy, listening there?".to_owned(),
    }
}

/// Begins HTTP/2.
async fn begin<T>(io: T) -> Result<http2::SendRequest<Full<Bytes>>, String>
where
    T: AsyncRead + AsyncWrite + Send + Unpin + 'static,
{
    let (sender, connection) = http2::Builder::new(TokioExecutor::new())
        .timer(TokioTimer::new())
        .initial_stream_window_size(WINDOW)
        .initial_connection_window_size(WINDOW)
        .header_table_size(gtrace_fleet::HEADER_TABLE)
        .keep_alive_interval(Duration::from_secs(20))
        .keep_alive_timeout(Duration::from_secs(20))
        .handshake(TokioIo::new(io))
        .await
        .map_err(|e| e.to_string())?;
    // Its end shows in the next request.
    tokio::spawn(async move { drop(connection.await) });
    Ok(sender)
}

/// A connection.
#[derive(Clone)]
pub(crate) struct Link {
    sender: http2::SendRequest<Full<Bytes>>,
    url: HeadUrl,
}

impl Link {
    /// Connects; `ca` has the authorities that the head's certificate is checked against, instead of the system's.
    pub(crate) async fn connect(url: &HeadUrl, ca: Option<&Path>) -> Result<Self, LinkError> {
        let failed = |cause: String| LinkError::Unreachable {
            url: url.to_string(),
            cause,
        };
        let connecting = async {
            let stream = TcpStream::connect((url.host.as_str(), url.port))
                .await
                .map_err(|e| failed(e.to_string()))?;
            let _ = stream.set_nodelay(true);
            if !url.tls {
                return begin(stream).await.map_err(failed);
            }
            // Read each time: authorities are renewed.
            let files = ClientFiles {
                ca: ca.unwrap_or(Path::new(SYSTEM_CA)).to_owned(),
                identity: None,
            };
            let config = client_config(&files, &[b"h2"]).map_err(|e| failed(e.to_string()))?;
            let name = ServerName::try_from(url.host.clone()).map_err(|e| failed(e.to_string()))?;
            let secured = TlsConnector::from(config).connect(name, stream).await;
            let secured = secured.map_err(|e| failed(format!("TLS: {e}")))?;
            begin(secured).await.map_err(failed)
        };
        let connected = tokio::time::timeout(PATIENCE, connecting).await;
        let sender = connected.map_err(|_| failed("no answer in 30 s".to_owned()))??;
        Ok(Self {
            sender,
            url: url.clone(),
        })
    }

    /// Sends a request and reads the answer, with its status: 200 to 299, or 409.
    pub(crate) async fn send(
        &self,
        method: &str,
        path: &str,
        credential: Option<&str>,
        body: Vec<u8>,
    ) -> Result<(StatusCode, Bytes), LinkError> {
        self.send_within(PATIENCE, method, path, credential, body)
            .await
    }

    /// Posts a file.
    pub(crate) async fn upload(
        &self,
        path: &str,
        credential: &str,
        body: Vec<u8>,
    ) -> Result<(), LinkError> {
        self.send_within(UPLOAD, "POST", path, Some(credential), body)
            .await
            .map(drop)
    }

    async fn send_within(
        &self,
        patience: Duration,
        method: &str,
        path: &str,
        credential: Option<&str>,
        body: Vec<u8>,
    ) -> Result<(StatusCode, Bytes), LinkError> {
        let failed = |cause: String| LinkError::Unreachable {
            url: self.url.to_string(),
            cause,
        };
        let mut request = Request::builder()
            .method(method)
            .uri(format!("{}{path}", self.url))
            .header("content-type", "application/json");
        if let Some(credential) = credential {
            request = request.header("authorization", format!("Bearer {credential}"));
        }
        let request = request
            .body(Full::new(Bytes::from(body)))
            .map_err(|e| failed(e.to_string()))?;
        let mut sender = self.sender.clone();
        let answering = async {
            sender.ready().await.map_err(|e| failed(e.to_string()))?;
            let response = sender
                .send_request(request)
                .await
                .map_err(|e| failed(e.to_string()))?;
            let status = response.status();
            let body = Limited::new(response.into_body(), ANSWER_MAX).collect();
            let body = body.await.map_err(|e| failed(e.to_string()))?;
            Ok((status, body.to_bytes()))
        };
        let (status, body) = tokio::time::timeout(patience, answering)
            .await
            .map_err(|_| failed(format!("no answer in {} s", patience.as_secs())))??;
        if status.is_success() || status == StatusCode::CONFLICT {
            return Ok((status, body));
        }
        match serde_json::from_slice(&body) {
            Ok(body) => Err(LinkError::Refused {
                status: status.as_u16(),
                body,
            }),
            // Its limits, and a proxy before it, answer in plain text.
            Err(_) if status.is_client_error() => Err(LinkError::Refused {
                status: status.as_u16(),
                body: plain(status, &body),
            }),
            Err(_) => Err(LinkError::NotUnderstood(format!("status {status}"))),
        }
    }

    /// Posts JSON and reads JSON.
    pub(crate) async fn post<T: DeserializeOwned>(
        &self,
        path: &str,
        credential: Option<&str>,
        body: &impl Serialize,
    ) -> Result<(T, usize), LinkError> {
        let not_understood = |e: serde_json::Error| LinkError::NotUnderstood(e.to_string());
        let body = serde_json::to_vec(body).map_err(not_understood)?;
        let sent = body.len();
        let (_, answer) = self.send("POST", path, credential, body).await?;
        let answer = if answer.is_empty() {
            &b"null"[..]
        } else {
            &answer
        };
        let answer = serde_json::from_slice(answer).map_err(not_understood)?;
        Ok((answer, sent))
    }

    /// Reads JSON.
    pub(crate) async fn get<T: DeserializeOwned>(
        &self,
        path: &str,
        credential: &str,
    ) -> Result<T, LinkError> {
        let (_, answer) = self.send("GET", path, Some(credential), Vec::new()).await?;
        serde_json::from_slice(&answer).map_err(|e| LinkError::NotUnderstood(e.to_string()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_in_plain_text_is_one() {
        let body = plain(StatusCode::PAYLOAD_TOO_LARGE, b"length limit exceeded\n");
        assert_eq!(body.cause, "length limit exceeded");
        let body = plain(StatusCode::PAYLOAD_TOO_LARGE, b"\x1b\n");
        assert_eq!(body.cause, "Payload Too Large");
    }
}
