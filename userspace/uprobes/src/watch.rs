//! Follows processes: probes the libraries that they open, keeps what those that end have done, and the
//! probes' cost within its budget.

mod keep;
mod report;
mod weigh;

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io;
use std::os::fd::BorrowedFd;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use gtrace_abi::{API_LIBRARIES, ApiRecord, Ledger};

pub use self::report::{Cost, ENDED, MemoryReport, Report, Settings};
use crate::collect::Row;
use crate::forecast::Growth;
use crate::instruction::Class;
use crate::library::{self, FileId};
use crate::load::{Options, TraceError};
use crate::mappings::{Mapped, Mappings};
use crate::procfs::{self, Identity};
use crate::recovery::Recovery;
use crate::run_stats::{self, Statistics};
use crate::tracer::{Probed, Tracer};

/// How often a poll of the processes is worth it.
pub const POLL_INTERVAL: Duration = Duration::from_millis(200);
/// How often counts are read, and the cost is weighed.
const WEIGH_EVERY: Duration = Duration::from_secs(1);
/// Time that a poll may take where all processes are watched: the next one goes on where it ended.
const POLL_TIME: Duration = Duration::from_millis(4);
/// So many processes are read in each poll, however slow the host.
const MIN_POLLS: usize = 16;
/// How often all processes are read where the kernel reports what they map: for what it could not report, as a process
/// that makes a library of its own memory.
const SCAN_EVERY: Duration = Duration::from_secs(10);

/// Follows one process, or all.
#[derive(Debug)]
pub struct Watch {
    tracer: Tracer,
    settings: Settings,
    proc_root: PathBuf,
    pid: Option<u32>,
    /// Libraries that cannot be traced, so that it is reported once.
    untraceable: BTreeSet<FileId>,
    /// Files that a process has mapped and that could not be opened there, so that it is reported once.
    unopened: BTreeSet<(u64, PathBuf)>,
    /// Files that wait until another library gives up its place, and the processes that have them mapped.
    waiting: BTreeMap<FileId, BTreeSet<u32>>,
    /// Times that a file began to wait.
    refused: u64,
    /// Of each process, how large its address space was when it was looked through.
    looked: HashMap<u32, u64>,
    /// What processes map, as the kernel reports it; `None` where it does not, or one process is followed.
    mappings: Option<Mappings>,
    /// When the reading of all processes began last.
    scanned: Instant,
    /// Whether they are to be read again at once.
    scan_again: bool,
    /// Why a process could not be looked at last: said once, not each time.
    unreadable: Option<io::ErrorKind>,
    /// The libraries that each process was seen to have mapped.
    users: HashMap<u32, BTreeSet<FileId>>,
    /// Libraries that nobody has mapped any more, and when that was seen, after the start.
    unused: BTreeMap<FileId, Duration>,
    /// The next poll begins after this process: the last one was not finished.
    resume: u32,
    words: Vec<String>,
    ended: Vec<(u32, Vec<Row>)>,
    older: BTreeMap<u32, Row>,
    processes: HashMap<u32, Identity>,
    memory: BTreeMap<u32, (Ledger, Growth)>,
    /// Bytes of device memory that are free, where the caller gave them.
    device_free: Option<u64>,
    seen_calls: BTreeMap<(u32, u32), u64>,
    seen_cpu: HashMap<u32, u64>,
    costs: BTreeMap<u32, f64>,
    /// Functions that are or were without probes.
    unprobed: BTreeMap<u32, Unprobed>,
    /// When each process was found to use the library, after the start.
    found: HashMap<u32, Duration>,
    /// Those found by the last poll.
    newly_found: Vec<u32>,
    cpu_ns: f64,
    program_ns: Option<f64>,
    /// Whether anything was called between the last two weighings.
    called: bool,
    /// Whether the kernel lets run statistics be switched on.
    may_measure: bool,
    /// Of what cost too much; `None` where it does not come back.
    recovery: Option<Recovery>,
    tracking_disabled: bool,
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
    /// If the kernel has no uprobes, or the process may not use them; if one process is named by another number than the
    /// kernel's.
    pub fn start(options: Options, settings: Settings) -> Result<Self, TraceError> {
        let pid = options.pid;
        if let Some(pid) = pid
            && !procfs::has_the_kernels_numbers()
        {
            return Err(TraceError::OtherNumbers(pid));
        }
        let now = Instant::now();
        let mut watch = Self {
            tracer: Tracer::load(options)?,
            recovery: settings.retry.map(Recovery::from),
            settings,
            proc_root: "/proc".into(),
            pid,
            untraceable: BTreeSet::new(),
            unopened: BTreeSet::new(),
            waiting: BTreeMap::new(),
            refused: 0,
            looked: HashMap::new(),
            mappings: None,
            scanned: now,
            scan_again: false,
            unreadable: None,
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
            unprobed: BTreeMap::new(),
            found: HashMap::new(),
            newly_found: Vec::new(),
            cpu_ns: 0.0,
            program_ns: None,
            called: false,
            may_measure: true,
            tracking_disabled: false,
            measuring: None,
            started: now,
            weighed: now,
            measured: now,
        };
        if pid.is_none() {
            // Before processes are read, so that none comes between.
            match Mappings::open(&watch.settings.library) {
                Ok(mappings) => watch.mappings = Some(mappings),
                Err(error) => watch.say(format!(
                    "the kernel does not report what processes map ({error}): all are read time and again"
                )),
            }
        }
        for pid in watch.targets() {
            watch.poll_process(pid);
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

    /// Finds libraries, reads counts and weighs costs, each when it is due. Meant to be
    /// called every [`POLL_INTERVAL`].
    ///
    /// # Errors
    ///
    /// If the kernel refuses.
    pub fn poll(&mut self) -> Result<(), TraceError> {
        self.newly_found.clear();
        let mapped = self.mappings.as_mut().map(Mappings::take);
        let is_due = match &mapped {
            Some(Mapped { pids, lost }) => {
                for pid in pids.iter().filter(|pid| **pid != std::process::id()) {
                    self.looked.remove(pid);
                    self.poll_process(*pid);
                }
                self.scan_again |= *lost;
                self.scan_again || self.resume != 0 || self.scanned.elapsed() >= SCAN_EVERY
            }
            None => true,
        };
        if is_due {
            self.scan();
        }
        self.measure();
        if self.weighed.elapsed() >= WEIGH_EVERY {
            self.let_go();
            self.weigh(false)?;
        }
        Ok(())
    }

    /// Readable when a process has mapped a library, so that a poll is worth it; `None` where the kernel does not report
    /// it.
    pub fn wakes(&self) -> Option<BorrowedFd<'_>> {
        self.mappings.as_ref().map(Mappings::as_fd)
    }

    /// The processes that the last poll found to use the library, and no poll before it.
    pub fn newly_found(&self) -> &[u32] {
        &self.newly_found
    }

    /// Reads processes, from where the last time ended.
    fn scan(&mut self) {
        let start = Instant::now();
        let targets = self.targets();
        if self.resume == 0 {
            (self.scanned, self.scan_again) = (start, false);
            self.looked
                .retain(|pid, _| targets.binary_search(pid).is_ok());
        }
        let from = targets.partition_point(|pid| *pid <= self.resume);
        self.resume = 0;
        for (looked, pid) in targets[from..].iter().enumerate() {
            if looked >= MIN_POLLS && start.elapsed() > POLL_TIME {
                self.resume = pid.saturating_sub(1);
                break;
            }
            self.poll_process(*pid);
        }
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
    fn poll_process(&mut self, pid: u32) {
        let Some(size) = procfs::address_space(&self.proc_root, pid) else {
            self.looked.remove(&pid);
            return;
        };
        // One process can be looked through each time, should one library take the place of another of the
        // same size.
        if self.looked.insert(pid, size) == Some(size) && self.pid.is_none() {
            return;
        }
        if size == 0 && self.pid.is_none() {
            self.users.remove(&pid);
            return;
        }
        let found = match library::mapped(&self.proc_root, pid, &self.settings.library) {
            Ok(found) => found,
            Err(error) => {
                let kind = error.kind();
                let is_new = self.unreadable.replace(kind) != Some(kind);
                if self.pid.is_some() && kind != io::ErrorKind::NotFound && is_new {
                    self.say(format!("process {pid} cannot be looked at: {error}"));
                }
                return;
            }
        };
        self.users.remove(&pid);
        if !found.is_empty() {
            let now = self.started.elapsed();
            if let Entry::Vacant(first) = self.found.entry(pid) {
                first.insert(now);
                self.newly_found.push(pid);
            }
        }
        if !found.is_empty()
            && !self.seen_cpu.contains_key(&pid)
            && let Some(cpu) = procfs::cpu_ns(&self.proc_root, pid)
        {
            self.seen_cpu.insert(pid, cpu);
        }
        for mapping in found {
            let opened = library::open(&self.proc_root, pid, &mapping);
            // A process that has ended meanwhile does not rule out the file, which others may have.
            if opened.is_err() && !procfs::lives(&self.proc_root, pid) {
                return;
            }
            let library = match opened {
                Ok(library) => library,
                // Another process may have it where it can be opened.
                Err(error) => {
                    let file = (mapping.inode(), mapping.path);
                    if self.unopened.insert(file) {
                        self.say(format!("not traced: {error}"));
                    }
                    continue;
                }
            };
            let id = library.id;
            if self.untraceable.contains(&id) {
                continue;
            }
            self.users.entry(pid).or_default().insert(id);
            match self.attach(library) {
                Ok(()) => {
                    self.waiting.remove(&id);
                }
                Err(error @ TraceError::TooMany(_)) => {
                    let processes = self.waiting.entry(id).or_default();
                    let is_first = processes.is_empty();
                    processes.insert(pid);
                    if is_first {
                        self.refused += 1;
                        self.say(error.to_string());
                    }
                }
                Err(error) => {
                    self.untraceable.insert(id);
                    self.say(format!("not traced: {error}"));
                }
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
        if let Some(displaced) = self.tracer.attach(library)? {
            self.wait(&displaced, &path);
        }
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
        let behind = sites.iter().filter(|site| site.place.behind() > 0).count();
        if behind > 0 {
            text.push_str(&format!(
                "; {behind} of them behind their first instruction, which would be single-stepped"
            ));
        }
        if stepped > 0 {
            text.push_str(&format!(
                "; {stepped} of them single-stepped, which is dearer"
            ));
        }
        self.say(text);
        Ok(())
    }

    /// A library has given its place to the one at `path`.
    fn wait(&mut self, displaced: &Probed, path: &Path) {
        let id = displaced.id();
        let users = self.users.iter().filter(|(_, files)| files.contains(&id));
        self.waiting
            .insert(id, users.map(|(pid, _)| *pid).collect());
        self.unused.remove(&id);
        self.refused += 1;
        self.say(format!(
            "{} is not traced any more: {} takes its place, as {API_LIBRARIES} versions of the library are traced, \
             of which its owner has most",
            displaced.path.display(),
            path.display(),
        ));
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

    /// As [`Self::report`], with what processes cost and allocate as [`Self::poll`] saw it last. So it
    /// takes nothing from what the next poll holds against the budget.
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
                    .filter(|_| lives && !self.tracking_disabled)
                    .and_then(|free| growth.full_in(free)),
            };
            memory.insert(*pid, report);
        }
        let now = self.started.elapsed();
        let functions: BTreeSet<u32> = self
            .costs
            .keys()
            .chain(self.unprobed.keys())
            .copied()
            .collect();
        let costs = functions.into_iter().map(|function| {
            let unprobed = self.unprobed.get(&function);
            let cost = Cost {
                ns: self.costs.get(&function).copied().unwrap_or(0.0),
                time_every: self.tracer.time_every(function),
                shed: self.tracer.shed().contains(&function),
                unseen: unprobed.map_or(Duration::ZERO, |unprobed| unprobed.until(now)),
            };
            (function, cost)
        });
        let lacks_calls = |row: &&Row| {
            let found = self.found.get(&row.pid).copied().unwrap_or(Duration::ZERO);
            let unprobed = self.unprobed.get(&row.function);
            unprobed.is_some_and(|unprobed| unprobed.ended.is_none_or(|end| end > found))
        };
        let partial = rows.iter().filter(lacks_calls);
        let partial = partial.map(|row| (row.pid, row.function)).collect();
        let mut processes = self.processes.clone();
        // Those whose first call came after the last poll.
        for pid in rows.iter().map(|row| row.pid).filter(|pid| *pid != ENDED) {
            let named = processes.entry(pid);
            named.or_insert_with(|| procfs::identify(&self.proc_root, pid));
        }
        Ok(Report {
            rows,
            partial,
            processes,
            memory,
            costs: costs.collect(),
            tracking_disabled: self.tracking_disabled,
            cpu_ns: self.cpu_ns,
            counters: counted.counters,
            refused: self.refused,
        })
    }

    /// Takes the probes away; what was counted stays.
    pub fn detach(&mut self) {
        self.tracer.detach_all();
    }

    /// After [`Self::detach`]: the next polls find every library again.
    pub fn attach_again(&mut self) {
        self.looked.clear();
        (self.resume, self.scan_again) = (0, true);
        self.untraceable.clear();
        self.unopened.clear();
        self.waiting.clear();
    }

    /// Sets how many bytes of device memory are free, for processes that do not ask the driver for it.
    pub fn set_device_free(&mut self, free: Option<u64>) {
        self.device_free = free;
    }

    /// The share of the traced processes' CPU time that the probes may cost; `None` for any.
    pub fn budget(&self) -> Option<f64> {
        self.settings.budget
    }
}

/// The times without probes of a function, after the start of the watch.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Unprobed {
    /// All that have ended, together.
    total: Duration,
    /// Begin of the last one.
    began: Duration,
    /// Its end; `None` while it lasts.
    ended: Option<Duration>,
}

impl Unprobed {
    fn until(&self, now: Duration) -> Duration {
        match self.ended {
            Some(_) => self.total,
            None => self.total + now.saturating_sub(self.began),
        }
    }

    /// Its probes are taken away.
    fn begin(&mut self, now: Duration) {
        self.total = self.until(now);
        (self.began, self.ended) = (now, None);
    }

    /// They are back.
    fn end(&mut self, now: Duration) {
        self.total = self.until(now);
        self.ended = Some(now);
    }
}

/// Bytes that are free now: as the driver reported to the process, less what it took since; or as the caller gave them;
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
    fn time_without_probes_adds_up() {
        let at = Duration::from_secs;
        let mut unprobed = Unprobed {
            began: at(10),
            ..Unprobed::default()
        };
        assert_eq!(unprobed.until(at(13)), at(3));
        unprobed.end(at(15));
        assert_eq!(
            (unprobed.until(at(20)), unprobed.ended),
            (at(5), Some(at(15)))
        );
        unprobed.begin(at(20));
        assert_eq!((unprobed.until(at(22)), unprobed.ended), (at(7), None));
    }

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
