//! PostgreSQL as the distribution has it. The benchmarks use it too.

use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use gtrace_head::db::Place;

/// A server of its own, in a directory of its own, that does not outlive the test.
pub struct Postgres {
    child: Child,
    dir: tempfile::TempDir,
}

impl Postgres {
    /// `None`, with the reason on standard output, where it is not installed.
    pub fn start() -> Option<Self> {
        let bin = std::fs::read_dir("/usr/lib/postgresql")
            .ok()
            .and_then(|versions| {
                let bins = versions.flatten().map(|version| version.path().join("bin"));
                bins.filter(|bin| bin.join("postgres").exists()).max()
            });
        let Some(bin) = bin else {
            println!("SKIPPED: no PostgreSQL in /usr/lib/postgresql");
            return None;
        };
        let dir = tempfile::Builder::new()
            .prefix("gtrace-pg")
            .tempdir_in("/tmp")
            .unwrap();
        // It refuses to run as root.
        let root = rustix::process::geteuid().is_root();
        let as_user = |program: &str| {
            let program = bin.join(program);
            if !root {
                return Command::new(program);
            }
            let mut command = Command::new("setpriv");
            command.args(["--reuid=postgres", "--regid=postgres", "--clear-groups"]);
            command.arg(program);
            command
        };
        if root
            && !Command::new("chown")
                .arg("postgres:")
                .arg(dir.path())
                .status()
                .is_ok_and(|s| s.success())
        {
            println!("SKIPPED: PostgreSQL does not run as root, and there is no user postgres");
            return None;
        }
        let data = dir.path().join("data");
        let made = as_user("initdb")
            .args([
                "-A",
                "trust",
                "-U",
                "gtrace",
                "-E",
                "UTF8",
                "--no-sync",
                "-D",
            ])
            .arg(&data)
            .stdout(Stdio::null())
            .status();
        assert!(made.unwrap().success(), "initdb");
        let child = as_user("postgres")
            .arg("-D")
            .arg(&data)
            .args(["-c", "listen_addresses=", "-c", "fsync=off", "-k"])
            .arg(dir.path())
            .stderr(Stdio::null())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        let server = Self { child, dir };
        let until = Instant::now() + Duration::from_secs(60);
        while tokio_ready(&server).is_err() {
            assert!(Instant::now() < until, "PostgreSQL does not start");
            std::thread::sleep(Duration::from_millis(50));
        }
        Some(server)
    }

    pub fn place(&self) -> Place {
        let dir = self.dir.path().display();
        Place::Postgres(format!("postgresql:///postgres?host={dir}&user=gtrace"))
    }
}

fn tokio_ready(server: &Postgres) -> Result<(), String> {
    let socket = server.dir.path().join(".s.PGSQL.5432");
    std::os::unix::net::UnixStream::connect(socket).map_err(|e| e.to_string())?;
    // The socket is there before it answers.
    gtrace_head::db::Database::open(&server.place())
        .map(drop)
        .map_err(|e| e.to_string())
}

impl Drop for Postgres {
    fn drop(&mut self) {
        // SIGQUIT: at once, with its children.
        let pid = rustix::process::Pid::from_child(&self.child);
        let _ = rustix::process::kill_process(pid, rustix::process::Signal::QUIT);
        let _ = self.child.wait();
    }
}
