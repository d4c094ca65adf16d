//! Traces and profiles that cannot be had.

use std::os::unix::fs::PermissionsExt as _;
use std::process::{Command, Output};

use crate::{gtrace, output};

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

    let mut child = Command::new("true").spawn().unwrap();
    let pid = child.id();
    let state = || std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    while !state().contains(") Z ") {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    let (code, _, err) = trace(&pid.to_string());
    assert_eq!(code, Some(2));
    assert!(err.contains("has ended"), "{err}");
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
        let said = err.lines().filter(|line| line.contains(file));
        let said: Vec<_> = said.collect();
        assert_eq!(said.len(), 1, "{err}");
        for part in [
            "cannot be written",
            "(os error ",
            &format!("name another file with {option}"),
        ] {
            assert!(said[0].contains(part), "{part} is not in {}", said[0]);
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
fn a_plain_user_is_told_of_the_permission_that_a_profile_needs() {
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
    let Output { status, stderr, .. } = command.output().unwrap();
    let err = String::from_utf8(stderr).unwrap();
    assert_eq!(status.code(), Some(3), "{err}");
    assert!(err.contains("run as root"), "{err}");
    assert!(!err.contains("no uprobe"), "{err}");
}
