//! A CPU emulator for queue pairs in one process, which fails on order.

use std::collections::VecDeque;
use std::net::{TcpListener, TcpStream};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use gtrace_protocol::QueuePairs;
use gtrace_verbs::{Outcome, VerbsError};
use rustix::event::{EventfdFlags, eventfd};

use super::back::{Fresh, Renew};
use super::counts::{ACK_EVERY, RECEIVES};
use super::setup::{Wires, link};
use super::shared::Shared;
use super::wire::{Source, Wire};
use crate::channel;
use crate::link::Link;
use crate::mapping::{Mapping, Ring};
use crate::pinned::PinnedRegion;
use crate::socket::Socket;
use crate::stream::Stream;

/// What becomes of the write at which a cable breaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Break {
    /// It does not arrive.
    Lost,
    /// Its bytes arrive, and the other side does not learn of it.
    Unnoticed,
    /// It arrives, and the writer does not learn of that.
    Unacknowledged,
    /// It cannot be posted.
    Refused,
    /// All say that it arrived, and the bytes are others. Nothing breaks.
    Torn,
}

#[derive(Default)]
struct State {
    to_writer: VecDeque<Result<Outcome, ()>>,
    to_reader: VecDeque<Outcome>,
    receives: u32,
    acks: u32,
    /// Writes until it breaks.
    left: Option<u64>,
    how: Option<Break>,
    broken: bool,
    writes: u64,
    ended: [bool; 2],
    /// Memories of the writer's program, and how many can be known; none if there is no limit.
    known: Vec<PinnedRegion>,
    most_known: Option<usize>,
    taken_away: bool,
}

/// One direction: a queue pair of each side.
pub(crate) struct Cable {
    state: Mutex<State>,
    writer: OwnedFd,
    reader: OwnedFd,
    from: Arc<Mapping>,
    to: Arc<Mapping>,
    ring: Ring,
}

fn bell() -> OwnedFd {
    eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK).unwrap()
}

impl Cable {
    fn new(from: &Arc<Mapping>, to: &Arc<Mapping>, ring: Ring) -> Arc<Self> {
        let state = State {
            receives: RECEIVES,
            acks: ACK_EVERY,
            ..State::default()
        };
        Arc::new(Self {
            state: Mutex::new(state),
            writer: bell(),
            reader: bell(),
            from: Arc::clone(from),
            to: Arc::clone(to),
            ring,
        })
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }

    /// It breaks at the write after `left` others.
    pub(crate) fn break_after(&self, left: u64, how: Break) {
        let mut state = self.lock();
        (state.left, state.how) = (Some(left), Some(how));
    }

    /// Its devices are being taken away, which nobody learns who does not look, once they are closed.
    pub(super) fn take_away(&self) {
        self.lock().taken_away = true;
    }

    /// Whether writer and reader have given it up.
    pub(super) fn is_closed(&self) -> bool {
        self.lock().ended == [true; 2]
    }

    /// The writer's device knows so many memories of the program at the most.
    pub(super) fn know_at_most(&self, memories: usize) {
        self.lock().most_known = Some(memories);
    }

    /// Memories of the program that the writer's device knows.
    pub(super) fn known(&self) -> Vec<PinnedRegion> {
        self.lock().known.clone()
    }

    /// Writes that were posted.
    pub(crate) fn writes(&self) -> u64 {
        self.lock().writes
    }

    fn copy(&self, (at, len): (usize, usize), source: Source) {
        let bytes = match &source {
            Source::Ring => self.from.bytes(self.ring, at as u64, len),
            Source::Memory(memory, at) => memory.bytes(*at, len),
        };
        assert_eq!(bytes.len(), len);
        (self.to.bytes_mut(self.ring, at as u64, len)).copy_from_slice(bytes);
    }

    fn wake(bell: &OwnedFd) {
        rustix::io::write(bell, &1u64.to_ne_bytes()).unwrap();
    }
}

/// One side's queue pair of a cable.
struct End {
    cable: Arc<Cable>,
    writes: bool,
    known: Vec<PinnedRegion>,
}

impl End {
    fn bell(&self) -> &OwnedFd {
        match self.writes {
            true => &self.cable.writer,
            false => &self.cable.reader,
        }
    }
}

impl Wire for End {
    fn write(
        &mut self,
        piece: (usize, usize),
        source: Source,
        number: Option<u32>,
        signal: bool,
    ) -> Result<(), VerbsError> {
        assert!(self.writes);
        if let Source::Memory(memory, _) = &source {
            assert!(self.known.contains(memory));
        }
        let cable = &self.cable;
        let mut state = cable.lock();
        if state.broken {
            return Ok(());
        }
        state.writes += 1;
        let breaks = match &mut state.left {
            Some(0) => true,
            Some(left) => {
                *left -= 1;
                false
            }
            None => false,
        };
        let torn = breaks && state.how == Some(Break::Torn);
        if torn {
            state.left = None;
        }
        if breaks && !torn || state.ended[1] {
            state.broken = true;
            state.to_writer.push_back(Err(()));
            Cable::wake(&cable.writer);
        }
        let how = state.how.filter(|_| breaks);
        match (state.broken, how) {
            (true, Some(Break::Refused)) => return Err(VerbsError::Work("refused")),
            (true, None | Some(Break::Lost)) => return Ok(()),
            _ => cable.copy(piece, source),
        }
        if torn {
            let (at, len) = piece;
            let bytes = cable.to.bytes_mut(cable.ring, at as u64, len);
            bytes.iter_mut().for_each(|byte| *byte = !*byte);
        }
        if how == Some(Break::Unnoticed) {
            return Ok(());
        }
        if let Some(number) = number {
            assert!(
                state.receives > 0,
                "a write that the reader has no receive for"
            );
            state.receives -= 1;
            state.to_reader.push_back(Outcome::Written(number));
            Cable::wake(&cable.reader);
        }
        if signal && !state.broken {
            state.to_writer.push_back(Ok(Outcome::Sent));
            Cable::wake(&cable.writer);
        }
        Ok(())
    }

    fn register(&mut self, memory: &PinnedRegion) -> Result<(), VerbsError> {
        let mut state = self.cable.lock();
        if state
            .most_known
            .is_some_and(|most| self.known.len() >= most)
        {
            return Err(VerbsError::Work("no more is known"));
        }
        self.known.push(*memory);
        state.known.clone_from(&self.known);
        Ok(())
    }

    fn registered(&self) -> &[PinnedRegion] {
        &self.known
    }

    fn forget(&mut self, memory: Option<&PinnedRegion>) {
        (self.known).retain(|known| memory.is_some_and(|memory| known != memory));
        self.cable.lock().known.clone_from(&self.known);
    }

    fn send_imm(&mut self, number: u32, signal: bool) -> Result<(), VerbsError> {
        assert!(!self.writes);
        let mut state = self.cable.lock();
        if state.broken || state.ended[0] {
            return Ok(());
        }
        assert!(
            state.acks > 0,
            "a number that the writer has no receive for"
        );
        state.acks -= 1;
        state.to_writer.push_back(Ok(Outcome::SendImm(number)));
        Cable::wake(&self.cable.writer);
        if signal {
            state.to_reader.push_back(Outcome::Sent);
            Cable::wake(&self.cable.reader);
        }
        Ok(())
    }

    fn receive(&mut self, count: u32) -> Result<(), VerbsError> {
        let mut state = self.cable.lock();
        match self.writes {
            true => state.acks += count,
            false => state.receives += count,
        }
        Ok(())
    }

    fn poll(&mut self, each: &mut dyn FnMut(Outcome)) -> Result<(), VerbsError> {
        let mut state = self.cable.lock();
        loop {
            let outcome = match self.writes {
                true => state.to_writer.pop_front(),
                false => state.to_reader.pop_front().map(Ok),
            };
            match outcome {
                Some(Ok(outcome)) => each(outcome),
                Some(Err(())) => return Err(VerbsError::Work("the cable is broken")),
                None => return Ok(()),
            }
        }
    }

    fn arm(&mut self) -> Result<(), VerbsError> {
        Ok(())
    }

    fn clear(&mut self) {
        let _ = rustix::io::read(self.bell(), &mut [0; 8]);
    }

    fn events(&self) -> BorrowedFd<'_> {
        self.bell().as_fd()
    }

    fn check(&self) -> Result<(), VerbsError> {
        match self.cable.lock().taken_away {
            true => Err(VerbsError::Gone("double".into())),
            false => Ok(()),
        }
    }
}

impl Drop for End {
    fn drop(&mut self) {
        self.cable.lock().ended[usize::from(!self.writes)] = true;
    }
}

/// A link over two cables, and both of its sides.
pub(crate) struct Pair {
    pub(crate) client: Link,
    pub(crate) server: Link,
    pub(crate) to_server: Arc<Cable>,
    pub(crate) to_client: Arc<Cable>,
    pub(crate) layer: Arc<Layer>,
    /// The connection's, the client's first.
    pub(crate) sockets: [TcpStream; 2],
}

/// Two ends of a TCP connection.
pub(crate) fn connection() -> (TcpStream, TcpStream) {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    (client, listener.accept().unwrap().0)
}

/// Cables that are laid anew when a side asks for queue pairs, while there is a device.
#[derive(Default)]
pub(crate) struct Layer {
    pub(crate) laid: Mutex<Vec<[Arc<Cable>; 2]>>,
    /// Tries that fail for want of a device, and how the next cable to the server breaks.
    pub(crate) absent: AtomicU32,
    pub(crate) next: Mutex<Option<(u64, Break)>>,
}

/// What one side renews.
struct Again {
    layer: Arc<Layer>,
    mappings: [Arc<Mapping>; 2],
    client: bool,
}

/// Cables that are laid; the client says which by the key.
struct Laid(Arc<Layer>, bool, usize);

fn wires([to_server, to_client]: &[Arc<Cable>; 2], client: bool) -> Wires {
    let end = |cable: &Arc<Cable>, writes| {
        let cable = Arc::clone(cable);
        Box::new(End {
            cable,
            writes,
            known: Vec::new(),
        })
    };
    let (out, incoming) = match client {
        true => (to_server, to_client),
        false => (to_client, to_server),
    };
    Wires {
        out: end(out, true),
        incoming: end(incoming, false),
        receives: RECEIVES,
    }
}

fn lay([here, there]: &[Arc<Mapping>; 2]) -> [Arc<Cable>; 2] {
    [
        Cable::new(here, there, Ring::ToServer),
        Cable::new(there, here, Ring::ToClient),
    ]
}

impl Renew for Again {
    fn prepare(&self) -> Result<Box<dyn Fresh>, String> {
        let mut laid = self.layer.laid.lock().unwrap();
        if self.client {
            let absent = &self.layer.absent;
            if absent.load(Ordering::Relaxed) > 0 {
                absent.fetch_sub(1, Ordering::Relaxed);
                return Err("no device".into());
            }
            laid.push(lay(&self.mappings));
            if let Some((left, how)) = self.layer.next.lock().unwrap().take() {
                laid[laid.len() - 1][0].break_after(left, how);
            }
        }
        let layer = Arc::clone(&self.layer);
        Ok(Box::new(Laid(layer, self.client, laid.len() - 1)))
    }
}

impl Fresh for Laid {
    fn peer_state(&self) -> QueuePairs {
        QueuePairs {
            key: self.2 as u32,
            ..QueuePairs::default()
        }
    }

    fn connect(self: Box<Self>, theirs: &QueuePairs) -> Result<Wires, String> {
        assert_eq!(theirs.key as usize, self.2);
        Ok(wires(&self.0.laid.lock().unwrap()[self.2], self.1))
    }
}

fn side(
    renew: Again,
    cables: &[Arc<Cable>; 2],
    stream: TcpStream,
    settled: bool,
) -> (Link, Arc<Shared>) {
    let (sends, mapping) = match renew.client {
        true => (Ring::ToServer, Arc::clone(&renew.mappings[0])),
        false => (Ring::ToClient, Arc::clone(&renew.mappings[1])),
    };
    let wires = wires(cables, renew.client);
    let watch = stream.try_clone().unwrap();
    let (socket, info) = Stream::from(stream).prepare();
    let peer = socket.peer.clone();
    let base = channel::link(Arc::new(socket), info);
    let watch = Socket::new(watch.into(), peer, true);
    let renew = Some(Box::new(renew) as Box<dyn Renew>);
    let (mut link, shared) = link(wires, &mapping, sends, renew, watch).unwrap();
    link.info.under = Some(base.info.kind);
    if settled {
        shared.settle(base);
    }
    (link, shared)
}

impl Pair {
    /// Both sides, agreed and used.
    pub(crate) fn new() -> Self {
        let (client, server) = connection();
        Self::over(client, Some(server))
    }

    /// Without a server's side, whoever has the other end of the connection can play it.
    pub(crate) fn client_alone() -> (Link, TcpStream) {
        let (client, server) = connection();
        (Self::over(client, None).client, server)
    }

    fn over(client: TcpStream, server: Option<TcpStream>) -> Self {
        let mapping = || Arc::new(Mapping::create(0).unwrap().0);
        let mappings = [mapping(), mapping()];
        let cables = lay(&mappings);
        let layer = Arc::new(Layer::default());
        let settled = server.is_some();
        let server = server.unwrap_or_else(|| connection().0);
        let sockets = [&client, &server].map(|socket| socket.try_clone().unwrap());
        let again = |client| Again {
            layer: Arc::clone(&layer),
            mappings: mappings.clone(),
            client,
        };
        let (client, _) = side(again(true), &cables, client, true);
        let (server, _) = side(again(false), &cables, server, settled);
        let [to_server, to_client] = cables;
        Self {
            client,
            server,
            to_server,
            to_client,
            layer,
            sockets,
        }
    }
}
