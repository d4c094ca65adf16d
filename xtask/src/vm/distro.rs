//! Boots the root file system of a distribution, with its own PID 1, on one of the kernels.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context as _, Result, bail};

use super::machine::{self, SETPRIV};
use super::{cache, kernel, qemu};
use crate::context::Context;
use crate::packages;
use crate::shell;

/// MiB. The root file system lies in it, once packed and once unpacked.
const MEMORY: u32 = 3072;

/// Why this host cannot boot one; installs what is missing.
pub(crate) fn ready(context: &Context) -> Result<()> {
    const WHY: &str = "virtual machines with the packages in them need it";
    if let Some(why) = super::impossible() {
        bail!("{why}");
    }
    packages::ensure(&["util-linux"], WHY)?;
    qemu::ensure(context, WHY)
}

/// Boots `image`, an initramfs, on a kernel of `line`. Answers with what the machine wrote to its second serial port, once it
/// has powered itself off; `logs` gets that and the console.
pub(crate) fn boot(
    context: &Context,
    line: &str,
    image: &Path,
    logs: &Path,
    limit: Duration,
) -> Result<String> {
    let kernel = {
        let cache = cache(context)?;
        kernel::ensure(&cache.dir, &cache.apt, line)?
    };
    let (console, results) = (
        logs.with_extension("console"),
        logs.with_extension("results"),
    );
    for file in [&console, &results] {
        fs::write(file, "").with_context(|| format!("cannot write {}", file.display()))?;
    }
    let mut command = Command::new(SETPRIV);
    command
        .args(["--pdeathsig", "KILL", "--"])
        .arg(qemu::program())
        .args([
            "-M",
            "q35",
            "-cpu",
            machine::CPU,
            "-accel",
            &machine::accelerator(),
        ])
        .args([
            "-nodefaults",
            "-no-user-config",
            "-display",
            "none",
            "-no-reboot",
        ])
        .args(["-smp", "2", "-m", &MEMORY.to_string()])
        .arg("-serial")
        .arg(format!("file:{}", console.display()))
        .arg("-serial")
        .arg(format!("file:{}", results.display()))
        .arg("-kernel")
        .arg(kernel.image()?)
        .arg("-initrd")
        .arg(image)
        .args([
            "-append",
            "console=ttyS0 rdinit=/sbin/init panic=-1 no_timer_check printk.devkmsg=on quiet \
             systemd.show_status=no",
        ])
        .stdin(Stdio::null());
    let mut child = command
        .spawn()
        .with_context(|| format!("cannot start {SETPRIV}, which starts QEMU"))?;
    let ended = shell::wait_for(limit, || child.try_wait().context("lost QEMU"))?;
    let text = fs::read_to_string(&results).unwrap_or_default();
    let Some(status) = ended else {
        let _ = child.kill();
        let _ = child.wait();
        let last = text.lines().last().unwrap_or("nothing").trim();
        bail!(
            "the machine is not done after {} s; the last thing it said: {last}; see {}",
            limit.as_secs(),
            console.display()
        );
    };
    if !status.success() {
        bail!("QEMU ended with {status}; see {}", console.display());
    }
    Ok(text.replace('\r', ""))
}
