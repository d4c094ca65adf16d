//! Container runtimes and the kubelet: whether each that has a socket answers on it. A unit that runs can hang all the same, and then
//! no container starts or ends.
//!
//! systemd listens on the sockets of Docker and Podman (docker.socket, podman.socket) and starts the service of whoever connects: to ask
//! would start what an operator has stopped ([`crate::woken`]). So Docker is asked only where its daemon runs, and Podman, which has no
//! daemon, never.

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use gtrace_api::client::{Client, ClientError};
use gtrace_api::{ComponentHealth, HealthState, SourceState};
use gtrace_devices::Metric;
use gtrace_grpc::CallError;

use super::{About, Component, Context, Snapshot, show};
use crate::lock::lock;
use crate::supervise::{self, Task, names};
use crate::woken::Woken;

/// Name of component and thread.
pub const NAME: &str = names::RUNTIMES;
/// Between two rounds.
const EVERY: Duration = Duration::from_secs(30);
/// How long each has to answer.
const DEADLINE: Duration = Duration::from_secs(3);
/// Longest time between two heartbeats, which come after each.
const SILENCE: Duration = Duration::from_secs(60);
/// Any server of gRPC answers this, if only that it does not know it.
const METHOD: &str = "/grpc.health.v1.Health/Check";

/// The server that is asked only where its daemon runs, and the name of its service.
const DOCKER: &str = "docker";
const NONE: &str = "no container runtime has a socket here, or none that runs";

/// What a server speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Speaks {
    /// gRPC: containerd, CRI-O, the kubelet.
    Grpc,
    /// HTTP: Docker.
    Http,
}

/// Who is asked, and what became of it.
#[derive(Debug, Default)]
pub struct Runtimes {
    servers: Vec<(&'static str, PathBuf, Speaks)>,
    /// Where Docker's daemon writes its process id.
    docker_pid: PathBuf,
    found: Mutex<Option<Found>>,
}

/// By name: what is wrong with each that is there, if anything.
type Found = BTreeMap<&'static str, Option<String>>;

impl Runtimes {
    /// Those of this host, with the kubelet's socket.
    pub fn of_host(kubelet: &Path) -> Self {
        let servers = [
            (
                "containerd",
                "/run/containerd/containerd.sock",
                Speaks::Grpc,
            ),
            ("crio", "/run/crio/crio.sock", Speaks::Grpc),
            ("docker", "/run/docker.sock", Speaks::Http),
        ];
        let servers = servers.map(|(name, path, speaks)| (name, path.into(), speaks));
        let kubelet = ("kubelet", kubelet.to_owned(), Speaks::Grpc);
        Self {
            servers: servers.into_iter().chain([kubelet]).collect(),
            docker_pid: "/run/docker.pid".into(),
            found: Mutex::default(),
        }
    }

    /// Those that have a socket, and whose daemon is not started by a question.
    fn there(&self, context: &Context) -> Vec<&(&'static str, PathBuf, Speaks)> {
        let asked = |(name, path, _): &&(&'static str, PathBuf, Speaks)| {
            let woken = Woken {
                docker_pid: self.docker_pid.clone(),
                ..Woken::of_host(&context.proc_root, &context.sysfs_root)
            };
            path.exists() && (*name != DOCKER || woken.runs(DOCKER))
        };
        self.servers.iter().filter(asked).collect()
    }
}

/// The component.
#[derive(Clone, Copy, Debug)]
pub struct ContainerRuntimes;

impl Component for ContainerRuntimes {
    fn about(&self) -> About {
        About {
            name: NAME,
            gives: "whether containerd, CRI-O, Docker and the kubelet answer on their sockets",
            needs: "the socket of one of them, and the right to open it; Docker has to run",
            remedy: "run as root; in a pod give the daemon the sockets by volumes of type hostPath",
            task: NAME,
        }
    }

    fn supported(&self, context: &Context) -> Result<(), String> {
        match context.runtimes.there(context).is_empty() {
            false => Ok(()),
            true => Err(NONE.to_owned()),
        }
    }

    fn start(&self, context: &Context) -> std::io::Result<()> {
        if context.disabled.contains(&NAME) || context.runtimes.servers.is_empty() {
            show(&context.hub, NAME, SourceState::Off, None);
            return Ok(());
        }
        let task = Task::optional(NAME, SILENCE);
        let of_task = context.clone();
        context.hub.tasks.start(task, move |pulse| {
            while !pulse.is_stopping() {
                round(&of_task);
                pulse.wait_for_next(EVERY);
            }
            Ok(())
        })
    }

    fn check(&self, context: &Context, _now: &Snapshot) -> ComponentHealth {
        let found = lock(&context.runtimes.found);
        let Some(found) = &*found else {
            let reason = "none was asked yet".to_owned();
            return ComponentHealth::now(HealthState::Unknown, [reason]);
        };
        let faults = found.iter();
        let faults =
            faults.filter_map(|(name, fault)| Some(format!("{name}: {}", fault.as_ref()?)));
        let faults: Vec<String> = faults.collect();
        match faults.is_empty() {
            true => ComponentHealth::now(HealthState::Healthy, None),
            false => ComponentHealth::now(HealthState::Unhealthy, faults),
        }
    }
}

/// Asks each once.
fn round(context: &Context) {
    let mut found = Found::new();
    let mut metrics = Vec::new();
    let mut refused = None;
    let there = context.runtimes.there(context);
    for (name, path, speaks) in &there {
        supervise::beat();
        let began = Instant::now();
        let answer = match speaks {
            Speaks::Grpc => ask_grpc(path),
            Speaks::Http => ask_http(path),
        };
        let took = began.elapsed();
        let fault = match answer {
            Answer::Yes => None,
            Answer::No(why) => Some(why),
            Answer::NotAllowed(why) => {
                refused = Some(why);
                continue;
            }
        };
        metrics.extend(measured(name, fault.is_none(), took));
        found.insert(*name, fault);
    }
    if supervise::is_revoked() {
        return;
    }
    let hub = &context.hub;
    hub.samples.publish_now(NAME, EVERY, metrics);
    let (state, reason) = match (there.is_empty(), refused) {
        (true, _) => (SourceState::Absent, Some(NONE.to_owned())),
        (false, Some(why)) => (SourceState::Degraded, Some(why)),
        (false, None) => (SourceState::Active, None),
    };
    *lock(&context.runtimes.found) = Some(found);
    show(hub, NAME, state, reason);
}

fn measured(name: &str, answers: bool, took: Duration) -> [Metric; 2] {
    gtrace_devices::metric_table! {
        gauge "gtrace_runtime_answers" [""] "Whether a container runtime or the kubelet answers on its socket (1) or not (0)" =>
            f64::from(u8::from(answers));
        gauge "gtrace_runtime_answer_seconds" ["seconds"] "How long a container runtime or the kubelet took to answer, or was waited for" =>
            took.as_secs_f64();
    }
    .map(|metric| metric.with(vec![("runtime", name.to_owned())]))
}

enum Answer {
    Yes,
    No(String),
    /// This daemon may not ask.
    NotAllowed(String),
}

fn not_allowed(path: &Path) -> Answer {
    Answer::NotAllowed(format!("{}: permission denied", path.display()))
}

fn ask_grpc(path: &Path) -> Answer {
    match gtrace_grpc::call::<(), ()>(path, METHOD, &(), DEADLINE) {
        // That it does not know the method is an answer.
        Ok(()) | Err(CallError::Refused { .. } | CallError::Http(_) | CallError::Garbled(_)) => {
            Answer::Yes
        }
        Err(CallError::Connect { cause, .. }) if cause.kind() == ErrorKind::PermissionDenied => {
            not_allowed(path)
        }
        Err(error) => Answer::No(error.to_string()),
    }
}

fn ask_http(path: &Path) -> Answer {
    let client = Client::unix(path).with_deadline(DEADLINE);
    match client.get_text("/_ping") {
        Ok(_) | Err(ClientError::Refused { .. } | ClientError::UnexpectedResponse(_)) => {
            Answer::Yes
        }
        Err(ClientError::Forbidden { .. }) => not_allowed(path),
        Err(ClientError::NoDaemon { cause, .. }) => {
            Answer::No(format!("{} cannot be reached: {cause}", path.display()))
        }
        Err(ClientError::Broken(error)) => {
            let seconds = DEADLINE.as_secs();
            Answer::No(match error.kind() {
                ErrorKind::WouldBlock | ErrorKind::TimedOut => {
                    format!("{} has not answered within {seconds} s", path.display())
                }
                _ => format!("{}: {error}", path.display()),
            })
        }
        // Never over a Unix socket.
        Err(error @ ClientError::Tls(_)) => Answer::No(error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::{Read as _, Write as _};
    use std::os::unix::net::UnixListener;
    use std::sync::Arc;

    use gtrace_grpc::testing::{Reply, serve};

    use super::*;

    fn context(servers: Vec<(&'static str, PathBuf, Speaks)>, docker_pid: &Path) -> Context {
        Context {
            runtimes: Arc::new(Runtimes {
                servers,
                docker_pid: docker_pid.to_owned(),
                found: Mutex::default(),
            }),
            ..Context::shown()
        }
    }

    fn health(context: &Context) -> ComponentHealth {
        context.checked(NAME)
    }

    fn state(context: &Context) -> SourceState {
        context.source(NAME).state
    }

    #[test]
    fn a_runtime_that_is_absent_works_breaks_and_recovers_is_seen() {
        let dir = tempfile::tempdir().unwrap();
        let docker = dir.path().join("docker.sock");
        let servers = vec![(DOCKER, docker.clone(), Speaks::Http)];
        let context = Context {
            sysfs_root: dir.path().join("sys"),
            ..context(servers, Path::new("/nonexistent"))
        };
        let service = context
            .sysfs_root
            .join("fs/cgroup/system.slice/docker.service");
        fs::create_dir_all(&service).unwrap();
        fs::write(service.join("cgroup.events"), "populated 1\nfrozen 0\n").unwrap();
        assert!(ContainerRuntimes.supported(&context).is_err());
        round(&context);
        assert_eq!(state(&context), SourceState::Absent);
        assert_eq!(health(&context).state, HealthState::Unknown);

        let listen = || UnixListener::bind(&docker).unwrap();
        let listener = listen();
        let server = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut asked = [0; 256];
            let length = stream.read(&mut asked).unwrap();
            stream
                .write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nOK")
                .unwrap();
            asked[..length].to_vec()
        });
        round(&context);
        assert!(server.join().unwrap().starts_with(b"GET /_ping "));
        assert_eq!(
            (state(&context), health(&context).state),
            (SourceState::Active, HealthState::Healthy)
        );
        // Its listener is gone, its socket is not.
        round(&context);
        let judged = health(&context);
        assert_eq!(judged.state, HealthState::Unhealthy);
        assert!(
            judged.reasons[0].contains("docker") && judged.reasons[0].contains("refused"),
            "{judged:?}"
        );
        std::fs::remove_file(&docker).unwrap();
        round(&context);
        assert_eq!(state(&context), SourceState::Absent);
    }

    #[test]
    fn docker_is_asked_only_where_its_daemon_runs_and_podman_never() {
        let dir = tempfile::tempdir().unwrap();
        let socket = dir.path().join("docker.sock");
        // As that of systemd, which starts the service of whoever connects.
        let listener = UnixListener::bind(&socket).unwrap();
        listener.set_nonblocking(true).unwrap();
        let (proc, pid) = (dir.path().join("proc"), dir.path().join("docker.pid"));
        let context = Context {
            proc_root: proc.clone(),
            sysfs_root: dir.path().join("sys"),
            ..context(vec![(DOCKER, socket, Speaks::Http)], &pid)
        };
        let asked = || !context.runtimes.there(&context).is_empty();
        round(&context);
        assert!(listener.accept().is_err(), "nobody connects");
        fs::create_dir_all(proc.join("812")).unwrap();
        fs::write(&pid, "812").unwrap();
        assert!(!asked());
        fs::write(proc.join("812/comm"), "bash\n").unwrap();
        assert!(!asked(), "the id is another's now");
        fs::write(proc.join("812/comm"), "dockerd\n").unwrap();
        assert!(asked());
        let of_host = Runtimes::of_host("/nonexistent".as_ref());
        assert!(of_host.servers.iter().all(|(name, _, _)| *name != "podman"));
    }

    #[test]
    fn one_that_hangs_is_named_and_one_that_knows_no_health_answers_all_the_same() {
        let (good, bad) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let (containerd, _calls) = serve(good.path(), Reply::Refusal("12", "unknown service"));
        // It listens and never accepts.
        let crio = bad.path().join("crio.sock");
        let _listener = UnixListener::bind(&crio).unwrap();
        let servers = vec![
            ("containerd", containerd, Speaks::Grpc),
            ("crio", crio, Speaks::Grpc),
        ];
        let context = context(servers, Path::new("/nonexistent"));
        round(&context);
        let judged = health(&context);
        assert_eq!(judged.state, HealthState::Unhealthy);
        assert_eq!(judged.reasons.len(), 1, "{judged:?}");
        assert!(judged.reasons[0].starts_with("crio: ") && judged.reasons[0].contains("3 s"));
        let metrics = context.hub.samples.newest();
        let answers = metrics
            .iter()
            .filter(|m| m.name == "gtrace_runtime_answers");
        assert_eq!(answers.map(|m| m.value).collect::<Vec<_>>(), [1.0, 0.0]);
    }
}
