//! The thread behind [`super::NvmlClient`]: owns the child, and waits for requests, answers and
//! deadlines at one place.

use std::io::{self, BufRead as _, BufReader, Read, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::config::{NvmlConfig, Readings};
use super::protocol::{Answer, Asked, MAX_LINE, NvmlSnapshot, Op, Request, parse_response};
use super::silent::SilentGpus;
use super::status::{NvmlError, NvmlState, NvmlStatus};

/// Most lines of one answer: NVML counts no more than 256 GPUs, of two lines each.
const MAX_LINES: u32 = 1024;

type Sampled = Result<NvmlSnapshot, NvmlError>;

/// How often a child that should be gone is checked.
const REAP_INTERVAL: Duration = Duration::from_millis(10);
/// How long a child may take to end by itself once its standard input is closed.
const END_WAIT: Duration = Duration::from_millis(500);

pub(crate) enum Message {
    Sample(SyncSender<Sampled>),
    Close(SyncSender<bool>),
    Resume,
    Quit,
    /// From the reader of the child with this number: a line without its end, or why there is
    /// none.
    Line(u64, Result<Vec<u8>, String>),
}

struct Running {
    number: u64,
    child: Child,
    stdin: ChildStdin,
}

struct Pending {
    id: u64,
    until: Instant,
    waiters: Vec<SyncSender<Sampled>>,
    /// The GPU that was asked last.
    asked: Option<Asked>,
    /// What has come so far.
    snapshot: NvmlSnapshot,
    /// In so many lines.
    lines: u32,
}

pub(crate) struct Machine {
    config: NvmlConfig,
    messages: SyncSender<Message>,
    status: Arc<Mutex<NvmlStatus>>,
    running: Option<Running>,
    /// A killed child that is not gone yet.
    dying: Option<Child>,
    pending: Option<Pending>,
    closed: bool,
    next_id: u64,
    /// GPUs that are left out.
    silent: SilentGpus,
    /// What NVML said last beside the readings: its versions.
    versions: NvmlSnapshot,
    /// The failure to repeat until the next attempt is due.
    failure: Option<(NvmlError, Instant)>,
    /// Whether NVML has worked in the newest child.
    worked: bool,
    /// The wait after the next failure, at least.
    wait: Duration,
}

impl Machine {
    pub(crate) fn new(
        config: NvmlConfig,
        messages: SyncSender<Message>,
        status: Arc<Mutex<NvmlStatus>>,
    ) -> Self {
        Self {
            config,
            messages,
            status,
            running: None,
            dying: None,
            pending: None,
            closed: false,
            next_id: 0,
            silent: SilentGpus::default(),
            versions: NvmlSnapshot::default(),
            failure: None,
            worked: false,
            wait: Duration::ZERO,
        }
    }

    pub(crate) fn run(mut self, receiver: &Receiver<Message>) {
        loop {
            let message = match &self.pending {
                None => receiver.recv().map_err(|_| RecvTimeoutError::Disconnected),
                Some(p) => receiver.recv_timeout(p.until.saturating_duration_since(Instant::now())),
            };
            match message {
                Ok(Message::Sample(reply)) => self.sample(reply),
                Ok(Message::Close(reply)) => {
                    self.closed = true;
                    self.answer(Err(NvmlError::Closed));
                    self.end();
                    // The asker may have stopped waiting.
                    let _ = reply.send(self.dying.is_none());
                }
                Ok(Message::Resume) => self.resume(),
                Ok(Message::Line(number, line)) => {
                    if self.running.as_ref().is_some_and(|r| r.number == number) {
                        self.line(line);
                    }
                }
                Err(RecvTimeoutError::Timeout) => self.hung(),
                Ok(Message::Quit) | Err(RecvTimeoutError::Disconnected) => {
                    self.answer(Err(NvmlError::Closed));
                    self.kill();
                    self.reap(self.config.kill_wait);
                    return;
                }
            }
        }
    }

    fn resume(&mut self) {
        self.closed = false;
        self.forget_failures();
        let mut status = self.status();
        if status.state == NvmlState::Closed {
            status.state = NvmlState::Idle;
            status.reason = None;
        }
    }

    fn forget_failures(&mut self) {
        self.failure = None;
        self.wait = Duration::ZERO;
        self.silent.clear();
        self.versions = NvmlSnapshot::default();
    }

    fn sample(&mut self, reply: SyncSender<Sampled>) {
        if let Some(pending) = &mut self.pending {
            pending.waiters.push(reply);
            return;
        }
        let refused = match self.start() {
            Ok(()) => self.request(reply.clone()),
            Err(error) => Err(error),
        };
        if let Err(error) = refused {
            let _ = reply.send(Err(error));
        }
    }

    /// Makes sure that a child runs, or returns why none does.
    fn start(&mut self) -> Result<(), NvmlError> {
        if self.closed {
            return Err(NvmlError::Closed);
        }
        // With the driver gone the child must not keep it from being loaded anew in another
        // version, nor load it.
        let device_file = self.config.driver_loaded.clone();
        if let Some(device_file) = device_file.filter(|device_file| !device_file.exists()) {
            self.end();
            // Loaded anew it may work.
            self.forget_failures();
            let reason = not_loaded(&device_file);
            // Checked again with the next request: it costs one system call.
            self.show(NvmlState::Absent, Some(reason.clone()));
            return Err(NvmlError::Absent(reason));
        }
        if self.running.is_some() {
            return Ok(());
        }
        self.reap(self.config.kill_wait);
        if let Some(stuck) = self.dying.as_ref().map(Child::id) {
            let reason = format!(
                "process {stuck} was killed and is stuck in the kernel; no other is started until \
                 it is gone"
            );
            // The last sample, which other GPUs answered, may have left it as working.
            self.show(NvmlState::Hung, Some(reason.clone()));
            return Err(NvmlError::Hung(reason));
        }
        if let Some((error, due)) = &self.failure
            && Instant::now() < *due
        {
            return Err(error.clone());
        }
        self.spawn()
            .map_err(|e| self.failed(&format!("cannot start the NVML child: {e}")))
    }

    fn spawn(&mut self) -> io::Result<()> {
        let mut command: Command = (self.config.command)();
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let (Some(stdin), Some(stdout)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(io::Error::other("the child has no pipes"));
        };
        (self.config.started)(child.id());
        let number = {
            let mut status = self.status();
            status.starts += 1;
            status.pid = Some(child.id());
            status.starts
        };
        let messages = self.messages.clone();
        let reader = thread::Builder::new()
            .name("gtrace-nvml-in".into())
            .spawn(move || read_lines(stdout, number, &messages));
        if let Err(error) = reader {
            self.dying = Some(child);
            self.kill();
            return Err(error);
        }
        self.worked = false;
        self.running = Some(Running {
            number,
            child,
            stdin,
        });
        Ok(())
    }

    fn request(&mut self, reply: SyncSender<Sampled>) -> Result<(), NvmlError> {
        let Some(running) = &mut self.running else {
            return Err(NvmlError::Closed);
        };
        self.next_id += 1;
        let (skip, last) = self.silent.left_out_and_due();
        let mut line = serde_json::to_vec(&Request {
            id: self.next_id,
            op: match self.config.readings {
                Readings::All => Op::Sample,
                Readings::Quick { pcie, nvlink } => Op::Quick { pcie, nvlink },
            },
            skip,
            last,
        })
        .map_err(|e| NvmlError::Failed(e.to_string()))?;
        line.push(b'\n');
        // A short line into an empty pipe: never blocks. A child that is gone gives EPIPE (the
        // Rust runtime ignores SIGPIPE).
        if let Err(error) = running.stdin.write_all(&line) {
            let how = self.ended();
            return Err(self.failed(&format!("the NVML child is gone ({how}): {error}")));
        }
        let until = Instant::now() + self.config.deadline;
        self.pending = Some(Pending {
            id: self.next_id,
            until,
            waiters: vec![reply],
            asked: None,
            snapshot: NvmlSnapshot::default(),
            lines: 0,
        });
        Ok(())
    }

    fn line(&mut self, line: Result<Vec<u8>, String>) {
        let response = line.and_then(|line| parse_response(&line));
        if let Some(pending) = &mut self.pending {
            pending.lines += 1;
        }
        let pending = self.pending.as_mut();
        let error = match (response, pending) {
            (Ok(_), Some(pending)) if pending.lines >= MAX_LINES => {
                self.failed("the NVML child does not come to an end")
            }
            (Ok(response), Some(pending)) if pending.id == response.id => match response.answer {
                Answer::Asks(asked) => {
                    pending.asked = Some(asked);
                    pending.until = Instant::now() + self.config.deadline;
                    return;
                }
                Answer::Gpu(gpu) => {
                    self.silent.read(&gpu);
                    pending.snapshot.gpus.push(*gpu);
                    return;
                }
                Answer::Unreadable(gpu) => {
                    self.silent.refused(gpu.index);
                    pending.snapshot.unreadable.push(gpu);
                    return;
                }
                Answer::Ok(versions) => {
                    self.versions = *versions;
                    self.failure = None;
                    self.worked = true;
                    self.wait = Duration::ZERO;
                    self.deliver();
                    return;
                }
                Answer::Error(error) if error.absent => self.absent(error.reason),
                Answer::Error(error) => self.failed(&error.reason),
            },
            (Ok(_), _) => self.failed("the NVML child answered what was not asked"),
            (Err(reason), None) => {
                // Ended or talked between requests. Nobody waits; the next request starts anew.
                self.failed(&reason)
            }
            (Err(reason), Some(_)) => {
                let how = self.ended();
                self.failed(&format!("{reason} ({how})"))
            }
        };
        self.answer(Err(error));
    }

    /// Answers with what the GPUs have said.
    fn deliver(&mut self) {
        let Some(pending) = &mut self.pending else {
            return;
        };
        let mut snapshot = NvmlSnapshot {
            gpus: std::mem::take(&mut pending.snapshot.gpus),
            unreadable: std::mem::take(&mut pending.snapshot.unreadable),
            cut_short: pending.snapshot.cut_short,
            ..self.versions.clone()
        };
        self.silent.complete(&mut snapshot);
        self.status().samples += 1;
        self.show(NvmlState::Ok, self.silent.reason());
        self.answer(Ok(snapshot));
    }

    /// Kills the child. If it is one GPU that does not answer, the others' samples go on without it.
    fn hung(&mut self) {
        self.kill();
        self.status().hangs += 1;
        let reason = format!("no answer within {:?}", self.config.deadline);
        let pending = self.pending.as_ref();
        let others = pending
            .and_then(|pending| pending.asked)
            .filter(|asked| self.silent.leave_others(*asked));
        let some_answered = pending.is_some_and(|pending| !pending.snapshot.gpus.is_empty());
        match others {
            Some(asked) => self.silent.add(asked.index, &reason, &self.config),
            // After the wait for all of them each is asked.
            None => self.silent.clear(),
        }
        // Answered before the killed child is waited for.
        if others.is_some() && some_answered {
            if let Some(pending) = &mut self.pending {
                pending.snapshot.cut_short = true;
            }
            self.deliver();
        } else {
            self.show(NvmlState::Hung, Some(reason.clone()));
            let error = NvmlError::Hung(reason);
            if others.is_none() {
                self.back_off(error.clone());
            }
            self.answer(Err(error));
        }
        self.reap(Duration::ZERO);
    }

    fn failed(&mut self, reason: &str) -> NvmlError {
        self.kill();
        self.reap(self.config.kill_wait);
        self.status().failures += 1;
        self.show(NvmlState::Failed, Some(reason.to_owned()));
        let error = NvmlError::Failed(reason.to_owned());
        self.back_off(error.clone());
        error
    }

    fn absent(&mut self, reason: String) -> NvmlError {
        self.end();
        self.show(NvmlState::Absent, Some(reason.clone()));
        let error = NvmlError::Absent(reason);
        self.back_off(error.clone());
        error
    }

    fn back_off(&mut self, error: NvmlError) {
        // A library that is not there has not touched the driver.
        let harmless = self.worked || matches!(error, NvmlError::Absent(_));
        let (first, longest) = match harmless {
            true => self.config.retry,
            false => self.config.retry_start,
        };
        let wait = self.wait.clamp(first, longest);
        self.failure = Some((error, Instant::now() + wait));
        self.wait = wait * 2;
    }

    fn answer(&mut self, sampled: Sampled) {
        for waiter in self.pending.take().map(|p| p.waiters).unwrap_or_default() {
            // A waiter that is gone needs no answer.
            let _ = waiter.send(sampled.clone());
        }
    }

    /// Lets the child end by itself, so that NVML is shut down in order; kills it if it does not.
    fn end(&mut self) {
        if let Some(running) = self.running.take() {
            drop(running.stdin);
            self.dying = Some(running.child);
            self.reap(END_WAIT);
            self.kill();
        }
        self.reap(self.config.kill_wait);
        if self.closed {
            self.show(NvmlState::Closed, None);
        }
    }

    fn kill(&mut self) {
        if let Some(running) = self.running.take() {
            self.dying = Some(running.child);
        }
        if let Some(child) = &mut self.dying {
            // Fails only if it is gone already.
            let _ = child.kill();
        }
    }

    /// Waits for a child that should be gone.
    fn reap(&mut self, wait: Duration) {
        let until = Instant::now() + wait;
        while let Some(child) = &mut self.dying {
            if !matches!(child.try_wait(), Ok(None)) {
                self.dying = None;
                self.status().pid = None;
            } else if Instant::now() >= until {
                return;
            } else {
                thread::sleep(REAP_INTERVAL);
            }
        }
    }

    /// How the child ended, if it did.
    fn ended(&mut self) -> String {
        let until = Instant::now() + self.config.kill_wait;
        while let Some(running) = &mut self.running {
            match running.child.try_wait() {
                Ok(Some(status)) => return status.to_string(),
                Ok(None) if Instant::now() < until => thread::sleep(REAP_INTERVAL),
                _ => break,
            }
        }
        "still running".into()
    }

    fn show(&self, state: NvmlState, reason: Option<String>) {
        let mut status = self.status();
        status.state = state;
        status.reason = reason;
    }

    fn status(&self) -> MutexGuard<'_, NvmlStatus> {
        self.status.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Why there is no NVML while the file that comes with the driver is not there.
pub(crate) fn not_loaded(file: &Path) -> String {
    let file = file.display();
    format!("the NVIDIA driver is not loaded ({file} is missing)")
}

/// Reads lines until the pipe ends, a line is too long, or nobody listens any more.
fn read_lines(pipe: impl Read, number: u64, messages: &SyncSender<Message>) {
    let mut pipe = BufReader::new(pipe);
    loop {
        let mut line = Vec::new();
        let read = pipe.by_ref().take(MAX_LINE).read_until(b'\n', &mut line);
        let read = match read {
            Ok(_) if line.last() == Some(&b'\n') => {
                line.pop();
                Ok(line)
            }
            Ok(n) if n as u64 == MAX_LINE => Err("the NVML child sent an overlong line".into()),
            Ok(_) => Err("the NVML child ended".into()),
            Err(error) => Err(format!("cannot read from the NVML child: {error}")),
        };
        let over = read.is_err();
        if messages.send(Message::Line(number, read)).is_err() || over {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::sync_channel;

    use super::*;

    /// Seconds until the next attempt, after each of these failures in turn.
    fn waits(machine: &mut Machine, errors: &[NvmlError]) -> Vec<u64> {
        let mut waits = Vec::new();
        for error in errors {
            machine.back_off(error.clone());
            let (_, due) = machine.failure.clone().unwrap();
            let left = due.saturating_duration_since(Instant::now());
            // Some of it has passed.
            waits.push(left.as_secs_f64().round() as u64);
        }
        waits
    }

    #[test]
    fn a_gpu_that_does_not_start_is_left_alone_for_longer_and_longer() {
        let config = NvmlConfig::with_command(|| Command::new("true"));
        let mut machine = Machine::new(config, sync_channel(64).0, Arc::default());
        let hung = NvmlError::Hung("no answer".into());
        let hangs = vec![hung.clone(); 8];
        assert_eq!(
            waits(&mut machine, &hangs),
            [60, 120, 240, 480, 960, 1920, 3600, 3600]
        );
        // The driver was loaded anew, or somebody asked.
        machine.resume();
        assert_eq!(waits(&mut machine, &hangs[..2]), [60, 120]);
        let absent = vec![NvmlError::Absent("no library".into()); 8];
        machine.resume();
        assert_eq!(waits(&mut machine, &absent), [1, 2, 4, 8, 16, 32, 60, 60]);
        // One that worked and failed is asked again soon, and no more often than the others if that fails.
        machine.resume();
        machine.worked = true;
        assert_eq!(waits(&mut machine, &hangs[..1]), [1]);
        machine.worked = false;
        assert_eq!(waits(&mut machine, &hangs[..2]), [60, 120]);
    }

    #[test]
    fn no_second_child_is_started_beside_one_that_does_not_die() {
        // Nothing in a test can be unkillable, so the child is simply not killed.
        let config = NvmlConfig {
            kill_wait: Duration::from_millis(20),
            driver_loaded: None,
            ..NvmlConfig::with_command(|| Command::new("true"))
        };
        let mut machine = Machine::new(config, sync_channel(64).0, Arc::default());
        machine.dying = Some(Command::new("sleep").arg("60").spawn().unwrap());
        // As it is once other GPUs have answered while one hung.
        machine.show(NvmlState::Ok, Some("GPU 1 is left alone".into()));
        let error = machine.start().unwrap_err();
        assert!(
            matches!(&error, NvmlError::Hung(why) if why.contains("stuck")),
            "{error}"
        );
        assert_eq!(machine.status().starts, 0);
        let status = machine.status().clone();
        assert_eq!(status.state, NvmlState::Hung);
        assert!(
            status.reason.as_ref().is_some_and(|r| r.contains("stuck")),
            "{status:?}"
        );
        machine.kill();
        machine.reap(Duration::from_secs(10));
        assert_eq!(machine.start(), Ok(()));
        assert_eq!(machine.status().starts, 1);
        machine.end();
    }
}
