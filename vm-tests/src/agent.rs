//! Commands that the first of two machines has the second run, by a network of its own.
//!
//! A connection is a command: a script for the shell, closed by NUL. Its output comes back, then NUL and the
//! exit status. When the connection ends before that, all that the command started is killed.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt as _;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail, ensure};
use gtrace_vm_tests::layout::BUSYBOX;
use rustix::process::{Pid, Signal, kill_process_group};

/// Where the second machine listens, and the address of the first.
pub(crate) const ADDRESSES: [&str; 2] = ["10.0.3.16", "10.0.3.15"];
const PORT: u16 = 7000;
/// Until the second machine listens.
const LIMIT: Duration = Duration::from_secs(60);

/// Runs what is asked for, until it is killed.
pub(crate) fn serve() -> Result<()> {
    let listener = TcpListener::bind((ADDRESSES[0], PORT)).context("no place to listen")?;
    loop {
        let (stream, _) = listener.accept()?;
        thread::spawn(move || {
            if let Err(error) = run(stream) {
                eprintln!("gtrace-vm-init: a command: {error:#}");
            }
        });
    }
}

fn run(mut stream: TcpStream) -> Result<()> {
    let mut script = Vec::new();
    let mut reader = BufReader::new(stream.try_clone()?);
    reader.read_until(0, &mut script)?;
    ensure!(script.pop() == Some(0), "it was not said to its end");
    let output: OwnedFd = stream.try_clone()?.into();
    let mut child = Command::new(BUSYBOX)
        .args(["sh", "-c", &String::from_utf8_lossy(&script)])
        .env("PATH", "/bin:/usr/bin")
        .process_group(0)
        .stdin(Stdio::null())
        .stdout(output.try_clone()?)
        .stderr(output)
        .spawn()?;
    let group = Pid::from_child(&child);
    let watch = thread::spawn(move || {
        // Nothing more is said: this is the end of the connection.
        let _ = reader.read(&mut [0]);
        // Gone by itself, perhaps.
        let _ = kill_process_group(group, Signal::KILL);
    });
    let status = child.wait()?;
    let _ = stream.write_all(format!("\0{}\n", status.code().unwrap_or(-1)).as_bytes());
    stream.shutdown(std::net::Shutdown::Both).ok();
    watch.join().ok();
    Ok(())
}

/// A command that the second machine runs; killed when dropped.
pub(crate) struct Remote(TcpStream);

impl Remote {
    /// Has the shell run `script`.
    pub(crate) fn start(script: &str) -> Result<Self> {
        let deadline = Instant::now() + LIMIT;
        let mut stream = loop {
            match TcpStream::connect((ADDRESSES[0], PORT)) {
                Ok(stream) => break stream,
                Err(error) if Instant::now() > deadline => {
                    return Err(error).context("the second machine takes no commands");
                }
                Err(_) => thread::sleep(Duration::from_millis(100)),
            }
        };
        stream.write_all(format!("{script}\0").as_bytes())?;
        Ok(Self(stream))
    }

    /// What it prints, once it has ended well.
    pub(crate) fn output(mut self) -> Result<String> {
        let mut all = Vec::new();
        self.0.read_to_end(&mut all)?;
        let text = String::from_utf8_lossy(&all);
        match text.split_once('\0') {
            Some((output, "0\n")) => Ok(output.to_owned()),
            Some((output, status)) => bail!("it ended with {}: {output}", status.trim()),
            None => bail!("it was not ended: {text}"),
        }
    }
}

/// The same, to its end.
pub(crate) fn remote(script: &str) -> Result<String> {
    let output = Remote::start(script).and_then(Remote::output);
    output.with_context(|| format!("in the second machine: {script}"))
}
