//! `gtrace decode`: explains a saved kernel log, on any machine.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use gtrace_catalogue::Catalogue;
use gtrace_decoder::saved::SavedLog;
use gtrace_decoder::{DriverVersion, Options};
use gtrace_event::{Advice, Kind, Occurrence, Provenance, Severity};
use serde::Serialize;

use super::shared::{self, say};
use crate::render::{self, ColorChoice, Style};

/// How much of the log is read at once.
const PIECE: usize = 256 * 1024;

/// Explain a saved kernel log on any machine: dmesg, journalctl, syslog, /dev/kmsg.
///
/// Exit status: 0 nothing found that needs attention, 1 something found, 2 wrong usage, 3 the log
/// cannot be read.
#[derive(Clone, Debug, clap::Args)]
pub struct Args {
    /// The log; `-` is standard input.
    #[arg(value_name = "FILE", default_value = "-")]
    pub file: PathBuf,
    /// Print one JSON object a line: the event and its advice.
    #[arg(long)]
    pub json: bool,
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

/// One line of `--json`.
#[derive(Serialize)]
struct Explained<'a> {
    #[serde(flatten)]
    occurrence: &'a Occurrence,
    advice: &'a Advice,
}

/// Runs the command.
///
/// # Errors
///
/// What standard output says, a closed pipe aside.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let mut catalogue = Catalogue::builtin();
    if let Some(path) = &args.site_policy {
        let policy = match std::fs::read_to_string(path) {
            Ok(policy) => policy,
            Err(error) => return Ok(unreadable(path, &error)),
        };
        if let Err(error) = catalogue.load_site_policy(&policy) {
            say(&format!("{}: {error}", path.display()));
            return Ok(ExitCode::from(super::USAGE));
        }
    }
    let input: Box<dyn Read> = if args.file == Path::new("-") {
        Box::new(io::stdin().lock())
    } else {
        match File::open(&args.file) {
            Ok(file) => Box::new(file),
            Err(error) => return Ok(unreadable(&args.file, &error)),
        }
    };
    let report = Report {
        out: io::BufWriter::new(io::stdout().lock()),
        catalogue,
        json: args.json,
        color: !args.json && Style::of_stdout(args.color).color,
        kinds: BTreeMap::new(),
        problems: 0,
        drills: 0,
    };
    decode(&args, input, report)
}

fn decode(
    args: &Args,
    mut input: Box<dyn Read>,
    mut report: Report<impl Write>,
) -> anyhow::Result<ExitCode> {
    let mut log = SavedLog::new(Options {
        driver_version: args.driver_version,
    });
    let mut found = Vec::new();
    let mut piece = vec![0; PIECE];
    let mut first = true;
    loop {
        let read = match input.read(&mut piece) {
            Ok(0) => break,
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => {
                log.finish(&mut found);
                // What was read before is true all the same.
                let _ = report.explain(&mut found);
                return Ok(unreadable(&args.file, &error));
            }
        };
        let piece = piece.get(..read).unwrap_or_default();
        if std::mem::take(&mut first)
            && let Some((format, tool)) = compressed(piece)
        {
            say(&format!(
                "{}: this is {format}, not text; try `{tool} {} | gtrace decode`",
                name(&args.file),
                args.file.display()
            ));
            return Ok(ExitCode::from(super::NOT_POSSIBLE));
        }
        log.feed_bytes(piece, &mut found);
        if !report.explain(&mut found)? {
            return Ok(report.exit());
        }
    }
    log.finish(&mut found);
    if report.explain(&mut found)? {
        report.summary(log.lines())?;
    }
    Ok(report.exit())
}

/// Compressed logs are not read; their first bytes identify them.
fn compressed(bytes: &[u8]) -> Option<(&'static str, &'static str)> {
    [
        (b"\x1f\x8b".as_slice(), "compressed by gzip", "zcat"),
        (b"\x28\xb5\x2f\xfd", "compressed by zstd", "zstdcat"),
        (b"\xfd7zXZ", "compressed by xz", "xzcat"),
        (b"BZh", "compressed by bzip2", "bzcat"),
        (
            b"LPKSHHRH",
            "a file of the systemd journal",
            "journalctl -k --file",
        ),
    ]
    .into_iter()
    .find(|(magic, ..)| bytes.starts_with(magic))
    .map(|(_, format, tool)| (format, tool))
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
    ExitCode::from(super::NOT_POSSIBLE)
}

/// What is printed, and what was found.
struct Report<W: Write> {
    out: W,
    catalogue: Catalogue,
    json: bool,
    color: bool,
    kinds: BTreeMap<Kind, u64>,
    problems: u64,
    drills: u64,
}

impl<W: Write> Report<W> {
    /// Prints what was found. False once the reader has gone (`| head`).
    fn explain(&mut self, found: &mut Vec<Occurrence>) -> anyhow::Result<bool> {
        for mut occurrence in found.drain(..) {
            let advice = self.catalogue.assess(&mut occurrence);
            if !occurrence.continues {
                let repeated = occurrence.log.as_ref().and_then(|log| log.repeated);
                let times = repeated.unwrap_or(1);
                let count = |what: &mut u64| *what = what.saturating_add(times);
                count(self.kinds.entry(occurrence.kind).or_default());
                if occurrence.severity >= Severity::Warning {
                    count(&mut self.problems);
                }
                if occurrence.provenance == Provenance::Injected {
                    count(&mut self.drills);
                }
            }
            let text = if self.json {
                let explained = Explained {
                    occurrence: &occurrence,
                    advice: &advice,
                };
                let mut line = serde_json::to_string(&explained)?;
                line.push('\n');
                line
            } else {
                self.block(&occurrence, &advice)
            };
            if !self.write(&text)? {
                return Ok(false);
            }
        }
        // Somebody may be reading along: `dmesg --follow | gtrace decode`.
        shared::written(self.out.flush())
    }

    fn summary(&mut self, lines: u64) -> anyhow::Result<()> {
        if self.json {
            return Ok(());
        }
        let events = self.kinds.values().copied().fold(0, u64::saturating_add);
        let mut text = format!("{} in {}", count(events, "event"), count(lines, "line"));
        if events > 0 {
            let kinds = self.kinds.iter().map(|(kind, n)| format!("{kind} {n}"));
            let kinds: Vec<_> = kinds.collect();
            let _ = write!(text, ": {}", kinds.join(", "));
        }
        if self.drills > 0 {
            let _ = write!(text, " ({} injected)", self.drills);
        }
        text.push('\n');
        self.write(&text)?;
        shared::written(self.out.flush())?;
        Ok(())
    }

    fn exit(&self) -> ExitCode {
        if self.problems > 0 {
            ExitCode::from(super::PROBLEM)
        } else {
            ExitCode::SUCCESS
        }
    }

    fn write(&mut self, text: &str) -> anyhow::Result<bool> {
        shared::written(self.out.write_all(text.as_bytes()))
    }

    fn paint(&self, text: &str, code: &str) -> String {
        if self.color {
            format!("\x1b[{code}m{text}\x1b[0m")
        } else {
            text.to_owned()
        }
    }

    /// An event as a block of lines that ends with an empty one.
    fn block(&self, occurrence: &Occurrence, advice: &Advice) -> String {
        let mut block = self.headline(occurrence);
        let mut part = |label: &str, text: &str| {
            // Writing to a String cannot fail.
            let _ = writeln!(
                block,
                "  {}  {text}",
                self.paint(&format!("{label:<8}"), "2")
            );
        };
        if occurrence.continues {
            part(
                "goes on",
                "the rest of the report that the port's message above began",
            );
        }
        if let Some(times) = occurrence.log.as_ref().and_then(|log| log.repeated) {
            part("repeated", &format!("{times} times, as the log says"));
        }
        if let Some(gpu) = &occurrence.gpu {
            part("device", &render::gpu(gpu));
        }
        if let Some(device) = render::pci_device(occurrence.gpu.as_ref(), &occurrence.detail) {
            part("device", &device);
        }
        if let Some(process) = &occurrence.process {
            part("process", &render::process(process));
        }
        for (at, line) in occurrence.message.lines().enumerate() {
            part(if at == 0 { "message" } else { "" }, &render::clean(line));
        }
        if let Some(meaning) = &advice.meaning {
            part("meaning", &render::clean(meaning));
        }
        if let Some(action) = advice.action {
            part("action", action.name());
        }
        for (label, steps) in [("to do", &advice.vendor), ("site", &advice.site)] {
            for (at, step) in steps.iter().enumerate() {
                let label = if at == 0 { label } else { "" };
                part(label, &format!("{}. {}", at + 1, render::clean(step)));
            }
        }
        if let Some(rule) = &advice.rule {
            part("rule", &render::clean(rule));
        }
        block.push('\n');
        block
    }

    /// `lines 12-16  2026-03-03T04:05:06Z  host  FATAL  Xid 79 NAME`
    fn headline(&self, occurrence: &Occurrence) -> String {
        let mut line = match occurrence.lines {
            Some([first, last]) if first != last => format!("lines {first}-{last}"),
            Some([first, _]) => format!("line {first}"),
            None => String::new(),
        };
        let log = occurrence.log.as_deref();
        if let Some(time) = occurrence.time {
            let _ = write!(line, "  {time}");
        } else if let Some(time) = log.and_then(|log| log.time.as_deref()) {
            let _ = write!(line, "  {}", render::clean(time));
        } else if let Some(ns) = occurrence.boottime_ns {
            let (seconds, micros) = (ns / 1_000_000_000, ns / 1000 % 1_000_000);
            let _ = write!(line, "  {seconds}.{micros:06} s after boot");
        }
        if let Some(host) = log.and_then(|log| log.host.as_deref()) {
            let _ = write!(line, "  {}", render::clean(host));
        }
        let code = match occurrence.severity {
            Severity::Info => "36",
            Severity::Warning => "33",
            Severity::Critical => "31",
            Severity::Fatal => "1;37;41",
        };
        let severity = occurrence.severity.name().to_uppercase();
        let _ = write!(line, "  {}", self.paint(&severity, code));
        let _ = write!(
            line,
            "  {}",
            self.paint(&render::title_of(occurrence.kind, &occurrence.detail), "1")
        );
        if let Some(name) = self.catalogue.name(occurrence) {
            let _ = write!(line, " {name}");
        }
        match occurrence.provenance {
            Provenance::Injected => line.push_str("  INJECTED (drill): no fault happened"),
            Provenance::Userspace => line.push_str("  USER SPACE: a process wrote this"),
            Provenance::Kernel | Provenance::Unknown => {}
        }
        line.push('\n');
        line
    }
}

fn count(n: u64, what: &str) -> String {
    let plural = if n == 1 { "" } else { "s" };
    format!("{n} {what}{plural}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn explain(log: &str, json: bool) -> (String, u64) {
        let mut reader = SavedLog::new(Options::default());
        let mut found = Vec::new();
        reader.feed_bytes(log.as_bytes(), &mut found);
        reader.finish(&mut found);
        let mut report = Report {
            out: Vec::new(),
            catalogue: Catalogue::builtin(),
            json,
            color: false,
            kinds: BTreeMap::new(),
            problems: 0,
            drills: 0,
        };
        assert!(report.explain(&mut found).unwrap());
        report.summary(reader.lines()).unwrap();
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

    #[test]
    fn compressed_logs_are_recognised() {
        assert!(compressed(b"\x1f\x8b\x08rest").is_some());
        assert!(compressed(b"[    1.0] x").is_none());
    }
}
