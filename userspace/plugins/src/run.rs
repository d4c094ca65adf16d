//! One run of a plugin: in a process group of its own, with a deadline, and with a bound on what it says. Nothing of it is left when the
//! run is over, as far as the kernel lets go of it.

use std::fs;
use std::io::{self, Read};
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal};

use crate::folder::Plugin;
use crate::launch::PATH;

/// Bytes of standard error that are kept, for the reason of a failure.
const ERROR_MAX: usize = 4096;
/// Bytes of it that are read in a round.
const ERROR_ROUND: usize = 64 * 1024;
/// How long a killed plugin has to end.
const GRACE: Duration = Duration::from_secs(2);

/// What a run may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Until it is killed.
    pub deadline: Duration,
    /// Bytes of output until it is killed.
    pub output: usize,
}

/// How a run ended.
#[derive(Debug)]
pub enum Ended {
    /// With exit status 0 and this output.
    Done(Vec<u8>),
    /// It said nothing that counts: why.
    Failed(String),
    /// As failed, and it does not even end after SIGKILL: it waits in the kernel. No other run of it may begin before it has.
    Stuck(String, Child),
}

/// A run that is over.
#[derive(Debug)]
pub struct Run {
    /// How.
    pub ended: Ended,
    /// How long it took.
    pub took: Duration,
}

/// A control group of a plugin's own, by which what it has started is found and ended.
#[derive(Debug)]
pub struct Cgroup(PathBuf);

impl Cgroup {
    /// Makes one below that of this process; `root` is where control groups are mounted, `own` the text of /proc/self/cgroup.
    ///
    /// # Errors
    ///
    /// What the system says: most services may not write there.
    pub fn below(root: &Path, own: &str, plugin: &str) -> io::Result<Self> {
        let unified = own.lines().find_map(|line| line.strip_prefix("0::/"));
        let unified =
            unified.ok_or_else(|| io::Error::other("this host has no unified control groups"))?;
        let path = root.join(unified).join(format!("gtrace-plugin-{plugin}"));
        match fs::create_dir(&path) {
            Ok(()) => Ok(Self(path)),
            // Of a run before, by a daemon that was killed: whatever is in it is of no use any more.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                let left = Self(path);
                left.kill();
                Ok(left)
            }
            Err(error) => Err(error),
        }
    }

    /// Its folder.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Ends everything in it.
    fn kill(&self) {
        // Since Linux 5.14; before, the process group alone is ended.
        let _ = fs::write(self.0.join("cgroup.kill"), "1");
    }
}

impl Drop for Cgroup {
    fn drop(&mut self) {
        self.kill();
        // What the kernel still takes down is left for the next run.
        let _ = fs::remove_dir(&self.0);
    }
}

/// Runs `plugin` by `launcher`, whose last argument becomes its path.
pub fn run(plugin: &Plugin, limits: Limits, mut launcher: Command, cgroup: Option<Cgroup>) -> Run {
    use std::os::unix::process::CommandExt as _;
    let began = Instant::now();
    launcher
        .arg(&plugin.path)
        .env_clear()
        .env("PATH", PATH)
        .env("LANG", "C.UTF-8")
        .env(
            "GTRACE_PLUGIN_DEADLINE_S",
            limits.deadline.as_secs().to_string(),
        )
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0);
    let ended = match launcher.spawn() {
        Ok(child) => follow(child, limits, began, cgroup),
        Err(error) => Ended::Failed(format!("it cannot be started: {error}")),
    };
    Run {
        ended,
        took: began.elapsed(),
    }
}

/// What has come of a stream.
struct Stream<S> {
    stream: Option<S>,
    bytes: Vec<u8>,
}

impl<S: Read + AsFd> Stream<S> {
    fn new(stream: Option<S>) -> io::Result<Self> {
        if let Some(stream) = &stream {
            rustix::fs::fcntl_setfl(stream, rustix::fs::OFlags::NONBLOCK)?;
        }
        Ok(Self {
            stream,
            bytes: Vec::new(),
        })
    }

    /// Reads what there is, up to `most` bytes and one more in all; the end closes it.
    fn read(&mut self, most: usize) {
        let mut page = [0; 4096];
        while let Some(stream) = &mut self.stream
            && self.bytes.len() <= most
        {
            match stream.read(&mut page) {
                Ok(0) => self.stream = None,
                Ok(count) => {
                    let room = most + 1 - self.bytes.len();
                    let part = page.get(..count.min(room)).unwrap_or_default();
                    self.bytes.extend_from_slice(part);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
                Err(_) => self.stream = None,
            }
        }
    }
}

fn follow(mut child: Child, limits: Limits, began: Instant, cgroup: Option<Cgroup>) -> Ended {
    let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    let prepared = pid
        .ok_or_else(|| io::Error::other("it has no id"))
        .and_then(|pid| {
            let ends = rustix::process::pidfd_open(pid, PidfdFlags::empty())?;
            let out = Stream::new(child.stdout.take())?;
            let err = Stream::new(child.stderr.take())?;
            Ok((pid, ends, out, err))
        });
    let (pid, ends, mut out, mut err) = match prepared {
        Ok(prepared) => prepared,
        Err(error) => {
            let _ = child.kill();
            let _ = child.wait();
            return Ended::Failed(format!("it cannot be followed: {error}"));
        }
    };
    let until = began + limits.deadline;
    let why = loop {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            let seconds = limits.deadline.as_secs_f64();
            break Some(format!("it did not end within {seconds} s and was killed"));
        }
        let ended = wait(&ends, &out, &err, left);
        out.read(limits.output);
        // What it says beyond that is read and let go, so that it does not wait for a reader.
        err.read(ERROR_ROUND);
        let surplus = err.bytes.len().saturating_sub(ERROR_MAX);
        err.bytes.drain(..surplus);
        if out.bytes.len() > limits.output {
            break Some(format!(
                "it printed more than {} bytes and was killed",
                limits.output
            ));
        }
        if ended {
            break None;
        }
    };
    // It has not been waited for: its id is its own, and that of its group too.
    let _ = rustix::process::kill_process_group(pid, Signal::KILL);
    drop(cgroup);
    if why.is_some() && !has_ended(&ends, GRACE) {
        let why = format!(
            "{}; it waits in the kernel and does not end",
            why.unwrap_or_default()
        );
        return Ended::Stuck(why, child);
    }
    let status = match child.wait() {
        Ok(status) => status,
        Err(error) => return Ended::Failed(format!("how it ended is not known: {error}")),
    };
    match why {
        Some(why) => Ended::Failed(why),
        None if status.success() => Ended::Done(out.bytes),
        None => {
            let said = gtrace_api::text::clean(String::from_utf8_lossy(&err.bytes).trim());
            let said: String = said.chars().take(200).collect();
            Ended::Failed(match said.is_empty() {
                true => format!("{status}"),
                false => format!("{status}: {said}"),
            })
        }
    }
}

/// Waits for output or the end, at most for `left`; whether it has ended.
fn wait<O: AsFd, E: AsFd>(
    ends: &OwnedFd,
    out: &Stream<O>,
    err: &Stream<E>,
    left: Duration,
) -> bool {
    let mut polled = vec![PollFd::new(ends, PollFlags::IN)];
    let streams = [
        out.stream.as_ref().map(AsFd::as_fd),
        err.stream.as_ref().map(AsFd::as_fd),
    ];
    let streams = streams.iter().flatten();
    polled.extend(streams.map(|fd| PollFd::from_borrowed_fd(*fd, PollFlags::IN)));
    let left = Timespec::try_from(left.min(Duration::from_secs(3600))).ok();
    // An interrupted wait is a short one.
    let _ = poll(&mut polled, left.as_ref());
    polled
        .first()
        .is_some_and(|ends| !ends.revents().is_empty())
}

fn has_ended(ends: &OwnedFd, within: Duration) -> bool {
    let mut polled = [PollFd::new(ends, PollFlags::IN)];
    let within = Timespec::try_from(within).ok();
    let _ = poll(&mut polled, within.as_ref());
    polled.iter().any(|ends| !ends.revents().is_empty())
}
