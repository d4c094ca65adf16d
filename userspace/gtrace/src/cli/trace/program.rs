//! `gtrace trace -- PROGRAM`: a program's calls of the CUDA driver, timed in its own process.

mod held;

use std::ffi::OsString;
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use anyhow::Context as _;
use gtrace_abi::DeviceFilter;
use gtrace_recording::Variables;
use gtrace_recording::clock::{Pair, Scale};
use gtrace_timeline::collector::{Collector, Wake};
use gtrace_timeline::live::{Daemon, DriverCalls, Kept, libcuda};
use gtrace_timeline::summary::Summary;
use gtrace_timeline::{self as timeline, Spool};
use rustix::process::{Pid, PidfdFlags, pidfd_open};

use self::held::Held;
use super::super::exec::{libraries, not_started, quoted, search_path, stats};
use super::super::shared::{self, Place, say};
use super::super::{USAGE, not_possible};
use super::unwritten;

/// Events that a thread's ring has room for.
const RING: u32 = 1 << 16;

/// What a traced program is told, and what becomes of what it tells.
#[derive(Clone, Debug, Default, clap::Args)]
#[group(skip)]
pub(super) struct Args {
    /// Write a trace of all calls, for ui.perfetto.dev.
    #[arg(short, long, visible_alias = "out", value_name = "FILE.pftrace")]
    pub(super) output: Option<PathBuf>,
    /// The driver's library; by default the libcuda.so.1 that the program would load.
    #[arg(long, value_name = "PATH", conflicts_with = "softgpu")]
    libcuda: Option<PathBuf>,
    /// Run the program on the CPU emulator that gtrace carries, not on a GPU.
    #[arg(long)]
    softgpu: bool,
    /// Events that a thread's ring has room for; more that come before they are read are counted as lost.
    #[arg(long, value_name = "EVENTS", default_value_t = RING)]
    pub(super) ring: u32,
    /// Most calls that the trace has; the first ones are kept.
    #[arg(long, value_name = "CALLS", default_value_t = 10_000_000)]
    pub(super) max_events: u64,
    /// Time what the GPU does for launches and copies, by two events of the driver around each. Costs the program
    /// some microseconds a launch.
    #[arg(long)]
    gpu_time: bool,
    /// The daemon that is asked what it knows of the time of the trace.
    #[command(flatten)]
    pub(super) place: Place,
    /// Print the environment of a traced program as shell commands, and run nothing. Collect what such programs
    /// do with --listen.
    #[arg(long, conflicts_with_all = ["listen", "program"])]
    print_env: bool,
    /// Run nothing: collect until Ctrl-C what programs do that have the environment of --print-env.
    #[arg(long, conflicts_with = "program")]
    listen: bool,
    /// Waits at this socket, then becomes the program.
    #[arg(long, hide = true, value_name = "PATH")]
    held: Option<PathBuf>,
    /// The program and its arguments.
    #[arg(
        trailing_var_arg = true,
        allow_hyphen_values = true,
        value_name = "PROGRAM"
    )]
    program: Vec<OsString>,
}

impl Args {
    /// Whether something is asked for that is done here.
    pub(super) fn is_asked_for(&self) -> bool {
        self.print_env || self.listen || !self.program.is_empty()
    }
}

/// Runs the command. `json`: the file for what was counted, if one was asked for and named. `devices`: those
/// whose driver calls are traced.
///
/// # Errors
///
/// What keeps the program from being prepared, or the results from being written.
pub(super) fn run(
    args: &Args,
    json: Option<Option<&Path>>,
    devices: &str,
) -> anyhow::Result<ExitCode> {
    if let Some(path) = &args.held {
        return Ok(held::wait(path, &args.program));
    }
    let json = match json {
        Some(None) => {
            say!("--json needs a file here: --json FILE");
            return Ok(ExitCode::from(USAGE));
        }
        Some(file) => file,
        None => None,
    };
    if args.gpu_time && args.output.is_none() && !args.print_env {
        say!("--gpu-time needs a trace to write the times to: --output FILE.pftrace");
        return Ok(ExitCode::from(USAGE));
    }
    let devices = match gtrace_engine::config::parse_devices(devices) {
        Ok(devices) => devices,
        Err(error) => {
            say!("{error}");
            return Ok(ExitCode::from(USAGE));
        }
    };
    let trace = libraries::TRACE.unpack()?;
    let mut folders = vec![trace.clone()];
    let libcuda = match (&args.libcuda, args.softgpu) {
        (Some(path), _) => std::path::absolute(path)?,
        (None, true) => {
            let softgpu = libraries::SOFTGPU.unpack()?;
            folders.push(softgpu.clone());
            softgpu.join(libcuda::NAME)
        }
        (None, false) => match libcuda::find(&trace) {
            Ok(path) => path,
            Err(error) => return Ok(not_possible(&error.into())),
        },
    };
    let variables = Variables {
        socket: None,
        events: match args.output.is_some() || args.print_env || args.listen {
            true => args.ring.clamp(1, 1 << 22).next_power_of_two(),
            false => 0,
        },
        scale: Scale::measure(),
        libcuda: Some(libcuda),
        gpu_time: args.gpu_time,
    };
    if args.print_env {
        let socket = Some(libcuda::shared_socket()?);
        let variables = Variables {
            socket,
            ..variables
        };
        return print(&environment(&variables, &folders));
    }
    let cpu_emulator = args.softgpu.then(|| folders.last().cloned()).flatten();
    let nvml = cpu_emulator.map(|folder| folder.join("libnvidia-ml.so.1"));
    let mut session = Session::new(args, variables, nvml)?;
    if args.listen {
        session.listen()?;
        session.report(args, json, None)?;
        return Ok(ExitCode::SUCCESS);
    }
    let Some((program, arguments)) = args.program.split_first() else {
        return Ok(ExitCode::from(USAGE));
    };
    let held = session.hold(devices.is_some());
    let mut command = match &held {
        Some(held) => held.command(&args.program),
        None => {
            let mut command = Command::new(program);
            command.args(arguments);
            command
        }
    };
    for name in Variables::NAMES {
        command.env_remove(name);
    }
    command.envs(environment(&session.variables, &folders));
    // Ctrl-C is for the program, whose calls are to be shown then.
    let _ignored = stats::ignore_interrupts();
    let mut child = match command.spawn() {
        Ok(child) => child,
        Err(error) => return Ok(not_started(program, &error)),
    };
    if let Some(held) = held {
        session.take_driver_calls(child.id(), devices, args.max_events);
        held.release(&mut child);
    }
    let ended = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    let ended = ended.and_then(|pid| pidfd_open(pid, PidfdFlags::empty()).ok());
    let collected = session.collect(ended.as_ref(), || !matches!(child.try_wait(), Ok(None)));
    // A full disk does not end the program.
    let status = child.wait().context("waiting for the program")?;
    let code = status
        .code()
        .or_else(|| status.signal().map(|signal| 128 + signal));
    let written = collected.and_then(|()| session.report(args, json, code));
    Ok(match (written, code) {
        (Err(error), Some(0)) => not_possible(&error),
        (written, code) => {
            // Why the program failed matters more than that its trace is missing.
            if let Err(error) = written {
                say!("{error:#}");
            }
            ExitCode::from(u8::try_from(code.unwrap_or(1)).unwrap_or(1))
        }
    })
}

fn environment(variables: &Variables, folders: &[PathBuf]) -> Vec<(&'static str, OsString)> {
    let mut set = variables.to_set();
    let mut path = OsString::new();
    for folder in folders.iter().take(folders.len().saturating_sub(1)) {
        path.push(folder);
        path.push(":");
    }
    if let Some(last) = folders.last() {
        path.push(search_path(last));
    }
    set.push(("LD_LIBRARY_PATH", path));
    set
}

fn print(environment: &[(&'static str, OsString)]) -> anyhow::Result<ExitCode> {
    for (name, value) in environment {
        let mut line = format!("export {name}=").into_bytes();
        line.extend(quoted(value));
        line.push(b'\n');
        shared::print_bytes(&line)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// A trace that is being taken.
struct Session {
    variables: Variables,
    collector: Collector,
    spool: Option<Spool>,
    host: Option<Daemon>,
    begun: Pair,
    /// Its calls into the kernel's driver, and whose they are.
    driver: Option<(u32, DriverCalls)>,
    /// The folder of the socket, where it is one of this session.
    folder: Option<tempfile::TempDir>,
}

impl Session {
    /// `nvml`: the library of the GPU, if it is not the one that the daemon knows.
    fn new(args: &Args, variables: Variables, nvml: Option<PathBuf>) -> anyhow::Result<Self> {
        let (socket, folder) = match args.listen {
            true => (libcuda::shared_socket()?, None),
            false => {
                let folder = tempfile::Builder::new()
                    .prefix("gtrace-trace-")
                    .tempdir()
                    .context("a folder for the socket")?;
                (folder.path().join("socket"), Some(folder))
            }
        };
        let collector =
            Collector::bind(&socket).with_context(|| format!("the socket {}", socket.display()))?;
        let spool = match &args.output {
            Some(output) => Some(Spool::new(output, args.max_events)?),
            None => None,
        };
        Ok(Self {
            host: match &args.output {
                Some(_) => Some(Daemon::watch(args.place.resolve()?.reading_client(), nvml)),
                None => None,
            },
            variables: Variables {
                socket: Some(socket),
                ..variables
            },
            collector,
            spool,
            begun: Pair::now(),
            driver: None,
            folder,
        })
    }

    /// Where the program waits until the probes on the kernel's driver are there; `None` if there are to be none.
    /// `asked`: for which devices was said.
    fn hold(&self, asked: bool) -> Option<Held> {
        let there = asked || Path::new("/proc/driver/nvidia/version").exists();
        if self.spool.is_none() || !there || !gtrace_engine::host::is_root() {
            return None;
        }
        let held = Held::new(self.folder.as_ref()?.path());
        held.inspect_err(|error| say(&format!("no driver calls in the trace: {error}")))
            .ok()
    }

    /// Has the calls of a process into the kernel's driver seen.
    fn take_driver_calls(&mut self, pid: u32, devices: Option<Vec<DeviceFilter>>, most: u64) {
        match DriverCalls::start(pid, devices, most) {
            Ok(driver) => self.driver = Some((pid, driver)),
            Err(error) => say(&format!(
                "the trace has no calls into the driver: {error:#}"
            )),
        }
    }

    /// Collects until `over`, which is checked whenever `ended` becomes readable.
    fn collect(
        &mut self,
        ended: Option<&OwnedFd>,
        mut over: impl FnMut() -> bool,
    ) -> anyhow::Result<()> {
        let mut busy = false;
        loop {
            let events = self.spool.is_some();
            let wake = Wake { events, busy };
            self.collector.wait(ended.map(|fd| fd.as_fd()), wake)?;
            // Before what is there is taken, so that nothing comes between.
            let last = over();
            self.collector.receive();
            busy = self.collector.drain(self.spool.as_mut())?;
            if last {
                return Ok(());
            }
        }
    }

    /// Collects until Ctrl-C.
    fn listen(&mut self) -> anyhow::Result<()> {
        use std::sync::Arc;
        use std::sync::atomic::{AtomicBool, Ordering};
        let end = Arc::new(AtomicBool::new(false));
        let asked = Arc::clone(&end);
        super::on_signals(move || asked.store(true, Ordering::Relaxed))?;
        if let Some(socket) = &self.variables.socket {
            say!("collecting at {}; end with Ctrl-C", socket.display());
        }
        self.collect(None, || end.load(Ordering::Relaxed))
    }

    /// Shows and writes what was collected. `code`: the program's exit status.
    fn report(self, args: &Args, json: Option<&Path>, code: Option<i32>) -> anyhow::Result<()> {
        let ended = Pair::now();
        let clock = timeline::Clock::new(self.variables.scale, self.begun, ended);
        let summary = Summary::new(&self.collector, &clock, self.spool.as_ref(), code);
        shared::print_error(&summary.table());
        if let Some(path) = json {
            let mut text = serde_json::to_vec_pretty(&summary)?;
            text.push(b'\n');
            std::fs::write(path, text).map_err(|error| unwritten("--json", path, &error.into()))?;
        }
        if let (Some(output), Some(spool)) = (&args.output, self.spool) {
            let host = self.host.map(|host| host.end(say)).unwrap_or_default();
            let (pid, kept) = match self.driver {
                Some((pid, driver)) => (pid, driver.end().map(|(kept, lost)| said(kept, &lost))?),
                None => (0, Kept::default()),
            };
            let stranger = timeline::Process {
                pid,
                ..timeline::Process::default()
            };
            let mut recorded = self.collector.recorded();
            recorded.add_driver(&stranger, kept.calls, kept.names);
            timeline::write(output, &recorded, spool, &clock, &host)
                .map_err(|error| unwritten("--output", output, &error))?;
            say!("{} opens in ui.perfetto.dev", output.display());
        }
        Ok(())
    }
}

/// Prints how many calls into the kernel's driver were seen.
fn said(kept: Kept, lost: &str) -> Kept {
    let calls = kept.calls.len() as u64 + kept.dropped;
    say!("{calls} calls into the driver{lost}");
    kept
}
