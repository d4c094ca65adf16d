//! Takes what traced processes send and record.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{self, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::os::unix::fs::MetadataExt as _;
use std::os::unix::net::UnixDatagram;
use std::path::Path;
use std::time::{Duration, Instant};

use gtrace_recording::message::{MAX_MESSAGE, Message};
use gtrace_recording::{FUNCTIONS, Mapped, Stats, UnderWay, kind};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, recvmsg};
use rustix::process::{Pid, PidfdFlags, pidfd_open};

use crate::spool::Spool;
use crate::{Process as Named, Recorded};

/// Most threads whose memory is read.
const MAX_MEMORIES: usize = 1 << 16;
/// Most processes.
const MAX_PROCESSES: usize = 1 << 16;
/// Processes whose end is awaited at a time: each takes a descriptor.
const WATCHED: usize = 256;
/// Between two looks at which of them have ended.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// Between polls of the rings.
const POLL_INTERVAL: Timespec = Timespec {
    tv_sec: 0,
    tv_nsec: 2_000_000,
};
/// Between checks whether to end, where nothing wakes.
const IDLE: Timespec = Timespec {
    tv_sec: 0,
    tv_nsec: 100_000_000,
};

/// When to poll again.
#[derive(Clone, Copy, Debug)]
pub struct Wake {
    /// There are rings.
    pub events: bool,
    /// One of them was rather full.
    pub busy: bool,
}

/// A program that ran in a process.
#[derive(Debug, Default)]
pub struct Process {
    /// The number that it gave itself.
    number: u64,
    /// As it sees itself.
    pub who: Named,
    /// What it was given as the driver has it.
    pub untouched: BTreeSet<String>,
    /// How often it was given each table of `cuGetExportTable`.
    pub tables: BTreeMap<u128, u64>,
    /// Readable once it has ended; `None` where nobody watches for that.
    end: Option<OwnedFd>,
    past: Past,
}

/// What was counted in memory that was given up, as its process has ended.
#[derive(Debug, Default)]
struct Past {
    stats: BTreeMap<usize, Stats>,
    lost: u64,
    submitted: u64,
    timed: u64,
    under_way: Vec<UnderWay>,
}

/// A thread's memory, or that of several which followed each other.
struct Memory {
    process: u32,
    mapped: Mapped,
    /// Calls with a known GPU time, of all threads.
    timed: u64,
}

/// What was collected.
pub struct Collector {
    socket: UnixDatagram,
    processes: Vec<Process>,
    memories: Vec<Memory>,
    /// When it was last looked at which processes have ended.
    looked: Option<Instant>,
    /// Why memory was not taken.
    pub refused: BTreeSet<String>,
}

impl Collector {
    /// Listens at a path, at which nothing else does.
    ///
    /// # Errors
    ///
    /// Somebody listens there, or the socket cannot be made.
    pub fn bind(path: &Path) -> io::Result<Self> {
        let socket = match UnixDatagram::bind(path) {
            Err(error) if error.kind() == io::ErrorKind::AddrInUse => {
                // Left behind, unless somebody answers.
                if UnixDatagram::unbound()?.connect(path).is_ok() {
                    return Err(error);
                }
                std::fs::remove_file(path)?;
                UnixDatagram::bind(path)?
            }
            bound => bound?,
        };
        socket.set_nonblocking(true)?;
        Ok(Self {
            socket,
            processes: Vec::new(),
            memories: Vec::new(),
            looked: None,
            refused: BTreeSet::new(),
        })
    }

    /// Waits until there is something to do.
    ///
    /// # Errors
    ///
    /// Errors of poll(2).
    pub fn wait(&self, ended: Option<BorrowedFd<'_>>, wake: Wake) -> io::Result<()> {
        if wake.busy {
            return Ok(());
        }
        let mut watched = vec![PollFd::new(&self.socket, PollFlags::IN)];
        watched.extend(ended.map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::IN)));
        let time = match wake.events {
            true => POLL_INTERVAL,
            false => IDLE,
        };
        match poll(&mut watched, Some(&time)) {
            Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Takes all that was reported.
    pub fn receive(&mut self) {
        let mut bytes = vec![0; MAX_MESSAGE];
        loop {
            let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(4))];
            let mut control = RecvAncillaryBuffer::new(&mut space);
            let received = recvmsg(
                self.socket.as_fd(),
                &mut [IoSliceMut::new(&mut bytes)],
                &mut control,
                RecvFlags::DONTWAIT | RecvFlags::CMSG_CLOEXEC,
            );
            let Ok(received) = received else { return };
            let files: Vec<OwnedFd> = control
                .drain()
                .filter_map(|message| match message {
                    RecvAncillaryMessage::ScmRights(files) => Some(files),
                    _ => None,
                })
                .flatten()
                .collect();
            let text = bytes.get(..received.bytes).unwrap_or_default();
            if let Some(message) = Message::from_bytes(text) {
                self.take(&message, files);
            }
        }
    }

    fn take(&mut self, message: &Message<'_>, files: Vec<OwnedFd>) {
        let Some(at) = self.process(message.process()) else {
            return;
        };
        let text = |name: &[u8]| String::from_utf8_lossy(name).into_owned();
        let process = &mut self.processes[at];
        match *message {
            Message::Memory { .. } => {
                for file in files {
                    let room = self.memories.len() < MAX_MEMORIES;
                    match Mapped::new(&file) {
                        Ok(mapped) if room => {
                            self.watch(at, mapped.pid(), file);
                            self.memories.push(Memory {
                                process: at as u32,
                                mapped,
                                timed: 0,
                            });
                        }
                        Ok(_) => drop(self.refused.insert("too many threads".to_owned())),
                        Err(error) => drop(self.refused.insert(error.to_string())),
                    }
                }
            }
            Message::Process { pid, name, .. } => {
                process.who.pid = u32::try_from(pid).unwrap_or(0);
                process.who.name = text(name);
            }
            Message::Kernel {
                ticks,
                handle,
                name,
                ..
            } => process.who.kernels.learn(ticks, handle, &text(name)),
            Message::Thread { thread, name, .. } => {
                let thread = u32::try_from(thread).unwrap_or(0);
                process.who.threads.insert(thread, text(name));
            }
            Message::Untouched { name, .. } => {
                process.untouched.insert(text(name));
            }
            Message::Table { id, .. } => *process.tables.entry(id).or_default() += 1,
        }
    }

    /// The place of a process in the list; messages of several threads may come in any order.
    fn process(&mut self, number: u64) -> Option<usize> {
        let known = self.processes.iter().position(|one| one.number == number);
        if known.is_some() || self.processes.len() >= MAX_PROCESSES {
            return known;
        }
        self.processes.push(Process {
            number,
            ..Process::default()
        });
        Some(self.processes.len() - 1)
    }

    /// Has the end of a process noticed, which has mapped `file`.
    fn watch(&mut self, at: usize, pid: u32, file: OwnedFd) {
        let all = self.processes.iter();
        let watched = all.filter(|process| process.end.is_some()).count();
        if let Some(process) = self.processes.get_mut(at)
            && process.end.is_none()
            && watched < WATCHED
        {
            process.end = end_of(pid, file);
        }
    }

    /// Processes of which it is seen now that they have ended.
    fn ended(&mut self) -> Vec<u32> {
        if self.looked.is_some_and(|at| at.elapsed() < LOOK_EVERY) {
            return Vec::new();
        }
        self.looked = Some(Instant::now());
        let mut ended = Vec::new();
        for (at, process) in self.processes.iter_mut().enumerate() {
            let has_ended = |end: &OwnedFd| {
                let mut polled = [PollFd::new(end, PollFlags::IN)];
                poll(&mut polled, Some(&Timespec::default())).is_ok_and(|ready| ready > 0)
            };
            if process.end.as_ref().is_some_and(has_ended) {
                process.end = None;
                ended.push(at as u32);
            }
        }
        ended
    }

    /// Gives up the memory of a process that has ended and of which all events were taken.
    fn give_up(&mut self, process: u32) {
        let at = process as usize;
        let (submitted, timed) = self.gpu_work(at);
        let past = Past {
            stats: self.stats(at).into_iter().collect(),
            lost: self.lost(at),
            submitted,
            timed,
            under_way: self.under_way(at),
        };
        if let Some(process) = self.processes.get_mut(at) {
            process.past = past;
        }
        self.memories.retain(|memory| memory.process != process);
    }

    fn past(&self, process: usize) -> Option<&Past> {
        self.processes.get(process).map(|process| &process.past)
    }

    fn memories(&self, process: usize) -> impl Iterator<Item = &Memory> {
        let all = self.memories.iter();
        all.filter(move |memory| memory.process as usize == process)
    }

    /// Takes the events of all threads; whether a ring was rather full.
    ///
    /// # Errors
    ///
    /// The spool cannot be written.
    pub fn drain(&mut self, spool: Option<&mut Spool>) -> io::Result<bool> {
        let mut spool = spool;
        // Before what is there is taken, so that nothing comes between.
        let ended = self.ended();
        let mut failure = Ok(());
        let mut busy = false;
        for memory in &mut self.memories {
            let process = memory.process;
            let timed = &mut memory.timed;
            busy |= memory.mapped.drain(|event| {
                *timed += u64::from(event.kind == kind::WORK);
                if let Some(spool) = spool.as_deref_mut()
                    && failure.is_ok()
                {
                    failure = spool.push(process, event);
                }
            });
        }
        for process in ended {
            self.give_up(process);
        }
        failure.map(|()| busy)
    }

    /// Processes, in the order in which they appeared.
    pub fn processes(&self) -> &[Process] {
        &self.processes
    }

    /// What the trace has besides the events.
    pub fn recorded(&self) -> Recorded<'_> {
        let places = 0..self.processes.len();
        Recorded {
            processes: self.processes.iter().map(|process| &process.who).collect(),
            under_way: places.clone().map(|at| self.under_way(at)).collect(),
            lost: places.map(|at| self.lost(at)).collect(),
            ..Recorded::default()
        }
    }

    /// What was counted in a process, by function; functions that were called.
    pub fn stats(&self, process: usize) -> Vec<(usize, Stats)> {
        let past = self.past(process).map(|past| &past.stats);
        (0..FUNCTIONS)
            .filter_map(|function| {
                let known = past.and_then(|past| past.get(&function));
                let mut stats = known.cloned().unwrap_or_default();
                for memory in self.memories(process) {
                    memory.mapped.add_to(function, &mut stats);
                }
                (stats.count() > 0).then_some((function, stats))
            })
            .collect()
    }

    /// Events of a process for which a ring had no room.
    pub fn lost(&self, process: usize) -> u64 {
        let lost: u64 = self
            .memories(process)
            .map(|memory| memory.mapped.lost())
            .sum();
        self.past(process).map_or(0, |past| past.lost) + lost
    }

    /// Calls of a process that gave the GPU something to do that was to be timed, and those of them that were.
    pub fn gpu_work(&self, process: usize) -> (u64, u64) {
        let past = self.past(process);
        let past = past.map_or((0, 0), |past| (past.submitted, past.timed));
        self.memories(process).fold(past, |(all, timed), memory| {
            (all + memory.mapped.submitted(), timed + memory.timed)
        })
    }

    /// Calls of a process that have not ended.
    pub fn under_way(&self, process: usize) -> Vec<UnderWay> {
        let past = self.past(process).into_iter();
        let past = past.flat_map(|past| past.under_way.iter().copied());
        let now = self.memories(process);
        past.chain(now.filter_map(|memory| memory.mapped.under_way()))
            .collect()
    }
}

/// What becomes readable once a process has ended. `None` where that which goes by this id here is another one: it has not mapped
/// `file`.
fn end_of(pid: u32, file: OwnedFd) -> Option<OwnedFd> {
    let pid = i32::try_from(pid).ok()?;
    let inode = File::from(file).metadata().ok()?.ino();
    let end = pidfd_open(Pid::from_raw(pid)?, PidfdFlags::empty()).ok()?;
    let maps = fs::read(format!("/proc/{pid}/maps")).ok()?;
    has_mapped(&String::from_utf8_lossy(&maps), inode).then_some(end)
}

/// Whether a memory file is among the mappings of a process (proc_pid_maps(5)).
fn has_mapped(maps: &str, inode: u64) -> bool {
    let inode = inode.to_string();
    maps.lines().any(|line| {
        let mut fields = line.split_ascii_whitespace().skip(4);
        fields.next() == Some(inode.as_str())
            && fields
                .next()
                .is_some_and(|path| path.starts_with("/memfd:"))
    })
}

#[cfg(test)]
mod tests {
    use std::process::{Command, id};
    use std::ptr::{NonNull, null_mut};

    use gtrace_recording::clock::Scale;
    use gtrace_recording::{Details, Recorder, layout};
    use rustix::fs::{MemfdFlags, SealFlags};
    use rustix::mm::{MapFlags, ProtFlags};

    use super::*;

    const NUMBER: u64 = 7;
    const ROOM: u32 = 8;

    /// A thread's memory of this process, which says that it is of the process `pid`, with a call that has ended and one that has not.
    #[allow(unsafe_code, reason = "maps memory as a traced program does")]
    fn memory(pid: u32) -> OwnedFd {
        let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
        let file = rustix::fs::memfd_create("gtrace-calls", flags).unwrap();
        let length = layout::length(ROOM);
        rustix::fs::ftruncate(&file, length as u64).unwrap();
        rustix::fs::fcntl_add_seals(&file, SealFlags::SHRINK).unwrap();
        let access = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: a new mapping of all of the file, which is never undone; one recorder writes there.
        let recorder = unsafe {
            let base =
                rustix::mm::mmap(null_mut(), length, access, MapFlags::SHARED, &file, 0).unwrap();
            let base = NonNull::new(base.cast::<u8>()).unwrap();
            Recorder::new(base, ROOM, Scale::BOOTTIME, (pid, NUMBER))
        };
        let call = recorder.begin(0);
        recorder.end(call, 0, 0, Details::default);
        let _under_way = recorder.begin(1);
        file
    }

    #[test]
    fn the_memory_of_a_process_that_has_ended_is_given_up_and_what_was_counted_stays() {
        let dir = tempfile::tempdir().unwrap();
        let mut collector = Collector::bind(&dir.path().join("socket")).unwrap();
        let process = NUMBER;
        collector.take(&Message::Memory { process }, vec![memory(id())]);
        assert!(collector.processes[0].end.is_some());
        collector.drain(None).unwrap();
        assert_eq!(collector.memories.len(), 1);
        let mut child = Command::new("true").spawn().unwrap();
        let pid = Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
        let end = pidfd_open(pid, PidfdFlags::empty()).unwrap();
        child.wait().unwrap();
        collector.processes[0].end = Some(end);
        collector.looked = None;
        collector.drain(None).unwrap();
        assert!(collector.memories.is_empty());
        let stats = collector.stats(0);
        assert_eq!((stats.len(), stats[0].1.count()), (1, 1));
        let under_way = collector.under_way(0);
        assert_eq!((under_way.len(), under_way[0].function), (1, 1));
        assert_eq!((collector.lost(0), collector.gpu_work(0)), (0, (0, 0)));
    }

    #[test]
    fn reading_takes_no_memory_for_functions_that_were_not_called() {
        let dir = tempfile::tempdir().unwrap();
        let mut collector = Collector::bind(&dir.path().join("socket")).unwrap();
        let file = memory(id());
        let same = File::from(file.try_clone().unwrap());
        collector.take(&Message::Memory { process: NUMBER }, vec![file]);
        assert_eq!(collector.stats(0).len(), 1);
        let taken = same.metadata().unwrap().blocks() * 512;
        assert!(taken < layout::length(0) as u64 / 2, "{taken} bytes");
    }

    #[test]
    fn a_process_that_has_another_id_here_is_not_taken_for_one_that_has_ended() {
        let mut child = Command::new("sleep").arg("60").spawn().unwrap();
        let other = end_of(child.id(), memory(id()));
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(other.is_none());
        assert!(end_of(id(), memory(id())).is_some());
    }
}
