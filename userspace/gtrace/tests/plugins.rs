//! What a plugin finds itself in: `gtrace plugin-child` as the daemon starts it.
#![allow(missing_docs, clippy::unwrap_used)]

use std::fs::{self, File};
use std::os::fd::AsRawFd as _;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;
use std::time::Duration;

use gtrace_plugins::{Ended, Limits, Plugin, run};

/// As the daemon whose process id is `parent` starts it.
fn launcher(parent: u32) -> Command {
    let mut launcher = Command::new(env!("CARGO_BIN_EXE_gtrace"));
    launcher.arg("plugin-child");
    launcher.arg("--parent").arg(parent.to_string());
    launcher
}

#[test]
fn a_plugin_has_no_rights_no_descriptors_and_no_environment_of_the_daemon() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("plugin");
    let script = "#!/bin/sh\ngrep -E '^(CapEff|CapPrm|CapInh|NoNewPrivs):' /proc/self/status\nls -l /proc/$$/fd\npwd\numask\nulimit -c\nenv\n";
    fs::write(&path, script).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    // One that is inherited, as those that systemd hands over are.
    let secret = File::open("/dev/zero").unwrap();
    let inherited = rustix::io::dup(&secret).unwrap();
    rustix::io::fcntl_setfd(&inherited, rustix::io::FdFlags::empty()).unwrap();
    assert!(inherited.as_raw_fd() > 2);
    let mut launcher = launcher(std::process::id());
    launcher.env("SECRET", "of the daemon");
    let limits = Limits {
        deadline: Duration::from_secs(30),
        output: 64 * 1024,
    };
    let plugin = Plugin {
        name: "plugin".to_owned(),
        path,
    };
    let Ended::Done(output) = run(&plugin, limits, launcher, None).ended else {
        panic!("it runs");
    };
    let output = String::from_utf8(output).unwrap();
    for line in [
        "CapInh:\t0000000000000000",
        "CapPrm:\t0000000000000000",
        "CapEff:\t0000000000000000",
        "NoNewPrivs:\t1",
    ] {
        assert!(output.contains(line), "{line}: {output}");
    }
    assert!(!output.contains("/dev/zero"), "{output}");
    assert!(output.contains("GTRACE_PLUGIN_DEADLINE_S=30") && output.contains("LANG=C.UTF-8"));
    assert!(
        !output.contains("SECRET") && !output.contains("CARGO"),
        "{output}"
    );
    assert!(output.contains("\n0077\n0\n"), "{output}");
}

#[test]
fn a_plugin_whose_daemon_has_ended_is_not_run() {
    let limits = Limits {
        deadline: Duration::from_secs(30),
        output: 64 * 1024,
    };
    let plugin = Plugin {
        name: "plugin".to_owned(),
        path: "/bin/true".into(),
    };
    // No process has this one as its parent.
    let launcher = launcher(std::process::id() + 1);
    let Ended::Failed(why) = run(&plugin, limits, launcher, None).ended else {
        panic!("it runs");
    };
    assert!(why.contains("No such process"), "{why}");
}
