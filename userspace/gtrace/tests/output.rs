//! What becomes of every command when nobody takes its output.
#![allow(missing_docs, clippy::unwrap_used)]

mod support;

use std::fs::File;
use std::io::Read as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use clap::CommandFactory as _;
use gtrace_event::Severity;
use support::{Daemon, xid};

const HOUR: &str = "2026-03-03T04:00:00Z";

/// An exit code and what standard error got.
type Ended = (Option<i32>, String);

fn gtrace(dir: &Path, args: &[String]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_gtrace"));
    command
        .args(args)
        .env_clear()
        .env("GTRACE_STORE", dir.join("store.db"))
        .env("GTRACE_SOCKET", dir.join("socket"))
        .env("GTRACE_BASELINE", dir.join("baseline.toml"))
        .env("USER", "alice")
        .stdin(Stdio::null());
    command
}

fn ended(mut command: Command) -> Ended {
    let (mut reader, writer) = std::io::pipe().unwrap();
    let mut child = command.stderr(writer).spawn().unwrap();
    // Else its end of the pipe stays open here.
    drop(command);
    let mut text = String::new();
    reader.read_to_string(&mut text).unwrap();
    (child.wait().unwrap().code(), text)
}

fn full() -> File {
    File::options().write(true).open("/dev/full").unwrap()
}

/// Command lines of every command; none that needs root, a GPU or a network.
fn lines(dir: &Path, event: &str) -> Vec<Vec<String>> {
    let log = dir.join("log");
    std::fs::write(
        &log,
        "[    1.0] NVRM: Xid (PCI:0000:3b:00): 79, GPU has fallen off the bus.\n",
    )
    .unwrap();
    let (log, long) = (log.display(), "x".repeat(2000));
    let lines = format!(
        "\
--help
--version
run --config /nonexistent/gtrace.toml
doctor
doctor --json
status
status --json
status --remote /nonexistent/socket
events
events --json
events --verify
events show {event}
events show {event} --json
decode {log}
decode --json {log}
decode --summary {log}
explain xid 79
explain sxid:20034 --json
top
top --once
top --once --json
profile --driver
profile --driver --json
profile show /nonexistent/profile.json
trace --softgpu --print-env
health
health --json
scan
scan --json
baseline save --file -
baseline check --json
baseline show
maintenance show
maintenance start --for 1h
token list
token new x --credentials /nonexistent/credentials.toml
incidents
incidents --json
runbook
runbook pcie
runbook xid 79
report verify /nonexistent/report.html
capture --note x
mcp
samples
schema incident
completions bash
man
ack {event}
inject line {long}
gameday --list
demo --listen 0.0.0.0:1
pause
resume
exec --remote unix:/nonexistent/socket --print-env
exec --unpack /dev/null/folder
serve --listen nonsense:nonsense:nonsense
device-plugin --remote h --kubelet-dir /nonexistent
bench remote --remote unix:/nonexistent/socket
head token --socket /nonexistent/socket
agent run --credential /nonexistent/head.json
fleet hosts --head /nonexistent/socket
fleet incidents --json --head /nonexistent/socket
fleet lemons --head /nonexistent/socket
fleet outbreaks --head /nonexistent/socket
fleet compare 1 2 --head /nonexistent/socket
fleet report a b --head /nonexistent/socket
fleet trace a --head /nonexistent/socket
fleet remediation list --head /nonexistent/socket
session list --head /nonexistent/socket
session export x --head /nonexistent/socket
config check
config show"
    );
    let words = |line: &str| -> Vec<String> { line.split(' ').map(str::to_owned).collect() };
    let mut lines: Vec<Vec<String>> = lines.lines().map(words).collect();
    for command in gtrace::cli::Cli::command().get_subcommands() {
        let name = command.get_name().to_owned();
        assert!(
            command.is_hide_set() || lines.iter().any(|line| line[0] == name),
            "no command line of {name} is tried here"
        );
        lines.push(vec![name, "--help".to_owned()]);
    }
    lines
}

#[test]
fn no_command_panics_whatever_becomes_of_its_output() {
    let daemon = Daemon::start();
    let event = xid("0000:3b:00.0", 79, Severity::Fatal, HOUR);
    daemon.publish_opened(&event);
    let dir = daemon.dir.path();
    let mut without_text = Vec::new();
    std::fs::write(dir.join("baseline.toml"), "[host]\ngpus = 0\n").unwrap();
    for line in lines(dir, &event.id.to_string()) {
        let usual = gtrace(dir, &line).output().unwrap();

        let mut command = gtrace(dir, &line);
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        command.stdout(writer);
        let (code, err) = ended(command);
        assert!(!err.contains("panicked"), "{line:?} | true: {err}");
        assert_eq!(code, usual.status.code(), "{line:?} | true: {err}");

        let mut command = gtrace(dir, &line);
        command.stdout(full());
        let (code, err) = ended(command);
        assert!(!err.contains("panicked"), "{line:?} >/dev/full: {err}");
        let errors = err.lines().filter(|line| line.contains("standard output"));
        if usual.stdout.is_empty() {
            assert_eq!(code, usual.status.code(), "{line:?} >/dev/full: {err}");
            without_text.push(line[0].clone());
        } else {
            assert_eq!(errors.count(), 1, "{line:?} >/dev/full: {err}");
            assert_eq!(code, Some(3), "{line:?} >/dev/full: {err}");
        }

        let mut command = gtrace(dir, &line);
        command.stdout(full()).stderr(full());
        let code = command.status().unwrap().code();
        assert!(
            code.is_some_and(|code| code < 4),
            "{line:?} without any output: {code:?}"
        );
    }
    without_text.sort();
    without_text.dedup();
    let expected = "agent baseline bench capture demo device-plugin exec fleet head inject mcp \
                    profile report run samples serve session status token top";
    assert_eq!(
        without_text.join(" "),
        expected,
        "those that say nothing here"
    );
}

/// Runs `gtrace top` on a terminal of its own, leaves it once `wanted` was shown: how it ended, and all that was shown.
fn on_terminal(
    dir: &Path,
    variables: &[(&str, &str)],
    wanted: &[u8],
    leave: impl Fn(&mut File, &Child),
) -> (Option<i32>, Vec<u8>) {
    let size = nix::pty::Winsize {
        ws_row: 40,
        ws_col: 140,
        ws_xpixel: 0,
        ws_ypixel: 0,
    };
    let terminal = nix::pty::openpty(&size, None).unwrap();
    let side = || terminal.slave.try_clone().unwrap();
    let mut command = gtrace(dir, &["top".to_owned()]);
    command
        .envs(variables.iter().copied())
        .stdin(side())
        .stdout(side())
        .stderr(side());
    let mut child = command.spawn().unwrap();
    // Else nothing ends the reading below.
    drop((command, terminal.slave));
    let mut keyboard = File::from(terminal.master.try_clone().unwrap());
    let mut screen = File::from(terminal.master);
    let (sender, pieces) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let mut piece = [0; 4096];
        // The end is an error on Linux.
        while let Ok(length @ 1..) = screen.read(&mut piece) {
            sender.send(piece[..length].to_vec()).unwrap();
        }
    });
    let (mut shown, mut asked) = (Vec::new(), false);
    let patience = std::time::Duration::from_secs(30);
    while let Ok(piece) = pieces.recv_timeout(patience) {
        shown.extend(piece);
        let is_there = shown.windows(wanted.len()).any(|window| window == wanted);
        if is_there && !asked {
            asked = true;
            leave(&mut keyboard, &child);
        }
    }
    if !asked {
        child.kill().unwrap();
    }
    (child.wait().unwrap().code(), shown)
}

fn by_q(keyboard: &mut File, _: &Child) {
    // It may have ended by itself.
    let _ = std::io::Write::write_all(keyboard, b"q");
}

#[test]
fn top_leaves_the_terminal_as_it_was_whatever_ends_it() {
    use rustix::process::{Pid, Signal, kill_process};
    let daemon = Daemon::start();
    // As xterm has it: the other screen, and back.
    let (enter, back) = (b"\x1b[?1049h", b"\x1b[?1049l");
    for signal in [Signal::INT, Signal::TERM] {
        let by_signal =
            |_: &mut File, top: &Child| kill_process(Pid::from_child(top), signal).unwrap();
        let xterm = [("TERM", "xterm")];
        let (code, shown) = on_terminal(daemon.dir.path(), &xterm, enter, by_signal);
        let text = String::from_utf8_lossy(&shown);
        assert_eq!(code, Some(0), "{signal:?}: {text}");
        assert!(
            shown.windows(back.len()).any(|window| window == back),
            "{signal:?}: {text}"
        );
    }
}

#[test]
fn top_draws_what_the_terminal_can_show() {
    let daemon = Daemon::start();
    let dir = daemon.dir.path();
    let xterm = ("TERM", "xterm");
    let (code, shown) = on_terminal(dir, &[xterm, ("LC_ALL", "C")], b"+--", by_q);
    let text = String::from_utf8_lossy(&shown);
    assert_eq!(code, Some(0), "{text}");
    assert!(shown.is_ascii(), "{text}");
    let lines = "\u{2500}\u{2500}".as_bytes();
    let (code, shown) = on_terminal(dir, &[xterm, ("LANG", "C.UTF-8")], lines, by_q);
    assert_eq!(code, Some(0), "{}", String::from_utf8_lossy(&shown));
    for dumb in ["dumb", ""] {
        let (code, shown) = on_terminal(dir, &[("TERM", dumb)], b"use --once", by_q);
        let text = String::from_utf8_lossy(&shown);
        assert_eq!(code, Some(2), "{text}");
        assert!(!text.contains('\u{1b}'), "{text:?}");
    }
}
