//! What a lane by RDMA takes beside perftest's programs on the same device. Only ratios mean something:
//! machine and device are emulated, and what else the host does shows in every figure.

use std::io::Read as _;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail, ensure};
use gtrace_vm_tests::layout::{GTRACE, RDMA};
use serde_json::Value;

use super::rdma::{ADDRESS, DEVICE, Server, TRUSTING, device_up};
use crate::guest::Guest;
use crate::guest::process::Killed;

cases! {
    Rdma "rdma_bench" => beside_perftest, patience(300);
    RdmaCounted "rdma_counted" => counted, patience(300);
}

/// Index of the card's address among the GIDs of the device.
const GID_INDEX: &str = "1";
/// Bytes of a header, which an echo is.
const MESSAGE: &str = "64";
/// Longest run of one of perftest's programs.
const LONGEST: Duration = Duration::from_secs(40);
/// The same where instructions are counted and nothing else is done.
const LONGEST_COUNTED: Duration = Duration::from_secs(3);
/// Between two checks whether it has ended.
const POLL: Duration = Duration::from_millis(20);
/// Due at this rate, each call is made as soon as the one before is done, as perftest does.
const AT_ONCE: &str = "1e5";
/// What no device and no memory reaches, emulated or not.
const ABSURD_NS: f64 = 200.0;
const ABSURD_BYTES_PER_S: f64 = 1e12;

/// Budgets of a lane: half an exchange as a multiple of `ib_send_lat`, at most, and its streams as a share of
/// `ib_write_bw`, at least.
const MOST_LATENCY: f64 = 1.3;
const LEAST_BANDWIDTH: f64 = 0.85;

/// The best of what was measured.
#[derive(Debug)]
struct Best {
    /// Half of an exchange, ns.
    half_ns: f64,
    /// Bytes a second.
    to_server: f64,
    from_server: f64,
    /// `ib_send_lat`, ns.
    send_ns: f64,
    /// `ib_write_bw` with messages of 64 KiB and 1 MiB, bytes a second.
    write_small: f64,
    write_large: f64,
}

/// Figures are of what was built.
fn warn_of_debug_build(guest: &mut Guest) -> Result<()> {
    match cfg!(debug_assertions) {
        true => guest
            .note("gtrace is not optimised here: figures are of `cargo xtask vm-test --release`"),
        false => Ok(()),
    }
}

fn beside_perftest(guest: &mut Guest) -> Result<()> {
    warn_of_debug_build(guest)?;
    device_up()?;
    let _server = Server::start(guest, &TRUSTING)?;
    let mut best = Best {
        half_ns: f64::INFINITY,
        to_server: 0.0,
        from_server: 0.0,
        send_ns: f64::INFINITY,
        write_small: 0.0,
        write_large: 0.0,
    };
    // In turn, so that what else the host does meets both.
    for _ in 0..if guest.long() { 10 } else { 1 } {
        measure(guest, &mut best)?;
        guest.note("measured once")?;
    }
    let Best {
        half_ns,
        to_server,
        from_server,
        send_ns,
        write_small,
        write_large,
    } = best;
    guest.note(format!(
        "half an echo {:.1} us: {:.2} x ib_send_lat ({:.1} us)",
        half_ns / 1e3,
        half_ns / send_ns,
        send_ns / 1e3,
    ))?;
    for (way, rate) in [("to the server", to_server), ("back", from_server)] {
        guest.note(format!(
            "{way} {:.1} MB/s: {:.2} x ib_write_bw of 64 KiB ({:.1} MB/s), {:.2} x of 1 MiB ({:.1} MB/s)",
            rate / 1e6,
            rate / write_small,
            write_small / 1e6,
            rate / write_large,
            write_large / 1e6,
        ))?;
    }
    Ok(())
}

fn measure(guest: &mut Guest, best: &mut Best) -> Result<()> {
    // Columns: bytes, iterations, least, most, typical. With -e, for events, it overruns its completion queue on
    // SoftRoCE and hangs.
    let us = perftest(
        "ib_send_lat",
        &["-n", "300", "-s", MESSAGE],
        (MESSAGE, 4),
        LONGEST,
    )?;
    best.send_ns = best.send_ns.min(us * 1e3);
    // Columns: bytes, iterations, peak, average in units of 2^20 bytes a second.
    let rate = |size: &str, count: &str| -> Result<f64> {
        let average = perftest(
            "ib_write_bw",
            &["-n", count, "-s", size],
            (size, 3),
            LONGEST,
        )?;
        Ok(average * f64::from(1 << 20))
    };
    best.write_small = best.write_small.max(rate("65536", "200")?);
    best.write_large = best.write_large.max(rate("1048576", "20")?);
    let ns = best.send_ns;
    ensure!(ns > ABSURD_NS, "ib_send_lat says {ns} ns");

    let output = Command::new(GTRACE)
        .args(["bench", "remote", "--remote", ADDRESS, "--link", "rdma"])
        .args(TRUSTING)
        .args(["--short", "--json", "--rate", AT_ONCE])
        .output()?;
    let stderr = String::from_utf8_lossy(&output.stderr);
    ensure!(
        output.status.success(),
        "gtrace bench remote: {}: {stderr} {}",
        output.status,
        Server::log(guest)
    );
    let report: Value = serde_json::from_slice(&output.stdout)?;
    let link = &report["links"][0];
    ensure!(link["link"] == "rdma", "measured {}", link["link"]);
    let raw = &link["raw"];
    let figure = |value: &Value, what: &str| {
        let found = value.as_f64().filter(|found| *found > 0.0);
        found.with_context(|| format!("no figure of {what} in {raw}"))
    };
    let half_ns = figure(&raw["echo_service"]["p50_ns"], "an echo")? / 2.0;
    let to_server = figure(&raw["to_server"], "the stream to the server")?;
    let from_server = figure(&raw["from_server"], "the stream back")?;
    ensure!(half_ns > ABSURD_NS, "half an echo in {half_ns} ns");
    for rate in [to_server, from_server, best.write_small, best.write_large] {
        ensure!(
            (1.0..ABSURD_BYTES_PER_S).contains(&rate),
            "{rate} bytes a second"
        );
    }
    best.half_ns = best.half_ns.min(half_ns);
    best.to_server = best.to_server.max(to_server);
    best.from_server = best.from_server.max(from_server);
    Ok(())
}

/// Two processes with a lane between them, and nothing of a server, beside perftest's that wait as they do, for
/// events: in instructions, so that what the host does shows in none.
fn counted(guest: &mut Guest) -> Result<()> {
    warn_of_debug_build(guest)?;
    device_up()?;
    let perftest = |program, args: &[&str], row| perftest(program, args, row, LONGEST_COUNTED);
    let send = perftest(
        "ib_send_lat",
        &["-e", "-n", "300", "-s", MESSAGE],
        (MESSAGE, 4),
    );
    let write = perftest("ib_write_bw", &["-n", "200", "-s", "65536"], ("65536", 3))?;
    let write = write * f64::from(1 << 20) / 1e6;
    let output = Command::new(format!("{RDMA}/exchange"))
        .args(["short", &format!("rdma={ADDRESS}")])
        .output()?;
    let printed = String::from_utf8_lossy(&output.stdout);
    let stderr = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "exchange: {printed}{stderr}");
    // "rdma 64 B exchange p50 27.10 us ...", "rdma 16 MiB there 0.0531 GB/s ...".
    let figure = |after: &str| -> Result<f64> {
        let lines = printed.lines().filter(|line| line.starts_with("rdma"));
        let words = lines.flat_map(str::split_whitespace);
        let mut words = words.skip_while(|word| *word != after).skip(1);
        let figure = words.next().and_then(|word| word.parse().ok());
        figure.with_context(|| format!("exchange printed nothing after {after:?}:\n{printed}"))
    };
    let half_us = figure("p50")? / 2.0;
    ensure!(
        half_us * 1e3 > ABSURD_NS,
        "half an exchange in {half_us} us"
    );
    let beside = match send {
        Ok(send_us) => format!(
            "{:.2} x ib_send_lat -e ({send_us:.1} us); budget {MOST_LATENCY} at most",
            half_us / send_us
        ),
        // It overruns its completion queue on SoftRoCE of newer kernels, and waits for ever.
        Err(error) => format!("beside it ib_send_lat -e: {error}"),
    };
    guest.note(format!("half an exchange {half_us:.1} us: {beside}"))?;
    for (way, what) in [
        ("there", "16 MiB to the other side"),
        ("lent", "the same from where they lie"),
        ("back", "16 MiB back"),
    ] {
        let rate = figure(way)? * 1e3;
        ensure!(rate > 1.0 && write > 1.0, "{rate} and {write} MB/s");
        guest.note(format!(
            "{what} {rate:.1} MB/s: {:.2} x ib_write_bw of 64 KiB ({write:.1} MB/s); budget {LEAST_BANDWIDTH} at least",
            rate / write
        ))?;
    }
    Ok(())
}

/// One of perftest's programs with itself: what it prints in `column` of the row of that size.
fn perftest(
    program: &str,
    args: &[&str],
    (size, column): (&str, usize),
    longest: Duration,
) -> Result<f64> {
    // Seldom, both sides wait for each other for ever.
    let printed = both(program, args, longest).or_else(|_| both(program, args, longest))?;
    let row = printed
        .lines()
        .map(|line| line.split_whitespace().collect::<Vec<_>>())
        .find(|row| row.first() == Some(&size) && row.len() > column);
    row.and_then(|row| row[column].parse().ok())
        .with_context(|| format!("{program} printed no such row:\n{printed}"))
}

fn both(program: &str, args: &[&str], longest: Duration) -> Result<String> {
    let start = |peer: &[&str]| -> Result<Killed> {
        let child = Command::new(format!("{RDMA}/{program}"))
            .args(["-d", DEVICE, "-x", GID_INDEX, "-F"])
            .args(args)
            .args(peer)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .with_context(|| format!("cannot run {program}"))?;
        Ok(Killed(child))
    };
    let mut server = start(&[])?;
    let until = Instant::now() + longest;
    loop {
        // It does not wait for its server to listen.
        let mut client = start(&[ADDRESS])?;
        let (printed, well) = ended(&mut client, until)?;
        if well {
            ended(&mut server, until)?;
            return Ok(printed);
        }
        if let Some(status) = server.try_wait()? {
            bail!("{program}: {printed}; its server ended with {status}");
        }
    }
}

/// What a program printed, which is little, and whether it ended well.
fn ended(program: &mut Child, until: Instant) -> Result<(String, bool)> {
    let status = loop {
        match program.try_wait()? {
            Some(status) => break status,
            None if Instant::now() >= until => bail!("it has not ended in time"),
            None => std::thread::sleep(POLL),
        }
    };
    let mut printed = String::new();
    if let Some(out) = &mut program.stdout {
        out.read_to_string(&mut printed)?;
    }
    if let Some(err) = &mut program.stderr {
        err.read_to_string(&mut printed)?;
    }
    Ok((printed, status.success()))
}
