//! Sockets of a head.

use std::collections::HashMap;
use std::io;
use std::net::{IpAddr, SocketAddr, TcpListener as StdTcpListener};
use std::os::unix::fs::{FileTypeExt as _, PermissionsExt as _};
use std::os::unix::net::{UnixListener as StdUnixListener, UnixStream as StdUnixStream};
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::Router;
use axum::extract::Request;
use gtrace_api::SocketFile;
use gtrace_event::Timestamp;
use gtrace_fleet::remedy::Policy;
use gtrace_store::SteadyClock;
use gtrace_tls::{AccessFiles, FileError, Guard, Reload};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream, UnixListener};
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinSet;
use tokio_rustls::TlsAcceptor;
use tower_service::Service as _;

use super::ending::over;
use super::gate::{Door, Secured, Way};
use super::gswarm::{self, Gswarm};
use super::places::Places;
use super::remote_write::{self, RemoteWrite};
use super::{App, agents_alone, others, router, sessions};
use crate::db::{Database, DbError, Listener, Place, nanos, time_of};
use crate::intake::{Intake, Receiver, Receiving};
use crate::nats::Nats;
use crate::remediation::{self, PolicyError, Remediation};

/// Connections of agents and people at once over TCP.
const CONNECTIONS: usize = 20_000;
/// Of them of one address over TLS: hosts behind one address share it.
const OF_ADDRESS: usize = 512;
/// How long a TLS handshake may take.
const HANDSHAKE: Duration = Duration::from_secs(10);
/// Between two looks at the files of certificate and credentials.
const LOOK: Duration = Duration::from_secs(1);
/// What is spoken within TLS.
const ALPN: [&[u8]; 2] = [b"h2", b"http/1.1"];
/// The same over the Unix socket.
const UNIX_CONNECTIONS: usize = 64;
/// How long a client may take to send the head of a request.
const HEAD: Duration = Duration::from_secs(20);
/// What HTTP/2 keeps of a connection and of a stream for bytes that nobody has read: a batch goes in some round trips,
/// and an idle agent costs little.
const WINDOW: u32 = 256 * 1024;
/// How long open requests may go on after the end was asked for.
const DRAIN: Duration = Duration::from_secs(2);
/// Between attempts to accept after an error.
const ACCEPT_AGAIN: Duration = Duration::from_millis(500);
/// Between two retentions.
const RETAIN: Duration = Duration::from_secs(3600);
const DAY_NS: i64 = 86_400_000_000_000;

/// Where a head listens, and what it keeps.
#[derive(Clone, Debug)]
pub struct Listen {
    /// TCP address, of loopback.
    pub tcp: Option<SocketAddr>,
    /// TCP address for other hosts, with the files of certificate and credentials.
    pub https: Option<(SocketAddr, AccessFiles)>,
    /// Unix socket, for those who may change something.
    pub socket: Option<PathBuf>,
    /// The database.
    pub database: Place,
    /// Records, and sessions that have ended, are kept for so many days; `None` for ever.
    pub retention_days: Option<u32>,
    /// The routes of gswarm-profiler, if they are wanted.
    pub gswarm: Option<Gswarm>,
    /// The policy of remediation, if there is one.
    pub remediation: Option<Remediation>,
    /// NATS JetStream, through which agents come too.
    pub nats: Option<Nats>,
    /// Where the fleet's metrics are pushed to.
    pub remote_write: Option<RemoteWrite>,
}

/// Why a head cannot serve.
#[derive(Debug, thiserror::Error)]
pub enum ListenError {
    /// A socket cannot be had.
    #[error("cannot listen on {place}: {cause}")]
    Socket {
        /// Which.
        place: String,
        /// The system's error.
        cause: io::Error,
    },
    /// Others would read along.
    #[error(
        "{0} is not an address of loopback: without TLS credentials and records of hosts could be read and changed on \
         the way; for other hosts give --listen-https with --tls-cert and --tls-key"
    )]
    NotLoopback(SocketAddr),
    /// Certificate, key or credentials cannot be used.
    #[error(transparent)]
    Files(#[from] FileError),
    /// The policy of remediation cannot be used.
    #[error(transparent)]
    Policy(#[from] PolicyError),
    /// Metrics cannot be pushed.
    #[error("{0}")]
    RemoteWrite(String),
    /// Another head is there.
    #[error("another head answers on {0}")]
    Taken(PathBuf),
    /// A thread cannot be started.
    #[error("cannot start a thread: {0}")]
    Thread(io::Error),
    /// The database cannot be used.
    #[error(transparent)]
    Database(#[from] DbError),
    /// A part of the head has ended before the head.
    #[error("the head ends, as {0} has ended; its log says why: start it again")]
    Ended(&'static str),
}

/// Sockets that are taken, before anything is served.
#[derive(Debug)]
pub struct Bound {
    tcp: Option<StdTcpListener>,
    https: Option<(StdTcpListener, Arc<Door>)>,
    unix: Option<(StdUnixListener, SocketFile)>,
    gswarm: Option<(StdTcpListener, Gswarm)>,
    policy: Option<(Remediation, Policy)>,
    listen: Listen,
}

impl Bound {
    /// The TCP address, with its port.
    pub fn tcp_addr(&self) -> Option<SocketAddr> {
        self.tcp.as_ref().and_then(|tcp| tcp.local_addr().ok())
    }

    /// The address for other hosts, with its port.
    pub fn https_addr(&self) -> Option<SocketAddr> {
        let https = self.https.as_ref();
        https.and_then(|(listener, _)| listener.local_addr().ok())
    }

    /// The address of gswarm-profiler's routes, with its port.
    pub fn gswarm_addr(&self) -> Option<SocketAddr> {
        let gswarm = self.gswarm.as_ref();
        gswarm.and_then(|(listener, _)| listener.local_addr().ok())
    }
}

/// Takes the sockets.
pub fn bind(listen: Listen) -> Result<Bound, ListenError> {
    let policy = match &listen.remediation {
        Some(of) => Some((of.clone(), remediation::load(&of.policy)?)),
        None => None,
    };
    if let Some(to) = &listen.remote_write {
        to.check().map_err(ListenError::RemoteWrite)?;
    }
    let tcp = listen.tcp.map(bind_loopback).transpose()?;
    let https = match &listen.https {
        None => None,
        Some((address, files)) => {
            let guard = Guard::new(files.clone(), &ALPN)?;
            Some((bind_tcp(*address)?, Arc::new(Door::new(guard))))
        }
    };
    let gswarm = match &listen.gswarm {
        None => None,
        Some(of) => {
            let address = SocketAddr::from((std::net::Ipv4Addr::LOCALHOST, of.port));
            Some((bind_loopback(address)?, of.clone()))
        }
    };
    let unix = listen.socket.as_deref().map(bind_unix).transpose()?;
    Ok(Bound {
        tcp,
        https,
        unix,
        gswarm,
        policy,
        listen,
    })
}

fn bind_loopback(address: SocketAddr) -> Result<StdTcpListener, ListenError> {
    match address.ip().is_loopback() {
        true => bind_tcp(address),
        false => Err(ListenError::NotLoopback(address)),
    }
}

fn bind_tcp(address: SocketAddr) -> Result<StdTcpListener, ListenError> {
    let bound = StdTcpListener::bind(address).and_then(|listener| {
        listener.set_nonblocking(true)?;
        Ok(listener)
    });
    bound.map_err(|cause| ListenError::Socket {
        place: address.to_string(),
        cause,
    })
}

fn bind_unix(path: &Path) -> Result<(StdUnixListener, SocketFile), ListenError> {
    let failed = |cause| ListenError::Socket {
        place: path.display().to_string(),
        cause,
    };
    if let Some(folder) = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty())
    {
        std::fs::create_dir_all(folder).map_err(failed)?;
    }
    match std::fs::symlink_metadata(path) {
        // It is somebody's file.
        Ok(found) if !found.file_type().is_socket() => {
            return Err(failed(io::ErrorKind::AlreadyExists.into()));
        }
        _ => {}
    }
    if StdUnixStream::connect(path).is_ok() {
        return Err(ListenError::Taken(path.to_owned()));
    }
    match std::fs::remove_file(path) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => return Err(failed(e)),
        _ => {}
    }
    let listener = StdUnixListener::bind(path).map_err(failed)?;
    let file = SocketFile::new(path).map_err(failed)?;
    listener.set_nonblocking(true).map_err(failed)?;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o660)).map_err(failed)?;
    Ok((listener, file))
}

/// Answers until `shutdown` holds true or its sender is dropped, or a part of it has ended. `ready` is called once the database is open.
pub async fn serve(
    bound: Bound,
    mut shutdown: watch::Receiver<bool>,
    ready: impl FnOnce(),
) -> Result<(), ListenError> {
    let Bound {
        tcp,
        https,
        unix,
        gswarm,
        policy,
        listen,
    } = bound;
    let (end, ended) = watch::channel(false);
    let place = listen.database.clone();
    let opened = ended.clone();
    // A PostgreSQL client has a runtime of its own, which must not be started on a thread of this one.
    let standing = policy.is_some().then(remediation::Shared::default);
    let shared = standing.clone();
    let pushes = listen.remote_write.is_some();
    let app = tokio::task::spawn_blocking(move || App::open(&place, shared, pushes, opened))
        .await
        .map_err(|e| ListenError::Thread(io::Error::other(e)))??;
    if let (Some((options, policy)), Some(standing)) = (policy, standing) {
        let place = listen.database.clone();
        remediation::start(place, options, policy, standing, ended.clone())
            .map_err(ListenError::Thread)?;
    }
    let of_others = match &listen.database {
        Place::Postgres(url) => Some((Listener::connect(url).await?, url.clone())),
        Place::File(_) => None,
    };
    let of_agents = agents_alone(app.clone());
    let router = router(app.clone());
    ready();
    let failed = |place: &str| {
        let place = place.to_owned();
        move |cause| ListenError::Socket { place, cause }
    };
    let writer = app.writer.clone();
    let mut tasks = Tasks::default();
    let mut receivers: Vec<(Box<dyn Receiver>, Router)> = Vec::new();
    if let Some(listener) = tcp {
        let listener = TcpListener::from_std(listener).map_err(failed("TCP"))?;
        let door = None;
        receivers.push((Box::new(Tcp { listener, door }), router.clone()));
    }
    if let Some((listener, door)) = https {
        let listener = TcpListener::from_std(listener).map_err(failed("TCP"))?;
        let reloading = reload(Arc::clone(&door), ended.clone());
        tasks.start("what reads certificates and credentials", reloading);
        let door = Some(door);
        receivers.push((Box::new(Tcp { listener, door }), router.clone()));
    }
    if let Some((listener, _)) = &unix {
        let listener = listener.try_clone().map_err(failed("the Unix socket"))?;
        let listener = UnixListener::from_std(listener).map_err(failed("the Unix socket"))?;
        receivers.push((Box::new(Unix(listener)), router));
    }
    if let Some(nats) = listen.nats {
        receivers.push((Box::new(nats), of_agents));
    }
    if let Some((listener, options)) = gswarm {
        let listener = TcpListener::from_std(listener).map_err(failed("TCP"))?;
        let router = gswarm::router(app.clone(), options);
        let accepting = accept_tcp(listener, None, router, ended.clone());
        tasks.start("what accepts connections of gswarm's port", accepting);
    }
    for (receiver, router) in receivers {
        let receiving = receiver.receive(app.intake.clone(), router, ended.clone());
        tasks.start("a way by which agents and people come", receiving);
    }
    if let Some((listener, url)) = of_others {
        let following = others::follow(listener, url, app.clone(), ended.clone());
        tasks.start("what listens to other heads", following);
    }
    if let Some(to) = listen.remote_write {
        let pushing = remote_write::keep(app.clone(), to, ended.clone());
        tasks.start("what pushes metrics", pushing);
    }
    tasks.start("what ends sessions", sessions::keep(app));
    if let Some(days) = listen.retention_days {
        let retaining = retain(listen.database, days, ended.clone());
        tasks.start("retention", retaining);
    }
    // What is not there any more comes back with the head.
    let gone = tokio::select! {
        () = over(&mut shutdown) => None,
        gone = tasks.first() => Some(gone),
        () = writer.ended() => Some("the thread that writes to the database"),
    };
    let _ = end.send(true);
    let all = async { while tasks.0.join_next().await.is_some() {} };
    let _ = tokio::time::timeout(DRAIN, all).await;
    gone.map_or(Ok(()), |gone| Err(ListenError::Ended(gone)))
}

/// What a head does until its end, with what each is called.
#[derive(Default)]
struct Tasks(JoinSet<()>, HashMap<tokio::task::Id, &'static str>);

impl Tasks {
    fn start(&mut self, name: &'static str, task: impl Future<Output = ()> + Send + 'static) {
        let id = self.0.spawn(task).id();
        self.1.insert(id, name);
    }

    /// The name of the first that ends or panics.
    async fn first(&mut self) -> &'static str {
        let id = match self.0.join_next_with_id().await {
            Some(Ok((id, ()))) => id,
            Some(Err(error)) => error.id(),
            None => return std::future::pending().await,
        };
        self.1.get(&id).copied().unwrap_or("a task")
    }
}

/// The first day that is kept; `None` where the clock was set within the last hour, as nobody knows then which day it is.
fn first_kept(
    clock: &mut SteadyClock,
    days: u32,
    now: Timestamp,
    since_start: Duration,
) -> Option<i64> {
    let since_start = u64::try_from(since_start.as_nanos()).unwrap_or(u64::MAX);
    let today = nanos(now).div_euclid(DAY_NS);
    clock
        .is_steady(now, since_start)
        .then(|| today - i64::from(days))
}

async fn retain(place: Place, days: u32, mut ended: watch::Receiver<bool>) {
    let (mut clock, began) = (SteadyClock::default(), Instant::now());
    loop {
        if let Some(first) = first_kept(&mut clock, days, Timestamp::now(), began.elapsed()) {
            let place = place.clone();
            let done = tokio::task::spawn_blocking(move || {
                let mut database = Database::open(&place)?;
                database.retain_sessions(time_of(first.saturating_mul(DAY_NS)))?;
                database.retain(first)
            });
            match done.await {
                Ok(Ok(0)) => {}
                Ok(Ok(gone)) => {
                    tracing::info!(
                        "records of {gone} days were older than {days} days and are gone"
                    )
                }
                Ok(Err(error)) => tracing::warn!("retention: {error}"),
                Err(error) => tracing::warn!("retention: {error}"),
            }
        }
        tokio::select! {
            () = tokio::time::sleep(RETAIN) => {}
            () = over(&mut ended) => return,
        }
    }
}

/// Takes over certificate and credentials when their files change.
async fn reload(door: Arc<Door>, mut ended: watch::Receiver<bool>) {
    loop {
        tokio::select! {
            () = tokio::time::sleep(LOOK) => {}
            () = over(&mut ended) => return,
        }
        let looking = Arc::clone(&door);
        match tokio::task::spawn_blocking(move || looking.guard.check()).await {
            Ok(Reload::Reloaded) => {
                tracing::info!("certificate and credentials were read again");
                door.reloads.send_replace(());
            }
            Ok(Reload::Failed(error)) => {
                tracing::warn!("{error}; the earlier content of the files still applies");
            }
            Ok(Reload::Unchanged) | Err(_) => {}
        }
    }
}

/// HTTP over TCP: in clear, or over TLS where there is a guard.
struct Tcp {
    listener: TcpListener,
    door: Option<Arc<Door>>,
}

impl Receiver for Tcp {
    /// The routes have the intake themselves.
    fn receive(
        self: Box<Self>,
        _: Intake,
        router: Router,
        ended: watch::Receiver<bool>,
    ) -> Receiving {
        Box::pin(accept_tcp(self.listener, self.door, router, ended))
    }
}

/// HTTP over a Unix socket.
struct Unix(UnixListener);

impl Receiver for Unix {
    fn receive(
        self: Box<Self>,
        _: Intake,
        router: Router,
        ended: watch::Receiver<bool>,
    ) -> Receiving {
        Box::pin(accept_unix(self.0, router, ended))
    }
}

/// Connections in clear, or over TLS where there is a guard.
async fn accept_tcp(
    listener: TcpListener,
    door: Option<Arc<Door>>,
    router: Router,
    mut ended: watch::Receiver<bool>,
) {
    let places = Arc::new(Semaphore::new(CONNECTIONS));
    let addresses = Arc::<Places<IpAddr>>::default();
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = over(&mut ended) => return,
        };
        match accepted {
            Ok((stream, from)) => {
                let _ = stream.set_nodelay(true);
                let Ok(place) = Arc::clone(&places).try_acquire_owned() else {
                    continue;
                };
                let (router, ended) = (router.clone(), ended.clone());
                let Some(door) = door.clone() else {
                    let connection = connection(stream, Way::Tcp, router, ended);
                    tokio::spawn(async move {
                        connection.await;
                        drop(place);
                    });
                    continue;
                };
                let Some(of_address) = addresses.take(from.ip(), OF_ADDRESS) else {
                    continue;
                };
                tokio::spawn(async move {
                    // Boxes, so that what the handshake needs is given back after it.
                    if let Some(secured) = Box::pin(secure(stream, door, router, ended)).await {
                        secured.await;
                    }
                    drop((place, of_address));
                });
            }
            Err(error) => {
                tracing::warn!("cannot accept connections: {error}; trying again");
                tokio::time::sleep(ACCEPT_AGAIN).await;
            }
        }
    }
}

async fn accept_unix(listener: UnixListener, router: Router, mut ended: watch::Receiver<bool>) {
    let places = Arc::new(Semaphore::new(UNIX_CONNECTIONS));
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = over(&mut ended) => return,
        };
        let Ok((stream, _)) = accepted else {
            tokio::time::sleep(ACCEPT_AGAIN).await;
            continue;
        };
        let Ok(place) = Arc::clone(&places).try_acquire_owned() else {
            continue;
        };
        let (router, ended) = (router.clone(), ended.clone());
        let user = stream.peer_cred().ok().map(|peer| peer.uid());
        let connection = connection(stream, Way::Unix(user), router, ended);
        tokio::spawn(async move {
            connection.await;
            drop(place);
        });
    }
}

/// Does the handshake of TLS; the connection in it, if there is one.
async fn secure(
    stream: TcpStream,
    door: Arc<Door>,
    router: Router,
    ended: watch::Receiver<bool>,
) -> Option<Pin<Box<dyn Future<Output = ()> + Send>>> {
    let tls = Arc::clone(&door.guard.access().tls);
    let acceptor = TlsAcceptor::from(Arc::clone(&tls));
    let shaken = tokio::time::timeout(HANDSHAKE, acceptor.accept(stream)).await;
    let io = shaken.ok()?.ok()?;
    let certificates = io.get_ref().1.peer_certificates();
    let first = certificates.and_then(|all| all.first());
    let certificate = first.map(|one| one.clone().into_owned());
    let secured = Arc::new(Secured {
        door,
        certificate,
        tls,
    });
    Some(Box::pin(connection(io, Way::Tls(secured), router, ended)))
}

/// HTTP/1.1 and HTTP/2, whichever the client begins with. What is needed to begin is gone before it waits: thousands of agents wait.
fn connection<T>(
    io: T,
    way: Way,
    router: Router,
    mut ended: watch::Receiver<bool>,
) -> impl Future<Output = ()> + Send
where
    T: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let outdated = way.outdated();
    let service = service_fn(move |mut request: Request<Incoming>| {
        request.extensions_mut().insert(way.clone());
        router.clone().call(request)
    });
    let mut builder = auto::Builder::new(TokioExecutor::new());
    builder
        .http1()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD)
        .max_buf_size(32 * 1024);
    builder
        .http2()
        .timer(TokioTimer::new())
        .initial_stream_window_size(WINDOW)
        .initial_connection_window_size(WINDOW)
        .max_concurrent_streams(16)
        .max_send_buf_size(64 * 1024)
        .max_header_list_size(16 * 1024)
        // An agent that is gone without a word leaves its place.
        .keep_alive_interval(Duration::from_secs(30))
        .keep_alive_timeout(Duration::from_secs(20));
    let connection = builder.serve_connection(TokioIo::new(io), service);
    let mut connection = Box::pin(connection.into_owned());
    async move {
        tokio::select! {
            // A client that goes away in the middle is no matter of the head's.
            _ = connection.as_mut() => return,
            () = over(&mut ended) => {}
            () = outdated => {}
        }
        connection.as_mut().graceful_shutdown();
        let _ = tokio::time::timeout(DRAIN, connection).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_whose_clock_was_wrong_when_it_started_removes_nothing_by_it() {
        let mut clock = SteadyClock::default();
        let mut first = |time: &str, hours: u64| {
            let since_start = Duration::from_secs(hours * 3600);
            first_kept(&mut clock, 30, time.parse().unwrap(), since_start)
        };
        assert_eq!(first("2051-11-23T00:00:00Z", 0), None);
        // The network has set it.
        assert_eq!(first("2026-11-23T01:00:00Z", 1), None);
        let day = |time: &str| nanos(time.parse().unwrap()).div_euclid(DAY_NS);
        let kept = Some(day("2026-10-24T00:00:00Z"));
        assert_eq!(first("2026-11-23T02:00:00Z", 2), kept);
        assert_eq!(first("2051-11-23T03:00:00Z", 3), None);
    }

    async fn panics() {
        std::panic::panic_any("wrong")
    }

    #[tokio::test]
    async fn a_task_that_ends_or_panics_is_known_by_its_name() {
        let mut tasks = Tasks::default();
        tasks.start("what goes on", std::future::pending());
        tasks.start("what ends", async {});
        assert_eq!(tasks.first().await, "what ends");
        tasks.start("what panics", panics());
        assert_eq!(tasks.first().await, "what panics");
    }
}
