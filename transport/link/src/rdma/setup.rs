//! Making the queue pairs of a lane, and connecting them.

use std::io;
use std::net::IpAddr;
use std::sync::Arc;

use gtrace_protocol::{QueuePairEnd, QueuePairs};
use gtrace_verbs::{
    Access, Capacity, Context, Domain, Gid, Peer, Port, QueuePair, Region, Remote, VerbsError,
    gid_of,
};
use thiserror::Error;

use super::back::{Fresh, Renew};
use super::claims::check;
use super::counts::{ACK_EVERY, RECEIVES, Reader, SENDS, Writer};
use super::put::RdmaPut;
use super::shared::Shared;
use super::take::RdmaTake;
use super::wire::{In, Out, Wire};
use crate::auth;
use crate::halves::{RingRx, RingTx};
use crate::link::{Ender, Link, LinkError, LinkInfo, LinkKind};
use crate::mapping::{Mapping, Ring, RingMemory};
use crate::socket::Socket;
use crate::spin::Spin;

/// Bytes of a ring. Locked memory is scarce: a lane locks two of them at each side, and 8 MiB are the
/// usual limit.
pub(super) const RING: usize = 1 << 20;
/// Best piece of a bulk copy, bytes.
const CHUNK: usize = 256 << 10;
/// Bytes that are wanted to fit into a work request: a launch with its arguments.
const INLINE: u32 = 220;
/// Bits of a packet sequence number, and of the number of a queue pair.
pub(super) const PSN: u32 = 0xff_ffff;

/// Why there is no RDMA link.
#[derive(Debug, Error)]
pub(super) enum SetupError {
    #[error(transparent)]
    Verbs(#[from] VerbsError),
    #[error("no memory for rings: {0}")]
    Memory(#[from] std::io::Error),
    #[error(transparent)]
    Link(#[from] LinkError),
    /// What the other side says cannot be.
    #[error("the other side asks for what cannot be: {0}")]
    Peer(String),
}

/// Queue pairs and registered rings of one side, not connected yet.
pub(super) struct Prepared {
    gid: Gid,
    port: Port,
    mapping: Arc<Mapping>,
    /// The ring that this side writes.
    sends: Ring,
    staging: Region,
    inbox: Region,
    out: QueuePair,
    incoming: QueuePair,
    domain: Arc<Domain>,
    out_psn: u32,
    incoming_psn: u32,
}

fn psn() -> Result<u32, LinkError> {
    Ok(u32::from_le_bytes(auth::random_array()?) & PSN)
}

impl Prepared {
    /// On the device that has the address `ip` of this host, with rings of `ring` bytes.
    pub(super) fn new(ip: IpAddr, sends: Ring, ring: usize) -> Result<Self, SetupError> {
        // Without the library, that is what to say, whatever devices there are.
        gtrace_verbs::available()?;
        let (mapping, _) = Mapping::create(ring)?;
        Self::over(ip, sends, &Arc::new(mapping))
    }

    /// The same over rings that there are.
    fn over(ip: IpAddr, sends: Ring, mapping: &Arc<Mapping>) -> Result<Self, SetupError> {
        let gid = gid_of(ip)?;
        let context = Context::open(&gid.device)?;
        let port = context.port(gid.port)?;
        let domain = Domain::new(&context)?;
        let memory = |ring| {
            let mapping = Arc::clone(mapping);
            Arc::new(RingMemory { mapping, ring })
        };
        let staging = Region::new(&domain, memory(sends), Access::Local)?;
        let inbox = Region::new(&domain, memory(sends.other()), Access::RemoteWrite)?;
        let out = Capacity {
            sends: SENDS,
            receives: ACK_EVERY,
            inline: INLINE,
        };
        let incoming = Capacity {
            sends: ACK_EVERY,
            receives: RECEIVES,
            inline: 0,
        };
        Ok(Self {
            gid,
            port,
            sends,
            staging,
            inbox,
            out: QueuePair::new(&domain, out)?,
            incoming: QueuePair::new(&domain, incoming)?,
            domain,
            out_psn: psn()?,
            incoming_psn: psn()?,
            mapping: Arc::clone(mapping),
        })
    }

    /// What the other side has to know.
    pub(super) fn peer_state(&self) -> QueuePairs {
        let (address, key) = self.inbox.remote();
        let out = QueuePairEnd {
            number: self.out.number(),
            psn: self.out_psn,
        };
        let incoming = QueuePairEnd {
            number: self.incoming.number(),
            psn: self.incoming_psn,
        };
        let (to_server, to_client) = match self.sends {
            Ring::ToServer => (out, incoming),
            Ring::ToClient => (incoming, out),
        };
        QueuePairs {
            gid: self.gid.gid,
            lid: self.port.lid,
            mtu: self.port.mtu,
            ring: self.mapping.ring() as u64,
            address,
            key,
            receives: RECEIVES,
            to_server,
            to_client,
        }
    }

    /// Connects to the queue pairs of the other side; the addresses are those of the connection. The
    /// link is on probation: [`Shared::settle`] makes it the one that is used.
    pub(super) fn connect(
        self,
        theirs: &QueuePairs,
        here: IpAddr,
        there: IpAddr,
        socket: Socket,
    ) -> Result<(Link, Arc<Shared>), SetupError> {
        let (mapping, sends) = (Arc::clone(&self.mapping), self.sends);
        let wires = self.wires(theirs, there)?;
        let again = Again {
            here,
            there,
            mapping: Arc::clone(&mapping),
            sends,
        };
        Ok(link(wires, &mapping, sends, Some(Box::new(again)), socket)?)
    }

    fn wires(mut self, theirs: &QueuePairs, ip: IpAddr) -> Result<Wires, SetupError> {
        check(theirs, self.mapping.ring(), ip)?;
        let (their_in, their_out) = match self.sends {
            Ring::ToServer => (theirs.to_server, theirs.to_client),
            Ring::ToClient => (theirs.to_client, theirs.to_server),
        };
        let peer = |end: QueuePairEnd| Peer {
            number: end.number,
            psn: end.psn,
            gid: theirs.gid,
            lid: theirs.lid,
            mtu: theirs.mtu,
        };
        let (port, index) = (self.port, self.gid.index);
        let (psn, out) = (self.out_psn, peer(their_in));
        self.out.connect(&port, index, &out, psn, Access::Local)?;
        self.out.receive(ACK_EVERY)?;
        let (psn, incoming) = (self.incoming_psn, peer(their_out));
        let access = Access::RemoteWrite;
        (self.incoming).connect(&port, index, &incoming, psn, access)?;
        self.incoming.receive(RECEIVES)?;
        Ok(self.finish(theirs))
    }

    fn finish(self, theirs: &QueuePairs) -> Wires {
        let out = Out {
            pair: self.out,
            staging: self.staging,
            memories: Vec::new(),
            regions: Vec::new(),
            domain: self.domain,
            remote: Remote {
                address: theirs.address,
                key: theirs.key,
            },
        };
        let incoming = In {
            pair: self.incoming,
            inbox: self.inbox,
        };
        Wires {
            out: Box::new(out),
            incoming: Box::new(incoming),
            receives: theirs.receives.min(RECEIVES),
        }
    }
}

impl Fresh for (Prepared, IpAddr) {
    fn peer_state(&self) -> QueuePairs {
        self.0.peer_state()
    }

    fn connect(self: Box<Self>, theirs: &QueuePairs) -> Result<Wires, String> {
        let (prepared, ip) = *self;
        prepared
            .wires(theirs, ip)
            .map_err(|error| error.to_string())
    }
}

/// Makes new queue pairs over the rings of a link.
struct Again {
    here: IpAddr,
    there: IpAddr,
    mapping: Arc<Mapping>,
    sends: Ring,
}

impl Renew for Again {
    fn prepare(&self) -> Result<Box<dyn Fresh>, String> {
        let prepared = Prepared::over(self.here, self.sends, &self.mapping);
        let prepared = prepared.map_err(|error| error.to_string())?;
        Ok(Box::new((prepared, self.there)))
    }
}

/// Both queue pairs of a side, connected.
pub(super) struct Wires {
    pub(super) out: Box<dyn Wire>,
    pub(super) incoming: Box<dyn Wire>,
    /// Receives that the other side has posted.
    pub(super) receives: u32,
}

/// The link by these, whose writing half writes the ring `sends`.
pub(super) fn link(
    wires: Wires,
    mapping: &Arc<Mapping>,
    sends: Ring,
    renew: Option<Box<dyn Renew>>,
    socket: Socket,
) -> io::Result<(Link, Arc<Shared>)> {
    let ring = mapping.ring();
    let put = Writer::new(ring, wires.receives);
    let shared = Arc::new(Shared::new(socket, (mapping, sends), renew, put.tail()));
    shared.set_out(wires.out)?;
    shared.set_incoming(wires.incoming)?;
    let info = LinkInfo {
        changes: Arc::clone(&shared.changes),
        ..LinkInfo::new(LinkKind::Rdma, &shared.socket.peer, CHUNK)
    };
    let tx = RdmaPut {
        counts: put,
        mapping: Arc::clone(mapping),
        ring: sends,
        shared: Arc::clone(&shared),
        spin: Spin::new(shared.socket.host()),
        by_device: true,
        posted: 0,
        refused: Vec::new(),
    };
    let rx = RdmaTake {
        counts: Reader::new(ring),
        by_device: true,
        taken: 0,
        last: None,
        mapping: Arc::clone(mapping),
        ring: sends.other(),
        shared: Arc::clone(&shared),
        spin: Spin::new(shared.socket.host()),
    };
    let link = Link {
        tx: Box::new(RingTx::new(tx)),
        rx: Box::new(RingRx::new(rx)),
        info,
        end: Ender::new(&shared),
        channel: None,
    };
    Ok((link, shared))
}

#[cfg(test)]
mod keys;
