//! PostgreSQL as a distribution has it. The benchmarks use it too.

use std::net::TcpListener;
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
    secured: Option<Secured>,
    /// Of TCP, where it is secured, and in the name of the Unix socket.
    port: u16,
}

/// A server that other hosts could reach: over TLS alone.
pub struct Secured {
    pub certificate: PathBuf,
    pub key: PathBuf,
    /// The authority of clients' certificates.
    pub ca: PathBuf,
    /// Lines of `pg_hba.conf` beside that for the Unix socket.
    pub access: &'static str,
}

impl Postgres {
    /// `None`, with the reason on standard output, where there is none.
    pub fn start() -> Option<Self> {
        Self::start_as(None)
    }

    /// The same, reached over TLS too where it is secured.
    pub fn start_as(secured: Option<Secured>) -> Option<Self> {
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
        if let Some(secured) = &secured {
            let lines = format!("local all all trust\n{}", secured.access);
            std::fs::write(dir.path().join("data/pg_hba.conf"), lines).unwrap();
        }
        let mut server = Self {
            programs,
            child: None,
            dir,
            secured,
            port: 5432,
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
                let mut postgres = self.programs.command("postgres");
                postgres
                    .arg("-D")
                    .arg(self.dir.path().join("data"))
                    .args(["-c", "fsync=off"])
                    // Its compiler, which is fetched for nobody.
                    .args(["-c", "jit=off", "-k"])
                    .arg(self.dir.path())
                    .stderr(Stdio::null())
                    .stdout(Stdio::null());
                match &self.secured {
                    None => {
                        postgres.args(["-c", "listen_addresses="]);
                    }
                    Some(secured) => {
                        // Another process may take it before the server does, and the next attempt has another one.
                        let free = TcpListener::bind("127.0.0.1:0").and_then(|it| it.local_addr());
                        self.port = free.unwrap().port();
                        for setting in [
                            "listen_addresses=127.0.0.1".to_owned(),
                            format!("port={}", self.port),
                            "ssl=on".to_owned(),
                            format!("ssl_cert_file={}", secured.certificate.display()),
                            format!("ssl_key_file={}", secured.key.display()),
                            format!("ssl_ca_file={}", secured.ca.display()),
                        ] {
                            postgres.args(["-c", &setting]);
                        }
                    }
                }
                self.child = Some(postgres.spawn().unwrap());
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
        let (dir, port) = (self.dir.path().display(), self.port);
        Place::Postgres(format!(
            "postgresql:///postgres?host={dir}&port={port}&user=gtrace"
        ))
    }

    /// The database by TCP, with `parameters` of the URL.
    pub fn over_tcp(&self, host: &str, database: &str, parameters: &str) -> Place {
        let port = self.port;
        Place::Postgres(format!(
            "postgresql://gtrace@{host}:{port}/{database}?{parameters}"
        ))
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
    let socket = server.dir.path().join(format!(".s.PGSQL.{}", server.port));
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
