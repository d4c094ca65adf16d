//! Takes what traced processes send and record.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixDatagram;
use std::path::Path;

use gtrace_recording::message::{MAX_MESSAGE, Message};
use gtrace_recording::{FUNCTIONS, Mapped, Stats, UnderWay, kind};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, recvmsg};

use crate::spool::Spool;
use crate::{Process as Named, Recorded};

/// Most threads whose memory is read.
const MAX_MEMORIES: usize = 1 << 16;
/// Most processes.
const MAX_PROCESSES: usize = 1 << 16;
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
                        Ok(mapped) if room => self.memories.push(Memory {
                            process: at as u32,
                            mapped,
                            timed: 0,
                        }),
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

    /// Takes the events of all threads; whether a ring was rather full.
    ///
    /// # Errors
    ///
    /// The spool cannot be written.
    pub fn drain(&mut self, spool: Option<&mut Spool>) -> io::Result<bool> {
        let mut spool = spool;
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
        let memories = || {
            let all = self.memories.iter();
            all.filter(move |memory| memory.process as usize == process)
        };
        (0..FUNCTIONS)
            .filter_map(|function| {
                let mut stats = Stats::default();
                for memory in memories() {
                    memory.mapped.add_to(function, &mut stats);
                }
                (stats.count() > 0).then_some((function, stats))
            })
            .collect()
    }

    /// Events of a process for which a ring had no room.
    pub fn lost(&self, process: usize) -> u64 {
        let memories = self.memories.iter();
        let memories = memories.filter(|memory| memory.process as usize == process);
        memories.map(|memory| memory.mapped.lost()).sum()
    }

    /// Calls of a process that gave the GPU something to do that was to be timed, and those of them that were.
    pub fn gpu_work(&self, process: usize) -> (u64, u64) {
        let memories = self.memories.iter();
        let memories = memories.filter(|memory| memory.process as usize == process);
        memories.fold((0, 0), |(all, timed), memory| {
            (all + memory.mapped.submitted(), timed + memory.timed)
        })
    }

    /// Calls of a process that have not ended.
    pub fn under_way(&self, process: usize) -> Vec<UnderWay> {
        let memories = self.memories.iter();
        let memories = memories.filter(|memory| memory.process as usize == process);
        memories
            .filter_map(|memory| memory.mapped.under_way())
            .collect()
    }
}
