use std::io;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::Router;
use axum::extract::Request;
use axum::http::{StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::serve::{Listener, ListenerExt};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, UnixListener};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};

use super::problem::Problem;
use super::{AppState, Bound, MAX_STREAMS, routes};
use crate::hub::Hub;

/// Most connections at once on each socket; further ones wait in the listener's queue.
const MAX_CONNECTIONS: usize = 256;
/// How long open requests may go on after the end was asked for.
const DRAIN: Duration = Duration::from_secs(2);

/// Answers on the sockets of `bound` until `shutdown` holds true or its sender is dropped; then
/// open requests get two seconds to end. The Unix socket's file is removed at the end.
///
/// # Errors
///
/// The system's error if a socket cannot be handed to the runtime.
pub async fn serve(
    bound: Bound,
    hub: Arc<Hub>,
    mut shutdown: watch::Receiver<bool>,
) -> io::Result<()> {
    let Bound {
        unix,
        tcp,
        file,
        store,
    } = bound;
    // Handlers end on this watch, which also turns true when the caller's sender is dropped.
    let (end, ended) = watch::channel(false);
    let state = AppState {
        hub,
        store: Arc::new(store),
        streams: Arc::new(Semaphore::new(MAX_STREAMS)),
        shutdown: ended.clone(),
    };
    let unix = unix.map(UnixListener::from_std).transpose()?;
    let tcp = tcp.map(TcpListener::from_std).transpose()?;
    let over_unix = routes::router(state.clone(), true);
    let over_tcp = routes::router(state, false).layer(middleware::from_fn(only_loopback_hosts));
    let tcp = tcp.map(|listener| {
        // An event should leave when it is written, not when the last one was acknowledged.
        listener.tap_io(|stream| {
            let _ = stream.set_nodelay(true);
        })
    });
    let servers = async {
        tokio::join!(
            answer(unix, over_unix, ended.clone()),
            answer(tcp, over_tcp, ended.clone())
        )
    };
    tokio::pin!(servers);
    tokio::select! {
        _ = &mut servers => {}
        () = async { drop(shutdown.wait_for(|end| *end).await) } => {
            let _ = end.send(true);
            let _ = tokio::time::timeout(DRAIN, servers).await;
        }
    }
    drop(file);
    Ok(())
}

async fn answer<L>(listener: Option<L>, router: Router, mut ended: watch::Receiver<bool>)
where
    L: Listener,
    L::Addr: std::fmt::Debug,
{
    let Some(listener) = listener else {
        let _ = ended.wait_for(|end| *end).await;
        return;
    };
    let listener = Limited {
        listener,
        permits: Arc::new(Semaphore::new(MAX_CONNECTIONS)),
    };
    let end = async move {
        let _ = ended.wait_for(|end| *end).await;
    };
    // Accept errors are retried inside; what is returned here is never an error.
    let _ = axum::serve(listener, router)
        .with_graceful_shutdown(end)
        .await;
}

/// Refuses requests whose Host is not this host, so that a web page cannot read the API through
/// a name that it points at 127.0.0.1 (DNS rebinding). No CORS header is ever sent.
async fn only_loopback_hosts(request: Request, next: Next) -> Response {
    let host = request
        .headers()
        .get(header::HOST)
        .and_then(|host| host.to_str().ok());
    if host.is_some_and(is_loopback_host) {
        return next.run(request).await;
    }
    Problem::new(
        StatusCode::FORBIDDEN,
        "forbidden host",
        format!("the Host header is `{}`", host.unwrap_or("")),
        "ask for localhost, 127.0.0.1 or [::1]",
    )
    .into_response()
}

fn is_loopback_host(host: &str) -> bool {
    let name = match host.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or(rest),
        None => host.rsplit_once(':').map_or(host, |(name, _)| name),
    };
    name.eq_ignore_ascii_case("localhost")
        || name
            .parse::<IpAddr>()
            .is_ok_and(|address| address.is_loopback())
}

/// A listener that has at most so many connections open.
struct Limited<L> {
    listener: L,
    permits: Arc<Semaphore>,
}

impl<L: Listener> Listener for Limited<L> {
    type Io = Held<L::Io>;
    type Addr = L::Addr;

    async fn accept(&mut self) -> (Self::Io, Self::Addr) {
        // Closing the semaphore is the only error, and nobody closes it.
        let permit = Arc::clone(&self.permits).acquire_owned().await.ok();
        let (io, address) = self.listener.accept().await;
        (
            Held {
                io,
                _permit: permit,
            },
            address,
        )
    }

    fn local_addr(&self) -> io::Result<Self::Addr> {
        self.listener.local_addr()
    }
}

/// A connection with its place among the allowed ones.
struct Held<T> {
    io: T,
    _permit: Option<OwnedSemaphorePermit>,
}

impl<T: AsyncRead + Unpin> AsyncRead for Held<T> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_read(cx, buf)
    }
}

impl<T: AsyncWrite + Unpin> AsyncWrite for Held<T> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.io).poll_write(cx, buf)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_shutdown(cx)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.io).poll_write_vectored(cx, bufs)
    }

    fn is_write_vectored(&self) -> bool {
        self.io.is_write_vectored()
    }
}

#[cfg(test)]
mod tests {
    use super::is_loopback_host;

    #[test]
    fn only_names_of_this_host_are_loopback_hosts() {
        for host in [
            "localhost",
            "LOCALHOST:7470",
            "127.0.0.1:7470",
            "127.1.2.3",
            "[::1]:7470",
        ] {
            assert!(is_loopback_host(host), "{host}");
        }
        for host in [
            "",
            "evil.example",
            "localhost.evil.example:7470",
            "10.0.0.1",
            "[fe80::1]",
        ] {
            assert!(!is_loopback_host(host), "{host}");
        }
    }
}
