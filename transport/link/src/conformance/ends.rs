//! Both ends of a link of each kind.

use std::fmt;
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

use crate::client::{hello, open_lane};
use crate::common::{Certificates, accept, link_of, rdma_address, terms};
use crate::emulated::emulate;
use crate::link::{Link, LinkKind};
use crate::rdma::double::{Cable, Pair};
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
