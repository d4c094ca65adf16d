//! Worker processes: one for each client, so that what one client does to its CUDA context, or to
//! the process, is nobody else's.

use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::access::Known;
use super::cgroup::{Group, Groups};
use super::status::{DriverInfo, SessionStatus};
use crate::control::{Channel, Client, FromWorker, Start, ToWorker};
use crate::sandbox::Layer;
use crate::stats::SessionStats;

/// The command that becomes a worker: it calls [`crate::worker::main`].
#[derive(Clone, Debug)]
pub struct WorkerCommand {
    /// Program.
    pub program: PathBuf,
    /// Arguments.
    pub arguments: Vec<OsString>,
}

impl WorkerCommand {
    /// This program again, with `arguments`.
    pub fn this_program(arguments: &[&str]) -> Self {
        Self {
            // Stays the same program while its file is replaced by an update.
            program: "/proc/self/exe".into(),
            arguments: arguments.iter().map(OsString::from).collect(),
        }
    }
}

/// Variables of gtrace that a worker must not have: it opens the real driver, not a client's, and its client may read them.
const WITHHELD: &[&str] = &[
    "GTRACE_REMOTE",
    "GTRACE_TOKEN_FILE",
    "GTRACE_TLS_CA",
    "GTRACE_TLS_NAME",
    "GTRACE_TLS_CERT",
    "GTRACE_TLS_KEY",
    "GTRACE_LINK",
    "GTRACE_EMULATE",
    "GTRACE_STRICT",
    "GTRACE_STRICT_EXIT",
    "GTRACE_STATS",
    "GTRACE_HEAD_DATABASE",
    "GTRACE_JOIN_TOKEN",
];

/// What variables begin with that drivers, RDMA's libraries, the C library and gtrace read. All others stay with the
/// supervisor: who started it may have secrets among them.
const INHERITED: &[&str] = &[
    "CUDA_",
    "NVIDIA_",
    "GTRACE_",
    "MLX",
    "IBV_",
    "RDMAV_",
    "RUST_",
    "LD_LIBRARY_PATH",
    "GLIBC_",
    "MALLOC_",
    "LANG",
    "LC_",
    "TZ",
];

fn is_inherited(name: &OsStr) -> bool {
    let name = name.to_string_lossy();
    let is_known = INHERITED.iter().any(|known| name.starts_with(known));
    is_known && !WITHHELD.contains(&&*name)
}

/// Starts a worker and sends it its session. It is killed when the thread that calls this ends.
pub(super) fn spawn(
    command: &WorkerCommand,
    environment: &[(String, String)],
    start: &Start,
    groups: Option<&Groups>,
) -> io::Result<(Running, Channel)> {
    let (here, there) = Channel::pair()?;
    let mut worker = Command::new(&command.program);
    worker.args(&command.arguments);
    worker.env_clear();
    let inherited = std::env::vars_os().filter(|(name, _)| is_inherited(name));
    worker.envs(inherited);
    worker.envs(environment.iter().map(|(name, value)| (name, value)));
    // The channel takes the place of the standard input, which a worker has no use for.
    worker.stdin(Stdio::from(there.into_fd()));
    let library = start.libcuda.as_deref().filter(|path| is_descriptor(path));
    let library = library.map(File::open).transpose()?;
    let child = worker.spawn()?;
    drop(worker);
    let mut running = Running { child, group: None };
    // Before it does anything: it waits for its orders.
    running.group = match groups
        .map(|groups| groups.add(running.child.id()))
        .transpose()
    {
        Ok(group) => group,
        Err(error) => {
            let _ = running.child.kill();
            let _ = running.child.wait();
            return Err(io::Error::other(format!(
                "no control group for a worker: {error}"
            )));
        }
    };
    let library = library.as_ref().map(AsFd::as_fd);
    here.send(&ToWorker::Start(Box::new(start.clone())), library)?;
    Ok((running, here))
}

/// Whether a path leads to what a process has open. Workers cannot follow such a path, and get the file itself.
pub(super) fn is_descriptor(path: &Path) -> bool {
    path.starts_with("/proc")
}

/// A worker's process and its control group, which goes when the process has ended.
#[derive(Debug)]
pub(super) struct Running {
    child: Child,
    group: Option<Group>,
}

impl Running {
    /// Waits until the process has ended, for so long at most.
    fn wait(&mut self, patience: Duration) {
        let until = Instant::now() + patience;
        while matches!(self.child.try_wait(), Ok(None)) && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}

/// How long the driver may take to say what it is. A GPU that was not used wakes up in seconds.
const PROBE_MAX: Duration = Duration::from_secs(60);

/// How long a worker that has answered may take to end. One that is killed shows as a GPU process that died.
const PROBE_EXIT_MAX: Duration = Duration::from_secs(2);

/// Asks a worker of its own what driver and devices there are, so that the supervisor never loads
/// the driver.
pub(super) fn probe(
    command: &WorkerCommand,
    environment: &[(String, String)],
    start: &Start,
) -> Result<(DriverInfo, Vec<Layer>), String> {
    let (mut running, channel) = spawn(command, environment, start, None)
        .map_err(|e| format!("cannot start {}: {e}", command.program.display()))?;
    let answer = answer(&channel);
    if matches!(answer, Ok(Some(_))) {
        running.wait(PROBE_EXIT_MAX);
    }
    let _ = running.child.kill();
    let status = running.child.wait();
    match answer {
        Ok(Some(FromWorker::Probed(info, layers))) => Ok((*info, layers)),
        Ok(Some(FromWorker::Failed(reason))) => Err(reason),
        Ok(_) => Err(format!(
            "the worker ended while it looked at the driver ({})",
            status.map_or_else(|e| e.to_string(), |s| s.to_string())
        )),
        Err(error) => Err(format!(
            "the worker does not say what driver it found: {error}"
        )),
    }
}

fn answer(channel: &Channel) -> io::Result<Option<FromWorker>> {
    let timeout = Timespec {
        tv_sec: PROBE_MAX.as_secs().cast_signed(),
        tv_nsec: 0,
    };
    let mut fds = [PollFd::new(channel, PollFlags::IN)];
    if poll(&mut fds, Some(&timeout))? == 0 {
        return Err(io::Error::other(format!(
            "the driver did not answer within {} s",
            PROBE_MAX.as_secs()
        )));
    }
    Ok(channel.receive(false)?.map(|(message, _)| message))
}

/// A worker and its session.
pub(super) struct Worker {
    running: Running,
    channel: Channel,
    pub(super) session: [u8; 16],
    /// By which further lanes of the session prove themselves.
    pub(super) secret: [u8; 32],
    known: Option<Known>,
    /// Whom it has become.
    pub(super) user: Option<u32>,
    memory_limit: Option<u64>,
    /// Since when there is one, and who, once the client was let in.
    pub(super) client: Option<(Instant, Client)>,
    pub(super) stats: SessionStats,
    /// Frames at the last report but one, and when the last came.
    before: (u64, Option<Instant>),
    rate: f64,
    started: Instant,
    /// Connections, and answers, that its channel had no room for.
    waiting: VecDeque<(ToWorker, Option<OwnedFd>)>,
}

/// Whose a worker is, and whom it has become.
pub(super) struct Identity {
    pub(super) session: [u8; 16],
    pub(super) secret: [u8; 32],
    pub(super) known: Option<Known>,
    pub(super) user: Option<u32>,
    pub(super) memory_limit: Option<u64>,
}

impl std::fmt::Debug for Worker {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Worker")
            .field("pid", &self.pid())
            .finish_non_exhaustive()
    }
}

impl Worker {
    pub(super) fn new(running: Running, channel: Channel, identity: Identity) -> Self {
        Self {
            running,
            channel,
            session: identity.session,
            secret: identity.secret,
            known: identity.known,
            user: identity.user,
            memory_limit: identity.memory_limit,
            client: None,
            stats: SessionStats::default(),
            before: (0, None),
            rate: 0.0,
            started: Instant::now(),
            waiting: VecDeque::new(),
        }
    }

    pub(super) fn pid(&self) -> u32 {
        self.running.child.id()
    }

    /// The user that it has become.
    pub(super) fn user(&self) -> Option<u32> {
        self.user
    }

    /// Who was recognised.
    pub(super) fn known(&self) -> Option<&Known> {
        self.known.as_ref()
    }

    /// The same as text.
    pub(super) fn credential(&self) -> Option<String> {
        self.known
            .as_ref()
            .map(|known| known.credential.to_string())
    }

    pub(super) fn age(&self) -> Duration {
        self.started.elapsed()
    }

    /// Gives it a connection, at once or as soon as its channel has room: a program may start many threads at a time.
    pub(super) fn give(&mut self, message: ToWorker, fd: Option<OwnedFd>) -> io::Result<()> {
        self.waiting.push_back((message, fd));
        self.give_waiting()
    }

    /// How many connections it has not got yet.
    pub(super) fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// Whether it has not got an image or memory yet, of which it asks for one at a time.
    pub(super) fn awaits_answer(&self) -> bool {
        let answer =
            |message: &ToWorker| matches!(message, ToWorker::Image(_) | ToWorker::Memory(..));
        self.waiting.iter().any(|(message, _)| answer(message))
    }

    /// Gives it the connections that wait, as many as there is room for.
    pub(super) fn give_waiting(&mut self) -> io::Result<()> {
        while let Some((message, fd)) = self.waiting.front() {
            match self.channel.send(message, fd.as_ref().map(AsFd::as_fd)) {
                Ok(()) => drop(self.waiting.pop_front()),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(error) => {
                    self.waiting.clear();
                    return Err(error);
                }
            }
        }
        Ok(())
    }

    /// A message from it, and the descriptor that came with it, without waiting; `None` once it is gone.
    pub(super) fn receive(&self) -> io::Result<Option<(FromWorker, Option<OwnedFd>)>> {
        self.channel.receive(false)
    }

    /// Takes a report.
    pub(super) fn report(&mut self, stats: SessionStats) {
        let now = Instant::now();
        if let (frames, Some(at)) = self.before {
            let passed = now.duration_since(at).as_secs_f64().max(1e-3);
            self.rate = stats.frames.saturating_sub(frames) as f64 / passed;
        }
        self.before = (stats.frames, Some(now));
        self.stats = stats;
    }

    /// How it stands.
    pub(super) fn status(&self) -> SessionStatus {
        let recent = self
            .before
            .1
            .is_some_and(|at| at.elapsed() < Duration::from_secs(3));
        SessionStatus {
            id: self.session[..4]
                .iter()
                .map(|b| format!("{b:02x}"))
                .collect(),
            worker: self.pid(),
            client: self.client.as_ref().map(|(_, client)| client.clone()),
            age_s: self
                .client
                .as_ref()
                .map_or(0.0, |(since, _)| since.elapsed().as_secs_f64()),
            calls_per_second: if recent { self.rate } else { 0.0 },
            memory_limit: self.memory_limit,
            stats: self.stats.clone(),
        }
    }

    /// Ends it: whoever has closed the channel is on the way out by itself.
    pub(super) fn leave(self) -> Leaving {
        Leaving {
            running: self.running,
            user: self.user,
            kill_at: Some(Instant::now() + Duration::from_secs(5)),
        }
    }

    /// Ends it now.
    pub(super) fn kill(mut self) -> Leaving {
        let _ = self.running.child.kill();
        Leaving {
            running: self.running,
            user: self.user,
            kill_at: None,
        }
    }
}

impl AsFd for Worker {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.channel.as_fd()
    }
}

/// A worker that is about to end: the driver gives its memory back first, which takes time.
#[derive(Debug)]
pub(super) struct Leaving {
    running: Running,
    user: Option<u32>,
    kill_at: Option<Instant>,
}

impl Leaving {
    /// How it ended, if it has.
    pub(super) fn ended(&mut self) -> Option<io::Result<ExitStatus>> {
        match self.running.child.try_wait() {
            Ok(None) => {
                if self.kill_at.is_some_and(|at| at <= Instant::now()) {
                    let _ = self.running.child.kill();
                    self.kill_at = None;
                }
                None
            }
            Ok(Some(status)) => Some(Ok(status)),
            Err(error) => Some(Err(error)),
        }
    }

    pub(super) fn pid(&self) -> u32 {
        self.running.child.id()
    }

    /// The user that it has become.
    pub(super) fn user(&self) -> Option<u32> {
        self.user
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_worker_has_what_its_driver_reads_and_no_secret_of_who_started_the_server() {
        for name in [
            "CUDA_VISIBLE_DEVICES",
            "GTRACE_SOFTGPU_DEVICES",
            "LD_LIBRARY_PATH",
        ] {
            assert!(is_inherited(OsStr::new(name)), "{name}");
        }
        for name in [
            "AWS_SECRET_ACCESS_KEY",
            "GTRACE_HEAD_DATABASE",
            "GTRACE_JOIN_TOKEN",
            "GTRACE_TOKEN_FILE",
        ] {
            assert!(!is_inherited(OsStr::new(name)), "{name}");
        }
    }
}
