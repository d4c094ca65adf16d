//! A server in a thread, and links between threads.
#![allow(dead_code, unreachable_pub)]
#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::fs;
use std::io;
use std::net::{IpAddr, TcpListener};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, LazyLock};
use std::thread;
use std::time::Duration;

use gtrace_link::{
    Admitted, Link, LinkError, LinkKind, OneSession, Opened, Preference, ServerTerms, Stream,
    Target, TlsClient, accept, connect, hello, new_session_id, server_tls, take,
};
use gtrace_protocol::{ClientHello, Features};
use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use tempfile::TempDir;

/// What came of a connection on the server's side.
pub type Accepted = Result<(Link, ClientHello, Admitted), LinkError>;

/// Terms of a server that lets everybody in.
pub fn terms() -> ServerTerms {
    let session = OneSession::new(new_session_id().unwrap(), 8).unwrap();
    ServerTerms {
        token: None,
        tls: None,
        features: Features::default(),
        credits: 1024,
        driver_version: 12_040,
        nvml: true,
        host: "test-server".into(),
        timeout: Duration::from_secs(5),
        resume: Duration::ZERO,
        ring: 1 << 20,
        rdma_trusted: gtrace_link::Networks::default(),
        sessions: Arc::new(session),
    }
}

/// A server on loopback: its address, and what comes of each connection.
pub fn tcp_server(terms: ServerTerms) -> (String, Receiver<Accepted>) {
    tcp_server_at(IpAddr::from([127, 0, 0, 1]), terms)
}

/// The same at another address of this host.
pub fn tcp_server_at(ip: IpAddr, terms: ServerTerms) -> (String, Receiver<Accepted>) {
    let listener = TcpListener::bind((ip, 0)).unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let next = move || listener.accept().map(|(stream, _)| Stream::from(stream));
    (address, serve(next, terms))
}

/// A server on a Unix socket: its address, and what comes of each connection.
pub fn unix_server(path: &Path, terms: ServerTerms) -> (String, Receiver<Accepted>) {
    let listener = UnixListener::bind(path).unwrap();
    let next = move || listener.accept().map(|(stream, _)| Stream::from(stream));
    (format!("unix:{}", path.display()), serve(next, terms))
}

fn serve(
    mut next: impl FnMut() -> io::Result<Stream> + Send + 'static,
    terms: ServerTerms,
) -> Receiver<Accepted> {
    let (sender, receiver) = channel();
    thread::spawn(move || {
        while let Ok(stream) = next() {
            if sender.send(accept(stream, &terms)).is_err() {
                break;
            }
        }
    });
    receiver
}

/// A server that takes new lanes and those that come back: its address, and the new ones.
pub fn lane_server(terms: ServerTerms) -> (String, Receiver<Link>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let streams = move || listener.accept().map(|(stream, _)| Stream::from(stream));
    (address, serve_lanes(streams, terms))
}

/// The same, of connections that `accept` brings.
pub fn serve_lanes(
    mut accept: impl FnMut() -> io::Result<Stream> + Send + 'static,
    terms: ServerTerms,
) -> Receiver<Link> {
    let (sender, lanes) = channel();
    thread::spawn(move || {
        while let Ok(stream) = accept() {
            let (sender, terms) = (sender.clone(), terms.clone());
            thread::spawn(move || {
                if let Ok(Opened::Lane(link, ..)) = take(stream, &terms) {
                    let _ = sender.send(*link);
                }
            });
        }
    });
    lanes
}

/// The address with links of the host turned off.
pub fn by_tcp(address: &str) -> Target {
    let mut target = Target::parse(address).unwrap();
    target.link = Preference::Tcp;
    target
}

/// A link as `target` wants it, and its other end.
pub fn pair(target: &Target, accepted: &Receiver<Accepted>) -> (Link, Link) {
    let (client, _, _) = connect(target, &hello(false), None).unwrap();
    let (server, _, _) = accepted
        .recv_timeout(Duration::from_secs(60))
        .unwrap()
        .unwrap();
    (client, server)
}

/// Files with an authority, and a certificate of `localhost` that it signed.
pub struct Certificates {
    dir: TempDir,
}

impl Certificates {
    pub fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| fs::write(dir.path().join(name), text).unwrap();
        for authority in ["ca", "other"] {
            let key = KeyPair::generate().unwrap();
            let mut params = CertificateParams::new([]).unwrap();
            params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
            write(authority, &params.self_signed(&key).unwrap().pem());
            if authority == "ca" {
                let issuer = Issuer::new(params, key);
                let key = KeyPair::generate().unwrap();
                let params = CertificateParams::new(["localhost".to_owned()]).unwrap();
                let certificate = params.signed_by(&key, &issuer).unwrap();
                write("cert", &certificate.pem());
                write("key", &key.serialize_pem());
            }
        }
        write("none", "no certificate here\n");
        Self { dir }
    }

    /// `ca`, `other` (an authority that signed nothing), `cert`, `key`, `none` (no PEM).
    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// Terms of a server with this certificate.
    pub fn terms(&self) -> ServerTerms {
        let mut terms = terms();
        terms.tls = Some(server_tls(&self.path("cert"), &self.path("key")).unwrap());
        terms
    }

    /// What a client trusts.
    pub fn client(&self, ca: &str, name: Option<&str>) -> Option<TlsClient> {
        Some(TlsClient::new(self.path(ca), name.map(str::to_owned)))
    }
}

/// Terms of a server with TLS, if there are certificates.
pub fn terms_with(certificates: Option<&Certificates>) -> ServerTerms {
    certificates.map_or_else(terms, Certificates::terms)
}

/// What a client of it trusts.
pub fn trust_of(certificates: Option<&Certificates>) -> Option<TlsClient> {
    certificates.and_then(|certificates| certificates.client("ca", Some("localhost")))
}

/// Address of an RDMA device of this host, if tests are to use it.
pub fn rdma_address() -> Option<IpAddr> {
    let address = std::env::var("GTRACE_TEST_RDMA").ok()?;
    Some(address.parse().expect("an address"))
}

/// A link of that kind, and its other end.
pub fn link_of(kind: LinkKind) -> (Link, Link) {
    let certificates = (kind == LinkKind::Tls).then(Certificates::new);
    let mut terms = terms_with(certificates.as_ref());
    let mut ip = IpAddr::from([127, 0, 0, 1]);
    if let (LinkKind::Rdma, Some(rdma)) = (kind, rdma_address()) {
        ip = rdma;
        terms.rdma_trusted = rdma.to_string().parse().unwrap();
    }
    let rdma_trusted = terms.rdma_trusted.clone();
    let (address, accepted) = tcp_server_at(ip, terms);
    let mut target = Target::parse(&address).unwrap();
    target.rdma_trusted = rdma_trusted;
    target.tls = trust_of(certificates.as_ref());
    target.link = match kind {
        LinkKind::SharedMemory => Preference::SharedMemory,
        LinkKind::Unix => Preference::Unix,
        LinkKind::Tcp | LinkKind::Tls => Preference::Tcp,
        LinkKind::Rdma => Preference::Rdma,
    };
    let (client, server) = pair(&target, &accepted);
    assert_eq!((client.info.kind, server.info.kind), (kind, kind));
    (client, server)
}

/// A stream of bytes that both sides can make: what comes is what was sent, in order.
pub struct Bytes(u64);

impl Bytes {
    pub fn new(seed: u64) -> Self {
        Self(seed | 1)
    }

    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// The next bytes: pieces of a table, from places that follow from the seed, as making each byte
    /// anew takes most of the time of a test that is not optimised.
    pub fn fill(&mut self, into: &mut [u8]) {
        const PIECE: usize = 1 << 10;
        static TABLE: LazyLock<Vec<u8>> = LazyLock::new(|| {
            let mut bytes = Bytes::new(1);
            (0..1 << 13)
                .flat_map(|_| bytes.next().to_le_bytes())
                .collect()
        });
        for piece in into.chunks_mut(PIECE) {
            let at = self.next() as usize % (TABLE.len() - PIECE);
            piece.copy_from_slice(&TABLE[at..at + piece.len()]);
        }
    }
}
