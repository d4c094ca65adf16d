//! A link of GPU-over-IP without CUDA: frames that the server's lane answers by itself. What they take is what the
//! link gives at best, whatever it is made of: shared memory, a Unix socket, TCP, TLS or RDMA.

use std::time::{Duration, Instant};

use gtrace_link::{Link, LinkError, LinkInfo, Target, connect, hello};
use gtrace_protocol::{DecodeError, ECHO_BULK_MAX, Flags, HEADER_LEN, Header, SMALL_MAX, control};

use crate::pace::{Limits, paced};
use crate::{MeasureError, Paced, random};

/// Frames of a stream that are on the way at most; the server grants far more.
const AHEAD: u64 = 64;
/// Bytes of a piece of a stream: as bulk copies have them.
const PIECE: usize = ECHO_BULK_MAX;

/// A lane of a session of its own, whose frames are echoes.
pub struct Echo {
    link: Link,
    sent: u64,
    answered: u64,
    /// Bytes of bulk parts that came.
    came: u64,
    piece: Vec<u8>,
}

/// Bytes a second through a link.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Streams {
    /// To the server, which reads them to nowhere.
    pub to_server: f64,
    /// From the server; `None` if it is of a version that sends none.
    pub from_server: Option<f64>,
}

impl Echo {
    /// Opens a session at `target`.
    ///
    /// # Errors
    ///
    /// Those of [`connect`].
    pub fn open(target: &Target) -> Result<Self, LinkError> {
        let (link, _, _) = connect(target, &hello(false), None)?;
        Ok(Self {
            link,
            sent: 0,
            answered: 0,
            came: 0,
            piece: random::bytes(5, PIECE),
        })
    }

    /// What the link is.
    pub fn info(&self) -> &LinkInfo {
        &self.link.info
    }

    /// Times of a frame that is a header, and of its answer, by the same schedule as calls.
    ///
    /// # Errors
    ///
    /// The link's end.
    pub fn exchanges(&mut self, limits: Limits) -> Result<Paced, MeasureError> {
        let call = || -> Result<(), MeasureError> {
            self.send(0, 0)?;
            self.link.tx.flush()?;
            self.answers(self.sent)?;
            Ok(())
        };
        paced(limits, call, || Ok(()))
    }

    /// Sends `bytes` and receives as many, in pieces of 1 MiB at most, `runs` times; the quickest counts.
    ///
    /// # Errors
    ///
    /// The link's end.
    pub fn streams(&mut self, bytes: u64, runs: u32) -> Result<Streams, LinkError> {
        let (mut there, mut back) = (Duration::MAX, Duration::MAX);
        let before = self.came;
        for _ in 0..runs.max(1) {
            let start = Instant::now();
            self.stream(bytes, |this, piece| this.send(piece, 0))?;
            there = there.min(start.elapsed());
            let start = Instant::now();
            self.stream(bytes, |this, piece| this.send(0, piece))?;
            back = back.min(start.elapsed());
        }
        let rate = |took: Duration| bytes as f64 / took.as_secs_f64().max(1e-9);
        Ok(Streams {
            to_server: rate(there),
            from_server: (self.came > before).then(|| rate(back)),
        })
    }

    fn stream(
        &mut self,
        bytes: u64,
        mut send: impl FnMut(&mut Self, usize) -> Result<(), LinkError>,
    ) -> Result<(), LinkError> {
        let mut left = bytes;
        while left > 0 {
            let piece = left.min(PIECE as u64);
            send(self, piece as usize)?;
            self.link.tx.flush()?;
            self.answers(self.sent.saturating_sub(AHEAD))?;
            left -= piece;
        }
        self.answers(self.sent)
    }

    /// An echo with a bulk part of `there` bytes, that asks for one of `back` bytes.
    fn send(&mut self, there: usize, back: usize) -> Result<(), LinkError> {
        self.sent += 1;
        let mut header = Header {
            op: control::ECHO,
            seq: self.sent,
            status: u32::try_from(back).unwrap_or(0),
            ..Header::default()
        };
        header.set_payload(0, there);
        let room = self.link.tx.reserve(HEADER_LEN)?;
        room[..HEADER_LEN].copy_from_slice(&header.to_bytes());
        self.link.tx.commit(HEADER_LEN);
        match there {
            0 => Ok(()),
            there => self.link.tx.bulk(&self.piece[..there]),
        }
    }

    /// Reads until `until` echoes were answered.
    fn answers(&mut self, until: u64) -> Result<(), LinkError> {
        while self.answered < until {
            let header = Header::parse(self.link.rx.peek(HEADER_LEN, None)?)?;
            self.link.rx.consume(HEADER_LEN);
            self.skip(header.payload())?;
            match header.op {
                control::ECHO => {
                    self.answered += 1;
                    self.came += header.bulk() as u64;
                }
                control::CREDIT => {}
                op => {
                    return Err(DecodeError::BadValue {
                        what: "a frame where an echo was awaited",
                        value: op.into(),
                    }
                    .into());
                }
            }
        }
        Ok(())
    }

    fn skip(&mut self, mut left: usize) -> Result<(), LinkError> {
        while left > 0 {
            let some = self.link.rx.some(left.min(SMALL_MAX))?.len().min(left);
            self.link.rx.consume(some);
            left -= some;
        }
        Ok(())
    }

    /// Ends the session, and waits a moment for it: a server with room for one client has it for the next.
    pub fn close(mut self) {
        let goodbye = Header {
            length: HEADER_LEN as u32,
            op: control::GOODBYE,
            seq: self.sent + 1,
            flags: Flags::ONE_WAY,
            ..Header::default()
        };
        let written = self.link.tx.reserve(HEADER_LEN).map(|room| {
            room[..HEADER_LEN].copy_from_slice(&goodbye.to_bytes());
        });
        if written.is_ok() {
            self.link.tx.commit(HEADER_LEN);
            // The server finds the connection closed all the same.
            let _ = self.link.tx.flush();
            let deadline = Instant::now() + Duration::from_secs(1);
            let _ = self.link.rx.peek(HEADER_LEN, Some(deadline));
        }
    }
}
