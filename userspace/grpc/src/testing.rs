//! A server for tests, which speaks HTTP/2 by the h2 crate: a fake of the kubelet and of the platform connector.
#![allow(clippy::unwrap_used, reason = "only tests use it")]

use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, channel};

use bytes::Bytes;
use prost::Message;
use tokio::net::{UnixListener, UnixStream};

/// How a fake answers.
#[derive(Clone, Debug)]
pub enum Reply {
    /// With this message, as it goes over the wire.
    Message(Bytes),
    /// With a status of gRPC and its reason.
    Refusal(&'static str, &'static str),
    /// With a status of HTTP.
    Http(u16),
    /// Not at all.
    Never,
}

/// Serves `server.sock` below `dir` until the test ends, one connection at a time; gives path and body of each call.
///
/// # Panics
///
/// If it cannot listen there.
pub fn serve(dir: &Path, reply: Reply) -> (PathBuf, Receiver<(String, Vec<u8>)>) {
    let path = dir.join("server.sock");
    let (seen, calls) = channel();
    let (ready, is_ready) = channel();
    let at = path.clone();
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        runtime.block_on(async move {
            let listener = UnixListener::bind(&at).unwrap();
            ready.send(()).unwrap();
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                let Ok(mut connection) = h2::server::handshake(stream).await else {
                    continue;
                };
                while let Some(Ok((request, mut respond))) = connection.accept().await {
                    let (seen, reply) = (seen.clone(), reply.clone());
                    tokio::spawn(async move {
                        let method = request.uri().path().to_owned();
                        let mut body = request.into_body();
                        let mut question = Vec::new();
                        while let Some(Ok(chunk)) = body.data().await {
                            let _ = body.flow_control().release_capacity(chunk.len());
                            question.extend_from_slice(&chunk);
                        }
                        let _ = seen.send((method, question));
                        let grpc =
                            http::Response::builder().header("content-type", "application/grpc");
                        match reply {
                            Reply::Message(frame) => {
                                let mut out = respond
                                    .send_response(grpc.body(()).unwrap(), false)
                                    .unwrap();
                                out.send_data(frame, false).unwrap();
                                let mut trailers = http::HeaderMap::new();
                                trailers.insert("grpc-status", "0".parse().unwrap());
                                out.send_trailers(trailers).unwrap();
                            }
                            Reply::Refusal(code, reason) => {
                                let refusal = grpc
                                    .header("grpc-status", code)
                                    .header("grpc-message", reason);
                                respond
                                    .send_response(refusal.body(()).unwrap(), true)
                                    .unwrap();
                            }
                            Reply::Http(status) => {
                                respond
                                    .send_response(grpc.status(status).body(()).unwrap(), true)
                                    .unwrap();
                            }
                            Reply::Never => std::future::pending::<()>().await,
                        }
                    });
                }
            }
        });
    });
    is_ready.recv().unwrap();
    (path, calls)
}

/// Calls a method whose answers follow each other: gives each, until the server ends the call or the receiver is dropped.
///
/// # Panics
///
/// If it cannot connect there.
pub fn watch<Answer: Message + Default + 'static>(
    socket: &Path,
    method: &'static str,
) -> Receiver<Answer> {
    let (answered, answers) = channel();
    let stream = std::os::unix::net::UnixStream::connect(socket).unwrap();
    stream.set_nonblocking(true).unwrap();
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        runtime.block_on(async move {
            let stream = UnixStream::from_std(stream).unwrap();
            let (client, connection) = h2::client::handshake(stream).await.unwrap();
            tokio::spawn(connection);
            let request = http::Request::post(format!("http://localhost{method}"))
                .header("content-type", "application/grpc")
                .header("te", "trailers")
                .body(())
                .unwrap();
            let mut client = client.ready().await.unwrap();
            let (response, mut question) = client.send_request(request, false).unwrap();
            let empty = crate::frame(&crate::device_plugin::Empty {});
            question.send_data(empty, true).unwrap();
            let mut body = response.await.unwrap().into_body();
            let mut waiting = Vec::new();
            while let Some(Ok(chunk)) = body.data().await {
                let _ = body.flow_control().release_capacity(chunk.len());
                waiting.extend_from_slice(&chunk);
                while let Some(length) = waiting.get(1..5) {
                    let length = u32::from_be_bytes(length.try_into().unwrap());
                    let end = 5 + usize::try_from(length).unwrap();
                    if waiting.len() < end {
                        break;
                    }
                    let message: Vec<u8> = waiting.drain(..end).collect();
                    if answered.send(crate::parse(&message).unwrap()).is_err() {
                        return;
                    }
                }
            }
        });
    });
    answers
}
