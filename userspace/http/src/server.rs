use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::os::fd::AsFd;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::Request;
use futures_util::future::join_all;
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

use super::https::{self, Https};
use super::impatient::Impatient;
use super::login::Secured;
use super::peer::{Origin, Peer, SocketOwners, User};
use super::refusals::{Reason, Refusals};
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
        https,
        guard,
        file,
        socket,
        store,
        limits,
        compat,
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
        compat,
        shutdown: ended.clone(),
        openapi: &openapi::DOCUMENT,
        paths: &openapi::PATHS,
    };
    let unix = unix.map(UnixListener::from_std).transpose()?;
    let tcp = tcp.map(Tcp::new).transpose()?;
    let others = https.into_iter().map(TlsTcp::new);
    let others = others.collect::<io::Result<Vec<_>>>()?;
    let guarded = guard.map(|guard| Arc::new(Https::new(guard)));
    let files = https::watch_files(guarded.clone(), Arc::clone(&state.hub));
    let server = Server {
        router: routes::router(state),
        limits,
        refusals,
        https: guarded,
        ended,
    };
    let servers = async {
        let others = join_all(others.into_iter().map(|tls| server.answer(Some(tls))));
        let answering = async { tokio::join!(server.answer(unix), server.answer(tcp), others) };
        tokio::select! {
            _ = answering => {}
            never = files => match never {},
        }
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

/// Where connections come from.
trait Listener {
    type Io: Begins + AsyncRead + AsyncWrite + AsFd + Unpin + Send + 'static;
    const ORIGIN: Origin;

    fn accept(&mut self) -> impl Future<Output = io::Result<(Self::Io, User)>>;
}

/// How a connection begins.
trait Begins {
    /// The first byte that the client sends, which stays to be read; `None` where it sends none.
    fn first_byte(&self) -> impl Future<Output = io::Result<Option<u8>>> + Send;
}

impl Begins for TcpStream {
    async fn first_byte(&self) -> io::Result<Option<u8>> {
        let mut first = [0];
        let read = self.peek(&mut first).await?;
        Ok((read > 0).then_some(first[0]))
    }
}

impl Begins for UnixStream {
    /// Nothing that is served over it depends on that.
    async fn first_byte(&self) -> io::Result<Option<u8>> {
        Ok(None)
    }
}

impl Listener for UnixListener {
    type Io = UnixStream;
    const ORIGIN: Origin = Origin::Unix;

    async fn accept(&mut self) -> io::Result<(UnixStream, User)> {
        let (stream, _) = Self::accept(self).await?;
        let user = User::Local(stream.peer_cred().ok().map(|peer| peer.uid()));
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
        User::Local(self.owners.as_mut().and_then(uid))
    }
}

impl Listener for Tcp {
    type Io = TcpStream;
    const ORIGIN: Origin = Origin::Loopback;

    async fn accept(&mut self) -> io::Result<(TcpStream, User)> {
        let (stream, from) = self.listener.accept().await?;
        // An event should leave when it is written, not when the last one was acknowledged.
        let _ = stream.set_nodelay(true);
        let user = self.user(&stream, from);
        Ok((stream, user))
    }
}

/// A listener for other hosts.
struct TlsTcp(TcpListener);

impl TlsTcp {
    fn new(listener: std::net::TcpListener) -> io::Result<Self> {
        // Connections inherit it.
        set_socket_send_buffer_size(&listener, SEND_BUFFER)?;
        TcpListener::from_std(listener).map(Self)
    }
}

impl Listener for TlsTcp {
    type Io = TcpStream;
    const ORIGIN: Origin = Origin::Https;

    async fn accept(&mut self) -> io::Result<(TcpStream, User)> {
        let (stream, from) = self.0.accept().await?;
        let _ = stream.set_nodelay(true);
        Ok((stream, https::user(from)))
    }
}

struct Server {
    router: Router,
    limits: Limits,
    refusals: Arc<Refusals>,
    /// Where there is a listener for other hosts.
    https: Option<Arc<Https>>,
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
                        let peer = Peer { user, origin: L::ORIGIN };
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
        T: Begins + AsyncRead + AsyncWrite + AsFd + Unpin + Send + 'static,
    {
        let https = match peer.origin {
            Origin::Https => Some(self.https.clone()?),
            Origin::Unix | Origin::Loopback => None,
        };
        if let Some(https) = &https
            && !https.may_begin(peer, &self.limits, &self.refusals)
        {
            return None;
        }
        let Some(place) = places.take(peer.user, 1) else {
            if https.is_none() {
                // As much as goes without waiting.
                let flags = SendFlags::DONTWAIT | SendFlags::NOSIGNAL;
                let _ = send(&io, REFUSED.as_bytes(), flags);
            }
            let (held, total) = (places.held_by(peer.user), places.total());
            let what = format_args!("refused a connection: it has {held} of {total} places");
            self.refusals.count(peer, Reason::Connections, what);
            return None;
        };
        let talk = Talk {
            router: self.router.clone(),
            limits: self.limits,
            refusals: Arc::clone(&self.refusals),
            ended: self.ended.clone(),
            peer,
        };
        Some(async move {
            let _place = place;
            let limits = talk.limits;
            let refusals = Arc::clone(&talk.refusals);
            let Some(https) = https else {
                let io = Impatient::new(io, limits.stall, peer, refusals);
                return talk.serve(io, None).await;
            };
            let first = tokio::time::timeout(limits.handshake, io.first_byte()).await;
            let first = first.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()));
            let io = Impatient::new(io, limits.stall, peer, Arc::clone(&refusals));
            let begun = https.handshake(io, first, peer, &limits, &refusals);
            let Some((io, session)) = begun.await else {
                return;
            };
            let secured = Secured { https, session };
            talk.serve(io, Some(secured)).await;
        })
    }
}

/// What a connection is served with.
struct Talk {
    router: Router,
    limits: Limits,
    refusals: Arc<Refusals>,
    ended: watch::Receiver<bool>,
    peer: Peer,
}

impl Talk {
    async fn serve<T>(mut self, io: T, secured: Option<Secured>)
    where
        T: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let (peer, limits) = (self.peer, self.limits);
        let (router, of_requests) = (self.router, secured.clone());
        let service = service_fn(move |mut request: Request<Incoming>| {
            request.extensions_mut().insert(peer);
            if let Some(secured) = &of_requests {
                request.extensions_mut().insert(secured.clone());
            }
            router.clone().call(request)
        });
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            // Runs while the client is idle, too.
            .header_read_timeout(limits.idle)
            .max_buf_size(CONNECTION_BUFFER)
            .serve_connection(TokioIo::new(io), service);
        tokio::pin!(connection);
        let lost = async {
            match &secured {
                Some(Secured { https, session }) => https.lost(session).await,
                None => std::future::pending().await,
            }
        };
        let result = tokio::select! {
            result = &mut connection => result,
            // Also amid an answer: a stream would go on for ever.
            () = lost => return,
            () = async { drop(self.ended.wait_for(|end| *end).await) } => {
                connection.as_mut().graceful_shutdown();
                connection.await
            }
        };
        if result.is_err_and(|error| error.is_timeout()) {
            let what = format_args!("no request within {:?}", limits.idle);
            self.refusals.count(peer, Reason::Idle, what);
        }
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
