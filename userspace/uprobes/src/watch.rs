//! Follows processes: probes the libraries that they open, keeps what those that end have done, and the
//! probes' cost within its budget.

mod keep;
mod report;
mod weigh;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use gtrace_abi::{ApiRecord, Ledger};

pub use self::report::{Cost, ENDED, Identity, MemoryReport, Report, Settings};
use crate::collect::Row;
use crate::forecast::Growth;
use crate::instruction::Class;
use crate::library::{self, FileId};
use crate::procfs;
use crate::recovery::Recovery;
use crate::run_stats::{self, Statistics};
use crate::tracer::{Options, TraceError, Tracer};

/// How often a look at the processes is worth it.
pub const LOOK_EVERY: Duration = Duration::from_millis(200);
/// How often counts are read, and the cost is weighed.
const WEIGH_EVERY: Duration = Duration::from_secs(1);
/// Time that a look may take where all processes are watched: the next one goes on where it ended.
const LOOK_TIME: Duration = Duration::from_millis(4);
/// So many processes are looked at each time on a host however slow.
const FEWEST_LOOKS: usize = 16;
/// Follows one process, or all.
#[derive(Debug)]
pub struct Watch {
    tracer: Tracer,
    settings: Settings,
    proc_root: PathBuf,
    pid: Option<u32>,
    /// Files that cannot be traced, so that it is said once.
    hopeless: BTreeSet<(u64, PathBuf)>,
    /// Of each process, how large its address space was when it was looked through.
    looked: HashMap<u32, u64>,
    /// The libraries that each process was seen to have mapped.
    users: HashMap<u32, BTreeSet<FileId>>,
    /// Libraries that nobody has mapped any more, and when that was seen, after the start.
    unused: BTreeMap<FileId, Duration>,
    /// The next look begins after this process: the last one was not finished.
    resume: u32,
    words: Vec<String>,
    ended: Vec<(u32, Vec<Row>)>,
    older: BTreeMap<u32, Row>,
    processes: HashMap<u32, Identity>,
    memory: BTreeMap<u32, (Ledger, Growth)>,
    /// Bytes of device memory that are free, where somebody says so.
    device_free: Option<u64>,
    seen_calls: BTreeMap<(u32, u32), u64>,
    seen_cpu: HashMap<u32, u64>,
    costs: BTreeMap<u32, f64>,
    cpu_ns: f64,
    program_ns: Option<f64>,
    /// Whether anything was called between the last two weighings.
    called: bool,
    /// Whether the kernel lets run statistics be switched on.
    may_measure: bool,
    /// Of what cost too much; `None` where it does not come back.
    recovery: Option<Recovery>,
    books_closed: bool,
    measuring: Option<(Statistics, run_stats::Runs)>,
    started: Instant,
    weighed: Instant,
    measured: Instant,
}

impl Watch {
    /// Loads the probes, and attaches them to what is there.
    ///
    /// # Errors
    ///
    /// If the kernel has no uprobes, or the process may not use them.
    pub fn start(options: Options, settings: Settings) -> Result<Self, TraceError> {
        let pid = options.pid;
        let now = Instant::now();
        let mut watch = Self {
            tracer: Tracer::load(options)?,
            recovery: settings.retry.map(Recovery::from),
            settings,
            proc_root: "/proc".into(),
            pid,
            hopeless: BTreeSet::new(),
            looked: HashMap::new(),
            users: HashMap::new(),
            unused: BTreeMap::new(),
            resume: 0,
            words: Vec::new(),
            ended: Vec::new(),
            older: BTreeMap::new(),
            processes: HashMap::new(),
            memory: BTreeMap::new(),
            device_free: None,
            seen_calls: BTreeMap::new(),
            seen_cpu: HashMap::new(),
            costs: BTreeMap::new(),
            cpu_ns: 0.0,
            program_ns: None,
            called: false,
            may_measure: true,
            books_closed: false,
            measuring: None,
            started: now,
            weighed: now,
            measured: now,
        };
        for pid in watch.targets() {
            watch.look_at(pid);
        }
        watch.weigh(true)?;
        Ok(watch)
    }

    /// The probes.
    pub fn tracer(&self) -> &Tracer {
        &self.tracer
    }

    /// How long a function at least and at most stays without probes that cost too much, before they
    /// are tried again.
    pub fn try_again_after(&mut self, least: Duration, most: Duration) {
        self.recovery = Some(Recovery::within(least, most));
    }

    /// What has happened since this was last asked, in words.
    pub fn take_words(&mut self) -> Vec<String> {
        std::mem::take(&mut self.words)
    }

    /// Whether the one process that is followed lives; always if all are.
    pub fn is_alive(&self) -> bool {
        self.pid
            .is_none_or(|pid| procfs::lives(&self.proc_root, pid))
    }

    /// Looks for libraries, reads counts and weighs costs, each when it is time for it. Meant to be
    /// called every [`LOOK_EVERY`].
    ///
    /// # Errors
    ///
    /// If the kernel refuses.
    pub fn look(&mut self) -> Result<(), TraceError> {
        let targets = self.targets();
        let start = Instant::now();
        // Where the last look ended.
        let from = targets.partition_point(|pid| *pid <= self.resume);
        let (before, after) = targets.split_at(from);
        self.resume = 0;
        for (looked, pid) in after.iter().chain(before).enumerate() {
            if looked >= FEWEST_LOOKS && start.elapsed() > LOOK_TIME {
                self.resume = pid.saturating_sub(1);
                break;
            }
            self.look_at(*pid);
        }
        self.measure();
        if self.weighed.elapsed() >= WEIGH_EVERY {
            self.let_go(&targets);
            self.weigh(false)?;
        }
        Ok(())
    }

    /// Hands each record that is in the ring to `take`.
    ///
    /// # Errors
    ///
    /// If the ring cannot be read.
    pub fn drain(&self, take: impl FnMut(ApiRecord)) -> Result<(), TraceError> {
        self.tracer.drain(take)
    }

    fn targets(&self) -> Vec<u32> {
        match self.pid {
            Some(pid) => vec![pid],
            None => {
                let mut all = library::processes(&self.proc_root);
                all.sort_unstable();
                all.retain(|pid| *pid != std::process::id());
                all
            }
        }
    }

    /// Probes what a process has mapped, unless its address space is as large as it was: then it has
    /// opened nothing since.
    fn look_at(&mut self, pid: u32) {
        let Some(size) = procfs::address_space(&self.proc_root, pid) else {
            self.looked.remove(&pid);
            return;
        };
        // One process can be looked through each time, should one library take the place of another of the
        // same size.
        if self.looked.insert(pid, size) == Some(size) && self.pid.is_none() {
            return;
        }
        let found = match library::mapped(&self.proc_root, pid, &self.settings.library) {
            Ok(found) => found,
            Err(error) => {
                if self.pid.is_some() && error.kind() != io::ErrorKind::NotFound {
                    self.say(format!("process {pid} cannot be looked at: {error}"));
                }
                return;
            }
        };
        self.users.remove(&pid);
        if !found.is_empty()
            && !self.seen_cpu.contains_key(&pid)
            && let Some(cpu) = procfs::cpu_ns(&self.proc_root, pid)
        {
            self.seen_cpu.insert(pid, cpu);
        }
        for mapping in found {
            let file = (mapping.inode(), mapping.path.clone());
            if self.hopeless.contains(&file) {
                continue;
            }
            let opened = library::open(&self.proc_root, pid, &mapping);
            // That a process has ended meanwhile says nothing of the file, which others may have.
            if opened.is_err() && !procfs::lives(&self.proc_root, pid) {
                return;
            }
            let attached = opened
                .map_err(|error| error.to_string())
                .and_then(|library| {
                    self.users.entry(pid).or_default().insert(library.id);
                    self.attach(library).map_err(|error| error.to_string())
                });
            if let Err(reason) = attached {
                self.hopeless.insert(file);
                self.say(format!("not traced: {reason}"));
            }
        }
    }

    fn attach(&mut self, library: library::Library) -> Result<(), TraceError> {
        let id: FileId = library.id;
        if self.tracer.has(id) {
            return Ok(());
        }
        let (pid, path) = (library.pid, library.path.clone());
        let since = match library.deleted {
            true => ", which was replaced or deleted since it was opened",
            false => "",
        };
        self.tracer.attach(library)?;
        let probed = self.tracer.libraries().find(|probed| probed.id() == id);
        let sites = probed.map_or(&[][..], |probed| &probed.sites);
        let stepped = sites
            .iter()
            .filter(|site| site.place.class == Class::SingleStepped)
            .count();
        let mut text = format!(
            "{} functions of {}{since} (first seen in process {pid}) by {}",
            sites.len(),
            path.display(),
            self.tracer.way().name(),
        );
        if stepped > 0 {
            text.push_str(&format!(
                "; {stepped} of them begin with an instruction that is single-stepped, which is dearer"
            ));
        }
        self.say(text);
        Ok(())
    }

    fn say(&mut self, text: String) {
        self.words.push(text);
    }

    /// All that was counted, up to now.
    ///
    /// # Errors
    ///
    /// If the kernel refuses.
    pub fn report(&mut self) -> Result<Report, TraceError> {
        self.weigh(true)?;
        self.so_far()
    }

    /// As [`Self::report`], with what processes cost and allocate as [`Self::look`] saw it last. So it
    /// takes nothing from what the next look holds against the budget.
    ///
    /// # Errors
    ///
    /// If the kernel refuses.
    pub fn so_far(&self) -> Result<Report, TraceError> {
        let counted = self.tracer.counted()?;
        let mut rows = counted.rows;
        rows.extend(self.ended.iter().flat_map(|(_, rows)| rows.iter().cloned()));
        // Beside those that had no room in the tables: whose they were is not known of either.
        for older in self.older.values() {
            match rows
                .iter_mut()
                .find(|row| row.pid == ENDED && row.function == older.function)
            {
                Some(row) => row.add(older),
                None => rows.push(older.clone()),
            }
        }
        let mut memory = BTreeMap::new();
        for (pid, (ledger, growth)) in &self.memory {
            let ledger = counted.ledgers.get(pid).copied().unwrap_or(*ledger);
            let lives = !self.processes.get(pid).is_some_and(|process| process.ended);
            let free = free_of(&ledger, self.device_free, self.settings.device_memory);
            let report = MemoryReport {
                ledger,
                rate: growth.rate(),
                full_in: free
                    .filter(|_| lives && !self.books_closed)
                    .and_then(|free| growth.full_in(free)),
            };
            memory.insert(*pid, report);
        }
        let costs = self.costs.iter().map(|(function, ns)| {
            let cost = Cost {
                ns: *ns,
                time_every: self.tracer.time_every(*function),
                shed: self.tracer.shed().contains(function),
            };
            (*function, cost)
        });
        Ok(Report {
            rows,
            processes: self.processes.clone(),
            memory,
            costs: costs.collect(),
            books_closed: self.books_closed,
            cpu_ns: self.cpu_ns,
            counters: counted.counters,
        })
    }

    /// Takes the probes away; what was counted stays.
    pub fn detach(&mut self) {
        self.tracer.detach_all();
    }

    /// After [`Self::detach`]: the next looks find every library anew.
    pub fn attach_again(&mut self) {
        self.looked.clear();
        self.hopeless.clear();
    }

    /// Says how many bytes of device memory are free, for processes that do not ask the driver for it.
    pub fn set_device_free(&mut self, free: Option<u64>) {
        self.device_free = free;
    }

    /// The share of the traced processes' CPU time that the probes may cost; `None` for any.
    pub fn budget(&self) -> Option<f64> {
        self.settings.budget
    }
}

/// Bytes that are free now: as the driver told the process, less what it took since; or as somebody else says;
/// or what there is, less what it has.
fn free_of(ledger: &Ledger, device_free: Option<u64>, device_memory: Option<u64>) -> Option<u64> {
    if ledger.device_total > 0 {
        let since = i128::from(ledger.live) - i128::from(ledger.live_then);
        let free = i128::from(ledger.device_free) - since;
        return Some(u64::try_from(free.max(0)).unwrap_or(u64::MAX));
    }
    device_free.or_else(|| device_memory.map(|total| total.saturating_sub(ledger.live)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn free_memory_is_what_the_driver_said_less_what_was_taken_since() {
        let mut ledger = Ledger {
            live: 300,
            ..Ledger::default()
        };
        assert_eq!(free_of(&ledger, None, None), None);
        assert_eq!(free_of(&ledger, None, Some(1000)), Some(700));
        assert_eq!(free_of(&ledger, Some(50), Some(1000)), Some(50));
        ledger.device_total = 1000;
        ledger.device_free = 500;
        ledger.live_then = 100;
        assert_eq!(free_of(&ledger, Some(1 << 40), Some(1 << 40)), Some(300));
        ledger.live = 5000;
        assert_eq!(free_of(&ledger, None, None), Some(0));
    }
}
