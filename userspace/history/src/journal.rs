//! The journal: samples as they come, until a block is made of them.

use std::collections::HashMap;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

use crate::bytes::{Cursor, put_varint, put_zigzag};
use crate::error::{HistoryError, Malformed};
use crate::frame::{HEADER, Header, ReadAt, put_frame, scan};
use crate::series::SeriesKey;
use crate::value::{Kind, Point, Value};

pub(crate) const NAME: &str = "journal";
const NEW: &str = "journal.new";

/// What a journal has.
#[derive(Debug, Default)]
pub(crate) struct Contents {
    pub(crate) generation: u64,
    /// Series in the order of their numbers, with their samples as they came.
    pub(crate) series: Vec<(SeriesKey, Vec<Point>)>,
    /// Where the last frame ends that can be read.
    pub(crate) end: u64,
    /// Whether something follows.
    pub(crate) torn: bool,
    /// Time of the first frame, ms.
    pub(crate) first_ms: Option<i64>,
}

/// Reads a journal; `None` where there is none, or no whole header.
pub(crate) fn read(from: &impl ReadAt) -> io::Result<Option<Contents>> {
    let Some(header) = Header::read(from)?.filter(|header| header.resolution_ms == 0) else {
        return Ok(None);
    };
    let frames = scan(from)?;
    let mut contents = Contents {
        generation: header.generation,
        end: HEADER,
        ..Contents::default()
    };
    for frame in frames.frames {
        // Numbers of series depend on every frame before, so reading ends with the first that is damaged.
        let Ok(Some(body)) = frame.body(from) else {
            break;
        };
        let known = contents.series.len();
        if contents.take_row(&body).is_err() {
            contents.series.truncate(known);
            break;
        }
        contents.end = frame.end();
    }
    contents.torn = contents.end < from.length()?;
    Ok(Some(contents))
}

impl Contents {
    fn take_row(&mut self, body: &[u8]) -> Result<(), Malformed> {
        let mut from = Cursor(body);
        let definitions = from.count()?;
        for _ in 0..definitions {
            self.series.push((SeriesKey::take(&mut from)?, Vec::new()));
        }
        let time_ms = from.zigzag()?;
        let count = from.count()?;
        let mut row = Vec::with_capacity(count);
        for _ in 0..count {
            let id = usize::try_from(from.varint()?).map_err(|_| Malformed::Range)?;
            let (key, _) = self.series.get(id).ok_or(Malformed::Undefined)?;
            row.push((id, take_value(&mut from, key.kind)?));
        }
        from.end()?;
        for (id, value) in row {
            if let Some((_, points)) = self.series.get_mut(id) {
                points.push(Point { time_ms, value });
            }
        }
        self.first_ms.get_or_insert(time_ms);
        Ok(())
    }
}

fn take_value(from: &mut Cursor<'_>, kind: Kind) -> Result<Value, Malformed> {
    Ok(match kind {
        Kind::Gauge => Value::gauge(f64::from_bits(from.u64()?)),
        Kind::Counter => Value::Counter(f64::from_bits(from.u64()?)),
        Kind::Histogram => Value::Histogram(from.histogram()?),
    })
}

/// A journal that is written.
#[derive(Debug)]
pub(crate) struct Journal {
    file: File,
    generation: u64,
    pub(crate) length: u64,
    numbers: HashMap<SeriesKey, u32>,
    /// Time of its first samples, ms.
    pub(crate) first_ms: Option<i64>,
}

/// Samples that the journal has no room for.
#[derive(Debug, Default)]
pub(crate) struct Refused {
    /// Samples of more series than there may be.
    pub(crate) series: u64,
}

impl Journal {
    /// Puts an empty journal in the place of the one that there is.
    pub(crate) fn create(dir: &Path, generation: u64) -> Result<Self, HistoryError> {
        let (new, path) = (dir.join(NEW), dir.join(NAME));
        let header = Header {
            resolution_ms: 0,
            generation,
        };
        fs::write(&new, header.bytes()).map_err(HistoryError::at(&new))?;
        fs::rename(&new, &path).map_err(HistoryError::at(&path))?;
        Self::reopen(
            dir,
            &Contents {
                generation,
                end: HEADER,
                ..Contents::default()
            },
        )
    }

    /// Goes on with one that was read, behind what could be read of it.
    pub(crate) fn reopen(dir: &Path, contents: &Contents) -> Result<Self, HistoryError> {
        let path = dir.join(NAME);
        let open = || {
            let file = OpenOptions::new().read(true).write(true).open(&path)?;
            file.set_len(contents.end)?;
            Ok(file)
        };
        let keys = contents.series.iter().map(|(key, _)| key.clone());
        Ok(Self {
            file: open().map_err(HistoryError::at(&path))?,
            generation: contents.generation,
            length: contents.end,
            numbers: keys.zip(0..).collect(),
            first_ms: contents.first_ms,
        })
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.length <= HEADER
    }

    /// Series in it.
    pub(crate) fn series(&self) -> usize {
        self.numbers.len()
    }

    /// Blocks of this generation are there: what is in the journal came later.
    pub(crate) fn come_after(&mut self, generation: u64) {
        self.generation = self.generation.max(generation + 1);
    }

    /// All of it that can be read; nothing, and torn, where somebody has emptied the file.
    pub(crate) fn contents(&self) -> io::Result<Contents> {
        let contents = read(&self.file)?.unwrap_or_else(|| Contents {
            torn: true,
            ..Contents::default()
        });
        // Not what the file says: by a lower generation readers would pass over the blocks that there are.
        Ok(Contents {
            generation: self.generation,
            ..contents
        })
    }

    /// Appends samples of one time, of at most `most` series in all. If that fails nothing is appended.
    pub(crate) fn append(
        &mut self,
        time_ms: i64,
        samples: impl Iterator<Item = (SeriesKey, Value)>,
        most: usize,
    ) -> io::Result<Refused> {
        let mut refused = Refused::default();
        let (mut definitions, mut values) = (Vec::new(), Vec::new());
        let (mut added, mut count) = (Vec::new(), 0);
        for (key, value) in samples {
            let number = match self.numbers.get(&key) {
                Some(number) => *number,
                None if self.numbers.len() >= most => {
                    refused.series += 1;
                    continue;
                }
                None => {
                    let number = u32::try_from(self.numbers.len()).unwrap_or(u32::MAX);
                    key.put(&mut definitions);
                    self.numbers.insert(key.clone(), number);
                    added.push(key);
                    number
                }
            };
            put_varint(&mut values, u64::from(number));
            put_value(&mut values, &value);
            count += 1;
        }
        if count == 0 {
            return Ok(refused);
        }
        let mut body = Vec::with_capacity(definitions.len() + values.len() + 16);
        put_varint(&mut body, added.len() as u64);
        body.extend(definitions);
        put_zigzag(&mut body, time_ms);
        put_varint(&mut body, count);
        body.extend(values);
        if let Err(error) = self.write(&body) {
            for key in added {
                self.numbers.remove(&key);
            }
            return Err(error);
        }
        self.first_ms.get_or_insert(time_ms);
        Ok(refused)
    }

    fn write(&mut self, body: &[u8]) -> io::Result<()> {
        let mut frame = Vec::with_capacity(body.len() + 8);
        put_frame(&mut frame, body).map_err(io::Error::other)?;
        let written = self.file.write_all_at(&frame, self.length);
        if let Err(error) = written {
            // A part may have been written; where this fails too, the next frame overwrites it.
            let _ = self.file.set_len(self.length);
            return Err(error);
        }
        self.length += frame.len() as u64;
        Ok(())
    }
}

fn put_value(out: &mut Vec<u8>, value: &Value) {
    match value {
        Value::Gauge(gauge) => out.extend(gauge.last.to_bits().to_le_bytes()),
        Value::Counter(value) => out.extend(value.to_bits().to_le_bytes()),
        Value::Histogram(histogram) => histogram.pack(out),
    }
}
