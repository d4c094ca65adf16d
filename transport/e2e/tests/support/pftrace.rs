//! What a `.pftrace` has.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use gtrace_perfetto::format::{AnnotationValue, Data, Message as _, Trace};

/// A slice, an instant (which ends where it begins) or the value of a counter.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    /// Name of its track.
    pub(crate) track: String,
    pub(crate) name: String,
    pub(crate) category: String,
    pub(crate) start: u64,
    pub(crate) end: u64,
    /// Arguments that are numbers.
    pub(crate) numbers: BTreeMap<String, u64>,
    /// Numbers of arrows that touch it.
    pub(crate) arrows: Vec<u64>,
    pub(crate) counter: Option<f64>,
}

/// All of a trace, in which every slice is closed and every track described.
pub(crate) fn read(path: &Path) -> Vec<Seen> {
    let trace = Trace::decode(std::fs::read(path).unwrap().as_slice()).unwrap();
    let mut names = HashMap::new();
    let (mut categories, mut arguments) = (HashMap::new(), HashMap::new());
    let (mut tracks, mut open) = (HashMap::new(), HashMap::new());
    let mut all = Vec::new();
    for packet in &trace.packet {
        if let Some(data) = &packet.interned_data {
            for (into, from) in [
                (&mut names, &data.event_names),
                (&mut categories, &data.event_categories),
                (&mut arguments, &data.debug_annotation_names),
            ] {
                into.extend(
                    from.iter()
                        .map(|n| (n.iid.unwrap(), n.name.clone().unwrap())),
                );
            }
        }
        match &packet.data {
            Some(Data::TrackDescriptor(track)) => {
                let thread = track.thread.as_ref().and_then(|t| t.thread_name.clone());
                let process = track.process.as_ref().and_then(|p| p.process_name.clone());
                let name = track.name.clone().or(thread).or(process).unwrap();
                tracks.insert(track.uuid.unwrap(), name);
            }
            Some(Data::TrackEvent(event)) => {
                let (uuid, time) = (event.track_uuid.unwrap(), packet.timestamp.unwrap());
                if event.r#type == Some(2) {
                    let mut slice: Seen = open.remove(&uuid).expect("an end without a beginning");
                    assert!(slice.start <= time, "it ends before it begins: {slice:?}");
                    slice.end = time;
                    all.push(slice);
                    continue;
                }
                let number = |value: &AnnotationValue| match value {
                    AnnotationValue::UintValue(n) | AnnotationValue::PointerValue(n) => Some(*n),
                    _ => None,
                };
                let numbers = event.debug_annotations.iter().filter_map(|one| {
                    let name = arguments[&one.name_iid.unwrap()].clone();
                    Some((name, number(one.value.as_ref()?)?))
                });
                let category = event
                    .category_iids
                    .iter()
                    .map(|iid| categories[iid].as_str());
                let one = Seen {
                    track: tracks[&uuid].clone(),
                    name: event
                        .name_iid
                        .map_or_else(String::new, |iid| names[&iid].clone()),
                    category: category.collect::<Vec<_>>().join(","),
                    start: time,
                    end: time,
                    numbers: numbers.collect(),
                    arrows: [&event.flow_ids[..], &event.terminating_flow_ids[..]].concat(),
                    counter: event.double_counter_value,
                };
                match event.r#type {
                    Some(1) => assert!(open.insert(uuid, one).is_none(), "not closed"),
                    _ => all.push(one),
                }
            }
            _ => {}
        }
    }
    assert!(open.is_empty(), "not closed: {open:?}");
    all
}
