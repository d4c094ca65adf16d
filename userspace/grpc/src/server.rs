//! A server of gRPC on a Unix socket: calls with one answer, and calls whose answer is followed by another at each change.

use std::convert::Infallible;
use std::future::poll_fn;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use h2::server::SendResponse;
use h2::{RecvStream, SendStream};
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinSet;

use crate::PREFIX;

/// Largest question that is taken, bytes: the default of gRPC's own servers.
const QUESTION_MAX: usize = 4 << 20;
/// A question has to be there within this time.
const QUESTION_DEADLINE: Duration = Duration::from_secs(10);
/// Connections at a time; further ones wait.
const CONNECTIONS: usize = 16;
/// Calls of a connection at a time.
const STREAMS: u32 = 64;

/// Codes of gRPC.
pub mod code {
    /// The question cannot be answered by anybody.
    pub const INVALID_ARGUMENT: u32 = 3;
    /// The question is larger than what is taken.
    pub const RESOURCE_EXHAUSTED: u32 = 8;
    /// The system is not in the state that it takes.
    pub const FAILED_PRECONDITION: u32 = 9;
    /// There is no such method.
    pub const UNIMPLEMENTED: u32 = 12;
    /// It may work later.
    pub const UNAVAILABLE: u32 = 14;
}

/// An answer.
#[derive(Clone, Debug)]
pub enum Reply {
    /// One message, as [`crate::frame`] makes it.
    Message(Bytes),
    /// What it holds now, and again at each change, until the sender is dropped. A client that reads slowly gets the newest.
    Stream(watch::Receiver<Bytes>),
    /// None, for a reason.
    Refusal {
        /// One of [`code`].
        code: u32,
        /// For a person.
        reason: String,
    },
}

/// What answers.
pub trait Service: Send + Sync + 'static {
    /// Answers a call of `method` (`/package.Service/Method`) at once; `question` is the message with its prefix.
    fn call(&self, method: &str, question: &[u8]) -> Reply;
}

/// Serves until it is dropped, and its connections with it.
///
/// # Errors
///
/// If no more connections can be accepted.
pub async fn serve(listener: UnixListener, service: Arc<dyn Service>) -> io::Result<Infallible> {
    let places = Arc::new(Semaphore::new(CONNECTIONS));
    let mut connections = JoinSet::new();
    loop {
        let place = Arc::clone(&places).acquire_owned().await;
        let (stream, _) = listener.accept().await?;
        let service = Arc::clone(&service);
        connections.spawn(async move {
            // Whoever breaks the protocol loses the connection, and connects again.
            let _ = connection(stream, service).await;
            drop(place);
        });
        while connections.try_join_next().is_some() {}
    }
}

async fn connection(stream: UnixStream, service: Arc<dyn Service>) -> Result<(), h2::Error> {
    let mut builder = h2::server::Builder::new();
    builder.max_concurrent_streams(STREAMS);
    let mut connection: h2::server::Connection<_, Bytes> = builder.handshake(stream).await?;
    let mut calls = JoinSet::new();
    while let Some(call) = connection.accept().await {
        let (request, respond) = call?;
        let service = Arc::clone(&service);
        calls.spawn(async move {
            let method = request.uri().path().to_owned();
            // The client has gone, or has reset the call.
            let _ = answer(&*service, &method, request.into_body(), respond).await;
        });
        while calls.try_join_next().is_some() {}
    }
    Ok(())
}

async fn answer(
    service: &dyn Service,
    method: &str,
    body: RecvStream,
    mut respond: SendResponse<Bytes>,
) -> Result<(), h2::Error> {
    let reply = match tokio::time::timeout(QUESTION_DEADLINE, question(body)).await {
        Ok(Ok(Some(question))) => service.call(method, &question),
        Ok(Ok(None)) => Reply::Refusal {
            code: code::RESOURCE_EXHAUSTED,
            reason: format!("the question is larger than {QUESTION_MAX} bytes"),
        },
        Ok(Err(error)) => return Err(error),
        Err(_) => {
            respond.send_reset(h2::Reason::CANCEL);
            return Ok(());
        }
    };
    match reply {
        Reply::Message(message) => {
            let mut out = respond.send_response(head(), false)?;
            send(&mut out, message).await?;
            out.send_trailers(status(0, ""))
        }
        Reply::Stream(mut answers) => {
            let mut out = respond.send_response(head(), false)?;
            loop {
                let message = answers.borrow_and_update().clone();
                send(&mut out, message).await?;
                tokio::select! {
                    changed = answers.changed() => {
                        if changed.is_err() {
                            return out.send_trailers(status(code::UNAVAILABLE, "the server ends"));
                        }
                    }
                    reset = poll_fn(|context| out.poll_reset(context)) => {
                        reset?;
                        return Ok(());
                    }
                }
            }
        }
        Reply::Refusal { code, reason } => {
            let mut response = head();
            response.headers_mut().extend(status(code, &reason));
            respond.send_response(response, true).map(drop)
        }
    }
}

/// The whole question; nothing if it is too large.
async fn question(mut body: RecvStream) -> Result<Option<Vec<u8>>, h2::Error> {
    let mut whole = Vec::new();
    while let Some(chunk) = body.data().await {
        let chunk = chunk?;
        if whole.len() + chunk.len() > QUESTION_MAX + PREFIX {
            return Ok(None);
        }
        body.flow_control().release_capacity(chunk.len())?;
        whole.extend_from_slice(&chunk);
    }
    Ok(Some(whole))
}

/// Sends a message as the client has room for it.
async fn send(out: &mut SendStream<Bytes>, mut message: Bytes) -> Result<(), h2::Error> {
    while !message.is_empty() {
        out.reserve_capacity(message.len());
        let room = match poll_fn(|context| out.poll_capacity(context)).await {
            Some(room) => room?.min(message.len()),
            None => return Err(h2::Reason::CANCEL.into()),
        };
        out.send_data(message.split_to(room), false)?;
    }
    Ok(())
}

fn head() -> http::Response<()> {
    let mut response = http::Response::new(());
    let kind = http::HeaderValue::from_static("application/grpc");
    response.headers_mut().insert("content-type", kind);
    response
}

/// The status of gRPC. What is no printable ASCII in a reason is escaped, as its HTTP/2 mapping says.
fn status(code: u32, reason: &str) -> http::HeaderMap {
    let mut headers = http::HeaderMap::new();
    headers.insert("grpc-status", http::HeaderValue::from(code));
    let mut escaped = String::new();
    for byte in reason.bytes() {
        match byte {
            b' '..=b'~' if byte != b'%' => escaped.push(char::from(byte)),
            other => escaped.push_str(&format!("%{other:02X}")),
        }
    }
    if let (false, Ok(reason)) = (escaped.is_empty(), escaped.parse()) {
        headers.insert("grpc-message", reason);
    }
    headers
}
