//! Letting a lane in.

use std::cell::Cell;
use std::collections::HashMap;
use std::fmt;
use std::os::fd::AsFd as _;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::auth::{self, Beginning, ConnectionKey, Token, Transcript};
use crate::channel;
use crate::client::boot_id;
use crate::control::{frame, receive, send};
use crate::link::{Link, LinkError, LinkKind};
use crate::networks::Networks;
use crate::offer::{self, Offers};
use crate::resume::{OpeningLane, Resumption};
use crate::settling::Settling;
use crate::socket;
use crate::stream::Stream;
use crate::tcp::{RecordChannel, TlsSecrets, shake_hands};
use crate::wait::io_error;
use gtrace_protocol::{
    Begin, ClientHello, Features, Greeting, MAGIC, PREAMBLE_LEN, Payload as _, Preamble,
    PreambleError, Proof, Prover, RefusalKind, Refused, ResumeLane, SessionId, Welcome, control,
};

/// Time that a client has besides for its queue pairs, where RDMA may be asked for.
const RDMA_SETUP: Duration = Duration::from_secs(8);

/// A lane that is let in.
#[derive(Clone, Copy)]
pub struct Admitted {
    /// Its session.
    pub session: SessionId,
    /// The session's secret, by which its other lanes prove themselves.
    pub secret: [u8; 32],
    /// Number of the lane in the session, from 1.
    pub lane: u16,
}

impl fmt::Debug for Admitted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Admitted")
            .field("session", &self.session)
            .field("lane", &self.lane)
            .finish_non_exhaustive()
    }
}

/// The sessions of a server, or the one of a worker.
pub trait Sessions: Send + Sync {
    /// The secret of the session once it has begun, for who admits its other lanes by [`accept`].
    fn secret(&self) -> Option<[u8; 32]>;

    /// Lets a lane in whose client has proved itself: the first of the session, or a `further` one.
    ///
    /// # Errors
    ///
    /// Why not, for the user of the client.
    fn admit(&self, further: bool, hello: &ClientHello) -> Result<Admitted, String>;

    /// A lane is open that goes on by another connection when its own breaks.
    fn opened(&self, _lane: u16, _resumption: Resumption) {}

    /// What such a lane is resumed by.
    ///
    /// # Errors
    ///
    /// Why not, for the user of the client.
    fn resumption(&self, _lane: u16) -> Result<Resumption, String> {
        Err("this server resumes no lanes".into())
    }

    /// Whether the client has ended, as far as is known otherwise than by its connections: they will not come back then.
    fn client_is_gone(&self) -> bool {
        false
    }
}

/// The one session of a worker process.
pub struct OneSession {
    id: SessionId,
    secret: [u8; 32],
    lanes_max: u16,
    /// Lanes that were let in; 0 before the first.
    lanes: Mutex<u16>,
    /// Those that go on by another connection.
    resumable: Mutex<HashMap<u16, Resumption>>,
}

impl OneSession {
    /// Of this name, with a new secret; at most `lanes_max` lanes in its whole life.
    ///
    /// # Errors
    ///
    /// If the system has no random numbers.
    pub fn new(id: SessionId, lanes_max: u16) -> Result<Self, LinkError> {
        Ok(Self::with_secret(id, new_secret()?, lanes_max))
    }

    /// The same with a secret that others know too.
    pub fn with_secret(id: SessionId, secret: [u8; 32], lanes_max: u16) -> Self {
        Self {
            id,
            secret,
            lanes_max,
            lanes: Mutex::new(0),
            resumable: Mutex::default(),
        }
    }
}

impl Sessions for OneSession {
    fn secret(&self) -> Option<[u8; 32]> {
        let lanes = self.lanes.lock().unwrap_or_else(PoisonError::into_inner);
        (*lanes > 0).then_some(self.secret)
    }

    fn admit(&self, further: bool, _: &ClientHello) -> Result<Admitted, String> {
        let mut lanes = self.lanes.lock().unwrap_or_else(PoisonError::into_inner);
        if further != (*lanes > 0) {
            return Err("the session has begun already, or not yet".into());
        }
        if *lanes == self.lanes_max {
            return Err(format!(
                "this session has had all the {} lanes that it may have",
                self.lanes_max
            ));
        }
        *lanes += 1;
        Ok(Admitted {
            session: self.id,
            secret: self.secret,
            lane: *lanes,
        })
    }

    fn opened(&self, lane: u16, resumption: Resumption) {
        let mut all = self
            .resumable
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        all.retain(|_, lane| lane.is_there());
        all.insert(lane, resumption);
    }

    fn resumption(&self, lane: u16) -> Result<Resumption, String> {
        let all = self
            .resumable
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let found = all.get(&lane).filter(|lane| lane.is_there()).cloned();
        found.ok_or_else(|| format!("lane {lane} of the session has ended"))
    }
}

/// A new name for a session.
///
/// # Errors
///
/// If the system has no random numbers.
pub fn new_session_id() -> Result<SessionId, LinkError> {
    Ok(SessionId(auth::random_array()?))
}

/// A new secret of a session.
///
/// # Errors
///
/// If the system has no random numbers.
pub fn new_secret() -> Result<[u8; 32], LinkError> {
    auth::random_array()
}

/// A new greeting.
///
/// # Errors
///
/// If the system has no random numbers.
pub fn new_greeting(tls: bool, token: bool) -> Result<Greeting, LinkError> {
    let nonce = auth::random_array()?;
    Ok(Greeting {
        tls,
        token,
        certificate: false,
        nonce,
    })
}

/// How a connection has begun, as far as the one who serves it has to know.
#[derive(Clone, Debug)]
pub struct Opening {
    /// What came of the handshake of TLS, where there was one.
    pub tls: Option<TlsSecrets>,
    /// The lane belongs to a session that there is.
    pub further: bool,
    /// The version that both speak.
    pub version: u16,
    /// The connection's key; none lets everybody in.
    pub key: Option<ConnectionKey>,
}

/// What a server offers and asks for.
#[derive(Clone)]
pub struct ServerTerms {
    /// What a client of a new session must know, for [`accept`]; none lets everybody in.
    pub token: Option<Token>,
    /// TLS over TCP, for [`accept`]; with it, clients that do not use it are refused.
    pub tls: Option<Arc<rustls::ServerConfig>>,
    /// What the server can do.
    pub features: Features,
    /// Frames that a client may send before it has to wait for credit.
    pub credits: u32,
    /// `cuDriverGetVersion`.
    pub driver_version: i32,
    /// Whether there is NVML.
    pub nvml: bool,
    /// The server's host, for messages.
    pub host: String,
    /// Longest handshake.
    pub timeout: Duration,
    /// How long a lane waits for another connection when its own breaks, at most; zero: not at all.
    pub resume: Duration,
    /// Bytes of each ring of shared memory; 0 offers none.
    pub ring: usize,
    /// Networks whose fabric is trusted with plaintext: RDMA is agreed upon with clients in there
    /// only, and with none if none is named.
    pub rdma_trusted: Networks,
    /// Whose lanes.
    pub sessions: Arc<dyn Sessions>,
}

/// Takes a connection from its first byte: greets it, sees whether its client knows the secret, and lets the lane in.
///
/// A server whose sessions are processes of their own does the first half itself, and gives the connection on.
///
/// # Errors
///
/// [`LinkError::TimedOut`], [`LinkError::Closed`], [`LinkError::Preamble`]: to be closed and counted. Those of [`welcome`].
pub fn accept(
    stream: Stream,
    terms: &ServerTerms,
) -> Result<(Link, ClientHello, Admitted), LinkError> {
    match take(stream, terms)? {
        Opened::Lane(link, hello, admitted) => Ok((*link, hello, admitted)),
        Opened::Resumed(lane) => Err(LinkError::Usage(format!("lane {lane} goes on"))),
    }
}

/// What a connection has become.
#[derive(Debug)]
pub enum Opened {
    /// A new lane.
    Lane(Box<Link>, ClientHello, Admitted),
    /// The connection of this lane, which had lost its own.
    Resumed(u16),
}

/// As [`accept`], also of a client that comes back.
pub fn take(stream: Stream, terms: &ServerTerms) -> Result<Opened, LinkError> {
    let deadline = Instant::now() + terms.timeout;
    let greeting = new_greeting(
        terms.tls.is_some() && stream.is_tcp(),
        terms.token.is_some(),
    )?;
    let greeting = greeting.to_bytes();
    socket::send_all(stream.socket(), &greeting, deadline)?;
    let mut preamble = [0; PREAMBLE_LEN];
    // What is no client of ours may say less than a whole preamble and wait for an answer.
    let (magic, rest) = preamble.split_at_mut(MAGIC.len());
    socket::receive_exact(stream.socket(), magic, deadline)?;
    if *magic == MAGIC {
        socket::receive_exact(stream.socket(), rest, deadline)?;
    }
    let parsed = Preamble::parse(&preamble);
    if let Err(error @ (PreambleError::Version(..) | PreambleError::Flags(_))) = &parsed {
        refuse(&stream, RefusalKind::Version, &error.to_string());
    }
    let parsed = parsed?;
    let beginning = Beginning { greeting, preamble };
    let key = match (parsed.further, &terms.token) {
        (false, None) => None,
        (false, Some(token)) => match beginning.key_of(token.secret()) {
            Some(key) => Some(key),
            None => return Err(turn_away(&stream, RefusalKind::Token, WRONG_TOKEN)),
        },
        (true, _) => {
            let secret = terms.sessions.secret();
            match secret.and_then(|secret| beginning.key_of(&secret)) {
                Some(key) => Some(key),
                None => return Err(turn_away(&stream, RefusalKind::Session, NO_SESSION)),
            }
        }
    };
    if let Some(reason) = tls_mismatch(terms.tls.is_some(), stream.is_tcp(), parsed.tls) {
        return Err(turn_away(&stream, RefusalKind::Tls, reason));
    }
    let tls = match &terms.tls {
        Some(config) if parsed.tls => Some(shake_hands(stream.socket(), config, deadline)?),
        _ => None,
    };
    let opening = Opening {
        tls,
        further: parsed.further,
        version: parsed.version(),
        key,
    };
    welcome(stream, &opening, terms)
}

/// The refusal of a client with a wrong token, or with none.
pub const WRONG_TOKEN: &str =
    "the token is not the server's; give both the same file (--token-file)";
/// The refusal of a lane whose session is not there, or is another's.
pub const NO_SESSION: &str = "the session has ended; start the program again";

/// Sends a client the reason of its refusal, before there is a link. The caller closes the connection.
pub fn refuse(stream: &Stream, kind: RefusalKind, reason: &str) {
    let bytes = frame(control::REFUSED, &Refused::new(kind, reason).to_bytes());
    // A client that has gone needs no reason.
    if socket::send_all(stream.socket(), &bytes, Instant::now()).is_ok() {
        socket::linger(stream.as_fd());
    }
}

/// Why a client is refused that wants TLS where there is none (`asked`), or none where a server with `configured` TLS
/// wants it.
pub const fn tls_mismatch(configured: bool, is_tcp: bool, asked: bool) -> Option<&'static str> {
    match (configured, is_tcp, asked) {
        (true, true, true) | (false, true, false) | (_, false, false) => None,
        (true, true, false) => {
            Some("this server speaks TLS only: name its certificate with --tls-ca")
        }
        (false, true, true) => Some(
            "this server does not speak TLS: leave out --tls-ca, or start it with --tls-cert and --tls-key",
        ),
        (_, false, true) => Some("a Unix socket needs no TLS: leave out --tls-ca"),
    }
}

/// Refuses a client before there is a link.
fn turn_away(stream: &Stream, kind: RefusalKind, reason: &str) -> LinkError {
    refuse(stream, kind, reason);
    LinkError::refused(kind, reason)
}

/// Lets a lane in, or refuses it with a reason that its user sees. The handshake of TLS has been gone through already
/// ([`crate::TlsHandshake`]).
///
/// Returns the link, ready for the first frame of the lane, the client's description of itself, and what
/// the lane is; or which lane goes on by this connection.
///
/// # Errors
///
/// [`LinkError::Refused`] with the reason that was sent; others as the link's. The connection is
/// closed.
pub fn welcome(
    stream: Stream,
    opening: &Opening,
    terms: &ServerTerms,
) -> Result<Opened, LinkError> {
    let deadline = Instant::now() + terms.timeout;
    let watch = stream
        .as_fd()
        .try_clone_to_owned()
        .map_err(|e| io_error(stream.peer(), e))?;
    let (socket, mut info) = stream.prepare();
    let mut exported = [0; 32];
    let mut link = match &opening.tls {
        None => channel::link(Arc::new(socket), info),
        Some(secrets) => {
            info.kind = LinkKind::Tls;
            exported = secrets.exporter;
            channel::link(Arc::new(RecordChannel::new(socket, secrets)?), info)
        }
    };
    let first = receive(&mut *link.rx, deadline)?;
    if first.op == control::RESUME {
        let asked: ResumeLane = first.message()?;
        let resumed = resume_lane(link, (opening, exported), terms, &asked, deadline);
        if let Err(LinkError::Refused(_)) = &resumed {
            socket::linger(watch.as_fd());
        }
        return resumed.map(|()| Opened::Resumed(asked.lane));
    }
    let mut hello: ClientHello = first.message()?;
    let introduced = introduce(&mut link, (opening, exported), terms, &hello, deadline);
    if let Err(LinkError::Refused(_)) = &introduced {
        socket::linger(watch.as_fd());
    }
    let Introduced {
        admitted,
        offers,
        begun,
        lane,
    } = introduced?;
    if !begun {
        hello.first = None;
    }
    // Letting the lane in may have taken its time.
    // Devices take their time for being opened and for registering memory, on both sides.
    let rdma_setup = match terms.rdma_trusted.is_empty() {
        true => Duration::ZERO,
        false => RDMA_SETUP,
    };
    let settling = Settling {
        socket: &watch,
        trusted: &terms.rdma_trusted,
        deadline: Instant::now() + terms.timeout + rdma_setup,
        echoed: Cell::new(0),
        asked: Cell::new(0),
    };
    let settled = match begun {
        true => Ok(link),
        false => settling.settle(link, offers),
    };
    let link = match (settled, lane) {
        (Ok(link), None) => link,
        (Ok(link), Some(lane)) => lane.settled(link),
        (Err(error), Some(lane)) => lane.severed(error)?,
        (Err(error), None) => return Err(error),
    };
    Ok(Opened::Lane(Box::new(link), hello, admitted))
}

/// How long both wait for another connection of a lane.
fn resume_ms(terms: &ServerTerms, hello: &ClientHello) -> u32 {
    let ours = u32::try_from(terms.resume.as_millis()).unwrap_or(u32::MAX);
    ours.min(hello.resume_ms)
}

/// RESUME to RESUMED: the lane goes on by this connection.
fn resume_lane(
    mut link: Link,
    (opening, channel): (&Opening, [u8; 32]),
    terms: &ServerTerms,
    asked: &ResumeLane,
    deadline: Instant,
) -> Result<(), LinkError> {
    let Proof(proof) = receive(&mut *link.rx, deadline)?.message()?;
    let mut transcript = Transcript {
        hello: auth::hash(asked),
        welcome: [0; 32],
        channel,
    };
    // The key is made of the session's secret, as it was for a further lane.
    let key = opening.key.filter(|_| opening.further);
    let proved = |key: &ConnectionKey| transcript.proves(Prover::Client, key, &proof);
    let Some(key) = key.filter(proved) else {
        return Err(refused(&mut link, RefusalKind::Token, CHANGED.into()));
    };
    let resumption = match terms.sessions.resumption(asked.lane) {
        Ok(resumption) => resumption,
        Err(reason) => return Err(refused(&mut link, RefusalKind::Lanes, reason)),
    };
    resumption.take_over(asked, link, |link, mut resumed| {
        transcript.welcome = auth::hash(&resumed);
        resumed.proof = transcript.prove(Prover::Server, &key);
        send(&mut *link.tx, &resumed)
    })
}

/// The refusal of a client whose proof is another's.
const CHANGED: &str = "the proof is not of this connection: somebody between client and server changes what they say, \
                       or passes it on to another";

/// Sends the reason and gives it back as the error.
fn refused(link: &mut Link, kind: RefusalKind, reason: String) -> LinkError {
    match send(&mut *link.tx, &Refused::new(kind, reason.clone())) {
        Ok(()) => LinkError::refused(kind, reason),
        Err(error) => error,
    }
}

/// What came of HELLO.
struct Introduced {
    admitted: Admitted,
    /// Better links.
    offers: Option<Offers>,
    /// The lane begins on this connection.
    begun: bool,
    /// It, if it goes on by another connection when its own breaks.
    lane: Option<OpeningLane>,
}

/// HELLO to WELCOME.
fn introduce(
    link: &mut Link,
    (opening, channel): (&Opening, [u8; 32]),
    terms: &ServerTerms,
    hello: &ClientHello,
    deadline: Instant,
) -> Result<Introduced, LinkError> {
    let Proof(proof) = receive(&mut *link.rx, deadline)?.message()?;
    let mut transcript = Transcript {
        hello: auth::hash(hello),
        welcome: [0; 32],
        channel,
    };
    let wrong = |key: &ConnectionKey| !transcript.proves(Prover::Client, key, &proof);
    if opening.key.as_ref().is_some_and(wrong) {
        return Err(refused(link, RefusalKind::Token, CHANGED.into()));
    }
    let admitted = match terms.sessions.admit(opening.further, hello) {
        Ok(admitted) => admitted,
        Err(reason) => return Err(refused(link, RefusalKind::Lanes, reason)),
    };
    let offers = match hello.begin {
        Begin::AtOnce => None,
        _ => open_offers(link, hello, terms),
    };
    let begun = match hello.begin {
        Begin::Chosen => false,
        Begin::UnlessOffered => offers.is_none(),
        Begin::AtOnce => true,
    };
    let resume_ms = resume_ms(terms, hello);
    // Before the client knows of the lane, which may come back from then on.
    let lane = (resume_ms > 0).then(|| {
        let patience = Duration::from_millis(resume_ms.into());
        let (lane, resumption) = OpeningLane::new(link, Arc::clone(&terms.sessions), patience);
        terms.sessions.opened(admitted.lane, resumption);
        lane
    });
    let mut welcome = Welcome {
        version: opening.version,
        features: match terms.rdma_trusted.is_empty() {
            true => terms.features,
            false => Features(terms.features.0 | Features::RDMA.0),
        },
        session: admitted.session,
        secret: admitted.secret,
        proof: [0; 32],
        lane: admitted.lane,
        credits: terms.credits,
        driver_version: terms.driver_version,
        nvml: terms.nvml,
        host: terms.host.clone(),
        resume_ms,
        begun,
        here: is_here(hello),
        offers: offers.as_ref().map(Offers::list).unwrap_or_default(),
    };
    transcript.welcome = auth::hash(&welcome);
    if let Some(key) = &opening.key {
        welcome.proof = transcript.prove(Prover::Server, key);
    }
    send(&mut *link.tx, &welcome)?;
    Ok(Introduced {
        admitted,
        offers,
        begun,
        lane,
    })
}

/// Whether the client runs under this kernel, by its own word.
fn is_here(hello: &ClientHello) -> bool {
    let ours = boot_id();
    !ours.is_empty() && ours == hello.boot_id
}

/// What is offered to a client on the same host. A server that cannot offer goes on without.
fn open_offers(link: &Link, hello: &ClientHello, terms: &ServerTerms) -> Option<Offers> {
    if !is_here(hello) || terms.ring == 0 {
        return None;
    }
    let mut links = Vec::new();
    if hello.features.has(Features::SHARED_MEMORY) {
        links.push(offer::SHARED_MEMORY);
    }
    if link.info.kind != LinkKind::Unix {
        links.push(offer::UNIX);
    }
    match links.is_empty() {
        true => None,
        false => Offers::open(&links, terms.ring).ok(),
    }
}
