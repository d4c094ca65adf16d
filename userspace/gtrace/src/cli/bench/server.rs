//! A server of this command's own, with the CPU emulator for a GPU.

use std::thread::JoinHandle;

use anyhow::Context as _;
use gtrace_server::{Listen, Options, Stopper, Supervisor, WorkerCommand};
use tempfile::TempDir;

use crate::cli::serve;

/// Serves until it is dropped, by a Unix socket and by TCP on loopback.
pub(super) struct OwnServer {
    /// `unix:PATH`.
    pub(super) unix: String,
    /// `127.0.0.1:PORT`.
    pub(super) tcp: String,
    stopper: Stopper,
    thread: Option<JoinHandle<()>>,
    _folder: TempDir,
}

impl OwnServer {
    /// Starts it.
    ///
    /// # Errors
    ///
    /// No folder for its socket, or what the server says.
    pub(super) fn start() -> anyhow::Result<Self> {
        let folder = tempfile::Builder::new()
            .prefix("gtrace-bench-")
            .tempdir()
            .context("no folder for the server's socket")?;
        let socket = folder.path().join("serve.sock");
        let library = serve::softgpu_library()?;
        let options = Options {
            listen: vec![
                Listen::Unix(socket.clone()),
                Listen::Tcp(([127, 0, 0, 1], 0).into()),
            ],
            socket_mode: 0o600,
            libcuda: Some(library.path()),
            libnvml: Some(library.path()),
            image_cache: None,
            ..Options::default()
        };
        let worker = WorkerCommand::this_program(&[serve::WORKER]);
        let supervisor = Supervisor::start(options, worker).context("a server on this machine")?;
        let tcp = supervisor
            .addresses()
            .into_iter()
            .find(|address| !address.starts_with("unix:"))
            .context("the server has no TCP address")?;
        let stopper = supervisor.stopper()?;
        let thread = std::thread::Builder::new()
            .name("gtrace-serve".into())
            .spawn(move || {
                // Workers open it by a path of this process.
                let _library = library;
                if let Err(error) = supervisor.run() {
                    say!("the server of this benchmark: {error}");
                }
            })?;
        Ok(Self {
            unix: format!("unix:{}", socket.display()),
            tcp,
            stopper,
            thread: Some(thread),
            _folder: folder,
        })
    }
}

impl Drop for OwnServer {
    fn drop(&mut self) {
        self.stopper.stop();
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
        {
            say!("the server of this benchmark has ended by a fault");
        }
    }
}
