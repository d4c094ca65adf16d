//! Copies between the memories of client and device.

use gtrace_protocol::{kinds, members};

use crate::types::driver::CUDA_MEMCPY3D;

/// In place of a stream: the call without `Async`.
pub const SYNCHRONOUS: u64 = u64::MAX;

/// In place of a stream: memory of the server's process that [`super::MAP_HOST`] has put there, read and written without the
/// driver, which may hold calls of all threads back while a function of the host runs.
pub const HERE: u64 = u64::MAX - 1;

/// Smallest piece of a copy for which a server takes page-locked memory of its own, bytes. A copy in smaller pieces waits for
/// its stream alone: a driver may lock and unlock memory only once other streams are done.
pub const LOCKED_MIN: usize = 128 << 10;

/// To the device: the frame's bulk part goes to `to`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Upload {
    /// Device address.
    pub to: u64,
    /// Handle of the stream, or [`SYNCHRONOUS`].
    pub stream: u64,
}

/// From the device: `len` bytes from `from`, in reply frames with at most `chunk` bytes each.
///
/// The last frame has the status; if that is no success it carries no bytes. A copy of no bytes is
/// answered by one frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Download {
    /// Device address.
    pub from: u64,
    /// Bytes.
    pub len: u64,
    /// Most bytes of a frame's bulk part.
    pub chunk: u32,
    /// Handle of the stream, or [`SYNCHRONOUS`]. The reply comes once the bytes are there.
    pub stream: u64,
}

/// What one side of a copy is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SideKind {
    /// The client's memory: the bytes travel, packed, without gaps between rows and slices.
    Client,
    /// Device memory at an address.
    Device,
    /// A CUDA array, by its handle.
    Array,
}

/// One side of a pitched copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Side {
    /// What it is.
    pub kind: SideKind,
    /// Device address, or handle of the array; 0 for the client's memory.
    pub place: u64,
    /// Offset in a row, bytes.
    pub x: u64,
    /// Offset in rows.
    pub y: u64,
    /// Offset in slices.
    pub z: u64,
    /// Level of a mipmapped array.
    pub lod: u64,
    /// Bytes from row to row.
    pub pitch: u64,
    /// Rows from slice to slice.
    pub height: u64,
}

impl Side {
    /// From the first byte of a place on, without a pitch.
    pub const fn at(kind: SideKind, place: u64) -> Self {
        Self {
            kind,
            place,
            x: 0,
            y: 0,
            z: 0,
            lod: 0,
            pitch: 0,
            height: 0,
        }
    }
}

/// How much a pitched copy takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Extent {
    /// Bytes of a row.
    pub width: u64,
    /// Rows of a slice.
    pub height: u64,
    /// Slices; 1 for a copy in two dimensions.
    pub depth: u64,
}

impl Extent {
    /// One row.
    pub const fn row(width: u64) -> Self {
        Self {
            width,
            height: 1,
            depth: 1,
        }
    }

    /// Bytes altogether; `None` if they do not fit 64 bits.
    pub const fn bytes(self) -> Option<u64> {
        match self.width.checked_mul(self.height) {
            Some(slice) => slice.checked_mul(self.depth),
            None => None,
        }
    }
}

/// A copy in two or three dimensions.
///
/// To the device each frame stands for itself: its bulk part is the packed bytes of its extent. From
/// the device there is one request, and the bulk parts of the reply frames are the packed bytes in
/// order. Between two places of the device nothing follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pitched {
    /// From.
    pub from: Side,
    /// To.
    pub to: Side,
    /// How much.
    pub extent: Extent,
    /// Most bytes of a reply frame's bulk part.
    pub chunk: u32,
    /// Handle of the stream, or [`SYNCHRONOUS`].
    pub stream: u64,
}

impl Pitched {
    /// The copy that a structure describes, between places that are known; it is synchronous.
    pub fn described(
        copy: &CUDA_MEMCPY3D,
        (from, from_place): (SideKind, u64),
        (to, to_place): (SideKind, u64),
    ) -> Self {
        Self {
            from: Side {
                kind: from,
                place: from_place,
                x: copy.srcXInBytes as u64,
                y: copy.srcY as u64,
                z: copy.srcZ as u64,
                lod: copy.srcLOD as u64,
                pitch: copy.srcPitch as u64,
                height: copy.srcHeight as u64,
            },
            to: Side {
                kind: to,
                place: to_place,
                x: copy.dstXInBytes as u64,
                y: copy.dstY as u64,
                z: copy.dstZ as u64,
                lod: copy.dstLOD as u64,
                pitch: copy.dstPitch as u64,
                height: copy.dstHeight as u64,
            },
            extent: Extent {
                width: copy.WidthInBytes as u64,
                height: copy.Height as u64,
                depth: copy.Depth as u64,
            },
            chunk: 0,
            stream: SYNCHRONOUS,
        }
    }
}

members!(Upload: to, stream);
members!(Download: from, len, chunk, stream);
kinds!(SideKind, "a side of a copy": 0 => Client, 1 => Device, 2 => Array);
members!(Side: kind, place, x, y, z, lod, pitch, height);
members!(Extent: width, height, depth);
members!(Pitched: from, to, extent, chunk, stream);

#[cfg(test)]
mod tests {
    use super::super::tests::comes_back;
    use super::*;

    #[test]
    fn copies_come_back() {
        let upload = Upload {
            to: 0x7000_0000_0000,
            stream: SYNCHRONOUS,
        };
        comes_back(&upload, &mut Vec::new());
        let download = Download {
            from: 0x7000_0000_0000,
            len: 1 << 20,
            chunk: 256 << 10,
            stream: 2,
        };
        comes_back(&download, &mut Vec::new());
        let side = Side {
            kind: SideKind::Client,
            place: 0,
            x: 1,
            y: 2,
            z: 3,
            lod: 4,
            pitch: 5,
            height: 6,
        };
        let pitched = Pitched {
            from: side,
            to: Side {
                kind: SideKind::Device,
                ..side
            },
            extent: Extent {
                width: 7,
                height: 8,
                depth: 9,
            },
            chunk: 10,
            stream: 11,
        };
        comes_back(&pitched, &mut Vec::new());
    }

    #[test]
    fn an_extent_that_does_not_fit_has_no_bytes() {
        let extent = |depth| Extent {
            width: 1 << 32,
            height: 1 << 31,
            depth,
        };
        assert_eq!(extent(1).bytes(), Some(1 << 63));
        assert_eq!(extent(2).bytes(), None);
    }
}
