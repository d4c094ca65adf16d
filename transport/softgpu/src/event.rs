//! Events: a record is a command of a stream; who waits, waits for that record and no later one.

use std::fs::File;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Instant;

use crate::abi::Answer;
use crate::error::{INVALID_HANDLE, INVALID_VALUE, NOT_READY, fail_if};
use crate::graph::capture::{Mark, refuse_captured};
use crate::ipc::{self, Exported, What};
use crate::pages::page_size;
use crate::progress::{Progress, Words};
use crate::registry::Registry;
use crate::sync::lock;
use crate::types::IpcHandle;

/// `CU_EVENT_DISABLE_TIMING`.
const DISABLE_TIMING: u32 = 2;

/// Flags of an event of another process: between processes, no timing.
const OPENED: u32 = 6;

/// All live events.
pub(crate) static EVENTS: Registry<Event> = Registry::new();

/// See the module.
pub(crate) struct Event {
    pub(crate) context: u64,
    pub(crate) flags: u32,
    issued: Issued,
    /// What the latest record raises to its number when it is complete.
    done: Mutex<Arc<Progress>>,
    /// Number and time (nanoseconds of this process) of the latest completed record.
    last: Mutex<(u64, u64)>,
    /// The latest record, if it is part of a stream capture.
    pub(crate) captured: Mutex<Option<Mark>>,
}

/// One record of an event.
#[derive(Clone)]
pub(crate) struct Record {
    pub(crate) number: u64,
    /// Reaches the number when the stream has reached the record.
    pub(crate) done: Arc<Progress>,
}

impl Record {
    /// Whether it is complete; a record that was never made is.
    pub(crate) fn is_complete(&self) -> bool {
        self.done.reached() >= self.number
    }

    /// Waits until it is complete.
    pub(crate) fn wait(&self) {
        self.done.wait(self.number);
    }
}

/// Number of the latest record.
enum Issued {
    Own(AtomicU64),
    /// Of the page that other processes have too, and the file that it is of.
    Shared(Words, File),
}

impl Issued {
    fn word(&self) -> &AtomicU64 {
        match self {
            Self::Own(word) => word,
            Self::Shared(words, _) => words.first(),
        }
    }
}

/// Nanoseconds since the first call.
fn now() -> u64 {
    static START: OnceLock<Instant> = OnceLock::new();
    START.get_or_init(Instant::now).elapsed().as_nanos() as u64
}

impl Event {
    pub(crate) fn new(context: u64, flags: u32) -> Self {
        // The clock starts before the first record.
        now();
        Self {
            context,
            flags,
            issued: Issued::Own(AtomicU64::new(0)),
            done: Mutex::default(),
            last: Mutex::new((0, 0)),
            captured: Mutex::default(),
        }
    }

    /// One that other processes can open.
    pub(crate) fn shared(context: u64, flags: u32) -> Answer<Self> {
        Self::of_file(context, flags, ipc::file(page_size())?)
    }

    fn of_file(context: u64, flags: u32, file: File) -> Answer<Self> {
        let words = Words::map(&file)?;
        Ok(Self {
            done: Mutex::new(Arc::new(Progress::shared(words.clone()))),
            issued: Issued::Shared(words, file),
            ..Self::new(context, flags)
        })
    }

    /// A handle for other processes.
    ///
    /// # Errors
    /// `CUDA_ERROR_INVALID_HANDLE` if it was not made for that.
    pub(crate) fn export(&self) -> Answer<IpcHandle> {
        match &self.issued {
            Issued::Own(_) => Err(INVALID_HANDLE),
            Issued::Shared(_, file) => {
                Ok(Exported::new(file, 0, 0, page_size())?.to_handle(What::Event))
            }
        }
    }

    /// The event of another process.
    ///
    /// # Errors
    /// As [`Exported::open`].
    pub(crate) fn open(context: u64, handle: &IpcHandle) -> Answer<Self> {
        let exported = Exported::from_handle(handle, What::Event)?;
        fail_if(
            (exported.offset, exported.size) != (0, page_size()),
            INVALID_VALUE,
        )?;
        Self::of_file(context, OPENED, exported.open()?)
    }

    /// The live event of a handle.
    pub(crate) fn of(handle: u64) -> Answer<Arc<Self>> {
        EVENTS.find(handle)
    }

    /// The latest record is no part of a capture.
    pub(crate) fn uncapture(&self) {
        *lock(&self.captured) = None;
    }

    /// A new record, to be completed by [`complete`](Self::complete).
    pub(crate) fn issue(&self) -> Record {
        let mut done = lock(&self.done);
        let number = self.issued.word().fetch_add(1, Ordering::SeqCst) + 1;
        // The record before may be of a slower stream: who waits for it must not take this one for it.
        if matches!(self.issued, Issued::Own(_)) && done.reached() + 1 < number {
            *done = Arc::default();
        }
        Record {
            number,
            done: Arc::clone(&done),
        }
    }

    /// The latest record.
    pub(crate) fn latest(&self) -> Record {
        let done = lock(&self.done);
        Record {
            number: self.issued(),
            done: Arc::clone(&done),
        }
    }

    /// Number of the latest record; 0: none.
    pub(crate) fn issued(&self) -> u64 {
        self.issued.word().load(Ordering::SeqCst)
    }

    /// The stream has reached a record.
    pub(crate) fn complete(&self, record: &Record) {
        let mut last = lock(&self.last);
        if record.number > last.0 {
            *last = (record.number, now());
        }
        drop(last);
        record.done.advance(record.number);
    }

    /// Whether the latest record is complete; an event that was never recorded is.
    pub(crate) fn is_complete(&self) -> bool {
        self.latest().is_complete()
    }

    /// Nanoseconds at the latest record.
    fn time(&self) -> Answer<u64> {
        fail_if(
            self.flags & DISABLE_TIMING != 0 || self.issued() == 0,
            INVALID_HANDLE,
        )?;
        refuse_captured(self)?;
        fail_if(!self.is_complete(), NOT_READY)?;
        Ok(lock(&self.last).1)
    }

    /// Milliseconds from this event to `end`, negative if that came first.
    ///
    /// # Errors
    /// `CUDA_ERROR_INVALID_HANDLE` if one was not recorded or keeps no time, and
    /// `CUDA_ERROR_NOT_READY` if one is not complete.
    pub(crate) fn milliseconds_to(&self, end: &Self) -> Answer<f32> {
        let (from, to) = (self.time(), end.time());
        for time in [from, to] {
            fail_if(time == Err(INVALID_HANDLE), INVALID_HANDLE)?;
        }
        Ok(((to? as f64 - from? as f64) / 1e6) as f32)
    }
}
