//! gRPC over a Unix socket: calls with a deadline, to the kubelet and to NVSentinel, and a server for the kubelet.
//!
//! HTTP/2 is the h2 crate's, messages are prost's. A call blocks its thread for the deadline at most, and keeps nothing.
#![forbid(unsafe_code)]

pub mod device_plugin;
pub mod kubelet;
pub mod nvsentinel;
pub mod server;
#[cfg(feature = "testing")]
pub mod testing;

use std::path::{Path, PathBuf};
use std::time::Duration;

use bytes::Bytes;
use prost::Message;
use tokio::net::UnixStream;

/// Largest answer that is taken, bytes: the kubelet's own clients take as much.
const MOST_BYTES: usize = 16 << 20;
/// Bytes before a message: whether it is compressed, and its length.
const PREFIX: usize = 5;
/// The longest reason of a server that is kept, characters.
const REASON: usize = 200;

/// Why a call failed.
#[derive(Debug, thiserror::Error)]
pub enum CallError {
    /// Nobody listens there.
    #[error("{path} cannot be reached: {cause}", path = path.display())]
    Connect {
        /// The socket.
        path: PathBuf,
        /// What the system said.
        cause: std::io::Error,
    },
    /// No answer came in time.
    #[error("{path} has not answered within {} s", deadline.as_secs(), path = path.display())]
    Unanswered {
        /// The socket.
        path: PathBuf,
        /// The deadline.
        deadline: Duration,
    },
    /// Whoever listens does not speak HTTP/2, or has hung up.
    #[error("the connection failed: {0}")]
    Http2(#[from] h2::Error),
    /// The server answered with an error of HTTP.
    #[error("the server answered with HTTP status {0}")]
    Http(u16),
    /// The server refused the call.
    #[error("the server refused the call: gRPC status {code}: {reason}")]
    Refused {
        /// The code of gRPC.
        code: u32,
        /// In its words.
        reason: String,
    },
    /// The answer is no message of this kind.
    #[error("the answer cannot be understood: {0}")]
    Garbled(String),
    /// The call could not be made at all.
    #[error("the call cannot be made: {0}")]
    Own(String),
}

impl CallError {
    /// Whether there is nobody to call: no socket, or one that nobody listens on.
    pub fn is_absent(&self) -> bool {
        use std::io::ErrorKind::{ConnectionRefused, NotFound};
        matches!(self, Self::Connect { cause, .. } if matches!(cause.kind(), NotFound | ConnectionRefused))
    }
}

/// Calls `method` (`/package.Service/Method`) of the server at `socket`.
///
/// # Errors
///
/// Whatever keeps an answer from coming within the deadline; see [`CallError`].
pub fn call<Question: Message, Answer: Message + Default>(
    socket: &Path,
    method: &str,
    question: &Question,
    deadline: Duration,
) -> Result<Answer, CallError> {
    // Most hosts have no kubelet, and are asked every few seconds: no runtime for that.
    if let Err(cause) = std::fs::metadata(socket)
        && cause.kind() == std::io::ErrorKind::NotFound
    {
        let path = socket.to_owned();
        return Err(CallError::Connect { path, cause });
    }
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_io()
        .enable_time()
        .build()
        .map_err(|error| CallError::Own(error.to_string()))?;
    runtime.block_on(call_async(socket, method, question, deadline))
}

/// As [`call`], for a thread with a runtime of its own.
///
/// # Errors
///
/// Those of [`call`].
pub async fn call_async<Question: Message, Answer: Message + Default>(
    socket: &Path,
    method: &str,
    question: &Question,
    deadline: Duration,
) -> Result<Answer, CallError> {
    let exchange = exchange(socket, method, frame(question));
    let answered = tokio::time::timeout(deadline, exchange).await;
    let answer = answered.map_err(|_| CallError::Unanswered {
        path: socket.to_owned(),
        deadline,
    })??;
    parse(&answer)
}

async fn exchange(socket: &Path, method: &str, question: Bytes) -> Result<Vec<u8>, CallError> {
    let stream = UnixStream::connect(socket)
        .await
        .map_err(|cause| CallError::Connect {
            path: socket.to_owned(),
            cause,
        })?;
    let (client, connection) = h2::client::handshake(stream).await?;
    // It ends with the runtime of this call.
    let driving = tokio::spawn(async move {
        // What fails there fails the exchange too.
        let _ = connection.await;
    });
    let request = http::Request::post(format!("http://localhost{method}"))
        .header("content-type", "application/grpc")
        .header("te", "trailers")
        .body(())
        .map_err(|error| CallError::Own(error.to_string()))?;
    let (response, mut body) = client.ready().await?.send_request(request, false)?;
    body.send_data(question, true)?;
    let response = response.await?;
    if response.status() != http::StatusCode::OK {
        return Err(CallError::Http(response.status().as_u16()));
    }
    status(response.headers())?;
    let mut body = response.into_body();
    let mut answer = Vec::new();
    while let Some(chunk) = body.data().await {
        let chunk = chunk?;
        if answer.len() + chunk.len() > MOST_BYTES + PREFIX {
            return Err(CallError::Garbled(format!("more than {MOST_BYTES} bytes")));
        }
        body.flow_control().release_capacity(chunk.len())?;
        answer.extend_from_slice(&chunk);
    }
    if let Some(trailers) = body.trailers().await? {
        status(&trailers)?;
    }
    driving.abort();
    Ok(answer)
}

/// The status of gRPC, which is in the headers where there is no message, else in the trailers.
fn status(headers: &http::HeaderMap) -> Result<(), CallError> {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let code = match text("grpc-status") {
        None => return Ok(()),
        Some(code) => code.parse().unwrap_or(2),
    };
    if code == 0 {
        return Ok(());
    }
    let reason = text("grpc-message").unwrap_or("no reason given");
    let reason = reason.chars().take(REASON).collect();
    Err(CallError::Refused { code, reason })
}

/// A message as it goes over the wire.
pub fn frame(message: &impl Message) -> Bytes {
    let text = message.encode_to_vec();
    let mut frame = Vec::with_capacity(text.len() + PREFIX);
    frame.push(0);
    frame.extend_from_slice(&u32::try_from(text.len()).unwrap_or(u32::MAX).to_be_bytes());
    frame.extend_from_slice(&text);
    frame.into()
}

/// The one message of an answer.
///
/// # Errors
///
/// If it is none, or more than one.
pub fn parse<Answer: Message + Default>(frame: &[u8]) -> Result<Answer, CallError> {
    let garbled = |why: &str| CallError::Garbled(why.to_owned());
    let (prefix, message) = frame
        .split_first_chunk::<PREFIX>()
        .ok_or_else(|| garbled("it is cut short"))?;
    let [compressed, length @ ..] = *prefix;
    if compressed != 0 {
        return Err(garbled("it is compressed, which was not asked for"));
    }
    if usize::try_from(u32::from_be_bytes(length)) != Ok(message.len()) {
        return Err(garbled("its length is not what it says"));
    }
    Answer::decode(message).map_err(|error| CallError::Garbled(error.to_string()))
}
