//! Ten simulated hosts for `gtrace head --demo`: the real agent over generated stores. Every event is a drill.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use anyhow::Context as _;
use gtrace_agent::{Measured, Options, Progress, Read, Sampled, Sampler, Wanted, enroll, now_ns};
use gtrace_api::client::Client;
use gtrace_collect::HostActor;
use gtrace_event::{
    Event, Gpu, GpuUsage, HealthNews, HealthRecord, HealthState, HealthSubject, Holder, Kind,
    Occasion, Occurrence, Provenance, Record, Severity, SubjectKind, Timestamp, WitnessName,
};
use gtrace_fleet::{EnrollRequest, GpuFrame, GpuState, HostState};
use gtrace_head::{TokenAnswer, TokenRequest};
use gtrace_incident::{Correlator, Options as Correlation, Rules};
use gtrace_profile::{DailyCalls, Histogram, Layer};
use gtrace_store::Store;
use tokio::sync::{Notify, watch};

use super::agent::state_of;

const HOSTS: usize = 10;
/// The GPU that drills are about.
const GPU: &str = "0000:3b:00.0";
/// Drivers of the two racks.
const DRIVERS: [&str; 2] = ["570.172.08", "580.82.07"];
/// Between two drills.
const PAUSE: Duration = Duration::from_secs(5);

struct Simulated {
    name: String,
    store: Store,
    correlator: Correlator,
    woken: Arc<Notify>,
}

/// Starts them in a thread, which ends with `stop`.
pub(super) fn start(
    dir: &Path,
    socket: &Path,
    head: SocketAddr,
    stop: watch::Receiver<bool>,
) -> anyhow::Result<JoinHandle<()>> {
    let (dir, socket) = (dir.to_owned(), socket.to_owned());
    let thread = std::thread::Builder::new().name("gtrace-demo".to_owned());
    let body = move || {
        if let Err(error) = run(&dir, socket, head, stop) {
            tracing::warn!("the demonstration ended: {error:#}");
        }
    };
    thread.spawn(body).context("cannot start a thread")
}

fn run(
    dir: &Path,
    socket: PathBuf,
    head: SocketAddr,
    mut stop: watch::Receiver<bool>,
) -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let request = TokenRequest {
        host: None,
        for_s: 60,
        uses: HOSTS as u32,
        by: "demonstration".to_owned(),
    };
    let token: TokenAnswer = Client::unix(socket).post("/fleet/v1/tokens", &request)?;
    let local = tokio::task::LocalSet::new();
    local.block_on(&runtime, async {
        let url = format!("http://{head}").parse()?;
        let mut hosts = Vec::new();
        for n in 0..HOSTS {
            let name = format!("simulated-{n:02}");
            let path = dir.join(format!("{name}.db"));
            let store = Store::open(&path, gtrace_store::Options::default())?;
            let request = EnrollRequest {
                token: token.token.clone(),
                host: name.clone(),
                machine_id: None,
                simulated: true,
            };
            let options = Options {
                enrolled: enroll(&url, None, &request).await?,
                nats: None,
                store: path.clone(),
                labels: BTreeMap::from([
                    ("rack".to_owned(), format!("r{}", n / 5)),
                    ("feed".to_owned(), format!("f{}", n % 2)),
                ]),
                rate: None,
                allow_sessions: true,
                actor: Some(Arc::new(HostActor {
                    permits: vec!["report".to_owned()],
                    store: path.clone(),
                    daemon: Client::unix(dir.join("no-daemon.sock")),
                    gtrace: "/proc/self/exe".into(),
        nvidia_smi: "nvidia-smi".into(),
                    systemctl: "systemctl".into(),
                    generator: format!("gtrace {}", env!("CARGO_PKG_VERSION")),
                })),
                clock: Arc::new(now_ns),
            };
            let woken = Arc::<Notify>::default();
            let (of_agent, stopped) = (Arc::clone(&woken), stop.clone());
            let sampler: Box<dyn Sampler> = Box::new(SimulatedGpus::new(n));
            tokio::task::spawn_local(async move {
                let began = Timestamp::now();
                let state = move || HostState {
                    driver: Some(DRIVERS[n / 5].to_owned()),
                    gpus: gpus(n),
                    usage: usage(n, began),
                    latency: latency(n, began),
                    ..state_of(&path)
                };
                let progress = Progress::default();
                gtrace_agent::run(options, state, Some(sampler), of_agent, progress, stopped).await
            });
            let correlator = Correlator::new(Rules::builtin()?, Correlation::default());
            let mut host = Simulated {
                name,
                store,
                correlator,
                woken,
            };
            let boot = host.name.clone();
            let boot = HealthNews::Observed {
                occasion: Occasion::Boot { boot },
            };
            let found = |at: &str| HealthNews::Observed {
                occasion: Occasion::Found {
                    subject: HealthSubject::new(SubjectKind::Gpu, at),
                    uuid: None,
                },
            };
            let mut news = vec![boot, found(GPU), found("0000:5e:00.0")];
            if n == HOSTS - 1 {
                news.push(HealthNews::Observed {
                    occasion: Occasion::Judged {
                        subject: HealthSubject::new(SubjectKind::Gpu, GPU),
                        rule: "simulated".to_owned(),
                        state: HealthState::Degraded,
                        action: Default::default(),
                        text: "its clocks are held down by heat (simulated)".to_owned(),
                    },
                });
            }
            let record = |news| HealthRecord::new(Timestamp::now(), news);
            let records = news
                .into_iter()
                .map(|n| Record::Health(Box::new(record(n))));
            host.append(records.collect())?;
            hosts.push(host);
        }
        tracing::info!(
            "{HOSTS} simulated hosts ship drills; http://{head}/ and `gtrace fleet incidents --follow` show them"
        );
        for round in 0_usize.. {
            match round % 3 {
                // A rack loses its GPUs at one time; then hosts have faults of their own.
                0 => {
                    for host in &mut hosts[..5] {
                        host.drill(79, "GPU has fallen off the bus.")?;
                    }
                }
                n => hosts[(round * 7 + n) % HOSTS].drill(13, "Graphics Exception")?,
            }
            tokio::select! {
                () = tokio::time::sleep(PAUSE) => {}
                () = async { drop(stop.wait_for(|end| *end).await) } => break,
            }
        }
        Ok(())
    })
}

/// What a simulated host says of its GPUs.
fn gpus(host: usize) -> Vec<GpuState> {
    let gpu = |(index, pci): (u32, &str)| GpuState {
        index,
        pci: Some(pci.to_owned()),
        uuid: Some(format!("GPU-00000000-0000-0000-0000-{host:08x}{index:04x}")),
        name: Some("Simulated GPU".to_owned()),
        ..GpuState::default()
    };
    (0..).zip([GPU, "0000:5e:00.0"]).map(gpu).collect()
}

/// Who has them: the training run all hosts' first, somebody who does nothing every third host's second.
fn usage(host: usize, began: Timestamp) -> Vec<GpuUsage> {
    let now = Timestamp::now();
    let seconds = now.duration_since(began).as_secs_f64();
    let of = |(gpu, job): (GpuState, Option<(&str, &str, f64)>)| {
        let holder = job.map(|(job, user, _)| Holder {
            job: Some(job.to_owned()),
            user: Some(user.to_owned()),
            ..Holder::default()
        });
        let busy = job.map_or(0.0, |(_, _, busy)| busy);
        Some(GpuUsage {
            day: began.to_zoned(jiff::tz::TimeZone::UTC).date(),
            since: began,
            pci: gpu.pci?.parse().ok()?,
            uuid: gpu.uuid,
            model: gpu.name,
            holder,
            first: began,
            last: now,
            seconds,
            measured_s: seconds,
            busy_s: seconds * busy,
            idle_s: if busy == 0.0 { seconds } else { 0.0 },
        })
    };
    let second = host.is_multiple_of(3).then_some(("slurm:4712", "bob", 0.0));
    let jobs = [Some(("slurm:4711", "ada", 0.8)), second];
    gpus(host).into_iter().zip(jobs).filter_map(of).collect()
}

/// How long its calls took: those of the last host, whose clocks are held down, three times as long.
fn latency(host: usize, began: Timestamp) -> Vec<DailyCalls> {
    let now = Timestamp::now();
    let seconds = now.duration_since(began).as_secs().unsigned_abs() + 1;
    let slow = if host == HOSTS - 1 { 3 } else { 1 };
    let calls = [
        (Layer::Api, "cuLaunchKernel", 3_000, 4_000),
        (Layer::Api, "cuStreamSynchronize", 900_000, 40),
        (Layer::Driver, "RM_CONTROL", 11_000, 30),
    ];
    let of = |(layer, call, ns, rate): (Layer, &str, u64, u64)| {
        let mut histogram = Histogram::default();
        for step in 0..20 {
            // Few take much longer than most.
            let longer = ns * step * step * step / 2000;
            histogram.record_n(slow * (ns + longer), (rate * seconds).div_ceil(1 + step));
        }
        DailyCalls {
            day: began.to_zoned(jiff::tz::TimeZone::UTC).date(),
            since: began,
            last: now,
            layer,
            call: call.to_owned(),
            driver: Some(DRIVERS[host / 5].to_owned()),
            histogram,
        }
    };
    calls.map(of).into()
}

/// GPUs of a simulated host: readings of a training run, whose steps all hosts make together.
struct SimulatedGpus {
    host: usize,
    wanted: Option<Wanted>,
    read: i64,
}

/// GPUs of a simulated host.
const GPUS: u32 = 2;

impl SimulatedGpus {
    fn new(host: usize) -> Self {
        Self {
            host,
            wanted: None,
            read: 0,
        }
    }

    fn gpu(&self, index: u32, at_ns: i64) -> GpuFrame {
        // A step of 2 s: computing, then waiting for the others, which the last host does not as it is the slowest.
        let phase = (at_ns.rem_euclid(2_000_000_000)) as f64 / 2e9;
        let busy = 0.6 + 0.04 * self.host as f64;
        let works = phase < busy;
        let wave = (phase * std::f64::consts::TAU).sin();
        GpuFrame {
            index,
            name: "Simulated GPU".to_owned(),
            samples: 1,
            utilization: Some(if works { 0.97 } else { 0.05 }),
            memory_busy: Some(if works { 0.55 } else { 0.02 }),
            memory: Some(0.72),
            memory_used: Some(0.72 * 80e9),
            pcie_rx: Some(if works { 2e9 } else { 12e9 }),
            pcie_tx: Some(if works { 1e9 } else { 10e9 }),
            nvlink_rx: Some(if works { 4e9 } else { 180e9 }),
            nvlink_tx: Some(if works { 4e9 } else { 175e9 }),
            power_w: Some(if works { 620.0 } else { 140.0 } + 15.0 * wave),
            sm_mhz: Some(if works { 1740.0 } else { 1980.0 }),
            memory_mhz: Some(2619.0),
            temperature_c: Some(61.0 + 3.0 * wave + f64::from(index)),
        }
    }
}

impl Sampler for SimulatedGpus {
    fn want(&mut self, wanted: Option<&Wanted>) {
        self.wanted = wanted.cloned();
        self.read = now_ns();
    }

    fn take(&mut self, now: i64) -> Sampled {
        let mut readings = Vec::new();
        if let Some(wanted) = &self.wanted {
            let every = i64::from(wanted.every_ms) * 1_000_000;
            while self.read + every <= now {
                self.read += every;
                for index in 0..GPUS {
                    let gpu = self.gpu(index, self.read);
                    readings.push(Measured {
                        time_ns: self.read,
                        read: Read::Gpu(gpu),
                    });
                }
            }
        }
        Sampled {
            readings,
            problem: None,
        }
    }
}

impl Simulated {
    fn append(&mut self, records: Vec<Record>) -> anyhow::Result<()> {
        self.store.append(&records, &[])?;
        self.woken.notify_one();
        Ok(())
    }

    fn drill(&mut self, xid: u32, text: &str) -> anyhow::Result<()> {
        let now = Timestamp::now();
        let message = format!("NVRM: Xid (PCI:0000:3b:00): {xid}, {text}");
        let mut occurrence = Occurrence::new(Kind::Xid, Severity::Critical, message);
        occurrence.detail.xid.xid = Some(xid);
        occurrence.provenance = Provenance::Injected;
        occurrence.gpu = gtrace_event::PciAddress::parse(GPU).map(Gpu::at);
        let mut event = Event::seen(now, WitnessName::PrintkConsole, 1, occurrence);
        event.host = Some(self.name.clone());
        event.boot_id = Some(self.name.clone());
        let incidents = self.correlator.ingest(&event);
        let mut records = vec![Record::Event(Box::new(event))];
        records.extend(incidents.into_iter().map(|i| Record::Incident(Box::new(i))));
        self.append(records)
    }
}
