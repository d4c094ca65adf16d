use std::io;
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::Command;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use super::machine::{Machine, Message};
use super::protocol::NvmlSnapshot;
use super::status::{NvmlError, NvmlStatus};

/// How the child is started and how long it may take.
pub struct NvmlConfig {
    /// Makes the command of a child that runs [`super::child_main`]. Standard input and output
    /// are set by the client; standard error is as the command has it.
    pub command: Box<dyn Fn() -> Command + Send>,
    /// Until when an answer must come. A sample of 8 GPUs takes about half a second.
    pub deadline: Duration,
    /// How long a killed child may take to be gone before it counts as stuck in the kernel.
    pub kill_wait: Duration,
    /// Waits between attempts that fail: the first one, doubled up to the second.
    pub retry: (Duration, Duration),
    /// A file that exists while the driver is loaded; without it no child is started. NVML itself
    /// must not be asked, because it runs nvidia-modprobe, which loads the driver.
    pub driver_loaded: Option<PathBuf>,
}

impl NvmlConfig {
    /// This same program with the arguments `nvml-child`, and the defaults: 5 s for an answer,
    /// 1 s to be gone, attempts after 1 s, 2 s, 4 s, … 60 s, only while
    /// /proc/driver/nvidia/version exists.
    pub fn this_program() -> Self {
        Self::with_command(|| {
            // The link and not the path behind it: that may have been replaced by an upgrade.
            let mut command = Command::new("/proc/self/exe");
            command.arg0("gtrace").arg("nvml-child");
            command
        })
    }

    /// The defaults of [`Self::this_program`] with another command.
    pub fn with_command(command: impl Fn() -> Command + Send + 'static) -> Self {
        Self {
            command: Box::new(command),
            deadline: Duration::from_secs(5),
            kill_wait: Duration::from_secs(1),
            retry: (Duration::from_secs(1), Duration::from_secs(60)),
            driver_loaded: Some(PathBuf::from("/proc/driver/nvidia/version")),
        }
    }
}

/// The daemon's side of NVML. Methods may be called from any thread.
///
/// One thread of the client's own starts every child, as the kernel kills a child with
/// PR_SET_PDEATHSIG when the thread that started it ends, and not only with its process.
#[derive(Debug)]
pub struct NvmlClient {
    messages: SyncSender<Message>,
    status: Arc<Mutex<NvmlStatus>>,
    thread: Option<thread::JoinHandle<()>>,
}

impl NvmlClient {
    /// A client that has started no child yet; the first [`Self::sample`] does.
    ///
    /// # Errors
    /// If the client's thread cannot be started.
    pub fn new(config: NvmlConfig) -> io::Result<Self> {
        // Bounded, so that a child that floods is stopped by its full pipe.
        let (messages, receiver) = sync_channel(64);
        let status = Arc::new(Mutex::new(NvmlStatus::default()));
        let machine = Machine::new(config, messages.clone(), Arc::clone(&status));
        let thread = thread::Builder::new()
            .name("gtrace-nvml".into())
            .spawn(move || machine.run(&receiver))?;
        Ok(Self {
            messages,
            status,
            thread: Some(thread),
        })
    }

    /// A sample of every GPU. Blocks until the answer or the deadline; calls of several threads
    /// share one answer.
    ///
    /// # Errors
    /// Why there is none. After a failure the reason is repeated at once until the next attempt
    /// is due.
    pub fn sample(&self) -> Result<NvmlSnapshot, NvmlError> {
        let (reply, answer) = sync_channel(1);
        self.ask(Message::Sample(reply), &answer)
            .unwrap_or_else(|| {
                Err(NvmlError::Failed(
                    "the thread of the NVML client has ended".into(),
                ))
            })
    }

    /// Ends the child, so that nothing of gtrace holds the driver, and starts none until
    /// [`Self::resume`]. True once it is gone; false if it is stuck in the kernel.
    pub fn close(&self) -> bool {
        let (reply, answer) = sync_channel(1);
        self.ask(Message::Close(reply), &answer).unwrap_or(true)
    }

    /// Opens again after [`Self::close`], and makes the next attempt due at once: for when the
    /// driver was just loaded.
    pub fn resume(&self) {
        let _ = self.messages.send(Message::Resume);
    }

    /// What is known of NVML and the child. Never blocks.
    pub fn status(&self) -> NvmlStatus {
        self.status
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    fn ask<T>(&self, message: Message, answer: &Receiver<T>) -> Option<T> {
        self.messages.send(message).ok()?;
        answer.recv().ok()
    }
}

impl Drop for NvmlClient {
    fn drop(&mut self) {
        let _ = self.messages.send(Message::Quit);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
