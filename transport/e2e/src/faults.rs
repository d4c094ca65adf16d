//! A way to a server on which connections break: a TCP proxy that resets, stalls, cuts and half-closes them at random
//! bytes. Tests of other crates include this file too, so that it uses nothing of this one.

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// How a connection breaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Both ends get a reset, and lose what they have not read.
    Reset,
    /// Nothing passes for a while, and then both ends get a reset.
    Stall,
    /// Both ends are closed in the middle of what is on its way.
    Truncate,
    /// One direction is closed, and the other goes on.
    HalfClose,
}

impl Fault {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Reset, Self::Stall, Self::Truncate, Self::HalfClose];
}

/// What is broken, and how often.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// Everything random follows from it.
    pub seed: u64,
    /// Breaks in all; what comes after them passes.
    pub breaks: u64,
    /// Most bytes that a connection carries before it breaks.
    pub most_bytes: u64,
    /// Longest stall.
    pub stall: Duration,
    /// Connections that pass as they are before any breaks.
    pub whole: u64,
}

struct State {
    plan: Plan,
    server: String,
    /// Connections break from now on.
    armed: AtomicBool,
    /// Connections so far.
    connections: AtomicU64,
    /// By kind, in the order of [`Fault::ALL`].
    broken: [AtomicU64; 4],
    random: Mutex<u64>,
}

/// A proxy to a server.
#[derive(Clone)]
pub struct Faults {
    address: String,
    state: Arc<State>,
}

impl std::fmt::Debug for Faults {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Faults")
            .field("address", &self.address)
            .finish_non_exhaustive()
    }
}

impl State {
    /// A random number below `below`.
    fn random(&self, below: u64) -> u64 {
        let mut state = self.random.lock().unwrap_or_else(PoisonError::into_inner);
        *state ^= *state << 13;
        *state ^= *state >> 7;
        *state ^= *state << 17;
        // The low bits are the poor ones.
        (*state >> 16) % below.max(1)
    }

    fn count(&self) -> u64 {
        self.broken
            .iter()
            .map(|kind| kind.load(Ordering::SeqCst))
            .sum()
    }

    /// Counts a break; none if there were enough.
    fn fault(&self) -> Option<Fault> {
        let at = self.random(Fault::ALL.len() as u64) as usize;
        (self.armed.load(Ordering::SeqCst) && self.count() < self.plan.breaks).then(|| {
            self.broken[at].fetch_add(1, Ordering::SeqCst);
            Fault::ALL[at]
        })
    }
}

impl Faults {
    /// A proxy on loopback to `server`, which breaks nothing until it is armed.
    pub fn to(server: &str, plan: Plan) -> std::io::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let faults = Self {
            address: listener.local_addr()?.to_string(),
            state: Arc::new(State {
                plan,
                server: server.to_owned(),
                armed: AtomicBool::new(false),
                connections: AtomicU64::new(0),
                broken: [const { AtomicU64::new(0) }; 4],
                random: Mutex::new(plan.seed | 1),
            }),
        };
        let state = Arc::clone(&faults.state);
        thread::spawn(move || {
            while let Ok((client, _)) = listener.accept() {
                let state = Arc::clone(&state);
                let number = state.connections.fetch_add(1, Ordering::SeqCst);
                thread::spawn(move || {
                    if let Ok(server) = TcpStream::connect(&state.server) {
                        carry(&state, &client, &server, number >= state.plan.whole);
                    }
                });
            }
        });
        Ok(faults)
    }

    /// Where clients connect to.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// Connections break from now on.
    pub fn arm(&self) {
        self.state.armed.store(true, Ordering::SeqCst);
    }

    /// Breaks so far.
    pub fn count(&self) -> u64 {
        self.state.count()
    }

    /// The same by kind.
    pub fn by_kind(&self) -> Vec<(Fault, u64)> {
        let counts = self
            .state
            .broken
            .iter()
            .map(|kind| kind.load(Ordering::SeqCst));
        Fault::ALL.into_iter().zip(counts).collect()
    }
}

/// Both directions of a connection, until one of them breaks or both are at their end.
fn carry(state: &State, client: &TcpStream, server: &TcpStream, breaks: bool) {
    for socket in [client, server] {
        let _ = socket.set_nodelay(true);
    }
    // Whichever direction has carried so much first.
    let left = AtomicU64::new(match breaks {
        true => 1 + state.random(state.plan.most_bytes),
        false => u64::MAX,
    });
    thread::scope(|scope| {
        scope.spawn(|| pass(state, client, server, &left));
        pass(state, server, client, &left);
    });
}

fn reset(sockets: [&TcpStream; 2]) {
    for socket in sockets {
        // Disconnecting sends a reset at once, whoever else has the descriptor.
        let _ = rustix::net::connect_unspec(socket);
    }
}

fn close(sockets: [&TcpStream; 2]) {
    for socket in sockets {
        let _ = socket.shutdown(Shutdown::Both);
    }
}

fn pass(state: &State, mut from: &TcpStream, mut to: &TcpStream, left: &AtomicU64) {
    let mut bytes = vec![0; 64 << 10];
    loop {
        let count = match from.read(&mut bytes) {
            Ok(0) => {
                let _ = to.shutdown(Shutdown::Write);
                return;
            }
            Ok(count) => count,
            Err(_) => return close([from, to]),
        };
        // Bytes before it is armed do not count.
        let armed = state.armed.load(Ordering::SeqCst);
        let before = match armed {
            true => left.fetch_sub(
                (count as u64).min(left.load(Ordering::SeqCst)),
                Ordering::SeqCst,
            ),
            false => u64::MAX,
        };
        let whole = before > count as u64;
        let now = if whole { count } else { before as usize };
        let fault = if whole { None } else { state.fault() };
        // All that was read passes if this is no break.
        let now = if fault.is_some() {
            now.min(count)
        } else {
            count
        };
        if to.write_all(&bytes[..now]).is_err() {
            return close([from, to]);
        }
        match fault {
            None => {}
            Some(Fault::Reset) => return reset([from, to]),
            Some(Fault::Stall) => {
                let most = state.plan.stall.as_micros() as u64;
                thread::sleep(Duration::from_micros(state.random(most)));
                return reset([from, to]);
            }
            Some(Fault::Truncate) => return close([from, to]),
            Some(Fault::HalfClose) => {
                let _ = to.shutdown(Shutdown::Write);
                let _ = from.shutdown(Shutdown::Read);
                return;
            }
        }
    }
}
