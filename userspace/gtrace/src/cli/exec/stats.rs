//! What the processes of a program have counted, as a table.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use serde::Deserialize;

use crate::render::{bytes, clean, duration};

/// Rows of the table.
const ROWS: usize = 24;
/// Parts of a call's time, in their order.
const PARTS: [&str; 5] = ["client", "wire", "queue", "driver", "wake"];

/// A folder for the files of one program's processes; removed when dropped.
pub(super) struct Folder(tempfile::TempDir);

impl Folder {
    /// A new one.
    pub(super) fn new() -> std::io::Result<Self> {
        tempfile::Builder::new()
            .prefix("gtrace-stats-")
            .permissions(fs::Permissions::from_mode(0o700))
            .tempdir()
            .map(Self)
    }

    /// For `GTRACE_STATS`.
    pub(super) fn pattern(&self) -> OsString {
        self.0.path().join("%p.json").into_os_string()
    }

    /// A table for each process.
    pub(super) fn table(&self) -> String {
        let mut reports: Vec<Report> = fs::read_dir(self.0.path())
            .into_iter()
            .flatten()
            .filter_map(|entry| fs::read(entry.ok()?.path()).ok())
            .filter_map(|bytes| serde_json::from_slice(&bytes).ok())
            .collect();
        reports.sort_by_key(|report| report.pid);
        match reports.is_empty() {
            true => {
                "gtrace: no process of the program has used a GPU, or none came to its end\n".into()
            }
            false => reports.iter().map(Report::table).collect(),
        }
    }
}

#[derive(Deserialize)]
struct Report {
    program: String,
    pid: u32,
    server: String,
    server_host: String,
    link: String,
    fallbacks: Vec<String>,
    #[serde(default)]
    failovers: u64,
    /// Bytes.
    #[serde(default)]
    from_page_locked: u64,
    #[serde(default)]
    failbacks: u64,
    #[serde(default)]
    severed: u64,
    #[serde(default)]
    resumed: u64,
    #[serde(default)]
    lost: Option<String>,
    elapsed_ns: u64,
    totals: Totals,
    operations: Vec<Operation>,
}

#[derive(Deserialize)]
struct Totals {
    local: u64,
    one_way: u64,
    waiting: u64,
    bytes_out: u64,
    bytes_in: u64,
}

#[derive(Deserialize)]
struct Operation {
    name: String,
    one_way: u64,
    waiting: u64,
    bytes_out: u64,
    bytes_in: u64,
    parts: std::collections::HashMap<String, Times>,
}

#[derive(Deserialize)]
struct Times {
    sum_ns: u64,
    p50_ns: u64,
    p99_ns: u64,
}

impl Report {
    fn table(&self) -> String {
        let totals = &self.totals;
        let mut out = format!(
            "\n{} (pid {}) on {} ({}) over {}, {}\n{} calls answered here, {} sent and not awaited, {} \
             awaited; {} sent, {} received\n",
            clean(&self.program),
            self.pid,
            clean(&self.server),
            clean(&self.server_host),
            clean(&self.link),
            duration(self.elapsed_ns),
            totals.local,
            totals.one_way,
            totals.waiting,
            bytes(totals.bytes_out),
            bytes(totals.bytes_in),
        );
        for fallback in &self.fallbacks {
            let _ = writeln!(out, "not used: {}", clean(fallback));
        }
        if self.from_page_locked > 0 {
            let taken = bytes(self.from_page_locked);
            let _ = writeln!(
                out,
                "{taken} were taken from page-locked memory by the RDMA device"
            );
        }
        if self.failovers > 0 {
            let _ = writeln!(
                out,
                "RDMA was given up {} times while it was used, and taken again {} times",
                self.failovers, self.failbacks
            );
        }
        if self.severed > 0 {
            let _ = writeln!(
                out,
                "connections broke {} times, and others took their place {} times",
                self.severed, self.resumed
            );
        }
        if let Some(lost) = &self.lost {
            let _ = writeln!(out, "the GPU was lost: {}", clean(lost));
        }
        let _ = write!(
            out,
            "{:<34}{:>10}{:>10}{:>11}{:>11}{:>11}",
            "CALL", "ONE-WAY", "AWAITED", "SENT", "RECEIVED", "TIME"
        );
        for part in PARTS {
            let _ = write!(out, "{:>18}", format!("{} 50/99%", part.to_uppercase()));
        }
        out.push('\n');
        for operation in self.operations.iter().take(ROWS) {
            operation.row(&mut out);
        }
        if let Some(more) = self.operations.len().checked_sub(ROWS).filter(|n| *n > 0) {
            let _ = writeln!(out, "and {more} more");
        }
        out
    }
}

impl Operation {
    fn row(&self, out: &mut String) {
        let sum = self.parts.values().map(|times| times.sum_ns).sum();
        let _ = write!(
            out,
            "{:<34}{:>10}{:>10}{:>11}{:>11}{:>11}",
            clean(&self.name),
            self.one_way,
            self.waiting,
            bytes(self.bytes_out),
            bytes(self.bytes_in),
            duration(sum),
        );
        for part in PARTS {
            let cell = match self.parts.get(part) {
                Some(times) => format!("{} {}", duration(times.p50_ns), duration(times.p99_ns)),
                None => "-".into(),
            };
            let _ = write!(out, "{cell:>18}");
        }
        out.push('\n');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_becomes_a_table() {
        let json = r#"{"program":"vector-add","pid":7,"server":"h:7471","server_host":"h","link":"tcp",
            "fallbacks":["shm: another host"],"failovers":2,"failbacks":1,"from_page_locked":4096,"elapsed_ns":2000000,
            "totals":{"local":10,"one_way":3,"waiting":2,"bytes_out":4096,"bytes_in":8},
            "local":{"cuCtxGetDevice":10},
            "operations":[{"name":"cuMemAlloc_v2","one_way":0,"waiting":2,"bytes_out":16,"bytes_in":16,
              "parts":{"wire":{"count":2,"sum_ns":2000,"p50_ns":1000,"p99_ns":1000,"max_ns":1000}}}]}"#;
        let folder = Folder::new().unwrap();
        let path = folder.0.path().to_owned();
        fs::write(path.join("7.json"), json).unwrap();
        fs::write(path.join("8.json"), "half").unwrap();
        let table = folder.table();
        assert!(table.contains("vector-add (pid 7)") && table.contains("cuMemAlloc_v2"));
        assert!(table.contains("4.0 KiB were taken from page-locked memory"));
        assert!(table.contains("given up 2 times") && table.contains("again 1 times"));
        assert!(table.contains("shm: another host") && table.contains("4.0 KiB"));
        // One that was killed may have had the same number.
        Folder::new().unwrap();
        drop(folder);
        assert!(!path.exists());
    }

    #[test]
    fn sizes_have_units() {
        assert_eq!(
            [0, 1023, 1024, 3 << 20].map(bytes),
            ["0 B", "1023 B", "1.0 KiB", "3.0 MiB"]
        );
    }
}
