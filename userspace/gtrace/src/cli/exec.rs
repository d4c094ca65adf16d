//! `gtrace exec`: runs a program with the GPU of another host.

pub(super) mod connection;
pub(super) mod libraries;
mod stats;

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::PathBuf;
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};

use anyhow::Context as _;
use gtrace_link::{LinkError, Target};
use gtrace_protocol::{Flags, HEADER_LEN, Header, RefusalKind, control};

use self::connection::Connection;
use super::shared::{self, Exit, Failure};
use super::signals::Signals;

/// The program exists and cannot be run: the exit status that shells use.
const CANNOT_RUN: u8 = 126;
/// There is no such program.
const NOT_FOUND: u8 = 127;

/// Run a program with the GPUs of a host where `gtrace serve` runs.
///
/// Exit status: that of the program; 127 if there is none of that name, 126 if it cannot be run, 3
/// if the server does not answer or refuses, 2 wrong usage.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// The server: HOST, HOST:PORT or unix:PATH.
    #[arg(
        long,
        value_name = "ADDR",
        env = "GTRACE_REMOTE",
        required_unless_present = "unpack",
        default_value = "",
        hide_default_value = true
    )]
    remote: String,
    /// How to reach it; auto takes the quickest that works.
    #[arg(
        long,
        value_name = "auto|shm|unix|tcp|rdma",
        env = "GTRACE_LINK",
        default_value = "auto"
    )]
    link: String,
    #[command(flatten)]
    connection: Connection,
    /// Have every call answered before it returns: errors come with the call that caused them, and
    /// everything is slower.
    #[arg(long)]
    strict: bool,
    /// Have a program whose calls are lost exit with 74, whatever it would exit with itself.
    #[arg(long)]
    strict_exit: bool,
    /// Wait for the program and show its calls and their times, on standard error.
    #[arg(long, conflicts_with = "print_env")]
    stats: bool,
    /// Write calls and times as JSON to a file; %p in its name is the process id.
    #[arg(long, value_name = "FILE", conflicts_with = "stats")]
    stats_file: Option<PathBuf>,
    /// Trace the program's calls as well, as `gtrace trace -o FILE` does: what each costs over the network.
    #[arg(long, value_name = "FILE.pftrace", conflicts_with_all = ["stats", "print_env"])]
    trace: Option<PathBuf>,
    /// In the trace, also what the GPU there did for launches and copies, which its server times by two events of the
    /// driver around each.
    #[arg(long, requires = "trace")]
    gpu_time: bool,
    /// Give the program gtrace's CUPTI in the place of NVIDIA's, which sees nothing of a remote GPU, so that profilers such as
    /// torch.profiler see kernels, copies and fills. It is loaded into every process first (LD_PRELOAD), as packages of
    /// frameworks look for their own.
    #[arg(long, conflicts_with = "trace")]
    cupti: bool,
    /// Print the environment as shell commands, and run nothing.
    #[arg(long)]
    print_env: bool,
    /// Unpack the client's libraries below DIR, or with --cupti gtrace's CUPTI, for everybody to read, print their folder, and
    /// run nothing: for images of containers. It takes no server.
    #[arg(long, value_name = "DIR", conflicts_with_all = ["print_env", "program"])]
    unpack: Option<PathBuf>,
    /// The program and its arguments.
    #[arg(
        trailing_var_arg = true,
        allow_hyphen_values = true,
        required_unless_present_any = ["print_env", "unpack"],
        value_name = "PROGRAM"
    )]
    program: Vec<OsString>,
}

/// Runs the command.
///
/// # Errors
///
/// What keeps the program from being prepared: the folder for the libraries, for example.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    if let Some(place) = &args.unpack {
        let library = match args.cupti {
            true => &libraries::CUPTI,
            false => &libraries::CLIENT,
        };
        let folder = library.unpack_for_all(place)?;
        shared::print_bytes(&[folder.as_os_str().as_bytes(), b"\n"].concat())?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut environment = variables(&args);
    let lookup = |name: &str| {
        let found = environment.iter().find(|(n, _)| *n == name);
        found.map(|(_, value)| value.clone())
    };
    let target = Target::from_variables(lookup).map_err(Failure::usage)?;
    probe(&target, args.strict).map_err(Failure::not_possible)?;
    let folder = libraries::CLIENT.unpack()?;
    let mut path = search_path(&folder);
    if args.cupti {
        let mut first = libraries::CUPTI.unpack()?.into_os_string();
        first.push(":");
        first.push(path);
        path = first;
        environment.push(("LD_PRELOAD", preloaded()));
    }
    environment.push(("LD_LIBRARY_PATH", path));
    if args.print_env {
        return print(&environment);
    }
    let Some((program, arguments)) = args.program.split_first() else {
        return Ok(Exit::Usage.into());
    };
    let mut command = match &args.trace {
        Some(trace) => {
            let mut command = Command::new(std::env::current_exe()?);
            command.args(["trace", "--output"]).arg(trace);
            command.args(args.gpu_time.then_some("--gpu-time"));
            command.arg("--").arg(program);
            command
        }
        None => Command::new(program),
    };
    command.args(arguments);
    for name in VARIABLES {
        command.env_remove(name);
    }
    command.envs(environment);
    if args.stats {
        return watched(command, program);
    }
    let error = command.exec();
    Ok(not_started(program, &error))
}

/// All variables that configure the client's library. Those that are not set here must not be
/// inherited from an outer `gtrace exec`.
pub(super) const VARIABLES: [&str; 13] = [
    "GTRACE_REMOTE",
    "GTRACE_LINK",
    "GTRACE_RDMA_TRUSTED_NET",
    "GTRACE_TOKEN_FILE",
    "GTRACE_TLS_CA",
    "GTRACE_TLS_NAME",
    "GTRACE_TLS_CERT",
    "GTRACE_TLS_KEY",
    "GTRACE_STRICT",
    "GTRACE_STRICT_EXIT",
    "GTRACE_EMULATE",
    "GTRACE_RESUME",
    "GTRACE_STATS",
];

/// What the client's library reads. Files are named by absolute paths, as the program may change
/// its directory.
fn variables(args: &Args) -> Vec<(&'static str, OsString)> {
    let set = [
        ("GTRACE_REMOTE", Some(args.remote.clone().into())),
        ("GTRACE_LINK", Some(args.link.clone().into())),
        ("GTRACE_STRICT", args.strict.then(|| "1".into())),
        ("GTRACE_STRICT_EXIT", args.strict_exit.then(|| "1".into())),
        ("GTRACE_STATS", connection::file(&args.stats_file)),
    ];
    set.into_iter()
        .filter_map(|(name, value)| Some((name, value?)))
        .chain(args.connection.variables())
        .collect()
}

/// Opens a session and ends it again: the program shall not start only to find no GPU. A connection that breaks meanwhile is
/// tried again, and so is a server that has no place: a program that has just ended may have one for a moment yet.
pub(super) fn probe(target: &Target, strict: bool) -> Result<(), LinkError> {
    let began = Instant::now();
    let (mut broken, mut pause) = (0, PROBE_PAUSE);
    loop {
        match probe_once(target, strict) {
            Err(LinkError::Closed(_)) if broken < PROBES_BROKEN => {
                broken += 1;
                std::thread::sleep(PROBE_PAUSE);
            }
            Err(LinkError::Refused(refusal))
                if refusal.kind == RefusalKind::MaxClients && began.elapsed() < PLACE_FREE =>
            {
                std::thread::sleep(pause);
                pause = (pause * 2).min(PLACE_PAUSE_MAX);
            }
            probed => return probed,
        }
    }
}

/// Connections that break before `gtrace exec` gives up, and the pause behind each.
const PROBES_BROKEN: u32 = 2;
const PROBE_PAUSE: Duration = Duration::from_millis(50);
/// How long the place of a program that has ended may take to be free: its worker gives back what it had.
const PLACE_FREE: Duration = Duration::from_secs(3);
/// Longest pause between two questions whether it is.
const PLACE_PAUSE_MAX: Duration = Duration::from_millis(400);

fn probe_once(target: &Target, strict: bool) -> Result<(), LinkError> {
    // The program that follows has this process, so that the server would take it for one that may come back.
    let target = &Target {
        resume: Duration::ZERO,
        ..target.clone()
    };
    let (mut link, _, _) = gtrace_link::connect(target, &gtrace_link::hello(strict), None)?;
    let goodbye = Header {
        length: HEADER_LEN as u32,
        op: control::GOODBYE,
        seq: 1,
        flags: Flags::ONE_WAY,
        ..Header::default()
    };
    link.tx.reserve(HEADER_LEN)?[..HEADER_LEN].copy_from_slice(&goodbye.to_bytes());
    link.tx.commit(HEADER_LEN);
    link.tx.flush()?;
    // Until it is over: a server with room for one client is to have it for the program.
    let deadline = Instant::now() + Duration::from_secs(1);
    let _ = link.rx.peek(HEADER_LEN, Some(deadline));
    Ok(())
}

pub(super) fn search_path(folder: &std::path::Path) -> OsString {
    let mut path = folder.as_os_str().to_owned();
    if let Some(before) = std::env::var_os("LD_LIBRARY_PATH").filter(|path| !path.is_empty()) {
        path.push(":");
        path.push(before);
    }
    path
}

/// What the dynamic loader loads before all else: CUPTI by its names, for which nobody looks any more then, and what it does already.
fn preloaded() -> OsString {
    let mut list = OsString::from(libraries::CUPTI_NAMES.join(":"));
    if let Some(before) = std::env::var_os("LD_PRELOAD").filter(|list| !list.is_empty()) {
        list.push(":");
        list.push(before);
    }
    list
}

/// Prints variables for a shell to take over.
pub(super) fn print(environment: &[(&'static str, OsString)]) -> anyhow::Result<ExitCode> {
    for (name, value) in environment {
        let mut line = format!("export {name}=").into_bytes();
        line.extend(quoted(value));
        line.push(b'\n');
        shared::print_bytes(&line)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// A word of the shell.
fn quoted(word: &OsStr) -> Vec<u8> {
    let bytes = word.as_bytes();
    let plain = |b: &u8| b.is_ascii_alphanumeric() || b"_-./:,=@%+".contains(b);
    if !bytes.is_empty() && bytes.iter().all(plain) {
        return bytes.to_vec();
    }
    let inner = bytes
        .split(|b| *b == b'\'')
        .collect::<Vec<_>>()
        .join(&b"'\\''"[..]);
    [b"'", inner.as_slice(), b"'"].concat()
}

pub(super) fn not_started(program: &OsStr, error: &std::io::Error) -> ExitCode {
    say!("{}: {error}", program.display());
    ExitCode::from(match error.kind() {
        std::io::ErrorKind::NotFound => NOT_FOUND,
        _ => CANNOT_RUN,
    })
}

/// Runs the program as a child, waits, and shows what its processes have counted.
fn watched(mut command: Command, program: &OsStr) -> anyhow::Result<ExitCode> {
    let folder = stats::Folder::new().context("no folder for the statistics")?;
    command.env("GTRACE_STATS", folder.pattern());
    // They are for the program, whose statistics are to be shown then.
    let signals = Signals::of_parent().context("the signals of this process")?;
    let mut child = match command.spawn() {
        Ok(child) => child,
        Err(error) => return Ok(not_started(program, &error)),
    };
    signals.pass_on_to(&child);
    let status = child.wait().context("waiting for the program")?;
    shared::print_error(&folder.table());
    let code = status
        .code()
        .or_else(|| status.signal().map(|signal| 128 + signal));
    Ok(ExitCode::from(u8::try_from(code.unwrap_or(1)).unwrap_or(1)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser as _;

    #[derive(clap::Parser)]
    struct Cli {
        #[command(flatten)]
        args: Args,
    }

    fn parse(words: &[&str]) -> Result<Args, clap::Error> {
        let words = std::iter::once(&"exec").chain(words);
        Cli::try_parse_from(words).map(|cli| cli.args)
    }

    #[test]
    fn the_programs_own_options_are_its_own() {
        let args = parse(&["--remote", "h", "--", "prog", "--stats", "-x"]).unwrap();
        assert!(!args.stats);
        assert_eq!(args.program, ["prog", "--stats", "-x"]);
        let args = parse(&["--remote", "h", "prog", "--strict"]).unwrap();
        assert!(!args.strict);
    }

    #[test]
    fn a_program_is_needed_unless_the_environment_is_to_be_shown() {
        assert!(parse(&["--remote", "h"]).is_err());
        assert!(parse(&["--remote", "h", "--print-env"]).is_ok());
        assert!(parse(&["--unpack", "d"]).is_ok());
        assert!(parse(&["--unpack", "d", "prog"]).is_err());
        assert!(parse(&["prog"]).is_err());
        assert!(parse(&["--remote", "h", "--tls-name", "n", "prog"]).is_err());
    }

    #[test]
    fn the_environment_has_what_was_asked_for() {
        let args = parse(&["--remote", "h", "--strict", "--token-file", "t", "prog"]).unwrap();
        let variables = variables(&args);
        let get = |name| {
            let found = variables.iter().find(|(n, _)| *n == name);
            found.map(|(_, value)| value.to_string_lossy().into_owned())
        };
        assert_eq!(get("GTRACE_REMOTE").as_deref(), Some("h"));
        assert_eq!(get("GTRACE_STRICT").as_deref(), Some("1"));
        assert!(get("GTRACE_TOKEN_FILE").unwrap().starts_with('/'));
        assert_eq!(get("GTRACE_EMULATE"), None);
    }

    #[test]
    fn words_are_quoted_for_the_shell() {
        let quoted = |word: &str| String::from_utf8(quoted(OsStr::new(word))).unwrap();
        assert_eq!(quoted("/a/b:c"), "/a/b:c");
        assert_eq!(quoted("it's $HOME"), "'it'\\''s $HOME'");
        assert_eq!(quoted(""), "''");
    }
}
