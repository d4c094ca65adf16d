//! Ten simulated hosts for `gtrace head --demo`: the real agent over generated stores. Every event is a drill.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use anyhow::Context as _;
use gtrace_agent::{Options, Progress, enroll};
use gtrace_api::client::Client;
use gtrace_event::{
    Event, Gpu, HealthNews, HealthRecord, Kind, Occasion, Occurrence, Provenance, Record, Severity,
    Timestamp, Witness, WitnessName,
};
use gtrace_fleet::EnrollRequest;
use gtrace_head::{TokenAnswer, TokenRequest};
use gtrace_incident::{Correlator, Options as Correlation, Rules};
use gtrace_store::Store;
use tokio::sync::{Notify, watch};

use super::agent::state_of;

const HOSTS: usize = 10;
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
                store: path.clone(),
                labels: BTreeMap::from([
                    ("rack".to_owned(), format!("r{}", n / 5)),
                    ("feed".to_owned(), format!("f{}", n % 2)),
                ]),
                rate: None,
                allow_sessions: true,
            };
            let woken = Arc::<Notify>::default();
            let (of_agent, stopped) = (Arc::clone(&woken), stop.clone());
            tokio::task::spawn_local(async move {
                let state = move || state_of(&path);
                gtrace_agent::run(options, state, None, of_agent, Progress::default(), stopped)
                    .await
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
            host.append(vec![Record::Health(Box::new(HealthRecord::new(
                Timestamp::now(),
                boot,
            )))])?;
            hosts.push(host);
        }
        tracing::info!(
            "{HOSTS} simulated hosts ship drills; `gtrace fleet incidents --follow` shows them"
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
        occurrence.gpu = gtrace_event::PciAddress::parse("0000:3b:00.0").map(Gpu::at);
        let witness = Witness {
            source: WitnessName::PrintkConsole,
            count: 1,
            first_time: now,
        };
        let mut event = Event::new(now, witness, occurrence);
        event.host = Some(self.name.clone());
        event.boot_id = Some(self.name.clone());
        let incidents = self.correlator.ingest(&event);
        let mut records = vec![Record::Event(Box::new(event))];
        records.extend(incidents.into_iter().map(|i| Record::Incident(Box::new(i))));
        self.append(records)
    }
}
