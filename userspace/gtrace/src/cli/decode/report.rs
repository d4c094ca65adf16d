//! What is printed, and what was found.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Write;
use std::process::ExitCode;

use gtrace_catalogue::Catalogue;
use gtrace_decoder::saved::SavedLog;
use gtrace_event::{Advice, Kind, Occurrence, PciAddress, Provenance, Severity, Timestamp};
use serde::Serialize;

use super::fold::{Group, Groups, Moment};
use crate::cli::shared::{self, Exit, say};
use crate::render::{self, Style};

/// One line of `--json`.
#[derive(Serialize)]
struct Explained<'a> {
    #[serde(flatten)]
    occurrence: &'a Occurrence,
    advice: &'a Advice,
    /// How often it came again.
    repeats: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    last: Option<&'a Moment>,
}

/// One line of `--summary`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct RowKey {
    severity: std::cmp::Reverse<Severity>,
    host: String,
    device: String,
    what: String,
    drill: bool,
}

/// How often, first and last.
struct Row {
    count: u64,
    first: Moment,
    last: Moment,
}

/// Which events are shown.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Filter {
    pub(super) severity: Option<Severity>,
    pub(super) device: Option<PciAddress>,
    pub(super) since: Option<Timestamp>,
}

impl Filter {
    /// Whether device and time are those asked for; an event without a known time may be.
    fn wants(&self, occurrence: &Occurrence) -> bool {
        let at = occurrence.gpu.as_ref().and_then(|gpu| gpu.pci);
        let at = [at, occurrence.detail.pcie.pci_device];
        self.device.is_none_or(|device| at.contains(&Some(device)))
            && self
                .since
                .is_none_or(|since| occurrence.time.is_none_or(|time| time >= since))
    }
}

/// What is printed, and what was found.
pub(super) struct Report<W: Write> {
    pub(super) out: W,
    pub(super) catalogue: Catalogue,
    pub(super) filter: Filter,
    pub(super) json: bool,
    pub(super) table: bool,
    pub(super) style: Style,
    held: Groups,
    rows: BTreeMap<RowKey, Row>,
    kinds: BTreeMap<Kind, u64>,
    folded: bool,
    pub(super) problems: u64,
    drills: u64,
}

impl<W: Write> Report<W> {
    /// Nothing found yet.
    pub(super) fn new(out: W, catalogue: Catalogue) -> Self {
        Self {
            out,
            catalogue,
            filter: Filter::default(),
            json: false,
            table: false,
            style: Style::plain(),
            held: Groups::default(),
            rows: BTreeMap::new(),
            kinds: BTreeMap::new(),
            folded: false,
            problems: 0,
            drills: 0,
        }
    }

    /// Takes what was found.
    pub(super) fn take(&mut self, found: &mut Vec<Occurrence>) {
        for occurrence in found.drain(..) {
            if self.filter.wants(&occurrence) {
                self.held.add(occurrence, &self.catalogue);
            }
        }
    }

    /// Whether [`explain`](Self::explain) should be called before more is taken.
    pub(super) fn is_full(&self) -> bool {
        self.held.is_full()
    }

    /// Prints what was taken. False once the reader has gone (`| head`).
    pub(super) fn explain(&mut self) -> anyhow::Result<bool> {
        for group in self.held.drain() {
            let severity = group.occurrence.severity;
            if self.filter.severity.is_some_and(|least| severity < least) {
                continue;
            }
            self.count(&group);
            let text = if self.table {
                self.tabulate(&group);
                continue;
            } else if self.json {
                let repeats = group.count - 1;
                let explained = Explained {
                    occurrence: &group.occurrence,
                    advice: &group.advice,
                    repeats,
                    last: (repeats > 0).then_some(&group.last),
                };
                let mut line = serde_json::to_string(&explained)?;
                line.push('\n');
                line
            } else {
                self.block(&group)
            };
            if !self.write(&text)? {
                return Ok(false);
            }
        }
        // Somebody may be reading along: `dmesg --follow | gtrace decode`.
        shared::written(self.out.flush())
    }

    fn count(&mut self, group: &Group) {
        let occurrence = &group.occurrence;
        if occurrence.continues {
            return;
        }
        let count = |what: &mut u64| *what = what.saturating_add(group.count);
        count(self.kinds.entry(occurrence.kind).or_default());
        if occurrence.severity >= Severity::Warning {
            count(&mut self.problems);
        }
        if occurrence.provenance == Provenance::Injected {
            count(&mut self.drills);
        }
        let by_log = occurrence.log.as_ref().and_then(|log| log.repeated);
        self.folded |= group.count > by_log.unwrap_or(1);
    }

    fn tabulate(&mut self, group: &Group) {
        let occurrence = &group.occurrence;
        if occurrence.continues {
            return;
        }
        let log = occurrence.log.as_deref();
        let gpu = occurrence.gpu.as_ref().and_then(|gpu| gpu.pci);
        let device = gpu.or(occurrence.detail.pcie.pci_device);
        let key = RowKey {
            severity: std::cmp::Reverse(occurrence.severity),
            host: log
                .and_then(|log| log.host.as_deref())
                .map_or_else(|| "-".to_owned(), render::clean),
            device: device.map_or_else(|| "-".to_owned(), |device| device.to_string()),
            what: render::title_of(occurrence.kind, &occurrence.detail),
            drill: occurrence.provenance == Provenance::Injected,
        };
        let first = Moment::of(occurrence);
        let row = self.rows.entry(key).or_insert_with(|| Row {
            count: 0,
            first: first.clone(),
            last: group.last.clone(),
        });
        row.count = row.count.saturating_add(group.count);
        if first.line < row.first.line {
            row.first = first;
        }
        if group.last.line > row.last.line {
            row.last = group.last.clone();
        }
    }

    /// Prints what is said at the end of the log.
    pub(super) fn end(&mut self, log: &SavedLog, name: &str) -> anyhow::Result<()> {
        let rows = std::mem::take(&mut self.rows);
        if self.table && !self.write(&table(&rows, self.json)?)? {
            return Ok(());
        }
        if !self.json {
            let text = self.summary(log.lines());
            self.write(&text)?;
        }
        if let Some(text) = unknown(log) {
            match self.json {
                true => say(&text),
                false => {
                    self.write(&format!("{text}\n"))?;
                }
            }
        }
        shared::written(self.out.flush())?;
        let unread = log.unread();
        if let Some((number, line)) = &unread.first {
            self.problems = self.problems.saturating_add(unread.lines);
            let lines = match unread.lines {
                1 => "1 line contains".to_owned(),
                n => format!("{n} lines contain"),
            };
            say(&format!(
                "{name}: {lines} \"NVRM: Xid\" or \"SXid\" but could not be read as the kernel's (line {number}: {}); cut \
                 off what stands before the text, or save it with `dmesg` or `journalctl -k`",
                render::clean(line)
            ));
        }
        Ok(())
    }

    fn summary(&self, lines: u64) -> String {
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
        if self.folded && !self.table {
            text.push_str("; equal ones are shown once");
        }
        text.push('\n');
        text
    }

    /// How the command ends.
    pub(super) fn exit(&self) -> ExitCode {
        match self.problems {
            0 => ExitCode::SUCCESS,
            _ => Exit::Problem.into(),
        }
    }

    fn write(&mut self, text: &str) -> anyhow::Result<bool> {
        shared::written(self.out.write_all(text.as_bytes()))
    }

    /// An event as a block of lines that ends with an empty one.
    fn block(&self, group: &Group) -> String {
        let (occurrence, advice) = (&group.occurrence, &group.advice);
        let mut block = self.headline(occurrence);
        let mut part = |label: &str, text: &str| {
            // Writing to a String cannot fail.
            let _ = writeln!(
                block,
                "  {}  {text}",
                self.style.paint(&format!("{label:<8}"), "2")
            );
        };
        if occurrence.continues {
            part(
                "goes on",
                "the rest of the report that the port's message above began",
            );
        }
        let folded = occurrence.log.as_ref().and_then(|log| log.repeated);
        if let Some(times) = folded.filter(|times| *times == group.count) {
            part("repeated", &format!("{times} times, as the log says"));
        } else if group.count > 1 {
            let last = &group.last;
            let at = match last.text() {
                at if at.is_empty() => at,
                at => format!(", {at}"),
            };
            let text = format!("{} times, last in line {}{at}", group.count, last.line);
            part("repeated", &text);
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
        let time = Moment::of(occurrence).text();
        if !time.is_empty() {
            let _ = write!(line, "  {time}");
        }
        if let Some(host) = log.and_then(|log| log.host.as_deref()) {
            let _ = write!(line, "  {}", render::clean(host));
        }
        let _ = write!(line, "  {}", self.style.severity(occurrence.severity));
        let _ = write!(
            line,
            "  {}",
            self.style
                .paint(&render::title_of(occurrence.kind, &occurrence.detail), "1")
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

/// Errors of drivers that the decoder does not read.
fn unknown(log: &SavedLog) -> Option<String> {
    let drivers = log.unknown_drivers();
    let n = drivers.iter().map(|(_, n)| n).sum::<u64>();
    let names: Vec<_> = drivers
        .iter()
        .map(|(name, n)| format!("{name} {n}"))
        .collect();
    (n > 0).then(|| {
        format!(
            "{} of drivers that gtrace does not know ({})",
            count(n, "error line"),
            names.join(", ")
        )
    })
}

fn table(rows: &BTreeMap<RowKey, Row>, json: bool) -> anyhow::Result<String> {
    let mut text = String::new();
    if json {
        for (key, row) in rows {
            let line = serde_json::json!({
                "host": Some(&key.host).filter(|host| *host != "-"),
                "device": Some(&key.device).filter(|device| *device != "-"),
                "what": key.what,
                "severity": key.severity.0,
                "injected": key.drill,
                "count": row.count,
                "first": row.first,
                "last": row.last,
            });
            text.push_str(&serde_json::to_string(&line)?);
            text.push('\n');
        }
        return Ok(text);
    }
    let head = [
        "HOST", "DEVICE", "SEVERITY", "WHAT", "COUNT", "FIRST", "LAST",
    ];
    let moment = |moment: &Moment| match moment.text() {
        at if at.is_empty() => format!("line {}", moment.line),
        at => format!("{at} (line {})", moment.line),
    };
    let cells = rows.iter().map(|(key, row)| {
        let drill = if key.drill { " INJECTED" } else { "" };
        [
            key.host.clone(),
            key.device.clone(),
            key.severity.0.name().to_uppercase(),
            format!("{}{drill}", key.what),
            row.count.to_string(),
            moment(&row.first),
            moment(&row.last),
        ]
    });
    let cells: Vec<[String; 7]> = std::iter::once(head.map(str::to_owned))
        .chain(cells)
        .collect();
    let widths: [usize; 7] = std::array::from_fn(|at| {
        let lengths = cells.iter().map(|row| row[at].chars().count());
        lengths.max().unwrap_or(0)
    });
    for row in &cells {
        let padded: Vec<_> = row
            .iter()
            .zip(widths)
            .map(|(cell, w)| format!("{cell:<w$}"))
            .collect();
        text.push_str(padded.join("  ").trim_end());
        text.push('\n');
    }
    text.push('\n');
    Ok(text)
}
