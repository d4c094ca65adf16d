//! `gtrace decode`: explains a saved kernel log, on any machine.

mod fold;
mod format;
mod report;

use std::fs::File;
use std::io::{self, Read as _, Write};
use std::os::fd::AsFd as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};

use gtrace_decoder::saved::SavedLog;
use gtrace_decoder::{DriverVersion, Options};
use gtrace_event::{PciAddress, Severity, Timestamp};
use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::io::Errno;

use super::policy;
use super::shared::{self, Exit, say};
use super::signals::asked_to_end;
use crate::render::{ColorChoice, Style};
use report::{Filter, Report};

/// How much of the log is read at once.
const PIECE: usize = 256 * 1024;
/// What is known is reported once nothing has come for so long: somebody may read along.
const IDLE: Timespec = Timespec {
    tv_sec: 0,
    tv_nsec: 200_000_000,
};

/// Explain a saved kernel log on any machine: dmesg, journalctl, syslog, /dev/kmsg, behind whatever pdsh, grep or a
/// log shipper put before the lines.
///
/// Equal events are shown once, with their count.
///
/// Exit status: 0 nothing found that needs attention, 1 something found or a line with an Xid that cannot be read, 2 wrong
/// usage, 3 the log cannot be read.
#[derive(Clone, Debug, clap::Args)]
pub struct Args {
    /// The log; `-` is standard input. Several, also rotated ones: `zcat -f FILE... | gtrace decode`.
    #[arg(value_name = "FILE", default_value = "-")]
    pub file: PathBuf,
    /// Print one JSON object a line: the event, its advice, how often it came and when last.
    #[arg(long)]
    pub json: bool,
    /// Print a table instead: host, GPU, code, how often, first and last.
    #[arg(long)]
    pub summary: bool,
    /// Lowest severity: info, warning, critical or fatal.
    #[arg(long, value_name = "SEVERITY")]
    pub severity: Option<Severity>,
    /// PCI address of a device.
    #[arg(long, value_name = "ADDRESS", value_parser = parse_address)]
    pub gpu: Option<PciAddress>,
    /// Events at or after this time: an age (30m, 2d), RFC 3339, or local time. Where the log has no date with a zone,
    /// all are shown.
    #[arg(long, value_name = "TIME", allow_hyphen_values = true, value_parser = shared::parse_local_time)]
    pub since: Option<Timestamp>,
    /// NVIDIA driver that wrote the log, such as 575.51.02; else the log itself says.
    #[arg(long, value_name = "VERSION")]
    pub driver_version: Option<DriverVersion>,
    /// Site policy (TOML) that the severities and advice follow.
    #[arg(long, value_name = "FILE")]
    pub site_policy: Option<PathBuf>,
    /// When to use colours.
    #[arg(long, value_enum, default_value_t, value_name = "WHEN")]
    pub color: ColorChoice,
}

/// `0000:3b:00.0`, or without domain or function.
fn parse_address(text: &str) -> Result<PciAddress, String> {
    PciAddress::parse(text)
        .or_else(|| PciAddress::parse(&format!("0000:{text}")))
        .ok_or_else(|| "give a PCI address, such as 0000:3b:00.0".to_owned())
}

/// Runs the command.
///
/// # Errors
///
/// What standard output says, a closed pipe aside.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let catalogue = policy::catalogue(args.site_policy.as_deref())?;
    let opened = match args.file == Path::new("-") {
        true => io::stdin().as_fd().try_clone_to_owned().map(File::from),
        false => File::open(&args.file),
    };
    let input = match opened {
        Ok(file) => file,
        Err(error) => return Ok(unreadable(&args.file, &error)),
    };
    let mut report = Report::new(io::BufWriter::new(io::stdout().lock()), catalogue);
    report.filter = Filter {
        severity: args.severity,
        device: args.gpu,
        since: args.since,
    };
    report.json = args.json;
    report.table = args.summary;
    if !args.json {
        report.style = Style::of_stdout(args.color);
    }
    // Whoever follows a log ends it with Ctrl-C, which ends the writer of a pipe too: what was found is printed then. Of a file a part
    // would be taken for the whole.
    let is_followed = !input.metadata().is_ok_and(|found| found.is_file());
    let end = is_followed.then(asked_to_end).transpose()?;
    decode(&args, input, end.as_deref(), report)
}

/// Reads the log to its end, or until `end` is true.
fn decode(
    args: &Args,
    mut input: File,
    end: Option<&AtomicBool>,
    mut report: Report<impl Write>,
) -> anyhow::Result<ExitCode> {
    let mut log = SavedLog::new(Options {
        driver_version: args.driver_version,
    });
    let mut found = Vec::new();
    let mut piece = vec![0; PIECE];
    let mut first = true;
    loop {
        // What was written until then is in the pipe, which has no more room than a piece.
        let is_last = end.is_some_and(|end| end.load(Ordering::Relaxed));
        if is_idle(&input) {
            if is_last {
                break;
            }
            if !report.explain()? {
                return Ok(report.exit());
            }
            continue;
        }
        let read = match input.read(&mut piece) {
            Ok(0) => break,
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => {
                log.finish(&mut found);
                report.take(&mut found);
                // What was read before is true all the same.
                let _ = report.explain();
                return Ok(unreadable(&args.file, &error));
            }
        };
        let piece = piece.get(..read).unwrap_or_default();
        if std::mem::take(&mut first)
            && let Some((what, remedy)) = format::refusal(piece)
        {
            let remedy = remedy.replace("FILE", &args.file.display().to_string());
            say(&format!("{}: this is {what}; {remedy}", name(&args.file)));
            return Ok(Exit::NotPossible.into());
        }
        log.feed_bytes(piece, &mut found);
        report.take(&mut found);
        if report.is_full() && !report.explain()? {
            return Ok(report.exit());
        }
        if is_last {
            break;
        }
    }
    log.finish(&mut found);
    report.take(&mut found);
    if report.explain()? {
        report.end(&log, &name(&args.file))?;
    }
    Ok(report.exit())
}

/// Whether nothing can be read for a while, as from a pipe whose writer waits.
fn is_idle(input: &File) -> bool {
    let mut polled = [PollFd::new(input, PollFlags::IN)];
    let found = rustix::event::poll(&mut polled, Some(&IDLE));
    matches!(found, Ok(0) | Err(Errno::INTR))
}

fn name(path: &Path) -> String {
    if path == Path::new("-") {
        "standard input".to_owned()
    } else {
        path.display().to_string()
    }
}

fn unreadable(path: &Path, error: &io::Error) -> ExitCode {
    let remedy = match error.kind() {
        io::ErrorKind::NotFound => "give the path of a saved log, or `-` for standard input",
        io::ErrorKind::PermissionDenied => "run as a user who may read it, for example with sudo",
        io::ErrorKind::IsADirectory => "give a file in it",
        io::ErrorKind::InvalidData => "save it as UTF-8 text",
        _ => "check the file and its disk",
    };
    say(&format!("cannot read {}: {error}; {remedy}", name(path)));
    Exit::NotPossible.into()
}

#[cfg(test)]
mod tests {
    use gtrace_catalogue::Catalogue;
    use gtrace_event::{Kind, Occurrence};

    use super::*;

    fn explain(log: &str, json: bool) -> (String, u64) {
        explain_as(log, |report| report.json = json)
    }

    fn explain_as(log: &str, set: impl Fn(&mut Report<Vec<u8>>)) -> (String, u64) {
        let mut reader = SavedLog::new(Options::default());
        let mut found = Vec::new();
        reader.feed_bytes(log.as_bytes(), &mut found);
        reader.finish(&mut found);
        let mut report = Report::new(Vec::new(), Catalogue::builtin());
        set(&mut report);
        report.take(&mut found);
        assert!(report.explain().unwrap());
        report.end(&reader, "log").unwrap();
        (String::from_utf8(report.out).unwrap(), report.problems)
    }

    const LOG: &str = "[    1.000000] usb 1-1: x\n\
         [   12.345678] NVRM: Xid (PCI:0000:3b:00): 79, pid=7, name=py\u{7}thon, GPU has fallen off the bus.\n";

    #[test]
    fn text_says_what_where_and_what_to_do() {
        let (text, problems) = explain(LOG, false);
        assert_eq!(problems, 1);
        for part in [
            "line 2  12.345678 s after boot  FATAL  Xid 79 ",
            "0000:3b:00.0",
            "py\\x07thon",
            "meaning",
            "to do",
            "\n1 event in 2 lines: xid 1\n",
        ] {
            assert!(text.contains(part), "{part} in\n{text}");
        }
        assert!(!text.contains('\u{7}') && !text.contains('\u{1b}'));
    }

    #[test]
    fn time_and_host_of_a_line_are_shown_and_a_folded_line_counts_as_often_as_it_came() {
        let log = "Mar  3 04:05:06 gpu\u{202e}-1 kernel: message repeated 3 times: [ NVRM: Xid \
                   (PCI:0000:3b:00): 31, x]\n\
                   [Tue Mar  3 04:05:06 2026] gpu-2 kernel: NVRM: Xid (PCI:0001:ab:cd): 79, x\n";
        let (text, problems) = explain(log, false);
        assert_eq!(problems, 4);
        for part in [
            "line 1  Mar  3 04:05:06  gpu\\u{202e}-1  WARNING  Xid 31 ",
            "repeated  3 times",
            "line 2  Tue Mar  3 04:05:06 2026  gpu-2  FATAL  Xid 79 ",
            "\n4 events in 2 lines: xid 4\n",
        ] {
            assert!(text.contains(part), "{part} in\n{text}");
        }
        let (json, _) = explain(log, true);
        let first: serde_json::Value = serde_json::from_str(json.lines().next().unwrap()).unwrap();
        assert_eq!(first["log"]["repeated"], 3);
        assert_eq!(first["log"]["time"], "Mar  3 04:05:06");
    }

    #[test]
    fn json_is_one_object_a_line() {
        let (text, _) = explain(LOG, true);
        assert_eq!(text.lines().count(), 1);
        let value: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(value["detail"]["xid"], 79);
        assert_eq!(value["lines"], serde_json::json!([2, 2]));
        assert!(value["advice"]["meaning"].is_string());
        let occurrence: Occurrence = serde_json::from_str(&text).unwrap();
        assert_eq!(occurrence.kind, Kind::Xid);
    }

    #[test]
    fn a_clean_log_says_so() {
        assert_eq!(
            explain("usb 1-1: x\n", false),
            ("0 events in 1 line\n".to_owned(), 0)
        );
        assert_eq!(explain("", true), (String::new(), 0));
    }

    /// So many reports of one fault, at the GPUs of two hosts, one of them once.
    fn storm() -> String {
        let line = |n: u32, host: &str, address: &str| {
            format!(
                "2026-03-03T04:{:02}:{:02}Z {host} kernel: NVRM: Xid (PCI:0000:{address}:00): 31, pid=7, \
                 name=python, Ch 00000010, intr 00000000. MMU Fault: ENGINE GRAPHICS GPCCLIENT_T1_3 faulted @ \
                 0x7f_abcd{n:04}. Fault is of type FAULT_PDE ACCESS_TYPE_VIRT_READ\n",
                n / 60,
                n % 60
            )
        };
        let many = (0..2000).map(|n| line(n, "gpu-1", "3b"));
        many.chain([line(2000, "gpu-2", "3b"), line(2001, "gpu-1", "5e")])
            .collect()
    }

    #[test]
    fn equal_events_are_shown_once_with_their_count() {
        let (text, problems) = explain(&storm(), false);
        assert_eq!(problems, 2002);
        assert_eq!(text.matches("Xid 31 ").count(), 3, "{text}");
        for part in [
            "line 1  2026-03-03T04:00:00Z  gpu-1  WARNING  Xid 31 ",
            "repeated  2000 times, last in line 2000, 2026-03-03T04:33:19Z\n",
            "2002 events in 2002 lines: xid 2002; equal ones are shown once\n",
        ] {
            assert!(text.contains(part), "{part} in\n{text}");
        }
        let (json, _) = explain(&storm(), true);
        let lines: Vec<serde_json::Value> = json
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        let repeats: Vec<_> = lines.iter().map(|line| &line["repeats"]).collect();
        assert_eq!(repeats, [1999, 0, 0]);
        assert_eq!(lines[0]["last"]["line"], 2000);
        assert_eq!(lines[0]["last"]["time"], "2026-03-03T04:33:19Z");
        assert_eq!(lines[1].get("last"), None);
    }

    #[test]
    fn a_summary_has_a_row_for_each_host_device_and_code() {
        let (text, _) = explain_as(&format!("{}{LOG}", storm()), |report| report.table = true);
        let rows: Vec<Vec<&str>> = text
            .lines()
            .map(|line| {
                line.split("  ")
                    .map(str::trim)
                    .filter(|c| !c.is_empty())
                    .collect()
            })
            .collect();
        assert_eq!(
            rows[0],
            [
                "HOST", "DEVICE", "SEVERITY", "WHAT", "COUNT", "FIRST", "LAST"
            ]
        );
        assert_eq!(rows[1][..5], ["-", "0000:3b:00.0", "FATAL", "Xid 79", "1"]);
        assert_eq!(
            rows[2][..5],
            ["gpu-1", "0000:3b:00.0", "WARNING", "Xid 31", "2000"]
        );
        assert_eq!(rows[2][6], "2026-03-03T04:33:19Z (line 2000)");
        assert_eq!(
            rows[3][..5],
            ["gpu-1", "0000:5e:00.0", "WARNING", "Xid 31", "1"]
        );
        assert_eq!(
            rows[4][..5],
            ["gpu-2", "0000:3b:00.0", "WARNING", "Xid 31", "1"]
        );
    }

    #[test]
    fn only_what_is_asked_for_is_shown() {
        let log = format!("{}{LOG}", storm());
        let shown = |filter: Filter| explain_as(&log, |report| report.filter = filter).1;
        let all = Filter::default();
        let severity = Some(Severity::Fatal);
        assert_eq!(shown(Filter { severity, ..all }), 1);
        let device = PciAddress::parse("0000:5e:00.0");
        assert_eq!(shown(Filter { device, ..all }), 1);
        let since = Some("2026-03-03T04:33:20Z".parse().unwrap());
        // Two of the storm, and the one that has no date.
        assert_eq!(shown(Filter { since, ..all }), 3);
    }

    #[test]
    fn codes_that_cannot_be_read_are_problems_and_unknown_drivers_are_named() {
        let (text, problems) = explain("%% NVRM: Xid (PCI:0000:3b:00): 79, x\n", false);
        assert_eq!((text.as_str(), problems), ("0 events in 1 line\n", 1));
        let (text, problems) = explain(
            "[    1.0] amdgpu 0000:03:00.0: amdgpu: ring gfx timeout, signaled seq=1\n\
             [    2.0] amdgpu 0000:03:00.0: amdgpu: VRAM: 16384M\n\
             [    3.0] LustreError: 11-0: x: operation ost_read failed with -5.\n",
            false,
        );
        assert_eq!(problems, 0);
        let last = "2 error lines of drivers that gtrace does not know (amdgpu 1, LustreError 1)";
        assert_eq!(text.lines().last(), Some(last), "{text}");
    }
}
