//! Driver calls, as the daemon counts them.

use anyhow::Context as _;
use gtrace_profile::{Counts, Histogram, Key, Layer, Part, Process, Row};

use super::calls::blind;
use super::collect::Collector;
use crate::cli::shared::Place;
use crate::client::Client;
use crate::host;
use crate::hub::{CallStats, SourceStatus};

/// The daemon.
pub(super) struct Daemon {
    client: Client,
    host: String,
    notes: Vec<String>,
}

impl Daemon {
    /// The one at `place`.
    pub(super) fn new(place: &Place) -> Self {
        Self {
            client: place.reading_client(),
            host: host::name(),
            notes: Vec::new(),
        }
    }
}

impl Collector for Daemon {
    fn start(&mut self) -> anyhow::Result<()> {
        let sources: Vec<SourceStatus> = self.client.get("/api/v1/sources")?;
        if let Some(reason) = blind(&sources) {
            self.notes.push(format!("no driver call is seen: {reason}"));
        }
        Ok(())
    }

    fn read(&mut self) -> anyhow::Result<Vec<Row>> {
        let calls: Vec<CallStats> = self
            .client
            .get("/api/v1/histograms?buckets=true")
            .context("a daemon of another version has to be started anew")?;
        calls.iter().map(|call| row(call, &self.host)).collect()
    }

    fn notes(&self) -> Vec<String> {
        self.notes.clone()
    }
}

fn row(call: &CallStats, host: &str) -> anyhow::Result<Row> {
    let histogram = Histogram::from_buckets(&call.buckets, call.total_ns, call.max_ns)
        .with_context(|| format!("the daemon's histogram of {}", call.label()))?;
    let statuses = call.statuses.iter().map(|failure| {
        let name = failure.name.as_ref().unwrap_or(&failure.status);
        (name.clone(), failure.count)
    });
    let function = match &call.code_name {
        Some(name) => name.clone(),
        None => call.label(),
    };
    Ok(Row {
        key: Key {
            process: Process {
                host: host.to_owned(),
                pid: call.pid,
                comm: call.comm.clone(),
                ..Process::default()
            },
            layer: Layer::Driver,
            function,
            part: Part::Whole,
            gpu: call.gpu.map(|gpu| gpu.to_string()),
        },
        counts: Counts {
            calls: call.count,
            errors: Some(call.errors + call.failures),
            statuses: statuses.collect(),
            bytes: None,
            histogram,
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hub::CallFailures;

    #[test]
    fn a_row_keeps_buckets_and_failures() {
        let call = CallStats {
            pid: 7,
            comm: "python3".into(),
            op: Some("RM_CONTROL".into()),
            code: Some("0x20800102".into()),
            code_name: Some("NV2080_CTRL_CMD_GPU_GET_INFO_V2".into()),
            count: 5,
            errors: 1,
            failures: 2,
            statuses: vec![CallFailures {
                status: "0x51".into(),
                name: None,
                count: 2,
            }],
            total_ns: 5_000,
            max_ns: 1_000,
            buckets: vec![(126, 5)],
            ..CallStats::default()
        };
        let row = row(&call, "h").unwrap();
        assert_eq!(row.key.function, "NV2080_CTRL_CMD_GPU_GET_INFO_V2");
        assert_eq!(row.counts.histogram.quantile(0.99), 1_000);
        assert_eq!(
            (row.counts.errors, row.counts.statuses["0x51"]),
            (Some(3), 2)
        );
        let wrong = CallStats {
            buckets: vec![(896, 5)],
            ..call
        };
        assert!(super::row(&wrong, "h").is_err());
    }
}
