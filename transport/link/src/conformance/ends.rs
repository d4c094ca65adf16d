//! Both ends of a link of each kind.

use std::fmt;
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

use crate::client::{connect, hello, open_lane};
use crate::common::{Certificates, lane_server, link_of, rdma_address, terms};
use crate::emulated::emulate;
use crate::faults::{Faults, Plan};
use crate::link::{Link, LinkKind};
use crate::rdma::double::{Cable, Pair};
use crate::server::accept;
use crate::target::{Preference, Target};
use crate::tcp::client_tls;

/// A network that delays, and holds little.
const SLOWER: &str = "rtt=1ms,jitter=500us,bandwidth=400MB";

/// The kinds of links that the suite runs on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Tcp,
    Tls,
    Unix,
    SharedMemory,
    /// An emulated network over TCP.
    Emulated,
    /// RDMA by doubles of queue pairs.
    Doubled,
    /// An emulated network over that.
    EmulatedDoubled,
    /// RDMA by the device that `GTRACE_TEST_RDMA` names.
    Device,
    /// TCP whose connections break at random and are replaced.
    Resumed,
    /// The same with TLS.
    ResumedTls,
}

impl Kind {
    /// Whether TCP lies below, whose other end can vanish unseen.
    pub(crate) fn is_over_tcp(self) -> bool {
        !matches!(self, Self::Unix | Self::SharedMemory)
    }

    /// Whether it goes on by the connection when its device fails.
    pub(crate) fn has_a_device(self) -> bool {
        matches!(self, Self::Doubled | Self::EmulatedDoubled)
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}

/// All that are to be tested here.
pub(crate) fn kinds() -> Vec<Kind> {
    match rdma_address() {
        Some(_) => vec![Kind::Device],
        None => vec![
            Kind::Tcp,
            Kind::Tls,
            Kind::Unix,
            Kind::SharedMemory,
            Kind::Emulated,
            Kind::Doubled,
            Kind::EmulatedDoubled,
        ],
    }
}

/// The same, and those whose connections break without anybody above noticing.
pub(crate) fn kinds_that_go_on() -> Vec<Kind> {
    let mut all = kinds();
    if all.contains(&Kind::Tcp) {
        all.extend([Kind::Resumed, Kind::ResumedTls]);
    }
    all
}

/// Breaks of one link: some 200 in the whole suite, or 10,000.
fn breaks() -> u64 {
    match std::env::var_os("GTRACE_TEST_LONG") {
        Some(_) => 1000,
        None => 20,
    }
}

/// Both ends, and what breaks what lies between them.
pub(crate) struct Ends {
    pub(crate) here: Link,
    pub(crate) there: Link,
    /// The sockets of the connection below, this end's first; none where there is no TCP.
    pub(crate) sockets: Option<[TcpStream; 2]>,
    /// The cables of doubled queue pairs, to the other end first.
    pub(crate) cables: Option<[Arc<Cable>; 2]>,
}

impl Ends {
    /// Of a link of that kind.
    pub(crate) fn of(kind: Kind) -> Self {
        match kind {
            Kind::Tcp => Self::over_tcp(None),
            Kind::Tls => Self::over_tcp(Some(&Certificates::new())),
            Kind::Unix => Self::of_host(LinkKind::Unix),
            Kind::SharedMemory => Self::of_host(LinkKind::SharedMemory),
            Kind::Device => Self::of_host(LinkKind::Rdma),
            Kind::Emulated => Self::of(Kind::Tcp).slower(SLOWER),
            Kind::Doubled => Self::doubled(),
            Kind::EmulatedDoubled => Self::doubled().slower(SLOWER),
            Kind::Resumed => Self::resumed(None),
            // The authority's file is read for each connection.
            Kind::ResumedTls => Self::resumed(Some(Box::leak(Box::new(Certificates::new())))),
        }
    }

    /// This end as it would be over that network.
    pub(crate) fn slower(mut self, settings: &str) -> Self {
        self.here = emulate(self.here, settings.parse().unwrap()).unwrap();
        self
    }

    fn of_host(kind: LinkKind) -> Self {
        let (here, there) = link_of(kind);
        Self {
            here,
            there,
            sockets: None,
            cables: None,
        }
    }

    fn over_tcp(tls: Option<&Certificates>) -> Self {
        let terms = tls.map_or_else(terms, Certificates::terms);
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let (sender, accepted) = channel();
        thread::spawn(move || {
            let (stream, _) = listener.accept().unwrap();
            let socket = stream.try_clone().unwrap();
            let (link, _, _) = accept(stream.into(), &terms).unwrap();
            sender.send((link, socket)).unwrap();
        });
        let mut target = Target::parse(&address).unwrap();
        target.link = Preference::Tcp;
        target.tls = tls.and_then(|tls| tls.client("ca", Some("localhost")));
        let tls = target
            .tls
            .as_ref()
            .map(|tls| client_tls(tls, "localhost").unwrap());
        let stream = TcpStream::connect(&address).unwrap();
        let socket = stream.try_clone().unwrap();
        let opened = open_lane(stream.into(), tls, &target, &hello(false), None);
        let (here, _, _) = opened.unwrap();
        let (there, theirs) = accepted.recv_timeout(Duration::from_secs(60)).unwrap();
        Self {
            here,
            there,
            sockets: Some([socket, theirs]),
            cables: None,
        }
    }

    /// Over a proxy that breaks connections.
    fn resumed(tls: Option<&Certificates>) -> Self {
        let mut terms = tls.map_or_else(terms, Certificates::terms);
        (terms.resume, terms.ring) = (Duration::from_secs(20), 0);
        let (address, lanes) = lane_server(terms);
        static SEED: AtomicU64 = AtomicU64::new(1);
        let plan = Plan {
            seed: SEED.fetch_add(2, Ordering::Relaxed),
            breaks: breaks(),
            most_bytes: 100_000,
            stall: Duration::from_millis(3),
            whole: 0,
        };
        let faults = Faults::to(&address, plan).unwrap();
        let mut target = Target::parse(faults.address()).unwrap();
        (target.link, target.resume) = (Preference::Tcp, Duration::from_secs(20));
        target.tls = tls.and_then(|tls| tls.client("ca", Some("localhost")));
        let (here, _, _) = connect(&target, &hello(false), None).unwrap();
        let there = lanes.recv_timeout(Duration::from_secs(60)).unwrap();
        faults.arm();
        // As a client's library does: whoever sends nothing and reads nothing finds out too.
        let end = here.end.clone();
        thread::spawn(move || {
            while end.is_alive() {
                thread::sleep(Duration::from_millis(5));
            }
        });
        Self {
            here,
            there,
            sockets: None,
            cables: None,
        }
    }

    fn doubled() -> Self {
        let pair = Pair::new();
        Self {
            here: pair.client,
            there: pair.server,
            sockets: Some(pair.sockets),
            cables: Some([pair.to_server, pair.to_client]),
        }
    }

    /// What breaks the connection below, as a reset does: both ends find it gone. Where there is none,
    /// the link is ended as by one of its processes.
    pub(crate) fn cutter(&mut self) -> impl FnOnce() + Send + use<> {
        let (socket, end) = (self.sockets.take(), self.there.end.clone());
        move || match socket {
            // Disconnecting a TCP socket sends a reset at once, whoever else has the descriptor.
            Some([_, theirs]) => rustix::net::connect_unspec(&theirs).unwrap(),
            None => end.end(),
        }
    }
}
