//! A program that waits before it begins, until the probes that see its calls into the kernel's driver are there.

use std::io::{Read as _, Write as _};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::process::Child;
use std::time::Duration;

/// Between checks whether the process has come.
const POLL_INTERVAL: Duration = Duration::from_millis(1);

/// Where processes wait.
pub struct Held {
    path: PathBuf,
    listener: UnixListener,
}

impl Held {
    /// A place in `folder`.
    ///
    /// # Errors
    ///
    /// Those of the socket.
    pub fn new(folder: &Path) -> std::io::Result<Self> {
        let path = folder.join("held");
        let listener = UnixListener::bind(&path)?;
        listener.set_nonblocking(true)?;
        Ok(Self { path, listener })
    }

    /// Where [`Self::wait`] is called.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Waits at `path` until [`Self::release`].
    pub fn wait(path: &Path) {
        // Who does not answer is gone, and the program runs as it is.
        if let Ok(mut stream) = UnixStream::connect(path) {
            let _ = stream.read(&mut [0]);
        }
    }

    /// Lets the process go on.
    pub fn release(self, child: &mut Child) {
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

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn a_process_waits_until_it_is_released() {
        let folder = tempfile::tempdir().unwrap();
        let held = Held::new(folder.path()).unwrap();
        let path = held.path().to_owned();
        let waiting = std::thread::spawn(move || Held::wait(&path));
        // Stands for the process that waits: its end alone would end the wait as well.
        let mut child = Command::new("sleep").arg("60").spawn().unwrap();
        held.release(&mut child);
        waiting.join().unwrap();
        assert!(matches!(child.try_wait(), Ok(None)));
        child.kill().unwrap();
        child.wait().unwrap();
    }

    #[test]
    fn who_has_ended_is_not_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let held = Held::new(folder.path()).unwrap();
        let mut child = Command::new("true").spawn().unwrap();
        held.release(&mut child);
        // Nor does a program wait for a tracer that is gone.
        Held::wait(&folder.path().join("nobody"));
    }
}
