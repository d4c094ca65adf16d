use std::io;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use super::config::NvmlConfig;
use super::machine::{Machine, Message, not_loaded};
use super::protocol::NvmlSnapshot;
use super::status::{NvmlError, NvmlStatus};

/// The daemon's side of NVML. Methods may be called from any thread.
///
/// One thread of the client's own starts every child, as the kernel kills a child with
/// PR_SET_PDEATHSIG when the thread that started it ends, and not only with its process.
#[derive(Debug)]
pub struct NvmlClient {
    messages: SyncSender<Message>,
    status: Arc<Mutex<NvmlStatus>>,
    /// There while the driver is loaded.
    driver_loaded: Option<PathBuf>,
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
        let driver_loaded = config.driver_loaded.clone();
        let machine = Machine::new(config, messages.clone(), Arc::clone(&status));
        let thread = thread::Builder::new()
            .name("gtrace-nvml".into())
            .spawn(move || machine.run(&receiver))?;
        Ok(Self {
            messages,
            status,
            driver_loaded,
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
        if let Some(file) = self.driver_loaded.as_ref().filter(|file| !file.exists()) {
            // As the thread has found before, which need not be woken for it.
            let reason = not_loaded(file);
            if self.status().reason.as_ref() == Some(&reason) {
                return Err(NvmlError::Absent(reason));
            }
        }
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
