//! `gtrace serve` as a process of a test.

use std::ffi::OsString;
use std::fs::File;
use std::net::TcpListener;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use tempfile::TempDir;

use crate::process;

/// A link that a client may be ordered to use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Via {
    /// TCP over loopback.
    Tcp,
    /// A Unix socket.
    Unix,
    /// Shared memory.
    Shm,
}

impl Via {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Tcp, Self::Unix, Self::Shm];

    /// As `gtrace exec --link` knows it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Tcp => "tcp",
            Self::Unix => "unix",
            Self::Shm => "shm",
        }
    }
}

/// What a server gives its clients.
#[derive(Clone, Debug, Default)]
pub struct Gpu {
    /// The driver's library and NVML's; without them the CPU emulator that gtrace carries.
    pub libraries: Option<(PathBuf, PathBuf)>,
    /// Where the dynamic loader finds what these libraries and gtrace want, if not by itself.
    pub search: Option<OsString>,
}

/// A server; ended when dropped.
#[derive(Debug)]
pub struct Server {
    child: Child,
    folder: TempDir,
    port: u16,
    start: Start,
}

/// How one is started.
#[derive(Debug)]
struct Start {
    gtrace: PathBuf,
    gpu: Gpu,
    environment: Vec<(String, String)>,
    arguments: Vec<String>,
}

impl Start {
    fn spawn(&self, folder: &Path, port: u16) -> Result<Child> {
        let log = File::options()
            .create(true)
            .append(true)
            .open(folder.join("log"))?;
        let mut command = Command::new(&self.gtrace);
        command.arg("serve").env_remove("LD_LIBRARY_PATH");
        match &self.gpu.libraries {
            Some((libcuda, libnvml)) => {
                command.arg("--libcuda").arg(libcuda);
                command.arg("--libnvml").arg(libnvml);
            }
            None => drop(command.arg("--softgpu")),
        }
        if let Some(search) = &self.gpu.search {
            command.env("LD_LIBRARY_PATH", search);
        }
        command
            .args(["--listen", &format!("127.0.0.1:{port}")])
            .arg("--listen")
            .arg(format!("unix:{}", folder.join("serve.sock").display()))
            .arg("--status-socket")
            .arg(folder.join("status.sock"))
            .arg("--image-cache")
            .arg(folder.join("images"))
            .args(&self.arguments)
            .env_remove("CUDA_VISIBLE_DEVICES")
            .env_remove("CUDA_LAUNCH_BLOCKING")
            .envs(self.environment.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()
            .with_context(|| self.gtrace.display().to_string())
    }
}

impl Server {
    /// Starts the binary `gtrace` as one with the CPU emulator on free addresses; `environment` is for it and its
    /// workers.
    ///
    /// # Errors
    ///
    /// It could not be started, or ended; then with its log.
    pub fn start(gtrace: &Path, environment: &[(&str, &str)], arguments: &[&str]) -> Result<Self> {
        Self::start_with(gtrace, &Gpu::default(), environment, arguments)
    }

    /// As [`Self::start`], with any GPU.
    pub fn start_with(
        gtrace: &Path,
        gpu: &Gpu,
        environment: &[(&str, &str)],
        arguments: &[&str],
    ) -> Result<Self> {
        let folder = tempfile::Builder::new().prefix("gtrace-e2e").tempdir()?;
        let start = Start {
            gtrace: gtrace.to_owned(),
            gpu: gpu.clone(),
            environment: environment
                .iter()
                .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
                .collect(),
            arguments: arguments.iter().map(|a| (*a).to_owned()).collect(),
        };
        let port = free_port()?;
        let mut server = Self {
            child: start.spawn(folder.path(), port)?,
            folder,
            port,
            start,
        };
        server.wait_until_ready()?;
        Ok(server)
    }

    /// Kills it and starts another one in its place.
    pub fn start_again(&mut self) -> Result<()> {
        self.kill()?;
        self.child = self.start.spawn(self.folder.path(), self.port)?;
        self.wait_until_ready()
    }

    /// Its statistics, as `gtrace status --remote --json` has them.
    pub fn status(&self) -> Result<serde_json::Value> {
        let stream = UnixStream::connect(self.folder.path().join("status.sock"))?;
        Ok(serde_json::from_reader(stream)?)
    }

    fn wait_until_ready(&mut self) -> Result<()> {
        let socket = self.folder.path().join("serve.sock");
        let mut ended = None;
        let ready = process::wait_until(Duration::from_secs(20), || {
            ended = self.child.try_wait().ok().flatten();
            ended.is_some() || UnixStream::connect(&socket).is_ok()
        });
        match ended {
            Some(status) => bail!("gtrace serve ended with {status}:\n{}", self.log()),
            None if ready => Ok(()),
            None => bail!("gtrace serve does not listen after 20 s:\n{}", self.log()),
        }
    }

    /// The supervisor's process.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// What it has logged.
    pub fn log(&self) -> String {
        std::fs::read_to_string(self.folder.path().join("log")).unwrap_or_default()
    }

    /// The address of a link. Shared memory is offered over either; here the Unix socket is used.
    pub fn address(&self, via: Via) -> String {
        match via {
            Via::Tcp => format!("127.0.0.1:{}", self.port),
            Via::Unix | Via::Shm => {
                format!("unix:{}", self.folder.path().join("serve.sock").display())
            }
        }
    }

    /// `gtrace exec` over this link, to which `--`, a program and its arguments are to be added.
    pub fn exec(&self, via: Via) -> Command {
        let mut command = Command::new(&self.start.gtrace);
        command.args(["exec", "--remote", &self.address(via), "--link", via.name()]);
        match &self.start.gpu.search {
            Some(search) => command.env("LD_LIBRARY_PATH", search),
            None => command.env_remove("LD_LIBRARY_PATH"),
        };
        command
    }

    /// Worker processes, one a client.
    pub fn workers(&self) -> Vec<u32> {
        process::children(self.pid())
    }

    /// Ends the supervisor at once, as a crash would.
    pub fn kill(&mut self) -> Result<()> {
        self.child.kill()?;
        self.child.wait()?;
        Ok(())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        if std::thread::panicking() {
            eprintln!("log of gtrace serve:\n{}", self.log());
        }
    }
}

/// A port that was free a moment ago.
fn free_port() -> Result<u16> {
    Ok(TcpListener::bind("127.0.0.1:0")?.local_addr()?.port())
}
