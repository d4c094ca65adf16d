//! Files as headers and frames.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use crate::bytes::Cursor;
use crate::error::Malformed;

const MAGIC: &[u8; 8] = b"GTHIST01";
/// Bytes before the first frame.
pub(crate) const HEADER: u64 = 24;
/// Bytes of a frame before its body.
pub(crate) const PREFIX: u64 = 8;
/// Longest body, bytes: several times what a full journal becomes.
pub(crate) const MAX_BODY: u64 = 8 << 20;

/// Something that is read at a place.
pub(crate) trait ReadAt {
    /// Fills `buffer` from `offset` on.
    fn fill(&self, buffer: &mut [u8], offset: u64) -> io::Result<()>;
    /// Length in bytes, at this moment.
    fn length(&self) -> io::Result<u64>;
}

impl ReadAt for File {
    fn fill(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        self.read_exact_at(buffer, offset)
    }

    fn length(&self) -> io::Result<u64> {
        Ok(self.metadata()?.len())
    }
}

impl ReadAt for &[u8] {
    fn fill(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        let from = usize::try_from(offset).ok().and_then(|at| self.get(at..));
        let from = from.and_then(|rest| rest.get(..buffer.len()));
        let from = from.ok_or(io::ErrorKind::UnexpectedEof)?;
        buffer.copy_from_slice(from);
        Ok(())
    }

    fn length(&self) -> io::Result<u64> {
        Ok(self.len() as u64)
    }
}

/// What a file begins with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    /// Length of a bucket, ms; 0 for the journal.
    pub(crate) resolution_ms: u32,
    /// Of the journal; 0 in a segment.
    pub(crate) generation: u64,
}

impl Header {
    pub(crate) fn bytes(self) -> Vec<u8> {
        let mut out = MAGIC.to_vec();
        out.extend(self.resolution_ms.to_le_bytes());
        out.extend(self.crc().to_le_bytes());
        out.extend(self.generation.to_le_bytes());
        out
    }

    fn crc(self) -> u32 {
        let crc = crc32c::crc32c(&self.resolution_ms.to_le_bytes());
        crc32c::crc32c_append(crc, &self.generation.to_le_bytes())
    }

    /// `None` where there is no such header, or its CRC is wrong.
    pub(crate) fn read(from: &impl ReadAt) -> io::Result<Option<Self>> {
        let mut bytes = [0; HEADER as usize];
        match from.fill(&mut bytes, 0) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
            Err(error) => return Err(error),
        }
        Ok(Self::parse(&bytes).ok())
    }

    fn parse(bytes: &[u8]) -> Result<Self, Malformed> {
        let mut from = Cursor(bytes);
        if from.take(MAGIC.len())? != MAGIC {
            return Err(Malformed::Header);
        }
        let (resolution_ms, crc) = (from.u32()?, from.u32()?);
        let header = Self {
            resolution_ms,
            generation: from.u64()?,
        };
        // Files of versions that wrote no CRC have 0 there.
        match crc == 0 || crc == header.crc() {
            true => Ok(header),
            false => Err(Malformed::Header),
        }
    }
}

/// Where a frame lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Frame {
    /// Offset of its prefix.
    pub(crate) at: u64,
    /// Length of its body.
    pub(crate) length: u32,
    crc: u32,
}

impl Frame {
    /// Offset behind it.
    pub(crate) fn end(&self) -> u64 {
        self.at + PREFIX + u64::from(self.length)
    }

    /// The body; `None` if its CRC is wrong.
    pub(crate) fn body(&self, from: &impl ReadAt) -> io::Result<Option<Vec<u8>>> {
        let mut body = vec![0; self.length as usize];
        from.fill(&mut body, self.at + PREFIX)?;
        Ok((crc32c::crc32c(&body) == self.crc).then_some(body))
    }
}

/// `body` with its prefix, at the end of `out`.
pub(crate) fn put_frame(out: &mut Vec<u8>, body: &[u8]) -> Result<(), Malformed> {
    let length = u32::try_from(body.len()).map_err(|_| Malformed::Range)?;
    if u64::from(length) > MAX_BODY {
        return Err(Malformed::Range);
    }
    out.extend(length.to_le_bytes());
    out.extend(crc32c::crc32c(body).to_le_bytes());
    out.extend_from_slice(body);
    Ok(())
}

/// The frames of a file, and the offset where the last whole one ends.
#[derive(Debug)]
pub(crate) struct Frames {
    pub(crate) frames: Vec<Frame>,
    pub(crate) end: u64,
    /// Whether something follows that is no whole frame.
    pub(crate) torn: bool,
}

/// Finds the frames, without their bodies.
pub(crate) fn scan(from: &impl ReadAt) -> io::Result<Frames> {
    let length = from.length()?;
    let mut frames = Vec::new();
    let mut at = HEADER;
    let mut prefix = [0; PREFIX as usize];
    while at + PREFIX <= length {
        from.fill(&mut prefix, at)?;
        let [a, b, c, d, e, f, g, h] = prefix;
        let frame = Frame {
            at,
            length: u32::from_le_bytes([a, b, c, d]),
            crc: u32::from_le_bytes([e, f, g, h]),
        };
        // A body of nothing is what a file has that was lengthened and never written.
        if frame.length == 0 || u64::from(frame.length) > MAX_BODY || frame.end() > length {
            break;
        }
        at = frame.end();
        frames.push(frame);
    }
    Ok(Frames {
        frames,
        end: at,
        torn: at < length,
    })
}
