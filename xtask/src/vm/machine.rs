//! One QEMU process: started, spoken with, ended.

use std::fs::{self, Permissions};
use std::io::{self, BufRead as _, BufReader, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use gtrace_vm_tests::layout::{LOG_BYTES, LONG_ARG, SCENARIO_ARG};
use gtrace_vm_tests::protocol::{EXIT_PORT, FromGuest, ToGuest};
use gtrace_vm_tests::scenario::{SHARE_TAG, Scenario};
use tempfile::TempDir;

use super::kernel::Kernel;
use super::pair::{self, Peer};
use super::qemu;
use super::qmp::Monitor;
use crate::shell;

/// Of util-linux. It has QEMU killed when this process ends without a chance to do so itself.
pub(super) const SETPRIV: &str = "setpriv";

/// Chooses another accelerator: `kvm` on a host that can.
const ACCEL_VARIABLE: &str = "GTRACE_VM_ACCEL";

/// Software emulation works everywhere, also inside of virtual machines.
const ACCEL: &str = "tcg,thread=multi";
/// The machine's CPUs take turns, so that none runs code while another replaces it.
const IN_TURNS: &str = "tcg,thread=single";

/// Everything that QEMU emulates, but for CMPXCHG16B. Up to QEMU 7.2 that instruction leaves flags made of an operand of
/// the comparison before it (its helper reads `env->cc_op`, which the translator has not written yet), bits that no
/// processor sets among them. The kernels' slab allocator has the instruction in its fast path: a timer's interrupt there
/// returns by IRET to whatever the flags say by then, virtual-8086 mode (a double fault) or the direction flag (bytes
/// copied backwards, in other places). Without the feature the kernel takes its other path.
///
/// Nor what is fast in a processor and slow in its emulation: copies byte by byte (ERMS, FSRM), a fifth level of page
/// tables, wide vectors.
pub(super) const CPU: &str = "max,-cx16,-erms,-fsrm,-la57,-avx,-avx2";

/// The accelerator for a machine with nothing special.
pub(super) fn accelerator() -> String {
    std::env::var(ACCEL_VARIABLE).unwrap_or_else(|_| ACCEL.to_owned())
}

/// Every machine has these. No default devices, no network that was not asked for.
const COMMON: [&str; 15] = [
    "-M",
    "q35",
    "-cpu",
    CPU,
    "-nodefaults",
    "-no-user-config",
    "-display",
    "none",
    "-no-reboot",
    "-chardev",
    "stdio,id=control,signal=off",
    "-serial",
    "chardev:control",
    "-device",
    "isa-debug-exit,iosize=1,iobase=",
];

/// `panic=-1` reboots at once, which `-no-reboot` makes an end; an oops is no lesser failure.
/// Cases write to the kernel's log as fast as they like. On a busy host the timer of an emulated machine may be late for
/// the kernel's check of it, which is a panic.
const KERNEL_ARGS: &str = "console=ttyS0 quiet loglevel=4 panic=-1 oops=panic no_timer_check \
                           printk.devkmsg=on rdinit=/init";

/// How much of a console is shown: a panic with its backtrace.
const CONSOLE_LINES: usize = 60;

/// What to boot.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Boot<'a> {
    /// The kernel.
    pub(crate) kernel: &'a Kernel,
    /// The guest's file system.
    pub(crate) image: &'a Path,
    /// The machine's devices.
    pub(crate) scenario: Scenario,
    /// Where the console's output goes.
    pub(crate) console: &'a Path,
    /// Whether cases are to repeat what they repeat a hundred times.
    pub(crate) long: bool,
    /// Whether the machine's CPUs take turns, unless the accelerator is chosen.
    pub(crate) in_turns: bool,
    /// A directory of the host's that the guest may read ([`Scenario::Bench`]).
    pub(crate) share: Option<&'a Path>,
    /// Until when all cases of this kernel must be over.
    pub(crate) deadline: Instant,
}

impl Boot<'_> {
    fn command(&self, monitor: &Path, seat: &Seat) -> Result<Command> {
        let chosen = std::env::var(ACCEL_VARIABLE).ok();
        let accel = match (self.scenario.is_counted(), self.in_turns) {
            // No other accelerator counts instructions.
            (true, _) => IN_TURNS.to_owned(),
            (_, true) => chosen.unwrap_or_else(|| IN_TURNS.to_owned()),
            (_, false) => chosen.unwrap_or_else(|| ACCEL.to_owned()),
        };
        let mut append = format!(
            "{KERNEL_ARGS} log_buf_len={LOG_BYTES} {SCENARIO_ARG}{}",
            self.scenario
        );
        let long = self.long.then_some(LONG_ARG);
        let more = long.into_iter().chain(seat.kernel_arg);
        let more = more.chain(self.scenario.kernel_args().iter().copied());
        for arg in more {
            append.push(' ');
            append.push_str(arg);
        }
        // The kernel sends the signal when the thread ends that started the child, which is not before the machine has
        // ended, or when the process ends.
        let mut command = Command::new(SETPRIV);
        // Tests as root run beside machines, which take every processor that they are given.
        command
            .args(["--pdeathsig", "KILL", "--", "nice", "-n", "5"])
            .arg(qemu::program());
        command.args(["-accel", &accel]);
        // The console is the first serial port.
        command.arg("-serial");
        command.arg(format!("file:{}", self.console.display()));
        command.args(["-smp", &self.scenario.cpus().to_string()]);
        command.args(["-m", &self.scenario.memory_mib().to_string()]);
        let (exit, common) = COMMON.split_last().context("QEMU needs arguments")?;
        command.args(common).arg(format!("{exit}{EXIT_PORT:#x}"));
        command.arg("-qmp");
        command.arg(format!("unix:{},server=on,wait=off", monitor.display()));
        command.arg("-kernel").arg(self.kernel.image()?);
        command.arg("-initrd").arg(self.image);
        command.args(["-append", &append]);
        command.args(self.scenario.qemu_args()).args(&seat.args);
        if self.scenario.has_disk() {
            let disk = disk(monitor.with_file_name("disk"))?.display().to_string();
            let disk = disk.replace(',', ",,");
            command.arg("-drive");
            command.arg(format!("file={disk},format=raw,if=virtio"));
        }
        if let Some(share) = self.share {
            let share = share.display().to_string().replace(',', ",,");
            command.arg("-virtfs");
            command.arg(format!(
                "local,path={share},mount_tag={SHARE_TAG},security_model=none,readonly=on"
            ));
        }
        Ok(command)
    }
}

/// What a machine has that another of the same scenario has not.
#[derive(Debug, Default)]
pub(super) struct Seat {
    /// Of QEMU.
    pub(super) args: Vec<String>,
    /// Of the kernel.
    pub(super) kernel_arg: Option<&'static str>,
}

/// A running machine; ended when dropped.
pub(super) struct Machine {
    child: Child,
    /// The second machine of its scenario.
    pub(super) peer: Option<Box<Peer>>,
    input: ChildStdin,
    lines: Receiver<String>,
    monitor: Option<Monitor>,
    /// Holds the monitor's socket: short, as the paths of sockets must be.
    dir: TempDir,
    console: PathBuf,
}

/// What came from the guest.
#[derive(Debug)]
pub(super) enum Received {
    /// A message.
    Message(FromGuest),
    /// Nothing for too long.
    Silence,
    /// The machine has ended.
    End,
}

impl Machine {
    /// Starts QEMU, and a second one where the scenario has two machines.
    pub(super) fn start(boot: &Boot<'_>) -> Result<Self> {
        match boot.scenario.has_peer() {
            true => pair::start(boot),
            false => Self::start_at(boot, &Seat::default()),
        }
    }

    /// Starts one QEMU.
    pub(super) fn start_at(boot: &Boot<'_>, seat: &Seat) -> Result<Self> {
        let dir = socket_dir()?;
        // What an earlier boot wrote there must not be taken for this one's.
        fs::write(boot.console, "")
            .with_context(|| format!("cannot write {}", boot.console.display()))?;
        let mut child = boot
            .command(&dir.path().join("monitor"), seat)?
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .with_context(|| {
                format!("cannot start {SETPRIV}, which starts QEMU: install util-linux")
            })?;
        let input = child.stdin.take().context("a pipe was asked for")?;
        let output = child.stdout.take().context("a pipe was asked for")?;
        let errors = child.stderr.take().context("a pipe was asked for")?;
        let console = boot.console.to_owned();
        {
            // What QEMU objects to stands beside what the kernel says.
            let console = console.clone();
            thread::spawn(move || {
                for line in BufReader::new(errors).lines().map_while(Result::ok) {
                    let _ = append(&console, &format!("qemu: {line}"));
                }
            });
        }
        let (sender, lines) = mpsc::channel();
        thread::spawn(move || {
            for line in BufReader::new(output).split(b'\n').map_while(Result::ok) {
                let line = String::from_utf8_lossy(&line);
                if sender.send(line.trim_end_matches('\r').to_owned()).is_err() {
                    break;
                }
            }
        });
        Ok(Self {
            child,
            peer: None,
            input,
            lines,
            monitor: None,
            dir,
            console,
        })
    }

    /// The next message. A line that is none is put beside the console's.
    pub(super) fn receive(&self, patience: Duration) -> Received {
        loop {
            match self.lines.recv_timeout(patience) {
                Ok(line) => match line.parse() {
                    Ok(message) => return Received::Message(message),
                    Err(error) => {
                        let _ = append(&self.console, &format!("control: {error}"));
                    }
                },
                Err(RecvTimeoutError::Timeout) => return Received::Silence,
                Err(RecvTimeoutError::Disconnected) => return Received::End,
            }
        }
    }

    /// Sends a message to the guest. That the guest is gone shows when the next message is awaited.
    pub(super) fn send(&mut self, message: &ToGuest) {
        let _ = self.input.write_all(format!("{message}\n").as_bytes());
        let _ = self.input.flush();
    }

    /// Runs a command of the human monitor.
    pub(super) fn monitor(&mut self, command: &str) -> ToGuest {
        let answer = || -> Result<Result<String, String>> {
            let monitor = match &mut self.monitor {
                Some(monitor) => monitor,
                none => none.insert(Monitor::connect(&self.dir.path().join("monitor"))?),
            };
            monitor.human(command)
        }();
        if answer.is_err() {
            // An answer that comes late would be taken for the next command's.
            self.monitor = None;
        }
        match answer {
            Ok(Ok(text)) => ToGuest::Ok { text },
            Ok(Err(text)) => ToGuest::Error { text },
            Err(error) => ToGuest::Error {
                text: format!("{error:#}"),
            },
        }
    }

    /// Waits for QEMU to end by itself.
    pub(super) fn wait(&mut self, limit: Duration) -> Result<Option<ExitStatus>> {
        shell::wait_for(limit, || self.child.try_wait().context("lost QEMU"))
    }

    /// All of the console.
    pub(super) fn console(&self) -> String {
        let console = fs::read(&self.console).unwrap_or_default();
        String::from_utf8_lossy(&console).into_owned()
    }

    /// The last lines of the console, for a message.
    pub(super) fn console_end(&self) -> String {
        let text = self.console();
        let lines: Vec<&str> = text.lines().collect();
        let end = &lines[lines.len().saturating_sub(CONSOLE_LINES)..];
        format!(
            "--- the console ends ({} has all of it):\n{}",
            self.console.display(),
            end.join("\n")
        )
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn append(file: &Path, line: &str) -> io::Result<()> {
    let mut file = fs::File::options().append(true).open(file)?;
    writeln!(file, "{line}")
}

/// A disk of 256 MiB with an empty file system.
fn disk(path: PathBuf) -> Result<PathBuf> {
    let mut make = Command::new("mke2fs");
    let folders = std::env::var("PATH").unwrap_or_default();
    make.env("PATH", format!("{folders}:/usr/sbin:/sbin"));
    make.args(["-q", "-F", "-t", "ext4"]).arg(&path).arg("256M");
    shell::read(&mut make).context("mke2fs is of e2fsprogs")?;
    Ok(path)
}

pub(super) fn socket_dir() -> Result<TempDir> {
    tempfile::Builder::new()
        .prefix("gtrace-vm-")
        .permissions(Permissions::from_mode(0o700))
        .tempdir()
        .context("cannot create a directory for QEMU's sockets")
}
