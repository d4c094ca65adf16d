use std::path::{Path, PathBuf};
use std::process::Command;

use bytes::Bytes;
use gtrace_fleet::{CallFrame, GpuFrame};
use parquet::file::reader::{FileReader as _, SerializedFileReader};
use parquet::record::Field;
use serde_json::{Value, json};

use super::*;

const INTERVAL_MS: u32 = 200;
const LIMITS_HERE: Limits = Limits {
    rows: 1000,
    buckets: 200,
};

/// A session in which every value is there and is not, of many row groups.
fn session() -> Vec<(String, Result<HostFrame, Range<i64>>)> {
    let first = 1_800_000_000_000 / i64::from(INTERVAL_MS);
    let mut all = vec![("gpu-2".to_owned(), Err(first..first + 7))];
    for n in 0..900_i64 {
        let mut frame = HostFrame {
            slot: first + n / 3,
            error_ns: 1000 + n,
            ..HostFrame::default()
        };
        for index in 0..7 {
            let mut gpu = GpuFrame {
                index,
                name: format!("GPU \"{}\", ä", index % 2),
                samples: 2,
                ..GpuFrame::default()
            };
            for (of, column) in COLUMNS.iter().enumerate() {
                // Zeros are values too.
                let value = (n * 7 + i64::from(index) + of as i64) % 11;
                *(column.place)(&mut gpu) = (value != 5).then_some(value as f64 / 3.0);
            }
            frame.gpus.push(gpu);
        }
        if n % 10 == 0 {
            let calls = |n: i64| CallFrame {
                count: 30 + n as u64,
                p50_ns: 1,
                p90_ns: 2,
                p99_ns: 3,
                max_ns: u64::MAX,
                sum_ns: 5,
                span_ms: 2000,
                buckets: (0..(n % 40) as u16).map(|b| (b * 50, 9)).collect(),
            };
            frame.calls = (n % 30 != 0).then(|| calls(n));
            frame.cuda_calls = (n % 20 != 0).then(|| calls(n + 3));
        }
        if n % 50 == 1 {
            frame.gpus.clear();
        }
        if n % 50 == 2 {
            frame.gpus.truncate(1);
            frame.gpus[0].index = u32::MAX;
            frame.gpus[0].name.clear();
        }
        all.push((format!("gpu-{}", n % 3), Ok(frame)));
    }
    all.push(("gpu-1".to_owned(), Err(first + 400..first + 401)));
    all
}

fn table(frames: &[(String, Result<HostFrame, Range<i64>>)]) -> Vec<u8> {
    let mut table = SessionTable::new(Vec::new(), INTERVAL_MS, "{\"id\":4}".to_owned()).unwrap();
    table.limits = LIMITS_HERE;
    for (host, frame) in frames {
        match frame {
            Ok(frame) => table.frame(host, frame).unwrap(),
            Err(gap) => table.gap(host, gap).unwrap(),
        }
    }
    table.finish().unwrap()
}

/// The rows that there have to be, made from the JSON of frames: values that are null are left out.
fn expected(frames: &[(String, Result<HostFrame, Range<i64>>)]) -> Vec<Value> {
    let us = |slot: i64| slot * i64::from(INTERVAL_MS) * 1000;
    let mut rows = Vec::new();
    for (host, frame) in frames {
        let frame = match frame {
            Ok(frame) => serde_json::to_value(frame).unwrap(),
            Err(gap) => {
                let missing = gap.end - gap.start;
                rows.push(
                    json!({"time": us(gap.start), "host": host, "row": "gap", "gap_frames": missing}),
                );
                continue;
            }
        };
        let time = us(frame["slot"].as_i64().unwrap());
        let of = |kind: &str| json!({"time": time, "host": host, "row": kind, "error_ns": frame["error_ns"]});
        let none = Vec::new();
        let gpus = frame["gpus"].as_array().unwrap_or(&none);
        for gpu in gpus {
            let mut row = of("gpu");
            for (name, value) in gpu.as_object().unwrap() {
                let column = COLUMNS.iter().find(|column| column.name == name);
                let name = match name.as_str() {
                    "index" => "gpu".to_owned(),
                    "name" => "gpu_name".to_owned(),
                    other => column.map_or(other.to_owned(), column_name),
                };
                row[name] = value.clone();
            }
            rows.push(row);
        }
        let kinds = ["calls", "cuda_calls"];
        if kinds.iter().any(|kind| frame[kind].is_object()) || gpus.is_empty() {
            let mut row = of("host");
            for kind in kinds {
                let Some(calls) = frame[kind].as_object() else {
                    continue;
                };
                row[format!("{kind}_buckets")] = json!([]);
                for (name, value) in calls {
                    match name.as_str() {
                        "count" => row[kind] = value.clone(),
                        other => row[format!("{kind}_{other}")] = value.clone(),
                    }
                }
            }
            rows.push(row);
        }
    }
    rows
}

fn value(field: &Field) -> Value {
    match field {
        Field::Null => Value::Null,
        Field::UShort(n) => json!(n),
        Field::UInt(n) => json!(n),
        Field::Long(n) | Field::TimestampMicros(n) => json!(n),
        Field::ULong(n) => json!(n),
        Field::Double(n) => json!(n),
        Field::Str(text) => json!(text),
        Field::ListInternal(list) => list.elements().iter().map(value).collect(),
        Field::Group(row) => row
            .get_column_iter()
            .map(|(_, field)| value(field))
            .collect(),
        other => panic!("a field of another type: {other:?}"),
    }
}

#[test]
fn a_table_has_what_the_json_has() {
    let frames = session();
    let bytes = table(&frames);
    let wanted = expected(&frames);
    let reader = SerializedFileReader::new(Bytes::from(bytes.clone())).unwrap();
    let metadata = reader.metadata();
    let rows: Vec<i64> = metadata
        .row_groups()
        .iter()
        .map(|group| group.num_rows())
        .collect();
    assert!(
        rows.iter().all(|rows| (1..=1000).contains(rows)),
        "{rows:?}"
    );
    assert!(
        rows.iter().rev().skip(1).any(|rows| *rows < 1000),
        "too many buckets end one: {rows:?}"
    );
    let pairs = metadata.file_metadata().key_value_metadata().unwrap();
    let session = pairs.iter().find(|pair| pair.key == SESSION_KEY).unwrap();
    assert_eq!(session.value.as_deref(), Some("{\"id\":4}"));
    let found: Vec<Value> = reader
        .get_row_iter(None)
        .unwrap()
        .map(|row| {
            let row = row.unwrap();
            let fields = row
                .get_column_iter()
                .map(|(name, field)| (name.clone(), value(field)));
            fields.filter(|(_, value)| !value.is_null()).collect()
        })
        .collect();
    same(&found, &wanted);
    another_reader(&bytes, &wanted);
}

fn same(found: &[Value], wanted: &[Value]) {
    for (n, (found, wanted)) in found.iter().zip(wanted).enumerate() {
        assert_eq!(found, wanted, "row {n}");
    }
    assert_eq!(found.len(), wanted.len());
}

/// What DuckDB reads, which shares no code with what wrote it: types first, then rows.
fn another_reader(bytes: &[u8], wanted: &[Value]) {
    let named = std::env::var_os("GTRACE_E2E_PYTHON").map(PathBuf::from);
    // target/debug/deps/gtrace_timeline-...
    let test = std::env::current_exe().unwrap();
    let folder = named.unwrap_or_else(|| test.ancestors().nth(3).unwrap().join("e2e-python"));
    let python = folder.join("bin/python3");
    if !has_duckdb(&python) {
        println!(
            "SKIPPED: no Python environment with duckdb at {}: cargo xtask test makes it from PyPI",
            folder.display()
        );
        return;
    }
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), bytes).unwrap();
    let script = "\
import duckdb, json, sys
rows = duckdb.read_parquet(sys.argv[1])
print(json.dumps([[name, str(kind)] for name, kind in zip(rows.columns, rows.types)]))
rows = rows.project('* REPLACE (epoch_us(time) AS time)')
for row in rows.fetchall():
    row = {name: value for name, value in zip(rows.columns, row) if value is not None}
    for name in ('calls_buckets', 'cuda_calls_buckets'):
        if name in row:
            row[name] = [[b['index'], b['count']] for b in row[name]]
    print(json.dumps(row))
";
    let output = Command::new(python)
        .args(["-c", script])
        .arg(file.path())
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let text = String::from_utf8(output.stdout).unwrap();
    let mut lines = text
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    let types: Vec<(String, String)> = serde_json::from_value(lines.next().unwrap()).unwrap();
    let kind = |name: &str| {
        types
            .iter()
            .find(|(of, _)| of == name)
            .map(|(_, kind)| kind.as_str())
    };
    for (name, wanted) in [
        ("time", "TIMESTAMP WITH TIME ZONE"),
        ("host", "VARCHAR"),
        ("gap_frames", "BIGINT"),
        ("gpu", "UINTEGER"),
        ("memory_used_bytes", "DOUBLE"),
        ("pcie_rx_bytes_per_s", "DOUBLE"),
        ("nvlink_tx_bytes_per_s", "DOUBLE"),
        ("calls_max_ns", "UBIGINT"),
        ("cuda_calls", "UBIGINT"),
    ] {
        assert_eq!(kind(name), Some(wanted), "{name}");
    }
    same(&lines.collect::<Vec<_>>(), wanted);
}

fn has_duckdb(python: &Path) -> bool {
    let check = Command::new(python).args(["-c", "import duckdb"]).output();
    check.is_ok_and(|output| output.status.success())
}
