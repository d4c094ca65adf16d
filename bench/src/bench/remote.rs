//! GPU-over-IP on one host: blocking calls, launches and bulk copies through each link, beside what the
//! operating system gives without a protocol.

use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context as _, ensure};
use gtrace_e2e::artefacts;
use gtrace_e2e::process;
use gtrace_e2e::server::{Server, Via};
use serde_json::Value;

use super::Context;
use super::resume::Resume;
use crate::remote::client::{self, Found};
use crate::remote::raw::Limits;
use crate::remote::{BULK, LAUNCHES};
use crate::report::{Figure, Report};
use crate::stats::{Samples, number};
use crate::sys;

/// A blocking call over TCP, as a multiple of the raw exchange.
const TCP_EXCHANGE: f64 = 1.3;
/// A blocking call over shared memory, microseconds.
const SHM_EXCHANGE_US: f64 = 1.5;
/// A launch on its caller, microseconds.
const LAUNCH_US: f64 = 0.3;
/// Share of the raw stream that a bulk copy over TCP is to reach.
const TCP_STREAM: f64 = 0.9;
/// Share of memcpy that a bulk copy over shared memory is to reach.
const SHM_COPY: f64 = 0.8;
const LIMIT: Duration = Duration::from_secs(120);

pub(super) fn run(context: &Context) -> anyhow::Result<Report> {
    let count = context.pick(1_000, 20_000, 100_000);
    let rounds = context.pick(1, 5, 11);
    let mut report = Report::new(
        "remote",
        format!(
            "a client of GPU-over-IP and a server with the CPU emulator on this host, {rounds} rounds in which all \
             links and the raw limits take turns; {count} cuMemGetInfo, {LAUNCHES} launches that the CPU emulator takes \
             and does not execute, copies of {} MiB of random bytes",
            BULK >> 20
        ),
    );
    let server = Server::start(&context.gtrace, &[], &["--launch=skip"])?;
    let direct = Direct::find(context)?;
    let mut measured = Measured::default();
    let mut resume = Resume::start(&context.gtrace)?;
    for round in 1..=rounds {
        context.say(&format!("round {round} of {rounds}"));
        measured.limits.push(Limits::measure(count)?);
        for (at, via) in Via::ALL.into_iter().enumerate() {
            measured.links[at].push(through(&server, via, count, &[])?);
        }
        resume.round(round, &server, |server, via, options| {
            through(server, via, count, options)
        })?;
        if let Some(direct) = &direct {
            measured.direct.push(direct.run(count)?);
        }
    }
    measured.notes(&mut report);
    for via in Via::ALL {
        report.note(split(&server, via, count)?);
    }
    measured.figures(&mut report);
    resume.figures(&mut report);
    Ok(report)
}

fn client_output(command: &mut Command) -> anyhow::Result<Found> {
    let outcome = process::run(command, LIMIT)?;
    ensure!(
        outcome.status.success(),
        "the client ended with {}: {}",
        outcome.status,
        outcome.stderr
    );
    Found::parse(&outcome.stdout)
}

fn through(server: &Server, via: Via, count: usize, options: &[&str]) -> anyhow::Result<Found> {
    let mut command = server.exec(via);
    command
        .args(options)
        .arg("--")
        .arg(std::env::current_exe()?)
        .args([client::ARGUMENT, &count.to_string()]);
    client_output(&mut command).with_context(|| format!("over {}", via.name()))
}

/// The CPU emulator without a network, where its library lies beside the binary.
struct Direct {
    folder: PathBuf,
}

impl Direct {
    fn find(context: &Context) -> anyhow::Result<Option<Self>> {
        let library = context.gtrace.with_file_name("libgtrace_softgpu.so");
        if !library.is_file() {
            return Ok(None);
        }
        let folder = context.gtrace.with_file_name("e2e").join("softgpu");
        artefacts::under_the_names_of_the_driver(&library, &folder)?;
        Ok(Some(Self { folder }))
    }

    fn run(&self, count: usize) -> anyhow::Result<Found> {
        let mut command = Command::new(std::env::current_exe()?);
        command
            .args([client::ARGUMENT, &count.to_string()])
            .env("LD_LIBRARY_PATH", &self.folder)
            .env("GTRACE_SOFTGPU_LAUNCH", "skip");
        client_output(&mut command).context("directly on the CPU emulator")
    }
}

/// What the client says of its link, and where the time of a blocking call goes.
fn split(server: &Server, via: Via, count: usize) -> anyhow::Result<String> {
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("stats.json");
    let mut command = server.exec(via);
    command.arg("--stats-file").arg(&file).arg("--");
    command
        .arg(std::env::current_exe()?)
        .args([client::ARGUMENT, &count.to_string()]);
    client_output(&mut command)?;
    let statistics: Value = serde_json::from_str(&fs::read_to_string(&file)?)?;
    let congestion = match statistics["congestion_control"].as_str() {
        Some(name) => format!(", congestion control {name}"),
        None => String::new(),
    };
    let parts = &statistics["operations"]
        .as_array()
        .and_then(|all| all.iter().find(|row| row["name"] == "cuMemGetInfo_v2"))
        .context("the client's statistics have no cuMemGetInfo_v2")?["parts"];
    let parts: Vec<String> = ["client", "wire", "queue", "driver", "wake"]
        .iter()
        .filter_map(|name| {
            let ns = parts[name]["p50_ns"].as_f64()?;
            Some(format!("{name} {} us", number(ns / 1e3)))
        })
        .collect();
    Ok(format!(
        "link {}{congestion}, pieces of {} KiB; p50 of cuMemGetInfo: {}",
        statistics["link"].as_str().unwrap_or("unknown"),
        statistics["chunk"].as_u64().unwrap_or(0) >> 10,
        parts.join(", ")
    ))
}

#[derive(Default)]
struct Measured {
    limits: Vec<Limits>,
    links: [Vec<Found>; 3],
    direct: Vec<Found>,
}

/// Nearest to what bulk copies are talked of in.
fn gb_s(us: f64) -> f64 {
    BULK as f64 / us / 1e3
}

impl Measured {
    fn limit(&self, of: impl Fn(&Limits) -> f64) -> f64 {
        self.limits.iter().map(of).collect::<Samples>().median()
    }

    fn notes(&self, report: &mut Report) {
        let cpus = |found: &[Found]| {
            let mut cpus: Vec<_> = found.iter().map(|f| f.cpu).collect();
            cpus.sort_unstable();
            cpus.dedup();
            cpus.iter()
                .map(i64::to_string)
                .collect::<Vec<_>>()
                .join(", ")
        };
        let where_: Vec<_> = Via::ALL
            .iter()
            .zip(&self.links)
            .map(|(via, found)| format!("{} on CPU {}", via.name(), cpus(found)))
            .collect();
        report.note(format!(
            "all run with {}, nothing is pinned to a CPU; the clients ended {}, of {} CPUs",
            sys::scheduling(),
            where_.join(", "),
            std::thread::available_parallelism().map_or(1, usize::from)
        ));
        if let Some(limits) = self.limits.first() {
            report.note(format!(
                "congestion control of the raw TCP connections: {}",
                limits.congestion
            ));
        }
        report.note(format!(
            "limits: raw spinning TCP exchange {} us, exchange of two cache lines {} us, raw TCP stream {} GB/s, \
             memcpy {} GB/s",
            number(self.limit(|l| l.tcp_exchange)),
            number(self.limit(|l| l.memory_exchange)),
            number(gb_s(self.limit(|l| l.tcp_stream))),
            number(gb_s(self.limit(|l| l.copy)))
        ));
    }

    fn figures(&self, report: &mut Report) {
        for (via, found) in Via::ALL.iter().zip(&self.links) {
            self.query(*via, found, report);
        }
        for (via, found) in Via::ALL.iter().zip(&self.links) {
            self.launch(*via, found, report);
        }
        for (via, found) in Via::ALL.iter().zip(&self.links) {
            let copied = self.limit(|l| l.tcp_stream_copied_out);
            self.bulk(
                *via,
                "to the device",
                found,
                |f| f.to_device,
                copied,
                report,
            );
        }
        for (via, found) in Via::ALL.iter().zip(&self.links) {
            let copied = self.limit(|l| l.tcp_stream_copied_in);
            self.bulk(*via, "to the host", found, |f| f.to_host, copied, report);
        }
    }

    fn direct(&self, figure: Figure, of: impl Fn(&Found) -> f64) -> Figure {
        if self.direct.is_empty() {
            return figure;
        }
        figure.beside(
            "the CPU emulator without a network",
            self.direct.iter().map(of).collect::<Samples>().median(),
        )
    }

    fn query(&self, via: Via, found: &[Found], report: &mut Report) {
        let samples: Samples = found.iter().map(|f| f.query).collect();
        let raw = self.limit(|l| l.tcp_exchange);
        let p99 = found
            .iter()
            .map(|f| f.query_p99)
            .collect::<Samples>()
            .median();
        let figure = Figure::median(
            format!("cuMemGetInfo over {}, p50", via.name()),
            &samples,
            "us",
        )
        .with("p99", p99)
        .beside("a raw spinning TCP exchange", raw);
        let figure = self.direct(figure, |f| f.query);
        report.push(match via {
            Via::Tcp => figure.budget(TCP_EXCHANGE * raw),
            Via::Unix => figure,
            Via::Shm => figure
                .beside("two cache lines", self.limit(|l| l.memory_exchange))
                .budget(SHM_EXCHANGE_US),
        });
    }

    fn launch(&self, via: Via, found: &[Found], report: &mut Report) {
        let samples: Samples = found.iter().map(|f| f.launch).collect();
        let median = |of: fn(&Found) -> f64| found.iter().map(of).collect::<Samples>().median();
        let name = format!("cuLaunchKernel over {}, its caller", via.name());
        let figure = Figure::median(name, &samples, "us")
            .with("of it CPU", median(|f| f.launch_cpu))
            .with("until done", median(|f| f.launch_done))
            .with("beside page-locked memory", median(|f| f.launch_beside))
            .budget(LAUNCH_US);
        report.push(self.direct(figure, |f| f.launch));
    }

    fn bulk(
        &self,
        via: Via,
        direction: &str,
        found: &[Found],
        of: impl Fn(&Found) -> f64,
        stream_and_copy: f64,
        report: &mut Report,
    ) {
        let samples: Samples = found.iter().map(|f| of(f) / 1e3).collect();
        let (stream, copy) = (
            self.limit(|l| l.tcp_stream) / 1e3,
            self.limit(|l| l.copy) / 1e3,
        );
        let name = format!("{} MiB {direction} over {}", BULK >> 20, via.name());
        let figure =
            Figure::median(name, &samples, "ms").with("GB/s", gb_s(samples.median() * 1e3));
        let figure = match via {
            Via::Tcp => figure
                .beside("a raw TCP stream", stream)
                .beside(
                    "a raw TCP stream and the CPU emulator's copy",
                    stream_and_copy / 1e3,
                )
                .budget(stream / TCP_STREAM),
            Via::Unix => figure.beside("a raw TCP stream", stream),
            Via::Shm => figure
                .beside("memcpy", copy)
                .beside(
                    "two CPUs that each copy once",
                    self.limit(|l| l.copy_twice) / 1e3,
                )
                .budget(copy / SHM_COPY),
        };
        report.push(self.direct(figure, |f| of(f) / 1e3));
    }
}
