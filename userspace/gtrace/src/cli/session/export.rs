//! Frames of a session as files.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::ops::Range;
use std::path::Path;

use anyhow::Context as _;
use gtrace_api::client::{Client, ClientError, target};
use gtrace_event::{Timestamp, nanos};
use gtrace_fleet::{
    COLUMNS, CallFrame, GapFinder, GswarmWriter, HostFrame, slot_begin, slots_within,
};
use gtrace_head::db::Session;
use gtrace_head::{FramesPage, SessionView};
use gtrace_timeline::{SessionTable, SessionTrace};
use serde::Serialize;

use super::super::fleet::failure;
use super::super::shared::{self, Exit};

/// Frames of a page.
const PAGE: u32 = 2000;

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Format {
    /// One object: the session, its frames and gaps.
    Json,
    /// A JSON object a line: first the session, then frames and gaps as they come.
    Jsonl,
    /// A line for each GPU and interval (RFC 4180); a gap is a line without values.
    Csv,
    /// Apache Parquet, for pandas, polars or DuckDB: a row for each GPU and interval, one for the driver calls of a host in it, one
    /// for each gap.
    Parquet,
    /// A trace for ui.perfetto.dev: all hosts on one timeline.
    Perfetto,
    /// The file that gswarm-profiler writes.
    Gswarm,
}

/// Writes what `path` of the head has, the session, to `output` or standard output.
pub(super) fn export(
    client: &Client,
    path: &str,
    format: Format,
    output: Option<&Path>,
) -> anyhow::Result<Exit> {
    let view: SessionView = client.get(path).map_err(failure)?;
    // Another session of this name may begin meanwhile.
    let path = format!("/fleet/v1/sessions/{}/frames", view.session.id);
    let pages = Pages {
        client,
        path,
        next: None,
        begun: false,
    };
    let done = match output {
        Some(file) => to_file(file, |out| written(out, format, &view, pages)),
        None => written(BufWriter::new(io::stdout()), format, &view, pages),
    };
    match done {
        Ok(()) => Ok(Exit::Success),
        Err(Failed::Head(error)) => Err(failure(error).into()),
        Err(Failed::Output(error)) if output.is_none() => {
            shared::written(Err(error))?;
            Ok(Exit::Success)
        }
        Err(Failed::Output(error)) => Err(error).with_context(|| {
            let file = output.unwrap_or(Path::new("")).display();
            format!("cannot write {file}")
        }),
    }
}

/// Writes the file whole or not at all. A device or a pipe stays what it is.
fn to_file(
    path: &Path,
    write: impl FnOnce(BufWriter<&File>) -> Result<(), Failed>,
) -> Result<(), Failed> {
    if std::fs::metadata(path).is_ok_and(|found| !found.is_file()) {
        let file = File::options().write(true).open(path)?;
        return write(BufWriter::new(&file));
    }
    // A link leads to the file: that is replaced.
    let path = &std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty())
        .unwrap_or(Path::new("."));
    let file = tempfile::Builder::new()
        .prefix(".gtrace-session")
        .permissions(std::os::unix::fs::PermissionsExt::from_mode(0o644))
        .tempfile_in(folder)?;
    write(BufWriter::new(file.as_file()))?;
    file.persist(path).map(drop).map_err(|e| e.error.into())
}

enum Failed {
    Head(ClientError),
    Output(io::Error),
}

impl From<io::Error> for Failed {
    fn from(error: io::Error) -> Self {
        Self::Output(error)
    }
}

impl From<serde_json::Error> for Failed {
    fn from(error: serde_json::Error) -> Self {
        Self::Output(error.into())
    }
}

/// The frames, page by page: a session may be larger than memory.
struct Pages<'a> {
    client: &'a Client,
    path: String,
    next: Option<String>,
    begun: bool,
}

impl Pages<'_> {
    fn next(&mut self) -> Result<Option<FramesPage>, ClientError> {
        if std::mem::replace(&mut self.begun, true) && self.next.is_none() {
            return Ok(None);
        }
        let mut pairs = vec![("limit", PAGE.to_string())];
        pairs.extend(self.next.take().map(|next| ("after", next)));
        let page: FramesPage = self.client.get(&target(&self.path, &pairs))?;
        self.next.clone_from(&page.next);
        Ok(Some(page))
    }
}

/// Takes frames and gaps in the order of time of each host.
trait Sink {
    fn frame(&mut self, host: &str, frame: &HostFrame) -> io::Result<()>;
    fn gap(&mut self, host: &str, slots: &Range<i64>) -> io::Result<()>;
}

fn written<W: Write + Send>(
    out: W,
    format: Format,
    view: &SessionView,
    pages: Pages<'_>,
) -> Result<(), Failed> {
    let session = &view.session;
    match format {
        Format::Json => {
            let mut sink = Json::new(out, session)?;
            feed(&mut sink, view, pages)?;
            sink.finish()?;
        }
        Format::Jsonl => {
            let mut sink = Jsonl { out, session };
            json_line(&mut sink.out, &serde_json::json!({ "session": session }))?;
            feed(&mut sink, view, pages)?;
            sink.out.flush()?;
        }
        Format::Csv => {
            let mut sink = Csv { out, session };
            sink.head()?;
            feed(&mut sink, view, pages)?;
            sink.out.flush()?;
        }
        Format::Parquet => {
            let as_json = serde_json::to_string(session)?;
            let mut sink = SessionTable::new(out, session.interval_ms, as_json)?;
            feed(&mut sink, view, pages)?;
            sink.finish()?.flush()?;
        }
        Format::Perfetto => {
            let mut sink = SessionTrace::new(out, nanos(session.started), session.interval_ms)?;
            feed(&mut sink, view, pages)?;
            sink.finish()?.flush()?;
        }
        Format::Gswarm => {
            let (name, interval_ms) = (&session.name, session.interval_ms);
            let mut sink = GswarmWriter::new(out, name, interval_ms, &session.metrics)?;
            feed(&mut sink, view, pages)?;
            let end = session.stopped.unwrap_or_else(Timestamp::now);
            sink.finish(nanos(session.started), nanos(end))?;
        }
    }
    Ok(())
}

/// Gives all frames and gaps to `sink`.
fn feed(sink: &mut impl Sink, view: &SessionView, mut pages: Pages<'_>) -> Result<(), Failed> {
    let session = &view.session;
    let end = session.stopped.unwrap_or_else(Timestamp::now);
    let expected = slots_within(nanos(session.started), nanos(end), session.interval_ms);
    let finder = || GapFinder::new(expected.clone());
    let mut finders: BTreeMap<String, GapFinder> = view
        .hosts
        .iter()
        .map(|host| (host.host.clone(), finder()))
        .collect();
    while let Some(page) = pages.next().map_err(Failed::Head)? {
        for of in &page.frames {
            let known = finders.entry(of.host.clone()).or_insert_with(finder);
            if let Some(gap) = known.frame(of.frame.slot) {
                sink.gap(&of.host, &gap)?;
            }
            sink.frame(&of.host, &of.frame)?;
        }
    }
    // While it is on, what is not there may be on its way.
    if session.stopped.is_some() {
        for (host, finder) in finders {
            if let Some(gap) = finder.end() {
                sink.gap(&host, &gap)?;
            }
        }
    }
    Ok(())
}

fn time(slot: i64, session: &Session) -> Timestamp {
    let ns = slot_begin(slot, session.interval_ms);
    Timestamp::from_nanosecond(i128::from(ns)).unwrap_or(Timestamp::MAX)
}

/// A frame as people read it.
#[derive(Serialize)]
struct Shown<'a> {
    host: &'a str,
    time: Timestamp,
    #[serde(flatten)]
    frame: &'a HostFrame,
}

/// Intervals without a frame.
#[derive(Serialize)]
struct Gap<'a> {
    host: &'a str,
    from: Timestamp,
    until: Timestamp,
    frames: i64,
}

fn gap<'a>(host: &'a str, slots: &Range<i64>, session: &Session) -> Gap<'a> {
    Gap {
        host,
        from: time(slots.start, session),
        until: time(slots.end, session),
        frames: slots.end - slots.start,
    }
}

fn json_line(mut out: impl Write, value: &impl Serialize) -> io::Result<()> {
    serde_json::to_writer(&mut out, value)?;
    out.write_all(b"\n")
}

struct Json<'a, W: Write> {
    out: W,
    session: &'a Session,
    first: bool,
    /// Written at the end: they are few, as a host is either there or not.
    gaps: Vec<serde_json::Value>,
}

impl<'a, W: Write> Json<'a, W> {
    fn new(mut out: W, session: &'a Session) -> io::Result<Self> {
        write!(out, "{{\n\"session\": ")?;
        serde_json::to_writer(&mut out, session)?;
        write!(out, ",\n\"frames\": [")?;
        Ok(Self {
            out,
            session,
            first: true,
            gaps: Vec::new(),
        })
    }

    fn finish(mut self) -> io::Result<()> {
        write!(self.out, "\n],\n\"gaps\": ")?;
        serde_json::to_writer(&mut self.out, &self.gaps)?;
        writeln!(self.out, "\n}}")?;
        self.out.flush()
    }
}

impl<W: Write> Sink for Json<'_, W> {
    fn frame(&mut self, host: &str, frame: &HostFrame) -> io::Result<()> {
        let first = std::mem::replace(&mut self.first, false);
        write!(self.out, "{}", if first { "\n" } else { ",\n" })?;
        let time = time(frame.slot, self.session);
        Ok(serde_json::to_writer(
            &mut self.out,
            &Shown { host, time, frame },
        )?)
    }

    fn gap(&mut self, host: &str, slots: &Range<i64>) -> io::Result<()> {
        let gap = gap(host, slots, self.session);
        self.gaps.push(serde_json::to_value(gap)?);
        Ok(())
    }
}

struct Jsonl<'a, W: Write> {
    out: W,
    session: &'a Session,
}

impl<W: Write> Sink for Jsonl<'_, W> {
    fn frame(&mut self, host: &str, frame: &HostFrame) -> io::Result<()> {
        let time = time(frame.slot, self.session);
        json_line(&mut self.out, &Shown { host, time, frame })
    }

    fn gap(&mut self, host: &str, slots: &Range<i64>) -> io::Result<()> {
        let gap = gap(host, slots, self.session);
        json_line(&mut self.out, &serde_json::json!({ "gap": gap }))
    }
}

struct Csv<'a, W: Write> {
    out: W,
    session: &'a Session,
}

/// After the values of a GPU: of each kind of calls these, each with a comma before it.
fn columns_of(kind: &str) -> String {
    format!(",{kind},{kind}_p50_ns,{kind}_p90_ns,{kind}_p99_ns,{kind}_max_ns")
}

/// Their values; nothing between the commas where no calls were counted.
fn values_of(calls: Option<&CallFrame>) -> String {
    let Some(c) = calls else {
        return ",".repeat(5);
    };
    let (p50, p90, p99) = (c.p50_ns, c.p90_ns, c.p99_ns);
    format!(",{},{p50},{p90},{p99},{}", c.count, c.max_ns)
}

fn values_of_both(frame: &HostFrame) -> String {
    let both = frame.all_calls().map(|(_, calls)| values_of(calls));
    both.concat()
}

impl<W: Write> Csv<'_, W> {
    fn head(&mut self) -> io::Result<()> {
        let names: Vec<&str> = COLUMNS.iter().map(|column| column.name).collect();
        let names = names.join(",");
        let none = HostFrame::default();
        let of_calls = none.all_calls().map(|(kind, _)| columns_of(kind)).concat();
        writeln!(
            self.out,
            "time,host,gpu,name,error_ns,gap_frames,samples,{names}{of_calls}"
        )
    }
}

impl<W: Write> Sink for Csv<'_, W> {
    fn frame(&mut self, host: &str, frame: &HostFrame) -> io::Result<()> {
        let time = time(frame.slot, self.session);
        let calls = values_of_both(frame);
        for gpu in &frame.gpus {
            let values: Vec<String> = COLUMNS
                .iter()
                .map(|column| (column.get)(gpu).map_or_else(String::new, |v| v.to_string()))
                .collect();
            let name = gpu.name.replace('"', "\"\"");
            writeln!(
                self.out,
                "{time},{host},{},\"{name}\",{},,{},{}{calls}",
                gpu.index,
                frame.error_ns,
                gpu.samples,
                values.join(",")
            )?;
        }
        if frame.gpus.is_empty() {
            let none = ",".repeat(COLUMNS.len());
            writeln!(
                self.out,
                "{time},{host},,,{},,{none}{calls}",
                frame.error_ns
            )?;
        }
        Ok(())
    }

    fn gap(&mut self, host: &str, slots: &Range<i64>) -> io::Result<()> {
        let (from, frames) = (time(slots.start, self.session), slots.end - slots.start);
        let none = ",".repeat(COLUMNS.len());
        let calls = values_of_both(&HostFrame::default());
        writeln!(self.out, "{from},{host},,,,{frames},{none}{calls}")
    }
}

impl<W: Write + Send> Sink for SessionTable<W> {
    fn frame(&mut self, host: &str, frame: &HostFrame) -> io::Result<()> {
        self.frame(host, frame)
    }

    fn gap(&mut self, host: &str, slots: &Range<i64>) -> io::Result<()> {
        self.gap(host, slots)
    }
}

impl<W: Write> Sink for SessionTrace<W> {
    fn frame(&mut self, host: &str, frame: &HostFrame) -> io::Result<()> {
        self.frame(host, frame)
    }

    fn gap(&mut self, host: &str, slots: &Range<i64>) -> io::Result<()> {
        self.gap(host, slots)
    }
}

impl<W: Write> Sink for GswarmWriter<W> {
    fn frame(&mut self, host: &str, frame: &HostFrame) -> io::Result<()> {
        self.host(host, frame)
    }

    /// The format has none: the host is not in the arrays of those frames.
    fn gap(&mut self, _: &str, _: &Range<i64>) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use gtrace_fleet::GpuFrame;

    use super::*;

    #[test]
    fn a_device_stays_one_and_a_link_leads_to_the_file() {
        fn write(mut out: BufWriter<&File>) -> Result<(), Failed> {
            out.write_all(b"new")?;
            out.flush()?;
            Ok(())
        }
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        symlink("/dev/null", at("null")).unwrap();
        assert!(to_file(&at("null"), write).is_ok());
        assert!(!std::fs::metadata(at("null")).unwrap().is_file());
        std::fs::write(at("file"), "old").unwrap();
        symlink(at("file"), at("link")).unwrap();
        assert!(to_file(&at("link"), write).is_ok());
        assert_eq!(std::fs::read(at("file")).unwrap(), b"new");
    }

    #[test]
    fn every_line_of_csv_has_the_columns_of_its_head() {
        let session: Session = serde_json::from_value(serde_json::json!({
            "id": 1, "name": "x", "hosts": [], "interval_ms": 200, "metrics": ["power"],
            "started": "2026-01-01T00:00:00Z", "ends": "2026-01-01T01:00:00Z",
        }))
        .unwrap();
        let mut sink = Csv {
            out: Vec::new(),
            session: &session,
        };
        let with_gpu = HostFrame {
            slot: 5,
            gpus: vec![GpuFrame {
                name: "a \"b\"".to_owned(),
                power_w: Some(12.5),
                ..GpuFrame::default()
            }],
            ..HostFrame::default()
        };
        let without = HostFrame {
            slot: 6,
            calls: Some(gtrace_fleet::CallFrame::default()),
            ..HostFrame::default()
        };
        sink.head().unwrap();
        sink.frame("h", &with_gpu).unwrap();
        sink.frame("h", &without).unwrap();
        sink.gap("h", &(7..9)).unwrap();
        let text = String::from_utf8(sink.out).unwrap();
        let columns: Vec<usize> = text.lines().map(|line| line.split(',').count()).collect();
        assert_eq!(columns, vec![columns[0]; 4], "{text}");
        let gap = text.lines().last().unwrap();
        assert!(gap.starts_with("1970-01-01T00:00:01.4Z,h,,,,2,"), "{gap}");
    }
}
