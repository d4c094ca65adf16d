//! The state of the host when an incident opens: stacks of processes, registers of devices, pressure. Nothing here asks the
//! driver of a GPU, and what does not answer keeps nothing else from being read.

mod ports;

use std::collections::BTreeSet;
use std::fs;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use gtrace_event::{Incident, PciAddress, Timestamp};
use gtrace_recorder::{Part, Snapshot};

use self::ports::{DEVICES, last_name, with_ports};
use crate::hub::Hub;
use crate::lock::lock;

/// How long all of it may take.
const DEADLINE: Duration = Duration::from_secs(5);
/// Threads that read, over all incidents: those of devices that never answer stay for ever.
const READERS: usize = 64;
/// Processes whose threads are shown.
const PROCESSES: usize = 16;
/// Threads of each.
const THREADS: usize = 64;
/// Processes in uninterruptible sleep that are shown.
const SLEEPING: usize = 32;
/// Longest text of one part, bytes.
const TEXT_MAX: usize = 256 << 10;
/// File systems that are nearly full: of this share on.
const NEARLY_FULL: f64 = 0.9;
/// Kinds of file systems on a disk of this host. Others may wait for a network.
const LOCAL: [&str; 8] = [
    "ext4", "ext3", "ext2", "xfs", "btrfs", "tmpfs", "overlay", "f2fs",
];
/// What a library has in its name that matters to a GPU program.
const LIBRARIES: [&str; 9] = [
    "libcuda",
    "libcudart",
    "libnvidia",
    "libnccl",
    "libcudnn",
    "libcublas",
    "libtorch",
    "libmpi",
    "libibverbs",
];

/// What is asked.
#[derive(Clone, Debug)]
pub(crate) struct Subject {
    processes: Vec<u32>,
    devices: Vec<PciAddress>,
    proc_root: PathBuf,
    sysfs_root: PathBuf,
    /// What the daemon knows already.
    known: Vec<Part>,
}

impl Subject {
    /// What belongs to `incident`: its processes and all that use a GPU, its GPUs or, where it names none, all.
    pub(crate) fn of(incident: &Incident, hub: &Hub, proc_root: &Path, sysfs_root: &Path) -> Self {
        let users = hub.gpu_processes();
        let affected = incident.affected.processes.iter().filter_map(|p| p.pid);
        let mut processes: Vec<u32> = Vec::new();
        for pid in affected.chain(users.iter().map(|user| user.pid)) {
            if !processes.contains(&pid) {
                processes.push(pid);
            }
        }
        let gpus = hub.gpus();
        let affected = incident.affected.gpus.iter().filter_map(|gpu| gpu.pci);
        let mut devices: BTreeSet<PciAddress> = affected.collect();
        if devices.is_empty() {
            devices.extend(gpus.iter().map(|gpu| gpu.pci));
        }
        let json = |name: &str, text: serde_json::Result<String>| Part {
            name: name.to_owned(),
            error: text.as_ref().err().map(ToString::to_string),
            text: text.unwrap_or_default(),
        };
        let mut known = vec![json(
            "processes with a device of the driver open",
            serde_json::to_string_pretty(&users),
        )];
        if !gpus.is_empty() {
            known.push(json(
                "last sample of each GPU",
                serde_json::to_string_pretty(&gpus),
            ));
        }
        Self {
            processes,
            devices: devices.into_iter().collect(),
            proc_root: proc_root.to_owned(),
            sysfs_root: sysfs_root.to_owned(),
            known,
        }
    }
}

/// Readings under way, over all incidents: what is read, and since when.
#[derive(Debug, Default)]
struct Readers(Mutex<Vec<(String, Instant)>>);

static RUNNING: Readers = Readers(Mutex::new(Vec::new()));

impl Readers {
    /// Why `what` is not read now, if it is not.
    fn begin(&self, what: &str, now: Instant) -> Result<(), String> {
        let mut running = lock(&self.0);
        let stuck = running.iter().find(|(other, since)| {
            other == what && now.saturating_duration_since(*since) >= DEADLINE
        });
        if let Some((_, since)) = stuck {
            let age = now.saturating_duration_since(*since).as_secs();
            return Err(format!(
                "not asked: an earlier reading has not ended for {age} s"
            ));
        }
        if running.len() >= READERS {
            return Err("not asked: too many readings have not ended".to_owned());
        }
        running.push((what.to_owned(), now));
        Ok(())
    }

    fn end(&self, what: &str, since: Instant) {
        let mut running = lock(&self.0);
        let place = running
            .iter()
            .position(|(other, at)| other == what && *at == since);
        if let Some(place) = place {
            running.swap_remove(place);
        }
    }
}

/// A snapshot that is being taken.
#[derive(Debug)]
pub(crate) struct Taking {
    time: Timestamp,
    began: Instant,
    shared: Arc<Mutex<Shared>>,
}

#[derive(Debug, Default)]
struct Shared {
    /// Each with its place.
    parts: Vec<(usize, Part)>,
    /// What is not read yet.
    outstanding: Vec<(usize, String)>,
}

type Reading = Box<dyn FnOnce() -> Part + Send>;

impl Taking {
    /// Begins to read. What too many earlier readings leave no room for, and what has not answered before, is said to be missing.
    pub(crate) fn begin(subject: Subject) -> Self {
        Self::begin_with(subject, &RUNNING)
    }

    fn begin_with(subject: Subject, running: &'static Readers) -> Self {
        let roots = format!(
            "{} {}",
            subject.proc_root.display(),
            subject.sysfs_root.display()
        );
        let known = subject.known.clone();
        let readings = readings(subject);
        let asked = readings.iter().map(|(name, _)| name.clone());
        let first = known.len();
        let shared = Arc::new(Mutex::new(Shared {
            parts: known.into_iter().enumerate().collect(),
            outstanding: (first..).zip(asked).collect(),
        }));
        let taking = Self {
            time: Timestamp::now(),
            began: Instant::now(),
            shared: Arc::clone(&shared),
        };
        for (place, (name, reading)) in (first..).zip(readings) {
            let (what, since) = (format!("{roots}: {name}"), Instant::now());
            let leave_out = |why: String| {
                let mut shared = lock(&shared);
                shared.outstanding.retain(|(other, _)| *other != place);
                let left_out = part(&name, Err(io::Error::other(why)));
                shared.parts.push((place, left_out));
            };
            if let Err(why) = running.begin(&what, since) {
                leave_out(why);
                continue;
            }
            let (of_reader, of_thread) = (Arc::clone(&shared), what.clone());
            let read = move || {
                let part = bounded(reading());
                let mut shared = lock(&of_reader);
                shared.outstanding.retain(|(other, _)| *other != place);
                shared.parts.push((place, part));
                drop(shared);
                running.end(&of_thread, since);
            };
            let thread = std::thread::Builder::new().name("gtrace-read".to_owned());
            if let Err(error) = thread.spawn(read) {
                running.end(&what, since);
                leave_out(format!("a thread cannot be started: {error}"));
            }
        }
        taking
    }

    /// Whether all is read, or nothing more is waited for.
    pub(crate) fn is_over(&self) -> bool {
        self.began.elapsed() >= DEADLINE || lock(&self.shared).outstanding.is_empty()
    }

    /// What there is.
    pub(crate) fn end(&self) -> Snapshot {
        let shared = lock(&self.shared);
        let mut parts = shared.parts.clone();
        for (place, name) in &shared.outstanding {
            let error = format!("no answer within {} s", DEADLINE.as_secs());
            parts.push((*place, part(name, Err(io::Error::other(error)))));
        }
        parts.sort_by_key(|(place, _)| *place);
        Snapshot {
            time: self.time,
            parts: parts.into_iter().map(|(_, part)| part).collect(),
        }
    }
}

fn part(name: &str, read: io::Result<String>) -> Part {
    let (text, error) = match read {
        Ok(text) => (text, None),
        Err(error) => (String::new(), Some(error.to_string())),
    };
    Part {
        name: name.to_owned(),
        text,
        error,
    }
}

fn bounded(mut part: Part) -> Part {
    if part.text.len() > TEXT_MAX {
        let end = part.text.floor_char_boundary(TEXT_MAX);
        part.text.truncate(end);
        part.error = Some(format!(
            "longer than {TEXT_MAX} bytes: the rest is left out"
        ));
    }
    part
}

/// What is read, each in a thread of its own: one waits for whatever the one before waits for.
fn readings(subject: Subject) -> Vec<(String, Reading)> {
    let Subject {
        processes,
        devices,
        proc_root,
        sysfs_root,
        ..
    } = subject;
    let mut all: Vec<(String, Reading)> = Vec::new();
    let mut add = |name: String, read: Box<dyn FnOnce() -> io::Result<String> + Send>| {
        let of_part = name.clone();
        all.push((name, Box::new(move || part(&of_part, read()))));
    };
    for pid in processes.into_iter().take(PROCESSES) {
        let dir = proc_root.join(pid.to_string());
        let comm = read_text(&dir.join("comm")).unwrap_or_else(|_| "ended".to_owned());
        let who = format!("{} ({pid})", comm.trim());
        let of_threads = dir.clone();
        add(
            format!("threads of {who}"),
            Box::new(move || threads(&of_threads)),
        );
        // It waits for a lock that a thread may hold which never returns.
        add(
            format!("GPU libraries of {who}"),
            Box::new(move || libraries(&dir)),
        );
    }
    let root = proc_root.clone();
    add(
        "processes in uninterruptible sleep".to_owned(),
        Box::new(move || sleeping(&root)),
    );
    let root = proc_root.clone();
    add(
        "host: load, pressure, memory, interrupts of GPUs and adapters, driver".to_owned(),
        Box::new(move || host(&root)),
    );
    add("clock".to_owned(), Box::new(clock_state));
    let root = proc_root.clone();
    add(
        "file systems that are nearly full".to_owned(),
        Box::new(move || {
            nearly_full(&root).map(|full| full.unwrap_or_else(|| "(none)".to_owned()))
        }),
    );
    let (paths, left_out) = with_ports(&sysfs_root, &devices);
    for path in paths {
        let name = last_name(&path);
        add(format!("PCI device {name}"), Box::new(move || pci(&path)));
    }
    if !left_out.is_empty() {
        let names = left_out.join("\n");
        add(
            format!("PCI devices beyond {DEVICES}, left out"),
            Box::new(move || Ok(names)),
        );
    }
    all
}

/// The text of a file of procfs or sysfs, at most [`TEXT_MAX`] bytes.
fn read_text(path: &Path) -> io::Result<String> {
    let mut bytes = Vec::new();
    let file = fs::File::open(path)?;
    file.take(TEXT_MAX as u64 + 1).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// As [`read_text`]; in place of what cannot be read the reason.
fn text_or_why(path: &Path) -> String {
    match read_text(path) {
        Ok(text) => text.trim_end().to_owned(),
        Err(error) => format!("({error})"),
    }
}

fn numbers(dir: &Path) -> io::Result<Vec<u32>> {
    let names = fs::read_dir(dir)?.flatten().map(|entry| entry.file_name());
    let mut all: Vec<u32> = names
        .filter_map(|name| name.to_str()?.parse().ok())
        .collect();
    all.sort_unstable();
    Ok(all)
}

/// State, where it waits and the kernel stack of each thread.
fn threads(process: &Path) -> io::Result<String> {
    let tasks = process.join("task");
    let mut out = String::new();
    if let Ok(group) = read_text(&process.join("cgroup")) {
        out.push_str(&format!(
            "cgroup: {}\n",
            group.trim_end().replace('\n', " ")
        ));
    }
    let all = numbers(&tasks)?;
    for tid in all.iter().take(THREADS) {
        out.push_str(&thread(&tasks.join(tid.to_string()), *tid));
    }
    if all.len() > THREADS {
        out.push_str(&format!("({} more threads)\n", all.len() - THREADS));
    }
    Ok(out)
}

fn thread(dir: &Path, tid: u32) -> String {
    let comm = text_or_why(&dir.join("comm"));
    let wchan = text_or_why(&dir.join("wchan"));
    let call = text_or_why(&dir.join("syscall"));
    // After these, so that it is fresh when the stack is read.
    let state = read_text(&dir.join("status"));
    let state = state.as_deref().unwrap_or_default();
    let state = state
        .lines()
        .find_map(|line| line.strip_prefix("State:"))
        .map_or("?", str::trim);
    let mut out = format!("{tid} {comm}: {state}, waits in {wchan}, system call {call}\n");
    // Before 6.9 the kernel warns (WARNING at kernel/trace/rethook.c) when it walks the stack of a thread that runs within
    // a function with a return probe, and a host with panic_on_warn goes down. Such a stack says nothing anyway.
    if state.starts_with('R') {
        out.push_str("    (it runs: its kernel stack is not read)\n");
        return out;
    }
    match read_text(&dir.join("stack")) {
        Ok(stack) => {
            for line in stack.lines() {
                out.push_str(&format!("    {line}\n"));
            }
        }
        Err(error) => out.push_str(&format!(
            "    (no kernel stack: {error}; it needs CAP_SYS_ADMIN)\n"
        )),
    }
    out
}

/// Paths of the libraries that matter to a GPU program; their names have the versions.
fn libraries(process: &Path) -> io::Result<String> {
    let maps = read_text(&process.join("maps"))?;
    let paths = maps
        .lines()
        .filter_map(|line| line.find('/').map(|at| &line[at..]));
    let named = paths.filter(|path| {
        let file = path.rsplit('/').next().unwrap_or(path);
        LIBRARIES.iter().any(|name| file.starts_with(name))
    });
    let all: BTreeSet<&str> = named.collect();
    Ok(match all.is_empty() {
        true => "(none)".to_owned(),
        false => all.into_iter().collect::<Vec<_>>().join("\n"),
    })
}

fn sleeping(proc_root: &Path) -> io::Result<String> {
    let (mut out, mut count) = (String::new(), 0);
    for pid in numbers(proc_root)? {
        let dir = proc_root.join(pid.to_string());
        let Ok(stat) = read_text(&dir.join("stat")) else {
            continue;
        };
        // The name may have anything in it; the last parenthesis ends it.
        let state = stat
            .rsplit_once(") ")
            .and_then(|(_, rest)| rest.chars().next());
        if state == Some('D') {
            count += 1;
            if count <= SLEEPING {
                out.push_str(&thread(&dir, pid));
            }
        }
    }
    if count > SLEEPING {
        out.push_str(&format!("({} more)\n", count - SLEEPING));
    }
    if count == 0 {
        out.push_str("(none)");
    }
    Ok(out)
}

fn host(root: &Path) -> io::Result<String> {
    let mut out = String::new();
    let mut section = |name: &str, text: String| out.push_str(&format!("# {name}\n{text}\n\n"));
    section("/proc/loadavg", text_or_why(&root.join("loadavg")));
    for what in ["cpu", "memory", "io"] {
        let path = root.join("pressure").join(what);
        section(&format!("/proc/pressure/{what}"), text_or_why(&path));
    }
    let memory = text_or_why(&root.join("meminfo"));
    let memory: Vec<&str> = memory.lines().take(20).collect();
    section("/proc/meminfo", memory.join("\n"));
    let interrupts = text_or_why(&root.join("interrupts"));
    let of_devices = interrupts.lines().enumerate().filter(|(nth, line)| {
        let named = ["nvidia", "mlx", "bnxt", "irdma", "aerdrv", "pciehp"];
        *nth == 0 || named.iter().any(|name| line.contains(name))
    });
    let interrupts: Vec<&str> = of_devices.map(|(_, line)| line).collect();
    section("/proc/interrupts", interrupts.join("\n"));
    // Kept in the driver's memory; that of each GPU would ask its firmware.
    for file in ["version", "params"] {
        let path = root.join("driver/nvidia").join(file);
        if path.exists() {
            section(&format!("/proc/driver/nvidia/{file}"), text_or_why(&path));
        }
    }
    let modules = text_or_why(&root.join("modules"));
    let named = ["nvidia", "mlx5", "gdrdrv", "nouveau"];
    let modules: Vec<&str> = modules
        .lines()
        .filter(|line| named.iter().any(|name| line.starts_with(name)))
        .collect();
    section("/proc/modules", modules.join("\n"));
    Ok(out)
}

/// Whether the kernel's clock is synchronised, and by how much it may be off.
fn clock_state() -> io::Result<String> {
    let state = crate::clock::synchronisation()?;
    let synchronised = if state.synchronised { "yes" } else { "no" };
    Ok(format!(
        "synchronised: {synchronised}\noffset: {} us\nmaximum error: {} us\n",
        state.offset_us, state.max_error_us
    ))
}

/// File systems that are nearly full, a line each; `None` where there are none.
fn nearly_full(root: &Path) -> io::Result<Option<String>> {
    let mounts = read_text(&root.join("self/mounts"))?;
    let mut lines = BTreeSet::new();
    for mount in mounts.lines() {
        let mut fields = mount.split(' ').skip(1);
        let (Some(place), Some(kind)) = (fields.next(), fields.next()) else {
            continue;
        };
        if !LOCAL.contains(&kind) {
            continue;
        }
        let Ok(space) = rustix::fs::statvfs(place) else {
            continue;
        };
        let used = space.f_blocks.saturating_sub(space.f_bavail);
        let share = used as f64 / space.f_blocks.max(1) as f64;
        if space.f_blocks > 0 && share >= NEARLY_FULL {
            let free = space.f_bavail.saturating_mul(space.f_frsize) >> 20;
            lines.insert(format!(
                "{place} ({kind}): {:.0} % used, {free} MiB free",
                share * 100.0
            ));
        }
    }
    let lines: Vec<String> = lines.into_iter().collect();
    Ok((!lines.is_empty()).then(|| lines.join("\n")))
}

/// What the kernel knows of a device, its error counters, and its configuration space.
fn pci(device: &Path) -> io::Result<String> {
    if !device.exists() {
        return Err(io::Error::other("the kernel does not have this device"));
    }
    let mut out = String::new();
    for name in [
        "vendor",
        "device",
        "class",
        "revision",
        "enable",
        "power_state",
        "numa_node",
        "current_link_speed",
        "current_link_width",
        "max_link_speed",
        "max_link_width",
        "aer_dev_correctable",
        "aer_dev_nonfatal",
        "aer_dev_fatal",
    ] {
        if let Ok(text) = read_text(&device.join(name)) {
            let text = text.trim_end().replace('\n', "; ");
            out.push_str(&format!("{name}: {text}\n"));
        }
    }
    if let Ok(driver) = fs::read_link(device.join("driver")) {
        let name = driver.file_name().unwrap_or_default().to_string_lossy();
        out.push_str(&format!("driver: {name}\n"));
    }
    let mut space = vec![0; 4096];
    let length = fs::File::open(device.join("config"))?.read(&mut space)?;
    out.push_str(&format!("configuration space, {length} bytes"));
    if length < 256 {
        out.push_str(" (more of it needs CAP_SYS_ADMIN)");
    }
    out.push_str(":\n");
    for (nth, row) in space[..length].chunks(16).enumerate() {
        // An extended space is mostly empty.
        if nth < 4 || row.iter().any(|byte| *byte != 0) {
            let bytes: Vec<String> = row.iter().map(|byte| format!("{byte:02x}")).collect();
            out.push_str(&format!("{:03x}: {}\n", nth * 16, bytes.join(" ")));
        }
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named<'a>(snapshot: &'a Snapshot, name: &str) -> &'a Part {
        let mut parts = snapshot.parts.iter();
        parts.find(|part| part.name.contains(name)).unwrap()
    }

    fn ended(subject: Subject) -> Snapshot {
        let taking = Taking::begin(subject);
        while !taking.is_over() {
            std::thread::yield_now();
        }
        taking.end()
    }

    fn subject(processes: Vec<u32>, sysfs_root: &Path) -> Subject {
        Subject {
            processes,
            devices: vec!["0000:3b:00.0".parse().unwrap()],
            proc_root: "/proc".into(),
            sysfs_root: sysfs_root.to_owned(),
            known: vec![part("known", Ok("before".to_owned()))],
        }
    }

    #[test]
    fn threads_ports_and_pressure_are_read_and_what_is_not_there_says_so() {
        let sysfs = tempfile::tempdir().unwrap();
        let devices = sysfs.path().join("devices/pci0000:00");
        let gpu = devices.join("0000:00:01.0/0000:3b:00.0");
        fs::create_dir_all(&gpu).unwrap();
        fs::create_dir_all(sysfs.path().join("bus/pci/devices")).unwrap();
        std::os::unix::fs::symlink(&gpu, sysfs.path().join("bus/pci/devices/0000:3b:00.0"))
            .unwrap();
        fs::write(gpu.join("current_link_speed"), "2.5 GT/s PCIe\n").unwrap();
        fs::write(gpu.join("config"), [0xff; 64]).unwrap();
        let snapshot = ended(subject(
            vec![std::process::id(), u32::MAX - 1],
            sysfs.path(),
        ));
        assert_eq!(snapshot.parts[0].text, "before");
        let threads = named(&snapshot, &format!("({})", std::process::id()));
        assert!(threads.text.contains("waits in"), "{}", threads.text);
        assert!(named(&snapshot, "threads of ended").error.is_some());
        assert!(named(&snapshot, "host").text.contains("/proc/loadavg"));
        assert!(named(&snapshot, "clock").text.contains("synchronised"));
        let gpu = named(&snapshot, "0000:3b:00.0");
        assert!(
            gpu.text.contains("2.5 GT/s") && gpu.text.contains("000: ff ff"),
            "{}",
            gpu.text
        );
        let port = named(&snapshot, "0000:00:01.0");
        assert!(port.error.is_some(), "it has no configuration space here");
    }

    #[test]
    fn the_stack_of_a_thread_that_runs_is_not_read() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("stack"), "[<0>] nvidia_ioctl+0x1/0x2\n").unwrap();
        for (state, read) in [
            ("S (sleeping)", true),
            ("D (disk sleep)", true),
            ("R (running)", false),
        ] {
            let status = format!("Name:\ttrain\nState:\t{state}\nPid:\t7\n");
            fs::write(dir.path().join("status"), status).unwrap();
            let text = thread(dir.path(), 7);
            assert!(text.contains(state), "{text}");
            assert_eq!(text.contains("nvidia_ioctl"), read, "{text}");
        }
    }

    #[test]
    fn a_device_that_never_answers_is_named_and_keeps_nothing_else() {
        let sysfs = tempfile::tempdir().unwrap();
        let gpu = sysfs.path().join("bus/pci/devices/0000:3b:00.0");
        fs::create_dir_all(&gpu).unwrap();
        let fifo = std::process::Command::new("mkfifo")
            .arg(gpu.join("config"))
            .status();
        assert!(fifo.unwrap().success());
        let taking = Taking::begin(subject(Vec::new(), sysfs.path()));
        let others = || lock(&taking.shared).outstanding.len();
        while others() > 1 {
            std::thread::yield_now();
        }
        let snapshot = taking.end();
        let gpu = named(&snapshot, "0000:3b:00.0");
        assert!(gpu.error.as_deref().unwrap().contains("no answer"));
        assert!(named(&snapshot, "host").error.is_none());
    }

    #[test]
    fn readings_that_never_end_take_nothing_from_the_others() {
        let sysfs = tempfile::tempdir().unwrap();
        let running: &'static Readers = Box::leak(Box::default());
        let begin = || Taking::begin_with(subject(Vec::new(), sysfs.path()), running);
        let what = |name: &str| format!("/proc {}: {name}", sysfs.path().display());
        let now = Instant::now();
        let old = now.checked_sub(DEADLINE).unwrap();
        // What did not answer is not asked again.
        running
            .begin(&what("PCI device 0000:3b:00.0"), old)
            .unwrap();
        let taking = begin();
        while lock(&taking.shared).outstanding.iter().any(|_| true) {
            std::thread::yield_now();
        }
        let snapshot = taking.end();
        let gpu = named(&snapshot, "0000:3b:00.0");
        assert!(
            gpu.error.as_deref().unwrap().contains("an earlier reading"),
            "{gpu:?}"
        );
        assert!(named(&snapshot, "host").error.is_none());
        while lock(&running.0).len() > 1 {
            std::thread::yield_now();
        }
        // With room for one more, what is known and one part are there, and the others say why not.
        for n in 0..READERS - 2 {
            running.begin(&format!("stuck {n}"), old).unwrap();
        }
        let taking = begin();
        while !taking.is_over() {
            std::thread::yield_now();
        }
        let snapshot = taking.end();
        assert_eq!(snapshot.parts[0].text, "before");
        let left_out = snapshot.parts.iter().filter(|part| {
            let error = part.error.as_deref();
            error.is_some_and(|error| error.contains("too many readings"))
        });
        assert!(left_out.count() > 0);
        assert!(named(&snapshot, "uninterruptible").error.is_none());
    }

    #[test]
    fn a_text_that_is_too_long_is_cut_and_says_so() {
        let long = bounded(part("x", Ok("ä".repeat(TEXT_MAX))));
        assert!(long.text.len() <= TEXT_MAX && long.error.is_some());
    }
}
