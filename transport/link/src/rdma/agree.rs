//! Agreeing on RDMA, over the connection that the lane was opened on and after it is authenticated.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::time::Instant;

use gtrace_protocol::{Features, Message as _, QueuePairs, QueuePairsAnswer, Welcome};

use super::claims::{check, ring_of};
use super::setup::{Prepared, RING};
use super::shared::Shared;
use crate::control::{Frame, receive, send};
use crate::link::{Link, LinkError};
use crate::mapping::Ring;
use crate::networks::Networks;
use crate::socket::Socket;

/// The addresses of a connection, and a descriptor of it to watch its end with.
struct Connection {
    here: IpAddr,
    there: IpAddr,
    watch: Socket,
}

impl Connection {
    fn of(socket: &OwnedFd, peer: &str) -> io::Result<Self> {
        let here = SocketAddr::try_from(rustix::net::getsockname(socket)?)?;
        let there = rustix::net::getpeername(socket)?.ok_or(io::ErrorKind::NotConnected)?;
        let there = SocketAddr::try_from(there)?;
        Ok(Self {
            here: here.ip().to_canonical(),
            there: there.ip().to_canonical(),
            watch: Socket::new(socket.as_fd().try_clone_to_owned()?, peer.to_owned(), true),
        })
    }

    /// That the fabric to the other side was declared trusted.
    fn check(&self, trusted: &Networks, who: &str) -> Result<(), String> {
        if trusted.contain(self.there) {
            return Ok(());
        }
        Err(format!(
            "{} is in no network that the {who} trusts with plaintext ({}): name its network with \
             --rdma-trusted-net",
            self.there,
            match trusted.is_empty() {
                true => "none is named".to_owned(),
                false => trusted.to_string(),
            }
        ))
    }
}

/// A link over RDMA, on the client's side; it still has to be probed and settled. Or why there is
/// none, and `link` goes on.
pub(crate) fn ask(
    link: &mut Link,
    socket: &OwnedFd,
    trusted: &Networks,
    welcome: &Welcome,
    deadline: Instant,
) -> Result<(Link, Arc<Shared>), String> {
    let text = |error: LinkError| error.to_string();
    let connection = Connection::of(socket, &link.info.peer).map_err(|error| error.to_string())?;
    connection.check(trusted, "client")?;
    if !welcome.features.has(Features::RDMA) {
        return Err(
            "the server trusts no network with plaintext: start it with \
                    --rdma-trusted-net"
                .into(),
        );
    }
    let ours = Prepared::new(connection.here, Ring::ToServer, RING).map_err(|e| e.to_string())?;
    send(&mut *link.tx, &ours.peer_state()).map_err(text)?;
    let answer = receive(&mut *link.rx, deadline).map_err(text)?;
    let QueuePairsAnswer(theirs) = answer.message().map_err(text)?;
    let theirs = theirs.map_err(|reason| {
        // Words of the other side, which are not to reach a terminal as commands.
        let printable = reason.chars().map(|c| if c.is_control() { '?' } else { c });
        format!("the server: {}", printable.collect::<String>())
    })?;
    let (here, there) = (connection.here, connection.there);
    ours.connect(&theirs, here, there, connection.watch)
        .map_err(|error| error.to_string())
}

/// The same on the server's side: answers the client's frame. None if there is no such link; the
/// reason is sent to the client and noted in `link`, which goes on.
pub(crate) fn answer(
    link: &mut Link,
    socket: &OwnedFd,
    trusted: &Networks,
    frame: &Frame,
) -> Result<Option<(Link, Arc<Shared>)>, LinkError> {
    let (answer, made) = match make(link, socket, trusted, frame) {
        Ok((peer_state, made)) => (Ok(peer_state), Some(made)),
        Err(reason) => {
            link.info.changes.refuse();
            link.info.fallbacks.push(format!("rdma: {reason}"));
            (Err(reason), None)
        }
    };
    send(&mut *link.tx, &QueuePairsAnswer(answer))?;
    Ok(made)
}

type Made = (QueuePairs, (Link, Arc<Shared>));

fn make(link: &Link, socket: &OwnedFd, trusted: &Networks, frame: &Frame) -> Result<Made, String> {
    let theirs = QueuePairs::parse(&frame.payload).map_err(|error| error.to_string())?;
    let connection = Connection::of(socket, &link.info.peer).map_err(|error| error.to_string())?;
    connection.check(trusted, "server")?;
    let make = || {
        // Before a device is opened and memory is registered for one who lies.
        let ring = ring_of(&theirs)?;
        check(&theirs, ring, connection.there)?;
        let ours = Prepared::new(connection.here, Ring::ToClient, ring)?;
        let peer_state = ours.peer_state();
        let (here, there) = (connection.here, connection.there);
        Ok((
            peer_state,
            ours.connect(&theirs, here, there, connection.watch)?,
        ))
    };
    make().map_err(|error: super::setup::SetupError| error.to_string())
}
