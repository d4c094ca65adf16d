//! gtrace is never the reason why the driver cannot be unloaded, and lets go of it only when it is
//! the driver that somebody unloads.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail, ensure};
use gtrace_vm_tests::layout::{BUSYBOX, FAKE_NVML};

use super::calls::source_is;
use super::reload::load;
use crate::guest::daemon::Daemon;
use crate::guest::modules::remove_within;
use crate::guest::process::Helper;
use crate::guest::{Guest, PATIENCE, within};

cases! {
    Driver "unload_with_nvml_open" => nvml, core, patience(240);
    Driver "unload_of_both_in_one_process" => both_in_one_process, patience(180);
    Driver "unload_of_another_module" => another_module;
    Driver "unload_with_the_tracepoint" => tracepoint;
}

pub(super) const HELPERS: &[super::Helper] = &[("unload", unload)];

/// The node that NVML keeps open, and so does its fake.
const NODE: &str = "/dev/nvidiactl";
const TRACEPOINT: &str = "nvidia:nvidia_dev_xid";
/// For how long a program asks for one module before it gives up.
const TOOLS_PATIENCE: Duration = Duration::from_secs(5);

/// Unloads both modules by system calls, with a pause of so many milliseconds between them.
fn unload(args: &[String]) -> Result<()> {
    let [pause] = args else {
        bail!("usage: unload PAUSE_MS");
    };
    let begin = Instant::now();
    remove_within("nvidia_uvm", TOOLS_PATIENCE)?;
    std::thread::sleep(Duration::from_millis(pause.parse()?));
    remove_within("nvidia", TOOLS_PATIENCE)?;
    println!("{} ms", begin.elapsed().as_millis());
    Ok(())
}

/// The processes that have NVML's device node open.
fn holders() -> Result<Vec<u32>> {
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc")? {
        let entry = entry?;
        let Ok(pid) = entry.file_name().to_string_lossy().parse() else {
            continue;
        };
        // A process that has ended meanwhile holds nothing.
        let Ok(descriptors) = fs::read_dir(entry.path().join("fd")) else {
            continue;
        };
        let mut targets = descriptors
            .filter_map(Result::ok)
            .filter_map(|fd| fs::read_link(fd.path()).ok());
        if targets.any(|target| target == Path::new(NODE)) {
            found.push(pid);
        }
    }
    Ok(found)
}

/// A daemon with the fake of NVML, which keeps its device node open as NVML does.
fn with_nvml(guest: &mut Guest, args: &[&str]) -> Result<Daemon> {
    let nvml = ["--nvml-library", FAKE_NVML, "--nvml-interval-s", "1"];
    guest.daemon_with(&[&nvml, args].concat(), &[("FAKE_NVML_HOLD", NODE)])
}

/// Waits until NVML has the node open; who has. After a first attempt that took too long, the daemon waits a minute.
fn opened(daemon: &Daemon) -> Result<Vec<u32>> {
    within(2 * PATIENCE, "NVML has the device open", || {
        let holders = holders()?;
        Ok((!holders.is_empty()).then_some(holders))
    })
    .with_context(|| daemon.log_end())
}

/// A program of this name, which is busybox: people do not unload modules by system calls.
fn tool(guest: &Guest, name: &str) -> Result<PathBuf> {
    let path = guest.scratch().join(name);
    symlink(BUSYBOX, &path).with_context(|| format!("cannot create {}", path.display()))?;
    Ok(path)
}

fn nvml(guest: &mut Guest) -> Result<()> {
    load(guest, 0)?;
    let daemon = with_nvml(guest, &[])?;
    opened(&daemon)?;
    // As people do it: a program is started, which reads the use count first.
    let rmmod = tool(guest, "rmmod")?;
    for module in ["nvidia_uvm", "nvidia"] {
        let attempt = || -> Result<Option<String>> {
            let output = Command::new(&rmmod).arg(module).output()?;
            let message = String::from_utf8_lossy(&output.stderr);
            let refusal = format!("{}: {message}", output.status);
            Ok((!output.status.success()).then_some(refusal))
        };
        let Some(refusal) = attempt()? else {
            guest.note(format!("rmmod {module}: at the first attempt"))?;
            continue;
        };
        // On a host that is busy the program may be quicker than gtrace.
        std::thread::sleep(Duration::from_secs(1));
        let again = attempt()?;
        ensure!(
            again.is_none(),
            "rmmod {module} is refused twice: {refusal} {again:?}\n{}",
            daemon.log_end()
        );
        guest.note(format!("rmmod {module}: at the second attempt: {refusal}"))?;
    }
    // The system call alone gives no warning: the first one may be refused, one soon after not.
    load(guest, 0)?;
    opened(&daemon)?;
    guest.rmmod("nvidia_uvm")?;
    let first = guest.rmmod("nvidia");
    let begin = Instant::now();
    if first.is_err() {
        remove_within("nvidia", PATIENCE)?;
    }
    let took = begin.elapsed();
    guest.note(format!(
        "by system call alone: first {first:?}, unloaded after {took:.1?}"
    ))?;
    // It comes back with the driver.
    load(guest, 0)?;
    opened(&daemon)?;
    Ok(())
}

/// Installers unload one module after the other. NVML, closed for the first one, is not opened for
/// the second, whether that comes at once or later.
fn both_in_one_process(guest: &mut Guest) -> Result<()> {
    let daemon = with_nvml(guest, &[])?;
    for pause_ms in ["0", "2000"] {
        load(guest, 0)?;
        opened(&daemon)?;
        let mut helper = Helper::start("unload", &[pause_ms])?;
        let (mut closed, mut reopened) = (false, false);
        let status = loop {
            let open = !holders()?.is_empty();
            reopened |= closed && open;
            closed |= !open;
            if let Some(status) = helper.ended()? {
                break status;
            }
            std::thread::sleep(Duration::from_millis(10));
        };
        ensure!(
            status.success(),
            "with a pause of {pause_ms} ms it is refused for {} s; its use count is {}\n{}",
            TOOLS_PATIENCE.as_secs(),
            use_count("nvidia")?,
            daemon.log_end()
        );
        ensure!(
            !reopened,
            "NVML was opened between the modules, with a pause of {pause_ms} ms\n{}",
            daemon.log_end()
        );
        guest.note(format!(
            "with a pause of {pause_ms} ms: both unloaded in {}",
            helper.line()?
        ))?;
    }
    Ok(())
}

/// A tool that unloads something else disturbs neither NVML nor, for long, the tracepoint.
fn another_module(guest: &mut Guest) -> Result<()> {
    load(guest, 0)?;
    let daemon = with_nvml(guest, &["--dev-xid-tracepoint", "true"])?;
    source_is(&daemon, TRACEPOINT, "active")?;
    let before = opened(&daemon)?;
    let uses = use_count("nvidia")?;
    // There is no such module here, and it says so.
    let modprobe = tool(guest, "modprobe")?;
    Command::new(modprobe).args(["-r", "floppy"]).output()?;
    let end = Instant::now() + Duration::from_secs(5);
    while Instant::now() < end {
        let now = holders()?;
        ensure!(
            now == before,
            "NVML was open in {before:?}, and now in {now:?}\n{}",
            daemon.log_end()
        );
        std::thread::sleep(Duration::from_millis(50));
    }
    source_is(&daemon, TRACEPOINT, "active")?;
    within(PATIENCE, "the module is used as before", || {
        Ok((use_count("nvidia")? == uses).then_some(()))
    })
}

fn use_count(module: &str) -> Result<u32> {
    let path = Path::new("/sys/module").join(module).join("refcnt");
    let text =
        fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    Ok(text.trim().parse()?)
}

/// A program on the module's own tracepoint keeps the module: gtrace lets go when asked to.
fn tracepoint(guest: &mut Guest) -> Result<()> {
    load(guest, 0)?;
    let daemon = guest.daemon(&["--dev-xid-tracepoint", "true"])?;
    source_is(&daemon, TRACEPOINT, "active")?;
    guest.rmmod("nvidia_uvm")?;
    let first = guest.rmmod("nvidia");
    if first.is_err() {
        remove_within("nvidia", PATIENCE)?;
    }
    guest.note(format!(
        "with the tracepoint attached: first attempt {first:?}"
    ))?;
    source_is(&daemon, TRACEPOINT, "absent")?;
    load(guest, 0)?;
    source_is(&daemon, TRACEPOINT, "active")?;
    guest.stub("xid 0 79 gone")?;
    daemon.event("the tracepoint sees again", |e| {
        e.to_string().contains(TRACEPOINT)
    })?;
    Ok(())
}
