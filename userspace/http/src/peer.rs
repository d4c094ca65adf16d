//! Who is at the other end of a connection.

use std::fmt;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::OwnedFd;

use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, netlink, recv, send, socket_with,
};

/// Who a peer is before it has said anything: what is shared out is shared out among these.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum User {
    /// The user of the peer's socket; `None` where the kernel does not say. Those are one user.
    Local(Option<u32>),
    /// Another host.
    Host(IpAddr),
}

impl fmt::Display for User {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Local(Some(uid)) => write!(f, "user {uid}"),
            Self::Local(None) => f.write_str("an unknown user"),
            Self::Host(address) => write!(f, "host {address}"),
        }
    }
}

/// Where a connection came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Origin {
    /// The Unix socket, whose file mode says who may.
    Unix,
    /// TCP on loopback: every user of the host.
    Loopback,
    /// TLS: any host.
    Https,
}

/// The peer of a connection, beside every request that comes over it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Peer {
    pub(super) user: User,
    pub(super) origin: Origin,
}

impl Peer {
    /// The listener's name, in metrics and log.
    pub(super) fn listener(self) -> &'static str {
        match self.origin {
            Origin::Unix => "unix",
            Origin::Loopback => "tcp",
            Origin::Https => "https",
        }
    }
}

/// `SOCK_DIAG_BY_FAMILY` of include/uapi/linux/sock_diag.h.
const BY_FAMILY: u16 = 20;
/// `NLM_F_REQUEST` of include/uapi/linux/netlink.h.
const REQUEST: u16 = 1;
/// `AF_INET`, `AF_INET6` and `IPPROTO_TCP`, each as the byte that it is here.
const INET: u8 = 2;
const INET6: u8 = 10;
const TCP: u8 = 6;
/// Bytes of `struct nlmsghdr`.
const HEADER: usize = 16;
/// Where `idiag_uid` is in `struct inet_diag_msg` (include/uapi/linux/inet_diag.h).
const UID: usize = 64;

/// Looks up the owners of sockets of this host by sock_diag(7): one question to the kernel a connection,
/// however many there are, where /proc/net/tcp would list them all.
#[derive(Debug)]
pub(super) struct SocketOwners {
    netlink: OwnedFd,
    asked: u32,
}

impl SocketOwners {
    /// # Errors
    ///
    /// The system's error where there are no netlink sockets, or this process may not have one.
    pub(super) fn open() -> io::Result<Self> {
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        let protocol = Some(netlink::SOCK_DIAG);
        let netlink = socket_with(AddressFamily::NETLINK, SocketType::RAW, flags, protocol)?;
        Ok(Self { netlink, asked: 0 })
    }

    /// The user whose socket at `from` is connected to `to`.
    ///
    /// # Errors
    ///
    /// The system's error; `NotFound` where there is no such socket.
    pub(super) fn of(&mut self, from: SocketAddr, to: SocketAddr) -> io::Result<u32> {
        self.asked = self.asked.wrapping_add(1);
        let asked = self.asked;
        send(
            &self.netlink,
            &question(asked, from, to),
            SendFlags::empty(),
        )?;
        let mut answer = [0; 4096];
        loop {
            // The kernel answers within send(2).
            let (read, _) = recv(&self.netlink, &mut answer, RecvFlags::empty())?;
            let field = |at: usize| answer[..read].get(at..at + 4)?.try_into().ok();
            let number = |at: usize| field(at).map(u32::from_ne_bytes);
            if number(8) != Some(asked) {
                continue;
            }
            let kind = answer.get(4..6).and_then(|b| b.try_into().ok());
            if kind.map(u16::from_ne_bytes) != Some(BY_FAMILY) {
                // NLMSG_ERROR: minus the error follows the header.
                let errno = number(HEADER).map_or(0, |e| e.cast_signed().wrapping_neg());
                return Err(io::Error::from_raw_os_error(errno));
            }
            return number(HEADER + UID).ok_or_else(|| io::ErrorKind::InvalidData.into());
        }
    }
}

/// `struct nlmsghdr` and `struct inet_diag_req_v2`.
fn question(asked: u32, from: SocketAddr, to: SocketAddr) -> Vec<u8> {
    let mut message = Vec::with_capacity(72);
    message.extend(72_u32.to_ne_bytes());
    message.extend(BY_FAMILY.to_ne_bytes());
    message.extend(REQUEST.to_ne_bytes());
    message.extend(asked.to_ne_bytes());
    message.extend(0_u32.to_ne_bytes());
    message.extend([if from.is_ipv4() { INET } else { INET6 }, TCP, 0, 0]);
    // In any state.
    message.extend(u32::MAX.to_ne_bytes());
    message.extend(from.port().to_be_bytes());
    message.extend(to.port().to_be_bytes());
    for address in [from.ip(), to.ip()] {
        let mut octets = [0; 16];
        match address {
            IpAddr::V4(v4) => octets[..4].copy_from_slice(&v4.octets()),
            IpAddr::V6(v6) => octets = v6.octets(),
        }
        message.extend(octets);
    }
    // Any interface, no cookie.
    message.extend(0_u32.to_ne_bytes());
    message.extend([0xff; 8]);
    message
}

#[cfg(test)]
mod tests {
    use std::net::{TcpListener, TcpStream};

    use super::*;

    #[test]
    fn the_owner_of_a_connection_over_loopback_is_known() {
        let Ok(mut owners) = SocketOwners::open() else {
            println!("SKIPPED: no netlink socket here");
            return;
        };
        for address in ["127.0.0.1:0", "[::1]:0"] {
            let Ok(listener) = TcpListener::bind(address) else {
                println!("SKIPPED: no {address} here");
                continue;
            };
            let _client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
            let (server, from) = listener.accept().unwrap();
            let to = server.local_addr().unwrap();
            let own = rustix::process::getuid().as_raw();
            assert_eq!(owners.of(from, to).unwrap(), own, "{address}");
            let nobody = SocketAddr::new(from.ip(), 1);
            assert_eq!(
                owners.of(nobody, to).unwrap_err().kind(),
                io::ErrorKind::NotFound
            );
        }
    }
}
