//! Opening a lane.

use std::fs;
use std::io;
use std::net::SocketAddr;
use std::os::fd::AsFd as _;
use std::os::unix::fs::MetadataExt as _;
use std::process;
use std::sync::Arc;
use std::time::{Duration, Instant};

use gtrace_protocol::{
    Begin, ClientHello, DecodeError, Features, GREETING_LEN, Greeting, LaneResumed, Preamble,
    Proof, Prover, RefusalKind, ResumeLane, SessionId, Welcome, control,
};

use rustix::net::SocketAddrUnix;
use rustls::ClientConnection;

use crate::auth::{self, Beginning, ConnectionKey, Transcript};
use crate::control::{probe, put, receive, send, send_frame};
use crate::emulated::emulate;
use crate::link::{Link, LinkError, LinkKind};
use crate::lookup::{self, LOOKUP};
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

/// Why a link is not there.
const NOT_OFFERED: &str = "not offered, as the server runs on another host or has it turned off";

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
        pid_namespace: pid_namespace(),
        ..ClientHello::default()
    }
}

/// Identifies the PID namespace of this process under the running kernel; 0 if it cannot be seen.
pub fn pid_namespace() -> u64 {
    fs::metadata("/proc/self/ns/pid").map_or(0, |namespace| namespace.ino())
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
    open_lane(open(target, LOOKUP)?, tls, target, hello, session)
}

/// As [`connect`], over a socket that is connected already and carries no TLS.
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
    let begin = when_to_begin(target, stream.is_tcp());
    // RDMA watches the connection by it.
    let watch = match stream.is_tcp() && wants_rdma(target) {
        false => None,
        true => {
            let fd = stream.as_fd().try_clone_to_owned();
            let fd = fd.map_err(|error| io_error(stream.peer(), error))?;
            Some(socket::Socket::new(fd, stream.peer().to_owned(), true))
        }
    };
    let (mut link, proved) = secure(stream, tls, target, session, deadline)?;
    if let Some(emulation) = target.emulate {
        link = emulate(link, emulation)?;
    }
    let resume_ms = u32::try_from(target.resume.as_millis()).unwrap_or(u32::MAX);
    let hello = ClientHello {
        begin,
        first: match begin {
            Begin::Chosen => None,
            _ => hello.first.clone(),
        },
        // An emulated network is between what is above it and the connection, and knows of one connection only.
        resume_ms: if target.emulate.is_none() {
            resume_ms
        } else {
            0
        },
        ..hello.clone()
    };
    let (welcome, round_trip) = introduce(&mut link, target, &hello, &proved, deadline)?;
    let first = session.is_none();
    let session = Session {
        id: welcome.session,
        secret: welcome.secret,
    };
    let patience = Duration::from_millis(welcome.resume_ms.min(hello.resume_ms).into());
    let lane = || ClientLane {
        target: target.clone(),
        session: session.clone(),
        number: welcome.lane,
        server_is_here: welcome.here,
    };
    let info = link.info.clone();
    let opened = match welcome.begun {
        true => {
            link.info.probe_ns = u64::try_from(round_trip.as_nanos()).unwrap_or(u64::MAX);
            let wanted = offers_wanted(target, info.kind).iter();
            link.info.fallbacks = wanted
                .map(|name| format!("{name}: {NOT_OFFERED}"))
                .collect();
            Ok(link)
        }
        false => {
            let whose = (target, first);
            let watch = watch.as_ref();
            choose(link, watch, whose, &welcome, round_trip, deadline).and_then(|mut link| {
                send_frame(&mut *link.tx, control::SWITCH, &[])?;
                Ok(link)
            })
        }
    };
    // From WELCOME on the server waits for a lane whose connection breaks.
    let may_go_on =
        !patience.is_zero() && (begin != Begin::Chosen || target.link == Preference::Auto);
    let link = match opened {
        Ok(link) if patience.is_zero() => link,
        Ok(link) => resume::client(link, lane(), patience),
        Err(error) if may_go_on && error.is_break() => {
            resume::client_severed(info, error, lane(), patience)?
        }
        Err(error) => return Err(error),
    };
    Ok((link, welcome, session))
}

/// Whether RDMA is to be asked for over TCP.
fn wants_rdma(target: &Target) -> bool {
    match target.link {
        Preference::Rdma => true,
        Preference::Auto => !target.rdma_trusted.is_empty(),
        _ => false,
    }
}

/// When a lane over a socket of this kind begins: there may be nothing to choose.
fn when_to_begin(target: &Target, tcp: bool) -> Begin {
    match target.link {
        _ if tcp && wants_rdma(target) => Begin::Chosen,
        Preference::Auto => Begin::UnlessOffered,
        Preference::Tcp => Begin::AtOnce,
        Preference::Unix if !tcp => Begin::AtOnce,
        _ => Begin::Chosen,
    }
}

/// From the connected socket to a link that carries TLS if it is to, and by what its client proves itself.
fn secure(
    stream: Stream,
    tls: Option<ClientConnection>,
    target: &Target,
    session: Option<&Session>,
    deadline: Instant,
) -> Result<(Link, Proved), LinkError> {
    let (socket, mut info) = stream.prepare();
    let (begun, greeted) = begin(&socket, tls.is_some(), target, session, deadline)?;
    let Some(connection) = tls else {
        let proved = Proved {
            key: match begun {
                Begun::Key(key) => key,
                Begun::Certificate(_) => None,
            },
            channel: [0; 32],
            greeted,
        };
        return Ok((channel::link(Arc::new(socket), info), proved));
    };
    let (tls, address) = (target.tls.clone(), target.address.clone());
    let explain = move |error: &rustls::Error| match (&tls, &address) {
        (Some(tls), Address::Tcp(host, _)) => explain_to_client(error, tls, host),
        _ => error.to_string(),
    };
    let channel = TlsChannel::handshake(socket, connection.into(), explain, deadline)?;
    info.kind = LinkKind::Tls;
    let exported = channel.exporter()?;
    let proved = Proved {
        key: match begun {
            Begun::Key(key) => key,
            Begun::Certificate(beginning) => Some(beginning.key(&exported)),
        },
        channel: exported,
        greeted,
    };
    Ok((channel::link(Arc::new(channel), info), proved))
}

/// Opens a connection by which a lane of `session` goes on, and says where: the link that it travels on, and the server's
/// answer. Its address is to be known within `lookup`.
pub(crate) fn resume(
    target: &Target,
    session: &Session,
    asked: &ResumeLane,
    lookup: Duration,
) -> Result<(Link, LaneResumed), LinkError> {
    let tls = match (&target.tls, &target.address) {
        (Some(tls), Address::Tcp(host, _)) => Some(client_tls(tls, host)?),
        _ => None,
    };
    let stream = open(target, lookup)?;
    let deadline = Instant::now() + target.handshake();
    let (mut link, Proved { key, channel, .. }) =
        secure(stream, tls, target, Some(session), deadline)?;
    let mut transcript = Transcript {
        hello: auth::hash(asked),
        welcome: [0; 32],
        channel,
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

/// Connects the socket, to an address that is known within `lookup`.
fn open(target: &Target, lookup: Duration) -> Result<Stream, LinkError> {
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
    let stream = match &target.address {
        Address::Unix(path) => SocketAddrUnix::new(path)
            .map_err(io::Error::from)
            .and_then(|address| Stream::connect_unix(&address, target.timeout))
            .map_err(failed)?,
        Address::Tcp(host, port) => {
            let addresses = lookup::addresses(host, *port, lookup).map_err(failed)?;
            connect_any(&addresses, target.timeout).map_err(failed)?
        }
    };
    Ok(stream.named(target.address.to_string()))
}

/// Connects to the first address that answers. Each has an equal share of the time that is left, so that one that is silent
/// leaves some for the others.
fn connect_any(addresses: &[SocketAddr], timeout: Duration) -> io::Result<Stream> {
    let deadline = Instant::now() + timeout;
    let mut last = io::Error::other("the name has no address");
    for (tried, address) in addresses.iter().enumerate() {
        let time = deadline.saturating_duration_since(Instant::now());
        let share = u32::try_from(addresses.len() - tried).map_or(time, |left| time / left);
        match Stream::connect_tcp(address, share) {
            Ok(stream) => return Ok(stream),
            // That nobody listens at this one says nothing of those before it.
            Err(error) if tried > 0 && error.kind() == io::ErrorKind::ConnectionRefused => {}
            Err(error) => last = error,
        }
    }
    Err(last)
}

/// What a connection's key is made of.
enum Begun {
    /// It is made, if there is a secret.
    Key(Option<ConnectionKey>),
    /// Of this, and of what TLS exports.
    Certificate(Beginning),
}

/// The error of a server that does not greet.
fn no_greeting(error: LinkError) -> LinkError {
    match error {
        LinkError::TimedOut(peer) => LinkError::TimedOut(format!(
            "{peer}, which does not greet as `gtrace serve` of this version does"
        )),
        error => error,
    }
}

/// Whether the first lane of a session is to prove itself by its certificate.
fn shows_certificate(target: &Target, first: bool) -> bool {
    let has_certificate = target.tls.as_ref().is_some_and(|tls| tls.own.is_some());
    first && target.token.is_none() && has_certificate
}

/// That the server is one of ours, and wants what there is: for the first lane of a session a token, a certificate or
/// nothing.
fn check_greeting(
    greeting: &[u8; GREETING_LEN],
    target: &Target,
    first: bool,
) -> Result<Greeting, LinkError> {
    let wanted = Greeting::parse(greeting)?;
    let shows = shows_certificate(target, first);
    match (first, wanted.token, target.token.is_some()) {
        (true, true, false) if shows && wanted.certificate => Ok(wanted),
        (true, true, false) if shows => Err(LinkError::refused(
            RefusalKind::Token,
            "it takes no certificates of clients (--tls-client-ca): name the file of a token with --token-file",
        )),
        (true, true, false) => {
            let or = match wanted.certificate {
                true => ", or a certificate with --tls-cert and --tls-key",
                false => "",
            };
            Err(LinkError::refused(
                RefusalKind::Token,
                format!(
                    "it wants a token: name its file with --token-file or GTRACE_TOKEN_FILE{or}"
                ),
            ))
        }
        // Else whoever answers at this address would pass for the server.
        (true, false, true) => Err(LinkError::Usage(format!(
            "{} does not ask for the token, so it may not be the server that has it: start the \
             server with --token-file, or leave the token out here",
            target.address
        ))),
        _ => Ok(wanted),
    }
}

/// Reads the greeting and sends the preamble. False: the greeting was not waited for, as nothing that is said depends on
/// it, and is still to be read.
fn begin(
    socket: &socket::Socket,
    tls: bool,
    target: &Target,
    session: Option<&Session>,
    deadline: Instant,
) -> Result<(Begun, bool), LinkError> {
    let secret: Option<&[u8]> = match (session, &target.token) {
        (Some(session), _) => Some(&session.secret),
        (None, Some(token)) => Some(token.secret()),
        (None, None) => None,
    };
    let first = session.is_none();
    let mut greeting = [0; GREETING_LEN];
    let mut takes_certificate = false;
    let greeted = secret.is_some() || tls;
    if greeted {
        socket::receive_exact(socket, &mut greeting, deadline).map_err(no_greeting)?;
        if let Some(emulation) = target.emulate {
            // Its way here would have taken that.
            std::thread::sleep(emulation.rtt);
        }
        takes_certificate = check_greeting(&greeting, target, first)?.certificate;
    }
    let mut preamble = Preamble::new(tls, session.is_some());
    preamble.certificate = shows_certificate(target, first) && takes_certificate;
    let mut beginning = Beginning {
        greeting,
        preamble: preamble.to_bytes(),
    };
    if let Some(secret) = secret {
        preamble.tag = beginning.tag(secret);
        beginning.preamble = preamble.to_bytes();
    }
    socket::send_all(socket, &beginning.preamble, deadline)?;
    let begun = match preamble.certificate {
        true => Begun::Certificate(beginning),
        false => Begun::Key(secret.map(|secret| beginning.key(secret))),
    };
    Ok((begun, greeted))
}

/// What a client proves by.
struct Proved {
    key: Option<ConnectionKey>,
    /// What TLS exports.
    channel: [u8; 32],
    /// The greeting was read.
    greeted: bool,
}

/// HELLO to WELCOME; also the time that it took.
fn introduce(
    link: &mut Link,
    target: &Target,
    hello: &ClientHello,
    proved: &Proved,
    deadline: Instant,
) -> Result<(Welcome, Duration), LinkError> {
    let mut transcript = Transcript {
        hello: auth::hash(hello),
        welcome: [0; 32],
        channel: proved.channel,
    };
    let prove = |key: &ConnectionKey| transcript.prove(Prover::Client, key);
    let proof = proved.key.as_ref().map_or([0; 32], prove);
    let sent = Instant::now();
    put(&mut *link.tx, hello)?;
    send(&mut *link.tx, &Proof(proof))?;
    if !proved.greeted {
        let bytes = link.rx.peek(GREETING_LEN, Some(deadline));
        let mut greeting = [0; GREETING_LEN];
        greeting.copy_from_slice(&bytes.map_err(no_greeting)?[..GREETING_LEN]);
        link.rx.consume(GREETING_LEN);
        check_greeting(&greeting, target, true)?;
    }
    let welcome: Welcome = receive(&mut *link.rx, deadline)?.message()?;
    let round_trip = sent.elapsed();
    if welcome.begun && hello.begin == Begin::Chosen {
        return Err(DecodeError::BadValue {
            what: "a lane that begins before its link is chosen",
            value: welcome.begun.into(),
        }
        .into());
    }
    transcript.welcome = auth::hash(&Welcome {
        proof: [0; 32],
        ..welcome.clone()
    });
    let wrong = |key: &ConnectionKey| !transcript.proves(Prover::Server, key, &welcome.proof);
    if proved.key.as_ref().is_some_and(wrong) {
        let reason = format!(
            "{} let this client in without knowing the token itself: it is not the server that the \
             token is for",
            target.address
        );
        return Err(LinkError::refused(RefusalKind::Token, reason));
    }
    Ok((welcome, round_trip))
}

/// Offers that are better than a connection of this kind, and wanted, the best first.
fn offers_wanted(target: &Target, kind: LinkKind) -> &'static [&'static str] {
    match (target.link, kind) {
        (Preference::Auto, LinkKind::Unix) => &[offer::SHARED_MEMORY],
        (Preference::Auto, _) => &[offer::SHARED_MEMORY, offer::UNIX],
        (Preference::SharedMemory, _) => &[offer::SHARED_MEMORY],
        (Preference::Unix, LinkKind::Unix) | (Preference::Tcp | Preference::Rdma, _) => &[],
        (Preference::Unix, _) => &[offer::UNIX],
    }
}

/// The best link that works and is wanted; its `fallbacks` list why others are not used. A session whose `first` lane had
/// RDMA goes on without where a port is down when a further one is opened, as its lanes do that are open then.
fn choose(
    mut link: Link,
    watch: Option<&socket::Socket>,
    (target, first): (&Target, bool),
    welcome: &Welcome,
    round_trip: Duration,
    deadline: Instant,
) -> Result<Link, LinkError> {
    let mut fallbacks = Vec::new();
    for name in offers_wanted(target, link.info.kind) {
        match take(name, &link, target, welcome, deadline) {
            Ok(mut better) => {
                better.info.fallbacks = fallbacks;
                return Ok(better);
            }
            Err(reason) => fallbacks.push(format!("{name}: {reason}")),
        }
    }
    if let Some(watch) = watch {
        match take_rdma(&mut link, watch, target, welcome, deadline) {
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
        // Else the server would wait for a connection in place of this one.
        let _ = send_frame(&mut *link.tx, control::GOODBYE, &[]);
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
    watch: &socket::Socket,
    target: &Target,
    welcome: &Welcome,
    deadline: Instant,
) -> Result<(Link, Arc<rdma::Shared>), String> {
    let (mut better, shared) = rdma::ask(link, &watch.fd, &target.rdma_trusted, welcome, deadline)?;
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
        return Err(NOT_OFFERED.into());
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

#[cfg(test)]
mod tests {
    use std::net::{TcpListener, TcpStream};

    use super::*;

    /// An address that answers nobody, as long as what comes with it is kept: its queue is full.
    fn silent() -> (SocketAddr, TcpListener, Vec<TcpStream>) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        rustix::net::listen(&listener, 1).unwrap();
        let soon = Duration::from_millis(200);
        let connect = || TcpStream::connect_timeout(&address, soon).ok();
        let waiting: Vec<_> = std::iter::from_fn(connect).collect();
        assert!(!waiting.is_empty());
        (address, listener, waiting)
    }

    /// That nobody listens there any more would be final.
    #[test]
    fn one_address_that_refuses_does_not_speak_for_one_that_is_silent() {
        let (silent, _listener, _waiting) = silent();
        // Of an address that no other test has.
        let closed = TcpListener::bind("127.0.0.77:0").and_then(|listener| listener.local_addr());
        let closed = closed.unwrap();
        let soon = Duration::from_millis(400);
        for addresses in [[silent, closed], [closed, silent]] {
            let error = connect_any(&addresses, soon).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::TimedOut, "{addresses:?}");
        }
        let error = connect_any(&[closed, closed], soon).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::ConnectionRefused);
    }

    #[test]
    fn addresses_that_are_silent_leave_time_for_one_that_answers() {
        let (silent, _listener, _waiting) = silent();
        let server = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = server.local_addr().unwrap();
        let (began, timeout) = (Instant::now(), Duration::from_secs(3));
        let stream = connect_any(&[silent, silent, address], timeout).unwrap();
        assert_eq!(stream.peer(), address.to_string());
        assert!(began.elapsed() < 2 * timeout, "{:?}", began.elapsed());
    }
}
