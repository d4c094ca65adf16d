//! Processes in containers, of a moment, and that become others, on the real kernel. Every test here
//! needs root; without it each is skipped, saying so.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod support;

use std::path::Path;
use std::time::{Duration, Instant};

use gtrace_abi::{API_LIBRARIES, ApiCounter};
use gtrace_uprobes::functions::default_set;
use gtrace_uprobes::{Options, Settings, Watch};
use support::{Caller, Folder, caller, is_root, libraries, poll_until, watch_of};

#[test]
fn root_a_process_in_a_container_is_found_by_its_own_paths() {
    let Some(folder) = Folder::new() else { return };
    // A mount namespace where a path leads to the library that leads nowhere outside, and a pid
    // namespace where the process is number 2.
    let script = format!(
        "mount -t tmpfs none /mnt && cp {} /mnt/libcuda.so.1 && exec {} /mnt/libcuda.so.1 many 500 2",
        folder.library().display(),
        caller().display()
    );
    let mut command = std::process::Command::new("unshare");
    command.args([
        "--mount",
        "--pid",
        "--fork",
        "--kill-child",
        "sh",
        "-c",
        &script,
    ]);
    let mut unshared = Caller::spawn(&mut command);
    unshared.until("open");
    assert!(!Path::new("/mnt/libcuda.so.1").exists());
    let children = format!("/proc/{0}/task/{0}/children", unshared.pid());
    let children = std::fs::read_to_string(children).unwrap();
    let pid: u32 = children.trim().parse().unwrap();
    for pid_filter in [Some(pid), None] {
        let mut watch = watch_of(pid_filter);
        poll_until(&mut watch, "not found", |watch| libraries(watch) >= 1);
        if pid_filter.is_none() {
            continue;
        }
        unshared.go_on();
        let deeds = unshared.deeds();
        let counted = watch.tracer().counted().unwrap();
        deeds.assert_seen(watch.tracer(), &counted, pid);
    }
}

/// A watch of all processes for a library of this name.
fn watch_for(library: String) -> Watch {
    let settings = Settings {
        budget: None,
        library,
        ..Settings::default()
    };
    Watch::start(Options::new(None, default_set()), settings).unwrap()
}

/// A program whose library has a name that no other process of this host has, and a watch that has found it.
fn start_alone(folder: &Folder, name: &str, arguments: &[&str]) -> (Caller, Watch) {
    let name = format!("lib{name}-{}.so", std::process::id());
    let library = folder.path().join(&name);
    std::fs::rename(folder.library(), &library).unwrap();
    let mut caller = Caller::start(&library, arguments);
    caller.until("open");
    let mut watch = watch_for(name);
    poll_until(&mut watch, "not found", |watch| libraries(watch) == 1);
    (caller, watch)
}

#[test]
fn root_processes_of_a_moment_are_counted_without_exception() {
    let Some(folder) = Folder::new() else { return };
    let (mut caller, mut watch) = start_alone(&folder, "probed", &["forks", "3000"]);
    caller.go_on();
    // Meanwhile ended processes are taken out of the kernel's tables.
    let done = std::thread::spawn(move || (caller.deeds(), caller));
    while !done.is_finished() {
        watch.poll().unwrap();
        std::thread::sleep(Duration::from_millis(50));
    }
    let (deeds, caller) = done.join().unwrap();
    let report = watch.report().unwrap();
    let functions = watch.tracer().functions();
    let ours = report
        .rows
        .iter()
        .filter(|row| functions[row.function as usize].name == "cuStreamSynchronize");
    let seen: u64 = ours.map(|row| row.calls).sum();
    assert_eq!(seen, deeds.functions["cuStreamSynchronize"][0]);
    drop(caller);
}

#[test]
fn root_a_program_that_takes_the_place_of_another_is_traced_on() {
    let Some(folder) = Folder::new() else { return };
    let mut caller = Caller::start(&folder.library(), &["exec", "200"]);
    caller.until("open");
    let mut watch = watch_of(Some(caller.pid()));
    caller.go_on();
    // The second program's own line; what it has called until then is seen too.
    caller.until("open");
    let before = watch.tracer().counted().unwrap();
    let early = before.rows.iter().filter(|row| row.pid == caller.pid());
    let early: u64 = early.map(|row| row.calls).sum();
    caller.go_on();
    let deeds = caller.deeds();
    watch.poll().unwrap();
    let counted = watch.tracer().counted().unwrap();
    let rows = counted.rows.iter().filter(|row| row.pid == caller.pid());
    let seen: u64 = rows.map(|row| row.calls).sum();
    let made = deeds
        .functions
        .iter()
        .filter(|(name, _)| watch.tracer().probed_names().contains(name.as_str()));
    let made: u64 = made.map(|(_, [calls, ..])| calls).sum();
    // cuInit, the context and the allocations before the first line.
    let probed = |name: &&str| watch.tracer().probed_names().contains(*name);
    let others = ["cuInit", "cuDevicePrimaryCtxRetain"]
        .iter()
        .filter(|name| probed(name));
    assert_eq!(early, 8 + others.count() as u64);
    assert_eq!(seen, made + early);
}

/// More processes a second than the tables hold: whose a call was may be lost, a call never.
#[test]
fn root_a_thousand_processes_a_second_are_counted_and_what_has_no_room_is_said() {
    let Some(folder) = Folder::new() else { return };
    const PROCESSES: u64 = 4000;
    const FUNCTIONS: [&str; 4] = [
        "cuInit",
        "cuMemGetInfo_v2",
        "cuCtxSynchronize",
        "cuStreamSynchronize",
    ];
    let processes = PROCESSES.to_string();
    let arguments = ["paced", &processes, "1000"];
    let (mut caller, mut watch) = start_alone(&folder, "paced", &arguments);
    caller.go_on();
    let start = Instant::now();
    let done = std::thread::spawn(move || (caller.deeds(), caller));
    while !done.is_finished() {
        watch.poll().unwrap();
        std::thread::sleep(gtrace_uprobes::POLL_INTERVAL);
    }
    let (deeds, caller) = done.join().unwrap();
    let took = start.elapsed();
    // They may be more than one look can see.
    watch.report().unwrap();
    let report = watch.report().unwrap();
    for name in FUNCTIONS {
        let functions = watch.tracer().functions();
        let rows = report.rows.iter();
        let rows = rows.filter(|row| functions[row.function as usize].name == name);
        let seen: u64 = rows.map(|row| row.calls).sum();
        assert_eq!(seen, deeds.functions[name][0], "{name}");
    }
    let lost = |counter: ApiCounter| {
        let found = report.counters.iter().find(|(known, _)| *known == counter);
        found.unwrap().1
    };
    for counter in [
        ApiCounter::StartsFull,
        ApiCounter::StartsUnseen,
        ApiCounter::MemoryFull,
        ApiCounter::Unreadable,
    ] {
        assert_eq!(lost(counter), 0, "{}", counter.name());
    }
    let made = PROCESSES * FUNCTIONS.len() as u64;
    println!(
        "{:.0} processes a second: {made} calls, {:.1} % without their process, {} processes without a ledger, \
         {} failures under no code",
        PROCESSES as f64 / took.as_secs_f64(),
        lost(ApiCounter::HistKeysFull) as f64 / made as f64 * 100.0,
        lost(ApiCounter::LedgersFull),
        lost(ApiCounter::FailureKeysFull),
    );
    drop(caller);
}

/// A library of one function.
fn tiny_library(folder: &Path, function: &str) -> std::path::PathBuf {
    let (source, built) = (folder.join(format!("{function}.c")), folder.join(function));
    std::fs::write(&source, format!("int {function}(void) {{ return 0; }}\n")).unwrap();
    let mut cc = std::process::Command::new("cc");
    cc.args(["-shared", "-fPIC", "-O1", "-o"])
        .args([&built, &source]);
    assert!(cc.status().unwrap().success());
    built
}

/// A process that has a copy of a library open. The copy belongs to a user.
fn open_copy(built: &Path, path: &Path, owner: u32) -> Caller {
    std::fs::copy(built, path).unwrap();
    std::os::unix::fs::chown(path, Some(owner), None).unwrap();
    let mut command = std::process::Command::new("sh");
    command
        .args(["-c", "echo open; read line"])
        .env("LD_PRELOAD", path);
    let mut process = Caller::spawn(&mut command);
    process.until("open");
    process
}

/// Polls until it says this of a file.
fn poll_until_reported(watch: &mut Watch, file: &Path, what: &str) {
    let mut words = String::new();
    let deadline = Instant::now() + Duration::from_secs(60);
    while !words.contains(&format!("{} {what}", file.display())) {
        assert!(Instant::now() < deadline, "{words}");
        watch.poll().unwrap();
        words.push_str(&watch.take_words().join("\n"));
    }
}

#[test]
fn root_a_library_that_finds_no_place_is_traced_once_another_gives_up_its_own() {
    if !is_root() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let built = tiny_library(folder.path(), "cuCtxSynchronize");
    let path = |n: usize| folder.path().join(format!("libtiny-places.so.{n}"));
    let open = |n: usize| open_copy(&built, &path(n), 0);
    let mut processes: Vec<_> = (0..API_LIBRARIES).map(open).collect();
    let mut watch = watch_for("libtiny-places.so".to_owned());
    poll_until(&mut watch, "not all are traced", |watch| {
        libraries(watch) == API_LIBRARIES
    });
    watch.take_words();
    processes.push(open(API_LIBRARIES));
    let last = path(API_LIBRARIES);
    poll_until_reported(&mut watch, &last, "is not traced yet");
    // A process of another library ends.
    processes.remove(0);
    poll_until(&mut watch, "the last one still waits", |watch| {
        let mut probed = watch.tracer().libraries();
        probed.any(|probed| probed.path == last)
    });
    assert_eq!(libraries(&watch), API_LIBRARIES);
}

#[test]
fn root_the_libraries_of_one_user_leave_places_to_those_of_others() {
    if !is_root() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let built = tiny_library(folder.path(), "cuCtxSynchronize");
    let path = |n: usize| folder.path().join(format!("libtiny-owners.so.{n}"));
    let open = |n: usize, owner: u32| open_copy(&built, &path(n), owner);
    let mut processes: Vec<_> = (0..API_LIBRARIES).map(|n| open(n, 1)).collect();
    let mut watch = watch_for("libtiny-owners.so".to_owned());
    poll_until(&mut watch, "not all are traced", |watch| {
        libraries(watch) == API_LIBRARIES
    });
    let of_another = path(API_LIBRARIES);
    processes.push(open(API_LIBRARIES, 2));
    let is_traced = |watch: &Watch| {
        let mut probed = watch.tracer().libraries();
        probed.any(|probed| probed.path == of_another)
    };
    poll_until(&mut watch, "another user's is not traced", is_traced);
    assert_eq!(libraries(&watch), API_LIBRARIES);
    assert_eq!(watch.so_far().unwrap().refused, 1);
    processes.push(open(API_LIBRARIES + 1, 1));
    let too_many = path(API_LIBRARIES + 1);
    poll_until_reported(&mut watch, &too_many, "is not traced yet");
    assert!(is_traced(&watch));
    let report = watch.so_far().unwrap();
    let lost: Vec<_> = report.lost().collect();
    assert!(lost.contains(&("api_libraries_full", 2)), "{lost:?}");
}

#[test]
fn root_a_library_that_cannot_be_traced_does_not_rule_out_another_of_its_path_and_inode() {
    if !is_root() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    // Each is the first file of a file system that only its process sees.
    let open = |library: &Path| {
        let script = format!(
            "mount -t tmpfs none /mnt && cp {} /mnt/libtiny-twice.so && \
             LD_PRELOAD=/mnt/libtiny-twice.so exec sh -c 'echo open; read line'",
            library.display()
        );
        let mut command = std::process::Command::new("unshare");
        command.args(["--mount", "sh", "-c", &script]);
        let mut process = Caller::spawn(&mut command);
        process.until("open");
        process
    };
    let _untraceable = open(&tiny_library(folder.path(), "nothing"));
    let mut watch = watch_for("libtiny-twice.so".to_owned());
    let words = watch.take_words().join("\n");
    assert!(words.contains("exports none of the functions"), "{words}");
    let _traceable = open(&tiny_library(folder.path(), "cuCtxSynchronize"));
    poll_until(&mut watch, "not found", |watch| libraries(watch) == 1);
}
