//! Driver calls, as the daemon counts them.

use anyhow::{Context as _, bail};
use gtrace_api::client::Client;
use gtrace_api::text::clean;
use gtrace_api::{CallStats, CudaCalls, CudaReport, CudaState, SourceState, SourceStatus};
use gtrace_engine::host;
use gtrace_event::WitnessName;
use gtrace_profile::{Counts, Histogram, Key, Layer, Part, Process, Row};

use crate::Collector;

/// The sources of driver calls.
const SOURCES: [WitnessName; 2] = [WitnessName::DriverIoctl, WitnessName::SyscallIoctl];

/// The daemon.
pub struct Daemon {
    client: Client,
    host: String,
    notes: Vec<String>,
}

impl Daemon {
    /// The one that `client` asks.
    pub fn new(client: Client) -> Self {
        Self {
            client,
            host: host::name(),
            notes: Vec::new(),
        }
    }

    /// CUDA calls that were timed so far.
    ///
    /// # Errors
    ///
    /// That nobody counts them: why, and the remedy.
    pub fn read_cuda(&mut self) -> anyhow::Result<Vec<Row>> {
        let report: CudaReport = self.client.get("/api/v1/cuda?buckets=true")?;
        let reason = report.reason.as_deref().map(clean).unwrap_or_default();
        match report.state {
            CudaState::Active => report
                .calls
                .iter()
                .map(|calls| cuda_row(calls, &self.host))
                .collect(),
            CudaState::Off => {
                bail!("CUDA calls are not counted on this host: start its daemon with --cuda-api")
            }
            CudaState::Paused => bail!("CUDA calls are not counted while the daemon is paused"),
            CudaState::Failed => bail!("CUDA calls cannot be counted: {reason}"),
        }
    }
}

impl Collector for Daemon {
    fn start(&mut self) -> anyhow::Result<()> {
        let sources: Vec<SourceStatus> = self.client.get("/api/v1/sources")?;
        if let Some(reason) = inactive_reason(&sources) {
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

/// Why no source sees driver calls now; `None` where one does.
pub fn inactive_reason(sources: &[SourceStatus]) -> Option<String> {
    let of_calls = |source: &&SourceStatus| source.witness.is_some_and(|w| SOURCES.contains(&w));
    let mut reasons = Vec::new();
    for source in sources.iter().filter(of_calls) {
        let state = match source.state {
            SourceState::Active | SourceState::Degraded => return None,
            other => other.name(),
        };
        let why = source.reason.as_deref();
        let why = why.unwrap_or("switched off by configuration");
        let mut text = format!("{} is {state} ({})", clean(&source.name), clean(why));
        if let Some(remedy) = &source.remedy {
            text.push_str(&format!(", {}", clean(remedy)));
        }
        reasons.push(text);
    }
    Some(match reasons.is_empty() {
        true => "the daemon has no source of driver calls".to_owned(),
        false => reasons.join("; "),
    })
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

/// A process goes by its number alone: exec(2) changes its name, and its counts go on.
fn cuda_row(calls: &CudaCalls, host: &str) -> anyhow::Result<Row> {
    let nobody = Process {
        host: host.to_owned(),
        ..Process::default()
    };
    let process = match calls.pid {
        Some(pid) => Process { pid, ..nobody },
        None => nobody.ended(),
    };
    let histogram = Histogram::from_buckets(&calls.buckets, calls.total_ns, calls.max_ns)
        .with_context(|| format!("the daemon's histogram of {}", calls.function))?;
    Ok(Row {
        key: Key {
            process,
            layer: Layer::Api,
            function: calls.function.clone(),
            part: Part::Whole,
            gpu: None,
        },
        counts: Counts {
            calls: calls.calls,
            errors: Some(calls.errors),
            statuses: calls.results.clone(),
            bytes: Some(calls.bytes),
            histogram,
        },
    })
}

#[cfg(test)]
mod tests {
    use gtrace_api::CallFailures;

    use super::*;

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

    fn source(witness: WitnessName, state: SourceState, reason: Option<&str>) -> SourceStatus {
        SourceStatus {
            name: witness.name().to_owned(),
            witness: Some(witness),
            state,
            reason: reason.map(str::to_owned),
            ..SourceStatus::default()
        }
    }

    #[test]
    fn why_nothing_is_seen_is_said_and_only_where_no_source_sees_calls() {
        let sources = |driver, syscalls| {
            vec![
                source(WitnessName::Kmsg, SourceState::Active, None),
                source(WitnessName::SyscallIoctl, syscalls, Some("paused")),
                source(WitnessName::DriverIoctl, driver, Some("no kprobes")),
            ]
        };
        for (driver, syscalls) in [
            (SourceState::Active, SourceState::Off),
            (SourceState::Absent, SourceState::Active),
            (SourceState::Degraded, SourceState::Failed),
        ] {
            assert_eq!(inactive_reason(&sources(driver, syscalls)), None);
        }
        let text = inactive_reason(&sources(SourceState::Failed, SourceState::Off)).unwrap();
        assert_eq!(
            text,
            "syscalls:ioctl is off (paused); driver:ioctl is failed (no kprobes)"
        );
        let off = [source(WitnessName::DriverIoctl, SourceState::Off, None)];
        assert!(inactive_reason(&off).unwrap().contains("configuration"));
        assert!(inactive_reason(&[]).is_some());
    }
}
