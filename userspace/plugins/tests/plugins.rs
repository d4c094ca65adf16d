//! Plugins that work, fail, hang, flood and escape; and files that are none.
#![allow(missing_docs, clippy::unwrap_used)]

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use gtrace_event::HealthState;
use gtrace_plugins::{Ended, Left, Limits, Plugin, find, parse, program, run};

const LIMITS: Limits = Limits {
    deadline: Duration::from_secs(20),
    output: 64 * 1024,
};

fn me() -> u32 {
    rustix::process::geteuid().as_raw()
}

fn write(folder: &Path, name: &str, mode: u32, text: &str) -> Plugin {
    let path = folder.join(name);
    fs::write(&path, text).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
    Plugin {
        name: name.to_owned(),
        path,
    }
}

fn folder() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o755)).unwrap();
    dir
}

fn run_script(dir: &Path, script: &str, limits: Limits) -> Ended {
    let plugin = write(dir, "plugin", 0o755, script);
    run(&plugin, limits, Command::new("/bin/sh"), None).ended
}

fn failed(ended: Ended) -> String {
    match ended {
        Ended::Failed(why) => why,
        other => panic!("{other:?}"),
    }
}

#[test]
fn only_what_nobody_else_can_have_put_there_is_a_plugin() {
    let dir = folder();
    let good = write(dir.path(), "good", 0o755, "#!/bin/sh\n");
    write(dir.path(), ".hidden", 0o777, "");
    write(dir.path(), "group-writable", 0o775, "");
    write(dir.path(), "not-executable", 0o644, "");
    write(dir.path(), "a b", 0o755, "");
    symlink("/bin/true", dir.path().join("link")).unwrap();
    fs::create_dir(dir.path().join("folder")).unwrap();
    let found = find(dir.path(), me()).unwrap();
    assert_eq!(found.plugins, [good]);
    let there = ["folder", "good", "group-writable", "link", "not-executable"];
    assert!(found.there.iter().eq(there), "{:?}", found.there);
    let why = |name: &str| {
        let refused = found.refused.iter().find(|(refused, _)| refused == name);
        refused.map(|(_, why)| why.clone()).unwrap_or_default()
    };
    assert!(why("group-writable").contains("0775") && why("group-writable").contains("chmod go-w"));
    assert!(why("not-executable").contains("chmod u+x"));
    assert!(why("a b").contains("rename"));
    assert!(why("link").contains("links are not followed"));
    assert!(why("folder").contains("no ordinary file"));
    // Everything belongs to somebody else than it should.
    let error = find(dir.path(), me() + 1).unwrap_err().to_string();
    assert!(
        error.contains("belongs to the user") && error.contains("chown root"),
        "{error}"
    );
    fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o777)).unwrap();
    let error = find(dir.path(), me()).unwrap_err().to_string();
    assert!(error.contains("0777"), "{error}");
    assert!(find(Path::new("plugins.d"), me()).is_err());
    let missing = find(&dir.path().join("none"), me()).unwrap_err();
    assert!(missing.to_string().contains("cannot be read"));
    // Who may rename a folder above it may put another in its place.
    let open = dir.path().join("open");
    fs::create_dir(&open).unwrap();
    fs::create_dir(open.join("plugins.d")).unwrap();
    fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o755)).unwrap();
    fs::set_permissions(&open, fs::Permissions::from_mode(0o777)).unwrap();
    assert!(find(&open.join("plugins.d"), me()).is_err());
}

#[test]
fn what_a_link_leads_to_is_checked_with_all_above_it() {
    let dir = folder();
    let base = fs::canonicalize(dir.path()).unwrap();
    let mode = |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode));
    let real = base.join("open/etc/plugins.d");
    fs::create_dir_all(&real).unwrap();
    write(&real, "good", 0o755, "#!/bin/sh\n");
    symlink(base.join("open/etc"), base.join("etc")).unwrap();
    let by_link = base.join("etc/plugins.d");
    for path in [base.join("open"), base.join("open/etc"), real.clone()] {
        mode(&path, 0o755).unwrap();
    }
    let found = find(&by_link, me()).unwrap();
    assert_eq!(found.plugins[0].path, real.join("good"), "without the link");
    // It is above the real path only: who can write there can put another `etc` in its place.
    mode(&base.join("open"), 0o777).unwrap();
    let error = find(&by_link, me()).unwrap_err().to_string();
    assert!(error.contains("open are refused"), "{error}");
    mode(&base.join("open"), 0o755).unwrap();
    // A link that leads through a folder where others can put links.
    let loose = base.join("loose");
    fs::create_dir(&loose).unwrap();
    mode(&loose, 0o777).unwrap();
    symlink(base.join("open/etc"), loose.join("second")).unwrap();
    symlink("loose/second", base.join("first")).unwrap();
    assert!(find(&base.join("first/plugins.d"), me()).is_err());
    mode(&loose, 0o755).unwrap();
    assert_eq!(
        find(&base.join("first/../etc/plugins.d"), me()).unwrap(),
        found
    );
    symlink("loop", base.join("loop")).unwrap();
    assert!(find(&base.join("loop/plugins.d"), me()).is_err());
}

#[test]
fn a_plugin_that_works_is_read_and_one_that_fails_says_why() {
    let dir = folder();
    let script = "printf '{\"check\":\"env\",\"state\":\"healthy\",\"reason\":\"%s %s\"}\\n' \"$HOME\" \"$LANG\"; sleep 100 & exit 0";
    let began = Instant::now();
    let Ended::Done(output) = run_script(dir.path(), script, LIMITS) else {
        panic!("it works");
    };
    assert!(
        began.elapsed() < LIMITS.deadline,
        "what it left in the background is not waited for"
    );
    let found = parse(&output);
    assert_eq!(
        (found.checks[0].state, found.checks[0].reason.as_str()),
        (HealthState::Healthy, "C.UTF-8")
    );
    let why = failed(run_script(
        dir.path(),
        "echo no such device >&2; exit 3",
        LIMITS,
    ));
    assert!(why.contains('3') && why.contains("no such device"), "{why}");
    let gone = Plugin {
        name: "gone".to_owned(),
        path: dir.path().join("gone"),
    };
    let run = run(&gone, LIMITS, Command::new("/nonexistent/launcher"), None);
    assert!(failed(run.ended).contains("cannot be started"));
}

#[test]
fn one_that_hangs_or_floods_is_killed_with_all_that_it_started() {
    let dir = folder();
    let short = Limits {
        deadline: Duration::from_millis(300),
        output: 1000,
    };
    let pids = dir.path().join("pids");
    let script = format!(
        "trap '' TERM\nsleep 1000 &\necho $! $$ > {}\nwait\n",
        pids.display()
    );
    let why = failed(run_script(dir.path(), &script, short));
    assert!(why.contains("0.3 s"), "{why}");
    for pid in fs::read_to_string(&pids).unwrap().split_whitespace() {
        let until = Instant::now() + Duration::from_secs(10);
        let runs = || {
            let status = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
            !status.is_empty() && !status.contains(") Z ")
        };
        while runs() {
            assert!(Instant::now() < until, "{pid} runs on");
            std::thread::sleep(Duration::from_millis(5));
        }
    }
    let flood = Limits {
        deadline: Duration::from_secs(20),
        ..short
    };
    let why = failed(run_script(
        dir.path(),
        "while :; do echo xxxxxxxxxxxxxxx; done",
        flood,
    ));
    assert!(why.contains("1000 bytes"), "{why}");
    // What it says on standard error does not stop it.
    let script = "i=0; while [ $i -lt 20000 ]; do echo noise >&2; i=$((i+1)); done; echo '{}'";
    let Ended::Done(output) = run_script(dir.path(), script, LIMITS) else {
        panic!("it works");
    };
    assert_eq!(parse(&output).faults.len(), 1);
}

/// Waits until a process has ended.
fn gone(pid: &str) {
    let until = Instant::now() + Duration::from_secs(20);
    let state = || fs::read_to_string(format!("/proc/{}/stat", pid.trim())).unwrap_or_default();
    while !(state().is_empty() || state().contains(") Z")) {
        assert!(Instant::now() < until, "{pid} lives on");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn a_program_ends_with_the_process_that_runs_it() {
    const DIR: &str = "GTRACE_TEST_DIR";
    if let Some(dir) = std::env::var_os(DIR) {
        // In the process below, until it is killed.
        let _ = program(
            Command::new(Path::new(&dir).join("scontrol")),
            LIMITS,
            Left::Killed,
        );
        return;
    }
    let dir = folder();
    let pid = dir.path().join("pid");
    let script = format!(
        "#!/bin/sh\necho $$ > {0}.new\nmv {0}.new {0}\nexec sleep 600\n",
        pid.display()
    );
    write(dir.path(), "scontrol", 0o755, &script);
    let mut head = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "a_program_ends_with_the_process_that_runs_it"])
        .env(DIR, dir.path())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let until = Instant::now() + Duration::from_secs(15);
    while !pid.exists() && Instant::now() < until {
        std::thread::sleep(Duration::from_millis(5));
    }
    // As `kill -9`.
    head.kill().unwrap();
    head.wait().unwrap();
    gone(&fs::read_to_string(&pid).unwrap());
}

#[test]
#[allow(unsafe_code, reason = "nothing else runs between fork and exec")]
fn a_program_that_has_left_its_group_is_killed_at_its_deadline() {
    use std::os::unix::process::CommandExt as _;
    let mut command = Command::new("sleep");
    command.arg("600");
    let group = rustix::process::getpgrp();
    let leave = move || rustix::process::setpgid(None, Some(group)).map_err(std::io::Error::from);
    // SAFETY: one system call, without allocation or locks, is made in the new process.
    unsafe { command.pre_exec(leave) };
    let short = Limits {
        deadline: Duration::from_millis(300),
        output: 1000,
    };
    let why = program(command, short, Left::Alone).unwrap_err();
    assert!(why.ends_with("within 0.3 s and was killed"), "{why}");
}

#[test]
fn a_program_that_hangs_or_floods_is_killed_with_what_it_has_started() {
    let dir = folder();
    let left = dir.path().join("left");
    let script = |text: &str, limits: Limits, after: Left| {
        let path = write(dir.path(), "scontrol", 0o755, text).path;
        program(Command::new(path), limits, after)
    };
    let short = Limits {
        deadline: Duration::from_millis(300),
        output: 1000,
    };
    // A child keeps the pipes open.
    let text = format!(
        "#!/bin/sh\nsleep 600 &\necho $! > {}\nsleep 600\n",
        left.display()
    );
    let why = script(&text, short, Left::Alone).unwrap_err();
    assert!(why.contains("did not end within 0.3 s"), "{why}");
    gone(&fs::read_to_string(&left).unwrap());
    let why = script("#!/bin/sh\nyes", LIMITS, Left::Alone).unwrap_err();
    assert!(why.contains("printed more than"), "{why}");
    let why = script(
        "#!/bin/sh\necho out; echo err >&2; exit 3",
        LIMITS,
        Left::Alone,
    )
    .unwrap_err();
    assert!(why.ends_with("fails (exit status: 3): err out"), "{why}");
    let printed = script("#!/bin/sh\nsleep 600 &\necho $!", LIMITS, Left::Killed).unwrap();
    gone(&String::from_utf8(printed).unwrap());
}
