//! A daemon's core in miniature: a real hub, a real store, the real API on sockets of its own.
#![allow(
    dead_code,
    unreachable_pub,
    clippy::unwrap_used,
    reason = "tests only; each test file uses a part of it"
)]

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use gtrace_api::client::{Client, Endpoint};
use gtrace_api::{SourceState, SourceStatus, Status};
use gtrace_engine::config::Compat;
use gtrace_engine::hub::{Command, Hub, Pause};
use gtrace_event::{
    Amendment, Event, Gpu, HealthReport, Incident, Kind, Occurrence, Process, Provenance, Record,
    RecordId, Severity, Timestamp, WitnessName,
};
use gtrace_http::{ApiConfig, Limits};
use gtrace_incident::{Correlator, Rules};
use gtrace_store::{Options, Reader, Store};
use gtrace_tls::AccessFiles;
use tokio::sync::{mpsc, watch};

pub struct Daemon {
    pub dir: tempfile::TempDir,
    pub hub: Arc<Hub>,
    pub tcp: SocketAddr,
    pub https: Option<SocketAddr>,
    core: Arc<Core>,
    shutdown: Option<watch::Sender<bool>>,
    threads: Vec<JoinHandle<()>>,
}

pub struct Core {
    hub: Arc<Hub>,
    /// `None` once the daemon has stopped.
    store: Mutex<Option<Store>>,
    path: PathBuf,
    pub pauses: Mutex<Vec<Pause>>,
}

impl Core {
    /// Appends and publishes, as the daemon's pipeline does.
    pub fn publish(&self, records: &[(Record, Event)]) {
        let mut store = self.store.lock().unwrap();
        let store = store.as_mut().unwrap();
        let bodies: Vec<Record> = records.iter().map(|(record, _)| record.clone()).collect();
        let seqs = store.append(&bodies, &[]).unwrap();
        let epoch = store.epoch();
        for (seq, (record, event)) in seqs.zip(records) {
            let id = RecordId { epoch, seq };
            self.hub
                .publish(id, record.clone().into_change(), event.clone());
        }
    }

    /// Appends and publishes a change of an incident.
    pub fn publish_incident(&self, incident: &Incident) {
        let mut store = self.store.lock().unwrap();
        let store = store.as_mut().unwrap();
        let record = Record::Incident(Box::new(incident.clone()));
        let seq = *store.append(&[record], &[]).unwrap().start();
        let epoch = store.epoch();
        self.hub.set_incident(incident.clone());
        self.hub
            .publish_incident(RecordId { epoch, seq }, incident.clone());
    }

    fn answer(&self, command: Command) {
        match command {
            Command::Ack(ack, answer) => {
                let event = Reader::open(&self.path).unwrap().event(ack.id).unwrap();
                let result = event
                    .ok_or_else(|| "no such event".to_owned())
                    .map(|mut event| {
                        event.acks.push(ack.clone());
                        self.publish(&[(Record::Ack(ack), event.clone())]);
                        event
                    });
                let _ = answer.send(result);
            }
            Command::Incident(id, change, answer) => {
                let mut incident = self.hub.incident(id).unwrap();
                incident.change_state(*change);
                self.publish_incident(&incident);
                let _ = answer.send(Ok(incident));
            }
            Command::Flush(answer) => {
                let _ = answer.send(Ok(()));
            }
            Command::Capture(reason, answer) => {
                let _ = answer.send(Err(format!("this daemon records nothing: {reason}")));
            }
            Command::Maintenance(window, answer) => {
                let _ = answer.send(Ok(window));
            }
            Command::Pause(pause, answer) => {
                self.pauses.lock().unwrap().push(pause);
                let _ = answer.send(Ok(()));
            }
            #[allow(unreachable_patterns, reason = "commands that the API does not send")]
            _ => {}
        }
    }
}

/// One GPU that fell off the bus, and one that is well.
pub fn health() -> HealthReport {
    serde_json::from_value(serde_json::json!({
        "time": "2026-03-03T04:05:06Z",
        "state": "unhealthy",
        "action": "reboot",
        "subjects": [
            { "subject": { "part": "host" }, "state": "unhealthy",
              "since": "2026-03-03T04:05:06Z", "action": "reboot" },
            { "subject": { "part": "gpu", "name": "0000:3b:00.0" }, "uuid": "GPU-8f3a",
              "state": "unhealthy", "since": "2026-03-03T04:05:06Z", "action": "reboot", "confidence": "high",
              "reasons": [{ "rule": "off-the-bus", "code": 79, "status": "active", "state": "unhealthy",
                "action": "reboot", "confidence": "high", "text": "fell off the bus (Xid 79)",
                "occurrences": 1, "since": "2026-03-03T04:05:06Z", "last": "2026-03-03T04:05:06Z" }] },
            { "subject": { "part": "gpu", "name": "0000:86:00.0" }, "state": "healthy",
              "since": "2026-03-03T04:05:06Z", "action": "none" },
        ],
    }))
    .unwrap()
}

pub fn status() -> Status {
    Status {
        version: "0.1.0".into(),
        pid: 1,
        host: "node7".into(),
        boot_id: "b".into(),
        started: "2026-03-03T00:00:00Z".parse().unwrap(),
        sources: vec![SourceStatus {
            name: "printk:console".into(),
            witness: Some(WitnessName::PrintkConsole),
            state: SourceState::Active,
            gives: "the kernel log".into(),
            needs: "tracefs".into(),
            ..SourceStatus::default()
        }],
        ..Status::default()
    }
}

impl Daemon {
    pub fn start() -> Self {
        Self::start_in(tempfile::tempdir().unwrap())
    }

    pub fn start_in(dir: tempfile::TempDir) -> Self {
        Self::start_with(dir, Limits::default())
    }

    pub fn start_with(dir: tempfile::TempDir, limits: Limits) -> Self {
        Self::start_as(dir, limits, Compat::default(), None)
    }

    /// One that answers GPUd's clients too.
    pub fn start_as_gpud() -> Self {
        let compat = Compat {
            gpud: true,
            ..Compat::default()
        };
        Self::start_as(
            tempfile::tempdir().unwrap(),
            Limits::default(),
            compat,
            None,
        )
    }

    /// One that other hosts reach.
    pub fn start_with_https(dir: tempfile::TempDir, access: AccessFiles) -> Self {
        Self::start_as(dir, Limits::default(), Compat::default(), Some(access))
    }

    fn start_as(
        dir: tempfile::TempDir,
        limits: Limits,
        compat: Compat,
        access: Option<AccessFiles>,
    ) -> Self {
        let path = dir.path().join("store.db");
        let store = Store::open(&path, Options::default()).unwrap();
        let (hub, commands) = Hub::new(status());
        hub.begin_after(store.last_id().unwrap());
        hub.set_health_report(health(), 0);
        hub.metrics.count_records(WitnessName::PrintkConsole, 7);
        hub.metrics
            .count_lost(WitnessName::PrintkConsole.name(), "overwritten", 1);
        let core = Arc::new(Core {
            hub: Arc::clone(&hub),
            store: Mutex::new(Some(store)),
            path: path.clone(),
            pauses: Mutex::default(),
        });
        let any_port = SocketAddr::from(([127, 0, 0, 1], 0));
        let config = ApiConfig {
            socket: Some(dir.path().join("socket")),
            listen: Some(any_port.try_into().unwrap()),
            listen_https: match access {
                Some(_) => vec![any_port],
                None => Vec::new(),
            },
            access,
            store: path,
            limits,
            compat,
        };
        let bound = gtrace_http::bind(&config).unwrap();
        let tcp = bound.tcp_addr().unwrap();
        let https = bound.https_addrs().next();
        let (shutdown, end) = watch::channel(false);
        let threads = vec![
            std::thread::spawn({
                let core = Arc::clone(&core);
                move || run_core(&core, commands)
            }),
            std::thread::spawn({
                let hub = Arc::clone(&hub);
                move || {
                    let runtime = tokio::runtime::Builder::new_current_thread()
                        .enable_all()
                        .build();
                    runtime
                        .unwrap()
                        .block_on(gtrace_http::serve(bound, hub, end))
                        .unwrap();
                }
            }),
        ];
        Self {
            dir,
            hub,
            tcp,
            https,
            core,
            shutdown: Some(shutdown),
            threads,
        }
    }

    pub fn core(&self) -> Arc<Core> {
        Arc::clone(&self.core)
    }

    pub fn client(&self) -> Client {
        Client::unix(self.dir.path().join("socket"))
    }

    pub fn tcp_client(&self) -> Client {
        Client::new(Endpoint::Tcp(self.tcp))
    }

    pub fn publish_event(&self, event: &Event) {
        self.core
            .publish(&[(Record::Event(Box::new(event.clone())), event.clone())]);
    }

    /// Publishes an event, and the incident that it opens.
    pub fn publish_opened(&self, event: &Event) -> Incident {
        self.publish_event(event);
        let incident = incident_of(event);
        self.core.publish_incident(&incident);
        incident
    }

    /// Ends the API, waits until it has ended, and closes the store.
    pub fn stop(mut self) -> tempfile::TempDir {
        drop(self.shutdown.take());
        self.threads.pop().unwrap().join().unwrap();
        drop(self.core.store.lock().unwrap().take());
        let Self { dir, .. } = self;
        dir
    }

    /// What `/metrics` shows of `series`, over the Unix socket.
    pub fn metric(&self, series: &str) -> Option<f64> {
        let text = self.client().get_text("/metrics").unwrap();
        let line = text.lines().find(|line| line.starts_with(series))?;
        line.rsplit_once(' ')?.1.parse().ok()
    }

    /// Sends `request` as it is and returns status code and whole answer.
    pub fn raw_tcp(&self, request: &str) -> (u16, String) {
        exchange(TcpStream::connect(self.tcp).unwrap(), request)
    }

    pub fn raw_unix(&self, request: &str) -> (u16, String) {
        exchange(
            UnixStream::connect(self.dir.path().join("socket")).unwrap(),
            request,
        )
    }
}

fn run_core(core: &Core, mut commands: mpsc::UnboundedReceiver<Command>) {
    while let Some(command) = commands.blocking_recv() {
        core.answer(command);
    }
}

fn exchange(mut stream: impl Read + Write, request: &str) -> (u16, String) {
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    (answer[9..12].parse().unwrap(), answer)
}

pub fn at(text: &str) -> Timestamp {
    text.parse().unwrap()
}

pub fn event(kind: Kind, severity: Severity, time: &str, message: &str) -> Event {
    let occurrence = Occurrence::new(kind, severity, message);
    Event::seen(at(time), WitnessName::Kmsg, 1, occurrence)
}

pub fn xid(pci: &str, code: u32, severity: Severity, time: &str) -> Event {
    let mut event = event(
        Kind::Xid,
        severity,
        time,
        &format!("NVRM: Xid ({pci}): {code}"),
    );
    event.detail.xid.xid = Some(code);
    event.gpu = Some(Gpu::at(pci.parse().unwrap()));
    event.process = Some(Process {
        pid: Some(42),
        comm: Some("python3".into()),
        ..Process::default()
    });
    event.provenance = Provenance::Kernel;
    event
}

/// The incident that the event opens.
pub fn incident_of(event: &Event) -> Incident {
    let rules = Rules::builtin().unwrap();
    let mut correlator = Correlator::new(rules, gtrace_incident::Options::default());
    correlator.ingest(event).remove(0)
}

/// The event with one more repeat, and the amendment that says so.
pub fn repeat(event: &Event) -> (Record, Event) {
    let mut new = event.clone();
    new.revision += 1;
    new.repeats += 1;
    new.last_time = Some(event.time);
    let amendment = Amendment::between(event, &new, event.time).unwrap();
    (Record::Amendment(Box::new(amendment)), new)
}
