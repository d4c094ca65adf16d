//! The distribution's nats-server, one or a cluster on loopback.

use std::net::TcpListener;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use gtrace_head::Nats;
use gtrace_nats::Access;

/// Servers of their own, in a directory of their own, that do not outlive the test.
pub struct Servers {
    program: PathBuf,
    dir: tempfile::TempDir,
    /// For clients, and among the servers.
    ports: Vec<(u16, u16)>,
    children: Vec<Option<Child>>,
    more: String,
}

impl Servers {
    /// `None`, with the reason on standard output, where it is not installed. `more` is added to the configuration of each.
    pub fn start(count: usize, more: &str) -> Option<Self> {
        // target/debug/deps/nats-...
        let test = std::env::current_exe().unwrap();
        let target = test.ancestors().nth(3).unwrap();
        let unpacked = target.join("e2e-nats-server/usr/sbin/nats-server");
        let places = [unpacked, "/usr/sbin/nats-server".into()];
        let Some(program) = places.into_iter().find(|path| path.is_file()) else {
            println!("SKIPPED: no nats-server: cargo xtask test fetches the package of Debian");
            return None;
        };
        // Between our choice of a port and the server's use of it another process may take it.
        for _ in 0..10 {
            let mut servers = Self {
                program: program.clone(),
                dir: tempfile::tempdir().unwrap(),
                ports: free_ports(count),
                children: (0..count).map(|_| None).collect(),
                more: more.to_owned(),
            };
            if (0..count).all(|n| servers.try_run(n)) {
                return Some(servers);
            }
        }
        panic!("other processes take every port that nats-server is to have");
    }

    /// Starts one again, where it was before.
    pub fn run(&mut self, n: usize) {
        let until = Instant::now() + Duration::from_secs(30);
        while !self.try_run(n) {
            // Others look for it there.
            assert!(Instant::now() < until, "a port of nats-server stays taken");
            std::thread::sleep(Duration::from_millis(100));
        }
    }

    /// Starts one and waits until it says that it is ready; `false` where a port of it is taken.
    fn try_run(&mut self, n: usize) -> bool {
        let dir = self.dir.path().join(format!("n{n}"));
        std::fs::create_dir_all(&dir).unwrap();
        let (port, of_cluster) = self.ports[n];
        let mut config = format!(
            "server_name: n{n}\nlisten: \"127.0.0.1:{port}\"\n\
             jetstream {{ store_dir: \"{}\", max_mem: 64MB, max_file: 1GB }}\n{}\n",
            dir.display(),
            self.more,
        );
        if self.ports.len() > 1 {
            let route = |(_, port): &(u16, u16)| format!("nats-route://127.0.0.1:{port}");
            let routes: Vec<String> = self.ports.iter().map(route).collect();
            config.push_str(&format!(
                "cluster {{ name: fleet, listen: \"127.0.0.1:{of_cluster}\", routes: [{}] }}\n",
                routes.join(", ")
            ));
        }
        let file = dir.join("server.conf");
        std::fs::write(&file, config).unwrap();
        // One for each start.
        let path = dir.join("log");
        let log = std::fs::File::create(&path).unwrap();
        let child = Command::new(&self.program)
            .arg("-c")
            .arg(&file)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()
            .unwrap();
        let child = self.children[n].insert(child);
        let until = Instant::now() + Duration::from_secs(30);
        let mut lines = vec!["Server is ready"];
        if self.ports.len() > 1 {
            lines.push("Listening for route connections");
        }
        loop {
            let ended = child.try_wait().unwrap().is_some();
            let log = std::fs::read_to_string(&path).unwrap_or_default();
            if ended && log.contains("address already in use") {
                return false;
            }
            assert!(
                !ended && Instant::now() < until,
                "nats-server does not start: {log}"
            );
            if lines.iter().all(|line| log.contains(line)) {
                return true;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// As `kill -9`.
    pub fn kill(&mut self, n: usize) {
        if let Some(mut child) = self.children[n].take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }

    pub fn url(&self) -> String {
        let all: Vec<String> = self
            .ports
            .iter()
            .map(|(port, _)| format!("127.0.0.1:{port}"))
            .collect();
        format!("nats://{}", all.join(","))
    }

    /// With a file of credentials, if there is one.
    pub fn access(&self, credentials: Option<PathBuf>) -> Access {
        Access {
            url: self.url().parse().unwrap(),
            credentials,
            ca: None,
            identity: None,
        }
    }

    /// What a head is started with.
    pub fn head(&self, credentials: Option<PathBuf>) -> Nats {
        Nats {
            access: self.access(credentials),
            replicas: self.ports.len(),
            ack_wait: Duration::from_secs(2),
        }
    }
}

/// Ports for each server, all chosen at once, so that they differ. The kernel gives them to no connection while a server is started again.
fn free_ports(count: usize) -> Vec<(u16, u16)> {
    let range = std::fs::read_to_string("/proc/sys/net/ipv4/ip_local_port_range").unwrap();
    let first: u16 = range.split_whitespace().next().unwrap().parse().unwrap();
    let below = (first / 2).max(1025)..first.max(20_000);
    let bind = |_| {
        let ports = std::iter::repeat_with(|| fastrand::u16(below.clone()));
        let bound = ports.map(|port| TcpListener::bind(("127.0.0.1", port)));
        bound.take(1000).flatten().next().unwrap()
    };
    let listeners: Vec<TcpListener> = (0..2 * count).map(bind).collect();
    let port = |one: &TcpListener| one.local_addr().unwrap().port();
    listeners
        .chunks(2)
        .map(|pair| (port(&pair[0]), port(&pair[1])))
        .collect()
}

impl Drop for Servers {
    fn drop(&mut self) {
        (0..self.children.len()).for_each(|n| self.kill(n));
    }
}
