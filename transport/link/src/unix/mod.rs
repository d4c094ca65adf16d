//! Links over Unix sockets.

use std::os::unix::net::UnixStream;

use rustix::net::sockopt;

use crate::socket::Socket;
use crate::stream::Stream;

/// Best piece of a bulk copy over a Unix socket, bytes.
pub(crate) const CHUNK: usize = 1 << 20;
/// Wanted buffers of a Unix socket, bytes; the system's limit may be lower.
const BUFFER: usize = 1 << 20;
impl From<UnixStream> for Stream {
    fn from(stream: UnixStream) -> Self {
        let peer = match sockopt::socket_peercred(&stream) {
            Ok(cred) => format!("process {}", cred.pid.as_raw_nonzero()),
            Err(_) => "a local client".to_owned(),
        };
        Self(Socket::new(stream.into(), peer, false))
    }
}

/// Sets the socket up for a link.
pub(crate) fn prepare(socket: &Socket) {
    let _ = sockopt::set_socket_send_buffer_size(&socket.fd, BUFFER);
    let _ = sockopt::set_socket_recv_buffer_size(&socket.fd, BUFFER);
}
