//! What probing a driver call adds to it: bare, with gtrace, with bpftrace doing the same, in turn on
//! one machine. Only the ratio means something: the machine is emulated.

use std::io::{BufRead as _, BufReader, Read as _};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use gtrace_vm_tests::layout::BUSYBOX;
use gtrace_vm_tests::scenario::{SHARE_DIR, bench_rounds};

use super::calls::{rows, source_is};
use crate::guest::nvrm::{GET_INFO, NvDevice};
use crate::guest::stub::Generation;
use crate::guest::{Guest, PATIENCE, within};

cases! {
    Bench "bench_driver_ioctl" => driver_ioctl, patience(600);
}

/// Parts of one measurement; the fastest counts, so that an interruption does not.
const PARTS: u32 = 7;
const CALLS: u32 = 3000;

/// The same decoding and counting as gtrace's: device, control command, status, histogram by
/// process and operation, failures by status.
const SCRIPT: &str = "
kprobe:nvidia_unlocked_ioctl {
    $file = (struct file *)arg0;
    @start[tid] = (nsecs, arg1, arg2, $file->f_inode->i_rdev, *(uint32 *)uptr(arg2 + 8));
}
kretprobe:nvidia_unlocked_ioctl /@start[tid].0/ {
    $start = @start[tid];
    $status = *(uint32 *)uptr($start.2 + 28);
    @ns[pid, $start.1, $start.3, $start.4] = hist(nsecs - $start.0);
    if ($status != 0) { @failed[pid, $start.1, $start.4, $status] = count(); }
    delete(@start[tid]);
}
interval:ms:200 /!@ready/ { printf(\"ready\\n\"); @ready = 1; }
";

/// The two traps with next to nothing in them: what no program that times a call gets below.
const TRAPS: &str = "
kprobe:nvidia_unlocked_ioctl /!pid/ { @ = 1; }
kretprobe:nvidia_unlocked_ioctl /!pid/ { @ = 1; }
interval:ms:200 /!@ready/ { printf(\"ready\\n\"); @ready = 1; }
";

/// Nanoseconds of one call, the fastest of [`PARTS`].
fn measure(device: &NvDevice) -> Result<f64> {
    let mut fastest = f64::INFINITY;
    for _ in 0..PARTS {
        let begin = Instant::now();
        for _ in 0..CALLS {
            device.control(GET_INFO)?;
        }
        fastest = fastest.min(begin.elapsed().as_secs_f64() * 1e9 / f64::from(CALLS));
    }
    Ok(fastest)
}

/// A running bpftrace of the host's, with what it prints.
struct Bpftrace {
    child: Child,
}

impl Bpftrace {
    fn start(script: &str) -> Result<Self> {
        let mut child = Command::new(BUSYBOX)
            .args([
                "chroot",
                SHARE_DIR,
                "/usr/bin/bpftrace",
                "-B",
                "line",
                "-e",
                script,
            ])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .context("no chroot")?;
        let mut lines = BufReader::new(child.stdout.take().context("no output")?);
        let mut line = String::new();
        loop {
            line.clear();
            if lines.read_line(&mut line)? == 0 {
                let mut printed = String::new();
                child
                    .stderr
                    .take()
                    .context("no errors")?
                    .read_to_string(&mut printed)?;
                anyhow::bail!("bpftrace ended with {}: {printed}", child.wait()?);
            }
            if line.trim() == "ready" {
                break;
            }
        }
        child.stdout = Some(lines.into_inner());
        // It attaches one probe after the other, and the interval is not the last.
        std::thread::sleep(Duration::from_secs(1));
        Ok(Self { child })
    }

    /// Ends it at once, and does not wait until the kernel has let go of it.
    fn kill(mut self) -> Result<()> {
        Ok(self.child.kill()?)
    }

    /// Ends it; how many calls its histograms have.
    fn stop(self) -> Result<u64> {
        let pid = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(pid, rustix::process::Signal::INT)?;
        let output = self.child.wait_with_output()?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        Ok(text.lines().filter_map(bucket).sum())
    }
}

/// The count in a line of bpftrace's histogram: `[4K, 8K)    2087 |@@@@   |`.
fn bucket(line: &str) -> Option<u64> {
    let (_, rest) = line.split_once(')').filter(|_| line.starts_with('['))?;
    rest.split('|').next()?.trim().parse().ok()
}

/// Makes the host's files a root that a program can run in.
fn prepare_root() -> Result<()> {
    for name in ["proc", "sys", "dev"] {
        let done = Command::new(BUSYBOX)
            .args([
                "mount",
                "--rbind",
                &format!("/{name}"),
                &format!("{SHARE_DIR}/{name}"),
            ])
            .output()?;
        ensure!(
            done.status.success(),
            "{name} cannot be mounted: {}",
            String::from_utf8_lossy(&done.stderr)
        );
    }
    Ok(())
}

fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted[sorted.len() / 2]
}

/// Why gtrace does without kprobe.multi: bpftrace uses it for a pattern, where the kernel has it, and
/// then the module cannot be unloaded. Reported, not judged: kernels differ.
fn multi_holds_the_module(guest: &mut Guest) -> Result<()> {
    const PATTERN: &str = "
kprobe:nvidia_unlocked_ioc* { @ = count(); }
interval:ms:200 /!@ready/ { printf(\"ready\\n\"); @ready = 1; }
";
    guest.rmmod("nvidia_uvm")?;
    let peer = Bpftrace::start(PATTERN)?;
    let refused = guest.rmmod("nvidia");
    guest.note(format!(
        "unloading the module under bpftrace with a pattern: {refused:?}"
    ))?;
    // Asked to end, it can hang in the kernel after that; its probes end with it or with the guest.
    peer.kill()
}

fn driver_ioctl(guest: &mut Guest) -> Result<()> {
    let rounds = bench_rounds(guest.long());
    prepare_root()?;
    guest.load_stub(Generation::Current, "")?;
    let device = NvDevice::open("/dev/nvidia0")?;
    let daemon = guest.daemon(&["--probe-cost-interval-s", "0"])?;
    source_is(&daemon, "driver:ioctl", "active")?;
    let pause = |verb: &str, state: &str| -> Result<()> {
        ensure!(daemon.gtrace(&[verb])?.status.success(), "{verb}");
        source_is(&daemon, "driver:ioctl", state)
    };
    let (mut bare, mut gtrace, mut bpftrace) = (Vec::new(), Vec::new(), Vec::new());
    let mut traps = Vec::new();
    let made = u64::from(PARTS * CALLS);
    for round in 1..=rounds {
        pause("pause", "off")?;
        bare.push(measure(&device)?);
        pause("resume", "active")?;
        gtrace.push(measure(&device)?);
        pause("pause", "off")?;
        let peer = Bpftrace::start(SCRIPT)?;
        bpftrace.push(measure(&device)?);
        let counted = peer.stop()?;
        ensure!(
            counted == made,
            "bpftrace counted {counted} of {made} calls"
        );
        let peer = Bpftrace::start(TRAPS)?;
        traps.push(measure(&device)?);
        peer.stop()?;
        guest.note(format!("round {round} of {rounds}"))?;
    }
    let wanted = made * u64::from(rounds);
    within(PATIENCE, "gtrace has counted every call", || {
        let rows = rows(&daemon)?;
        let own = rows
            .iter()
            .find(|r| r["pid"] == std::process::id() && r["op"] == "RM_CONTROL");
        Ok(own.is_some_and(|r| r["count"] == wanted).then_some(()))
    })?;
    drop(device);
    let (bare, gtrace, bpftrace) = (median(&bare), median(&gtrace), median(&bpftrace));
    let (ours, peers) = (gtrace - bare, bpftrace - bare);
    guest.note(format!("figure bare_ns {bare:.0}"))?;
    guest.note(format!("figure gtrace_added_ns {ours:.0}"))?;
    guest.note(format!("figure bpftrace_added_ns {peers:.0}"))?;
    let traps = median(&traps) - bare;
    let clock = std::fs::read_to_string(
        "/sys/devices/system/clocksource/clocksource0/current_clocksource",
    )?;
    guest.note(format!("clock source {}", clock.trim()))?;
    guest.note(format!("figure traps_added_ns {traps:.0}"))?;
    guest.note(format!("figure ratio {:.2}", ours / peers))?;
    multi_holds_the_module(guest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bucket_of_bpftrace_is_read() {
        assert_eq!(bucket("[4K, 8K)            2087 |@@@@      |"), Some(2087));
        assert_eq!(bucket("@ns[1, 2]: "), None);
        assert_eq!(median(&[3.0, 1.0, 2.0]), 2.0);
    }
}
