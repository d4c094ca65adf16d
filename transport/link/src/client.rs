//! Opening a lane.

use std::fs;
use std::io;
use std::net::{TcpStream, ToSocketAddrs as _};
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::net::UnixStream;
use std::process;
use std::sync::Arc;
use std::time::{Duration, Instant};

use gtrace_protocol::{
    ClientHello, Features, GREETING_LEN, Greeting, LaneResumed, Preamble, Proof, Prover,
    RefusalKind, ResumeLane, SessionId, Welcome, control,
};

use rustls::ClientConnection;

use crate::auth::{self, Beginning, ConnectionKey, Transcript};
use crate::control::{probe, put, receive, send, send_frame};
use crate::emulated::emulate;
use crate::link::{Link, LinkError, LinkKind};
use crate::offer;
use crate::rdma;
use crate::resume::{self, ClientLane};
use crate::stream::Stream;
use crate::target::{Address, Preference, Target};
use crate::tcp::{TlsChannel, client_tls, explain_to_client};
use crate::wait::io_error;
use crate::{channel, socket};

/// A round trip below this is worth being measured again, to know it without its outliers.
const QUICK: Duration = Duration::from_millis(2);

/// Longest time for taking an offer, and again for its probe.
const PROBE: Duration = Duration::from_millis(250);
/// The same for RDMA, where a packet that is lost at first is sent again after 67 ms and more.
const PROBE_RDMA: Duration = Duration::from_secs(3);

/// An open session, to which further lanes can be opened.
#[derive(Clone)]
pub struct Session {
    /// Its name, for people.
    pub id: SessionId,
    /// Shows that a lane belongs to it.
    pub secret: [u8; 32],
}

impl std::fmt::Debug for Session {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Session").field("id", &self.id).finish()
    }
}

/// What this process says of itself.
pub fn hello(strict: bool) -> ClientHello {
    let line = |path: &str| {
        let text = fs::read_to_string(path).unwrap_or_default();
        text.trim_end().to_owned()
    };
    ClientHello {
        features: Features(
            Features::WATERMARK.0 | Features::IMAGE_CACHE.0 | Features::SHARED_MEMORY.0,
        ),
        pid: process::id(),
        program: line("/proc/self/comm"),
        host: line("/proc/sys/kernel/hostname"),
        boot_id: boot_id(),
        strict,
        resume_ms: 0,
    }
}

/// Identifies the running kernel: equal for two processes under one kernel.
pub(crate) fn boot_id() -> String {
    let text = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    text.trim_end().to_owned()
}

/// Opens a lane to `target`: of a new session, or of `session`.
///
/// Returns the link, ready for the first frame of the lane, the server's answer, and the session
/// that the lane belongs to. [`LinkInfo::fallbacks`](crate::LinkInfo::fallbacks) lists which better
/// links were tried and why they are not used.
///
/// # Errors
///
/// [`LinkError::Refused`] with the server's reason, [`LinkError::TimedOut`], [`LinkError::Closed`],
/// [`LinkError::Tls`], [`LinkError::Usage`] if settings contradict each other; all name the server.
pub fn connect(
    target: &Target,
    hello: &ClientHello,
    session: Option<&Session>,
) -> Result<(Link, Welcome, Session), LinkError> {
    check(target)?;
    // Files are read before the server has to wait for it.
    let tls = match (&target.tls, &target.address) {
        (Some(tls), Address::Tcp(host, _)) => Some(client_tls(tls, host)?),
        _ => None,
    };
    open_lane(open(target)?, tls, target, hello, session)
}

/// As [`connect`], over a socket that is connected already and carries no TLS.
///
/// # Errors
///
/// As [`connect`].
pub fn connect_over(
    stream: Stream,
    target: &Target,
    hello: &ClientHello,
    session: Option<&Session>,
) -> Result<(Link, Welcome, Session), LinkError> {
    open_lane(stream, None, target, hello, session)
}

pub(crate) fn open_lane(
    stream: Stream,
    tls: Option<ClientConnection>,
    target: &Target,
    hello: &ClientHello,
    session: Option<&Session>,
) -> Result<(Link, Welcome, Session), LinkError> {
    let deadline = Instant::now() + target.handshake();
    // RDMA watches the connection by it.
    let watch = stream
        .as_fd()
        .try_clone_to_owned()
        .map_err(|error| io_error(stream.peer(), error))?;
    let (mut link, key, exported) = secure(stream, tls, target, session, deadline)?;
    if let Some(emulation) = target.emulate {
        link = emulate(link, emulation)?;
    }
    let proved = Proved {
        key: key.as_ref(),
        channel: exported,
    };
    let resume_ms = u32::try_from(target.resume.as_millis()).unwrap_or(u32::MAX);
    let hello = ClientHello {
        // An emulated network is between what is above it and the connection, and knows of one connection only.
        resume_ms: if target.emulate.is_none() {
            resume_ms
        } else {
            0
        },
        ..hello.clone()
    };
    let (welcome, round_trip) = introduce(&mut link, target, &hello, proved, deadline)?;
    let first = session.is_none();
    let mut link = choose(
        link,
        &watch,
        (target, first),
        &welcome,
        round_trip,
        deadline,
    )?;
    send_frame(&mut *link.tx, control::SWITCH, &[])?;
    let session = Session {
        id: welcome.session,
        secret: welcome.secret,
    };
    if welcome.resume_ms > 0 {
        let lane = ClientLane {
            target: target.clone(),
            session: session.clone(),
            number: welcome.lane,
            server_is_here: !welcome.offers.is_empty(),
        };
        let patience = Duration::from_millis(welcome.resume_ms.min(resume_ms).into());
        link = resume::client(link, lane, patience);
    }
    Ok((link, welcome, session))
}

/// From the connected socket to a link that carries TLS if it is to; also the connection's key, if there is a secret,
/// and what TLS exports.
fn secure(
    stream: Stream,
    tls: Option<ClientConnection>,
    target: &Target,
    session: Option<&Session>,
    deadline: Instant,
) -> Result<(Link, Option<ConnectionKey>, [u8; 32]), LinkError> {
    let (socket, mut info) = stream.prepare();
    let key = begin(&socket, tls.is_some(), target, session, deadline)?;
    let Some(connection) = tls else {
        return Ok((channel::link(Arc::new(socket), info), key, [0; 32]));
    };
    let (tls, address) = (target.tls.clone(), target.address.clone());
    let explain = move |error: &rustls::Error| match (&tls, &address) {
        (Some(tls), Address::Tcp(host, _)) => explain_to_client(error, tls, host),
        _ => error.to_string(),
    };
    let channel = TlsChannel::handshake(socket, connection.into(), explain, deadline)?;
    info.kind = LinkKind::Tls;
    let exported = channel.exporter()?;
    Ok((channel::link(Arc::new(channel), info), key, exported))
}

/// Opens a connection by which a lane of `session` goes on, and says where: the link that it travels on, and the server's
/// answer.
///
/// # Errors
///
/// As [`connect`].
pub(crate) fn resume(
    target: &Target,
    session: &Session,
    asked: &ResumeLane,
) -> Result<(Link, LaneResumed), LinkError> {
    let tls = match (&target.tls, &target.address) {
        (Some(tls), Address::Tcp(host, _)) => Some(client_tls(tls, host)?),
        _ => None,
    };
    let stream = open(target)?;
    let deadline = Instant::now() + target.handshake();
    let (mut link, key, exported) = secure(stream, tls, target, Some(session), deadline)?;
    let mut transcript = Transcript {
        hello: auth::hash(asked),
        welcome: [0; 32],
        channel: exported,
    };
    let prove = |key: &ConnectionKey| transcript.prove(Prover::Client, key);
    let proof = key.as_ref().map_or([0; 32], prove);
    put(&mut *link.tx, asked)?;
    send(&mut *link.tx, &Proof(proof))?;
    let resumed: LaneResumed = receive(&mut *link.rx, deadline)?.message()?;
    transcript.welcome = auth::hash(&LaneResumed {
        proof: [0; 32],
        ..resumed
    });
    let wrong = |key: &ConnectionKey| !transcript.proves(Prover::Server, key, &resumed.proof);
    if key.as_ref().is_none_or(wrong) {
        let reason = format!("{} does not know the session", target.address);
        return Err(LinkError::refused(RefusalKind::Session, reason));
    }
    Ok((link, resumed))
}

/// That the settings do not contradict each other.
fn check(target: &Target) -> Result<(), LinkError> {
    let usage = |text: String| Err(LinkError::Usage(text));
    match (&target.address, target.link) {
        (Address::Unix(_), Preference::Tcp) => usage(format!(
            "{} is no TCP address: use --link auto, or the server's HOST:PORT",
            target.address
        )),
        (Address::Unix(_), Preference::Rdma) => usage(format!(
            "{} is no address that RDMA reaches: use --link auto, or the server's HOST:PORT",
            target.address
        )),
        (_, Preference::Rdma) if target.rdma_trusted.is_empty() => usage(
            "what RDMA carries is not encrypted: name the network whose fabric is trusted with it \
             by --rdma-trusted-net"
                .into(),
        ),
        (Address::Unix(_), _) if target.tls.is_some() => usage(format!(
            "TLS is for TCP, and {} is a Unix socket: leave out --tls-ca",
            target.address
        )),
        _ => Ok(()),
    }
}

/// Connects the socket.
fn open(target: &Target) -> Result<Stream, LinkError> {
    let failed = |error: io::Error| {
        let remedy = match error.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused => {
                "; is `gtrace serve` running there?"
            }
            io::ErrorKind::PermissionDenied => "; the socket's owner decides who may connect",
            _ => "",
        };
        let error = match remedy {
            "" => error,
            remedy => io::Error::new(error.kind(), format!("{error}{remedy}")),
        };
        LinkError::Io(format!("cannot connect to {}", target.address), error)
    };
    let stream: Stream = match &target.address {
        Address::Unix(path) => UnixStream::connect(path).map_err(failed)?.into(),
        Address::Tcp(host, port) => {
            let addresses = (host.as_str(), *port).to_socket_addrs().map_err(failed)?;
            let mut last = io::Error::other("the name has no address");
            let mut connected = None;
            for address in addresses {
                match TcpStream::connect_timeout(&address, target.timeout) {
                    Ok(stream) => {
                        connected = Some(stream);
                        break;
                    }
                    Err(error) => last = error,
                }
            }
            connected.ok_or_else(|| failed(last))?.into()
        }
    };
    Ok(stream.named(target.address.to_string()))
}

/// Reads the greeting and sends the preamble; the connection's key, if there is a secret.
fn begin(
    socket: &socket::Socket,
    tls: bool,
    target: &Target,
    session: Option<&Session>,
    deadline: Instant,
) -> Result<Option<ConnectionKey>, LinkError> {
    let mut greeting = [0; GREETING_LEN];
    socket::receive_exact(socket, &mut greeting, deadline).map_err(|error| match error {
        LinkError::TimedOut(peer) => LinkError::TimedOut(format!(
            "{peer}, which does not greet as `gtrace serve` of this version does"
        )),
        error => error,
    })?;
    if let Some(emulation) = target.emulate {
        // Its way here would have taken that.
        std::thread::sleep(emulation.rtt);
    }
    let wanted = Greeting::parse(&greeting)?;
    let secret: Option<&[u8]> = match (session, &target.token) {
        (Some(session), _) => Some(&session.secret),
        (None, Some(token)) => Some(token.as_bytes()),
        (None, None) => None,
    };
    match (session, wanted.token, secret) {
        (None, true, None) => {
            return Err(LinkError::refused(
                RefusalKind::Token,
                "it wants a token: name its file with --token-file or GTRACE_TOKEN_FILE",
            ));
        }
        // Else whoever answers at this address would pass for the server.
        (None, false, Some(_)) => {
            return Err(LinkError::Usage(format!(
                "{} does not ask for the token, so it may not be the server that has it: start the \
                 server with --token-file, or leave the token out here",
                target.address
            )));
        }
        _ => {}
    }
    let mut preamble = Preamble::new(tls, session.is_some());
    let mut beginning = Beginning {
        greeting,
        preamble: preamble.to_bytes(),
    };
    if let Some(secret) = secret {
        preamble.tag = beginning.tag(secret);
        beginning.preamble = preamble.to_bytes();
    }
    socket::send_all(socket, &beginning.preamble, deadline)?;
    Ok(secret.map(|secret| beginning.key(secret)))
}

/// What a client proves by.
struct Proved<'a> {
    key: Option<&'a ConnectionKey>,
    channel: [u8; 32],
}

/// HELLO to WELCOME; also the time that it took.
fn introduce(
    link: &mut Link,
    target: &Target,
    hello: &ClientHello,
    proved: Proved<'_>,
    deadline: Instant,
) -> Result<(Welcome, Duration), LinkError> {
    let mut transcript = Transcript {
        hello: auth::hash(hello),
        welcome: [0; 32],
        channel: proved.channel,
    };
    let prove = |key: &ConnectionKey| transcript.prove(Prover::Client, key);
    let proof = proved.key.map_or([0; 32], prove);
    let sent = Instant::now();
    put(&mut *link.tx, hello)?;
    send(&mut *link.tx, &Proof(proof))?;
    let welcome: Welcome = receive(&mut *link.rx, deadline)?.message()?;
    let round_trip = sent.elapsed();
    transcript.welcome = auth::hash(&Welcome {
        proof: [0; 32],
        ..welcome.clone()
    });
    let wrong = |key: &ConnectionKey| !transcript.proves(Prover::Server, key, &welcome.proof);
    if proved.key.is_some_and(wrong) {
        let reason = format!(
            "{} let this client in without knowing the token itself: it is not the server that the \
             token is for",
            target.address
        );
        return Err(LinkError::refused(RefusalKind::Token, reason));
    }
    Ok((welcome, round_trip))
}

/// The best link that works and is wanted; its `fallbacks` list why others are not used. A session whose `first` lane had
/// RDMA goes on without where a port is down when a further one is opened, as its lanes do that are open then.
fn choose(
    mut link: Link,
    socket: &OwnedFd,
    (target, first): (&Target, bool),
    welcome: &Welcome,
    round_trip: Duration,
    deadline: Instant,
) -> Result<Link, LinkError> {
    let wanted: &[&str] = match (target.link, link.info.kind) {
        (Preference::Auto, LinkKind::Unix) => &[offer::SHARED_MEMORY],
        (Preference::Auto, _) => &[offer::SHARED_MEMORY, offer::UNIX],
        (Preference::SharedMemory, _) => &[offer::SHARED_MEMORY],
        (Preference::Unix, LinkKind::Unix) | (Preference::Tcp | Preference::Rdma, _) => &[],
        (Preference::Unix, _) => &[offer::UNIX],
    };
    let mut fallbacks = Vec::new();
    for name in wanted {
        match take(name, &link, target, welcome, deadline) {
            Ok(mut better) => {
                better.info.fallbacks = fallbacks;
                return Ok(better);
            }
            Err(reason) => fallbacks.push(format!("{name}: {reason}")),
        }
    }
    let rdma = match (target.link, link.info.kind) {
        (Preference::Rdma, _) => true,
        (Preference::Auto, LinkKind::Tcp | LinkKind::Tls) => !target.rdma_trusted.is_empty(),
        _ => false,
    };
    if rdma {
        match take_rdma(&mut link, socket, target, welcome, deadline) {
            Ok((mut better, settled)) => {
                better.info.fallbacks = fallbacks;
                better.info.under = Some(link.info.kind);
                settled.settle(link);
                return Ok(better);
            }
            Err(reason) => {
                link.info.changes.refuse();
                let reason = format!("rdma: {reason}");
                if !first {
                    link.info.changes.note(&reason);
                }
                fallbacks.push(reason);
            }
        }
    }
    let may_fall = match target.link {
        Preference::Auto => true,
        Preference::Rdma => !first,
        _ => false,
    };
    if !may_fall && !fallbacks.is_empty() {
        return Err(LinkError::Usage(format!(
            "{} by {}; use --link auto to take what works",
            target.address,
            fallbacks.join("; ")
        )));
    }
    link.info.fallbacks = fallbacks;
    link.info.probe_ns = if round_trip < QUICK {
        probe(&mut link, deadline)?
    } else {
        u64::try_from(round_trip.as_nanos()).unwrap_or(u64::MAX)
    };
    Ok(link)
}

/// Agrees with the server on RDMA and probes it.
fn take_rdma(
    link: &mut Link,
    socket: &OwnedFd,
    target: &Target,
    welcome: &Welcome,
    deadline: Instant,
) -> Result<(Link, Arc<rdma::Shared>), String> {
    let (mut better, shared) = rdma::ask(link, socket, &target.rdma_trusted, welcome, deadline)?;
    if let Some(emulation) = target.emulate {
        better = emulate(better, emulation).map_err(|e| e.to_string())?;
    }
    let deadline = deadline.min(Instant::now() + target.slower(PROBE_RDMA));
    better.info.probe_ns = probe(&mut better, deadline).map_err(|e| e.to_string())?;
    Ok((better, shared))
}

/// Takes the offer of that name and probes it.
fn take(
    name: &str,
    link: &Link,
    target: &Target,
    welcome: &Welcome,
    deadline: Instant,
) -> Result<Link, String> {
    let offer = welcome.offers.iter().find(|offer| offer.link == name);
    let Some(offer) = offer else {
        return Err("not offered, as the server runs on another host or has it turned off".into());
    };
    let timeout = target.timeout.min(PROBE);
    let mut better = offer::take(offer, &link.info.peer, timeout).map_err(|e| e.to_string())?;
    if let Some(emulation) = target.emulate {
        better = emulate(better, emulation).map_err(|e| e.to_string())?;
    }
    let deadline = deadline.min(Instant::now() + target.slower(timeout));
    better.info.probe_ns = probe(&mut better, deadline).map_err(|e| e.to_string())?;
    Ok(better)
}
