//! Traces and profiles that cannot be had.

use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Child, Command, Stdio};

use gtrace_catalogue::Catalogue;
use gtrace_event::Kind;
use rustix::process::{Pid, Signal, kill_process};

use crate::{gtrace, output, process};

/// A process that has ended; it has its number until it is waited for.
fn ended() -> Child {
    let child = Command::new("true").spawn().unwrap();
    let pid = child.id();
    let state = || std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    while !state().contains(") Z ") {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    child
}

#[test]
fn a_trace_of_a_thread_or_of_a_process_that_has_ended_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let trace = |pid: &str| output(dir.path(), &["trace", "--driver", "--pid", pid]);
    let refused = std::thread::scope(|scope| {
        let thread = scope.spawn(|| {
            let link = std::fs::read_link("/proc/thread-self").unwrap();
            trace(link.file_name().unwrap().to_str().unwrap())
        });
        thread.join().unwrap()
    });
    assert_eq!(refused.0, Some(2));
    let process = format!("is a thread of process {} (", std::process::id());
    assert!(refused.2.contains(&process), "{}", refused.2);

    let mut child = ended();
    let (code, _, err) = trace(&child.id().to_string());
    assert_eq!(code, Some(2));
    assert!(err.contains("has ended"), "{err}");
    child.wait().unwrap();
}

#[test]
fn options_that_would_do_nothing_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let pid = std::process::id().to_string();
    let driver = ["--driver", "--pid", &pid];
    let running = ["--pid", &pid, "--output", "x.pftrace"];
    for (of, more, part) in [
        (&driver[..], &["--output", "x.pftrace"][..], "--output"),
        (&driver, &["--ring", "60s"], "--ring"),
        (&driver, &["--max-events", "7"], "--max-events"),
        (&driver, &["--json", "x.json"], "--json > FILE"),
        (&running, &["--failed"], "--failed"),
        (&running, &["--slower-than", "7"], "--slower-than"),
        (&running, &["--json"], "gtrace profile --pid"),
        (&running, &["--gpu-time"], "--gpu-time"),
        (&running, &["--softgpu"], "--softgpu"),
        (&["--print-env"], &["--output", "x.pftrace"], "--output"),
        (&["--failed"], &["--", "true"], "--failed"),
        (&["--failed"], &[], "--driver"),
        (&["--max-events", "7"], &["--", "true"], "--ring TIME"),
        (&["--buffer", "7"], &["--", "true"], "--ring TIME"),
        (&["--max-events", "7"], &["--print-env"], "--ring TIME"),
    ] {
        let args = [&["trace"], of, more].concat();
        let (code, out, err) = output(dir.path(), &args);
        assert_eq!((code, out.as_str()), (Some(2), ""), "{args:?}: {err}");
        assert!(err.contains(part), "{args:?}: {err}");
    }
}

#[test]
fn options_of_other_commands_that_would_do_nothing_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    for (args, part) in [
        (&["events", "--verify", "--since", "1h"][..], "--since"),
        (&["events", "--verify", "--kind", "xid"], "--kind"),
        (
            &["exec", "--remote", "a", "--stats", "--print-env"],
            "--stats",
        ),
        (&["fleet", "compare", "--margin", "2"], "OLD"),
    ] {
        let (code, out, err) = output(dir.path(), args);
        assert_eq!((code, out.as_str()), (Some(2), ""), "{args:?}: {err}");
        assert!(err.contains(part), "{args:?}: {err}");
    }
}

#[test]
fn traces_that_events_advise_can_be_taken() {
    let dir = tempfile::tempdir().unwrap();
    let mut child = ended();
    let pid = child.id().to_string();
    let catalogue = Catalogue::builtin();
    let steps = Kind::ALL
        .into_iter()
        .flat_map(|kind| catalogue.kind(kind).steps);
    let mut advised = steps
        .filter_map(|step| Some(step.split_once("gtrace trace ")?.1))
        .peekable();
    assert!(advised.peek().is_some());
    for options in advised {
        let options = options.trim_end_matches('.').replace("<pid>", &pid);
        let args: Vec<&str> = ["trace"].into_iter().chain(options.split(' ')).collect();
        let (_, _, err) = output(dir.path(), &args);
        assert!(err.contains("has ended"), "{args:?}: {err}");
    }
    child.wait().unwrap();
}

#[test]
fn a_trace_that_cannot_be_written_does_not_end_as_a_success() {
    let dir = tempfile::tempdir().unwrap();
    let trace = |option: &str, file: &str, program: &str| {
        let file = dir.path().join(file);
        let args = ["trace", "--softgpu", option, file.to_str().unwrap(), "--"];
        output(dir.path(), &[&args, &[program][..]].concat())
    };
    std::os::unix::fs::symlink("/dev/full", dir.path().join("full.pftrace")).unwrap();
    for (option, file) in [
        ("--output", "full.pftrace"),
        ("--json", "no/such/folder.json"),
    ] {
        let (code, _, err) = trace(option, file, "true");
        assert_eq!(code, Some(3), "{option}: {err}");
        let notes = err.lines().filter(|line| line.contains(file));
        let notes: Vec<_> = notes.collect();
        assert_eq!(notes.len(), 1, "{err}");
        for part in [
            "cannot be written",
            "(os error ",
            &format!("name another file with {option}"),
        ] {
            assert!(notes[0].contains(part), "{part} is not in {}", notes[0]);
        }
        let (code, _, err) = trace(option, file, "false");
        assert_eq!(
            code,
            Some(1),
            "the program's own failure comes first: {err}"
        );
    }
}

#[test]
fn a_place_for_no_trace_is_noticed_before_the_program_runs() {
    let dir = tempfile::tempdir().unwrap();
    let ran = dir.path().join("ran");
    let args = ["trace", "--softgpu", "-o", dir.path().to_str().unwrap()];
    let program = ["--", "touch", ran.to_str().unwrap()];
    let (code, _, err) = output(dir.path(), &[&args[..], &program].concat());
    assert_eq!(code, Some(3), "{err}");
    assert!(err.contains("cannot be written"), "{err}");
    assert!(!ran.exists(), "{err}");
}

#[test]
fn a_file_that_is_there_is_noticed_before_a_host_is_asked() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("mine");
    std::fs::write(&file, "mine").unwrap();
    let incident = "01KJSZ3M7B0000000000ABCDEF";
    for asked in [&["trace", "a"][..], &["report", "a", incident]] {
        let to = [
            "--head",
            "/nonexistent/socket",
            "-o",
            file.to_str().unwrap(),
        ];
        let (code, _, err) = output(dir.path(), &[&["fleet"], asked, &to].concat());
        assert_eq!(code, Some(3), "{err}");
        assert!(err.contains("name another one"), "{err}");
    }
    assert_eq!(std::fs::read(&file).unwrap(), b"mine");
}

/// As systemd, a container's runtime or `timeout` end a program: by the process that they started.
#[test]
fn the_end_of_a_traced_program_is_the_programs_own_and_what_it_did_is_kept() {
    let dir = tempfile::tempdir().unwrap();
    let json = dir.path().join("calls.json");
    let program = "trap 'exit 7' TERM; echo ready; while :; do sleep 0.1; done";
    let args = ["trace", "--softgpu", "--json", json.to_str().unwrap()];
    let args = [&args[..], &["--", "sh", "-c", program]].concat();
    let mut command = gtrace(dir.path(), &args);
    let mut tracer = command.stdout(Stdio::piped()).spawn().unwrap();
    let mut ready = String::new();
    let mut out = BufReader::new(tracer.stdout.take().unwrap());
    out.read_line(&mut ready).unwrap();
    assert_eq!(ready, "ready\n");
    kill_process(Pid::from_child(&tracer), Signal::TERM).unwrap();
    assert_eq!(tracer.wait().unwrap().code(), Some(7));
    let counted: serde_json::Value =
        serde_json::from_slice(&std::fs::read(&json).unwrap()).unwrap();
    assert_eq!(counted["status"], 7);
}

#[test]
fn a_plain_user_learns_the_permission_that_a_profile_needs() {
    let dir = tempfile::tempdir().unwrap();
    let mut command = gtrace(dir.path(), &["profile", "--all", "--duration", "1"]);
    if rustix::process::geteuid().is_root() {
        use std::os::unix::process::CommandExt as _;
        // The folders of the binary itself may be closed to others.
        let copy = dir.path().join("gtrace");
        std::fs::copy(env!("CARGO_BIN_EXE_gtrace"), &copy).unwrap();
        let open = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(dir.path(), open).unwrap();
        command = Command::new(copy);
        command.args(["profile", "--all", "--duration", "1"]);
        command.uid(65534).gid(65534);
    }
    let (code, _, err) = process::ended(&mut command);
    assert_eq!(code, Some(3), "{err}");
    assert!(err.contains("run as root"), "{err}");
    assert!(!err.contains("no uprobe"), "{err}");
}
