//! The calls of a program from its trace (`gtrace trace -o`, `gtrace exec --trace`).

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use crate::Step;
use anyhow::{Context as _, bail};
use gtrace_perfetto::format::{AnnotationValue, Data, Message as _, Trace, TrackEvent};

use super::report::Recorded;

/// Longest trace that is read, bytes.
const BYTES_MAX: u64 = 1 << 30;
/// Most calls that are made again: more are too many for one repetition.
const STEPS_MAX: usize = 100_000;
/// `TYPE_SLICE_BEGIN` of Perfetto's track_event.proto.
const SLICE_BEGIN: i32 = 1;

/// The calls of a file, in the order of their times, and what became of each.
///
/// # Errors
///
/// A file that cannot be read, is no trace, or has no call that can be made again, or too many.
pub fn read(path: &Path) -> anyhow::Result<(Vec<Step>, Recorded)> {
    let shown = path.display();
    let mut bytes = Vec::new();
    let file = File::open(path).with_context(|| shown.to_string())?;
    file.take(BYTES_MAX + 1)
        .read_to_end(&mut bytes)
        .with_context(|| shown.to_string())?;
    if bytes.len() as u64 > BYTES_MAX {
        bail!("{shown} is longer than 1 GiB: record less with `gtrace trace --max-events`");
    }
    let trace = Trace::decode(bytes.as_slice()).with_context(|| {
        format!("{shown} is no trace: record one with `gtrace trace -o FILE.pftrace -- PROGRAM`")
    })?;
    let (steps, mut recorded) = of(trace);
    recorded.file = shown.to_string();
    if steps.is_empty() {
        bail!("{shown} has no call of the CUDA driver that can be made again");
    }
    if steps.len() > STEPS_MAX {
        bail!(
            "{shown} has {} calls that can be made again, and more than {STEPS_MAX} are too many: record less",
            steps.len()
        );
    }
    Ok((steps, recorded))
}

/// Names that a trace has defined so far, by their numbers.
#[derive(Default)]
struct Names {
    categories: BTreeMap<u64, String>,
    events: BTreeMap<u64, String>,
    annotations: BTreeMap<u64, String>,
}

fn of(trace: Trace) -> (Vec<Step>, Recorded) {
    let mut names = Names::default();
    let mut calls: Vec<(u64, String, Option<u64>)> = Vec::new();
    for packet in trace.packet {
        if let Some(fresh) = packet.interned_data {
            let of = |list: Vec<gtrace_perfetto::format::InternedName>| {
                list.into_iter().filter_map(|it| Some((it.iid?, it.name?)))
            };
            names.categories.extend(of(fresh.event_categories));
            names.events.extend(of(fresh.event_names));
            names.annotations.extend(of(fresh.debug_annotation_names));
        }
        if let Some(Data::TrackEvent(event)) = packet.data
            && let Some((name, bytes)) = names.call(&event)
        {
            calls.push((packet.timestamp.unwrap_or(0), name, bytes));
        }
    }
    // Of several threads, in the order in which they began.
    calls.sort_by_key(|(time, ..)| *time);
    let mut recorded = Recorded {
        calls: calls.len() as u64,
        ..Recorded::default()
    };
    let mut steps = Vec::new();
    for (_, name, bytes) in calls {
        match Step::of(&name, bytes) {
            Some(step) => steps.push(step),
            None => *recorded.left_out.entry(name).or_default() += 1,
        }
    }
    recorded.replayed = steps.len() as u64;
    (steps, recorded)
}

impl Names {
    /// A call that succeeded: its function, and the bytes that it moved.
    fn call(&self, event: &TrackEvent) -> Option<(String, Option<u64>)> {
        if event.r#type != Some(SLICE_BEGIN) {
            return None;
        }
        let mut categories = event.category_iids.iter();
        let cuda = |iid: &u64| self.categories.get(iid).is_some_and(|name| name == "cuda");
        if !categories.all(cuda) || event.category_iids.is_empty() {
            return None;
        }
        let name = self.events.get(&event.name_iid?)?;
        let bytes = event.debug_annotations.iter().find_map(|annotation| {
            let named = self.annotations.get(&annotation.name_iid?)?;
            match annotation.value {
                Some(AnnotationValue::UintValue(value)) if named == "bytes" => Some(value),
                _ => None,
            }
        });
        Some((name.clone(), bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gtrace_perfetto::{Clocks, Slice, Track, Value, Writer};

    #[test]
    fn what_gtrace_trace_writes_is_read() {
        let clocks = Clocks {
            realtime_ns: 3,
            monotonic_ns: 2,
            boottime_ns: 1,
        };
        let mut writer = Writer::new(Vec::new(), clocks).unwrap();
        writer.process(7, "train").unwrap();
        let threads = [
            writer.thread(7, 7, "train").unwrap(),
            writer.thread(7, 8, "loader").unwrap(),
        ];
        let mut call = |track: Track, name, category, bytes: Option<u64>, at| {
            let arguments: Vec<_> = bytes
                .map(|bytes| ("bytes", Value::Unsigned(bytes)))
                .into_iter()
                .collect();
            let slice = Slice {
                name,
                category,
                arguments: &arguments,
                flows: &[],
            };
            writer.slice(track, &slice, at, at + 5).unwrap();
        };
        call(threads[0], "cuLaunchKernel", "cuda", None, 30);
        call(threads[0], "cuModuleLoadData", "cuda", None, 40);
        call(threads[0], "cuMemcpyDtoH_v2", "cuda,failed", Some(64), 50);
        call(threads[1], "cuMemcpyHtoD_v2", "cuda", Some(4096), 20);
        let bytes = writer.finish().unwrap();
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("train.pftrace");
        std::fs::write(&file, bytes).unwrap();
        let (steps, recorded) = read(&file).unwrap();
        assert_eq!(steps, [Step::ToDevice(4096), Step::Launch]);
        assert_eq!((recorded.calls, recorded.replayed), (3, 2));
        assert_eq!(recorded.left_out["cuModuleLoadData"], 1);
        std::fs::write(&file, b"\x0a\xff\xff\xff").unwrap();
        assert!(read(&file).unwrap_err().to_string().contains("is no trace"));
        std::fs::write(&file, b"").unwrap();
        assert!(read(&file).is_err());
    }
}
