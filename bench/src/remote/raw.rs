//! What the operating system and the processor give without any protocol: the limits.
//!
//! The two sides are threads; each socket is a loopback connection of its own.

use std::io::{self, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Instant;

use anyhow::Context as _;
use gtrace_e2e::random::Random;

use super::{BULK, REPLY, REQUEST};
use crate::stats::Samples;
use crate::sys;

/// Bytes of a piece of a copy that stays in the cache.
const PIECE: usize = 256 << 10;

/// Microseconds, medians.
#[derive(Clone, Debug)]
pub(crate) struct Limits {
    /// A request and its reply over TCP, both sides spinning.
    pub(crate) tcp_exchange: f64,
    /// A number there and one back over two cache lines, both sides spinning.
    pub(crate) memory_exchange: f64,
    /// 16 MiB over TCP until the receiver says that it has them: sleeping or spinning, whichever is quicker.
    pub(crate) tcp_stream: f64,
    /// The same where the receiver, as the stand-in for a GPU must, copies what came to another place: nothing
    /// over TCP to the device can be quicker.
    pub(crate) tcp_stream_copied_out: f64,
    /// The same where the sender copies first: the limit to the host.
    pub(crate) tcp_stream_copied_in: f64,
    /// 16 MiB within memory.
    pub(crate) copy: f64,
    /// 16 MiB that one thread copies into a ring and another out of it, both spinning: the limit over shared
    /// memory with a stand-in whose copies are the CPU's.
    pub(crate) copy_twice: f64,
    /// Congestion control of the TCP connections.
    pub(crate) congestion: String,
}

impl Limits {
    /// Measures with `count` exchanges and as many streams as a thousandth of that.
    pub(crate) fn measure(count: usize) -> anyhow::Result<Self> {
        let runs = (count / 1000).max(3);
        let (tcp_exchange, congestion) = tcp_exchange(count)?;
        Ok(Self {
            tcp_exchange,
            memory_exchange: memory_exchange(count),
            tcp_stream: quickest(runs, Copies::None)?,
            tcp_stream_copied_out: quickest(runs, Copies::Out)?,
            tcp_stream_copied_in: quickest(runs, Copies::In)?,
            copy: copy(runs),
            copy_twice: copy_twice(runs),
            congestion,
        })
    }
}

fn us(since: Instant) -> f64 {
    since.elapsed().as_nanos() as f64 / 1e3
}

fn pair() -> anyhow::Result<(TcpStream, TcpStream)> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let a = TcpStream::connect(listener.local_addr()?)?;
    let (b, _) = listener.accept()?;
    for socket in [&a, &b] {
        socket.set_nodelay(true)?;
        // bbr, a frequent default, paces even on loopback.
        sys::set_congestion(socket, "cubic");
    }
    Ok((a, b))
}

/// Reads all of `into` without ever sleeping.
fn spin_read(socket: &mut TcpStream, into: &mut [u8]) -> io::Result<()> {
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

/// Writes all of `bytes` without ever sleeping.
fn spin_write(socket: &mut TcpStream, bytes: &[u8]) -> io::Result<()> {
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

fn tcp_exchange(count: usize) -> anyhow::Result<(f64, String)> {
    let (mut near, mut far) = pair()?;
    let congestion = sys::congestion(&near);
    near.set_nonblocking(true)?;
    far.set_nonblocking(true)?;
    let server = thread::spawn(move || {
        let (mut request, reply) = ([0; REQUEST], [2; REPLY]);
        while spin_read(&mut far, &mut request).is_ok() && far.write_all(&reply).is_ok() {}
    });
    let (request, mut reply) = ([1; REQUEST], [0; REPLY]);
    let mut times = Vec::with_capacity(count);
    for n in 0..count + count / 10 {
        let start = Instant::now();
        near.write_all(&request)?;
        spin_read(&mut near, &mut reply)?;
        if n >= count / 10 {
            times.push(us(start));
        }
    }
    drop(near);
    server.join().ok().context("the far side of the exchange")?;
    Ok((Samples::new(times).median(), congestion))
}

#[repr(align(128))]
struct Line(AtomicU64);

fn memory_exchange(count: usize) -> f64 {
    let (there, back) = (Line(AtomicU64::new(0)), Line(AtomicU64::new(0)));
    let rounds = count as u64;
    let mut times = Vec::with_capacity(count);
    let wait = |line: &Line, value: u64| {
        while line.0.load(Ordering::Acquire) != value {
            std::hint::spin_loop();
        }
    };
    thread::scope(|scope| {
        scope.spawn(|| {
            for n in 1..=rounds {
                wait(&there, n);
                back.0.store(n, Ordering::Release);
            }
        });
        for n in 1..=rounds {
            let start = Instant::now();
            there.0.store(n, Ordering::Release);
            wait(&back, n);
            times.push(us(start));
        }
    });
    Samples::new(times).median()
}

/// Who copies the bytes of a stream once more, by pieces that stay in the cache.
#[derive(Clone, Copy, PartialEq)]
enum Copies {
    None,
    /// The sender, before it sends.
    In,
    /// The receiver, after it received.
    Out,
}

fn quickest(runs: usize, copies: Copies) -> anyhow::Result<f64> {
    Ok(tcp_stream(runs, copies, false)?.min(tcp_stream(runs, copies, true)?))
}

fn tcp_stream(runs: usize, copies: Copies, spins: bool) -> anyhow::Result<f64> {
    let (mut near, mut far) = pair()?;
    near.set_nonblocking(spins)?;
    far.set_nonblocking(spins)?;
    // On sockets that block they do not spin.
    let server = thread::spawn(move || {
        let mut into = vec![0; BULK];
        while receive(&mut far, &mut into, copies == Copies::Out).is_ok()
            && spin_write(&mut far, &[1]).is_ok()
        {}
    });
    let mut bytes = vec![0; BULK];
    Random::new(2).fill(&mut bytes);
    let mut times = Vec::new();
    for run in 0..=runs {
        let start = Instant::now();
        send(&mut near, &bytes, copies == Copies::In)?;
        spin_read(&mut near, &mut [0])?;
        if run > 0 {
            times.push(us(start));
        }
    }
    drop(near);
    server.join().ok().context("the far side of the stream")?;
    Ok(Samples::new(times).median())
}

fn send(socket: &mut TcpStream, bytes: &[u8], copies: bool) -> io::Result<()> {
    if !copies {
        return spin_write(socket, bytes);
    }
    let mut piece = vec![0; PIECE];
    for part in bytes.chunks(PIECE) {
        let piece = &mut piece[..part.len()];
        piece.copy_from_slice(part);
        spin_write(socket, piece)?;
    }
    Ok(())
}

fn receive(socket: &mut TcpStream, into: &mut [u8], copies: bool) -> io::Result<()> {
    if !copies {
        return spin_read(socket, into);
    }
    let mut piece = vec![0; PIECE];
    for part in into.chunks_mut(PIECE) {
        let piece = &mut piece[..part.len()];
        spin_read(socket, piece)?;
        part.copy_from_slice(piece);
    }
    Ok(())
}

fn copy(runs: usize) -> f64 {
    let mut bytes = vec![0; BULK];
    Random::new(3).fill(&mut bytes);
    let mut into = vec![1; BULK];
    let one = |_| {
        let start = Instant::now();
        into.copy_from_slice(std::hint::black_box(&bytes));
        std::hint::black_box(&into);
        us(start)
    };
    Samples::new((0..=runs).map(one).skip(1).collect()).median()
}

/// Pieces that lie in the ring of [`copy_twice`].
const PIECES: usize = 4;

fn copy_twice(runs: usize) -> f64 {
    let mut bytes = vec![0; BULK];
    Random::new(4).fill(&mut bytes);
    let mut into = vec![1; BULK];
    let ring: Vec<Mutex<Vec<u8>>> = (0..PIECES).map(|_| Mutex::new(vec![0; PIECE])).collect();
    // Pieces that were put into the ring, and taken out of it, in all runs.
    let (put, taken) = (Line(AtomicU64::new(0)), Line(AtomicU64::new(0)));
    let all = (BULK / PIECE) as u64;
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
                slot(piece).copy_from_slice(std::hint::black_box(&bytes[at..at + PIECE]));
                put.0.store(piece + 1, Ordering::Release);
            }
            until(&taken, (run + 1) * all);
            if run > 0 {
                times.push(us(start));
            }
        }
    });
    std::hint::black_box(&into);
    Samples::new(times).median()
}
