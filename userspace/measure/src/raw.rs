//! What the operating system and the processor give on one machine without any protocol.
//!
//! The two sides are threads; each socket is a connection of its own, TCP over loopback.

use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Instant;

use crate::pace::{Limits, paced};
use crate::{MeasureError, Paced, random};

/// Bytes of a frame's header: what a call without arguments sends.
pub const REQUEST: usize = 64;
/// A header and two numbers of 8 bytes: the answer to `cuMemGetInfo`.
pub const REPLY: usize = 64 + 16;
/// Bytes of a piece of a copy that stays in the cache.
const PIECE: usize = 256 << 10;

/// What a link is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// TCP over loopback.
    Tcp,
    /// A pair of Unix sockets.
    Unix,
    /// Memory: a cache line each way.
    Memory,
}

/// A connected socket.
trait Socket: Read + Write + Send + 'static {
    fn spins(&self, spins: bool) -> io::Result<()>;
}

impl Socket for TcpStream {
    fn spins(&self, spins: bool) -> io::Result<()> {
        self.set_nonblocking(spins)
    }
}

impl Socket for UnixStream {
    fn spins(&self, spins: bool) -> io::Result<()> {
        self.set_nonblocking(spins)
    }
}

type Pair = (Box<dyn Socket>, Box<dyn Socket>);

impl Socket for Box<dyn Socket> {
    fn spins(&self, spins: bool) -> io::Result<()> {
        (**self).spins(spins)
    }
}

fn tcp_pair() -> io::Result<(TcpStream, TcpStream)> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let near = TcpStream::connect(listener.local_addr()?)?;
    let (far, _) = listener.accept()?;
    for socket in [&near, &far] {
        socket.set_nodelay(true)?;
        // bbr, a frequent default, paces even on loopback. A kernel without cubic keeps its own.
        let _ = rustix::net::sockopt::set_tcp_congestion(socket.as_fd(), "cubic");
    }
    Ok((near, far))
}

/// Congestion control that the raw TCP connections have.
///
/// # Errors
///
/// The system's.
pub fn congestion() -> io::Result<String> {
    let (near, _far) = tcp_pair()?;
    Ok(rustix::net::sockopt::tcp_congestion(near.as_fd())?)
}

fn pair(kind: Kind) -> io::Result<Pair> {
    Ok(match kind {
        Kind::Unix => {
            let (near, far) = UnixStream::pair()?;
            (Box::new(near), Box::new(far))
        }
        _ => {
            let (near, far) = tcp_pair()?;
            (Box::new(near), Box::new(far))
        }
    })
}

/// Reads all of `into` without ever sleeping, if the socket does not block.
fn read_all(socket: &mut dyn Socket, into: &mut [u8]) -> io::Result<()> {
    let mut at = 0;
    while at < into.len() {
        match socket.read(&mut into[at..]) {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(n) => at += n,
            Err(e) if e.kind() == io::ErrorKind::WouldBlock => std::hint::spin_loop(),
            Err(e) => return Err(e),
        }
    }
    Ok(())
}

/// Writes all of `bytes` without ever sleeping, if the socket does not block.
fn write_all(socket: &mut dyn Socket, bytes: &[u8]) -> io::Result<()> {
    let mut at = 0;
    while at < bytes.len() {
        match socket.write(&bytes[at..]) {
            Ok(n) => at += n,
            Err(e) if e.kind() == io::ErrorKind::WouldBlock => std::hint::spin_loop(),
            Err(e) => return Err(e),
        }
    }
    Ok(())
}

/// A cache line by itself.
#[repr(align(128))]
struct Line(AtomicU64);

/// Calls `measure` with something that makes one exchange of [`REQUEST`] and [`REPLY`] bytes, both sides spinning;
/// of a number each way where the kind is memory.
fn with_exchange<T>(
    kind: Kind,
    measure: impl FnOnce(&mut dyn FnMut() -> io::Result<()>) -> Result<T, MeasureError>,
) -> Result<T, MeasureError> {
    if kind == Kind::Memory {
        return with_lines(measure);
    }
    let (mut near, mut far) = pair(kind)?;
    near.spins(true)?;
    far.spins(true)?;
    let server = thread::spawn(move || {
        let (mut request, reply) = ([0; REQUEST], [2; REPLY]);
        while read_all(&mut *far, &mut request).is_ok() && write_all(&mut *far, &reply).is_ok() {}
    });
    let (request, mut reply) = ([1; REQUEST], [0; REPLY]);
    let found = measure(&mut || {
        write_all(&mut *near, &request)?;
        read_all(&mut *near, &mut reply)
    });
    drop(near);
    server.join().map_err(|_| MeasureError::FarSide)?;
    found
}

fn with_lines<T>(
    measure: impl FnOnce(&mut dyn FnMut() -> io::Result<()>) -> Result<T, MeasureError>,
) -> Result<T, MeasureError> {
    let (there, back) = (Line(AtomicU64::new(0)), Line(AtomicU64::new(0)));
    let over = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            let mut seen = 0;
            while !over.load(Ordering::Relaxed) {
                let now = there.0.load(Ordering::Acquire);
                if now != seen {
                    seen = now;
                    back.0.store(now, Ordering::Release);
                }
                std::hint::spin_loop();
            }
        });
        let mut sent = 0;
        let found = measure(&mut || {
            sent += 1;
            there.0.store(sent, Ordering::Release);
            while back.0.load(Ordering::Acquire) != sent {
                std::hint::spin_loop();
            }
            Ok(())
        });
        over.store(true, Ordering::Relaxed);
        found
    })
}

/// Exchanges by the same schedule as calls.
///
/// # Errors
///
/// The system's.
pub fn exchanges(kind: Kind, limits: Limits) -> Result<Paced, MeasureError> {
    with_exchange(kind, |exchange| {
        paced(limits, || exchange().map_err(MeasureError::from), || Ok(()))
    })
}

/// The median of `count` exchanges, each made when the one before is done; us.
///
/// # Errors
///
/// The system's.
pub fn exchange_us(kind: Kind, count: usize) -> Result<f64, MeasureError> {
    with_exchange(kind, |exchange| {
        let mut times = Vec::with_capacity(count);
        for n in 0..count + count / 10 {
            let start = Instant::now();
            exchange()?;
            if n >= count / 10 {
                times.push(us(start));
            }
        }
        Ok(median(times))
    })
}

/// Who copies the bytes of a stream once more, by pieces that stay in the cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Copies {
    /// Nobody.
    None,
    /// The sender, before it sends: the limit to the host, with a CPU emulator for a GPU whose copies are the CPU's.
    In,
    /// The receiver, after it received: the limit to the device.
    Out,
}

/// The median time of so many bytes through a socket until the receiver says that it has all: sleeping or spinning,
/// whichever is quicker; through memory, [`copy_twice_us`]. us.
///
/// # Errors
///
/// The system's.
pub fn stream_us(
    kind: Kind,
    bytes: usize,
    runs: usize,
    copies: Copies,
) -> Result<f64, MeasureError> {
    if kind == Kind::Memory {
        return Ok(copy_twice_us(bytes, runs));
    }
    let mut quickest = f64::INFINITY;
    for spins in [false, true] {
        quickest = quickest.min(streamed_us(kind, bytes, runs, copies, spins)?);
    }
    Ok(quickest)
}

fn streamed_us(
    kind: Kind,
    bytes: usize,
    runs: usize,
    copies: Copies,
    spins: bool,
) -> Result<f64, MeasureError> {
    let (mut near, mut far) = pair(kind)?;
    near.spins(spins)?;
    far.spins(spins)?;
    let server = thread::spawn(move || {
        let mut into = vec![0; bytes];
        while receive(&mut *far, &mut into, copies == Copies::Out).is_ok()
            && write_all(&mut *far, &[1]).is_ok()
        {}
    });
    let source = random::bytes(2, bytes);
    let mut times = Vec::new();
    for run in 0..=runs {
        let start = Instant::now();
        send(&mut *near, &source, copies == Copies::In)?;
        read_all(&mut *near, &mut [0])?;
        if run > 0 {
            times.push(us(start));
        }
    }
    drop(near);
    server.join().map_err(|_| MeasureError::FarSide)?;
    Ok(median(times))
}

fn send(socket: &mut dyn Socket, bytes: &[u8], copies: bool) -> io::Result<()> {
    if !copies {
        return write_all(socket, bytes);
    }
    let mut piece = vec![0; PIECE];
    for part in bytes.chunks(PIECE) {
        let piece = &mut piece[..part.len()];
        piece.copy_from_slice(part);
        write_all(socket, piece)?;
    }
    Ok(())
}

fn receive(socket: &mut dyn Socket, into: &mut [u8], copies: bool) -> io::Result<()> {
    if !copies {
        return read_all(socket, into);
    }
    let mut piece = vec![0; PIECE];
    for part in into.chunks_mut(PIECE) {
        let piece = &mut piece[..part.len()];
        read_all(socket, piece)?;
        part.copy_from_slice(piece);
    }
    Ok(())
}

/// The median time of so many bytes within memory; us.
pub fn copy_us(bytes: usize, runs: usize) -> f64 {
    let source = random::bytes(3, bytes);
    let mut into = vec![1; bytes];
    let one = |_| {
        let start = Instant::now();
        into.copy_from_slice(std::hint::black_box(&source));
        std::hint::black_box(&into);
        us(start)
    };
    median((0..=runs).map(one).skip(1).collect())
}

/// Pieces that lie in the ring of [`copy_twice_us`].
const PIECES: usize = 4;

/// The median time of so many bytes that one thread copies into a ring and another out of it, both spinning: the limit
/// over shared memory with a CPU emulator whose copies are the CPU's. Whole pieces of 256 KiB, at least one. us.
pub fn copy_twice_us(bytes: usize, runs: usize) -> f64 {
    let all = (bytes / PIECE).max(1) as u64;
    let bytes = all as usize * PIECE;
    let source = random::bytes(4, bytes);
    let mut into = vec![1; bytes];
    let ring: Vec<Mutex<Vec<u8>>> = (0..PIECES).map(|_| Mutex::new(vec![0; PIECE])).collect();
    // Pieces that were put into the ring, and taken out of it, in all runs.
    let (put, taken) = (Line(AtomicU64::new(0)), Line(AtomicU64::new(0)));
    let until = |line: &Line, value: u64| {
        while line.0.load(Ordering::Acquire) < value {
            std::hint::spin_loop();
        }
    };
    // Nobody else has the lock: the counts see to that.
    let slot = |piece: u64| {
        ring[piece as usize % PIECES]
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    };
    let mut times = Vec::new();
    thread::scope(|scope| {
        scope.spawn(|| {
            for piece in 0..all * (runs as u64 + 1) {
                until(&put, piece + 1);
                let at = (piece % all) as usize * PIECE;
                into[at..at + PIECE].copy_from_slice(&slot(piece));
                taken.0.store(piece + 1, Ordering::Release);
            }
        });
        for run in 0..=runs as u64 {
            let start = Instant::now();
            for piece in run * all..(run + 1) * all {
                until(&taken, (piece + 1).saturating_sub(PIECES as u64));
                let at = (piece % all) as usize * PIECE;
                slot(piece).copy_from_slice(std::hint::black_box(&source[at..at + PIECE]));
                put.0.store(piece + 1, Ordering::Release);
            }
            until(&taken, (run + 1) * all);
            if run > 0 {
                times.push(us(start));
            }
        }
    });
    std::hint::black_box(&into);
    median(times)
}

fn us(since: Instant) -> f64 {
    since.elapsed().as_nanos() as f64 / 1e3
}

/// The middle value, or the mean of the two in the middle; NaN without values.
fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let n = values.len();
    match (values.get(n / 2), n % 2) {
        (None, _) => f64::NAN,
        (Some(v), 1) => *v,
        (Some(v), _) => f64::midpoint(values[n / 2 - 1], *v),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    const LIMITS: Limits = Limits {
        calls: 20,
        time: Duration::from_secs(5),
        rate: None,
        pause_every: None,
    };

    #[test]
    fn every_kind_exchanges_and_streams_and_ends() {
        for kind in [Kind::Tcp, Kind::Unix, Kind::Memory] {
            let found = exchanges(kind, LIMITS).unwrap();
            assert_eq!(found.service.count(), 20, "{kind:?}");
            assert!(exchange_us(kind, 10).unwrap() > 0.0);
            for copies in [Copies::None, Copies::In, Copies::Out] {
                assert!(stream_us(kind, 600_000, 2, copies).unwrap() > 0.0);
            }
        }
        assert!(copy_us(1 << 20, 2) > 0.0);
        assert!(!congestion().unwrap().is_empty());
    }

    #[test]
    fn medians_of_odd_and_even_counts() {
        assert_eq!(median(vec![9.0, 1.0, 5.0]), 5.0);
        assert_eq!(median(vec![9.0, 1.0, 5.0, 7.0]), 6.0);
        assert!(median(Vec::new()).is_nan());
    }
}
