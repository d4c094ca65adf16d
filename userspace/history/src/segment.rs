//! The frames of a segment.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::io;

use crate::block::{self, Columns};
use crate::bytes::{Cursor, put_varint};
use crate::error::Malformed;
use crate::frame::{Frame, Header, PREFIX, ReadAt, put_frame, scan};
use crate::series::SeriesKey;
use crate::value::Point;

/// Compression level: higher ones gain some percent for many times the work.
const LEVEL: i32 = 3;
/// Longest payload, bytes: several times what a full journal becomes.
const MAX_PAYLOAD: u32 = 8 << 20;
/// Bytes of a body before its payload.
const HEAD: usize = 29;
const DEFINITIONS: u8 = b'D';
const BLOCK: u8 = b'B';

/// What a body says of itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Head {
    pub(crate) is_block: bool,
    /// Of the journal that it was made of.
    pub(crate) generation: u64,
    /// Of its points, ms.
    pub(crate) first_ms: i64,
    pub(crate) last_ms: i64,
    payload: u32,
}

impl Head {
    fn take(from: &mut Cursor<'_>) -> Result<Self, Malformed> {
        let is_block = match from.u8()? {
            DEFINITIONS => false,
            BLOCK => true,
            _ => return Err(Malformed::Range),
        };
        let (generation, first_ms, last_ms) = (from.u64()?, from.i64()?, from.i64()?);
        let payload = from.u32()?;
        if payload > MAX_PAYLOAD {
            return Err(Malformed::Compression);
        }
        Ok(Self {
            is_block,
            generation,
            first_ms,
            last_ms,
            payload,
        })
    }
}

/// A frame with its head.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry {
    pub(crate) frame: Frame,
    pub(crate) head: Head,
}

impl Entry {
    /// The decompressed payload.
    fn payload(&self, from: &impl ReadAt) -> io::Result<Result<Vec<u8>, Malformed>> {
        let Some(body) = self.frame.body(from)? else {
            return Ok(Err(Malformed::Compression));
        };
        let mut cursor = Cursor(&body);
        Ok(Head::take(&mut cursor).and_then(|head| {
            let payload = zstd::bulk::decompress(cursor.0, head.payload as usize);
            payload.map_err(|_| Malformed::Compression)
        }))
    }

    /// Adds the series that it defines.
    pub(crate) fn define(
        &self,
        from: &impl ReadAt,
        series: &mut BTreeMap<u32, SeriesKey>,
    ) -> io::Result<Result<(), Malformed>> {
        let payload = self.payload(from)?;
        Ok(payload.and_then(|payload| take_definitions(&payload, series)))
    }

    /// The points of the series that are wanted. `series` are those of the file up to here; a block with others is
    /// refused, so that a damaged definition does not hide them.
    pub(crate) fn points(
        &self,
        from: &impl ReadAt,
        series: &BTreeMap<u32, SeriesKey>,
        wanted: impl Fn(&SeriesKey) -> bool,
    ) -> io::Result<Result<Vec<Columns>, Malformed>> {
        let payload = self.payload(from)?;
        let defined = Cell::new(true);
        let columns = payload.and_then(|payload| {
            block::decode(&payload, self.head.first_ms, |id, kind| {
                let key = series.get(&id).filter(|key| key.kind == kind);
                defined.set(defined.get() && key.is_some());
                key.is_some_and(&wanted)
            })
        });
        Ok(
            columns
                .and_then(|columns| defined.get().then_some(columns).ok_or(Malformed::Undefined)),
        )
    }
}

/// The frames of a segment, in their order.
#[derive(Debug, Default)]
pub(crate) struct Index {
    pub(crate) resolution_ms: u32,
    pub(crate) entries: Vec<Entry>,
    /// Where the last whole frame ends.
    pub(crate) end: u64,
    pub(crate) torn: bool,
    /// Frames whose head cannot be.
    pub(crate) damaged: u64,
}

impl Index {
    /// Reads the heads of all frames; `None` where the file is no segment.
    pub(crate) fn read(from: &impl ReadAt) -> io::Result<Option<Self>> {
        let Some(header) = Header::read(from)?.filter(|header| header.resolution_ms > 0) else {
            return Ok(None);
        };
        let frames = scan(from)?;
        let mut index = Self {
            resolution_ms: header.resolution_ms,
            end: frames.end,
            torn: frames.torn,
            ..Self::default()
        };
        let mut bytes = [0; HEAD];
        for frame in frames.frames {
            let length = bytes.len().min(frame.length as usize);
            let (bytes, _) = bytes.split_at_mut(length);
            from.fill(bytes, frame.at + PREFIX)?;
            match Head::take(&mut Cursor(bytes)) {
                Ok(head) => index.entries.push(Entry { frame, head }),
                Err(_) => index.damaged += 1,
            }
        }
        Ok(Some(index))
    }

    pub(crate) fn blocks(&self) -> impl Iterator<Item = &Entry> {
        self.entries.iter().filter(|entry| entry.head.is_block)
    }
}

fn take_definitions(
    payload: &[u8],
    series: &mut BTreeMap<u32, SeriesKey>,
) -> Result<(), Malformed> {
    let mut from = Cursor(payload);
    let first = u32::try_from(from.varint()?).map_err(|_| Malformed::Range)?;
    let count = from.count()?;
    for index in 0..count {
        let index = u32::try_from(index).map_err(|_| Malformed::Range)?;
        let id = first.checked_add(index).ok_or(Malformed::Range)?;
        series.insert(id, SeriesKey::take(&mut from)?);
    }
    from.end()
}

/// Times and origin of a frame that is to be written.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Origin {
    pub(crate) generation: u64,
    pub(crate) first_ms: i64,
    pub(crate) last_ms: i64,
}

/// Appends a frame that defines `series`, numbered from `first` on.
pub(crate) fn put_definitions(
    out: &mut Vec<u8>,
    origin: Origin,
    first: u32,
    series: &[&SeriesKey],
) -> Result<(), Malformed> {
    let mut payload = Vec::new();
    put_varint(&mut payload, u64::from(first));
    put_varint(&mut payload, series.len() as u64);
    series.iter().for_each(|key| key.put(&mut payload));
    put_body(out, DEFINITIONS, origin, &payload)
}

/// Appends a block; `series` ascend by number.
pub(crate) fn put_block(
    out: &mut Vec<u8>,
    origin: Origin,
    series: &[Columns<&[Point]>],
) -> Result<(), Malformed> {
    put_body(out, BLOCK, origin, &block::encode(series, origin.first_ms))
}

fn put_body(out: &mut Vec<u8>, kind: u8, origin: Origin, payload: &[u8]) -> Result<(), Malformed> {
    let length = u32::try_from(payload.len()).map_err(|_| Malformed::Range)?;
    if length > MAX_PAYLOAD {
        return Err(Malformed::Compression);
    }
    let mut body = vec![kind];
    body.extend(origin.generation.to_le_bytes());
    body.extend(origin.first_ms.to_le_bytes());
    body.extend(origin.last_ms.to_le_bytes());
    body.extend(length.to_le_bytes());
    body.extend(zstd::bulk::compress(payload, LEVEL).map_err(|_| Malformed::Compression)?);
    put_frame(out, &body)
}

/// All that a segment has.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SegmentContents {
    /// Length of a bucket, ms.
    pub resolution_ms: u32,
    /// The points of each block, by series.
    pub blocks: Vec<Vec<(SeriesKey, Vec<Point>)>>,
    /// Frames that cannot be read.
    pub damaged: u64,
    /// Whether something follows that is no whole frame.
    pub torn: bool,
}

/// Decodes the bytes of a segment: what can be read of them, whatever they are.
///
/// # Errors
///
/// If they do not begin as a segment does.
pub fn decode_segment(bytes: &[u8]) -> Result<SegmentContents, Malformed> {
    // Reading from memory has no error but that of an end, which the index has checked.
    let index = Index::read(&bytes).map_err(|_| Malformed::Short)?;
    let index = index.ok_or(Malformed::Header)?;
    let mut contents = SegmentContents {
        resolution_ms: index.resolution_ms,
        torn: index.torn,
        damaged: index.damaged,
        blocks: Vec::new(),
    };
    let mut series = BTreeMap::new();
    for entry in &index.entries {
        if !entry.head.is_block {
            let defined = entry.define(&bytes, &mut series);
            contents.damaged += u64::from(!matches!(defined, Ok(Ok(()))));
            continue;
        }
        match entry.points(&bytes, &series, |_| true) {
            Ok(Ok(columns)) => contents.blocks.push(
                columns
                    .into_iter()
                    .filter_map(|c| Some((series.get(&c.id)?.clone(), c.points)))
                    .collect(),
            ),
            _ => contents.damaged += 1,
        }
    }
    Ok(contents)
}
