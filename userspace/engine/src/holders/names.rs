//! Names of containers and steps: by the kubelet's log folder, by the sockets of Docker and Podman, by the environment that Slurm
//! gives to a step.

use std::fs;
use std::io::{Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How long a socket has to answer.
const DEADLINE: Duration = Duration::from_secs(1);
/// Largest answer of a container runtime that is read, bytes.
const MOST_BYTES: u64 = 1 << 20;
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
    pub sockets: Vec<PathBuf>,
}

impl Default for Places {
    fn default() -> Self {
        Self {
            container_logs: "/var/log/containers".into(),
            sockets: vec!["/run/docker.sock".into(), "/run/podman/podman.sock".into()],
        }
    }
}

impl Places {
    /// Namespace, pod and name of the container `id` of a pod.
    pub fn pod_of(&self, id: &str) -> Option<(String, String, String)> {
        let end = format!("-{id}.log");
        let entries = fs::read_dir(&self.container_logs).ok()?;
        let name = entries
            .flatten()
            .filter_map(|entry| entry.file_name().into_string().ok())
            .find(|name| name.ends_with(&end))?;
        let mut parts = name.strip_suffix(&end)?.splitn(3, '_');
        let (pod, namespace, container) = (parts.next()?, parts.next()?, parts.next()?);
        Some((namespace.to_owned(), pod.to_owned(), container.to_owned()))
    }

    /// The name of the container `id` of Docker or Podman.
    pub fn name_of(&self, id: &str) -> Option<String> {
        self.sockets.iter().find_map(|socket| ask(socket, id))
    }
}

/// Asks a container runtime by Docker's API. HTTP/1.0, so that the answer ends with the connection.
fn ask(socket: &Path, id: &str) -> Option<String> {
    let mut stream = UnixStream::connect(socket).ok()?;
    stream.set_read_timeout(Some(DEADLINE)).ok()?;
    stream.set_write_timeout(Some(DEADLINE)).ok()?;
    write!(
        stream,
        "GET /containers/{id}/json HTTP/1.0\r\nHost: localhost\r\n\r\n"
    )
    .ok()?;
    let mut answer = Vec::new();
    stream.take(MOST_BYTES).read_to_end(&mut answer).ok()?;
    parse(&answer)
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
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Slurm {
    pub(super) job: Option<String>,
    pub(super) step: Option<String>,
    pub(super) user: Option<String>,
}

impl Slurm {
    pub(super) fn of(pid: u32) -> Self {
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
                "SLURM_STEP_ID" => found.step = plausible(value),
                "SLURM_JOB_USER" => found.user = plausible(value),
                _ => {}
            }
        }
        found
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

    #[test]
    fn a_container_of_a_pod_is_named_by_its_log() {
        let dir = tempfile::tempdir().unwrap();
        let places = Places {
            container_logs: dir.path().to_owned(),
            sockets: Vec::new(),
        };
        assert_eq!(places.pod_of(ID), None);
        fs::write(dir.path().join(format!("train-0_ml_main-{ID}.log")), "").unwrap();
        fs::write(
            dir.path()
                .join(format!("other_ml_x-{}.log", ID.replace('0', "f"))),
            "",
        )
        .unwrap();
        let (namespace, pod, container) = places.pod_of(ID).unwrap();
        assert_eq!(
            (&namespace[..], &pod[..], &container[..]),
            ("ml", "train-0", "main")
        );
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
            sockets: vec![dir.path().join("none.sock"), socket],
        };
        assert_eq!(places.name_of(ID).as_deref(), Some("vllm"));
        assert!(
            server
                .join()
                .unwrap()
                .starts_with(&format!("GET /containers/{ID}/json "))
        );
        let refused = b"HTTP/1.0 404 Not Found\r\n\r\n{\"Name\":\"/x\"}";
        assert_eq!(parse(refused), None);
        for wrong in [&b""[..], b"HTTP/1.0 200 OK", b"HTTP/1.0 200 OK\r\n\r\n[]"] {
            assert_eq!(parse(wrong), None);
        }
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
        let group = "/system.slice/slurmstepd.scope/job_4711/step_batch/user/task_0";
        assert_eq!(step_of(group).as_deref(), Some("batch"));
        assert_eq!(step_of("/user.slice/step_1"), None);
    }
}
