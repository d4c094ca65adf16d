//! Draining the rings.
#![allow(unsafe_code)] // plain old data is read out of ring records, and poll(2) is called

use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::supervise::{beat, rest};
use aya::Pod;
use aya::maps::{MapData, RingBuf};
use gtrace_abi::{
    AerRecord, CallRecord, ExitRecord, FirmwareErrorRecord, HEADER_LEN, Header, LOG_TEXT_MAX,
    MachineCheckRecord, MemoryRecord, ModuleRecord, OomRecord, RecordType, XidRecord,
};

/// A round that brings so many records is one of a storm: the reader then polls now and
/// then, as a wake-up for each record would cost more.
const STORM: u32 = 16;
/// Between polls in a storm.
const STORM_POLL: Duration = Duration::from_micros(500);
/// So many events are taken in a row at most: in a storm that lasts, what else is to be done between rounds has its turn.
const EVENTS_A_ROUND: u32 = 1024;
/// So many calls are taken in a row at most: whoever makes calls fail as fast as he can must not keep
/// the reader from the events.
const CALLS_A_ROUND: u32 = 64;
/// After the last record the reader polls a few times more, after these waits, before it sleeps: a record that was being
/// written while it read the one before may have come without a wake-up. Who writes it may be held up meanwhile, as a virtual CPU is.
const RECHECKS: [Duration; 5] = [
    Duration::from_millis(1),
    Duration::from_millis(1),
    Duration::from_millis(20),
    Duration::from_millis(500),
    Duration::from_secs(5),
];

/// A record out of a ring.
#[derive(Clone, Debug)]
pub enum RingRecord<'a> {
    /// A kernel log record or piece.
    Log {
        /// Header.
        header: Header,
        /// Text, not necessarily UTF-8.
        text: &'a [u8],
        /// Whether the probe had to cut it.
        cut: bool,
    },
    /// ras:aer_event.
    Aer(AerRecord),
    /// ras:mc_event.
    Memory(Box<MemoryRecord>),
    /// mce:mce_record.
    MachineCheck(MachineCheckRecord),
    /// ras:arm_event or ras:non_standard_event.
    FirmwareError(FirmwareErrorRecord),
    /// oom:mark_victim.
    Oom(OomRecord),
    /// A GPU process ended.
    Exit(ExitRecord),
    /// A module was loaded or freed.
    Module(ModuleRecord),
    /// A slow, failed or traced call.
    Call(CallRecord),
    /// The driver reported an Xid.
    Xid(Box<XidRecord>),
}

impl<'a> RingRecord<'a> {
    /// Reads a record; `None` if it is too short or of unknown type (another build's probes).
    pub fn parse(bytes: &'a [u8]) -> Option<Self> {
        let header: Header = read(bytes)?;
        let is = |kind: RecordType| header.kind == kind as u32;
        if is(RecordType::Log) {
            let len: u32 = read(bytes.get(HEADER_LEN..)?)?;
            let cut: u32 = read(bytes.get(HEADER_LEN + 4..)?)?;
            let len = (len as usize).min(LOG_TEXT_MAX);
            let text = bytes.get(HEADER_LEN + 8..HEADER_LEN + 8 + len)?;
            return Some(Self::Log {
                header,
                text,
                cut: cut != 0,
            });
        }
        Some(match () {
            () if is(RecordType::Aer) => Self::Aer(read(bytes)?),
            () if is(RecordType::Memory) => Self::Memory(Box::new(read(bytes)?)),
            () if is(RecordType::MachineCheck) => Self::MachineCheck(read(bytes)?),
            () if is(RecordType::FirmwareError) => Self::FirmwareError(read(bytes)?),
            () if is(RecordType::Oom) => Self::Oom(read(bytes)?),
            () if is(RecordType::Exit) => Self::Exit(read(bytes)?),
            () if is(RecordType::Module) => Self::Module(read(bytes)?),
            () if is(RecordType::Call) => Self::Call(read(bytes)?),
            () if is(RecordType::Xid) => Self::Xid(Box::new(read(bytes)?)),
            () => return None,
        })
    }
}

fn read<T: Pod>(bytes: &[u8]) -> Option<T> {
    let bytes = bytes.get(..size_of::<T>())?;
    // SAFETY: T is plain old data and `bytes` holds size_of::<T>() of them; alignment is not
    // assumed.
    Some(unsafe { bytes.as_ptr().cast::<T>().read_unaligned() })
}

/// Hands every record of both rings to `take` (`None` for one that cannot be read), until `stop`. What waits is woken by `woken`, an
/// eventfd.
///
/// Calls `idle` after every round, so that what was taken can be passed on in batches; it says when
/// it wants to be called again at the latest.
pub fn drain(
    rings: &mut [RingBuf<MapData>; 2],
    stop: &AtomicBool,
    woken: Option<&OwnedFd>,
    mut take: impl FnMut(Option<RingRecord<'_>>),
    mut idle: impl FnMut() -> Duration,
) {
    let fds = [rings[0].as_raw_fd(), rings[1].as_raw_fd()];
    // Waits since the last record.
    let mut quiet = 0;
    while !stop.load(Ordering::Relaxed) {
        beat();
        let [events, calls] = &mut *rings;
        let mut of_events = 0;
        while of_events < EVENTS_A_ROUND
            && let Some(item) = events.next()
        {
            of_events += 1;
            take(RingRecord::parse(&item));
        }
        let mut of_calls = 0;
        while of_calls < CALLS_A_ROUND
            && let Some(item) = calls.next()
        {
            of_calls += 1;
            take(RingRecord::parse(&item));
        }
        let taken = of_events + of_calls;
        if taken > 0 {
            quiet = 0;
        }
        let again = idle();
        if of_events == EVENTS_A_ROUND || of_calls == CALLS_A_ROUND {
            // There are more, and meanwhile events may have come, which go first.
        } else if taken >= STORM {
            // Not poll(2): the probes' wake-ups are not wanted now.
            std::thread::sleep(STORM_POLL);
        } else {
            let recheck = RECHECKS.get(quiet).filter(|at| **at <= again);
            rest(*recheck.unwrap_or(&again), |time| wait(fds, woken, time));
            quiet += usize::from(recheck.is_some());
        }
    }
}

/// Waits until a ring has a record whose probe wakes its reader, the task is woken, or the time is over.
fn wait([events, calls]: [RawFd; 2], woken: Option<&OwnedFd>, timeout: Duration) {
    // poll(2) ignores a negative descriptor.
    let eventfd = woken.map_or(-1, AsRawFd::as_raw_fd);
    let mut polls = [events, calls, eventfd].map(|fd| libc::pollfd {
        fd,
        events: libc::POLLIN,
        revents: 0,
    });
    let ms = i32::try_from(timeout.as_millis()).unwrap_or(i32::MAX);
    // SAFETY: `polls` is an array of three. An interrupted call is as good as a time-out.
    unsafe { libc::poll(polls.as_mut_ptr(), polls.len() as libc::nfds_t, ms) };
    if let (Some(woken), 1..) = (woken, polls[2].revents) {
        // Else the next wait would end at once.
        let _ = rustix::io::read(woken, &mut [0; 8]);
    }
}
