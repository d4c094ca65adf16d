//! Names of containers and steps: by the kubelet's log folder, by the sockets of Docker and Podman, by the environment that Slurm
//! gives to a step.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::io::{Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use super::patient::Patient;
use crate::lock::lock;
use crate::process::start_time;
use crate::woken::Woken;

/// How long a socket has to answer, from connecting to the end of the answer.
const DEADLINE: Duration = Duration::from_secs(1);
/// Runtimes of containers are asked for names for so long in one reading.
const PATIENCE: Duration = Duration::from_secs(10);
/// A name that a runtime gave is good for so long: an operator can change it.
const NAMED_FOR: Duration = Duration::from_secs(600);
/// How long the environment of a process may take: a process that holds its memory's lock and hangs keeps the reader for ever.
const ENVIRONMENT_DEADLINE: Duration = Duration::from_millis(250);
/// Readers of environments that have not ended, at most.
const READERS: usize = 16;
/// Largest answer of a container runtime that is read, bytes.
const MOST_BYTES: usize = 1 << 20;
/// Largest environment of a process that is read, bytes.
const MOST_ENVIRONMENT: u64 = 1 << 18;
/// The longest name that is taken, bytes.
const MOST_NAME: usize = 253;

/// Where names are found.
#[derive(Clone, Debug)]
pub struct Places {
    /// The kubelet's links to the logs of containers: `POD_NAMESPACE_CONTAINER-ID.log`.
    pub container_logs: PathBuf,
    /// Sockets with Docker's API.
    pub sockets: Vec<RuntimeSocket>,
    /// Questions to these sockets; with the answer comes the container that was asked for.
    runtimes: Arc<Patient<PathBuf, (String, Option<String>)>>,
    /// What they answered, by container, and when.
    names: Arc<Mutex<BTreeMap<String, (String, Instant)>>>,
    environments: Arc<Environments>,
}

/// A socket, and the service that whoever connects starts.
#[derive(Clone, Debug)]
pub struct RuntimeSocket {
    /// The socket.
    pub path: PathBuf,
    /// It is asked only while this service runs; `None`: always.
    pub service: Option<(&'static str, Woken)>,
}

impl Places {
    /// Those of a host with these roots of procfs and sysfs.
    pub fn of_host(proc_root: &Path, sysfs_root: &Path) -> Self {
        let woken = Woken::of_host(proc_root, sysfs_root);
        let socket = |service, path: &str| RuntimeSocket {
            path: path.into(),
            service: Some((service, woken.clone())),
        };
        Self {
            sockets: vec![
                socket("docker", "/run/docker.sock"),
                socket("podman", "/run/podman/podman.sock"),
            ],
            ..Self::default()
        }
    }
}

impl Default for Places {
    fn default() -> Self {
        Self {
            container_logs: "/var/log/containers".into(),
            sockets: Vec::new(),
            runtimes: Arc::new(Patient::new(DEADLINE, READERS)),
            names: Arc::default(),
            environments: Arc::default(),
        }
    }
}

impl Places {
    /// The containers of pods that have a log, by id.
    fn pods(&self) -> HashMap<String, Pod> {
        let entries = fs::read_dir(&self.container_logs).into_iter().flatten();
        let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
        names.filter_map(|name| pod_of(&name)).collect()
    }

    /// The name of the container `id` of Docker or Podman, of those that run.
    fn name_of(&self, id: &str) -> Option<String> {
        let known = lock(&self.names).get(id).cloned();
        if let Some((name, _)) = known.filter(|(_, at)| at.elapsed() < NAMED_FOR) {
            return Some(name);
        }
        let name = self.asked_for(id)?;
        lock(&self.names).insert(id.to_owned(), (name.clone(), Instant::now()));
        Some(name)
    }

    fn asked_for(&self, id: &str) -> Option<String> {
        let running = self.sockets.iter().filter(|socket| {
            let service = socket.service.as_ref();
            service.is_none_or(|(name, woken)| woken.runs(name))
        });
        running.map(|socket| &socket.path).find_map(|socket| {
            let (of_thread, asked) = (socket.clone(), id.to_owned());
            let question = move || {
                let name = ask(&of_thread, &asked);
                (asked, name)
            };
            let (of, name) = self.runtimes.ask(socket.clone(), question)?;
            // An answer that came late may be of another container.
            name.filter(|_| of == id)
        })
    }

    /// What the environment of a process says of its step.
    pub(super) fn slurm_of(&self, pid: u32) -> Slurm {
        self.environments.of(pid)
    }

    /// Forgets the environments of processes that use no GPU any more, and names of long ago.
    pub(super) fn forget_others(&self, uses_a_gpu: impl Fn(u32) -> bool) {
        lock(&self.names).retain(|_, (_, at)| at.elapsed() < NAMED_FOR);
        self.environments.retain(uses_a_gpu);
    }
}

/// Namespace, pod and name of a container.
pub(super) type Pod = (String, String, String);

/// Of which container of which pod a log is; its id has no `-`.
fn pod_of(log: &str) -> Option<(String, Pod)> {
    let (names, id) = log.strip_suffix(".log")?.rsplit_once('-')?;
    let mut parts = names.splitn(3, '_').map(str::to_owned);
    let (pod, namespace, container) = (parts.next()?, parts.next()?, parts.next()?);
    Some((id.to_owned(), (namespace, pod, container)))
}

/// Containers of one reading. A host has thousands, and as many processes: their logs are listed once, each is asked for once, and none
/// once the runtimes have taken too long.
pub(super) struct Containers<'a> {
    pub(super) places: &'a Places,
    pods: Option<HashMap<String, Pod>>,
    names: BTreeMap<String, Option<String>>,
    until: Instant,
}

impl<'a> Containers<'a> {
    pub(super) fn of(places: &'a Places) -> Self {
        Self {
            places,
            pods: None,
            names: BTreeMap::new(),
            until: Instant::now() + PATIENCE,
        }
    }

    /// The container `id` of a pod.
    pub(super) fn pod_of(&mut self, id: &str) -> Option<Pod> {
        let pods = self.pods.get_or_insert_with(|| self.places.pods());
        pods.get(id).cloned()
    }

    /// The name of the container `id` of a runtime.
    pub(super) fn name_of(&mut self, id: &str) -> Option<String> {
        if let Some(known) = self.names.get(id) {
            return known.clone();
        }
        let name = (Instant::now() < self.until)
            .then(|| self.places.name_of(id))
            .flatten();
        self.names.insert(id.to_owned(), name.clone());
        name
    }
}

/// A process, by its number and when it began, in ticks since the boot.
type Begun = (u32, u64);

/// Environments of processes, each read once. /proc/PID/environ takes the lock of the process's memory, so a process that hangs
/// with it keeps whoever reads.
#[derive(Debug)]
struct Environments {
    reads: Patient<Begun, Slurm>,
    known: Mutex<BTreeMap<Begun, Slurm>>,
}

impl Default for Environments {
    fn default() -> Self {
        Self {
            reads: Patient::new(ENVIRONMENT_DEADLINE, READERS),
            known: Mutex::default(),
        }
    }
}

impl Environments {
    fn of(&self, pid: u32) -> Slurm {
        let Some(start) = start_time(pid) else {
            return Slurm::default();
        };
        let key = (pid, start);
        let known = || lock(&self.known);
        let found = known().get(&key).cloned();
        if let Some(found) = found {
            return found;
        }
        match self.reads.ask(key, move || Slurm::read(pid)) {
            Some(read) => {
                known().insert(key, read.clone());
                read
            }
            None => Slurm::default(),
        }
    }

    fn retain(&self, wanted: impl Fn(u32) -> bool) {
        let mut known = lock(&self.known);
        known.retain(|(pid, _), _| wanted(*pid));
        self.reads.retain(|(pid, _)| wanted(*pid));
    }
}

/// Asks a container runtime by Docker's API. HTTP/1.0, so that the answer ends with the connection. One that takes no connection
/// keeps its thread; one that answers bit by bit is left at the deadline.
fn ask(socket: &Path, id: &str) -> Option<String> {
    let until = Instant::now() + DEADLINE;
    let mut stream = UnixStream::connect(socket).ok()?;
    stream.set_write_timeout(Some(DEADLINE)).ok()?;
    // In one piece: a server that answers the first one and closes resets the connection.
    let request = format!("GET /containers/{id}/json HTTP/1.0\r\nHost: localhost\r\n\r\n");
    stream.write_all(request.as_bytes()).ok()?;
    let (mut answer, mut buffer) = (Vec::new(), [0; 4096]);
    loop {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() || answer.len() >= MOST_BYTES {
            return None;
        }
        stream.set_read_timeout(Some(left)).ok()?;
        match stream.read(&mut buffer).ok()? {
            0 => return parse(&answer),
            length => answer.extend_from_slice(buffer.get(..length)?),
        }
    }
}

/// The name in an answer.
fn parse(answer: &[u8]) -> Option<String> {
    let at = answer.windows(4).position(|four| four == b"\r\n\r\n")?;
    let first = answer.split(|byte| *byte == b'\r').next()?;
    let ok = first.split(|byte| *byte == b' ').nth(1) == Some(b"200");
    #[derive(serde::Deserialize)]
    struct Container {
        #[serde(rename = "Name")]
        name: String,
    }
    let container: Container = serde_json::from_slice(answer.get(at + 4..).filter(|_| ok)?).ok()?;
    plausible(container.name.trim_start_matches('/'))
}

fn plausible(name: &str) -> Option<String> {
    let ok = !name.is_empty() && name.len() <= MOST_NAME && !name.chars().any(char::is_control);
    ok.then(|| name.to_owned())
}

/// What Slurm puts into the environment of a step. A process can change its own, so that it only adds to a control group.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Slurm {
    pub(super) job: Option<String>,
    pub(super) step: Option<String>,
    pub(super) user: Option<String>,
}

impl Slurm {
    fn read(pid: u32) -> Self {
        let read = fs::File::open(format!("/proc/{pid}/environ")).and_then(|file| {
            let mut text = Vec::new();
            file.take(MOST_ENVIRONMENT).read_to_end(&mut text)?;
            Ok(text)
        });
        Self::parse(&read.unwrap_or_default())
    }

    fn parse(environment: &[u8]) -> Self {
        let mut found = Self::default();
        for line in environment.split(|byte| *byte == 0) {
            let Some((key, value)) = std::str::from_utf8(line)
                .ok()
                .and_then(|l| l.split_once('='))
            else {
                continue;
            };
            match key {
                "SLURM_JOB_ID" if value.bytes().all(|b| b.is_ascii_digit()) => {
                    found.job = plausible(value);
                }
                "SLURM_STEP_ID" => found.step = plausible(step_name(value)),
                "SLURM_JOB_USER" => found.user = plausible(value),
                _ => {}
            }
        }
        found
    }
}

/// Steps that have a number here and a name in control groups, as in slurm.h.
fn step_name(id: &str) -> &str {
    match id {
        "4294967290" => "interactive",
        "4294967291" => "batch",
        "4294967292" => "extern",
        other => other,
    }
}

/// The step in a control group of Slurm: `…/job_4711/step_0/…`.
pub(super) fn step_of(cgroup: &str) -> Option<String> {
    let mut parts = cgroup
        .split('/')
        .skip_while(|part| !part.starts_with("job_"));
    parts.find_map(|part| plausible(part.strip_prefix("step_")?))
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixListener;

    use super::*;

    const ID: &str = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

    /// A socket that wakes nobody.
    fn open(path: PathBuf) -> RuntimeSocket {
        RuntimeSocket {
            path,
            service: None,
        }
    }

    #[test]
    fn a_runtime_that_is_stopped_is_not_asked_as_that_would_start_it() {
        let dir = tempfile::tempdir().unwrap();
        // As that of systemd, which starts the service of whoever connects.
        let path = dir.path().join("docker.sock");
        let listener = UnixListener::bind(&path).unwrap();
        listener.set_nonblocking(true).unwrap();
        let woken = Woken {
            docker_pid: dir.path().join("docker.pid"),
            ..Woken::of_host(&dir.path().join("proc"), &dir.path().join("sys"))
        };
        let socket = |service| RuntimeSocket {
            path: path.clone(),
            service: Some((service, woken.clone())),
        };
        let places = Places {
            sockets: vec![socket("docker"), socket("podman")],
            ..Places::default()
        };
        assert_eq!(places.name_of(ID), None);
        assert!(listener.accept().is_err(), "nobody connects");
        // Its service runs: it is asked.
        let service = dir.path().join("sys/fs/cgroup/system.slice/podman.service");
        fs::create_dir_all(&service).unwrap();
        fs::write(service.join("cgroup.events"), "populated 1\nfrozen 0\n").unwrap();
        listener.set_nonblocking(false).unwrap();
        let server = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut asked = [0; 256];
            let _ = stream.read(&mut asked).unwrap();
            write!(stream, "HTTP/1.0 200 OK\r\n\r\n{{\"Name\":\"/vllm\"}}").unwrap();
        });
        assert_eq!(places.name_of(ID).as_deref(), Some("vllm"));
        server.join().unwrap();
    }

    #[test]
    fn a_container_of_a_pod_is_named_by_its_log() {
        let dir = tempfile::tempdir().unwrap();
        let places = Places {
            container_logs: dir.path().to_owned(),
            sockets: Vec::new(),
            ..Places::default()
        };
        assert_eq!(Containers::of(&places).pod_of(ID), None);
        fs::write(dir.path().join(format!("train-0_ml_main-{ID}.log")), "").unwrap();
        fs::write(
            dir.path()
                .join(format!("other_ml_x-{}.log", ID.replace('0', "f"))),
            "",
        )
        .unwrap();
        let mut containers = Containers::of(&places);
        let (namespace, pod, container) = containers.pod_of(ID).unwrap();
        assert_eq!(
            (&namespace[..], &pod[..], &container[..]),
            ("ml", "train-0", "main")
        );
        // The folder is not read again for each process.
        dir.close().unwrap();
        assert!(containers.pod_of(ID).is_some());
        assert_eq!(containers.pod_of("f"), None);
        assert_eq!(Containers::of(&places).pod_of(ID), None);
    }

    #[test]
    fn a_container_of_docker_is_named_by_its_socket() {
        let dir = tempfile::tempdir().unwrap();
        let socket = dir.path().join("docker.sock");
        let listener = UnixListener::bind(&socket).unwrap();
        let server = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut asked = [0; 256];
            let length = stream.read(&mut asked).unwrap();
            let body = format!("{{\"Id\":\"{ID}\",\"Name\":\"/vllm\"}}");
            write!(
                stream,
                "HTTP/1.0 200 OK\r\nContent-Type: application/json\r\n\r\n{body}"
            )
            .unwrap();
            String::from_utf8(asked[..length].to_vec()).unwrap()
        });
        let places = Places {
            container_logs: dir.path().to_owned(),
            sockets: vec![open(dir.path().join("none.sock")), open(socket)],
            ..Places::default()
        };
        assert_eq!(places.name_of(ID).as_deref(), Some("vllm"));
        assert!(
            server
                .join()
                .unwrap()
                .starts_with(&format!("GET /containers/{ID}/json "))
        );
        // Nobody is there to be asked again.
        assert_eq!(places.name_of(ID).as_deref(), Some("vllm"));
        let refused = b"HTTP/1.0 404 Not Found\r\n\r\n{\"Name\":\"/x\"}";
        assert_eq!(parse(refused), None);
        for wrong in [&b""[..], b"HTTP/1.0 200 OK", b"HTTP/1.0 200 OK\r\n\r\n[]"] {
            assert_eq!(parse(wrong), None);
        }
    }

    #[test]
    fn a_runtime_that_answers_bit_by_bit_is_left_at_the_deadline_and_not_asked_again_before() {
        let dir = tempfile::tempdir().unwrap();
        let socket = dir.path().join("docker.sock");
        let listener = UnixListener::bind(&socket).unwrap();
        let server = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut bits = 0_u64;
            // Until the other end is gone.
            while stream.write_all(b" ").is_ok() {
                bits += 1;
                std::thread::sleep(Duration::from_millis(20));
            }
            listener.set_nonblocking(true).unwrap();
            (bits, listener.accept().is_ok())
        });
        let places = Places {
            sockets: vec![open(socket)],
            ..Places::default()
        };
        assert_eq!(places.name_of(ID), None);
        let (bits, asked_again) = server.join().unwrap();
        assert!(bits > 0 && !asked_again);
    }

    #[test]
    fn an_environment_is_read_once_and_forgotten_with_its_process() {
        let places = Places::default();
        let own = std::process::id();
        assert!(start_time(own).is_some());
        places.slurm_of(own);
        let known = || places.environments.known.lock().unwrap().len();
        assert_eq!(known(), 1);
        places.slurm_of(own);
        assert_eq!(known(), 1);
        places.slurm_of(u32::MAX - 1);
        assert_eq!(known(), 1, "there is no such process");
        places.forget_others(|pid| pid != own);
        assert_eq!(known(), 0);
    }

    #[test]
    fn slurm_is_known_by_environment_and_control_group() {
        let environment = b"PATH=/bin\0SLURM_JOB_ID=4711\0SLURM_STEP_ID=0\0SLURM_JOB_USER=alice\0X";
        let found = Slurm::parse(environment);
        assert_eq!(found.job.as_deref(), Some("4711"));
        assert_eq!(
            (found.step.as_deref(), found.user.as_deref()),
            (Some("0"), Some("alice"))
        );
        assert_eq!(Slurm::parse(b"SLURM_JOB_ID=../x\0").job, None);
        let interactive = Slurm::parse(b"SLURM_STEP_ID=4294967290\0").step;
        assert_eq!(interactive.as_deref(), Some("interactive"));
        let group = "/system.slice/slurmstepd.scope/job_4711/step_batch/user/task_0";
        assert_eq!(step_of(group).as_deref(), Some("batch"));
        assert_eq!(step_of("/user.slice/step_1"), None);
    }
}
