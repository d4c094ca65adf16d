//! Events for people: a block for a new event, a line for what became known later.
//!
//! All text that comes from logs, processes or other people goes through [`clean`], so that it
//! cannot move the cursor, change colours or reverse the reading order of a terminal.

use std::fmt::Write as _;
use std::io::IsTerminal as _;

use clap::ValueEnum;
use gtrace_catalogue::Catalogue;
use gtrace_event::{
    Ack, Amendment, Detail, Event, Gpu, Incident, Kind, Process, Provenance, Severity, Timestamp,
    Variant, Witness, WitnessName,
};
use jiff::tz::TimeZone;

use gtrace_api::text::clean;
use gtrace_api::title;

/// When to use colours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum ColorChoice {
    /// On a terminal, unless NO_COLOR is set.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// How to write.
#[derive(Clone, Debug)]
pub struct Style {
    /// Use colours.
    pub color: bool,
    /// Columns to wrap at; `None` does not wrap.
    pub width: Option<usize>,
    /// Time zone of the times.
    pub zone: TimeZone,
}

impl Style {
    /// For standard output: coloured and wrapped only where it is a terminal.
    pub fn of_stdout(color: ColorChoice) -> Self {
        let terminal = std::io::stdout().is_terminal();
        let no_color = std::env::var_os("NO_COLOR").is_some_and(|v| !v.is_empty());
        let width = terminal.then(|| {
            let size = rustix::termios::tcgetwinsize(std::io::stdout()).ok();
            let columns = size.map(|size| usize::from(size.ws_col));
            columns.filter(|columns| *columns > 0).unwrap_or(80).max(40)
        });
        let color = match color {
            ColorChoice::Auto => terminal && !no_color,
            ColorChoice::Always => true,
            ColorChoice::Never => false,
        };
        Self {
            color,
            width,
            zone: TimeZone::system(),
        }
    }

    /// Without colours and wrapping, in UTC.
    pub fn plain() -> Self {
        Self {
            color: false,
            width: None,
            zone: TimeZone::UTC,
        }
    }

    /// The text in the look of an SGR `code`, where colours are used.
    pub fn paint(&self, text: &str, code: &str) -> String {
        if self.color {
            format!("\x1b[{code}m{text}\x1b[0m")
        } else {
            text.to_owned()
        }
    }

    /// The severity in capitals, in its colour.
    pub fn severity(&self, severity: Severity) -> String {
        let code = match severity {
            Severity::Info => "36",
            Severity::Warning => "33",
            Severity::Critical => "31",
            Severity::Fatal => "1;37;41",
        };
        self.paint(&severity.name().to_uppercase(), code)
    }

    pub(crate) fn time(&self, time: Timestamp) -> String {
        time.to_zoned(self.zone.clone())
            .strftime("%Y-%m-%d %H:%M:%S%.3f %Z")
            .to_string()
    }

    pub(crate) fn clock(&self, time: Timestamp) -> String {
        time.to_zoned(self.zone.clone())
            .strftime("%m-%d %H:%M:%S")
            .to_string()
    }
}

/// The name of an Xid or SXid in the catalogue.
pub fn code_name(event: &Event) -> Option<&'static str> {
    let (catalogue, code) = (Catalogue::builtin(), event.code()?);
    match event.kind {
        Kind::Sxid => catalogue.sxid(code).map(|entry| entry.name),
        _ => catalogue.xid(code).map(|entry| entry.name),
    }
}

/// The device in one line.
pub fn gpu(gpu: &Gpu) -> String {
    let mut parts = Vec::new();
    parts.extend(gpu.pci.map(|pci| pci.to_string()));
    parts.extend(gpu.index.map(|index| format!("GPU {index}")));
    parts.extend(gpu.uuid.as_deref().map(clean));
    match (gpu.mig_gi, gpu.mig_ci) {
        (Some(gi), Some(ci)) => parts.push(format!("MIG GI {gi} CI {ci}")),
        (Some(gi), None) => parts.push(format!("MIG GI {gi}")),
        _ => {}
    }
    parts.extend(gpu.mig_profile.as_deref().map(clean));
    parts.join("  ")
}

/// The PCI device that the kernel names, where it is not the GPU itself, in one line.
pub fn pci_device(gpu: Option<&Gpu>, detail: &Detail) -> Option<String> {
    let named = detail.pcie.pci_device?;
    if gpu.is_some_and(|gpu| gpu.pci == Some(named)) {
        return None;
    }
    let mut text = named.to_string();
    if let Some(slot) = &detail.pcie.slot {
        let _ = write!(text, "  slot {}", clean(slot));
    }
    let below: Vec<_> = detail
        .pcie
        .gpus_below
        .iter()
        .map(|g| g.to_string())
        .collect();
    if !below.is_empty() {
        let _ = write!(text, "  above the GPUs {}", below.join(", "));
    }
    Some(text)
}

/// The process in one line.
pub fn process(process: &Process) -> String {
    let mut parts = Vec::new();
    parts.extend(process.pid.map(|pid| pid.to_string()));
    parts.extend(process.comm.as_deref().map(clean));
    parts.extend(
        process
            .container
            .as_deref()
            .map(|id| format!("container {}", clean(id))),
    );
    parts.extend(process.cgroup.as_deref().map(clean));
    parts.join("  ")
}

fn provenance(event: &Event) -> &'static str {
    let of_gtrace = |witness: &Witness| witness.source == WitnessName::Gtrace;
    match event.provenance {
        Provenance::Kernel if event.kind == Kind::Capture => "a person, by `gtrace capture`",
        Provenance::Kernel if event.witnesses.iter().all(of_gtrace) => "gtrace itself",
        Provenance::Kernel => "the kernel",
        Provenance::Userspace => "USER SPACE: a process wrote this, not the kernel",
        Provenance::Injected => "INJECTED (drill): no fault happened",
        Provenance::Unknown => "not known yet",
    }
}

fn witnesses(event: &Event) -> String {
    let each = event.witnesses.iter().map(|w| match w.count {
        0 | 1 => w.source.to_string(),
        count => format!("{} ({count} times)", w.source),
    });
    each.collect::<Vec<_>>().join(", ")
}

/// How long ago, roughly; empty for a time in the future.
pub fn ago(time: Timestamp, now: Timestamp) -> String {
    let seconds = now.as_second() - time.as_second();
    match seconds {
        ..0 => String::new(),
        0..120 => format!("{seconds} s ago"),
        120..7200 => format!("{} min ago", seconds / 60),
        7200..172_800 => format!("{} h ago", seconds / 3600),
        _ => format!("{} days ago", seconds / 86_400),
    }
}

/// An event as a block of lines that ends with an empty one.
pub fn event(event: &Event, style: &Style, now: Timestamp) -> String {
    let mut block = Block::new(style);
    known(&mut block, event, now);
    block.part("id", Some(event.id.to_string()));
    block.end()
}

/// An event, and what it is part of.
#[derive(Clone, Copy, Debug)]
pub struct EventWhole<'a> {
    /// The event.
    pub event: &'a Event,
    /// The incident that it belongs to.
    pub incident: Option<&'a Incident>,
    /// Further lines, each with its label.
    pub more: &'a [(&'static str, String)],
}

/// All that is known of an event, as a block of lines that ends with an empty one.
pub fn event_whole(whole: &EventWhole<'_>, style: &Style, now: Timestamp) -> String {
    let event = whole.event;
    let mut block = Block::new(style);
    known(&mut block, event, now);
    for (label, text) in whole.more {
        block.part(label, Some(text.clone()));
    }
    let incident = match whole.incident {
        Some(Incident {
            id,
            class,
            state,
            title,
            ..
        }) => vec![
            format!("{id}  {class}, {state}: {}", clean(title)),
            format!("gtrace incidents show {id}"),
        ],
        // An incident lists its first events, and the newest incidents were searched.
        None => vec!["none of the newest names it".to_owned()],
    };
    block.list("incident", incident);
    let details = details(event).into_iter();
    block.list(
        "detail",
        details.map(|(name, value)| format!("{name} = {value}")),
    );
    let host = [
        event.host.as_deref().map(clean),
        event
            .boot_id
            .as_deref()
            .map(|id| format!("boot {}", clean(id))),
        event.boottime_ns.map(|ns| {
            format!(
                "{}.{:09} s after the boot",
                ns / 1_000_000_000,
                ns % 1_000_000_000
            )
        }),
    ];
    block.list("host", host.into_iter().flatten());
    let witness = |of: &Witness| {
        let first = style.time(of.first_time);
        format!("{}, {} times, first {first}", of.source, of.count)
    };
    block.list("witness", event.witnesses.iter().map(witness));
    let changes = match event.revision {
        0 => "unchanged since it was seen first".to_owned(),
        revision => format!("revision {revision}"),
    };
    block.part("record", Some(changes));
    block.part("id", Some(event.id.to_string()));
    block.end()
}

/// The fields of its detail, as JSON names them.
fn details(event: &Event) -> Vec<(String, String)> {
    let Ok(serde_json::Value::Object(fields)) = serde_json::to_value(&event.detail) else {
        return Vec::new();
    };
    let text = |value: serde_json::Value| match value {
        serde_json::Value::String(text) => clean(&text),
        other => clean(&other.to_string()),
    };
    let fields = fields.into_iter();
    fields.map(|(name, value)| (name, text(value))).collect()
}

/// What is known of an event, without its id.
fn known(block: &mut Block<'_>, event: &Event, now: Timestamp) {
    let style = block.style;
    block.headline(event, now);
    block.part("gpu", event.gpu.as_ref().map(gpu));
    block.part("device", pci_device(event.gpu.as_ref(), &event.detail));
    block.part("process", event.process.as_ref().map(process));
    let holders = event.detail.holders.holders.iter();
    let holders: Vec<_> = holders.map(|holder| clean(&holder.to_string())).collect();
    block.part("held by", (!holders.is_empty()).then(|| holders.join(", ")));
    block.part("from", Some(provenance(event).to_owned()));
    block.part("seen by", Some(witnesses(event)));
    if event.repeats > 0 {
        let newest = event
            .last_time
            .map(|t| format!(", newest {}", style.clock(t)));
        block.part(
            "repeats",
            Some(format!("{}{}", event.repeats, newest.unwrap_or_default())),
        );
    }
    block.list("message", event.message.lines().map(clean));
    let variant = |of: &Variant| clean(of.message.lines().next().unwrap_or_default());
    block.list("variants", event.variants.iter().map(variant));
    if let Some(advice) = &event.advice {
        block.part("meaning", advice.meaning.as_deref().map(clean));
        block.steps("to do", &advice.vendor);
        block.part("action", advice.action.map(|action| action.to_string()));
        block.steps("site", &advice.site);
        block.part("rule", advice.rule.as_deref().map(clean));
    }
    for ack in &event.acks {
        block.part("acked", Some(acked(ack, style)));
    }
}

/// An amendment in one line.
pub fn amendment(event: &Event, amendment: &Amendment, style: &Style) -> String {
    let mut parts = Vec::new();
    parts.extend(amendment.repeats.map(|n| format!("repeats {n}")));
    if amendment.witnesses.is_some() {
        parts.push(format!("seen by {}", witnesses(event)));
    }
    parts.extend(amendment.provenance.map(|p| match p {
        Provenance::Injected => "INJECTED (drill)".to_owned(),
        p => p.name().to_owned(),
    }));
    parts.extend(amendment.severity.map(|s| format!("now {}", s.name())));
    parts.extend(amendment.gpu.as_ref().map(|g| format!("gpu {}", gpu(g))));
    parts.extend(
        amendment
            .process
            .as_ref()
            .map(|p| format!("process {}", process(p))),
    );
    parts.extend(
        amendment
            .message
            .as_deref()
            .map(|m| format!("message {}", clean(m))),
    );
    if amendment.detail.is_some() {
        parts.push("more detail".to_owned());
    }
    if amendment.advice.is_some() {
        parts.push("new advice".to_owned());
    }
    let line = format!("~ {} {}: {}", event.id, title(event), parts.join("; "));
    format!("{}\n", style.paint(&line, "2"))
}

/// An acknowledgement in one line.
pub fn ack(event: &Event, ack: &Ack, style: &Style) -> String {
    let line = format!(
        "~ {} {}: acked {}",
        event.id,
        title(event),
        acked(ack, style)
    );
    format!("{}\n", style.paint(&line, "2"))
}

fn acked(ack: &Ack, style: &Style) -> String {
    let note = if ack.note.is_empty() {
        String::new()
    } else {
        format!(": {}", clean(&ack.note))
    };
    format!("by {} {}{note}", clean(&ack.by), style.clock(ack.time))
}

/// An event in one line, for lists.
pub fn line(event: &Event, style: &Style) -> String {
    let drill = match event.provenance {
        Provenance::Injected => "INJECTED (drill) ",
        Provenance::Userspace => "USER SPACE ",
        Provenance::Kernel | Provenance::Unknown => "",
    };
    let pci = event
        .gpu
        .as_ref()
        .and_then(|g| g.pci)
        .or(event.detail.pcie.pci_device)
        .map(|p| format!("{p} "))
        .unwrap_or_default();
    let repeats = if event.repeats > 0 {
        format!(" (+{})", event.repeats)
    } else {
        String::new()
    };
    let first = clean(event.message.lines().next().unwrap_or(""));
    let severity = style.severity(event.severity);
    let pad = " ".repeat(8_usize.saturating_sub(event.severity.name().len()));
    let time = style.clock(event.time);
    format!(
        "{time} {severity}{pad} {drill}{} {pci}{first}{repeats}",
        title(event)
    )
}

/// Columns of a block's labels.
const LABEL: usize = 10;

/// Labelled lines under a headline.
pub(crate) struct Block<'a> {
    style: &'a Style,
    out: String,
}

impl<'a> Block<'a> {
    pub(crate) fn new(style: &'a Style) -> Self {
        Self {
            style,
            out: String::new(),
        }
    }
}

impl Block<'_> {
    /// The block with the empty line that ends it.
    pub(crate) fn end(mut self) -> String {
        self.out.push('\n');
        self.out
    }

    pub(crate) fn head(&mut self, line: &str) {
        self.out.push_str(line);
        self.out.push('\n');
    }

    fn headline(&mut self, event: &Event, now: Timestamp) {
        let style = self.style;
        let mut line = style.paint(&style.time(event.time), "1");
        let ago = ago(event.time, now);
        if !ago.is_empty() {
            line.push_str(&format!(" ({ago})"));
        }
        line.push_str(&format!("  {}  ", style.severity(event.severity)));
        line.push_str(&style.paint(&title(event), "1"));
        if let Some(name) = code_name(event) {
            line.push_str(&format!(" {name}"));
        }
        match event.provenance {
            Provenance::Injected => {
                line.push_str(&format!("  {}", style.paint("INJECTED (drill)", "1;30;43")));
            }
            Provenance::Userspace => {
                line.push_str(&format!("  {}", style.paint("USER SPACE", "1;30;43")));
            }
            Provenance::Kernel | Provenance::Unknown => {}
        }
        self.head(&line);
    }

    pub(crate) fn part(&mut self, label: &str, text: Option<String>) {
        let Some(text) = text.filter(|text| !text.is_empty()) else {
            return;
        };
        let width = self
            .style
            .width
            .map_or(usize::MAX, |w| w.saturating_sub(LABEL + 2).max(20));
        let label = self.style.paint(&format!("{label:<8}"), "2");
        for (index, line) in wrap(&text, width).into_iter().enumerate() {
            let lead = if index == 0 {
                label.as_str()
            } else {
                "        "
            };
            self.out.push_str(format!("  {lead}  {line}").trim_end());
            self.out.push('\n');
        }
    }

    /// Parts below each other, of which the first has the label.
    pub(crate) fn list(&mut self, label: &str, items: impl IntoIterator<Item = String>) {
        for (index, item) in items.into_iter().enumerate() {
            self.part(if index == 0 { label } else { "" }, Some(item));
        }
    }

    pub(crate) fn steps(&mut self, label: &str, steps: &[String]) {
        let numbered = (1..).zip(steps);
        self.list(
            label,
            numbered.map(|(n, step)| format!("{n}. {}", clean(step))),
        );
    }
}

/// Breaks text at spaces into lines of at most `width` characters; longer words are cut.
fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = String::new();
    let mut used = 0;
    for word in text.split(' ') {
        let mut word = word;
        let mut length = word.chars().count();
        if used > 0 && used + 1 + length > width {
            lines.push(std::mem::take(&mut line));
            used = 0;
        } else if used > 0 {
            line.push(' ');
            used += 1;
        }
        while length > width {
            let cut = word
                .char_indices()
                .nth(width)
                .map_or(word.len(), |(at, _)| at);
            lines.push(word[..cut].to_owned());
            word = &word[cut..];
            length = word.chars().count();
        }
        line.push_str(word);
        used += length;
    }
    lines.push(line);
    lines
}

#[cfg(test)]
#[path = "events_tests.rs"]
mod tests;
