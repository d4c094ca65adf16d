//! The thread that owns the store. A failed append is tried again until it succeeds: the records
//! wait in memory, in order, and the core is told how many wait.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use gtrace_event::{Record, Timestamp};
use gtrace_store::Store;
use tokio::sync::oneshot;

use crate::hub::Hub;

/// Records are gathered for so long before they are written together.
const GATHER: Duration = Duration::from_millis(100);
/// Between attempts to write what could not be written.
const RETRY: Duration = Duration::from_secs(1);
/// Between looks at whether days are to be dropped.
const RETAIN_EVERY: Duration = Duration::from_secs(3600);
/// At the end, how long the writer tries to get rid of what waits.
const LAST_TRIES: Duration = Duration::from_secs(3);

/// An order to the writer.
#[derive(Debug)]
pub(super) enum Write {
    /// Append, and move the cursor.
    Records(Vec<Record>, Option<(String, String)>),
    /// Say when everything before is durable, or why not.
    Flush(oneshot::Sender<Result<(), String>>),
}

/// The core's end.
#[derive(Debug)]
pub(super) struct Writer {
    orders: Sender<Write>,
    waiting: Arc<AtomicUsize>,
    thread: JoinHandle<()>,
}

impl Writer {
    /// Starts the thread.
    pub(super) fn spawn(store: Store, hub: Arc<Hub>) -> std::io::Result<Self> {
        let (orders, received) = channel();
        let waiting = Arc::new(AtomicUsize::new(0));
        let state = State {
            store,
            hub,
            waiting: Arc::clone(&waiting),
            records: Vec::new(),
            cursor: None,
            flushes: Vec::new(),
            problem: None,
        };
        let thread = std::thread::Builder::new()
            .name("gtrace-store".to_owned())
            .spawn(move || state.run(&received))?;
        Ok(Self {
            orders,
            waiting,
            thread,
        })
    }

    /// Records that are not in the store yet.
    pub(super) fn waiting(&self) -> usize {
        self.waiting.load(Ordering::Relaxed)
    }

    pub(super) fn append(&self, records: Vec<Record>, cursor: Option<(String, String)>) {
        self.waiting.fetch_add(records.len(), Ordering::Relaxed);
        // The thread ends only after this end is dropped.
        let _ = self.orders.send(Write::Records(records, cursor));
    }

    pub(super) fn flush(&self, answer: oneshot::Sender<Result<(), String>>) {
        let _ = self.orders.send(Write::Flush(answer));
    }

    /// Writes what waits and closes the store.
    pub(super) fn finish(self) {
        drop(self.orders);
        if self.thread.join().is_err() {
            tracing::error!("the store's thread panicked; its last second may be missing");
        }
    }
}

struct State {
    store: Store,
    hub: Arc<Hub>,
    waiting: Arc<AtomicUsize>,
    records: Vec<Record>,
    cursor: Option<(String, String)>,
    flushes: Vec<oneshot::Sender<Result<(), String>>>,
    problem: Option<String>,
}

impl State {
    fn run(mut self, orders: &Receiver<Write>) {
        let mut retain_at = Instant::now();
        loop {
            if Instant::now() >= retain_at {
                self.retain();
                retain_at = Instant::now() + RETAIN_EVERY;
            }
            let wait = if self.idle() { RETAIN_EVERY } else { RETRY };
            let open = match orders.recv_timeout(wait) {
                Ok(order) => {
                    self.take(order);
                    self.gather(orders)
                }
                Err(RecvTimeoutError::Timeout) => true,
                Err(RecvTimeoutError::Disconnected) => false,
            };
            self.write();
            if !open {
                break;
            }
        }
        let until = Instant::now() + LAST_TRIES;
        while !self.records.is_empty() && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(100));
            self.write();
        }
        if !self.records.is_empty() {
            tracing::error!(
                "{} records could not be stored and are lost",
                self.records.len()
            );
        }
        self.store.close();
    }

    fn idle(&self) -> bool {
        self.records.is_empty() && self.cursor.is_none() && self.flushes.is_empty()
    }

    fn take(&mut self, order: Write) {
        match order {
            Write::Records(records, cursor) => {
                self.records.extend(records);
                self.cursor = cursor.or_else(|| self.cursor.take());
            }
            Write::Flush(answer) => self.flushes.push(answer),
        }
    }

    /// Takes what else comes soon; false once the core is gone.
    fn gather(&mut self, orders: &Receiver<Write>) -> bool {
        let until = Instant::now() + GATHER;
        while self.flushes.is_empty() {
            let left = until.saturating_duration_since(Instant::now());
            match orders.recv_timeout(left) {
                Ok(order) => self.take(order),
                Err(RecvTimeoutError::Timeout) => return true,
                Err(RecvTimeoutError::Disconnected) => return false,
            }
        }
        true
    }

    fn write(&mut self) {
        if self.idle() {
            return;
        }
        let cursors: Vec<_> = self.cursor.iter().cloned().collect();
        match self.store.append(&self.records, &cursors) {
            Ok(_) => {
                self.waiting
                    .fetch_sub(self.records.len(), Ordering::Relaxed);
                self.records.clear();
                self.records.shrink_to(1024);
                self.cursor = None;
                if self.problem.take().is_some() {
                    tracing::info!("the store takes records again");
                    self.hub.update_status(|status| status.store_problem = None);
                }
                self.answer(&Ok(()));
            }
            Err(error) => {
                let text = error.to_string();
                if self.problem.as_ref() != Some(&text) {
                    tracing::error!("{} records wait: {text}", self.records.len());
                    self.hub
                        .update_status(|status| status.store_problem = Some(text.clone()));
                    self.problem = Some(text.clone());
                }
                self.answer(&Err(text));
            }
        }
    }

    fn answer(&mut self, result: &Result<(), String>) {
        for answer in self.flushes.drain(..) {
            // Whoever asked may have given up.
            let _ = answer.send(result.clone());
        }
    }

    fn retain(&mut self) {
        match self.store.retain(Timestamp::now()) {
            Ok(report) => tracing::debug!(?report, "retention"),
            Err(error) => tracing::warn!("old days could not be dropped: {error}"),
        }
    }
}
