//! `gtrace trace -- PROGRAM`: a program's calls of the CUDA driver, timed in its own process.

use std::ffi::OsString;
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::sync::atomic::Ordering;
use std::time::Duration;

use anyhow::Context as _;
use gtrace_recording::Variables;
use gtrace_recording::clock::Scale;
use gtrace_timeline::Spool;
use gtrace_timeline::live::{Daemon, Freezer, Held, Session, libcuda};
use gtrace_timeline::summary::Summary;
use rustix::process::{Pid, PidfdFlags, pidfd_open};

use super::super::exec::{libraries, not_started, print, search_path};
use super::super::new_file;
use super::super::shared::{self, Exit, Failure, Place, say};
use super::super::signals::{Signals, asked_to_end};
use super::unwritten;

/// Events that a thread's buffer has room for.
const BUFFER: u32 = 1 << 16;

/// What a traced program gets, and what becomes of what it sends.
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
    /// Keep the calls of the last TIME only (30, 90s, 5m), for as long as it runs. When an incident opens in the daemon
    /// they become evidence of it, and part of its report; with --output they are written at the end too.
    #[arg(long, value_name = "TIME", value_parser = super::super::duration::seconds, conflicts_with = "print_env")]
    pub(super) ring: Option<Duration>,
    /// Events that a thread's buffer has room for; more that come before they are read are counted as lost.
    #[arg(long, value_name = "EVENTS", default_value_t = BUFFER)]
    pub(super) buffer: u32,
    /// Most calls that the trace has; the first ones are kept, with --ring the newest.
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
    #[arg(long, conflicts_with_all = ["listen", "program", "output", "json"])]
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
    /// Whether calls are kept one by one.
    pub(super) fn keeps_calls(&self) -> bool {
        self.output.is_some() || self.ring.is_some()
    }

    /// Options that nothing is done with.
    pub(super) fn only_kept(&self) -> &'static [&'static str] {
        match self.keeps_calls() {
            true => &[],
            // Programs that others collect from have room for their events.
            false if self.print_env || self.listen => &["--max-events"],
            false => &["--max-events", "--buffer"],
        }
    }

    /// Where they are kept until then.
    ///
    /// # Errors
    ///
    /// The output cannot be written, or temporary files.
    pub(super) fn spool(&self) -> anyhow::Result<Spool> {
        self.output
            .as_deref()
            .map_or(Ok(()), new_file::check_writable)?;
        let temporary = std::env::temp_dir().join("calls");
        let beside = self.output.as_deref().unwrap_or(&temporary);
        match self.ring {
            Some(window) => Spool::ring(beside, window, self.max_events),
            None => Spool::new(beside, self.max_events),
        }
    }

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
        return Ok(wait(path, &args.program));
    }
    let json = match json {
        Some(None) => return Err(Failure::usage("--json needs a file here: --json FILE").into()),
        Some(file) => file,
        None => None,
    };
    if args.gpu_time && args.output.is_none() && !args.print_env {
        let why = "--gpu-time needs a trace to write the times to: --output FILE.pftrace";
        return Err(Failure::usage(why).into());
    }
    let devices = gtrace_engine::config::parse_devices(devices).map_err(Failure::usage)?;
    let trace = libraries::TRACE.unpack()?;
    let mut folders = vec![trace.clone()];
    let libcuda = match (&args.libcuda, args.softgpu) {
        (Some(path), _) => Some(std::path::absolute(path)?),
        (None, true) => {
            let softgpu = libraries::SOFTGPU.unpack()?;
            folders.push(softgpu.clone());
            Some(softgpu.join(libcuda::NAME))
        }
        // The programs have one by their environment.
        (None, false) if args.listen => None,
        (None, false) => Some(libcuda::find(&trace)?),
    };
    let variables = Variables {
        socket: None,
        events: match args.keeps_calls() || args.print_env || args.listen {
            true => args.buffer.clamp(1, 1 << 22).next_power_of_two(),
            false => 0,
        },
        scale: Scale::measure(),
        libcuda,
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
    let socket = args.listen.then(libcuda::shared_socket).transpose()?;
    let instance = args.place.resolve()?;
    let spool = args.keeps_calls().then(|| args.spool()).transpose()?;
    let daemon = args
        .output
        .is_some()
        .then(|| Daemon::watch(instance.reading_client(), nvml));
    let mut session = Session::new(variables, socket, spool, daemon)?;
    let freezer = |pid| match args.ring {
        Some(_) => Freezer::watch(instance.client(), pid, say).map(Some),
        None => Ok(None),
    };
    if args.listen {
        if let Some(freezer) = freezer(std::process::id())? {
            session.freeze(freezer);
        }
        let end = asked_to_end()?;
        if let Some(socket) = &session.variables().socket {
            say!("collecting at {}; end with Ctrl-C", socket.display());
        }
        let kept = session.collect(None, say, || end.load(Ordering::Relaxed));
        report(session, args, json, None, kept)?;
        return Ok(ExitCode::SUCCESS);
    }
    let Some((program, arguments)) = args.program.split_first() else {
        return Ok(Exit::Usage.into());
    };
    let held = session.hold(devices.is_some()).unwrap_or_else(|error| {
        say!("no driver calls in the trace: {error}");
        None
    });
    let mut command = match &held {
        Some(held) => {
            // The link and not the path behind it: that may have been replaced by an upgrade.
            let mut command = Command::new("/proc/self/exe");
            command.args(["trace", "--held"]).arg(held.path());
            command.arg("--").args(&args.program);
            command
        }
        None => {
            let mut command = Command::new(program);
            command.args(arguments);
            command
        }
    };
    for name in Variables::NAMES {
        command.env_remove(name);
    }
    command.envs(environment(session.variables(), &folders));
    // They are for the program, whose calls are to be shown then.
    let signals = Signals::of_parent().context("the signals of this process")?;
    let mut child = match command.spawn() {
        Ok(child) => child,
        Err(error) => return Ok(not_started(program, &error)),
    };
    signals.pass_on_to(&child);
    if let Some(held) = held {
        if let Err(error) = session.take_driver_calls(child.id(), devices, args.max_events) {
            say!("the trace has no calls into the driver: {error:#}");
        }
        held.release(&mut child);
    }
    match freezer(child.id()) {
        Ok(freezer) => freezer.into_iter().for_each(|one| session.freeze(one)),
        // The program runs.
        Err(error) => say!("incidents will have no calls: {error:#}"),
    }
    let ended = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    let ended = ended.and_then(|pid| pidfd_open(pid, PidfdFlags::empty()).ok());
    let kept = session.collect(ended.as_ref(), say, || {
        !matches!(child.try_wait(), Ok(None))
    });
    // A full disk does not end the program.
    let status = child.wait().context("waiting for the program")?;
    let code = status
        .code()
        .or_else(|| status.signal().map(|signal| 128 + signal));
    let written = report(session, args, json, code, kept);
    Ok(match (written, code) {
        (Err(error), Some(0)) => return Err(error),
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

/// Waits at `path`, then becomes the program.
fn wait(path: &Path, program: &[OsString]) -> ExitCode {
    Held::wait(path);
    let Some((name, arguments)) = program.split_first() else {
        return Exit::Usage.into();
    };
    let error = Command::new(name).args(arguments).exec();
    not_started(name, &error)
}

/// Shows and writes what was collected; neither file costs the other. `status`: the program's exit status. `kept`: why there
/// is no trace.
fn report(
    session: Session,
    args: &Args,
    json: Option<&Path>,
    status: Option<i32>,
    kept: anyhow::Result<()>,
) -> anyhow::Result<()> {
    let ended = session.end(status);
    shared::print_error(&ended.summary.table());
    let figures = json.map_or(Ok(()), |path| {
        let written = write_figures(&ended.summary, path);
        written.map_err(|error| unwritten("--json", path, &error))
    });
    let trace = match &args.output {
        Some(output) => {
            let written = kept.and_then(|()| ended.write(output, say));
            written
                .map(|()| say!("{} opens in ui.perfetto.dev", output.display()))
                .map_err(|error| unwritten("--output", output, &error))
        }
        None => kept,
    };
    match (figures, trace) {
        (Err(figures), Err(trace)) => {
            say!("{figures:#}");
            Err(trace)
        }
        (figures, trace) => figures.and(trace),
    }
}

fn write_figures(summary: &Summary, path: &Path) -> anyhow::Result<()> {
    let mut text = serde_json::to_vec_pretty(summary)?;
    text.push(b'\n');
    Ok(std::fs::write(path, text)?)
}
