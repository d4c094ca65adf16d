//! PostgreSQL as a distribution has it. The benchmarks use it too.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use gtrace_head::db::Place;
use rustix::process::{Pid, Signal, geteuid, kill_process};

/// Where `cargo xtask test` unpacks it, in the target directory.
const UNPACKED: &str = "e2e-postgresql";

/// A server of its own, in a directory of its own, that does not outlive the test.
pub struct Postgres {
    programs: Programs,
    child: Option<Child>,
    dir: tempfile::TempDir,
}

impl Postgres {
    /// `None`, with the reason on standard output, where there is none.
    pub fn start() -> Option<Self> {
        let Some(programs) = Programs::find() else {
            println!("SKIPPED: no PostgreSQL: cargo xtask test fetches packages of Debian");
            return None;
        };
        let version = programs
            .command("postgres")
            .arg("--version")
            .stdout(Stdio::null())
            .status();
        if !version.is_ok_and(|status| status.success()) {
            println!(
                "SKIPPED: PostgreSQL does not run: it lacks a library, or root may not have a namespace of users"
            );
            return None;
        }
        let dir = tempfile::Builder::new()
            .prefix("gtrace-pg")
            .tempdir_in("/tmp")
            .unwrap();
        let made = programs
            .command("initdb")
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
            programs,
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
                let child = self
                    .programs
                    .command("postgres")
                    .arg("-D")
                    .arg(self.dir.path().join("data"))
                    .args(["-c", "listen_addresses=", "-c", "fsync=off"])
                    // Its compiler, which is fetched for nobody.
                    .args(["-c", "jit=off", "-k"])
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

/// The server and what makes its database.
struct Programs {
    folder: PathBuf,
    /// What they need of libraries, where they are not installed.
    libraries: Option<PathBuf>,
}

impl Programs {
    /// Those that were unpacked, or else installed.
    fn find() -> Option<Self> {
        let test = std::env::current_exe().unwrap();
        let unpacked = test
            .ancestors()
            .map(|above| above.join(UNPACKED).join("usr"));
        let unpacked = unpacked.filter_map(|usr| {
            let libraries = usr.join("lib/x86_64-linux-gnu");
            Some((newest(&usr)?, Some(libraries)))
        });
        let installed = newest(Path::new("/usr")).map(|folder| (folder, None));
        let (folder, libraries) = unpacked.chain(installed).next()?;
        Some(Self { folder, libraries })
    }

    fn command(&self, program: &str) -> Command {
        let program = self.folder.join(program);
        let mut command = match geteuid().is_root() {
            false => Command::new(program),
            // They refuse to run as root; whom they take themselves for, in a namespace of users, does not matter.
            true => {
                let mut command = Command::new("unshare");
                command.args(["--user", "--map-user=1", "--map-group=1"]);
                command.arg(program);
                command
            }
        };
        if let Some(libraries) = &self.libraries {
            command.env("LD_LIBRARY_PATH", libraries);
        }
        command
    }
}

fn newest(usr: &Path) -> Option<PathBuf> {
    let versions = std::fs::read_dir(usr.join("lib/postgresql")).ok()?;
    let folders = versions.flatten().map(|version| version.path().join("bin"));
    folders
        .filter(|folder| folder.join("postgres").exists())
        .max()
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
