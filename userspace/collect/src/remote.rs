//! Calls of remote programs, as `gtrace serve` of this host counts them.

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use gtrace_engine::remote;
use gtrace_profile::{Counts, Histogram, Key, Layer, Origin, Part, Process, Row};
use gtrace_server::ServerStatus;
use gtrace_server::stats::{OpStats, Times};

use crate::Collector;

/// A server of this host.
pub struct Server {
    socket: PathBuf,
    bare: bool,
}

impl Server {
    /// The one whose status socket is `socket`; by default the first that is found.
    pub fn new(socket: Option<&Path>) -> Self {
        Self {
            socket: socket.map_or_else(remote::to_ask, Path::to_path_buf),
            bare: false,
        }
    }

    fn ask(&self) -> anyhow::Result<ServerStatus> {
        ServerStatus::ask(&self.socket).with_context(|| {
            format!(
                "{}: is a `gtrace serve` running here, with this --status-socket, and may this user ask it? \
                 Of a program here, --stats-file has what `gtrace exec --stats-file` wrote",
                self.socket.display()
            )
        })
    }
}

impl Collector for Server {
    fn start(&mut self) -> anyhow::Result<()> {
        self.ask().map(drop)
    }

    fn read(&mut self) -> anyhow::Result<Vec<Row>> {
        let status = self.ask()?;
        let rows = rows(&status);
        self.bare |= rows
            .iter()
            .any(|row| row.counts.calls > 0 && row.counts.histogram.is_empty());
        Ok(rows)
    }

    fn notes(&self) -> Vec<String> {
        let note = "operations without percentiles: a server of another version, or a session with more \
                    operations than its reports have room for";
        self.bare.then(|| note.to_owned()).into_iter().collect()
    }
}

/// Rows of each session, under its worker process, and of the sessions that have ended.
fn rows(status: &ServerStatus) -> Vec<Row> {
    let mut rows = Vec::new();
    for session in &status.sessions {
        let Some(client) = &session.client else {
            continue;
        };
        let process = Process {
            host: status.host.clone(),
            pid: session.worker,
            comm: "gtrace serve".to_owned(),
            cgroup: None,
            origin: Some(Origin {
                host: client.host.clone(),
                pid: client.pid,
                program: client.program.clone(),
            }),
        };
        rows.extend(
            session
                .stats
                .ops
                .iter()
                .flat_map(|op| of_operation(&process, op)),
        );
    }
    let ended = Process {
        host: status.host.clone(),
        ..Process::default()
    }
    .ended();
    let ops = status.counters.ops.values();
    rows.extend(ops.flat_map(|op| of_operation(&ended, op)));
    rows
}

/// Time in the queue, and in the driver with what was moved and what failed.
fn of_operation(process: &Process, op: &OpStats) -> [Row; 2] {
    let row = |part, counts| Row {
        key: Key {
            process: process.clone(),
            layer: Layer::Remote,
            function: op.name.clone(),
            part,
            gpu: None,
        },
        counts,
    };
    let driver = Counts {
        errors: Some(op.errors),
        bytes: Some(op.bytes),
        ..counts(&op.driver)
    };
    [
        row(Part::Queue, counts(&op.queue)),
        row(Part::Driver, driver),
    ]
}

fn counts(times: &Times) -> Counts {
    let histogram = Histogram::from_buckets(&times.buckets, times.sum_ns, times.max_ns);
    let whole = histogram.ok().filter(|h| h.count() == times.count);
    Counts {
        calls: times.count,
        histogram: whole.unwrap_or_default(),
        ..Counts::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gtrace_server::stats::SessionStats;
    use gtrace_server::{Client, SessionStatus};

    fn times(buckets: Vec<(u16, u64)>) -> Times {
        Times {
            count: 3,
            sum_ns: 3_000,
            max_ns: 1_000,
            buckets,
            ..Times::default()
        }
    }

    #[test]
    fn a_session_is_rows_of_its_worker_and_names_its_client() {
        let op = OpStats {
            name: "cuMemAlloc_v2".into(),
            errors: 1,
            bytes: 64,
            queue: times(Vec::new()),
            driver: times(vec![(126, 3)]),
        };
        let mut status = ServerStatus {
            host: "gpu1".into(),
            sessions: vec![SessionStatus {
                worker: 99,
                client: Some(Client {
                    host: "laptop".into(),
                    pid: 7,
                    program: "python3".into(),
                    ..Client::default()
                }),
                stats: SessionStats {
                    ops: vec![op.clone()],
                    ..SessionStats::default()
                },
                ..SessionStatus::default()
            }],
            ..ServerStatus::default()
        };
        status.counters.ops.insert(op.name.clone(), op);
        let rows = rows(&status);
        let of = |pid, part| {
            let found = rows
                .iter()
                .find(|r| r.key.process.pid == pid && r.key.part == part);
            &found.unwrap().counts
        };
        let driver = of(99, Part::Driver);
        assert_eq!((driver.errors, driver.bytes), (Some(1), Some(64)));
        assert_eq!(driver.histogram.quantile(0.5), 1_000);
        // Without buckets there are calls and no percentiles.
        assert_eq!(of(99, Part::Queue).calls, 3);
        assert!(of(99, Part::Queue).histogram.is_empty());
        assert_eq!(of(0, Part::Driver).calls, 3);
        assert_eq!(rows[0].key.process.origin.as_ref().unwrap().pid, 7);
    }
}
