//! HTTP/2 straight to a head: one connection, over which everything goes.

use std::io;
use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;

use gtrace_fleet::{Batch, BatchAnswer, HostState, StateAnswer, encode};
use gtrace_tls::refusal::{self, Parties};
use gtrace_tls::{ClientFiles, client_config, system_authorities};
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::body::Bytes;
use hyper::client::conn::http2;
use hyper::{Request, StatusCode};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::pki_types::ServerName;

use crate::head_url::HttpUrl;
use crate::transport::{Answered, BatchTaken, Call, LinkError, StateTaken, Transport, json, read};

/// How long connecting may take.
const PATIENCE: Duration = Duration::from_secs(30);
/// How long one address of the head may take of it.
const ONE_ADDRESS: Duration = Duration::from_secs(5);
/// Largest answer of a head.
const ANSWER_MAX: usize = 256 * 1024;
/// What HTTP/2 keeps for answers: they are small.
const WINDOW: u32 = 64 * 1024;

/// A connection to the first of these addresses that answers within `patience`.
async fn first_of(
    addresses: impl Iterator<Item = SocketAddr>,
    patience: Duration,
) -> io::Result<TcpStream> {
    let mut last = io::Error::new(io::ErrorKind::NotFound, "the host has no address");
    for address in addresses {
        match tokio::time::timeout(patience, TcpStream::connect(address)).await {
            Ok(Ok(stream)) => return Ok(stream),
            Ok(Err(error)) => last = error,
            Err(_) => {
                let (seconds, hint) = (patience.as_secs(), refusal::timeout_hint());
                let why = format!("no answer of {address} in {seconds} s{hint}");
                last = io::Error::new(io::ErrorKind::TimedOut, why);
            }
        }
    }
    Err(last)
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

/// Why there is no TLS with the head, and what to do.
fn explained(error: &io::Error, url: &HttpUrl, ca: Option<&Path>) -> String {
    let Some(of_tls) = refusal::tls_error(error) else {
        return format!("TLS: {error}");
    };
    let parties = Parties {
        servers: "the heads",
        names: url,
        ca,
        ca_options: "`gtrace agent enroll --ca`",
        certificate: None,
        certificate_options: "hosts show a credential and no certificate, which a proxy before the heads must not ask for",
        without_tls: "is it the port of --listen-https?",
        version_setting: "of a proxy before the heads",
        version_needed: "as those of gtrace do",
    };
    refusal::explained(of_tls, &parties)
}

/// A connection.
#[derive(Clone)]
pub(crate) struct Http {
    sender: http2::SendRequest<Full<Bytes>>,
    url: HttpUrl,
    credential: Option<String>,
}

impl Http {
    /// Connects; `ca` has the authorities that the head's certificate is checked against, instead of the system's. `credential` is shown with
    /// each request.
    pub(crate) async fn connect(
        url: &HttpUrl,
        ca: Option<&Path>,
        credential: Option<&str>,
    ) -> Result<Self, LinkError> {
        let failed = |cause: String| LinkError::Unreachable {
            url: url.to_string(),
            cause,
        };
        let connecting = async {
            let addresses = tokio::net::lookup_host((url.host.as_str(), url.port)).await;
            let addresses = addresses.map_err(|e| failed(e.to_string()))?;
            let stream = first_of(addresses, ONE_ADDRESS).await;
            let stream = stream.map_err(|e| failed(e.to_string()))?;
            let _ = stream.set_nodelay(true);
            if !url.tls {
                return begin(stream).await.map_err(failed);
            }
            // Read each time: authorities are renewed.
            let of_system = system_authorities();
            let authorities = ca.or(of_system).ok_or_else(|| {
                failed("this system has no file of authorities: name that of the head with `gtrace agent enroll --ca`".to_owned())
            })?;
            let files = ClientFiles {
                ca: authorities.to_owned(),
                identity: None,
            };
            let config = client_config(&files, &[b"h2"]).map_err(|e| failed(e.to_string()))?;
            let name = ServerName::try_from(url.host.clone()).map_err(|e| failed(e.to_string()))?;
            let secured = TlsConnector::from(config).connect(name, stream).await;
            let secured = secured.map_err(|e| failed(explained(&e, url, ca)))?;
            begin(secured).await.map_err(failed)
        };
        let connected = tokio::time::timeout(PATIENCE, connecting).await;
        let sender = connected
            .map_err(|_| failed(format!("no answer in 30 s{}", refusal::timeout_hint())))??;
        Ok(Self {
            sender,
            url: url.clone(),
            credential: credential.map(str::to_owned),
        })
    }

    /// Sends a request and reads the answer, with its status: 200 to 299, or 409.
    async fn send(&self, call: Call) -> Result<(StatusCode, Bytes), LinkError> {
        let failed = |cause: String| LinkError::Unreachable {
            url: self.url.to_string(),
            cause,
        };
        let mut request = Request::builder()
            .method(call.method)
            .uri(format!("{}{}", self.url, call.path))
            .header("content-type", "application/json");
        if let Some(credential) = &self.credential {
            request = request.header("authorization", format!("Bearer {credential}"));
        }
        let request = request
            .body(Full::new(Bytes::from(call.body)))
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
        let (status, body) = tokio::time::timeout(call.patience, answering)
            .await
            .map_err(|_| failed(format!("no answer in {} s", call.patience.as_secs())))??;
        match LinkError::of_answer(status.as_u16(), &body) {
            Some(error) if status != StatusCode::CONFLICT => Err(error),
            _ => Ok((status, body)),
        }
    }
}

impl Transport for Http {
    fn state<'a>(&'a self, state: &'a HostState) -> Answered<'a, StateTaken> {
        Box::pin(async move {
            let body = json(state)?;
            let sent = body.len();
            let (_, answer) = self.send(Call::post("/fleet/v1/state", body)).await?;
            let StateAnswer { cursor, measure } = read(&answer)?;
            Ok(StateTaken {
                cursor,
                measure,
                sent,
            })
        })
    }

    fn batch<'a>(&'a self, batch: &'a Batch) -> Answered<'a, BatchTaken> {
        Box::pin(async move {
            let body = encode(batch).map_err(|e| LinkError::NotEncoded(e.to_string()))?;
            let sent = body.len();
            let (_, answer) = self.send(Call::post("/fleet/v1/batch", body)).await?;
            let BatchAnswer { cursor, .. } = read(&answer)?;
            Ok(BatchTaken { cursor, sent })
        })
    }

    fn call(&self, call: Call) -> Answered<'_, Vec<u8>> {
        Box::pin(async move { Ok(self.send(call).await?.1.to_vec()) })
    }

    fn call_max(&self) -> usize {
        usize::MAX
    }
}

#[cfg(test)]
mod tests {
    use tokio::net::{TcpListener, TcpSocket};

    use super::*;

    #[tokio::test]
    async fn an_address_that_does_not_answer_leaves_time_for_the_next() {
        let patience = Duration::from_millis(200);
        let silent = TcpSocket::new_v4().unwrap();
        silent.bind("127.0.0.1:0".parse().unwrap()).unwrap();
        let silent = silent.listen(1).unwrap();
        let first = silent.local_addr().unwrap();
        // Once its queue is full, it takes no connection and refuses none.
        let mut waiting = Vec::new();
        while let Ok(connected) = first_of([first].into_iter(), patience).await {
            waiting.push(connected);
            assert!(waiting.len() < 100, "the queue does not fill");
        }
        let answering = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let second = answering.local_addr().unwrap();
        let connected = first_of([first, second].into_iter(), patience).await;
        assert_eq!(connected.unwrap().peer_addr().unwrap(), second);
        let error = first_of([first].into_iter(), patience).await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
    }
}
