//! Helpers of the tests: decode a text, compare fields by JSON pointer.
#![allow(dead_code, clippy::unwrap_used)]

use std::collections::BTreeMap;

use gtrace_decoder::saved::SavedLog;
use gtrace_decoder::{Decoder, DriverVersion, LogRecord, Options};
use gtrace_event::Occurrence;
use serde_json::{Value, json};

/// Reads `text` as a saved log.
pub(crate) fn saved(text: &str) -> Vec<Occurrence> {
    saved_bytes(text.as_bytes())
}

pub(crate) fn saved_bytes(bytes: &[u8]) -> Vec<Occurrence> {
    let mut log = SavedLog::new(Options::default());
    let mut out = Vec::new();
    log.feed_bytes(bytes, &mut out);
    log.finish(&mut out);
    out
}

/// Reads each line of `text` as one live record of the kernel, 1 ms apart.
pub(crate) fn live(text: &str) -> Vec<Occurrence> {
    live_with(text, Options::default())
}

pub(crate) fn live_with(text: &str, options: Options) -> Vec<Occurrence> {
    let mut decoder = Decoder::new(options);
    let mut out = Vec::new();
    for (at, line) in text.lines().enumerate() {
        decoder.feed(&record(line, at as u64 + 1), &mut out);
    }
    decoder.flush(&mut out);
    out
}

pub(crate) fn record(text: &str, number: u64) -> LogRecord<'_> {
    LogRecord {
        text,
        facility: Some(0),
        level: Some(4),
        timestamp_us: Some(1_000_000 + number * 1000),
        number,
        ..LogRecord::default()
    }
}

pub(crate) fn version(text: &str) -> Options {
    Options {
        driver_version: Some(text.parse::<DriverVersion>().unwrap()),
    }
}

/// The one occurrence of `text`, as JSON.
pub(crate) fn only(text: &str) -> Value {
    let mut found = live(text);
    assert_eq!(found.len(), 1, "{text}: {found:#?}");
    json(&found.remove(0))
}

pub(crate) fn json(occurrence: &Occurrence) -> Value {
    serde_json::to_value(occurrence).unwrap()
}

/// Asserts that `value` has each of `want`: JSON pointer without the first slash, and value;
/// `null` means absent.
pub(crate) fn assert_fields(context: &str, value: &Value, want: &[(&str, Value)]) {
    for (path, want) in want {
        let have = value.pointer(&format!("/{path}")).unwrap_or(&Value::Null);
        assert_eq!(have, want, "{context}: {path} in {value:#}");
    }
}

/// The lines of an event and the fields that they must give, live and from a saved log.
pub(crate) fn check(text: &str, want: &[(&str, Value)]) {
    let (value, lines) = (only(text), json!([1, text.lines().count()]));
    assert_fields(text, &value, want);
    assert_eq!(value["message"], json!(text), "message is the text");
    assert_eq!(value["provenance"], "kernel", "{text}");
    assert_eq!(value["lines"], lines, "{text}");
    let log = text.lines().map(|line| format!("[ 1234.567890] {line}\n"));
    let mut stored = saved(&log.collect::<String>());
    assert_eq!(stored.len(), 1, "{text}");
    let stored = json(&stored.remove(0));
    assert_fields(text, &stored, want);
    assert_eq!(stored["message"], json!(text));
    assert_eq!(stored["lines"], lines, "{text}");
    assert_eq!(stored["boottime_ns"], json!(1_234_567_890_000u64));
    assert_eq!(stored["provenance"], "unknown");
}

/// What an occurrence must have: fields by JSON pointer, as [`assert_fields`] takes them.
pub(crate) type Fields = BTreeMap<String, Value>;

/// The events of a table, each a line or several, and what each must give, which is on the next line behind `= `: kind and
/// severity, unless they are left out, and an object of fields.
pub(crate) fn rows(cases: &str) -> Vec<(&str, Fields)> {
    let mut rows = Vec::new();
    let mut rest = cases.trim();
    while !rest.is_empty() {
        let (text, after) = rest.split_once("\n= ").unwrap();
        let (want, after) = after.split_once('\n').unwrap_or((after, ""));
        rest = after;
        let (words, object) = want.split_at(want.find('{').unwrap_or(want.len()));
        let mut fields = match object {
            "" => Fields::new(),
            object => serde_json::from_str(object).unwrap(),
        };
        let words = words.split_whitespace().map(|word| json!(word));
        let names = ["kind", "severity"].map(str::to_owned);
        fields.extend(names.into_iter().zip(words));
        rows.push((text, fields));
    }
    rows
}

/// [`check`]s every event of a table.
pub(crate) fn table(cases: &str) {
    table_of(str::to_owned, &[], cases);
}

/// [`check`]s every event of a table, put as `put` does, for what the table has of it and for `all`.
pub(crate) fn table_of(put: impl Fn(&str) -> String, all: &[(&str, Value)], cases: &str) {
    for (line, fields) in rows(cases) {
        let mut want: Vec<(&str, Value)> = all.to_vec();
        want.extend(fields.iter().map(|(p, v)| (p.as_str(), v.clone())));
        check(&put(line), &want);
    }
}
