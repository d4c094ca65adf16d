//! GPU-over-IP by RDMA, on SoftRoCE: the links themselves, programs, and every reason to fall back.
//!
//! Client and server run in one machine. That they count as two hosts, where a case wants that, is by
//! another boot id that the client sees.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::sync::{Mutex, PoisonError};

use anyhow::{Context as _, Result, ensure};
use gtrace_vm_tests::layout::{BUSYBOX, COHERENCE, GTRACE, RDMA, RDMA_PROGRAMS, RDMA_STRICT};
use serde_json::Value;

use crate::guest::{Guest, PATIENCE, within};

cases! {
    Rdma "rdma_links" => links, core, patience(300);
    // In three cases, which different runs take.
    Rdma "rdma_programs_1" => programs::<0>, patience(300);
    Rdma "rdma_programs_2" => programs::<1>, patience(300);
    Rdma "rdma_programs_3" => programs::<2>, patience(300);
    Rdma "rdma_coherence" => coherence, patience(300);
    Rdma "rdma_fallbacks" => fallbacks, patience(300);
    Rdma "rdma_doctor" => doctor;
}

/// Address of the card, and of the RDMA device that is made on it.
pub(super) const ADDRESS: &str = "10.0.2.15";
/// The network that is declared trusted.
const NETWORK: &str = "10.0.2.0/24";
/// Network card.
pub(super) const CARD: &str = "eth0";
/// RDMA device.
pub(super) const DEVICE: &str = "rxe0";
/// A user that is not root.
const USER: u32 = 1000;
const BOOT_ID: &str = "/proc/sys/kernel/random/boot_id";
/// Where the library that RDMA takes can be.
const LIBRARIES: [&str; 3] = [
    "/usr/lib/x86_64-linux-gnu/libibverbs.so.1",
    "/lib/x86_64-linux-gnu/libibverbs.so.1",
    "/usr/lib64/libibverbs.so.1",
];

pub(super) fn tool(program: &str, args: &[&str]) -> Result<()> {
    let output = Command::new(program).args(args).output()?;
    let stderr = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{program} {args:?}: {stderr}");
    Ok(())
}

/// The card is up, with its address.
pub(super) fn card_up() -> Result<()> {
    tool(
        BUSYBOX,
        &["ifconfig", CARD, ADDRESS, "netmask", "255.255.255.0", "up"],
    )
}

/// The RDMA device is there and active; another case may have left it.
pub(super) fn device_up() -> Result<()> {
    card_up()?;
    let state = format!("/sys/class/infiniband/{DEVICE}/ports/1/state");
    if !Path::new(&state).exists() {
        let rdma = format!("{RDMA}/rdma");
        tool(
            &rdma,
            &["link", "add", DEVICE, "type", "rxe", "netdev", CARD],
        )?;
    }
    within(PATIENCE, "an active port", || {
        let text = fs::read_to_string(&state).unwrap_or_default();
        Ok(text.contains("ACTIVE").then_some(()))
    })
}

pub(super) fn device_gone() -> Result<()> {
    tool(&format!("{RDMA}/rdma"), &["link", "delete", DEVICE])
}

/// What every link promises, by a device: ordering, bulk and flow control of the conformance suite, with `--long`
/// all of it; and what keys open.
fn links(guest: &mut Guest) -> Result<()> {
    device_up()?;
    let parts: &[&str] = match guest.long() {
        true => &["ordering", "flow", "death", "half_open", "resumption"],
        false => &["ordering", "flow"],
    };
    let parts = parts.iter().map(|part| format!("conformance::{part}"));
    for part in parts.chain(["setup::keys::".to_owned()]) {
        let output = Command::new(format!("{RDMA}/links"))
            .args([&part, "--test-threads=1"])
            .env("GTRACE_TEST_RDMA", ADDRESS)
            .output()?;
        let text = String::from_utf8_lossy(&output.stdout);
        ensure!(output.status.success(), "{part}: {text}");
        let result = (text.lines()).find(|line| line.starts_with("test result"));
        let result = result.context("the tests say no result")?;
        ensure!(!result.contains(" 0 passed"), "no test ran: {text}");
        guest.note(format!("{part}: {result}"))?;
    }
    Ok(())
}

/// `gtrace serve` with the CPU emulator, ended when dropped.
pub(super) struct Server {
    pub(super) child: Child,
    pub(super) status: String,
}

impl Server {
    pub(super) fn start(guest: &Guest, trusted: &[&str]) -> Result<Self> {
        let scratch = guest.scratch();
        let status = scratch.join("status").display().to_string();
        let log = fs::File::create(scratch.join("serve.log"))?;
        let child = Command::new(GTRACE)
            .args(["serve", "--softgpu", "--insecure", "--listen", ADDRESS])
            .args(["--status-socket", &status])
            .args(trusted)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()?;
        let server = Self { child, status };
        within(PATIENCE, "a server", || {
            let answer = std::net::TcpStream::connect((ADDRESS, 7471));
            Ok(answer.is_ok().then_some(()))
        })?;
        Ok(server)
    }

    pub(super) fn log(guest: &Guest) -> String {
        fs::read_to_string(guest.scratch().join("serve.log")).unwrap_or_default()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = fs::remove_file(&self.status);
    }
}

/// What a server says of itself at its socket.
pub(super) fn status_of(socket: &str) -> Result<Value> {
    let output = Command::new(GTRACE)
        .args(["status", "--remote", "--json"])
        .env("GTRACE_SERVE_STATUS", socket)
        .output()?;
    let stderr = String::from_utf8_lossy(&output.stderr);
    serde_json::from_slice(&output.stdout).with_context(|| format!("status: {stderr}"))
}

pub(super) fn with_kernels(command: &mut Command) -> &mut Command {
    command.env("GTRACE_KERNELS", format!("{RDMA}/ptx"))
}

/// The path of a program and its arguments, which follow its name.
fn words(name: &str) -> Vec<String> {
    let path = format!("{RDMA}/{name}");
    path.split(' ').map(str::to_owned).collect()
}

/// The output of a program that runs on the CPU emulator without a server, where it runs once.
pub(super) fn direct(name: &str) -> Result<String> {
    static PRINTED: Mutex<BTreeMap<String, String>> = Mutex::new(BTreeMap::new());
    let mut all = PRINTED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(text) = all.get(name) {
        return Ok(text.clone());
    }
    let words = words(name);
    let mut command = Command::new(&words[0]);
    command.args(&words[1..]);
    command.env("LD_LIBRARY_PATH", format!("{RDMA}/direct"));
    let output = with_kernels(&mut command).output();
    let text = printed(name, output.with_context(|| format!("cannot run {name}"))?)?;
    all.insert(name.to_owned(), text.clone());
    Ok(text)
}

fn printed(name: &str, output: Output) -> Result<String> {
    let stderr = String::from_utf8_lossy(&output.stderr);
    ensure!(
        output.status.success(),
        "{name}: {}: {stderr}",
        output.status
    );
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// The program whose processes share memory: handles of the CPU emulator lead to files of the other worker, which none opens in
/// its sandbox.
pub(super) const SHARING: &str = "ipc";

/// The options of a client that trusts the network.
pub(super) const TRUSTING: [&str; 2] = ["--rdma-trusted-net", NETWORK];

fn programs<const PART: usize>(guest: &mut Guest) -> Result<()> {
    device_up()?;
    let mut server = Server::start(guest, &TRUSTING)?;
    let all = RDMA_PROGRAMS.into_iter().enumerate();
    for (at, name) in all.skip(PART).step_by(3) {
        if name == SHARING {
            drop(server);
            let open = [TRUSTING[0], TRUSTING[1], "--sandbox", "off"];
            server = Server::start(guest, &open)?;
        }
        let wanted = direct(name)?;
        same(guest, name, ADDRESS, &[], &wanted)?;
        if at < RDMA_STRICT {
            same(guest, name, ADDRESS, &["--strict"], &wanted)?;
        }
        guest.note(format!("{name} is the same over RDMA"))?;
        if name == SHARING {
            drop(server);
            server = Server::start(guest, &TRUSTING)?;
        }
    }
    drop(server);
    Ok(())
}

/// Managed and page-locked memory, which host and device use in turn and at the same time.
fn coherence(guest: &mut Guest) -> Result<()> {
    device_up()?;
    let server = Server::start(guest, &TRUSTING)?;
    let steps = match guest.long() {
        true => "100000",
        false => "2000",
    };
    for kind in ["managed", "allocated", "small", "registered", "shared"] {
        let name = format!("{COHERENCE} {steps} 4 {kind}");
        same(guest, &name, ADDRESS, &[], &direct(&name)?)?;
        guest.note(format!("{name} is the same over RDMA"))?;
    }
    drop(server);
    Ok(())
}

/// That a program prints `wanted` by RDMA from `remote`.
pub(super) fn same(
    guest: &Guest,
    name: &str,
    remote: &str,
    options: &[&str],
    wanted: &str,
) -> Result<()> {
    let stats = guest.scratch().join("stats.json");
    let _ = fs::remove_file(&stats);
    let mut command = Command::new(GTRACE);
    command
        .args(["exec", "--remote", remote, "--link", "rdma"])
        .args(TRUSTING)
        .args(options)
        .arg("--stats-file")
        .arg(&stats)
        .arg("--")
        .args(words(name));
    let got = printed(name, with_kernels(&mut command).output()?)?;
    ensure!(
        got == wanted,
        "{name} {options:?}: {got}\ninstead of\n{wanted}"
    );
    let report: Value = serde_json::from_slice(&fs::read(&stats)?)?;
    ensure!(report["link"] == "rdma", "{name}: {}", report["link"]);
    if name == "copies" {
        // Each copy is awaited in strict mode, and so taken along.
        let lent = report["from_page_locked"].as_u64();
        ensure!(
            lent.is_some_and(|lent| (lent > 0) == options.is_empty()),
            "{lent:?} bytes of page-locked memory: {}",
            report["fallbacks"]
        );
    }
    Ok(())
}

/// A client that appears to be on another host: what it reports as its link, and what was not used.
struct Remote<'a> {
    options: &'a [&'a str],
    /// A line of a shell that the client's file systems and limits are prepared with, as root.
    prepared: &'a str,
    user: u32,
}

impl Remote<'_> {
    fn run(&self, guest: &Guest) -> Result<(String, String)> {
        let scratch = guest.scratch();
        fs::set_permissions(&scratch, fs::Permissions::from_mode(0o777))?;
        let boot_id = scratch.join("boot_id");
        fs::write(&boot_id, "00000000-0000-4000-8000-000000000000\n")?;
        let stats = scratch.join("elsewhere.json");
        let _ = fs::remove_file(&stats);
        // The second shell has the user's rights already.
        let inner = format!(
            "exec {GTRACE} exec --remote {ADDRESS} --stats-file {} {} -- {RDMA}/vector_add",
            stats.display(),
            self.options.join(" ")
        );
        let script = format!(
            "mount --bind {} {BOOT_ID} && {} exec su -s /bin/sh -c '{inner}' {}",
            boot_id.display(),
            self.prepared,
            if self.user == 0 { "root" } else { "user" },
        );
        let mut command = Command::new(BUSYBOX);
        command
            .args(["unshare", "-m", BUSYBOX, "sh", "-c", &script])
            .env("PATH", "/bin:/usr/bin")
            .process_group(0);
        let got = printed("vector_add", with_kernels(&mut command).output()?)?;
        ensure!(got == direct("vector_add")?, "vector_add prints {got}");
        let report: Value = serde_json::from_slice(&fs::read(&stats)?)?;
        let link = report["link"].as_str().context("no link")?.to_owned();
        Ok((link, report["fallbacks"].to_string()))
    }

    /// TCP is used, and the reason names that.
    fn fails_over(&self, guest: &Guest, reason: &str) -> Result<()> {
        let (link, fallbacks) = self.run(guest)?;
        ensure!(
            link == "tcp" && fallbacks.contains(reason),
            "{link}, {fallbacks} instead of {reason:?}; {}",
            Server::log(guest)
        );
        Ok(())
    }
}

fn fallbacks(guest: &mut Guest) -> Result<()> {
    device_up()?;
    let server = Server::start(guest, &TRUSTING)?;
    let client = Remote {
        options: &TRUSTING,
        prepared: "",
        user: 0,
    };
    let (link, fallbacks) = client.run(guest)?;
    ensure!(
        link == "rdma",
        "{link}: {fallbacks}; {}",
        Server::log(guest)
    );
    guest.note("taken by itself between two hosts")?;

    let nothing = Remote {
        options: &[],
        ..client
    };
    let (link, fallbacks) = nothing.run(guest)?;
    ensure!(
        link == "tcp" && !fallbacks.contains("rdma"),
        "{link}: {fallbacks}"
    );
    let others = Remote {
        options: &["--rdma-trusted-net", "192.168.0.0/16"],
        ..client
    };
    others.fails_over(guest, "--rdma-trusted-net")?;
    guest.note("not where the network is not trusted")?;

    let away = |path: &str| format!("{path}.away");
    let there = LIBRARIES.iter().filter(|path| Path::new(path).exists());
    let moved: Vec<&str> = there.copied().collect();
    ensure!(!moved.is_empty(), "no libibverbs.so.1 to take away");
    for path in &moved {
        fs::rename(path, away(path))?;
    }
    let found = client.fails_over(guest, "libibverbs.so.1 not found");
    for path in &moved {
        fs::rename(away(path), path)?;
    }
    found?;
    let limited = Remote {
        prepared: "ulimit -l 64 &&",
        user: USER,
        ..client
    };
    limited.fails_over(guest, "may lock 64 KiB")?;
    let node = "/dev/infiniband/uverbs0";
    fs::set_permissions(node, fs::Permissions::from_mode(0o600))?;
    let forbidden = Remote {
        user: USER,
        ..client
    };
    let found = forbidden.fails_over(guest, "may not use /dev/infiniband");
    fs::set_permissions(node, fs::Permissions::from_mode(0o666))?;
    found?;
    guest.note("without library, locked memory or permission it is TCP")?;

    drop(server);
    let server = Server::start(guest, &[])?;
    client.fails_over(guest, "start it with --rdma-trusted-net")?;
    drop(server);
    let server = Server::start(guest, &["--rdma-trusted-net", "192.168.0.0/16"])?;
    client.fails_over(guest, "in no network that the server trusts")?;
    let log = Server::log(guest);
    ensure!(
        log.contains("in no network that the server trusts"),
        "{log}"
    );
    device_gone()?;
    client.fails_over(guest, "no RDMA device")?;
    drop(server);
    Ok(())
}

fn doctor(_: &mut Guest) -> Result<()> {
    let says = |wanted: &str| -> Result<()> {
        let (report, _) = crate::guest::doctor(&[])?;
        let facts = report["host"].as_array().context("no facts")?;
        let fact = facts.iter().find(|fact| fact["name"] == "RDMA");
        let value = fact.map_or(Value::Null, |fact| fact["value"].clone());
        let text = value.as_str().unwrap_or_default();
        ensure!(text.contains(wanted), "{text} instead of {wanted}");
        Ok(())
    };
    device_up()?;
    says(&format!("{DEVICE} at {ADDRESS}"))?;
    tool(BUSYBOX, &["ifconfig", CARD, "down"])?;
    says("is down")?;
    device_gone()?;
    says("has no RDMA device")
}
