//! What a link costs between two processes, beside what the same bytes cost without one: a blocking
//! exchange of 64 bytes, and 16 MiB of random bytes each way; to the other side also from where they lie, where the
//! link's device can take them from there.
//!
//! `cargo run --release -p gtrace-link --example exchange [short] [shm|unix|tcp|tls|rdma=ADDRESS|raw]...`
//!
//! ADDRESS is that of an RDMA device of this host. `short` is for slow machines: a twentieth of the
//! exchanges, a tenth of the copies.

use std::env;
use std::fs;
use std::io::{ErrorKind, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command};
use std::ptr::NonNull;
use std::sync::Arc;
use std::time::{Duration, Instant};

use gtrace_link::{
    Link, LinkError, Networks, OneSession, PinnedRegion, Preference, RING, ServerTerms, Target,
    TlsClient, accept, connect, hello, new_session_id, server_tls,
};
use gtrace_protocol::Features;
use rcgen::{CertificateParams, KeyPair};

type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

const MESSAGE: usize = 64;
const BULK: usize = 16 << 20;
const EXCHANGES: usize = 20_000;
const COPIES: usize = 40;

/// What stands before the address.
const RDMA: &str = "rdma=";

const ECHO: u8 = 0;
const UPLOAD: u8 = 1;
const DOWNLOAD: u8 = 2;

fn main() -> Outcome<()> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    if let [role, address] = &arguments[..]
        && role == "raw-server"
    {
        return raw_server(&TcpStream::connect(address)?);
    }
    if let [role, link, address, ca] = &arguments[..]
        && role == "server"
    {
        return serve(link, address, ca);
    }
    let memcpy = memcpy();
    println!("memcpy       16 MiB {memcpy:6.2} GB/s");
    let all = ["raw", "tcp", "tls", "unix", "shm"].map(str::to_owned);
    let (exchanges, copies, named) = match arguments.split_first() {
        Some((word, named)) if word == "short" => (EXCHANGES / 20, 4, named),
        _ => (EXCHANGES, COPIES, &arguments[..]),
    };
    let links = match named.is_empty() {
        true => &all[..],
        false => named,
    };
    for link in links {
        if link == "raw" {
            raw()?;
        } else {
            measure(link, memcpy, exchanges, copies)?;
        }
    }
    Ok(())
}

/// Bytes that no compression or special case makes quick.
fn random(len: usize) -> Vec<u8> {
    let mut state = 0x9e37_79b9_7f4a_7c15u64;
    (0..len / 8)
        .flat_map(|_| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state.to_le_bytes()
        })
        .collect()
}

fn rate(bytes: usize, took: Duration) -> f64 {
    bytes as f64 / took.as_secs_f64() / 1e9
}

/// The quickest copy of the same bytes in one process.
fn memcpy() -> f64 {
    let from = random(BULK);
    let mut into = vec![1; BULK];
    let quickest = (0..COPIES).map(|_| {
        let began = Instant::now();
        into.copy_from_slice(std::hint::black_box(&from));
        std::hint::black_box(&mut into);
        began.elapsed()
    });
    rate(BULK, median(quickest.collect()))
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}

fn report(what: &str, mut times: Vec<Duration>) {
    times.sort();
    let at = |share: usize| times[times.len() * share / 100].as_nanos() as f64 / 1e3;
    println!(
        "{what:12} 64 B exchange p50 {:6.2} us  p90 {:6.2} us  p99 {:6.2} us",
        at(50),
        at(90),
        at(99)
    );
}

fn spawn(arguments: &[&str]) -> Outcome<Child> {
    Ok(Command::new(env::current_exe()?).args(arguments).spawn()?)
}

/// The other process connects here, so that no port has to be agreed on.
fn measure(name: &str, memcpy: f64, exchanges: usize, copies: usize) -> Outcome<()> {
    // There for longer than the link, which may take bytes from it.
    let mut body = random(BULK);
    let dir = tempfile::tempdir()?;
    let ip = name.strip_prefix(RDMA).unwrap_or("127.0.0.1");
    let listener = TcpListener::bind((ip, 0))?;
    let address = listener.local_addr()?.to_string();
    let (certificate, key) = (dir.path().join("cert"), dir.path().join("key"));
    let pair = KeyPair::generate()?;
    let params = CertificateParams::new(["localhost".to_owned()])?;
    fs::write(&certificate, params.self_signed(&pair)?.pem())?;
    fs::write(&key, pair.serialize_pem())?;
    let ca = certificate.display().to_string();
    let mut child = spawn(&["server", name, &address, &ca])?;
    let (stream, _) = listener.accept()?;
    let stream = stream.into();
    let terms = ServerTerms {
        token: None,
        tls: (name == "tls")
            .then(|| server_tls(&certificate, &key))
            .transpose()?,
        features: Features::default(),
        credits: 0,
        driver_version: 0,
        nvml: false,
        host: "here".into(),
        timeout: Duration::from_secs(5),
        resume: Duration::ZERO,
        ring: RING,
        rdma_trusted: trusted(name)?,
        sessions: Arc::new(OneSession::new(new_session_id()?, 1)?),
    };
    let (mut link, _, _) = accept(stream, &terms)?;
    let label = format!(
        "{} {}",
        link.info.kind,
        link.info.congestion_control.as_deref().unwrap_or("")
    );
    let mut times = Vec::with_capacity(exchanges);
    for _ in 0..exchanges {
        let began = Instant::now();
        request(&mut link, ECHO, 0)?;
        link.rx.peek(MESSAGE, None)?;
        link.rx.consume(MESSAGE);
        times.push(began.elapsed());
    }
    report(&label, times);
    let mut back = vec![0; BULK];
    let chunk = link.info.chunk;
    let (mut up, mut lent, mut down) = (Vec::new(), Vec::new(), Vec::new());
    let memory = pinned(&mut body);
    for _ in 0..copies {
        for (times, memory) in [(&mut up, None), (&mut lent, Some(&memory))] {
            let began = Instant::now();
            for piece in body.chunks(chunk) {
                request(&mut link, UPLOAD, piece.len())?;
                match memory {
                    Some(memory) => link.tx.bulk_from(piece, memory)?,
                    None => link.tx.bulk(piece)?,
                }
            }
            request(&mut link, ECHO, 0)?;
            link.rx.peek(MESSAGE, None)?;
            link.rx.consume(MESSAGE);
            times.push(began.elapsed());
        }
        let began = Instant::now();
        request(&mut link, DOWNLOAD, BULK)?;
        link.tx.flush()?;
        for piece in back.chunks_mut(chunk) {
            link.rx.peek(MESSAGE, None)?;
            link.rx.consume(MESSAGE);
            link.rx.read(piece)?;
        }
        down.push(began.elapsed());
    }
    assert!(back == body, "what came back is not what was sent");
    link.tx.release(Some(&memory))?;
    let mut ways = vec![("there", up), ("back", down)];
    if link.info.changes.lent() > 0 {
        ways.push(("lent", lent));
    }
    for (way, times) in ways {
        let rate = rate(BULK, median(times));
        println!(
            "{label:12} 16 MiB {way:5} {rate:8.4} GB/s, {:3.0} % of memcpy",
            100.0 * rate / memcpy
        );
    }
    drop(link);
    child.wait()?;
    Ok(())
}

/// Memory that the link may take bytes from until it is released.
#[allow(unsafe_code)]
fn pinned(bytes: &mut [u8]) -> PinnedRegion {
    // SAFETY: nobody writes to them, and they are there until after that.
    unsafe { PinnedRegion::new(NonNull::from(&mut *bytes).cast(), bytes.len()) }
}

/// The network whose RDMA is used.
fn trusted(name: &str) -> Outcome<Networks> {
    match name.strip_prefix(RDMA) {
        Some(address) => Ok(address.parse()?),
        None => Ok(Networks::default()),
    }
}

fn request(link: &mut Link, op: u8, len: usize) -> Result<(), LinkError> {
    let room = link.tx.reserve(MESSAGE)?;
    room[0] = op;
    room[8..16].copy_from_slice(&(len as u64).to_le_bytes());
    link.tx.commit(MESSAGE);
    match op {
        UPLOAD => Ok(()),
        _ => link.tx.flush(),
    }
}

/// The other process: it connects, as the client, and then answers.
fn serve(name: &str, address: &str, ca: &str) -> Outcome<()> {
    let mut target = Target::parse(address)?;
    target.link = match name {
        "tls" => {
            target.tls = Some(TlsClient::new(ca.into(), None));
            Preference::Tcp
        }
        other if other.starts_with(RDMA) => Preference::Rdma,
        other => other.parse()?,
    };
    target.rdma_trusted = trusted(name)?;
    let (mut link, _, _) = connect(&target, &hello(false), None)?;
    let mut device = random(BULK);
    let mut at = 0;
    loop {
        let message = match link.rx.peek(MESSAGE, None) {
            Err(LinkError::Closed(_)) => return Ok(()),
            message => message?,
        };
        let mut len = [0; 8];
        len.copy_from_slice(&message[8..16]);
        let len = u64::from_le_bytes(len) as usize;
        let op = message[0];
        link.rx.consume(MESSAGE);
        match op {
            UPLOAD => {
                link.rx.read(&mut device[at..at + len])?;
                at = (at + len) % BULK;
            }
            DOWNLOAD => {
                let chunk = link.info.chunk;
                for piece in device.chunks(chunk) {
                    request(&mut link, UPLOAD, piece.len())?;
                    link.tx.bulk(piece)?;
                }
            }
            _ => request(&mut link, ECHO, 0)?,
        }
    }
}

/// Both sides spin on a socket and do nothing else: what TCP itself costs.
fn raw() -> Outcome<()> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let mut child = spawn(&["raw-server", &listener.local_addr()?.to_string()])?;
    let (stream, _) = listener.accept()?;
    // As the links choose on loopback: the limit is TCP's, not that of a slower choice.
    let _ = rustix::net::sockopt::set_tcp_congestion(&stream, "cubic");
    stream.set_nodelay(true)?;
    stream.set_nonblocking(true)?;
    let mut message = [0; MESSAGE];
    let mut times = Vec::with_capacity(EXCHANGES);
    for _ in 0..EXCHANGES {
        let began = Instant::now();
        (&stream).write_all(&message)?;
        read_spinning(&stream, &mut message)?;
        times.push(began.elapsed());
    }
    report("raw tcp", times);
    stream.set_nonblocking(false)?;
    let body = random(BULK);
    let mut up = Vec::new();
    for _ in 0..COPIES {
        let began = Instant::now();
        (&stream).write_all(&body)?;
        (&stream).read_exact(&mut message)?;
        up.push(began.elapsed());
    }
    println!(
        "raw tcp      16 MiB there {:6.2} GB/s",
        rate(BULK, median(up))
    );
    drop(stream);
    child.wait()?;
    Ok(())
}

fn raw_server(stream: &TcpStream) -> Outcome<()> {
    stream.set_nodelay(true)?;
    stream.set_nonblocking(true)?;
    let mut message = [0; MESSAGE];
    for _ in 0..EXCHANGES {
        read_spinning(stream, &mut message)?;
        (&*stream).write_all(&message)?;
    }
    stream.set_nonblocking(false)?;
    let mut body = vec![0; BULK];
    while { stream }.read_exact(&mut body).is_ok() {
        { stream }.write_all(&message)?;
    }
    Ok(())
}

fn read_spinning(mut stream: &TcpStream, message: &mut [u8]) -> Outcome<()> {
    let mut at = 0;
    while at < message.len() {
        match stream.read(&mut message[at..]) {
            Ok(0) => return Err("closed".into()),
            Ok(read) => at += read,
            Err(error) if error.kind() == ErrorKind::WouldBlock => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}
