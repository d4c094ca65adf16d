//! Calls on a GPU of another machine, as a program's own library counted them: what
//! `gtrace exec --stats-file` writes.

use std::collections::HashMap;
use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use gtrace_profile::{Counts, Histogram, Key, Layer, Part, Process, Row};
use serde::Deserialize;

use crate::Collector;

/// Longest file that is read, bytes.
const BYTES_MAX: u64 = 64 << 20;

/// Files of statistics.
pub struct Files(Vec<PathBuf>);

impl Files {
    /// Of these paths.
    pub fn new(paths: &[PathBuf]) -> Self {
        Self(paths.to_vec())
    }
}

impl Collector for Files {
    fn start(&mut self) -> anyhow::Result<()> {
        Ok(())
    }

    fn read(&mut self) -> anyhow::Result<Vec<Row>> {
        let mut rows = Vec::new();
        for path in &self.0 {
            let read = File::open(path).map_err(anyhow::Error::from).and_then(read);
            rows.extend(read.with_context(|| path.display().to_string())?);
        }
        Ok(rows)
    }
}

#[derive(Deserialize)]
struct Report {
    program: String,
    pid: u32,
    operations: Vec<Operation>,
}

#[derive(Deserialize)]
struct Operation {
    name: String,
    bytes_out: u64,
    bytes_in: u64,
    parts: HashMap<String, Times>,
}

#[derive(Deserialize)]
struct Times {
    count: u64,
    sum_ns: u64,
    max_ns: u64,
    #[serde(default)]
    buckets: Vec<(u16, u64)>,
}

/// The rows of a file.
///
/// # Errors
///
/// For what is no such file, is longer than 64 MiB, or has no buckets.
pub fn read(mut file: File) -> anyhow::Result<Vec<Row>> {
    file.seek(SeekFrom::Start(0))?;
    let mut bytes = Vec::new();
    file.take(BYTES_MAX + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > BYTES_MAX {
        bail!("longer than 64 MiB");
    }
    rows(&bytes)
}

fn rows(bytes: &[u8]) -> anyhow::Result<Vec<Row>> {
    let report: Report =
        serde_json::from_slice(bytes).context("no statistics of `gtrace exec --stats-file`")?;
    let process = Process {
        pid: report.pid,
        comm: report.program.clone(),
        ..Process::default()
    };
    let mut rows = Vec::new();
    for operation in report.operations {
        // What was sent and received belongs to the wire; what is not awaited has no part there.
        let mut bytes = Some(operation.bytes_out.saturating_add(operation.bytes_in));
        for part in [
            Part::Wire,
            Part::Client,
            Part::Queue,
            Part::Driver,
            Part::Wake,
        ] {
            let Some(times) = operation.parts.get(part.name()) else {
                continue;
            };
            let histogram = Histogram::from_buckets(&times.buckets, times.sum_ns, times.max_ns)
                .with_context(|| operation.name.clone())?;
            if histogram.count() != times.count {
                bail!(
                    "{} has no buckets: it was written by a gtrace of another version",
                    operation.name
                );
            }
            rows.push(Row {
                key: Key {
                    process: process.clone(),
                    layer: Layer::Remote,
                    function: operation.name.clone(),
                    part,
                    gpu: None,
                },
                counts: Counts {
                    bytes: bytes.take(),
                    ..Counts::timed(histogram)
                },
            });
        }
    }
    Ok(rows)
}

/// Whether this is such a file, judged by its first bytes.
pub fn is(path: &Path) -> bool {
    #[derive(Deserialize)]
    struct Head {
        #[serde(rename = "operations")]
        _operations: serde::de::IgnoredAny,
        #[serde(rename = "program")]
        _program: serde::de::IgnoredAny,
    }
    let mut bytes = Vec::new();
    let read = File::open(path).and_then(|file| file.take(BYTES_MAX).read_to_end(&mut bytes));
    read.is_ok() && serde_json::from_slice::<Head>(&bytes).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = r#"{"program":"vector-add","pid":7,"server":"h:7471","operations":[
        {"name":"cuMemAlloc_v2","one_way":0,"waiting":5,"bytes_out":16,"bytes_in":24,"parts":{
          "client":{"count":5,"sum_ns":500,"p50_ns":100,"p99_ns":100,"max_ns":100,"buckets":[[20,5]]},
          "wire":{"count":5,"sum_ns":5000,"p50_ns":1000,"p99_ns":1000,"max_ns":1000,"buckets":[[126,5]]}}}]}"#;

    #[test]
    fn parts_are_rows_and_bytes_are_counted_once() {
        let rows = rows(FILE.as_bytes()).unwrap();
        let parts: Vec<_> = rows
            .iter()
            .map(|row| (row.key.part, row.counts.calls, row.counts.bytes))
            .collect();
        assert_eq!(parts, [(Part::Wire, 5, Some(40)), (Part::Client, 5, None)]);
        assert_eq!(rows[0].counts.histogram.max_ns(), 1000);
    }

    #[test]
    fn what_has_no_buckets_is_refused() {
        let old = FILE.replace(",\"buckets\":[[126,5]]", "");
        let error = rows(old.as_bytes()).unwrap_err().to_string();
        assert!(error.contains("another version"), "{error}");
        assert!(rows(b"[]").is_err());
        assert!(rows(FILE.replace("[[126,5]]", "[[999,5]]").as_bytes()).is_err());
    }
}
