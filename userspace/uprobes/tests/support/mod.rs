//! A program that calls the CPU emulator's library and reports what it did.
#![allow(dead_code, reason = "each test file uses a part")]

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use gtrace_uprobes::functions::default_set;
use gtrace_uprobes::library::{self, LIBCUDA};
use gtrace_uprobes::{Counted, Options, Settings, Tracer, Watch, Way};

/// Whether the tests can run; prints why not.
pub(crate) fn is_root() -> bool {
    let root = std::fs::read_to_string("/proc/self/status")
        .unwrap()
        .lines()
        .any(|line| line.starts_with("Uid:\t0\t0"));
    if !root {
        eprintln!("skipped: needs root");
    }
    root
}

/// The program, compiled once.
pub(crate) fn caller() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/support/caller.c");
        let built = PathBuf::from(env!("CARGO_TARGET_TMPDIR"))
            .join(format!("caller-{}", std::process::id()));
        let status = Command::new("cc")
            .args(["-O1", "-Wall", "-Werror", "-o"])
            .args([&built, &source])
            .args(["-ldl", "-lpthread"])
            .status()
            .unwrap();
        assert!(status.success(), "caller.c does not compile");
        built
    })
}

/// A folder with the CPU emulator under the driver's name.
pub(crate) struct Folder(tempfile::TempDir);

impl Folder {
    /// `None` where the tests cannot run.
    pub(crate) fn new() -> Option<Self> {
        if !is_root() {
            return None;
        }
        let folder = tempfile::tempdir().unwrap();
        let library = gtrace_e2e::artefacts::cpu_emulator().unwrap();
        std::fs::copy(library, folder.path().join("libcuda.so.1")).unwrap();
        Some(Self(folder))
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    pub(crate) fn library(&self) -> PathBuf {
        self.path().join("libcuda.so.1")
    }
}

/// A running program; killed when dropped.
pub(crate) struct Caller {
    pub(crate) child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Caller {
    pub(crate) fn start(library: &Path, arguments: &[&str]) -> Self {
        let mut command = Command::new(caller());
        command.arg(library).args(arguments);
        Self::spawn(&mut command)
    }

    pub(crate) fn spawn(command: &mut Command) -> Self {
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        Self {
            input: child.stdin.take().unwrap(),
            output: BufReader::new(child.stdout.take().unwrap()),
            child,
        }
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Reads its output until a line that it waits at.
    pub(crate) fn until(&mut self, last: &str) -> Vec<String> {
        let mut lines = Vec::new();
        loop {
            let mut line = String::new();
            let read = self.output.read_line(&mut line).unwrap();
            assert!(read > 0, "it ended before {last:?}, after {lines:?}");
            let line = line.trim_end().to_owned();
            if line == last {
                return lines;
            }
            lines.push(line);
        }
    }

    pub(crate) fn go_on(&mut self) {
        self.input.write_all(b"\n").unwrap();
    }

    /// What it did, once it reports that.
    pub(crate) fn deeds(&mut self) -> Deeds {
        Deeds::parse(&self.until("end"))
    }
}

impl Drop for Caller {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What the program counted itself.
#[derive(Debug, Default)]
pub(crate) struct Deeds {
    /// Calls, errors and bytes by function.
    pub(crate) functions: BTreeMap<String, [u64; 3]>,
    /// Allocated, freed, allocations, frees, failed allocations, failed frees, unknown frees.
    pub(crate) ledger: [u64; 7],
}

impl Deeds {
    fn parse(lines: &[String]) -> Self {
        let mut deeds = Self::default();
        for line in lines {
            let mut words = line.split(' ');
            let name = words.next().unwrap();
            let numbers: Vec<u64> = words.map(|word| word.parse().unwrap()).collect();
            if name == "ledger" {
                deeds.ledger = numbers.try_into().unwrap();
            } else {
                let numbers = numbers.try_into().unwrap();
                deeds.functions.insert(name.to_owned(), numbers);
            }
        }
        deeds
    }

    /// Asserts that the probes saw exactly this of process `pid`.
    pub(crate) fn assert_seen(&self, tracer: &Tracer, counted: &Counted, pid: u32) {
        let mut seen = BTreeMap::new();
        for row in counted.rows.iter().filter(|row| row.pid == pid) {
            let name = tracer.functions()[row.function as usize].name.clone();
            assert_eq!(row.buckets.iter().sum::<u64>(), row.timed, "{name}");
            assert_eq!(row.failures.values().sum::<u64>(), row.errors, "{name}");
            seen.insert(name, [row.calls, row.errors, row.bytes]);
        }
        let probed = tracer.probed_names();
        let mut done = self.functions.clone();
        done.retain(|name, _| probed.contains(name.as_str()));
        if done.len() < self.functions.len() {
            // Of memory whose allocation was not seen, the size is not known either.
            for functions in [&mut done, &mut seen] {
                functions.entry("cuMemFree_v2".to_owned()).or_default()[2] = 0;
            }
        }
        assert_eq!(done, seen, "calls, errors and bytes by function");
        if done.len() < self.functions.len() {
            // Allocations that were not seen make frees unknown.
            return;
        }
        let ledger = &counted.ledgers.get(&pid).copied().unwrap_or_default();
        let seen = [
            ledger.allocated,
            ledger.freed,
            ledger.allocations,
            ledger.frees,
            ledger.failed_allocations,
            ledger.failed_frees,
            ledger.unknown_frees,
        ];
        assert_eq!(self.ledger, seen, "the ledger");
        assert_eq!(ledger.live, ledger.allocated - ledger.freed);
        assert!(ledger.peak >= ledger.live && ledger.peak <= ledger.allocated);
        assert_eq!((ledger.replaced, ledger.forgotten), (0, 0));
    }
}

/// Probes what a process has mapped now.
pub(crate) fn attach_to(tracer: &mut Tracer, pid: u32) -> usize {
    let proc_root = Path::new("/proc");
    let found = library::mapped(proc_root, pid, LIBCUDA).unwrap();
    for mapping in &found {
        let library = library::open(proc_root, pid, mapping).unwrap();
        tracer.attach(library).unwrap();
    }
    found.len()
}

/// Ways that this kernel has.
pub(crate) fn ways() -> Vec<Way> {
    let possible = |way: &Way| {
        let mut options = Options::new(Some(std::process::id()), default_set());
        options.way = Some(*way);
        match Tracer::load(options) {
            Ok(_) => true,
            Err(error) => {
                eprintln!("not tested: {} ({error})", way.name());
                false
            }
        }
    };
    let ways: Vec<Way> = Way::ALL.into_iter().filter(possible).collect();
    assert!(!ways.is_empty(), "this kernel has no uprobes at all");
    ways
}

/// Follows one process, without a budget.
pub(crate) fn watch_of(pid: Option<u32>) -> Watch {
    let settings = Settings {
        budget: None,
        ..Settings::default()
    };
    Watch::start(Options::new(pid, default_set()), settings).unwrap()
}

pub(crate) fn poll_until(watch: &mut Watch, what: &str, mut done: impl FnMut(&Watch) -> bool) {
    let deadline = Instant::now() + Duration::from_secs(60);
    while !done(watch) {
        assert!(
            Instant::now() < deadline,
            "{what}: {:#?}",
            watch.take_words()
        );
        std::thread::sleep(Duration::from_millis(20));
        watch.poll().unwrap();
    }
}

pub(crate) fn libraries(watch: &Watch) -> usize {
    watch.tracer().libraries().count()
}
