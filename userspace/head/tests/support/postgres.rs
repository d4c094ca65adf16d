//! PostgreSQL as the distribution has it. The benchmarks use it too.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use gtrace_head::db::Place;
use rustix::process::{Pid, Signal, geteuid, kill_process};

/// A server of its own, in a directory of its own, that does not outlive the test.
pub struct Postgres {
    bin: PathBuf,
    child: Option<Child>,
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
        if geteuid().is_root()
            && !Command::new("chown")
                .arg("postgres:")
                .arg(dir.path())
                .status()
                .is_ok_and(|s| s.success())
        {
            println!("SKIPPED: PostgreSQL does not run as root, and there is no user postgres");
            return None;
        }
        let made = as_user(&bin, "initdb")
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
            .arg(dir.path().join("data"))
            .stdout(Stdio::null())
            .status();
        assert!(made.unwrap().success(), "initdb");
        let mut server = Self {
            bin,
            child: None,
            dir,
        };
        server.run();
        Some(server)
    }

    /// Starts it, where it was before, and waits until it answers.
    pub fn run(&mut self) {
        let until = Instant::now() + Duration::from_secs(60);
        while tokio_ready(self).is_err() {
            assert!(Instant::now() < until, "PostgreSQL does not start");
            let ended = |child: &mut Child| child.try_wait().unwrap().is_some();
            // Processes of a server that was killed keep its memory for a moment, and a new one does not start meanwhile.
            if self.child.as_mut().is_none_or(ended) {
                let child = as_user(&self.bin, "postgres")
                    .arg("-D")
                    .arg(self.dir.path().join("data"))
                    .args(["-c", "listen_addresses=", "-c", "fsync=off", "-k"])
                    .arg(self.dir.path())
                    .stderr(Stdio::null())
                    .stdout(Stdio::null())
                    .spawn();
                self.child = Some(child.unwrap());
            }
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// As `kill -9`.
    pub fn kill(&mut self) {
        if let Some(mut child) = self.child.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }

    pub fn place(&self) -> Place {
        let dir = self.dir.path().display();
        Place::Postgres(format!("postgresql:///postgres?host={dir}&user=gtrace"))
    }
}

/// It refuses to run as root.
fn as_user(bin: &Path, program: &str) -> Command {
    let program = bin.join(program);
    if !geteuid().is_root() {
        return Command::new(program);
    }
    let mut command = Command::new("setpriv");
    command.args(["--reuid=postgres", "--regid=postgres", "--clear-groups"]);
    command.arg(program);
    command
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
        if let Some(child) = &mut self.child {
            // At once, with its children.
            let _ = kill_process(Pid::from_child(child), Signal::QUIT);
            let _ = child.wait();
        }
    }
}
