//! A program of the host or of the site, run without a shell: in a process group of its own, with a deadline and a bound on what it
//! says. Plugins, scontrol, nvidia-smi and systemctl are run by it.

use std::io::{self, Read};
use std::os::fd::{AsFd, OwnedFd};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal};

/// Bytes of standard error that are kept, for the reason of a failure.
const ERROR_MAX: usize = 4096;
/// Bytes of it that are read in a round.
const ERROR_ROUND: usize = 64 * 1024;
/// How long a killed program has to end.
const GRACE: Duration = Duration::from_secs(2);
/// Programs that may be left behind as they do not even end after SIGKILL.
const STUCK_MAX: usize = 4;
/// Of what a program says when it fails, so many characters are passed on.
const PRINTED_MAX: usize = 300;

static STUCK: AtomicUsize = AtomicUsize::new(0);

/// What a run may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Until it is killed.
    pub deadline: Duration,
    /// Bytes of output until it is killed.
    pub output: usize,
}

/// What happens to that which a program has started and left running when it ends by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Left {
    /// It is killed.
    Killed,
    /// It goes on.
    Alone,
}

/// Runs a program; its output.
///
/// # Errors
///
/// How it failed, with what it said: that it cannot be started, its status, that it was killed at its deadline or for saying too much.
pub fn program(mut command: Command, limits: Limits, left: Left) -> Result<Vec<u8>, String> {
    use std::os::unix::process::CommandExt as _;
    let began = Instant::now();
    let name = command.get_program().to_string_lossy().into_owned();
    let stuck = STUCK.load(Ordering::Relaxed);
    if stuck >= STUCK_MAX {
        return Err(format!(
            "{name} is not started: {stuck} programs were killed and wait in the kernel"
        ));
    }
    if left == Left::Killed {
        end_with_parent(&mut command);
    }
    let child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .spawn()
        .map_err(|error| format!("{name} cannot be started: {error}"))?;
    let run = follow(child, limits, began, left).map_err(|why| format!("{name}: {why}"))?;
    if let Some(mut child) = run.stuck {
        STUCK.fetch_add(1, Ordering::Relaxed);
        let waits = std::thread::Builder::new().name("gtrace-stuck".to_owned());
        let started = waits.spawn(move || {
            let _ = child.wait();
            STUCK.fetch_sub(1, Ordering::Relaxed);
        });
        // Without a thread nobody learns of its end, and it goes on to count.
        drop(started);
    }
    let printed = |bytes: &[u8]| {
        let printed = gtrace_api::text::clean(String::from_utf8_lossy(bytes).trim());
        printed.chars().take(PRINTED_MAX).collect::<String>()
    };
    match (run.why, run.status) {
        (Some(why), _) => Err(format!("{name}: {why}")),
        (None, Some(status)) if status.success() => Ok(run.out),
        (None, status) => {
            let status = status.map_or("ended".to_owned(), |status| status.to_string());
            // nvidia-smi says there why it did not reset a GPU.
            let both = format!("{} {}", printed(&run.errors), printed(&run.out));
            Err(format!("{name} fails ({status}): {}", both.trim()))
        }
    }
}

/// Has a program killed when the thread that starts it ends, which waits for it: what a killed process had begun does not go on.
#[allow(unsafe_code, reason = "nothing else runs between fork and exec")]
fn end_with_parent(command: &mut Command) {
    use std::os::unix::process::CommandExt as _;
    let parent = rustix::process::getpid();
    // SAFETY: two system calls, without allocation or locks, are made in the new process.
    unsafe { command.pre_exec(move || die_with(Some(parent))) };
}

/// Has this process killed when the thread that started it ends, one of the process `parent`.
///
/// # Errors
///
/// The system's; that the parent has ended before.
pub(crate) fn die_with(parent: Option<Pid>) -> io::Result<()> {
    rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
    match rustix::process::getppid() == parent {
        true => Ok(()),
        false => Err(io::Error::from(rustix::io::Errno::SRCH)),
    }
}

/// How a program ended.
pub(crate) struct Followed {
    /// Why it was killed.
    pub(crate) why: Option<String>,
    /// How it ended, unless it is stuck.
    pub(crate) status: Option<ExitStatus>,
    /// What it printed.
    pub(crate) out: Vec<u8>,
    /// The end of what it printed on standard error.
    pub(crate) errors: Vec<u8>,
    /// It does not even end after SIGKILL: it waits in the kernel.
    pub(crate) stuck: Option<Child>,
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

/// Follows a program to its end, in a process group of its own.
///
/// # Errors
///
/// Why it cannot be followed; it was killed.
pub(crate) fn follow(
    mut child: Child,
    limits: Limits,
    began: Instant,
    left: Left,
) -> Result<Followed, String> {
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
            return Err(format!("it cannot be followed: {error}"));
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
    if why.is_some() || left == Left::Killed {
        let _ = rustix::process::kill_process_group(pid, Signal::KILL);
    }
    if why.is_some() {
        // It may have gone to another group.
        let _ = child.kill();
    }
    let (out, errors) = (out.bytes, err.bytes);
    if let Some(why) = &why
        && !has_ended(&ends, GRACE)
    {
        return Ok(Followed {
            why: Some(format!("{why}; it waits in the kernel and does not end")),
            status: None,
            out,
            errors,
            stuck: Some(child),
        });
    }
    let status = child
        .wait()
        .map_err(|error| format!("how it ended is not known: {error}"))?;
    Ok(Followed {
        why,
        status: Some(status),
        out,
        errors,
        stuck: None,
    })
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
