//! Runs other programs, and says in one line what is about to be done.

use std::ffi::OsStr;
use std::io::{self, BufRead as _, BufReader, IsTerminal as _, Read, Write};
use std::path::Path;
use std::process::{Command, ExitStatus, Output, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};

/// Says what is about to be done.
pub(crate) fn step(what: impl AsRef<str>) {
    let (on, off) = if std::io::stdout().is_terminal() {
        ("\x1b[1m", "\x1b[0m")
    } else {
        ("", "")
    };
    println!("{on}gtrace: {}{off}", what.as_ref());
}

/// A command without what `cargo run` puts into this process's environment.
///
/// `LD_LIBRARY_PATH` would show another toolchain's compiler the libraries of this one, and
/// `RUSTUP_TOOLCHAIN` would override the toolchain that is asked for by name.
pub(crate) fn clean(program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(program);
    command
        .env_remove("LD_LIBRARY_PATH")
        .env_remove("RUSTUP_TOOLCHAIN")
        .env_remove("CARGO_MANIFEST_DIR");
    command
}

/// The command as a person would type it.
pub(crate) fn display(command: &Command) -> String {
    let program = Path::new(command.get_program());
    // The cargo that runs this is known by its whole path, which nobody types.
    let program = match program.file_name() {
        Some(name) if name == "cargo" => name,
        _ => program.as_os_str(),
    };
    std::iter::once(program)
        .chain(command.get_args())
        .map(|word| quote(&word.to_string_lossy()))
        .collect::<Vec<_>>()
        .join(" ")
}

fn quote(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,+@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

/// Runs `command` with the terminal's input and output; an exit status other than 0 is an error.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    let status = command
        .status()
        .with_context(|| format!("cannot start `{}`", display(command)))?;
    if !status.success() {
        bail!(
            "`{}` failed ({status}); its output is above",
            display(command)
        );
    }
    Ok(())
}

/// Runs `command` and returns what it printed; an exit status other than 0 is an error that
/// carries its standard error.
pub(crate) fn read(command: &mut Command) -> Result<String> {
    let output = output(command)?;
    if !output.status.success() {
        let stderr = String::from_utf8_lossy(&output.stderr);
        bail!(
            "`{}` failed ({}): {}",
            display(command),
            output.status,
            stderr.trim()
        );
    }
    String::from_utf8(output.stdout)
        .with_context(|| format!("`{}` printed something that is not UTF-8", display(command)))
}

/// Runs `command` with its output captured, whatever its exit status.
pub(crate) fn output(command: &mut Command) -> Result<Output> {
    command
        .stdin(Stdio::null())
        .output()
        .with_context(|| format!("cannot start `{}`", display(command)))
}

/// How long the output of a command is read on that has ended: processes that it left may keep it open for ever.
const AFTER_THE_END: Duration = Duration::from_secs(3);

/// Runs `command`, shows the lines that it prints but for those that `hide` names, and returns
/// its status and all lines.
pub(crate) fn tee(
    command: &mut Command,
    mut hide: impl FnMut(&str) -> bool,
) -> Result<(ExitStatus, String)> {
    if io::stdout().is_terminal() {
        command.env("CARGO_TERM_COLOR", "always");
    }
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .with_context(|| format!("cannot start `{}`", display(command)))?;
    let (sender, lines) = mpsc::channel();
    let stdout = child.stdout.take().map(|pipe| (false, boxed(pipe)));
    let stderr = child.stderr.take().map(|pipe| (true, boxed(pipe)));
    for (is_error, pipe) in [stdout, stderr].into_iter().flatten() {
        let sender = sender.clone();
        thread::spawn(move || {
            let mut pipe = BufReader::new(pipe);
            let mut line = Vec::new();
            while pipe.read_until(b'\n', &mut line).is_ok_and(|n| n > 0) {
                if sender.send((is_error, std::mem::take(&mut line))).is_err() {
                    break;
                }
            }
        });
    }
    drop(sender);
    let mut text = Vec::new();
    let mut ended = false;
    loop {
        let (is_error, line) = match lines.recv_timeout(AFTER_THE_END) {
            Ok(line) => line,
            Err(RecvTimeoutError::Disconnected) => break,
            Err(RecvTimeoutError::Timeout) if ended => {
                step(format!(
                    "`{}` has ended, and a process that it started has not, which keeps its output open",
                    display(command)
                ));
                break;
            }
            Err(RecvTimeoutError::Timeout) => {
                ended = child.try_wait().is_ok_and(|status| status.is_some());
                continue;
            }
        };
        text.extend_from_slice(&line);
        if hide(&String::from_utf8_lossy(&line)) {
            continue;
        }
        let shown = if is_error {
            io::stderr().write_all(&line)
        } else {
            io::stdout().write_all(&line)
        };
        shown.context("cannot show the output of a command")?;
    }
    let status = child
        .wait()
        .with_context(|| format!("lost `{}`", display(command)))?;
    Ok((status, String::from_utf8_lossy(&text).into_owned()))
}

fn boxed(pipe: impl Read + Send + 'static) -> Box<dyn Read + Send> {
    Box::new(pipe)
}

/// Asks `done` every 50 ms until it has an answer, for at most `limit`.
pub(crate) fn wait_for<T>(
    limit: Duration,
    mut done: impl FnMut() -> Result<Option<T>>,
) -> Result<Option<T>> {
    let start = Instant::now();
    loop {
        if let Some(answer) = done()? {
            return Ok(Some(answer));
        }
        if start.elapsed() >= limit {
            return Ok(None);
        }
        thread::sleep(Duration::from_millis(50));
    }
}

/// Whether `command` starts and exits with 0; its output is dropped.
pub(crate) fn succeeds(command: &mut Command) -> bool {
    output(command).is_ok_and(|output| output.status.success())
}

/// Whether `program` is in `PATH`.
pub(crate) fn in_path(program: &str) -> bool {
    std::env::var_os("PATH").is_some_and(|path| {
        std::env::split_paths(&path).any(|dir| is_executable(&dir.join(program)))
    })
}

/// Whether `file` is a file that someone may execute.
pub(crate) fn is_executable(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    file.metadata()
        .is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Else one test that leaves a process keeps all that come after it from being run.
    #[test]
    fn a_process_that_outlives_its_command_is_not_waited_for() {
        let mut command = Command::new("sh");
        command.args(["-c", "echo out; echo err >&2; sleep 600 & echo $!; exit 3"]);
        let (status, text) = tee(&mut command, |_| true).unwrap();
        assert_eq!(status.code(), Some(3));
        let pid = text.lines().find_map(|line| line.parse::<u32>().ok());
        let left = format!("/proc/{}", pid.unwrap());
        assert!(Path::new(&left).exists(), "{text}");
        assert!(text.contains("out\n") && text.contains("err\n"), "{text}");
        kill(pid.unwrap());
    }

    fn kill(pid: u32) {
        // The shell's own, as kill(1) is not everywhere.
        let status = Command::new("sh")
            .args(["-c", &format!("kill {pid}")])
            .status();
        assert!(status.is_ok_and(|status| status.success()));
    }

    #[test]
    fn a_command_is_shown_as_it_would_be_typed() {
        let mut command = Command::new("gtrace");
        command.args(["inject", "line", "it's here", "", "--gpu=0000:3b:00.0"]);
        assert_eq!(
            display(&command),
            r"gtrace inject line 'it'\''s here' '' --gpu=0000:3b:00.0"
        );
    }

    #[test]
    fn a_failing_command_reports_its_standard_error() {
        let mut command = Command::new("sh");
        command.args(["-c", "echo the cause >&2; exit 3"]);
        let error = read(&mut command).unwrap_err().to_string();
        assert!(
            error.contains("the cause") && error.contains('3'),
            "{error}"
        );
    }

    #[test]
    fn what_a_command_prints_is_shown_and_kept() {
        let mut command = Command::new("sh");
        command.args(["-c", "echo one; echo two >&2; exit 1"]);
        let (status, text) = tee(&mut command, |_| false).unwrap();
        assert_eq!(status.code(), Some(1));
        assert!(text.contains("one\n") && text.contains("two\n"), "{text}");
    }
}
