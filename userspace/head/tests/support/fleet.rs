//! A head and agents in threads of the test.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use gtrace_agent::{Actor, Enrolled, Options, Progress, Sampler, enroll, now_ns};
use gtrace_api::client::Client;
use gtrace_event::{HealthReport, IncidentId, PciAddress, Timestamp};
use gtrace_fleet::{EnrollRequest, HostState, READ_MAX, TraceOrder};
use gtrace_head::db::Place;
use gtrace_head::http::{Gswarm, Listen, RemoteWrite, bind, serve};
use gtrace_head::remediation::Remediation;
use gtrace_head::{HostView, Nats, TokenAnswer, TokenRequest};
use gtrace_tls::AccessFiles;
use tokio::sync::{Notify, watch};

use super::Host;

pub struct Head {
    pub url: String,
    /// URL for other hosts, where it serves them.
    pub https: Option<String>,
    /// URL of gswarm-profiler's routes.
    pub gswarm: String,
    pub client: Client,
    stop: Option<watch::Sender<bool>>,
    thread: Option<std::thread::JoinHandle<()>>,
}

impl Head {
    pub fn start(dir: &Path, database: &Place, address: &str) -> Self {
        Self::serving(dir, database, address, |_| ())
    }

    /// Agents come through NATS too.
    pub fn through(dir: &Path, database: &Place, nats: Nats) -> Self {
        Self::serving(dir, database, "127.0.0.1:0", |listen| {
            listen.nats = Some(nats);
        })
    }

    /// Its metrics are pushed.
    pub fn pushing(dir: &Path, database: &Place, to: RemoteWrite) -> Self {
        Self::serving(dir, database, "127.0.0.1:0", |listen| {
            listen.remote_write = Some(to);
        })
    }

    /// For other hosts too.
    pub fn over_tls(dir: &Path, database: &Place, files: AccessFiles) -> Self {
        Self::serving(dir, database, "127.0.0.1:0", |listen| {
            listen.https = Some(("127.0.0.1:0".parse().unwrap(), files));
        })
    }

    /// With a policy of remediation.
    pub fn with_policy(dir: &Path, database: &Place, address: &str, policy: PathBuf) -> Self {
        Self::serving(dir, database, address, |listen| {
            listen.remediation = Some(Remediation { policy });
        })
    }

    fn serving(
        dir: &Path,
        database: &Place,
        address: &str,
        change: impl FnOnce(&mut Listen),
    ) -> Self {
        let socket = dir.join("head.sock");
        let mut listen = Listen {
            tcp: Some(address.parse().unwrap()),
            https: None,
            socket: Some(socket.clone()),
            database: database.clone(),
            retention_days: Some(30),
            gswarm: Some(Gswarm {
                port: 0,
                interval_ms: 100,
                folder: dir.to_owned(),
            }),
            remediation: None,
            nats: None,
            remote_write: None,
        };
        change(&mut listen);
        let bound = bind(listen).unwrap();
        let url = format!("http://{}", bound.tcp_addr().unwrap());
        let https = bound.https_addr();
        let https = https.map(|at| format!("https://localhost:{}", at.port()));
        let gswarm = format!("http://{}", bound.gswarm_addr().unwrap());
        let (stop, stopped) = watch::channel(false);
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_multi_thread()
                .worker_threads(2)
                .enable_all()
                .build()
                .unwrap();
            runtime.block_on(serve(bound, stopped, || ())).unwrap();
        });
        Self {
            url,
            https,
            gswarm,
            client: Client::unix(socket),
            stop: Some(stop),
            thread: Some(thread),
        }
    }

    pub fn token(&self, host: Option<&str>, uses: u32) -> String {
        token(&self.client, host, uses)
    }

    pub fn hosts(&self) -> Vec<HostView> {
        self.client.get("/fleet/v1/hosts").unwrap()
    }
}

impl Drop for Head {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

pub fn token(head: &Client, host: Option<&str>, uses: u32) -> String {
    let request = TokenRequest {
        host: host.map(str::to_owned),
        for_s: 600,
        uses,
        by: "test".to_owned(),
    };
    let answer: TokenAnswer = head.post("/fleet/v1/tokens", &request).unwrap();
    answer.token
}

pub fn request(host: &str, token: &str, machine: &str) -> EnrollRequest {
    EnrollRequest {
        token: token.to_owned(),
        host: host.to_owned(),
        machine_id: Some(machine.to_owned()),
        simulated: true,
    }
}

pub fn block<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap()
        .block_on(future)
}

pub fn enrolled(head: &Head, host: &str, token: &str) -> Enrolled {
    enrolled_as(head, host, token, host)
}

pub fn enrolled_as(head: &Head, host: &str, token: &str, machine: &str) -> Enrolled {
    let request = request(host, token, machine);
    block(enroll(&head.url.parse().unwrap(), None, &request)).unwrap()
}

/// A host that does what it is asked for, and keeps what that was. A reboot gives it another boot.
pub struct RecordingActor {
    state: Arc<Mutex<HostState>>,
    permits: Vec<String>,
    pub done: Mutex<Vec<String>>,
    /// Who has a GPU open.
    pub user: Mutex<Option<String>>,
}

impl RecordingActor {
    /// That of `agent`, which gets it.
    pub fn of(agent: &mut Agent, permits: &[&str]) -> Arc<Self> {
        let actor = Arc::new(Self {
            state: Arc::clone(&agent.state),
            permits: permits.iter().map(|p| (*p).to_owned()).collect(),
            done: Mutex::default(),
            user: Mutex::default(),
        });
        agent.options.actor = Some(Arc::clone(&actor) as Arc<dyn Actor>);
        actor
    }

    /// Has the host say how it is.
    pub fn set_health(&self, health: Option<HealthReport>) {
        self.state.lock().unwrap().health = health;
    }
}

impl Actor for RecordingActor {
    fn permits(&self) -> Vec<String> {
        self.permits.clone()
    }

    fn read(&self, path: &str) -> (u16, Vec<u8>) {
        self.done.lock().unwrap().push(path.to_owned());
        match path {
            "/api/v1/cuda" => (
                503,
                b"{\"error\":\"e\",\"cause\":\"none\",\"remedy\":\"r\"}".to_vec(),
            ),
            "/api/v1/samples" => (200, vec![b' '; READ_MAX + 1]),
            _ => (200, format!("{path:?}").into_bytes()),
        }
    }

    fn report(&self, incident: IncidentId) -> Result<Vec<u8>, String> {
        self.done.lock().unwrap().push("report".to_owned());
        Ok(format!("<!doctype html>{incident}{}", "x".repeat(1 << 20)).into_bytes())
    }

    fn trace(&self, order: &TraceOrder) -> Result<Vec<u8>, String> {
        self.done.lock().unwrap().push(order.to_string());
        Ok(b"a trace".to_vec())
    }

    fn reset_gpu(&self, pci: PciAddress) -> Result<String, String> {
        self.done.lock().unwrap().push(format!("reset {pci}"));
        match self.user.lock().unwrap().clone() {
            Some(user) => Err(format!("{user} has /dev/nvidia0 open")),
            None => Ok("GPU was reset".to_owned()),
        }
    }

    fn reboot(&self) -> Result<String, String> {
        self.done.lock().unwrap().push("reboot".to_owned());
        self.state.lock().unwrap().boot_id = Some("second".to_owned());
        Ok(String::new())
    }
}

/// What an agent is started with.
pub struct Agent {
    pub options: Options,
    pub sampler: Option<Box<dyn Sampler>>,
    /// What the host says of itself.
    pub state: Arc<Mutex<HostState>>,
}

impl Agent {
    pub fn new(host: &Host, enrolled: Enrolled, rack: &str) -> Self {
        let options = Options {
            enrolled,
            store: host.path.clone(),
            labels: BTreeMap::from([("rack".to_owned(), rack.to_owned())]),
            rate: None,
            allow_sessions: true,
            actor: None,
            nats: None,
            clock: Arc::new(now_ns),
        };
        Self {
            options,
            sampler: None,
            state: Arc::default(),
        }
    }
}

/// Agents in a thread of their own, until they are dropped.
pub struct Agents {
    progress: Vec<Progress>,
    wake: Vec<Arc<Notify>>,
    stop: Option<watch::Sender<bool>>,
    thread: Option<std::thread::JoinHandle<()>>,
}

impl Agents {
    pub fn start(agents: Vec<Agent>) -> Self {
        let (stop, stopped) = watch::channel(false);
        let progress: Vec<Progress> = agents.iter().map(|_| Progress::default()).collect();
        let wake: Vec<Arc<Notify>> = agents.iter().map(|_| Arc::default()).collect();
        let all: Vec<_> = agents
            .into_iter()
            .zip(&progress)
            .zip(&wake)
            .map(|((agent, progress), wake)| (agent, Arc::clone(wake), progress.clone()))
            .collect();
        let thread = std::thread::spawn(move || {
            let local = async move {
                let mut tasks = tokio::task::JoinSet::new();
                for (agent, wake, progress) in all {
                    let Agent {
                        options,
                        sampler,
                        state,
                    } = agent;
                    let state = move || HostState {
                        time: Timestamp::now(),
                        version: "test".to_owned(),
                        ..state.lock().unwrap().clone()
                    };
                    let stopped = stopped.clone();
                    let agent = gtrace_agent::run(options, state, sampler, wake, progress, stopped);
                    tasks.spawn_local(agent);
                }
                while tasks.join_next().await.is_some() {}
            };
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .unwrap();
            tokio::task::LocalSet::new().block_on(&runtime, local);
        });
        Self {
            progress,
            wake,
            stop: Some(stop),
            thread: Some(thread),
        }
    }

    pub fn wake(&self) {
        self.wake.iter().for_each(|wake| wake.notify_one());
    }

    /// Bytes of records and states that one has sent.
    pub fn sent(&self, n: usize) -> u64 {
        self.progress[n].sent_bytes()
    }

    /// Why what each did last has failed.
    pub fn errors(&self) -> Vec<Option<String>> {
        self.progress.iter().map(Progress::error).collect()
    }

    /// Waits until the head, or what is before it, has the newest record of each store.
    pub fn caught_up(&self, hosts: &[&Host]) {
        self.wake();
        for (progress, host) in self.progress.iter().zip(hosts) {
            for _ in 0..6000 {
                let there = progress.cursor().map(|cursor| cursor.hash);
                if there == Some(host.store.last_hash()) {
                    break;
                }
                std::thread::sleep(Duration::from_millis(10));
            }
            let there = progress.cursor().map(|cursor| cursor.hash);
            assert_eq!(
                there,
                Some(host.store.last_hash()),
                "{}: {:?}",
                host.name,
                progress.error()
            );
        }
    }
}

impl Drop for Agents {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
