//! A proxy that changes what a client and a server say to each other, behind the handshake and in it: frames stay
//! frames, with right checksums, so that what decodes and executes them is reached.

use std::io::{self, BufReader, Read, Write as _};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use gtrace_protocol::{FIRST_OPERATION, GREETING_LEN, HEADER_LEN, Header, PREAMBLE_LEN, control};

use self::change::{Fate, Frame, Mutator};

mod call;
mod change;

/// Which way frames are changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// What the server answers.
    ToClient,
    /// What the client asks.
    ToServer,
}

/// What the proxy has done so far.
#[derive(Clone, Debug, Default)]
pub struct Reported {
    /// Frames that went the way that is changed.
    pub frames: u64,
    /// How many of them were changed.
    pub changed: u64,
    /// What was done to the last of those, with the connection's number.
    pub notes: Vec<String>,
}

/// A proxy in front of a server; its connections are closed when it is dropped.
#[derive(Debug)]
pub struct Proxy {
    address: SocketAddr,
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    server: String,
    direction: Direction,
    began: Instant,
    /// When bytes were moved last, ms since the beginning.
    moved: AtomicU64,
    /// When a frame was changed first, ms since the beginning; 0 for not yet.
    first: AtomicU64,
    closed: AtomicBool,
    streams: Mutex<Vec<TcpStream>>,
    reported: Mutex<Reported>,
}

/// Most notes that are kept.
const NOTES: usize = 12;

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Shared {
    fn now(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    fn has_moved(&self) {
        self.moved.store(self.now(), Ordering::Relaxed);
    }

    fn close(&self) {
        self.closed.store(true, Ordering::SeqCst);
        for stream in lock(&self.streams).drain(..) {
            let _ = stream.shutdown(Shutdown::Both);
        }
    }
}

impl Proxy {
    /// Starts one in front of the TCP address `server`. What it does follows from `seed`, the order of
    /// connections and what they carry.
    pub fn start(server: &str, direction: Direction, seed: u64) -> Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").context("a port for the proxy")?;
        let address = listener.local_addr()?;
        let shared = Arc::new(Shared {
            server: server.to_owned(),
            direction,
            began: Instant::now(),
            moved: AtomicU64::new(0),
            first: AtomicU64::new(0),
            closed: AtomicBool::new(false),
            streams: Mutex::default(),
            reported: Mutex::default(),
        });
        let for_thread = Arc::clone(&shared);
        thread::spawn(move || accept(&listener, &for_thread, seed));
        Ok(Self { address, shared })
    }

    /// Where clients find it.
    pub fn address(&self) -> String {
        self.address.to_string()
    }

    /// How long nothing has moved, and how long ago a frame was changed first, if one was.
    pub fn times(&self) -> (Duration, Option<Duration>) {
        let now = self.shared.now();
        let since = |at: u64| Duration::from_millis(now.saturating_sub(at));
        let first = self.shared.first.load(Ordering::Relaxed);
        let idle = since(self.shared.moved.load(Ordering::Relaxed));
        (idle, (first != 0).then(|| since(first)))
    }

    /// Closes all connections, and takes no others.
    pub fn close(&self) {
        self.shared.close();
    }

    /// What it has done so far.
    pub fn reported(&self) -> Reported {
        lock(&self.shared.reported).clone()
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.close();
        // Wakes the thread that accepts.
        let _ = TcpStream::connect(self.address);
    }
}

fn accept(listener: &TcpListener, shared: &Arc<Shared>, seed: u64) {
    for number in 0_u64.. {
        let Ok((client, _)) = listener.accept() else {
            return;
        };
        if shared.closed.load(Ordering::SeqCst) {
            return;
        }
        let mutator = Mutator::new(
            shared.direction,
            seed ^ number.wrapping_mul(0xd134_2543_de82_ef95),
        );
        // A connection that comes to nothing is closed, which its client sees.
        let _ = connect(client, shared, mutator, number);
    }
}

fn connect(
    client: TcpStream,
    shared: &Arc<Shared>,
    mutator: Mutator,
    number: u64,
) -> io::Result<()> {
    let server = TcpStream::connect(&shared.server)?;
    for stream in [&client, &server] {
        stream.set_nodelay(true)?;
        lock(&shared.streams).push(stream.try_clone()?);
    }
    if shared.closed.load(Ordering::SeqCst) {
        shared.close();
    }
    let numbers = Arc::new(Mutex::new(Numbers::default()));
    let to_server = Way {
        from: client.try_clone()?,
        to: server.try_clone()?,
        number,
        direction: Direction::ToServer,
        shared: Arc::clone(shared),
        numbers,
    };
    let to_client = Way {
        from: server,
        to: client,
        direction: Direction::ToClient,
        shared: Arc::clone(shared),
        numbers: Arc::clone(&to_server.numbers),
        number,
    };
    let mut mutators = [None, None];
    mutators[usize::from(shared.direction == Direction::ToClient)] = Some(mutator);
    for (way, mutator) in [to_server, to_client].into_iter().zip(mutators) {
        thread::spawn(move || way.run(mutator));
    }
    Ok(())
}

/// The server's numbers of frames, and the client's: they differ once a frame was left out or put in.
#[derive(Debug, Default)]
struct Numbers {
    last: u64,
    /// By the server's number; 0 for a frame that the client does not know of.
    clients: Vec<u64>,
}

impl Numbers {
    /// The server's number of the next frame.
    fn give(&mut self, client: u64) -> u64 {
        if self.clients.is_empty() {
            // The first call of a lane may have come with HELLO, without a frame.
            self.clients.extend(1..client);
            self.last = client.saturating_sub(1);
        }
        self.last += 1;
        self.clients.push(client);
        self.last
    }

    fn of_client(&self, server: u64) -> Option<u64> {
        let at = usize::try_from(server.checked_sub(1)?).ok()?;
        self.clients.get(at).copied()
    }
}

/// One way of a connection.
struct Way {
    from: TcpStream,
    to: TcpStream,
    number: u64,
    direction: Direction,
    shared: Arc<Shared>,
    numbers: Arc<Mutex<Numbers>>,
}

/// Of the handshake, whose frames have no number in their lane.
fn is_handshake(op: u32) -> bool {
    op < FIRST_OPERATION && ![control::ECHO, control::CREDIT, control::GOODBYE].contains(&op)
}

impl Way {
    fn run(mut self, mut mutator: Option<Mutator>) {
        let _ = self.pass(mutator.as_mut());
        // Nobody is to wait for what does not come.
        let _ = self.from.shutdown(Shutdown::Both);
        let _ = self.to.shutdown(Shutdown::Both);
    }

    fn pass(&mut self, mut mutator: Option<&mut Mutator>) -> io::Result<()> {
        let mut from = BufReader::with_capacity(256 << 10, self.from.try_clone()?);
        let mut beginning = match self.direction {
            Direction::ToServer => vec![0; PREAMBLE_LEN],
            Direction::ToClient => vec![0; GREETING_LEN],
        };
        from.read_exact(&mut beginning)?;
        self.send(&beginning)?;
        let mut owed = 0_u16;
        let mut open = false;
        loop {
            let mut frame = read_frame(&mut from)?;
            // The probe of the handshake is an echo too.
            open |= !frame.header.is_control() || frame.header.op == control::SWITCH;
            let Some(mutator) = mutator.as_deref_mut() else {
                if self.direction == Direction::ToClient && open {
                    match lock(&self.numbers).of_client(frame.header.seq) {
                        Some(0) => {
                            // The answer to a frame that the client has not sent.
                            owed = owed.saturating_add(frame.header.credit);
                            continue;
                        }
                        Some(client) => frame.header.seq = client,
                        None => {}
                    }
                    frame.header.credit = frame
                        .header
                        .credit
                        .saturating_add(std::mem::take(&mut owed));
                }
                self.send(&frame.to_bytes())?;
                continue;
            };
            let fate = mutator.fate(&frame);
            lock(&self.shared.reported).frames += 1;
            match fate {
                Fate::Whole => self.send_numbered(frame, open, true, false)?,
                Fate::Changed { frames, renumber } => {
                    self.note(&mutator.note);
                    for (frame, hidden) in frames {
                        self.send_numbered(frame, open, renumber, hidden)?;
                    }
                }
                Fate::Cut(len) => {
                    self.note(&mutator.note);
                    return self.send(&frame.to_bytes()[..len]);
                }
            }
        }
    }

    fn note(&self, note: &str) {
        let _ = self.shared.first.compare_exchange(
            0,
            self.shared.now().max(1),
            Ordering::Relaxed,
            Ordering::Relaxed,
        );
        let mut reported = lock(&self.shared.reported);
        reported.changed += 1;
        if reported.notes.len() >= NOTES {
            reported.notes.remove(0);
        }
        reported
            .notes
            .push(format!("connection {}: {note}", self.number));
    }

    fn send_numbered(
        &self,
        mut frame: Frame,
        open: bool,
        renumber: bool,
        hidden: bool,
    ) -> io::Result<()> {
        if open && self.direction == Direction::ToServer && !is_handshake(frame.header.op) {
            let client = if hidden { 0 } else { frame.header.seq };
            let server = lock(&self.numbers).give(client);
            if renumber {
                frame.header.seq = server;
            }
        }
        self.send(&frame.to_bytes())
    }

    fn send(&self, bytes: &[u8]) -> io::Result<()> {
        self.shared.has_moved();
        (&self.to).write_all(bytes)?;
        self.shared.has_moved();
        Ok(())
    }
}

fn read_frame(from: &mut impl Read) -> io::Result<Frame> {
    let mut head = [0; HEADER_LEN];
    from.read_exact(&mut head)?;
    let header = Header::parse(&head).map_err(io::Error::other)?;
    let mut frame = Frame {
        header,
        ..Frame::default()
    };
    frame.small = vec![0; header.small as usize];
    frame.bulk = vec![0; header.bulk()];
    from.read_exact(&mut frame.small)?;
    from.read_exact(&mut frame.bulk)?;
    Ok(frame)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a client of these seeds sends comes to a server that takes all, changed or not, as frames.
    #[test]
    fn frames_are_changed_and_stay_frames() {
        let server = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = server.local_addr().unwrap().to_string();
        let mut changed = 0;
        for seed in 0..40 {
            let proxy = Proxy::start(&address, Direction::ToServer, seed).unwrap();
            let mut client = TcpStream::connect(proxy.address()).unwrap();
            let (mut other, _) = server.accept().unwrap();
            client.write_all(&[0; PREAMBLE_LEN]).unwrap();
            for seq in 1..=200 {
                let frame = Frame {
                    header: Header {
                        op: 1000,
                        seq,
                        ..Header::default()
                    },
                    small: vec![7; 40],
                    ..Frame::default()
                };
                if client.write_all(&frame.to_bytes()).is_err() {
                    break;
                }
            }
            client.shutdown(Shutdown::Write).unwrap_or_default();
            let mut bytes = Vec::new();
            let _ = other.read_to_end(&mut bytes);
            assert!(bytes.len() >= PREAMBLE_LEN);
            assert!(proxy.reported().frames <= 200);
            changed += proxy.reported().changed;
        }
        assert!(changed > 40, "{changed} of 8000 frames");
    }
}
