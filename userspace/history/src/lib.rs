//! The history of samples: what components measured, on disk, in three resolutions.
//!
//! One process writes ([`Writer`]), any number of others read ([`Reader`]), also from a copy on another
//! machine. Times are milliseconds since 1970 UTC. Nothing is kept in memory but the names of series.
//!
//! # Files
//!
//! | file | what |
//! |---|---|
//! | `lock` | empty; locked by the writer |
//! | `journal` | samples as they come, for at most [`BLOCK_SPAN_MS`] or [`Options::journal_bytes`] |
//! | `RESOLUTION-NUMBER.seg` | a segment: blocks of one resolution (ms), numbers ascend |
//!
//! When the journal is full its samples become one block in a segment of each resolution, and a new
//! journal takes its place. A block carries the generation of the journal that it was made of. A reader uses each
//! generation once, from the finest resolution that suits and still has it. So no clock, however it is set,
//! hides samples or shows them twice. A writer that finds blocks of the generation of its journal was killed
//! between the two steps; it cuts them off and repeats the step.
//!
//! # Format
//!
//! All fixed-size numbers are little-endian. A *varint* is LEB128 as in Protocol Buffers, *zigzag* its signed form
//! there. A *string* is its length in bytes as varint, and UTF-8.
//!
//! **File**: a header of 24 bytes (`GTHIST01`; resolution in ms as u32, 0 for the journal; CRC-32C of resolution and generation as
//! u32, or 0: files of versions that wrote none; generation as u64, 0 in a segment), then frames.
//!
//! **Frame**: length of the body as u32, CRC-32C of the body as u32, body. Reading ends where a body would
//! pass the end of the file. A frame with a wrong CRC is passed over.
//!
//! **Body in a segment**: u8 (`D` definitions, `B` block), generation as u64, first and last time as i64, length of the
//! payload as u32, payload compressed by zstd.
//!
//! **Definitions**: first number as varint, count as varint, then series with ascending numbers. Numbers belong to the file. A
//! *series* is metric (string), unit (string), kind (u8: 0 gauge, 1 counter, 2 histogram), count of labels (varint), and name and
//! value of each label (strings), ascending.
//!
//! **Block**: count of timelines (varint), timelines, count of series (varint), columns of each series.
//! A *timeline* is its count of points (varint), the first time as zigzag difference from the frame's first time,
//! then each difference from the one before as zigzag difference of differences (the first from 0).
//! The time of a point is that of the last sample in it. *Columns of a series*: its number as varint difference from the series
//! before, the index of its timeline (varint), flags (u8), and:
//!
//! * gauge and counter: the column *last*. With flag 1 zigzag differences of integers, from 0; else each value's
//!   IEEE 754 bits XOR those before (0 at first), bytes reversed, as varint.
//! * gauge without flag 2: the columns *count* (varints), *min*, *max*, *mean*, each value XOR *last* of the same point, as
//!   above. With flag 2 each point is one sample, and the three equal *last*.
//! * histogram: for each point the count of buckets (varint), then index difference (varint) and count (varint) of each, then sum and maximum in
//!   ns (varints). Buckets are those of `gtrace_abi`, as in `gtrace_profile`.
//!
//! **Body in the journal**: count of definitions (varint) and series as above, numbered from where the frame before ended; time
//! (zigzag); count of values (varint); number of the series (varint) and value of each: IEEE 754 bits as u64, or a histogram
//! as above.
//!
//! # Coarser resolutions
//!
//! A gauge keeps smallest, largest and last value, and the mean of the samples (each counts once, however long it was in
//! force). A counter keeps the last value. Histograms, which are of what came since the sample before, are
//! added. A block ends in the middle of a bucket at a restart; readers merge both parts of it.
//!
//! # What a crash loses
//!
//! Samples are in the page cache once [`Writer::push`] returns, so a process that is killed loses none of them.
//! Blocks are synced before their journal goes. A power cut loses at most the journal.

#![forbid(unsafe_code)]

mod block;
mod bytes;
mod directory;
mod error;
mod frame;
mod journal;
mod reader;
mod retain;
mod segment;
mod series;
mod tier;
mod value;
mod writer;

pub use error::{HistoryError, Malformed};
pub use reader::{Found, MetricRange, Query, Reader, Series, Skipped};
pub use segment::{SegmentContents, decode_segment};
pub use series::{Labels, SeriesKey, TooLong};
pub use tier::{BLOCK_SPAN_MS, Options, Tier};
pub use value::{Gauge, Kind, Point, Value};
pub use writer::{Dropped, Sample, Samples, Usage, Writer, WriterLock};
