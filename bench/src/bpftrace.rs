//! bpftrace, doing what gtrace does.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

use anyhow::bail;

use crate::ioctl_load::{REQUEST, TRACED_RDEV};
use crate::process::Process;

const START_WITHIN: Duration = Duration::from_secs(30);
/// From its first line of output until every probe is attached for certain.
const ATTACH: Duration = Duration::from_millis(500);

/// A latency histogram of ioctls, by process, running.
#[derive(Debug)]
pub(crate) struct Bpftrace {
    pub(crate) process: Process,
    /// How calls on other devices are left out.
    pub(crate) filter: &'static str,
}

/// Finds the device number behind the descriptor, as gtrace does.
const BY_DEVICE: &str = "device number, by BTF";
const BY_PROCESS: &str = "process and request, as it cannot read the device number here";

fn script(filter: &str) -> String {
    let enter = if filter == BY_DEVICE {
        format!(
            "tracepoint:syscalls:sys_enter_ioctl {{
                $f = (struct file *)*((uint64 *)((struct task_struct *)curtask)->files->fdt->fd
                    + args->fd);
                if ($f->f_inode->i_rdev == {TRACED_RDEV}) {{ @s[tid] = nsecs; }} }}"
        )
    } else {
        let pid = std::process::id();
        format!(
            "tracepoint:syscalls:sys_enter_ioctl /pid == {pid} && args->cmd == {REQUEST}/ {{
                @s[tid] = nsecs; }}"
        )
    };
    format!(
        "{enter}
        tracepoint:syscalls:sys_exit_ioctl /@s[tid]/ {{
            @h[pid] = hist(nsecs - @s[tid]); delete(@s[tid]); }}
        interval:ms:100 /!@ready/ {{ printf(\"ready\\n\"); @ready = 1; }}"
    )
}

impl Bpftrace {
    /// Starts it, and waits until it has attached. `None` if it is not installed.
    pub(crate) fn start() -> anyhow::Result<Option<Self>> {
        if Self::version().is_none() {
            return Ok(None);
        }
        for filter in [BY_DEVICE, BY_PROCESS] {
            if let Some(process) = attach(&script(filter))? {
                return Ok(Some(Self { process, filter }));
            }
        }
        bail!("bpftrace is installed and does not run; see `bpftrace -l 'tracepoint:syscalls:*'`")
    }

    /// A latency histogram of one function of a library, by process, running. `None` if bpftrace is not
    /// installed.
    pub(crate) fn on_function(library: &Path, function: &str) -> anyhow::Result<Option<Self>> {
        if Self::version().is_none() {
            return Ok(None);
        }
        let place = format!("{}:{function}", library.display());
        let script = format!(
            "uprobe:{place} {{ @s[tid] = nsecs; }}
            uretprobe:{place} /@s[tid]/ {{ @h[pid] = hist(nsecs - @s[tid]); delete(@s[tid]); }}
            interval:ms:100 /!@ready/ {{ printf(\"ready\\n\"); @ready = 1; }}"
        );
        let Some(process) = attach(&script)? else {
            bail!("bpftrace is installed and puts no uprobe on {place}");
        };
        Ok(Some(Self {
            process,
            filter: "the function",
        }))
    }

    /// The installed version.
    pub(crate) fn version() -> Option<String> {
        let output = Command::new("bpftrace").arg("--version").output().ok()?;
        Some(String::from_utf8_lossy(&output.stdout).trim().to_owned())
    }
}

fn attach(script: &str) -> anyhow::Result<Option<Process>> {
    let mut command = Command::new("bpftrace");
    command.args(["-B", "line", "-e", script]);
    command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    let mut process = Process::start(&mut command)?;
    let lines = BufReader::new(process.stdout()?).lines();
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        // Read to the end, or bpftrace would wait for room in the pipe.
        for line in lines.map_while(Result::ok) {
            let _ = sender.send(line);
        }
    });
    loop {
        match receiver.recv_timeout(START_WITHIN) {
            Ok(line) if line == "ready" => break,
            Ok(_) => {}
            // It has ended.
            Err(RecvTimeoutError::Disconnected) => return Ok(None),
            Err(RecvTimeoutError::Timeout) => bail!("bpftrace does not attach its probes"),
        }
    }
    std::thread::sleep(ATTACH);
    Ok(Some(process))
}
