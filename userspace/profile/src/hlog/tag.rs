//! The tag of a row: its key in a form that has no comma, space or end of line.

use crate::{Key, Layer, Origin, Part, Process};

/// Longest name that is read, bytes.
const NAME_MAX: usize = 4096;

/// `layer/part/pid/comm/function/gpu/host/cgroup/origin host/origin pid/origin program`, with what is
/// not of letters, digits and `-._:()` as %XX; empty ones at the end are left out.
pub(super) fn of(key: &Key) -> String {
    let Key {
        process,
        layer,
        function,
        part,
        gpu,
    } = key;
    let text = |text: &Option<String>| text.clone().unwrap_or_default();
    let origin = process.origin.as_ref();
    let fields = [
        layer.name().to_owned(),
        part.name().to_owned(),
        process.pid.to_string(),
        process.comm.clone(),
        function.clone(),
        text(gpu),
        process.host.clone(),
        text(&process.cgroup),
        origin.map(|origin| origin.host.clone()).unwrap_or_default(),
        origin
            .map(|origin| origin.pid.to_string())
            .unwrap_or_default(),
        origin
            .map(|origin| origin.program.clone())
            .unwrap_or_default(),
    ];
    let fields: Vec<String> = fields.iter().map(|field| escaped(field)).collect();
    fields.join("/").trim_end_matches('/').to_owned()
}

/// The row that a tag names. A tag of another program is a function of an unknown process.
pub(super) fn parse(tag: &str) -> Key {
    own(tag).unwrap_or_else(|| Key {
        process: Process::default(),
        layer: Layer::Api,
        function: tag.chars().take(NAME_MAX / 4).collect(),
        part: Part::Whole,
        gpu: None,
    })
}

fn own(tag: &str) -> Option<Key> {
    let fields: Vec<String> = tag.split('/').map(plain).collect::<Option<_>>()?;
    let field = |at: usize| fields.get(at).cloned().unwrap_or_default();
    let known = |at| Some(field(at)).filter(|text| !text.is_empty());
    if !(3..=11).contains(&fields.len()) {
        return None;
    }
    let origin = match known(9) {
        None => None,
        Some(pid) => Some(Origin {
            host: field(8),
            pid: pid.parse().ok()?,
            program: field(10),
        }),
    };
    Some(Key {
        layer: Layer::ALL.into_iter().find(|l| l.name() == fields[0])?,
        part: Part::ALL.into_iter().find(|p| p.name() == fields[1])?,
        process: Process {
            pid: fields[2].parse().ok()?,
            comm: field(3),
            host: field(6),
            cgroup: known(7),
            origin,
        },
        function: field(4),
        gpu: known(5),
    })
}

fn escaped(text: &str) -> String {
    let mut out = String::new();
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._:()".contains(&byte) {
            out.push(char::from(byte));
        } else {
            out.push('%');
            for digit in [byte >> 4, byte & 15] {
                out.extend(char::from_digit(u32::from(digit), 16));
            }
        }
    }
    out
}

fn plain(text: &str) -> Option<String> {
    let mut bytes = text.bytes();
    let mut out = Vec::new();
    while let Some(byte) = bytes.next() {
        if byte != b'%' {
            out.push(byte);
            continue;
        }
        let mut digit = || char::from(bytes.next()?).to_digit(16);
        let (high, low) = (digit()?, digit()?);
        out.push((high << 4 | low) as u8);
    }
    if out.len() > NAME_MAX {
        return None;
    }
    String::from_utf8(out).ok()
}
