//! `gtrace fleet trace`: the calls of a process of a host, fetched through its agent.

use std::path::PathBuf;
use std::time::Duration;

use gtrace_api::client::{Client, encoded};
use gtrace_event::Timestamp;
use gtrace_fleet::TraceOrder;
use gtrace_head::TraceRequest;

use super::super::ack::user_name;
use super::super::duration::{seconds, whole_seconds};
use super::super::shared::{Exit, Failure};
use super::Asked;
use super::answer::{self, Wanted};

/// How long the host is waited for beyond the trace: to begin, to write it and to send it.
const PATIENCE: Duration = Duration::from_secs(250);

/// What is traced, and how much.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct Trace {
    /// The host's name in the fleet.
    host: String,
    /// The process, as the host numbers it. Without it the only one that has a GPU open; where there are several, they are named.
    #[arg(long, value_name = "PID")]
    pid: Option<u32>,
    /// How long at most (10, 30s, 1m); a minute is the most.
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = seconds)]
    duration: Duration,
    /// End with so many calls of the CUDA driver; 500000 is the most. Each call pays for a probe until then.
    #[arg(long, value_name = "CALLS", default_value_t = 100_000)]
    max_calls: u64,
    /// File to write, or - for standard output; by default gtrace-HOST-TIME.pftrace.gz.
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    asked: Asked,
}

pub(super) fn run(trace: Trace) -> anyhow::Result<Exit> {
    let order = TraceOrder {
        pid: trace.pid,
        seconds: whole_seconds(trace.duration),
        calls: trace.max_calls,
    };
    let client = trace.asked.client()?;
    order.check().map_err(Failure::usage)?;
    fetch(&client, &trace, order)?;
    Ok(Exit::Success)
}

fn fetch(client: &Client, trace: &Trace, order: TraceOrder) -> Result<(), Failure> {
    let host = &trace.host;
    let within = PATIENCE + trace.duration;
    let body = TraceRequest {
        by: user_name(),
        order,
    };
    let path = format!("/fleet/v1/hosts/{}/trace", encoded(host));
    let usual = || {
        let now = Timestamp::now().strftime("%Y%m%dT%H%M%SZ");
        format!("gtrace-{host}-{now}.pftrace.gz").into()
    };
    let wanted = Wanted {
        within,
        output: trace.output.clone().unwrap_or_else(usual),
        json: trace.asked.json,
    };
    answer::fetch(client, &path, &body, &wanted)
}
