//! Frames of a profiling session of a fleet as a table: Apache Parquet, which pandas, polars, DuckDB and Spark read.
//!
//! A row is one of three, as its column `row` says: `gpu`, what a GPU of a host was in an interval; `host`, the driver and CUDA
//! calls of the host in it; `gap`, intervals of a host without a frame, from `time` on. So that sums over rows count nothing twice, the
//! calls of a host are not repeated for each of its GPUs. What a row does not have is null.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::io::{self, Write};
use std::ops::Range;
use std::sync::Arc;

use gtrace_fleet::{COLUMNS, CallFrame, Column, GpuFrame, HostFrame, slot_begin};
use parquet::basic::{Compression, ZstdLevel};
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int32Type, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::parser::parse_message_type;

/// What is held until it is written, as a row group.
#[derive(Clone, Copy)]
struct Limits {
    rows: usize,
    /// Entries of lists: a row may have 2048.
    buckets: usize,
}

/// Some 35 MiB with what encodes them.
const LIMITS: Limits = Limits {
    rows: 1 << 17,
    buckets: 1 << 19,
};
/// Where the metadata of the file has the session, as JSON.
const SESSION_KEY: &str = "gtrace.session";

/// The name of a value, with its unit unless it is a ratio or the name has it.
fn column_name(column: &Column) -> String {
    let name = column.name;
    match column.unit {
        "bytes" => format!("{name}_bytes"),
        "bytes/s" => format!("{name}_bytes_per_s"),
        _ => name.to_owned(),
    }
}

fn schema() -> String {
    let mut text = String::from(
        "message session {
            required int64 time (TIMESTAMP(MICROS, true));
            required binary host (STRING);
            required binary row (STRING);
            optional int64 gap_frames;
            optional int64 error_ns;
            optional int32 gpu (INTEGER(32, false));
            optional binary gpu_name (STRING);
            optional int32 samples (INTEGER(32, false));\n",
    );
    for column in COLUMNS {
        let _ = writeln!(text, "optional double {};", column_name(column));
    }
    for (kind, _) in HostFrame::default().all_calls() {
        for (name, _) in CALLS {
            let _ = writeln!(text, "optional int64 {kind}{name} (INTEGER(64, false));");
        }
        let _ = writeln!(
            text,
            "optional group {kind}_buckets (LIST) {{
                repeated group list {{
                    required group element {{
                        required int32 index (INTEGER(16, false));
                        required int64 count (INTEGER(64, false));
                    }}
                }}
            }}"
        );
    }
    text += "}";
    text
}

type OfCalls = (&'static str, fn(&CallFrame) -> u64);

/// What the calls of a host have beside their buckets, and what follows the name of their kind.
const CALLS: [OfCalls; 7] = [
    ("", |calls| calls.count),
    ("_p50_ns", |calls| calls.p50_ns),
    ("_p90_ns", |calls| calls.p90_ns),
    ("_p99_ns", |calls| calls.p99_ns),
    ("_max_ns", |calls| calls.max_ns),
    ("_sum_ns", |calls| calls.sum_ns),
    ("_span_ms", |calls| calls.span_ms),
];

/// One kind of calls of the rows that are held.
#[derive(Default)]
struct HeldCalls {
    values: [Held<i64>; CALLS.len()],
    buckets: HeldBuckets,
}

impl HeldCalls {
    fn push(&mut self, calls: Option<&CallFrame>) {
        for (held, (_, get)) in self.values.iter_mut().zip(CALLS) {
            held.push(calls.map(|calls| get(calls).cast_signed()));
        }
        self.buckets
            .push(calls.map(|calls| calls.buckets.as_slice()));
    }
}

/// The values of a column that may be null, for the rows that are held.
#[derive(Default)]
struct Held<T> {
    values: Vec<T>,
    /// 1 where the row has a value.
    present: Vec<i16>,
}

impl<T> Held<T> {
    fn push(&mut self, value: Option<T>) {
        self.present.push(i16::from(value.is_some()));
        self.values.extend(value);
    }
}

/// The buckets of the rows that are held, as a list of pairs.
#[derive(Default)]
struct HeldBuckets {
    indices: Vec<i32>,
    counts: Vec<i64>,
    /// 0: no list; 1: a list without entries; 2: an entry.
    definition: Vec<i16>,
    /// 1 where the entry is not the first of its row.
    repetition: Vec<i16>,
}

impl HeldBuckets {
    fn push(&mut self, buckets: Option<&[(u16, u64)]>) {
        let Some(buckets) = buckets.filter(|buckets| !buckets.is_empty()) else {
            self.definition.push(i16::from(buckets.is_some()));
            self.repetition.push(0);
            return;
        };
        for (n, (index, count)) in buckets.iter().enumerate() {
            self.indices.push(i32::from(*index));
            self.counts.push(count.cast_signed());
            self.definition.push(2);
            self.repetition.push(i16::from(n > 0));
        }
    }
}

/// Texts of columns that have few: each is allocated once.
#[derive(Default)]
struct Texts(HashMap<String, ByteArray>);

impl Texts {
    fn get(&mut self, text: &str) -> ByteArray {
        match self.0.get(text) {
            Some(known) => known.clone(),
            None => {
                let new = ByteArray::from(text);
                self.0.insert(text.to_owned(), new.clone());
                new
            }
        }
    }
}

/// A row before it is one of columns.
struct Row<'a> {
    slot: i64,
    host: &'a str,
    kind: &'static str,
    gap_frames: Option<i64>,
    error_ns: Option<i64>,
    gpu: Option<&'a GpuFrame>,
    calls: [Option<&'a CallFrame>; 2],
}

/// The rows that are held, by column.
#[derive(Default)]
struct Rows {
    time: Vec<i64>,
    host: Vec<ByteArray>,
    row: Vec<ByteArray>,
    gap_frames: Held<i64>,
    error_ns: Held<i64>,
    gpu: Held<i32>,
    gpu_name: Held<ByteArray>,
    samples: Held<i32>,
    values: [Held<f64>; COLUMNS.len()],
    calls: [HeldCalls; 2],
}

/// Writes a session as Parquet, frame by frame; what it holds in memory does not grow with the session, beside some kilobytes for
/// each 131,072 rows.
pub struct SessionTable<W: Write + Send> {
    writer: SerializedFileWriter<W>,
    limits: Limits,
    interval_ms: u32,
    texts: Texts,
    rows: Rows,
}

impl<W: Write + Send> SessionTable<W> {
    /// A session with frames of this length. `session` goes into the metadata of the file, under `gtrace.session`.
    ///
    /// # Errors
    ///
    /// Those of `out`, here and in what follows.
    pub fn new(out: W, interval_ms: u32, session: String) -> io::Result<Self> {
        let schema = Arc::new(parse_message_type(&schema()).map_err(failed)?);
        let properties = WriterProperties::builder()
            .set_created_by(concat!("gtrace ", env!("CARGO_PKG_VERSION")).to_owned())
            .set_compression(Compression::ZSTD(ZstdLevel::default()))
            // Of pages they would be held until the end.
            .set_statistics_enabled(EnabledStatistics::Chunk)
            .set_offset_index_disabled(true)
            .set_key_value_metadata(Some(vec![KeyValue::new(SESSION_KEY.to_owned(), session)]))
            .build();
        let writer =
            SerializedFileWriter::new(out, schema, Arc::new(properties)).map_err(failed)?;
        Ok(Self {
            writer,
            limits: LIMITS,
            interval_ms,
            texts: Texts::default(),
            rows: Rows::default(),
        })
    }

    /// What a host measured in an interval.
    pub fn frame(&mut self, host: &str, frame: &HostFrame) -> io::Result<()> {
        let row = |kind, gpu, calls| Row {
            slot: frame.slot,
            host,
            kind,
            gap_frames: None,
            error_ns: Some(frame.error_ns),
            gpu,
            calls,
        };
        for gpu in &frame.gpus {
            self.push(&row("gpu", Some(gpu), [None; 2]))?;
        }
        let calls = frame.all_calls().map(|(_, calls)| calls);
        // A frame without anything is one too: the host was there.
        if calls.iter().any(Option::is_some) || frame.gpus.is_empty() {
            self.push(&row("host", None, calls))?;
        }
        Ok(())
    }

    /// Intervals in which a host measured nothing.
    pub fn gap(&mut self, host: &str, slots: &Range<i64>) -> io::Result<()> {
        self.push(&Row {
            slot: slots.start,
            host,
            kind: "gap",
            gap_frames: Some(slots.end - slots.start),
            error_ns: None,
            gpu: None,
            calls: [None; 2],
        })
    }

    /// Ends the file.
    pub fn finish(mut self) -> io::Result<W> {
        self.write_group()?;
        self.writer.into_inner().map_err(failed)
    }

    fn push(&mut self, row: &Row<'_>) -> io::Result<()> {
        let rows = &mut self.rows;
        // An interval has whole milliseconds.
        rows.time
            .push(slot_begin(row.slot, self.interval_ms) / 1000);
        rows.host.push(self.texts.get(row.host));
        rows.row.push(self.texts.get(row.kind));
        rows.gap_frames.push(row.gap_frames);
        rows.error_ns.push(row.error_ns);
        let gpu = row.gpu;
        rows.gpu.push(gpu.map(|gpu| gpu.index.cast_signed()));
        let name = gpu.map(|gpu| gpu.name.as_str());
        let name = name.filter(|name| !name.is_empty());
        rows.gpu_name.push(name.map(|name| self.texts.get(name)));
        rows.samples.push(gpu.map(|gpu| gpu.samples.cast_signed()));
        for (held, column) in rows.values.iter_mut().zip(COLUMNS) {
            held.push(gpu.and_then(column.get));
        }
        for (held, calls) in rows.calls.iter_mut().zip(row.calls) {
            held.push(calls);
        }
        let buckets: usize = rows.calls.iter().map(|of| of.buckets.counts.len()).sum();
        if rows.time.len() >= self.limits.rows || buckets >= self.limits.buckets {
            self.write_group()?;
        }
        Ok(())
    }

    /// Writes the rows that are held.
    fn write_group(&mut self) -> io::Result<()> {
        if !self.rows.time.is_empty() {
            self.columns().map_err(failed)?;
            self.rows = Rows::default();
        }
        Ok(())
    }

    /// Writes them column by column, in the order of the schema.
    fn columns(&mut self) -> Result<(), ParquetError> {
        let mut group = self.writer.next_row_group()?;
        let mut column = |write: &mut dyn FnMut(&mut SerializedColumnWriter<'_>) -> Written| {
            let next = group.next_column()?;
            let mut next =
                next.ok_or_else(|| ParquetError::General("the schema has too few columns".into()))?;
            write(&mut next)?;
            next.close()
        };
        column(&mut |c| {
            c.typed::<Int64Type>()
                .write_batch(&self.rows.time, None, None)
        })?;
        for texts in [&self.rows.host, &self.rows.row] {
            column(&mut |c| c.typed::<ByteArrayType>().write_batch(texts, None, None))?;
        }
        for held in [&self.rows.gap_frames, &self.rows.error_ns] {
            column(&mut |c| int64(c, held))?;
        }
        column(&mut |c| int32(c, &self.rows.gpu))?;
        let (names, present) = (&self.rows.gpu_name.values, &self.rows.gpu_name.present);
        column(&mut |c| {
            c.typed::<ByteArrayType>()
                .write_batch(names, Some(present), None)
        })?;
        column(&mut |c| int32(c, &self.rows.samples))?;
        for Held { values, present } in &self.rows.values {
            column(&mut |c| {
                c.typed::<DoubleType>()
                    .write_batch(values, Some(present), None)
            })?;
        }
        for HeldCalls { values, buckets } in &self.rows.calls {
            for held in values {
                column(&mut |c| int64(c, held))?;
            }
            let levels = (Some(&buckets.definition[..]), Some(&buckets.repetition[..]));
            column(&mut |c| {
                c.typed::<Int32Type>()
                    .write_batch(&buckets.indices, levels.0, levels.1)
            })?;
            column(&mut |c| {
                c.typed::<Int64Type>()
                    .write_batch(&buckets.counts, levels.0, levels.1)
            })?;
        }
        group.close().map(drop)
    }
}

type Written = Result<usize, ParquetError>;

fn int32(column: &mut SerializedColumnWriter<'_>, held: &Held<i32>) -> Written {
    let column = column.typed::<Int32Type>();
    column.write_batch(&held.values, Some(&held.present), None)
}

fn int64(column: &mut SerializedColumnWriter<'_>, held: &Held<i64>) -> Written {
    let column = column.typed::<Int64Type>();
    column.write_batch(&held.values, Some(&held.present), None)
}

/// What the output said, as it was: a closed pipe is no failure.
fn failed(error: ParquetError) -> io::Error {
    match error {
        ParquetError::External(cause) => match cause.downcast::<io::Error>() {
            Ok(of_output) => *of_output,
            Err(other) => io::Error::other(other),
        },
        other => io::Error::other(other),
    }
}

#[cfg(test)]
mod tests;
