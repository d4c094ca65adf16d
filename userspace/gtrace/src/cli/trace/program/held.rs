//! A program that waits before it begins, until the probes that see its calls into the kernel's driver are there.

use std::ffi::OsString;
use std::io::{Read as _, Write as _};
use std::os::unix::net::{UnixListener, UnixStream};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode};
use std::time::Duration;

use crate::cli::exec::not_started;

/// Between checks whether the process has come.
const POLL_INTERVAL: Duration = Duration::from_millis(1);

/// Where processes wait.
pub(super) struct Held {
    path: PathBuf,
    listener: UnixListener,
}

impl Held {
    /// A place in `folder`.
    ///
    /// # Errors
    ///
    /// Those of the socket.
    pub(super) fn new(folder: &Path) -> std::io::Result<Self> {
        let path = folder.join("held");
        let listener = UnixListener::bind(&path)?;
        listener.set_nonblocking(true)?;
        Ok(Self { path, listener })
    }

    /// The command that waits, and then becomes `program`: its process keeps its id.
    pub(super) fn command(&self, program: &[OsString]) -> Command {
        // The link and not the path behind it: that may have been replaced by an upgrade.
        let mut command = Command::new("/proc/self/exe");
        command.args(["trace", "--held"]).arg(&self.path).arg("--");
        command.args(program);
        command
    }

    /// Lets the process go on.
    pub(super) fn release(self, child: &mut Child) {
        // Unless it has ended meanwhile.
        while let Ok(None) = child.try_wait() {
            if let Ok((mut stream, _)) = self.listener.accept() {
                // A process that is gone needs no leave.
                let _ = stream.write_all(&[1]);
                return;
            }
            std::thread::sleep(POLL_INTERVAL);
        }
    }
}

/// Waits at `path`, then becomes the program.
pub(super) fn wait(path: &Path, program: &[OsString]) -> ExitCode {
    // Who does not answer is gone, and the program runs as it is.
    if let Ok(mut stream) = UnixStream::connect(path) {
        let _ = stream.read(&mut [0]);
    }
    let Some((name, arguments)) = program.split_first() else {
        return ExitCode::from(crate::cli::USAGE);
    };
    let error = Command::new(name).args(arguments).exec();
    not_started(name, &error)
}
