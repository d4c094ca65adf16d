//! A head of its own, and simulated agents that are connected to it: what each costs, how soon an event is seen, and a storm.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::rc::Rc;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use gtrace_agent::{Enrolled, HttpUrl, Options, Progress, Sampler, enroll, now_ns};
use gtrace_api::client::Client;
use gtrace_event::{GpuUsage, Holder, PciAddress, Record, Timestamp};
use gtrace_fleet::{EnrollRequest, HostState};
use gtrace_head::db::ChainReport;
use gtrace_head::{HostView, TokenAnswer, TokenRequest};
use gtrace_profile::{DailyCalls, Histogram, Layer};
use gtrace_store::Store;
use tokio::sync::{Notify, watch};
use tokio::task::{JoinSet, LocalSet};

use super::super::Context;
use super::super::store::record;
use crate::machine::kib;
use crate::process::Process;
use crate::report::{Figure, Report};
use crate::scratch::Scratch;
use crate::stats::Samples;
use crate::sys;

/// KiB of the head for a connected agent.
const AGENT_BUDGET_KIB: f64 = 32.0;
/// Milliseconds from an event's commit on a host until a reader of the head's stream has it.
const LIVE_BUDGET_MS: f64 = 100.0;
/// Hosts that have the records of a storm.
const STORMY: usize = 100;
/// A state of so many has who had the GPUs, and of so many how long calls took: states come every 10 s.
const USAGE_EVERY: usize = 6;
const LATENCY_EVERY: usize = 30;
/// Records of one transaction of a store.
const CHUNK: usize = 1000;
/// So long the agents may take to connect, and the head to take a storm.
const PATIENCE: Duration = Duration::from_secs(1200);

/// `storm`: so many records, after events that are followed live.
pub(super) fn run(
    context: &Context,
    agents: usize,
    storm: Option<usize>,
    report: &mut Report,
) -> anyhow::Result<()> {
    let dir = Scratch::new(context)?;
    let head = Head::start(context, dir.path())?;
    context.say(&format!("enrolling {agents} agents"));
    let mut keys = head.enroll(agents)?;
    let quiet = keys.split_off(storm.map_or(0, |_| STORMY.min(agents)));
    let path = |n: usize| dir.join(format!("{n}.db"));
    let mut stores = Vec::new();
    for n in 0..keys.len() {
        stores.push(Store::open(&path(n), gtrace_store::Options::default())?);
    }
    let before = head.anonymous();
    let hosts = Fleet::start(keys.clone(), path, |_, _| None)?;
    let others = Fleet::start(quiet, |_| dir.join("no-store.db"), |_, _| None)?;
    context.say("waiting for their states");
    hosts.connected()?;
    others.connected()?;
    // Each sends its state every 10 s.
    let (idle, used) = (context.pick(2, 15, 60), head.cpu_seconds()?);
    thread::sleep(Duration::from_secs(idle));
    let share = (head.cpu_seconds()? - used) / idle as f64 * 100.0;
    let each = (head.anonymous() - before) / agents as f64;
    let name = format!("{agents} agents: RssAnon of the head for each");
    let figure = Figure::new(name, each, "KiB");
    report.push(match agents >= 1000 {
        true => figure.budget(AGENT_BUDGET_KIB),
        // What does not depend on their number counts too.
        false => figure,
    });
    let name = format!("{agents} idle agents: share of a core");
    report.push(Figure::new(name, share, "%"));
    if let Some(storm) = storm {
        let mut run = Run {
            context,
            head: &head,
            agents,
            report,
        };
        run.live(&hosts, &mut stores)?;
        // They come when all is written: else the head would have it by then, and wait for the disk.
        drop(hosts);
        run.write(&mut stores, storm)?;
        run.absorb(|| Fleet::start(keys, path, |_, _| None), &stores, storm)?;
    }
    Ok(())
}

/// A fleet in which something happens.
struct Run<'a> {
    context: &'a Context,
    head: &'a Head,
    agents: usize,
    report: &'a mut Report,
}

impl Run<'_> {
    /// From right before the commit of an event on a host until a reader of the head's stream has it.
    fn live(&mut self, hosts: &Fleet, stores: &mut [Store]) -> anyhow::Result<()> {
        let many = self.context.pick(5, 200, 1000);
        self.context.say(&format!("{many} events, followed live"));
        let mut stream = self.head.client.stream("/fleet/v1/events/stream", None)?;
        let of = stores.len();
        let mut took = Vec::new();
        for n in 0..many {
            let one = record(n, Timestamp::now());
            let Record::Event(event) = &one else {
                anyhow::bail!("no event");
            };
            let start = Instant::now();
            stores[n % of].append(std::slice::from_ref(&one), &[])?;
            hosts.wake[n % of].notify_one();
            let message = stream
                .next_message()?
                .context("the head ended the stream")?;
            took.push(start.elapsed().as_secs_f64() * 1e3);
            anyhow::ensure!(
                message.data.contains(&event.id.to_string()),
                "another event came"
            );
            thread::sleep(Duration::from_millis(20 + fastrand::u64(..20)));
        }
        let took = Samples::new(took);
        let name = format!("{} agents: event to the fleet's stream, p99", self.agents);
        self.report.push(
            Figure::new(name, took.quantile(0.99), "ms")
                .with("p50", took.median())
                .budget(LIVE_BUDGET_MS),
        );
        Ok(())
    }

    /// The records of a storm.
    fn write(&self, stores: &mut [Store], storm: usize) -> anyhow::Result<()> {
        let of_host = storm / stores.len();
        self.context.say(&format!(
            "writing {of_host} records into each of {} stores",
            stores.len()
        ));
        for store in stores {
            for from in (0..of_host).step_by(CHUNK) {
                let chunk = from..(from + CHUNK).min(of_host);
                let records: Vec<Record> = chunk.map(|n| record(n, Timestamp::now())).collect();
                store.append(&records, &[])?;
            }
        }
        Ok(())
    }

    /// Many hosts come with many records at one time, until the head has them all.
    fn absorb(
        &mut self,
        start: impl FnOnce() -> anyhow::Result<Fleet>,
        stores: &[Store],
        storm: usize,
    ) -> anyhow::Result<()> {
        self.context.say("the storm");
        let expected: u64 = stores.iter().map(Store::last_seq).sum();
        let (begin, used) = (Instant::now(), self.head.cpu_seconds()?);
        let hosts = start()?;
        let has_all = |(progress, store): (&Progress, &Store)| {
            let cursor = progress.cursor();
            cursor.is_some_and(|cursor| cursor.hash == store.last_hash())
        };
        let mut most = self.head.anonymous();
        while !hosts.progress.iter().zip(stores).all(has_all) {
            most = most.max(self.head.anonymous());
            anyhow::ensure!(
                begin.elapsed() < PATIENCE,
                "the head does not have all records"
            );
            thread::sleep(Duration::from_millis(20));
        }
        let took = begin.elapsed().as_secs_f64();
        let cpu = self.head.cpu_seconds()? - used;
        let views = self.head.hosts()?;
        let taken: u64 = views.iter().map(|host| host.records).sum();
        anyhow::ensure!(
            taken == expected,
            "the head has {taken} of {expected} records"
        );
        let faulty = |host: &HostView| {
            host.unexplained_gaps + host.forks > 0 || !host.chain_faults.is_empty()
        };
        anyhow::ensure!(
            !views.iter().any(faulty),
            "records are missing in the middle"
        );
        let patient = self.head.client.clone().with_deadline(PATIENCE);
        let chains: Vec<ChainReport> = patient.get("/fleet/v1/verify")?;
        anyhow::ensure!(
            chains.iter().all(ChainReport::is_whole),
            "a chain does not hold"
        );
        let name = format!(
            "{} agents: storm of {storm} records of {} hosts",
            self.agents,
            stores.len()
        );
        self.report.push(
            Figure::new(name, storm as f64 / took, "records/s")
                .with("seconds", took)
                .with("cores of the head", cpu / took)
                .with("MiB RssAnon of the head at most", most / 1024.0),
        );
        self.report.note(
            "the head has each record of the storm once, and every chain holds, its hashes computed anew",
        );
        Ok(())
    }
}

/// Eight GPUs that eight jobs have.
fn usage() -> Vec<GpuUsage> {
    let now = Timestamp::now();
    let of = |gpu: u8| GpuUsage {
        day: now.to_zoned(jiff::tz::TimeZone::UTC).date(),
        since: now,
        pci: PciAddress {
            domain: 0,
            bus: gpu,
            device: 0,
            function: 0,
        },
        uuid: Some(format!("GPU-{gpu}")),
        model: Some("NVIDIA H100 80GB HBM3".to_owned()),
        holder: Some(Holder {
            job: Some(format!("slurm:{gpu}")),
            user: Some("ada".to_owned()),
            ..Holder::default()
        }),
        first: now,
        last: now,
        seconds: 3600.0,
        measured_s: 3600.0,
        busy_s: 1800.0,
        idle_s: 600.0,
    };
    (0..8).map(of).collect()
}

/// Sixty functions, each with durations in some hundred buckets.
fn latency() -> Vec<DailyCalls> {
    let now = Timestamp::now();
    let of = |call: u64| {
        let mut histogram = Histogram::default();
        (0..400).for_each(|n| histogram.record((call + 1) * 1000 + n * n * 10));
        DailyCalls {
            day: now.to_zoned(jiff::tz::TimeZone::UTC).date(),
            since: now,
            last: now,
            layer: Layer::Driver,
            call: format!("NV2080_CTRL_CMD_{call}"),
            driver: Some("580.82.07".to_owned()),
            histogram,
        }
    };
    (0..60).map(of).collect()
}

pub(super) struct Head {
    process: Process,
    url: HttpUrl,
    pub(super) client: Client,
}

impl Head {
    pub(super) fn start(context: &Context, dir: &Path) -> anyhow::Result<Self> {
        let socket = dir.join("head.sock");
        let mut command = Command::new(&context.gtrace);
        command
            .args(["head", "--listen", "127.0.0.1:0", "--socket"])
            .arg(&socket)
            .arg("--database")
            .arg(dir.join("fleet.db"))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped());
        let mut process = Process::start(&mut command)?;
        let mut lines = BufReader::new(process.stderr()?).lines();
        let url = lines
            .find_map(|line| {
                let line = line.ok()?;
                let (_, rest) = line.split_once("head at ")?;
                Some(rest.split(',').next()?.to_owned())
            })
            .context("the head ended before it said where it is")?;
        thread::spawn(move || lines.for_each(drop));
        Ok(Self {
            process,
            url: url.parse()?,
            client: Client::unix(&socket),
        })
    }

    pub(super) fn enroll(&self, agents: usize) -> anyhow::Result<Vec<Enrolled>> {
        let asked = TokenRequest {
            host: None,
            for_s: 3600,
            uses: agents as u32,
            by: "bench".to_owned(),
        };
        let token: TokenAnswer = self.client.post("/fleet/v1/tokens", &asked)?;
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        let mut keys = Vec::with_capacity(agents);
        for n in 0..agents {
            let request = EnrollRequest {
                token: token.token.clone(),
                host: format!("simulated-{n}"),
                machine_id: None,
                simulated: true,
            };
            keys.push(runtime.block_on(enroll(&self.url, None, &request))?);
        }
        Ok(keys)
    }

    fn hosts(&self) -> anyhow::Result<Vec<HostView>> {
        Ok(self.client.get("/fleet/v1/hosts")?)
    }

    /// KiB.
    fn anonymous(&self) -> f64 {
        let pid = self.process.pid();
        let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
        kib(&status, "RssAnon") as f64
    }

    pub(super) fn cpu_seconds(&self) -> anyhow::Result<f64> {
        let ns = sys::cpu_ns(self.process.pid()).context("CPU clock of the head")?;
        Ok(ns as f64 / 1e9)
    }
}

/// Agents in a thread of their own.
pub(super) struct Fleet {
    progress: Vec<Progress>,
    wake: Vec<Arc<Notify>>,
    stop: Option<watch::Sender<bool>>,
    thread: Option<thread::JoinHandle<()>>,
}

impl Fleet {
    /// Each with its store and with what `equip` gives it.
    pub(super) fn start(
        keys: Vec<Enrolled>,
        store: impl Fn(usize) -> PathBuf,
        equip: impl Fn(usize, &mut Options) -> Option<Box<dyn Sampler>>,
    ) -> anyhow::Result<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        let (stop, stopped) = watch::channel(false);
        let progress: Vec<Progress> = keys.iter().map(|_| Progress::default()).collect();
        let wake: Vec<Arc<Notify>> = keys.iter().map(|_| Arc::default()).collect();
        let mut all = Vec::new();
        for (n, enrolled) in keys.into_iter().enumerate() {
            let mut options = Options {
                enrolled,
                nats: None,
                store: store(n),
                labels: BTreeMap::new(),
                rate: None,
                allow_sessions: false,
                actor: None,
                clock: Arc::new(now_ns),
            };
            let sampler = equip(n, &mut options);
            all.push((options, sampler, progress[n].clone(), Arc::clone(&wake[n])));
        }
        let thread = thread::spawn(move || {
            LocalSet::new().block_on(&runtime, async move {
                let mut tasks = JoinSet::new();
                let totals = Rc::new((usage(), latency()));
                for (n, (options, sampler, progress, wake)) in all.into_iter().enumerate() {
                    // As agents of daemons send them, at different times.
                    let (totals, mut turn) = (Rc::clone(&totals), n);
                    let state = move || {
                        turn += 1;
                        let (usage, latency) = totals.as_ref();
                        let when = |due: bool| if due { usize::MAX } else { 0 };
                        HostState {
                            time: Timestamp::now(),
                            version: "bench".to_owned(),
                            usage: usage
                                .iter()
                                .take(when(turn.is_multiple_of(USAGE_EVERY)))
                                .cloned()
                                .collect(),
                            latency: latency
                                .iter()
                                .take(when(turn.is_multiple_of(LATENCY_EVERY)))
                                .cloned()
                                .collect(),
                            ..HostState::default()
                        }
                    };
                    let stopped = stopped.clone();
                    let agent = gtrace_agent::run(options, state, sampler, wake, progress, stopped);
                    tasks.spawn_local(agent);
                }
                while tasks.join_next().await.is_some() {}
            });
        });
        Ok(Self {
            progress,
            wake,
            stop: Some(stop),
            thread: Some(thread),
        })
    }

    pub(super) fn connected(&self) -> anyhow::Result<()> {
        let until = Instant::now() + PATIENCE;
        while !self.progress.iter().all(|one| one.sent_bytes() > 0) {
            anyhow::ensure!(Instant::now() < until, "not all agents reached the head");
            thread::sleep(Duration::from_millis(100));
        }
        Ok(())
    }
}

impl Drop for Fleet {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
