//! TLS 1.3 over TCP, on the client's side.

use std::io::{self, IoSlice, Read, Write};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use gtrace_protocol::{HEADER_LEN, Header, Message as _, Refused, control};
use rustix::event::PollFlags;
use rustls::Connection;

use crate::buffer::InBuffer;
use crate::channel::Channel;
use crate::link::LinkError;
use crate::printable;
use crate::socket::{self, Socket};
use crate::spin::Spin;

/// Plain bytes that are encrypted before the socket has to take them.
const AHEAD: usize = 256 << 10;
/// Encrypted bytes that are received at once: rustls by itself asks for 4 KiB.
const ENCRYPTED: usize = 128 << 10;

/// A TLS connection that both halves of a link share.
pub(crate) struct TlsChannel {
    socket: Socket,
    /// Never held while anybody sleeps.
    state: Mutex<State>,
    /// Says in the user's words why TLS failed.
    explain: Box<dyn Fn(&rustls::Error) -> String + Send + Sync>,
}

struct State {
    tls: Connection,
    encrypted: InBuffer,
}

impl TlsChannel {
    /// Goes through the handshake of TLS.
    ///
    /// # Errors
    ///
    /// [`LinkError::Tls`] as `explain` puts it, [`LinkError::TimedOut`], [`LinkError::Closed`].
    pub(crate) fn handshake(
        socket: Socket,
        mut tls: Connection,
        explain: impl Fn(&rustls::Error) -> String + Send + Sync + 'static,
        deadline: Instant,
    ) -> Result<Self, LinkError> {
        tls.set_buffer_limit(Some(AHEAD));
        let channel = Self {
            socket,
            state: Mutex::new(State {
                tls,
                encrypted: InBuffer::new(ENCRYPTED),
            }),
            explain: Box::new(explain),
        };
        let mut spin = Spin::never();
        let mut listen = matches!(channel.lock().tls, Connection::Client(_));
        loop {
            channel
                .socket
                .wait(PollFlags::OUT, Some(deadline))
                .until(&mut spin, || channel.drain())?;
            if !channel.lock().tls.is_handshaking() {
                return Ok(channel);
            }
            if std::mem::take(&mut listen) {
                refused_in_clear(&channel.socket, deadline)?;
            }
            channel
                .socket
                .wait(PollFlags::IN, Some(deadline))
                .until(&mut spin, || channel.advance(&mut channel.lock()))?;
        }
    }

    /// What both ends of this connection alone know (RFC 9266).
    ///
    /// # Errors
    ///
    /// [`LinkError::Tls`].
    pub(crate) fn exporter(&self) -> Result<[u8; 32], LinkError> {
        let exported =
            self.lock()
                .tls
                .export_keying_material([0; 32], super::handshake::EXPORTER, Some(&[]));
        exported.map_err(|error| LinkError::Tls(self.socket.peer.clone(), error.to_string()))
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Receives encrypted bytes and works on them; none if there are none.
    fn advance(&self, state: &mut State) -> Result<Option<()>, LinkError> {
        if state.encrypted.len() == 0 {
            let space = state.encrypted.space(ENCRYPTED);
            match self.socket.receive(space)? {
                Some(received) => state.encrypted.filled(received),
                None => return Ok(None),
            }
        }
        while state.encrypted.len() > 0 {
            let mut encrypted = state.encrypted.unread();
            let before = encrypted.len();
            let taken = state.tls.read_tls(&mut encrypted);
            let after = encrypted.len();
            state.encrypted.consume(before - after);
            // It takes no more until what it has decrypted is read.
            let full = taken.is_err() || before == after;
            if let Err(error) = state.tls.process_new_packets() {
                // The other side is to learn of it, if it still listens.
                let _ = self.write(state);
                let text = (self.explain)(&error);
                return Err(LinkError::Tls(self.socket.peer.clone(), text));
            }
            if full {
                break;
            }
        }
        if state.tls.wants_write() {
            self.write(state)?;
        }
        Ok(Some(()))
    }

    /// Sends encrypted bytes; none if the socket took not all.
    fn write(&self, state: &mut State) -> Result<Option<()>, LinkError> {
        let mut socket = Raw {
            socket: &self.socket,
            failed: None,
        };
        while state.tls.wants_write() {
            if state.tls.write_tls(&mut socket).is_err() {
                return match socket.failed {
                    Some(error) => Err(error),
                    None => Ok(None),
                };
            }
        }
        Ok(Some(()))
    }
}

/// Waits for the first bytes of a server. One that does not let clients in by TLS says so in clear.
fn refused_in_clear(socket: &Socket, deadline: Instant) -> Result<(), LinkError> {
    let mut head = [0; 8];
    loop {
        // Asked first: what came with the end is seen below.
        let is_alive = socket.is_alive();
        let seen = socket
            .wait(PollFlags::IN, Some(deadline))
            .until(&mut Spin::never(), || socket.look(&mut head))?;
        if seen == head.len() {
            break;
        }
        if !is_alive {
            return Err(socket.closed());
        }
        if Instant::now() >= deadline {
            return Err(LinkError::TimedOut(socket.peer.clone()));
        }
        // The rest is on its way.
        std::thread::sleep(Duration::from_millis(1));
    }
    // A record of TLS has the low byte of its length there, and its type behind that, which for the
    // server's first record is 2.
    if head[4..] == control::REFUSED.to_le_bytes() {
        let mut frame = vec![0; HEADER_LEN];
        socket::receive_exact(socket, &mut frame, deadline)?;
        let len = Header::parse(&frame)?.payload().min(REASON_MAX);
        let mut payload = vec![0; len];
        socket::receive_exact(socket, &mut payload, deadline)?;
        let Refused { kind, reason } = Refused::parse(&payload)?;
        // In clear, so that anybody on the way may have written it.
        let reason = format!("{} (said before encryption began)", printable(&reason));
        return Err(LinkError::refused(kind, reason));
    }
    Ok(())
}

/// Longest reason that is read, bytes.
const REASON_MAX: usize = 8 << 10;

impl Channel for TlsChannel {
    fn socket(&self) -> &Socket {
        &self.socket
    }

    fn receive(&self, into: &mut [u8]) -> Result<Option<usize>, LinkError> {
        let mut state = self.lock();
        loop {
            match state.tls.reader().read(into) {
                Ok(0) => return Err(self.socket.closed()),
                Ok(received) => return Ok(Some(received)),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                // The socket's end without TLS's own: nobody can say whether that was all.
                Err(_) => return Err(self.socket.closed()),
            }
            if self.advance(&mut state)?.is_none() {
                return Ok(None);
            }
        }
    }

    fn send(&self, head: &[u8], body: &[u8]) -> Result<Option<usize>, LinkError> {
        let mut state = self.lock();
        let mut taken = 0;
        for part in [head, body] {
            let mut part = part;
            while !part.is_empty() {
                // What is encrypted goes out at once, so that the other side decrypts meanwhile.
                let now = &part[..part.len().min(PIECE)];
                let accepted = state.tls.writer().write(now).unwrap_or(0);
                part = &part[accepted..];
                taken += accepted;
                if self.write(&mut state)?.is_none() && accepted == 0 {
                    return Ok((taken > 0).then_some(taken));
                }
            }
        }
        Ok(Some(taken))
    }

    fn drain(&self) -> Result<Option<()>, LinkError> {
        let mut state = self.lock();
        self.write(&mut state)
    }
}

/// Plain bytes that are encrypted before they are sent: some records of TLS.
const PIECE: usize = 64 << 10;

impl Drop for TlsChannel {
    fn drop(&mut self) {
        let mut state = self.lock();
        state.tls.send_close_notify();
        // A peer that takes nothing sees the socket's end instead.
        let _ = self.write(&mut state);
    }
}

/// The socket as what rustls writes to.
struct Raw<'a> {
    socket: &'a Socket,
    failed: Option<LinkError>,
}

impl Write for Raw<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.write_vectored(&[IoSlice::new(bytes)])
    }

    fn write_vectored(&mut self, bytes: &[IoSlice<'_>]) -> io::Result<usize> {
        match Socket::send(self.socket, bytes) {
            Ok(Some(sent)) => Ok(sent),
            Ok(None) => Err(io::ErrorKind::WouldBlock.into()),
            Err(error) => {
                self.failed = Some(error);
                Err(io::ErrorKind::Other.into())
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixStream;

    use super::*;
    use crate::stream::Stream;

    /// What was seen of the first record stays in the socket, so that its end shows otherwise than by a read.
    #[test]
    fn a_server_that_breaks_off_in_its_first_word_is_not_waited_for() {
        let begun = |len| {
            let (ours, mut theirs) = UnixStream::pair().unwrap();
            theirs
                .write_all(&[22, 3, 3, 0, 122, 2, 0, 0][..len])
                .unwrap();
            (Stream::from(ours).prepare().0, theirs)
        };
        let soon = Instant::now() + Duration::from_secs(20);
        for len in 0..8 {
            let (socket, theirs) = begun(len);
            drop(theirs);
            let ended = refused_in_clear(&socket, soon);
            assert!(
                matches!(ended, Err(LinkError::Closed(_))),
                "{len}: {ended:?}"
            );
        }
        let (socket, theirs) = begun(3);
        let late = refused_in_clear(&socket, Instant::now() + Duration::from_millis(20));
        assert!(matches!(late, Err(LinkError::TimedOut(_))), "{late:?}");
        drop(theirs);
        let (socket, theirs) = begun(8);
        drop(theirs);
        refused_in_clear(&socket, soon).unwrap();
    }
}
