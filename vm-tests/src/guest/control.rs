//! The serial port to the host.

use std::fs::File;
use std::io::{BufRead as _, BufReader, Write as _};

use anyhow::{Context as _, Result};
use gtrace_vm_tests::protocol::{FromGuest, ToGuest};
use rustix::termios::{OptionalActions, tcdrain, tcgetattr, tcsetattr};

/// The machine's second serial port; the first is the console.
const PORT: &str = "/dev/ttyS1";

/// Lines to and from the host. PID 1 has one, and so has the process of each case; they take
/// turns, as PID 1 waits while a case runs.
pub(crate) struct Control {
    port: File,
    lines: BufReader<File>,
}

impl Control {
    /// Opens the port and makes it carry bytes as they are.
    pub(crate) fn open() -> Result<Self> {
        let port = File::options()
            .read(true)
            .write(true)
            .open(PORT)
            .with_context(|| format!("cannot open {PORT}: QEMU has no second serial port"))?;
        let mut settings = tcgetattr(&port)?;
        settings.make_raw();
        tcsetattr(&port, OptionalActions::Now, &settings)
            .with_context(|| format!("cannot set up {PORT}"))?;
        let lines = BufReader::new(port.try_clone()?);
        Ok(Self { port, lines })
    }

    /// Says something that wants no answer.
    pub(crate) fn say(&mut self, message: &FromGuest) -> Result<()> {
        self.port
            .write_all(format!("{message}\n").as_bytes())
            .with_context(|| format!("cannot write to {PORT}"))
    }

    /// Says something and waits for the answer, for as long as the host lets this machine live.
    pub(crate) fn ask(&mut self, message: &FromGuest) -> Result<ToGuest> {
        self.say(message)?;
        let mut line = String::new();
        let read = self.lines.read_line(&mut line);
        read.with_context(|| format!("cannot read from {PORT}"))?;
        Ok(line.trim_end_matches('\n').parse()?)
    }

    /// Waits until the port has sent everything.
    pub(crate) fn drain(&self) -> Result<()> {
        tcdrain(&self.port).with_context(|| format!("{PORT} does not send"))
    }
}
