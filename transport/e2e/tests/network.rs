//! What becomes of a network under a running program: a router forgets its connections, addresses change, a cable is
//! pulled. Client, router and server are network namespaces of this host (network_namespaces(7)), which end with this
//! process: the kernel's own TCP, address translation and link state, without a second machine.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod support;

use std::fs::{self, File};
use std::io::{Read as _, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use gtrace_e2e::server::Server;
use gtrace_e2e::{artefacts, process, programs};
use rustix::net::{AddressFamily, SendFlags, SocketType, netlink};
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};
use serde_json::Value;
use support::artefacts;

/// What the tests run besides the shell's tools.
const TOOLS: [&str; 5] = ["ip", "nft", "nsenter", "unshare", "mount"];
/// The name under which the client knows the server.
const NAME: &str = "gpu-host";
const PORT: u16 = 7471;
/// Program, whose launches count themselves, and which compares each byte that it copies.
const PROGRAM: &str = "steadfast";
/// Threads of it that make calls all the time, with a lane each.
const BUSY: u64 = 2;
/// Until a program goes on. TCP alone may need as long as a pause was, and the host may be busy.
const GOES_ON: Duration = Duration::from_secs(60);

/// Why these tests cannot be made here.
fn missing() -> Option<String> {
    let finds = |tool: &&&str| {
        let path = std::env::var_os("PATH").unwrap_or_default();
        !std::env::split_paths(&path).any(|dir| dir.join(tool).is_file())
    };
    if let Some(tool) = TOOLS.iter().find(finds) {
        return Some(format!("no `{tool}`: install iproute2 and nftables"));
    }
    let made = Command::new("unshare")
        .args(["--net", "--mount", "nft", "add", "table", "ip", "gtrace"])
        .output()
        .unwrap();
    (!made.status.success()).then(|| {
        let why = String::from_utf8_lossy(&made.stderr);
        format!("no network namespace with nftables: {}", why.trim())
    })
}

/// A network of its own, and mounts of its own.
struct Host {
    /// Ends when its standard input does, at the latest with this process.
    holder: Child,
}

impl Host {
    fn new() -> Self {
        let mut holder = Command::new("unshare")
            .args(["--net", "--mount", "cat"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        // What comes back has come from within.
        let mut byte = [0];
        holder.stdin.as_mut().unwrap().write_all(b"x").unwrap();
        let stdout = holder.stdout.as_mut().unwrap();
        stdout.read_exact(&mut byte).unwrap();
        let host = Self { holder };
        host.run("ip", "link set lo up");
        host
    }

    fn pid(&self) -> u32 {
        self.holder.id()
    }

    fn enter(&self) -> Vec<String> {
        let pid = self.pid().to_string();
        ["nsenter", "--target", &pid, "--net", "--mount"]
            .map(str::to_owned)
            .to_vec()
    }

    /// Runs a tool there.
    fn run(&self, tool: &str, arguments: &str) {
        self.run_with(tool, &arguments.split(' ').collect::<Vec<_>>());
    }

    fn run_with(&self, tool: &str, arguments: &[&str]) {
        let enter = self.enter();
        let output = Command::new(&enter[0])
            .args(&enter[1..])
            .arg(tool)
            .args(arguments)
            .output()
            .unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{tool} {arguments:?}: {stderr}");
    }

    /// A program that starts gtrace there.
    fn gtrace(&self, folder: &Path, name: &str) -> PathBuf {
        let path = folder.join(name);
        let (enter, gtrace) = (self.enter().join(" "), artefacts().gtrace.display());
        fs::write(&path, format!("#!/bin/sh\nexec {enter} {gtrace} \"$@\"\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        path
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        drop(self.holder.stdin.take());
        let _ = self.holder.wait();
    }
}

/// A client behind a router that translates its address, and a server on the other side.
struct Network {
    client: Host,
    router: Host,
    server: Host,
    folder: tempfile::TempDir,
}

impl Network {
    fn new() -> Self {
        let (client, router, server) = (Host::new(), Host::new(), Host::new());
        for (host, net, own) in [(&client, 1, "inside"), (&server, 2, "outside")] {
            let pid = host.pid();
            router.run(
                "ip",
                &format!("link add {own} type veth peer name eth0 netns {pid}"),
            );
            router.run("ip", &format!("addr add 10.77.{net}.1/24 dev {own}"));
            router.run("ip", &format!("link set {own} up"));
            host.run("ip", &format!("addr add 10.77.{net}.2/24 dev eth0"));
            host.run("ip", "link set eth0 up");
            host.run("ip", &format!("route add default via 10.77.{net}.1"));
        }
        router.run_with("sh", &["-c", "echo 1 >/proc/sys/net/ipv4/ip_forward"]);
        // A connection that is translated anew gets another port, as behind a router that was started again.
        router.run_with(
            "nft",
            &["add table ip nat; \
               add chain ip nat post { type nat hook postrouting priority 100; }; \
               add rule ip nat post oifname \"outside\" masquerade fully-random"],
        );
        let network = Self {
            client,
            router,
            server,
            folder: tempfile::tempdir().unwrap(),
        };
        // Nothing shows client and server that they are on one host.
        let boot = network.path("boot_id");
        fs::write(&boot, "00000000-0000-4000-8000-000000000077\n").unwrap();
        let over = |file: &str, of: &str| network.client.run_with("mount", &["--bind", file, of]);
        over(&boot, "/proc/sys/kernel/random/boot_id");
        network.server_is_at("10.77.2.2");
        over(&network.path("hosts"), "/etc/hosts");
        network
    }

    fn path(&self, name: &str) -> String {
        self.folder.path().join(name).display().to_string()
    }

    /// What the client finds under the server's name.
    fn server_is_at(&self, address: &str) {
        fs::write(self.path("hosts"), format!("{address} {NAME}\n")).unwrap();
    }

    fn serve(&self, options: &[&str]) -> Server {
        let listen = format!("0.0.0.0:{PORT}");
        let mut all = vec!["--insecure", "--listen", &listen];
        all.extend(options);
        let gtrace = self.server.gtrace(self.folder.path(), "server");
        Server::start(&gtrace, &[], &all).unwrap()
    }

    /// The router loses what it knows of connections that it translates (NFNL_SUBSYS_CTNETLINK of linux/netfilter).
    fn forget_connections(&self) {
        let path = format!("/proc/{}/ns/net", self.router.pid());
        // The thread stays in that namespace to its end.
        let flushed = thread::spawn(move || {
            use std::os::fd::AsFd as _;
            const LEN: u32 = 20;
            const DELETE: u16 = (1 << 8) | 2;
            const REQUEST_AND_ACKNOWLEDGE: u16 = 5;
            let namespace = File::open(path)?;
            move_into_link_name_space(namespace.as_fd(), Some(LinkNameSpaceType::Network))?;
            let kind = Some(netlink::NETFILTER);
            let socket = rustix::net::socket(AddressFamily::NETLINK, SocketType::RAW, kind)?;
            let mut message = [0; LEN as usize];
            message[..4].copy_from_slice(&LEN.to_ne_bytes());
            message[4..6].copy_from_slice(&DELETE.to_ne_bytes());
            message[6..8].copy_from_slice(&REQUEST_AND_ACKNOWLEDGE.to_ne_bytes());
            rustix::net::send(&socket, &message, SendFlags::empty())?;
            let mut answer = [0; 64];
            let (len, _) =
                rustix::net::recv(&socket, &mut answer, rustix::net::RecvFlags::empty())?;
            // struct nlmsgerr behind the head: 0, or an error below.
            let error = answer[..len].get(16..20).map(|error| error.to_vec());
            assert_eq!(error, Some(vec![0; 4]), "the router's table stays");
            std::io::Result::Ok(())
        });
        flushed.join().unwrap().unwrap();
    }

    fn client_moves(&self) {
        self.client.run("ip", "addr del 10.77.1.2/24 dev eth0");
        self.client.run("ip", "addr add 10.77.1.3/24 dev eth0");
        self.client.run("ip", "route replace default via 10.77.1.1");
    }

    fn server_moves(&self) {
        self.server.run("ip", "addr del 10.77.2.2/24 dev eth0");
        self.server.run("ip", "addr add 10.77.2.3/24 dev eth0");
        self.server.run("ip", "route replace default via 10.77.2.1");
        self.server_is_at("10.77.2.3");
    }

    /// The client's cable is pulled, or put in again: its card loses the carrier.
    fn cable(&self, state: &str) {
        self.router.run("ip", &format!("link set inside {state}"));
    }
}

/// The program, which runs until a file asks it to end.
struct Running<'a> {
    child: Child,
    network: &'a Network,
    server: Server,
}

impl<'a> Running<'a> {
    fn start(network: &'a Network, resume: &str) -> Self {
        let server = network.serve(&["--resume", resume]);
        let program = programs::c_program(artefacts(), PROGRAM).unwrap();
        let remote = format!("{NAME}:{PORT}");
        let child = Command::new(network.client.gtrace(network.folder.path(), "client"))
            .args(["exec", "--remote", &remote, "--link", "tcp"])
            .args(["--resume", resume, "--stats-file", &network.path("stats")])
            .arg("--")
            .arg(program)
            .env("GTRACE_KERNELS", artefacts::kernels())
            .env("GTRACE_TEST_UNTIL", network.path("until"))
            .env("GTRACE_TEST_PROGRESS", network.path("progress"))
            .env_remove("CUDA_VISIBLE_DEVICES")
            .stdin(Stdio::null())
            .stdout(File::create(network.path("out")).unwrap())
            .stderr(File::create(network.path("err")).unwrap())
            .spawn()
            .unwrap();
        let mut running = Self {
            child,
            network,
            server,
        };
        running.goes_on("at its start");
        running
    }

    fn printed(&self) -> String {
        let text = |name| fs::read_to_string(self.network.path(name)).unwrap_or_default();
        format!("{}{}", text("out"), text("err"))
    }

    fn rounds(&self) -> u64 {
        let text = fs::read_to_string(self.network.path("progress")).unwrap_or_default();
        text.trim().parse().unwrap_or(0)
    }

    /// Waits until each of its threads has done some more rounds; how long that took.
    fn goes_on(&mut self, what: &str) -> Duration {
        let (from, began) = (self.rounds(), Instant::now());
        let mut ended = None;
        let done = process::wait_until(GOES_ON, || {
            ended = self.child.try_wait().unwrap();
            ended.is_some() || self.rounds() >= from + 4
        });
        let log = self.server.log();
        assert!(
            done && ended.is_none(),
            "{what}: {ended:?}, at round {} of {from} and on: {}{log}",
            self.rounds(),
            self.printed()
        );
        let took = began.elapsed();
        println!("{what}: went on after {took:?}");
        took
    }

    /// Waits until it does no more rounds.
    fn stands(&self, what: &str) {
        let (mut last, mut since) = (self.rounds(), Instant::now());
        let stands = process::wait_until(GOES_ON, || {
            let now = self.rounds();
            if now != last {
                (last, since) = (now, Instant::now());
            }
            since.elapsed() >= Duration::from_secs(1)
        });
        assert!(stands, "{what}: the program goes on");
    }

    /// Waits for its end, and for that of its worker.
    fn ended(&mut self) -> std::process::ExitStatus {
        let status = process::wait(&mut self.child, GOES_ON).unwrap();
        let status = status.unwrap_or_else(|| panic!("it does not end: {}", self.printed()));
        let gone = || self.server.workers().is_empty();
        let log = self.server.log();
        assert!(
            process::wait_until(GOES_ON, gone),
            "the worker stays: {log}"
        );
        status
    }

    /// Has it end; its statistics.
    fn finish(mut self) -> Value {
        fs::write(self.network.path("until"), "").unwrap();
        let status = self.ended();
        let printed = self.printed();
        assert!(
            status.success() && printed.contains("every launch was executed once"),
            "{status}: {printed}"
        );
        serde_json::from_slice(&fs::read(self.network.path("stats")).unwrap()).unwrap()
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn is_long() -> bool {
    std::env::var_os("GTRACE_TEST_LONG").is_some()
}

/// A router that was started again knows no connection of before; an address is gone, and there is another one.
#[test]
fn root_a_program_goes_on_when_routers_forget_it_and_addresses_change() {
    if let Some(why) = missing() {
        println!("SKIPPED: {why}");
        return;
    }
    let network = Network::new();
    let mut running = Running::start(&network, "60s");
    network.forget_connections();
    running.goes_on("connections forgotten");
    network.client_moves();
    running.goes_on("client at another address");
    let mut breaks = 2;
    // The client learns that nobody answers at the old address from silence alone.
    if is_long() {
        network.server_moves();
        running.goes_on("server at another address");
        breaks += 1;
    }
    let stats = running.finish();
    let resumed = stats["resumed"].as_u64().unwrap();
    assert!(
        resumed >= breaks * BUSY && stats["lost"].is_null(),
        "{stats}"
    );
}

/// A cable that is pulled for longer than `--resume` says ends a program by one error; else it goes on.
#[test]
fn root_a_cable_may_be_pulled_for_as_long_as_resume_allows() {
    if let Some(why) = missing() {
        println!("SKIPPED: {why}");
        return;
    }
    // Seconds, `--resume`, and whether the program outlives it.
    let pulls: &[(u64, &str, bool)] = match is_long() {
        true => &[(5, "30s", true), (20, "30s", true), (70, "30s", false)],
        false => &[(2, "30s", true), (70, "1s", false)],
    };
    // Built once.
    programs::c_program(artefacts(), PROGRAM).unwrap();
    thread::scope(|scope| {
        for (seconds, resume, outlives) in pulls {
            scope.spawn(move || pull(Duration::from_secs(*seconds), resume, *outlives));
        }
    });
}

fn pull(time: Duration, resume: &str, outlives: bool) {
    let network = Network::new();
    let mut running = Running::start(&network, resume);
    network.cable("down");
    let pulled = Instant::now();
    running.stands("without a cable");
    if outlives {
        thread::sleep(time.saturating_sub(pulled.elapsed()));
        network.cable("up");
        running.goes_on(&format!("a cable that was pulled for {time:?}"));
        let stats = running.finish();
        assert!(stats["lost"].is_null(), "{stats}");
        return;
    }
    let status = running.ended();
    let (took, printed) = (pulled.elapsed(), running.printed());
    println!("pulled for good, with --resume {resume}: ended after {took:?}: {printed}");
    assert!(took < time, "it took {took:?}");
    assert_eq!(status.code(), Some(1), "{printed}");
    // The calls of both threads fail alike, and the cause is said once.
    assert!(
        printed.contains("CUDA_ERROR_DEVICE_UNAVAILABLE"),
        "{printed}"
    );
    let causes = printed.matches("is lost: ").count();
    assert!(causes == 1 && printed.contains("no other one"), "{printed}");
}
