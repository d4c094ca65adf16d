//! What a head may have this host do beside measuring: write the report of an incident, trace a process, reset a GPU, reboot. What of it is permitted is
//! the host's own matter.

use std::fmt;
use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use flate2::Compression;
use flate2::read::GzEncoder;
use gtrace_agent::Actor;
use gtrace_api::client::{Client, ClientError, Endpoint};
use gtrace_api::{PauseRequest, ProblemBody, Status};
use gtrace_event::{IncidentId, PciAddress};
use gtrace_fleet::{READ_MAX, REPORT_MAX, TraceOrder};
use gtrace_plugins::{Left, Limits, program};

use crate::report::page_of_incident;

/// What nvidia-smi and systemctl may take. They say a few lines.
const LIMITS: Limits = Limits {
    deadline: Duration::from_secs(120),
    output: 1 << 20,
};
/// The daemon's pause ends after it, whatever becomes of the agent: later than nvidia-smi is killed.
const PAUSE_S: u32 = 180;
/// After the last call a trace is written within it.
const TRACE_WRITTEN_WITHIN: Duration = Duration::from_secs(60);
/// Of what they say, so many characters are passed on.
const MESSAGE_MAX: usize = 1000;
/// So many processes are named where one has to be chosen.
const USERS_NAMED: usize = 16;
/// Programs of the driver and of monitoring, which have GPUs open all the time and do no work on them.
const SERVICES: [&str; 4] = [
    "nvidia-persistenced",
    "nv-fabricmanager",
    "nv-hostengine",
    "dcgm-exporter",
];

/// Does what the head asks for.
pub struct HostActor {
    /// Names of what is permitted, as [`gtrace_fleet::Ask::name`] has them.
    pub permits: Vec<String>,
    /// The host's store.
    pub store: PathBuf,
    /// The daemon, which is paused while a GPU is reset.
    pub daemon: Client,
    /// This program: it traces in a process of its own.
    pub gtrace: PathBuf,
    /// `nvidia-smi`.
    pub nvidia_smi: PathBuf,
    /// `systemctl`.
    pub systemctl: PathBuf,
    /// What makes reports: `gtrace 0.1.0`.
    pub generator: String,
}

impl Actor for HostActor {
    fn permits(&self) -> Vec<String> {
        self.permits.clone()
    }

    fn read(&self, path: &str) -> (u16, Vec<u8>) {
        // Of what is too large, as much as shows that it is.
        let (status, body) = match self.daemon.get_at_most(path, READ_MAX as u64 + 1) {
            Ok(body) => return (200, body),
            Err(ClientError::Refused { status, body }) => (status, body),
            Err(error) => {
                let body = ProblemBody {
                    error: "the host's daemon does not answer".to_owned(),
                    cause: error.to_string(),
                    remedy: "is `gtrace run` alive on that host?".to_owned(),
                };
                (502, body)
            }
        };
        (status, serde_json::to_vec(&body).unwrap_or_default())
    }

    fn report(&self, incident: IncidentId) -> Result<Vec<u8>, String> {
        let daemon = self.daemon.clone();
        page_of_incident(&self.store, incident, daemon, &self.generator)
    }

    fn trace(&self, order: &TraceOrder) -> Result<Vec<u8>, String> {
        let pid = match order.pid {
            Some(pid) => pid,
            None => the_user(Path::new("/proc"))?,
        };
        let failed = |e: std::io::Error| format!("a trace needs room for files: {e}");
        let dir = tempfile::tempdir().map_err(failed)?;
        let file = dir.path().join("trace.pftrace");
        let mut command = Command::new(&self.gtrace);
        command.args(["trace", "--pid", &pid.to_string()]);
        command.args(["--duration", &order.seconds.to_string()]);
        command.args(["--max-events", &order.calls.to_string()]);
        command.arg("--output").arg(&file);
        if let Endpoint::Unix(socket) = self.daemon.endpoint() {
            command.arg("--socket").arg(socket);
        }
        let seconds = Duration::from_secs(order.seconds.into());
        let limits = Limits {
            deadline: seconds + TRACE_WRITTEN_WITHIN,
            ..LIMITS
        };
        program(command, limits, Left::Killed).map_err(|why| first_line(&why))?;
        let trace = fs::File::open(&file).map_err(failed)?;
        let packed = GzEncoder::new(trace, Compression::fast());
        let mut bytes = Vec::new();
        // More is not sent.
        let most = REPORT_MAX as u64 + 1;
        packed.take(most).read_to_end(&mut bytes).map_err(failed)?;
        Ok(bytes)
    }

    fn reset_gpu(&self, pci: PciAddress) -> Result<String, String> {
        // It has every GPU open for NVML, so it lets go of them for that time.
        let status = self.daemon.get::<Status>("/api/v1/status");
        let pauses = matches!(&status, Ok(status) if !status.paused);
        // One that is paused may go on amid the reset, as the pause is one of an agent that was killed.
        if status.is_ok()
            && let Err(why) = self.pause(true)
        {
            if pauses {
                return Err(why);
            }
            tracing::warn!("{why}: it is paused already");
        }
        let done = nobody_at(Path::new("/proc")).and_then(|()| {
            let gpu = pci.to_string();
            run(&self.nvidia_smi, &["--gpu-reset", "-i", &gpu])
        });
        if pauses && let Err(why) = self.pause(false) {
            tracing::warn!("{why}: its pause ends within {PAUSE_S} s, or by `gtrace resume`");
        }
        done
    }

    fn reboot(&self) -> Result<String, String> {
        nobody_at(Path::new("/proc"))?;
        run(&self.systemctl, &["reboot"])
    }
}

/// What gtrace says first when it fails, without how it failed.
fn first_line(why: &str) -> String {
    let message = why
        .split_once("gtrace: ")
        .map_or(why, |(_, message)| message);
    let line = message.split("\\n").next().unwrap_or(message);
    format!("nothing was traced: {line}")
}

impl HostActor {
    fn pause(&self, paused: bool) -> Result<(), String> {
        let for_s = paused.then_some(PAUSE_S);
        let done = self
            .daemon
            .post::<()>("/api/v1/pause", &PauseRequest { paused, for_s });
        let what = if paused { "paused" } else { "resumed" };
        done.map_err(|e| format!("the daemon cannot be {what}: {e}"))
    }
}

/// A process that has a GPU open.
struct User {
    pid: u32,
    program: String,
    device: String,
}

impl fmt::Display for User {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            pid,
            program,
            device,
        } = self;
        write!(f, "{program} (process {pid}) has {device} open")
    }
}

/// That no process has a GPU open.
fn nobody_at(proc: &Path) -> Result<(), String> {
    let users = users_of_gpus(proc)?;
    match users.as_slice() {
        [] => Ok(()),
        [first] => Err(first.to_string()),
        [first, rest @ ..] => Err(format!("{first}, and {} more", rest.len())),
    }
}

/// The one process that has a GPU open.
fn the_user(proc: &Path) -> Result<u32, String> {
    let users = users_of_gpus(proc)?;
    match users.as_slice() {
        [one] => Ok(one.pid),
        [] => Err("no process has a GPU open: name the one to trace".to_owned()),
        all => {
            let named: Vec<String> = all.iter().take(USERS_NAMED).map(User::to_string).collect();
            let more = match all.len().saturating_sub(USERS_NAMED) {
                0 => String::new(),
                more => format!(", and {more} more"),
            };
            Err(format!(
                "name the process to trace: {}{more}",
                named.join(", ")
            ))
        }
    }
}

/// The processes that have a GPU open, gtrace's own and [`SERVICES`] aside.
fn users_of_gpus(proc: &Path) -> Result<Vec<User>, String> {
    let own = fs::read_link(proc.join("self/exe")).ok();
    let failed = |e: std::io::Error| format!("cannot see which processes have GPUs open: {e}");
    let mut users = Vec::new();
    for entry in fs::read_dir(proc).map_err(failed)?.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let Ok(pid) = name.parse::<u32>() else {
            continue;
        };
        let device = match open_gpu(&entry.path().join("fd")) {
            Ok(device) => device,
            // It has ended meanwhile.
            Err(e) if matches!(e.kind(), std::io::ErrorKind::NotFound) => continue,
            Err(e) if e.raw_os_error() == Some(rustix::io::Errno::SRCH.raw_os_error()) => continue,
            Err(e) => {
                return Err(format!(
                    "{} (of process {name}); the agent needs root for that",
                    failed(e)
                ));
            }
        };
        let Some(device) = device else {
            continue;
        };
        let exe = fs::read_link(entry.path().join("exe")).ok();
        let program = exe.as_ref().and_then(|exe| exe.file_name());
        let program = program.map(|name| name.to_string_lossy().into_owned());
        let is_service = program.as_deref().is_some_and(|p| SERVICES.contains(&p));
        if (own.is_some() && exe == own) || is_service {
            continue;
        }
        let program = program.unwrap_or_else(|| "a program".to_owned());
        users.push(User {
            pid,
            program,
            device,
        });
    }
    Ok(users)
}

/// A GPU's device file that one of these descriptors is.
fn open_gpu(fds: &Path) -> std::io::Result<Option<String>> {
    for fd in fs::read_dir(fds)? {
        let Ok(target) = fs::read_link(fd?.path()) else {
            continue;
        };
        let target = target.to_string_lossy();
        let number = target.strip_prefix("/dev/nvidia");
        if number.is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit())) {
            return Ok(Some(target.into_owned()));
        }
    }
    Ok(None)
}

/// Runs a program of the host; what it says.
fn run(name: &Path, arguments: &[&str]) -> Result<String, String> {
    let mut command = Command::new(name);
    command.args(arguments);
    // What brings the host down may go on after the program that began it.
    let out = program(command, LIMITS, Left::Alone)?;
    let message = String::from_utf8_lossy(&out);
    let message: String = message.trim().chars().take(MESSAGE_MAX).collect();
    Ok(match message.is_empty() {
        true => format!("{} has done it", name.display()),
        false => message,
    })
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead as _, BufReader, Read as _, Write as _};
    use std::os::unix::fs::symlink;
    use std::os::unix::net::UnixListener;
    use std::sync::mpsc;

    use super::*;

    fn actor(daemon: Client) -> HostActor {
        HostActor {
            permits: Vec::new(),
            store: PathBuf::new(),
            daemon,
            gtrace: PathBuf::new(),
            nvidia_smi: PathBuf::new(),
            systemctl: PathBuf::new(),
            generator: String::new(),
        }
    }

    /// A stand-in of the daemon's API; the bodies that it was sent.
    fn daemon(socket: &Path, paused: bool) -> mpsc::Receiver<String> {
        let listener = UnixListener::bind(socket).unwrap();
        let (seen, bodies) = mpsc::channel();
        let status = Status {
            paused,
            ..Status::default()
        };
        let status = serde_json::to_string(&status).unwrap();
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = BufReader::new(stream.unwrap());
                let (mut head, mut length) = (String::new(), 0);
                while !head.ends_with("\r\n\r\n") {
                    stream.read_line(&mut head).unwrap();
                }
                for line in head.to_ascii_lowercase().lines() {
                    if let Some(value) = line.strip_prefix("content-length:") {
                        length = value.trim().parse().unwrap();
                    }
                }
                let mut body = vec![0; length];
                stream.read_exact(&mut body).unwrap();
                let answer = match head.starts_with("POST") {
                    true => {
                        seen.send(String::from_utf8(body).unwrap()).unwrap();
                        "HTTP/1.1 204 No Content\r\n\r\n".to_owned()
                    }
                    false => format!(
                        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{status}",
                        status.len()
                    ),
                };
                stream.get_mut().write_all(answer.as_bytes()).unwrap();
            }
        });
        bodies
    }

    #[test]
    fn the_daemon_is_paused_for_a_time_only_and_one_that_was_paused_stays_so() {
        let dir = tempfile::tempdir().unwrap();
        for (name, was_paused) in [("running", false), ("paused", true)] {
            let socket = dir.path().join(name);
            let bodies = daemon(&socket, was_paused);
            let actor = HostActor {
                nvidia_smi: "/bin/true".into(),
                systemctl: "/bin/false".into(),
                ..actor(Client::unix(socket))
            };
            // Where /proc cannot be read as a whole it refuses; the pause is the same.
            let _ = actor.reset_gpu(PciAddress::parse("0000:3b:00.0").unwrap());
            let sent: Vec<String> = bodies.try_iter().collect();
            let pause = r#"{"paused":true,"for_s":180}"#;
            let resume = r#"{"paused":false}"#;
            match was_paused {
                false => assert_eq!(sent, [pause, resume]),
                true => assert_eq!(sent, [pause]),
            }
        }
    }

    #[test]
    fn of_an_answer_that_is_too_large_no_more_is_held_than_shows_it() {
        let dir = tempfile::tempdir().unwrap();
        let socket = dir.path().join("socket");
        let listener = UnixListener::bind(&socket).unwrap();
        std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut request = [0; 1024];
            assert!(stream.read(&mut request).unwrap() > 0);
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n");
            // A client that has read enough goes away.
            let _ = stream.write_all(&vec![b' '; 2 * READ_MAX]);
        });
        let actor = actor(Client::unix(socket));
        let (status, body) = actor.read("/api/v1/samples");
        assert_eq!((status, body.len()), (200, READ_MAX + 1));
    }

    #[test]
    fn why_nothing_was_traced_is_what_gtrace_says_first() {
        let actor = HostActor {
            gtrace: PathBuf::from("/bin/sh"),
            ..actor(Client::unix("none"))
        };
        let order = TraceOrder {
            pid: Some(1),
            seconds: 1,
            calls: 1,
        };
        // The shell knows no file `trace`.
        let why = actor.trace(&order).unwrap_err();
        assert!(why.starts_with("nothing was traced: "), "{why}");
        let failed = "/proc/self/exe fails (exit status: 3): gtrace: needs root\\ngtrace: the end";
        assert_eq!(first_line(failed), "nothing was traced: needs root");
    }

    #[test]
    fn who_has_a_gpu_open_is_in_the_way_and_services_are_not() {
        let dir = tempfile::tempdir().unwrap();
        let proc = dir.path();
        fs::create_dir(proc.join("self")).unwrap();
        symlink("/usr/bin/gtrace", proc.join("self/exe")).unwrap();
        let process = |pid: &str, exe: &str, device: &str| {
            fs::create_dir_all(proc.join(pid).join("fd")).unwrap();
            symlink(exe, proc.join(pid).join("exe")).unwrap();
            symlink(device, proc.join(pid).join("fd/3")).unwrap();
        };
        process("1", "/usr/bin/bash", "/dev/null");
        process("2", "/usr/bin/gtrace", "/dev/nvidia0");
        process("3", "/usr/bin/nv-hostengine", "/dev/nvidia0");
        process("4", "/usr/bin/nvidia-smi", "/dev/nvidiactl");
        assert_eq!(nobody_at(proc), Ok(()));
        assert!(the_user(proc).unwrap_err().contains("no process"));
        process("5", "/opt/gtrace", "/dev/nvidia12");
        let why = nobody_at(proc).unwrap_err();
        assert_eq!(why, "gtrace (process 5) has /dev/nvidia12 open");
        assert_eq!(the_user(proc), Ok(5));
        process("6", "/usr/bin/python3.11", "/dev/nvidia0");
        let why = the_user(proc).unwrap_err();
        assert!(
            why.contains("python3.11 (process 6) has /dev/nvidia0 open"),
            "{why}"
        );
        let why = nobody_at(proc).unwrap_err();
        assert!(why.ends_with(", and 1 more"), "{why}");
    }
}
