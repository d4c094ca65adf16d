use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Read, Write};
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use nvml_wrapper::Nvml;
use nvml_wrapper::error::NvmlError;
use rustix::process::Signal;

use super::collect::{self, Beside, Boards};
use super::fabric::FabricReader;
use super::gpm::Gpm;
use super::links::LinkErrors;
use super::protocol::{Answer, ChildError, MAX_LINE, Op, Request, Response};

/// The library's soname. Without a path, the dynamic linker searches LD_LIBRARY_PATH, its
/// cache and the default folders.
const LIBRARY: &str = "libnvidia-ml.so.1";

/// Answers requests on standard input until it ends. This is all that `gtrace nvml-child` does.
///
/// `lib_path` names the library where it is not in the dynamic linker's search path.
pub fn child_main(lib_path: Option<PathBuf>) -> ExitCode {
    // Standard input ends when the daemon does, but a call that hangs would never see it.
    if rustix::process::set_parent_process_death_signal(Some(Signal::KILL)).is_err() {
        return ExitCode::FAILURE;
    }
    // The driver names who waits for a GPU that does not answer, and this was started as `exe`.
    let _ = rustix::thread::set_name(c"gtrace-nvml");
    let Ok(out) = private_stdout() else {
        return ExitCode::FAILURE;
    };
    match serve(
        io::stdin().lock(),
        BufWriter::new(out),
        lib_path.as_deref().unwrap_or(Path::new(LIBRARY)),
    ) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

/// Standard output under another descriptor; descriptor 1 goes to standard error, so that
/// nothing that the library prints gets between the answers.
fn private_stdout() -> io::Result<File> {
    let out = io::stdout().as_fd().try_clone_to_owned()?;
    rustix::stdio::dup2_stdout(io::stderr())?;
    Ok(File::from(out))
}

fn serve(input: impl Read, mut output: impl Write, library: &Path) -> io::Result<()> {
    let mut input = BufReader::new(input);
    let mut nvml = None;
    let mut beside = None;
    let mut line = Vec::new();
    loop {
        line.clear();
        if input.by_ref().take(MAX_LINE).read_until(b'\n', &mut line)? == 0 {
            return Ok(());
        }
        let request: Request = serde_json::from_slice(&line)?;
        let mut send = |answer| write_line(&mut output, request.id, answer);
        let answer = match request.op {
            // A line that cannot be written is followed by another that cannot: the last one's error counts.
            Op::Sample | Op::Quick { .. } => {
                sample(&mut nvml, &mut beside, library, &request, |part| {
                    drop(send(part))
                })
            }
        };
        send(answer)?;
    }
}

/// What a GPU answered goes with the line that follows at once, as each write wakes two threads of the daemon.
fn write_line(mut output: impl Write, id: u64, answer: Answer) -> io::Result<()> {
    let is_followed = matches!(answer, Answer::Gpu(_) | Answer::Unreadable(_));
    let mut text = serde_json::to_vec(&Response { id, answer })?;
    text.push(b'\n');
    output.write_all(&text)?;
    match is_followed {
        true => Ok(()),
        false => output.flush(),
    }
}

fn sample(
    nvml: &mut Option<Nvml>,
    beside: &mut Option<Beside>,
    library: &Path,
    request: &Request,
    send: impl FnMut(Answer),
) -> Answer {
    let opened = match nvml.take() {
        Some(open) => Ok(open),
        None => Nvml::builder().lib_path(library.as_os_str()).init(),
    };
    let read = opened.and_then(|open| {
        let nvml = nvml.insert(open);
        let beside = beside.get_or_insert_with(|| Beside {
            gpm: Gpm::default(),
            fabric: FabricReader::open(library),
            boards: Boards::default(),
            links: LinkErrors::default(),
        });
        collect::snapshot(nvml, beside, request, send)
    });
    match read {
        Ok(snapshot) => Answer::Ok(Box::new(snapshot)),
        Err(error) => Answer::Error(ChildError {
            absent: matches!(
                error,
                NvmlError::LibloadingError(_)
                    | NvmlError::LibraryNotFound
                    | NvmlError::DriverNotLoaded
            ),
            reason: error.to_string(),
        }),
    }
}
