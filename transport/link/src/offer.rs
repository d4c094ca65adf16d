//! Better links to a server on the same host: offered in WELCOME, taken over an abstract Unix socket
//! of the process that has the session.
//!
//! The client connects to the socket and sends the offer's cookie; the server answers
//! [`Answer`], with the descriptor of the memory if it is shared memory. Then the client probes the
//! new link, and says by SWITCH on the link that it uses from there on that it does.

use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::net::{SocketAddr, UnixListener};
use std::time::{Duration, Instant};

use gtrace_protocol::Offer;
use rustix::event::{PollFd, PollFlags};
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, SocketAddrUnix,
};

use crate::auth;
use crate::link::{Link, LinkError};
use crate::mapping::{Mapping, Ring};
use crate::stream::Stream;
use crate::{channel, socket};
use crate::{shm, wait};

/// Longest wait for one who connected to say which offer it takes.
const TAKE: Duration = Duration::from_millis(500);
/// First bytes of the answer.
const MAGIC: [u8; 8] = *b"GTOFFER1";
/// Bytes of the answer: magic, and the size of a ring (0 for a Unix socket), little-endian.
const ANSWER: usize = 16;

/// What the name of an offered socket begins with, and random bytes of the rest.
const NAME: &str = "gtrace-";
const RANDOM: usize = 12;

/// Name of the offer of shared memory.
pub(crate) const SHARED_MEMORY: &str = "shm";
/// Name of the offer of a Unix socket.
pub(crate) const UNIX: &str = "unix";

/// The offers of one lane, on the server's side.
pub(crate) struct Offers {
    listener: UnixListener,
    ring: usize,
    offers: Vec<Offer>,
}

impl Offers {
    /// Offers `links`; shared memory with rings of `ring` bytes.
    pub(crate) fn open(links: &[&str], ring: usize) -> Result<Self, LinkError> {
        let name: String = std::iter::once(NAME.to_owned())
            .chain(auth::random_array::<RANDOM>()?.map(|b| format!("{b:02x}")))
            .collect();
        let failed = |e| LinkError::Io("cannot offer a local link".into(), e);
        let address = SocketAddr::from_abstract_name(&name).map_err(failed)?;
        let listener = UnixListener::bind_addr(&address).map_err(failed)?;
        listener.set_nonblocking(true).map_err(failed)?;
        let mut offers = Vec::new();
        for link in links {
            offers.push(Offer {
                link: (*link).to_owned(),
                address: name.clone(),
                cookie: auth::random_array()?,
            });
        }
        Ok(Self {
            listener,
            ring,
            offers,
        })
    }

    /// The offers in WELCOME.
    pub(crate) fn list(&self) -> Vec<Offer> {
        self.offers.clone()
    }

    pub(crate) fn as_fd(&self) -> BorrowedFd<'_> {
        self.listener.as_fd()
    }

    /// Lets the one in who comes for an offer; none if nobody is there, or one who should not be. Anybody on this host may
    /// connect: who says nothing is not waited for once the client says something on its connection `lane`, as it does
    /// not while it takes an offer.
    pub(crate) fn accept(
        &mut self,
        peer: &str,
        lane: BorrowedFd<'_>,
    ) -> Option<Result<Link, LinkError>> {
        let (stream, _) = self.listener.accept().ok()?;
        let stream = Stream::from(stream).named(peer.to_owned());
        let mut fds = [
            PollFd::new(&stream, PollFlags::IN),
            PollFd::from_borrowed_fd(lane, PollFlags::IN),
        ];
        wait::poll(&mut fds, Some(Instant::now() + TAKE)).ok()?;
        // Who is to come has the cookie from WELCOME. Which user that is says nothing: a worker has one of its own.
        let mut cookie = [0; 16];
        let received = stream.socket().receive(&mut cookie).ok().flatten()?;
        if received < cookie.len() {
            return None;
        }
        let at = (self.offers.iter()).position(|offer| auth::same(&offer.cookie, &cookie))?;
        let offer = self.offers.swap_remove(at);
        Some(match offer.link.as_str() {
            SHARED_MEMORY => self.share(stream),
            _ => answer(&stream, 0, None).map(|()| unix_link(stream)),
        })
    }

    fn share(&self, stream: Stream) -> Result<Link, LinkError> {
        let (mapping, memory) = Mapping::create(self.ring)
            .map_err(|e| LinkError::Io("cannot make shared memory".into(), e))?;
        answer(&stream, mapping.ring() as u64, Some(&memory))?;
        let (socket, _) = stream.prepare();
        Ok(shm::link(mapping, Ring::ToClient, socket))
    }
}

fn unix_link(stream: Stream) -> Link {
    let (socket, info) = stream.prepare();
    channel::link(socket.into(), info)
}

fn answer(stream: &Stream, ring: u64, memory: Option<&OwnedFd>) -> Result<(), LinkError> {
    let mut bytes = [0; ANSWER];
    bytes[..8].copy_from_slice(&MAGIC);
    bytes[8..].copy_from_slice(&ring.to_le_bytes());
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    let fds: Vec<_> = memory.iter().map(|memory| memory.as_fd()).collect();
    if !fds.is_empty() && !control.push(SendAncillaryMessage::ScmRights(&fds)) {
        return Err(LinkError::Usage(
            "no room for a descriptor in a message".into(),
        ));
    }
    rustix::net::sendmsg(
        stream,
        &[IoSlice::new(&bytes)],
        &mut control,
        SendFlags::NOSIGNAL,
    )
    .map(|_| ())
    .map_err(|e| wait::io_error(stream.peer(), e))
}

/// Whether a socket's name is one that [`Offers::open`] makes. A server says which socket of the client's host is to be
/// connected to, and that is to be none but its own.
fn is_offered(name: &str) -> bool {
    let random = name.strip_prefix(NAME).unwrap_or_default();
    random.len() == 2 * RANDOM && random.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Takes an offer, on the client's side; the link still has to be probed.
pub(crate) fn take(offer: &Offer, peer: &str, timeout: Duration) -> Result<Link, LinkError> {
    let failed = |e| LinkError::Io(format!("the offered socket of {peer}"), e);
    if !is_offered(&offer.address) {
        return Err(failed(io::Error::other("it has no name of gtrace")));
    }
    let deadline = Instant::now() + timeout;
    let address = SocketAddrUnix::new_abstract_name(offer.address.as_bytes());
    let stream = address
        .map_err(io::Error::from)
        .and_then(|address| Stream::connect_unix(&address, timeout))
        .map_err(failed)?
        .named(peer.to_owned());
    socket::send_all(stream.socket(), &offer.cookie, deadline)?;
    let (ring, memory) = receive_answer(&stream, deadline)?;
    match (offer.link.as_str(), memory) {
        (SHARED_MEMORY, Some(memory)) => {
            let mapping = Mapping::open(&memory, ring).map_err(failed)?;
            let (socket, _) = stream.prepare();
            Ok(shm::link(mapping, Ring::ToServer, socket))
        }
        (UNIX, None) => Ok(unix_link(stream)),
        _ => Err(failed(io::Error::other("it answered something else"))),
    }
}

fn receive_answer(stream: &Stream, deadline: Instant) -> Result<(u64, Option<OwnedFd>), LinkError> {
    let socket = stream.socket();
    let mut bytes = [0; ANSWER];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let flags = RecvFlags::DONTWAIT | RecvFlags::CMSG_CLOEXEC;
    let received = socket
        .wait(rustix::event::PollFlags::IN, Some(deadline))
        .until(&mut crate::spin::Spin::never(), || {
            let mut slices = [IoSliceMut::new(&mut bytes)];
            match rustix::net::recvmsg(stream, &mut slices, &mut control, flags) {
                Ok(message) => Ok(Some(message.bytes)),
                Err(rustix::io::Errno::AGAIN | rustix::io::Errno::INTR) => Ok(None),
                Err(e) => Err(wait::io_error(stream.peer(), e)),
            }
        })?;
    let memory = control.drain().find_map(|message| match message {
        RecvAncillaryMessage::ScmRights(mut fds) => fds.next(),
        _ => None,
    });
    match (received, bytes.split_first_chunk::<8>()) {
        (ANSWER, Some((&MAGIC, ring))) => {
            let ring = ring.try_into().map(u64::from_le_bytes).unwrap_or_default();
            Ok((ring, memory))
        }
        _ => Err(socket.closed()),
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;
    use std::os::unix::net::UnixStream;

    use super::*;

    /// What a hostile server would like a client to connect to: the session bus, say.
    #[test]
    fn no_other_sockets_of_the_host_are_connected_to() {
        let name = format!("gtrace-test-{}", std::process::id());
        let address = SocketAddr::from_abstract_name(&name).unwrap();
        let other = UnixListener::bind_addr(&address).unwrap();
        other.set_nonblocking(true).unwrap();
        let offer = Offer {
            link: UNIX.to_owned(),
            address: name,
            cookie: [7; 16],
        };
        let error = take(&offer, "server", Duration::from_millis(200)).unwrap_err();
        assert!(error.to_string().contains("no name of gtrace"), "{error}");
        assert!(other.accept().is_err(), "nobody has come");
        let mut offers = Offers::open(&[UNIX], 1 << 20).unwrap();
        let offer = offers.list().remove(0);
        let client = std::thread::spawn(move || take(&offer, "server", Duration::from_secs(5)));
        let end = Instant::now() + Duration::from_secs(5);
        let (lane, _client) = UnixStream::pair().unwrap();
        while offers.accept("client", lane.as_fd()).is_none() {
            assert!(Instant::now() < end);
            std::thread::sleep(Duration::from_millis(5));
        }
        assert!(client.join().unwrap().is_ok());
    }

    const STRANGERS: u32 = 40;

    /// As any user of the host may be.
    #[test]
    fn another_user_who_says_nothing_does_not_delay_a_client_that_does() {
        let mut offers = Offers::open(&[UNIX], 1 << 20).unwrap();
        let address = SocketAddr::from_abstract_name(&offers.list()[0].address).unwrap();
        let (lane, mut client) = UnixStream::pair().unwrap();
        client.write_all(&[1]).unwrap();
        let began = Instant::now();
        for _ in 0..STRANGERS {
            let _silent = UnixStream::connect_addr(&address).unwrap();
            assert!(offers.accept("client", lane.as_fd()).is_none());
        }
        assert!(2 * began.elapsed() < STRANGERS * TAKE);
    }
}
