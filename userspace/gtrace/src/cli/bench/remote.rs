//! `gtrace bench remote`: where the time of a CUDA call on a remote GPU goes.

use std::io::IsTerminal as _;
use std::process::ExitCode;

use anyhow::Context as _;
use gtrace_link::{Address, LinkError, LinkKind};
use gtrace_measure::raw::{self, Kind};
use gtrace_measure::{Distribution, Echo, Outcome, Paced, Step};

use super::args::Args;
use super::child::Children;
use super::links::{self, Way};
use super::server::OwnServer;
use crate::cli::shared::{self, Failure};
use gtrace_measure::remote::output::{self, Profiles};
use gtrace_measure::remote::report::{
    Client, FORM, Link, Machine, Measurement, Raw, Report, Schedule, Server, Times,
};
use gtrace_measure::remote::{Extent, recorded, text};

/// From so many bytes on a copy is compared with a raw stream, below with an echo.
const STREAM_FROM: u64 = 1 << 20;

/// Runs the command.
///
/// # Errors
///
/// What keeps something from being measured.
pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let (steps, recorded) = match args.replay.as_deref().map(recorded::read) {
        None => (Vec::new(), None),
        Some(Ok((steps, recorded))) => (steps, Some(recorded)),
        Some(Err(error)) => return Err(Failure::usage(format!("{error:#}")).into()),
    };
    let own = match args.remote {
        Some(_) => None,
        None => Some(OwnServer::start()?),
    };
    let ways = links::find(args, own.as_ref()).map_err(|error| match error {
        LinkError::Usage(_) => Failure::usage(error),
        _ => Failure::not_possible(error),
    })?;
    let mut bench = Bench {
        extent: Extent::new(args.short, args.full, args.rate),
        steps,
        progress: std::io::stderr().is_terminal(),
        profiles: Profiles::default(),
        server: Server {
            address: match (&args.remote, &own) {
                (Some(remote), _) => remote.clone(),
                (None, _) => "this machine, started for this".into(),
            },
            started_here: own.is_some(),
            ..Server::default()
        },
        folder: tempfile::tempdir().context("no folder for statistics")?,
    };
    let time = jiff::Timestamp::now();
    let mut found = Vec::new();
    for way in &ways.ways {
        found.push(bench.link(way)?);
    }
    bench.say("");
    let report = Report {
        form: FORM.into(),
        version: env!("CARGO_PKG_VERSION").into(),
        time,
        client: client(),
        server: bench.server,
        schedule: Schedule {
            kind: "open".into(),
            rate_per_s: args.rate,
            correction: "HdrHistogram recordValueWithExpectedInterval, by the schedule's interval"
                .into(),
        },
        recorded,
        links: found,
        not_measured: ways.others,
    };
    let out = match args.json {
        true => serde_json::to_string_pretty(&report)? + "\n",
        false => text::table(&report),
    };
    shared::print(&out)?;
    output::write(
        &bench.profiles,
        time,
        args.hlog.as_deref(),
        args.svg.as_deref(),
    )?;
    Ok(ExitCode::SUCCESS)
}

fn client() -> Client {
    let line = |path: &str| {
        let text = std::fs::read_to_string(path).unwrap_or_default();
        text.trim_end().to_owned()
    };
    Client {
        host: line("/proc/sys/kernel/hostname"),
        kernel: line("/proc/sys/kernel/osrelease"),
        cpus: std::thread::available_parallelism().map_or(1, usize::from),
    }
}

struct Bench {
    extent: Extent,
    /// Of a recorded program.
    steps: Vec<Step>,
    progress: bool,
    profiles: Profiles,
    server: Server,
    folder: tempfile::TempDir,
}

impl Bench {
    /// On a terminal, what is measured now.
    fn say(&self, what: &str) {
        if self.progress {
            shared::print_error(&format!("\r\x1b[K{what}"));
        }
    }

    fn link(&mut self, way: &Way) -> anyhow::Result<Link> {
        self.say(&format!("{}: raw limits", way.preference));
        let mut echo = Echo::open(&way.target)?;
        let info = echo.info().clone();
        let raw = self.raw(&mut echo, way, info.kind)?;
        echo.close();
        let children = Children::new(way.environment.clone(), self.folder.path())?;
        let name = info.kind.to_string();
        let mut cases = Vec::new();
        for case in self.extent.cases(!self.steps.is_empty()) {
            self.say(&format!("{name}: {case}"));
            let (outcome, rows) = children.measure(&self.extent.plan(case, &self.steps))?;
            let mut measurement = Measurement {
                case,
                name: case.to_string(),
                bytes: case.bytes(),
                skipped: None,
                times: None,
            };
            match outcome {
                Outcome::Skipped(reason) => measurement.skipped = Some(reason),
                Outcome::Measured(measured) => {
                    self.profiles.add(&name, case, &measured.paced, &rows);
                    measurement.times = Some(times(&measurement, &measured.paced, &raw, rows));
                    self.server.cpu_emulator = measured.device.contains("CPU emulator");
                    self.server.driver_version = measured.driver_version;
                    if self.server.device.is_empty() {
                        self.server.free_bytes = measured.free_bytes;
                    }
                    self.server.device = measured.device;
                }
            }
            cases.push(measurement);
        }
        Ok(Link {
            link: name,
            address: way.address.clone(),
            congestion_control: info.congestion_control,
            raw,
            cases,
        })
    }

    fn raw(&self, echo: &mut Echo, way: &Way, kind: LinkKind) -> anyhow::Result<Raw> {
        let exchanges = echo.exchanges(self.extent.exchanges())?;
        let streams = echo.streams(self.extent.stream, self.extent.streams)?;
        Ok(Raw {
            echo: Distribution::of(&exchanges.response),
            echo_service: Distribution::of(&exchanges.service),
            echo_rate_per_s: rate_of(&exchanges),
            to_server: streams.to_server,
            from_server: streams.from_server,
            machine: self.machine(way, kind)?,
        })
    }

    /// What this machine gives without gtrace, where the server is on it and what it gives is a limit.
    fn machine(&self, way: &Way, kind: LinkKind) -> anyhow::Result<Option<Machine>> {
        let local = match &way.target.address {
            Address::Unix(_) => true,
            Address::Tcp(host, _) => matches!(host.as_str(), "127.0.0.1" | "::1" | "localhost"),
        };
        let (kind, name) = match kind {
            LinkKind::SharedMemory => (Kind::Memory, "memory"),
            LinkKind::Unix => (Kind::Unix, "unix"),
            LinkKind::Tcp | LinkKind::Tls => (Kind::Tcp, "tcp"),
            LinkKind::Rdma => return Ok(None),
        };
        if !local || way.target.emulate.is_some() {
            return Ok(None);
        }
        let exchange = raw::exchanges(kind, self.extent.exchanges())?;
        let bytes = usize::try_from(self.extent.stream)?;
        let us = raw::stream_us(kind, bytes, self.extent.streams as usize, raw::Copies::None)?;
        Ok(Some(Machine {
            kind: name.into(),
            exchange: Distribution::of(&exchange.response),
            stream: bytes as f64 / us * 1e6,
        }))
    }
}

fn rate_of(paced: &Paced) -> f64 {
    1e9 / paced.interval_ns as f64
}

fn times(of: &Measurement, measured: &Paced, raw: &Raw, rows: Vec<gtrace_profile::Row>) -> Times {
    let service = Distribution::of(&measured.service);
    let p50 = service.p50_ns.unwrap_or(0) as f64;
    let rate = |bytes: u64| bytes as f64 / p50.max(1.0) * 1e9;
    Times {
        rate_per_s: rate_of(measured),
        late: measured.late,
        closed_loop_ns: measured.closed_loop_ns,
        response: Distribution::of(&measured.response),
        corrected: Distribution::of(&measured.corrected),
        bytes_per_s: of.bytes.map(rate),
        times_raw: limit_ns(of, raw).map(|limit| p50 / limit),
        service,
        operations: output::operations(rows, measured.service.count()),
    }
}

/// What the link itself takes for the same, ns.
fn limit_ns(of: &Measurement, raw: &Raw) -> Option<f64> {
    use gtrace_measure::Case;
    let stream = |bytes: u64, rate: f64| bytes as f64 / rate * 1e9;
    match of.case {
        Case::Launch | Case::Replay => None,
        Case::ToDevice(bytes) | Case::LockedToDevice(bytes) if bytes >= STREAM_FROM => {
            Some(stream(bytes, raw.to_server))
        }
        Case::ToHost(bytes) | Case::LockedToHost(bytes) if bytes >= STREAM_FROM => {
            Some(stream(bytes, raw.from_server?))
        }
        _ => raw.echo_service.p50_ns.map(|ns| ns as f64),
    }
}
