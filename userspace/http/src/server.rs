use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::os::fd::AsFd;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::Request;
use gtrace_engine::hub::Hub;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use rustix::net::sockopt::set_socket_send_buffer_size;
use rustix::net::{SendFlags, send};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream, UnixListener, UnixStream};
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinSet;
use tower_service::Service as _;

use super::impatient::Impatient;
use super::peer::{Peer, SocketOwners, User};
use super::refusals::{Reason, Refusals};
use super::role::Role;
use super::share::{Supply, Turns};
use super::{AppState, Bound, Limits, MAX_STREAMS, REQUESTS_AT_ONCE, openapi, routes};

/// How long open requests may go on after the end was asked for.
const DRAIN: Duration = Duration::from_secs(2);
/// What the kernel keeps for a client that does not read; it doubles the number. Of the daemon's memory
/// too, and by default up to 4 MiB each.
const SEND_BUFFER: usize = 64 * 1024;
/// What a connection keeps of requests and answers; a request's head must fit.
const CONNECTION_BUFFER: usize = 16 * 1024;
/// Between attempts to accept after an error that is not of one connection.
const ACCEPT_AGAIN: Duration = Duration::from_secs(1);

/// Sent to a client that is not let in.
const REFUSED: &str = concat!(
    "HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nRetry-After: 20\r\n",
    "Content-Type: application/json\r\n\r\n",
    r#"{"error":"too many connections","#,
    r#""cause":"your user has its share of the places, or none is free","#,
    r#""remedy":"close connections that are not used"}"#
);

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
        socket,
        store,
        limits,
    } = bound;
    // Handlers end on this watch, which also turns true when the caller's sender is dropped.
    let (end, ended) = watch::channel(false);
    let refusals = Arc::new(Refusals::new(Arc::clone(&hub)));
    let state = AppState {
        hub,
        remote: Arc::default(),
        store: Arc::new(store),
        socket: socket.map(Arc::new),
        streams: Supply::new(MAX_STREAMS),
        answers: Supply::new(limits.answer_bytes),
        files: Arc::new(Semaphore::new(1)),
        requests: Turns::new(REQUESTS_AT_ONCE),
        blocking: Turns::new(1),
        refusals: Arc::clone(&refusals),
        limits,
        shutdown: ended.clone(),
        openapi: &openapi::DOCUMENT,
        paths: &openapi::PATHS,
    };
    let unix = unix.map(UnixListener::from_std).transpose()?;
    let tcp = tcp.map(Tcp::new).transpose()?;
    let server = Server {
        router: routes::router(state),
        limits,
        refusals,
        ended,
    };
    let servers = async { tokio::join!(server.answer(unix), server.answer(tcp)) };
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

/// Where connections come from.
trait Listener {
    type Io: AsyncRead + AsyncWrite + AsFd + Unpin + Send + 'static;
    /// What its clients may do.
    const ROLE: Role;

    fn accept(&mut self) -> impl Future<Output = io::Result<(Self::Io, User)>>;
}

impl Listener for UnixListener {
    type Io = UnixStream;
    const ROLE: Role = Role::Administer;

    async fn accept(&mut self) -> io::Result<(UnixStream, User)> {
        let (stream, _) = Self::accept(self).await?;
        let user = User(stream.peer_cred().ok().map(|peer| peer.uid()));
        Ok((stream, user))
    }
}

/// A listener on loopback.
struct Tcp {
    listener: TcpListener,
    owners: Option<SocketOwners>,
}

impl Tcp {
    fn new(listener: std::net::TcpListener) -> io::Result<Self> {
        // Connections inherit it.
        set_socket_send_buffer_size(&listener, SEND_BUFFER)?;
        let owners = SocketOwners::open().inspect_err(|error| {
            tracing::warn!(
                "TCP clients of all users share one user's places: the owners of sockets cannot be \
                 looked up ({error}); allow AF_NETLINK"
            );
        });
        Ok(Self {
            listener: TcpListener::from_std(listener)?,
            owners: owners.ok(),
        })
    }

    fn user(&mut self, stream: &TcpStream, from: SocketAddr) -> User {
        let to = stream.local_addr().ok();
        let uid = |owners: &mut SocketOwners| owners.of(from, to?).ok();
        User(self.owners.as_mut().and_then(uid))
    }
}

impl Listener for Tcp {
    type Io = TcpStream;
    const ROLE: Role = Role::Read;

    async fn accept(&mut self) -> io::Result<(TcpStream, User)> {
        let (stream, from) = self.listener.accept().await?;
        // An event should leave when it is written, not when the last one was acknowledged.
        let _ = stream.set_nodelay(true);
        let user = self.user(&stream, from);
        Ok((stream, user))
    }
}

struct Server {
    router: Router,
    limits: Limits,
    refusals: Arc<Refusals>,
    ended: watch::Receiver<bool>,
}

impl Server {
    async fn answer<L: Listener>(&self, listener: Option<L>) {
        let mut ended = self.ended.clone();
        let Some(mut listener) = listener else {
            let _ = ended.wait_for(|end| *end).await;
            return;
        };
        let places = Supply::new(self.limits.connections);
        let mut connections = JoinSet::new();
        loop {
            tokio::select! {
                accepted = listener.accept() => match accepted {
                    Ok((io, user)) => {
                        let peer = Peer { user, role: L::ROLE };
                        if let Some(connection) = self.connection(io, peer, &places) {
                            connections.spawn(connection);
                        }
                    }
                    Err(error) if is_of_one_connection(&error) => {}
                    Err(error) => {
                        tracing::warn!("cannot accept connections: {error}; trying again");
                        tokio::time::sleep(ACCEPT_AGAIN).await;
                    }
                },
                Some(_) = connections.join_next() => {}
                _ = ended.wait_for(|end| *end) => break,
            }
        }
        drop(listener);
        while connections.join_next().await.is_some() {}
    }

    /// What serves a connection; `None` where there is no place for it.
    fn connection<T>(
        &self,
        io: T,
        peer: Peer,
        places: &Arc<Supply>,
    ) -> Option<impl Future<Output = ()> + Send + 'static>
    where
        T: AsyncRead + AsyncWrite + AsFd + Unpin + Send + 'static,
    {
        let Some(place) = places.take(peer.user, 1) else {
            // As much as goes without waiting.
            let _ = send(
                &io,
                REFUSED.as_bytes(),
                SendFlags::DONTWAIT | SendFlags::NOSIGNAL,
            );
            let (held, total) = (places.held_by(peer.user), places.total());
            let what = format_args!("refused a connection: it has {held} of {total} places");
            self.refusals.count(peer, Reason::Connections, what);
            return None;
        };
        let limits = self.limits;
        let refusals = Arc::clone(&self.refusals);
        let mut ended = self.ended.clone();
        let router = self.router.clone();
        let service = service_fn(move |mut request: Request<Incoming>| {
            request.extensions_mut().insert(peer);
            router.clone().call(request)
        });
        Some(async move {
            let _place = place;
            let io = Impatient::new(io, limits.stall, peer, Arc::clone(&refusals));
            let connection = http1::Builder::new()
                .timer(TokioTimer::new())
                // Runs while the client is idle, too.
                .header_read_timeout(limits.idle)
                .max_buf_size(CONNECTION_BUFFER)
                .serve_connection(TokioIo::new(io), service);
            tokio::pin!(connection);
            let result = tokio::select! {
                result = &mut connection => result,
                () = async { drop(ended.wait_for(|end| *end).await) } => {
                    connection.as_mut().graceful_shutdown();
                    connection.await
                }
            };
            if result.is_err_and(|error| error.is_timeout()) {
                let what = format_args!("no request within {:?}", limits.idle);
                refusals.count(peer, Reason::Idle, what);
            }
        })
    }
}

fn is_of_one_connection(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::ConnectionRefused
            | io::ErrorKind::ConnectionAborted
            | io::ErrorKind::ConnectionReset
            | io::ErrorKind::Interrupted
    )
}
