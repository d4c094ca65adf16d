//! Clients and servers that are killed: whoever is left goes on.

use std::io::{BufRead as _, BufReader, Read as _};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail, ensure};

use super::Done;
use crate::case::Case;
use crate::gpu_check::place::Place;
use crate::process;
use crate::server::{Server, Via};

/// Device memory that the killed client holds.
const HELD: usize = 256 << 20;
/// How long whatever was left by a killed process may stay. A driver takes a while to end a context.
const GONE: Duration = Duration::from_secs(30);
/// Within which a client must learn that its server is gone.
const DEADLINE: Duration = Duration::from_secs(10);

/// A client of `server` that has said that it is ready.
struct Client {
    child: Child,
    output: BufReader<ChildStdout>,
}

impl Client {
    fn start(place: &Place, server: &Server, via: Via, arguments: &[&str]) -> Result<Self> {
        let mut command = server.exec(via);
        place.ground.clean(&mut command);
        let mut child = command
            .arg("--")
            .arg(&place.parts.client)
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            // That the server is gone is said there too.
            .stderr(Stdio::null())
            .spawn()?;
        let output = child.stdout.take().context("no output of the client")?;
        let mut client = Self {
            child,
            output: BufReader::new(output),
        };
        let line = client.line()?;
        ensure!(line == "ready", "the client said {line:?}");
        Ok(client)
    }

    fn line(&mut self) -> Result<String> {
        let mut line = String::new();
        self.output.read_line(&mut line)?;
        Ok(line.trim_end().to_owned())
    }

    fn kill(&mut self) -> Result<()> {
        self.child.kill()?;
        self.child.wait()?;
        Ok(())
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn server_of(place: &Place) -> Result<Server> {
    Server::start_with(&place.ground.gtrace, &place.ground.gpu, &[], &[])
}

/// Free bytes of the device, as a program sees them that runs directly.
fn free(place: &Place) -> Result<u64> {
    let mut command: Command = place.direct(&place.parts.client);
    let outcome = process::run(command.arg("free"), place.ground.limit)?;
    let first = outcome.stdout.split(' ').next().unwrap_or_default();
    first
        .parse()
        .with_context(|| format!("free memory: {}{}", outcome.stdout, outcome.stderr))
}

/// Seconds until the workers of `server` are gone.
fn until_gone(server: &Server) -> Result<f64> {
    let start = Instant::now();
    ensure!(
        process::wait_until(GONE, || server.workers().is_empty()),
        "a worker is still there {GONE:?} after its client was killed:\n{}",
        server.log()
    );
    Ok(start.elapsed().as_secs_f64())
}

fn others_work(place: &Place, server: &Server) -> Result<()> {
    let case = Case::new(place.parts.programs.join("vector_add"));
    for via in Via::ALL {
        case.remote(&place.ground, server, via, &[])
            .context("after the kill")?;
    }
    Ok(())
}

/// A client with memory is killed: its worker ends, the memory is free, and others work.
pub(super) fn client(place: &Place) -> Result<Done> {
    let server = server_of(place)?;
    let before = free(place)?;
    let mut client = Client::start(place, &server, Via::Unix, &["hold", &HELD.to_string()])?;
    // Each process has a CPU emulator of its own, so that there is nothing to see from another.
    let real = place.ground.real;
    if real {
        let held = before.saturating_sub(free(place)?);
        ensure!(
            held >= HELD as u64,
            "{held} bytes are held, not {HELD}: is another program at work on the device?"
        );
    }
    client.kill()?;
    let gone = until_gone(&server)?;
    let mut back = 0;
    let returned = !real
        || process::wait_until(GONE, || {
            back = free(place).unwrap_or(0);
            back + (16 << 20) >= before
        });
    ensure!(
        returned,
        "{back} bytes are free after the kill, {before} were before"
    );
    others_work(place, &server)?;
    Ok(Done::passed(format!(
        "its worker was gone after {gone:.2} s{}, and others work",
        if real { " and its memory free" } else { "" }
    )))
}

/// A client whose kernel never ends is killed.
pub(super) fn hanging_client(place: &Place) -> Result<Done> {
    let server = server_of(place)?;
    let mut client = Client::start(place, &server, Via::Unix, &["hang"])?;
    client.kill()?;
    let gone = until_gone(&server)?;
    others_work(place, &server)?;
    Ok(Done::passed(format!(
        "its worker was gone after {gone:.2} s, and others work"
    )))
}

/// The server is killed: its clients get an error, and its workers end.
pub(super) fn server(place: &Place) -> Result<Done> {
    let mut notes = Vec::new();
    for via in Via::ALL {
        let mut server = server_of(place)?;
        let mut client = Client::start(place, &server, via, &["poll"])?;
        let workers = server.workers();
        let start = Instant::now();
        server.kill()?;
        let Some(status) = process::wait(&mut client.child, DEADLINE)? else {
            bail!(
                "a client over {} does not see that its server is gone",
                via.name()
            );
        };
        let reported = start.elapsed();
        let mut printed = String::new();
        client.output.read_to_string(&mut printed)?;
        ensure!(
            status.success() && printed.starts_with("error 46 "),
            "over {}: {status}, {printed:?} instead of error 46",
            via.name()
        );
        ensure!(
            process::wait_until(GONE, || workers
                .iter()
                .all(|pid| !process::is_running(*pid))),
            "a worker has outlived its server"
        );
        notes.push(format!("{} {:.2} s", via.name(), reported.as_secs_f64()));
    }
    Ok(Done::passed(format!(
        "clients get CUDA_ERROR_DEVICE_UNAVAILABLE after {}; no worker is left",
        notes.join(", ")
    )))
}
