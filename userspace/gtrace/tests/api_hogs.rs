//! Many clients of another user that hold connections and read nothing: the others are served, and the
//! daemon's memory stays small. A file of its own, as the memory is that of the process.
#![allow(clippy::unwrap_used, reason = "only tests use it")]

mod support;

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use gtrace_api::Health;
use gtrace_event::{Event, Kind, Record, Severity};
use gtrace_http::Limits;
use support::{Daemon, event};

const ADDRESS_ENV: &str = "GTRACE_TEST_HOG_ADDRESS";
const WANTS_ENV: &str = "GTRACE_TEST_HOG_WANTS";
const HOGS: usize = 256;
const MOST_MEMORY: u64 = 48 << 20;

/// What they send: nothing, half a request, one whole request on a connection that is kept.
const IDLE: &str = "idle";
/// Requests for much.
const READ_NOTHING: &str = "read nothing";

fn request(target: &str) -> String {
    format!("GET {target} HTTP/1.1\r\nHost: localhost\r\n\r\n")
}

/// In a child process, perhaps as another user: the clients. Ends with its standard input.
#[test]
fn child_hogs() {
    let Ok(address) = std::env::var(ADDRESS_ENV) else {
        return;
    };
    let requests = match std::env::var(WANTS_ENV).unwrap().as_str() {
        IDLE => [
            String::new(),
            "GET /metrics HTTP/1.1\r\nHo".to_owned(),
            request("/healthz"),
            String::new(),
        ],
        _ => [
            request("/api/v1/events?limit=10000"),
            request("/api/v1/events/stream?since=2026-01-01T00:00:00Z&limit=10000"),
            request("/api/v1/events/stream?after=0"),
            request("/metrics").repeat(400),
        ],
    };
    let open = || -> Vec<TcpStream> {
        let connected = (0..HOGS).filter_map(|n| {
            let mut stream = TcpStream::connect(&address).ok()?;
            // Who is refused may find the connection closed.
            let _ = stream.write_all(requests[n % requests.len()].as_bytes());
            Some(stream)
        });
        connected.collect()
    };
    let first = open();
    println!("hogs are there");
    std::io::stdout().flush().unwrap();
    let ended = std::thread::spawn(|| std::io::stdin().read_line(&mut String::new()));
    let mut held = first;
    while is_long() && !ended.is_finished() {
        // Those that were cut off come again.
        std::thread::sleep(Duration::from_secs(20));
        held = open();
    }
    let _ = ended.join();
    drop(held);
}

/// Five minutes, and the daemon's own limits.
fn is_long() -> bool {
    std::env::var_os("GTRACE_TEST_LONG").is_some()
}

struct Hogs(Child);

impl Hogs {
    /// Starts them, as nobody where this process may do so; whether it may.
    fn start(daemon: &Daemon, wants: &str) -> (Self, bool) {
        let other = rustix::process::geteuid().is_root();
        let exe = daemon.dir.path().join("hogs");
        let folder = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(daemon.dir.path(), folder).unwrap();
        std::fs::copy(std::env::current_exe().unwrap(), &exe).unwrap();
        let mut command = match other {
            true => {
                let mut command = Command::new("setpriv");
                command.args(["--reuid=65534", "--regid=65534", "--clear-groups"]);
                command.arg(&exe);
                command
            }
            false => Command::new(&exe),
        };
        let mut child = command
            .args(["--exact", "child_hogs", "--nocapture"])
            .env(ADDRESS_ENV, daemon.tcp.to_string())
            .env(WANTS_ENV, wants)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let ready = lines.any(|line| line.is_ok_and(|line| line.ends_with("hogs are there")));
        assert!(ready, "the child did not start");
        (Self(child), other)
    }
}

impl Drop for Hogs {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// What another reader sees: over TCP where the hogs are another user's, else over the Unix socket.
fn another_reader(daemon: &Daemon, other_user: bool) {
    let client = match other_user {
        true => daemon.tcp_client(),
        false => daemon.client(),
    };
    assert!(client.get::<Health>("/healthz").unwrap().ok);
    assert!(client.get_text("/metrics").unwrap().ends_with("# EOF\n"));
    let events: Vec<Event> = client.get("/api/v1/events?limit=100").unwrap();
    assert_eq!(events.len(), 100);
}

fn publish(daemon: &Daemon, count: usize) {
    let text = "NVRM: Xid (PCI:0000:3b:00): 31, pid=42 ".repeat(20);
    let records: Vec<_> = (0..count)
        .map(|_| {
            let event = event(Kind::Xid, Severity::Warning, "2026-03-03T04:00:00Z", &text);
            (Record::Event(Box::new(event.clone())), event)
        })
        .collect();
    daemon.core().publish(&records);
}

fn rss_anon() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|l| l.starts_with("RssAnon:")).unwrap();
    let kib: u64 = line
        .split_ascii_whitespace()
        .nth(1)
        .unwrap()
        .parse()
        .unwrap();
    kib * 1024
}

#[test]
fn idle_connections_of_another_user_keep_nobody_out() {
    let daemon = Daemon::start();
    publish(&daemon, 100);
    let (_hogs, other_user) = Hogs::start(&daemon, IDLE);
    another_reader(&daemon, other_user);
    let refused = r#"gtrace_http_refused_total{listener="tcp",reason="connections"}"#;
    while daemon.metric(refused).is_none_or(|count| count < 128.0) {}
}

#[test]
fn clients_that_read_nothing_cost_little_memory_and_keep_nobody_out() {
    let long = is_long();
    let limits = match long {
        true => Limits::default(),
        false => Limits {
            stall: Duration::from_millis(500),
            ..Limits::default()
        },
    };
    let daemon = Daemon::start_with(tempfile::tempdir().unwrap(), limits);
    for _ in 0..if long { 100 } else { 6 } {
        publish(&daemon, 100);
    }
    let (_hogs, other_user) = Hogs::start(&daemon, READ_NOTHING);
    let began = Instant::now();
    let slow = r#"gtrace_http_refused_total{listener="tcp",reason="slow_reader"}"#;
    loop {
        another_reader(&daemon, other_user);
        let memory = rss_anon();
        assert!(memory < MOST_MEMORY, "{} MiB", memory >> 20);
        let enough = match long {
            true => began.elapsed() > Duration::from_secs(300),
            false => daemon.metric(slow).is_some_and(|count| count >= 20.0),
        };
        if enough {
            break;
        }
    }
}
