//! Frames of the handshake on a link.

use std::time::Instant;

use gtrace_protocol::{DecodeError, HEADER_LEN, Header, Message, Refused, Writer, control};

use crate::link::{Link, LinkError, Rx, Tx};
use crate::printable;

/// Longest payload of a frame of the handshake.
const PAYLOAD_MAX: usize = 64 << 10;

/// A frame of the handshake.
#[derive(Debug)]
pub(crate) struct Frame {
    pub(crate) op: u32,
    pub(crate) payload: Vec<u8>,
}

impl Frame {
    /// The message that has to come now.
    ///
    /// # Errors
    ///
    /// [`LinkError::Refused`] if the other side says why it will not go on, else that something else
    /// came.
    pub(crate) fn message<M: Message>(&self) -> Result<M, LinkError> {
        if self.op == control::REFUSED && M::OP != control::REFUSED {
            let refused = Refused::parse(&self.payload)?;
            return Err(LinkError::refused(refused.kind, printable(&refused.reason)));
        }
        if self.op != M::OP {
            return Err(DecodeError::BadValue {
                what: "the frame of the handshake",
                value: self.op.into(),
            }
            .into());
        }
        Ok(M::parse(&self.payload)?)
    }
}

/// The bytes of a frame of the handshake.
pub(crate) fn frame(op: u32, payload: &[u8]) -> Vec<u8> {
    let mut header = Header {
        op,
        ..Header::default()
    };
    header.set_payload(payload.len().min(PAYLOAD_MAX), 0);
    let mut writer = Writer::default();
    header.write(&mut writer);
    writer.raw(&payload[..payload.len().min(PAYLOAD_MAX)]);
    writer.into_inner()
}

/// Sends a frame.
pub(crate) fn send_frame(tx: &mut dyn Tx, op: u32, payload: &[u8]) -> Result<(), LinkError> {
    let frame = frame(op, payload);
    tx.reserve(frame.len())?.copy_from_slice(&frame);
    tx.commit(frame.len());
    tx.flush()
}

/// Leaves a message to be sent with the next one.
pub(crate) fn put<M: Message>(tx: &mut dyn Tx, message: &M) -> Result<(), LinkError> {
    let frame = frame(M::OP, &message.to_bytes());
    tx.reserve(frame.len())?.copy_from_slice(&frame);
    tx.commit(frame.len());
    Ok(())
}

/// Sends a message.
pub(crate) fn send<M: Message>(tx: &mut dyn Tx, message: &M) -> Result<(), LinkError> {
    send_frame(tx, M::OP, &message.to_bytes())
}

/// Receives a frame.
pub(crate) fn receive(rx: &mut dyn Rx, deadline: Instant) -> Result<Frame, LinkError> {
    let header = Header::parse(rx.peek(HEADER_LEN, Some(deadline))?)?;
    let len = header.payload();
    if len > PAYLOAD_MAX || header.bulk() != 0 {
        return Err(DecodeError::TooLong {
            len: len as u64,
            cap: PAYLOAD_MAX,
        }
        .into());
    }
    let payload = rx.peek(HEADER_LEN + len, Some(deadline))?[HEADER_LEN..].to_vec();
    rx.consume(HEADER_LEN + len);
    Ok(Frame {
        op: header.op,
        payload,
    })
}

/// Bytes of an ECHO.
const ECHO: usize = 64;
/// Echoes of one probe; the quickest counts.
const ECHOES: u32 = 3;

/// Sends random bytes to and fro: that the link works, and its quickest round trip in ns.
pub(crate) fn probe(link: &mut Link, deadline: Instant) -> Result<u64, LinkError> {
    let mut best = u64::MAX;
    for _ in 0..ECHOES {
        let mut payload = [0; ECHO];
        crate::auth::random(&mut payload)?;
        let sent = Instant::now();
        send_frame(&mut *link.tx, control::ECHO, &payload)?;
        let echo = receive(&mut *link.rx, deadline)?;
        if echo.op != control::ECHO || echo.payload != payload {
            return Err(DecodeError::BadValue {
                what: "the echo of a probe",
                value: echo.op.into(),
            }
            .into());
        }
        best = best.min(u64::try_from(sent.elapsed().as_nanos()).unwrap_or(u64::MAX));
    }
    Ok(best)
}
