//! A record of `journalctl -o json`: one object a line (systemd's Journal JSON Format).

use gtrace_event::Timestamp;
use serde_json::{Map, Value};

use super::parsed::{Origin, Parsed, Style};

/// Takes a line apart. False if it is no record of the journal.
pub(super) fn parse(line: &str, parsed: &mut Parsed<'_>) -> bool {
    if memchr::memmem::find(line.as_bytes(), b"\"MESSAGE\"").is_none() {
        return false;
    }
    let Ok(Value::Object(fields)) = serde_json::from_str(line) else {
        return false;
    };
    let Some(message) = text(&fields, "MESSAGE") else {
        return false;
    };
    parsed.style = Style::Journal;
    let transport = text(&fields, "_TRANSPORT");
    if transport.is_some_and(|transport| transport != "kernel") {
        parsed.origin = Origin::Process;
        return true;
    }
    let number = |name| text(&fields, name)?.parse::<u64>().ok();
    let small = |name| number(name).and_then(|value| u8::try_from(value).ok());
    parsed.facility = small("SYSLOG_FACILITY");
    parsed.level = small("PRIORITY");
    parsed.timestamp_us = number("_SOURCE_MONOTONIC_TIMESTAMP");
    let time = number("_SOURCE_REALTIME_TIMESTAMP").or_else(|| number("__REALTIME_TIMESTAMP"));
    let time = time.and_then(|us| i64::try_from(us).ok());
    parsed.time = time.and_then(|us| Timestamp::from_microsecond(us).ok());
    parsed.host = text(&fields, "_HOSTNAME").map(Into::into);
    parsed.device = text(&fields, "_KERNEL_DEVICE");
    parsed.message = Some(match text(&fields, "SYSLOG_IDENTIFIER") {
        // journald takes the first word of what a process writes to /dev/kmsg for its name.
        Some(tag) if tag != "kernel" => match text(&fields, "SYSLOG_PID") {
            Some(pid) => format!("{tag}[{pid}]: {message}"),
            None => format!("{tag}: {message}"),
        },
        _ => message,
    });
    true
}

/// The value of a field: text, bytes where it is no UTF-8, or the first of several.
fn text(fields: &Map<String, Value>, name: &str) -> Option<String> {
    match fields.get(name)? {
        Value::String(text) => Some(text.clone()),
        Value::Array(values) => match values.first()? {
            Value::String(text) => Some(text.clone()),
            Value::Number(_) => {
                let byte = |value: &Value| u8::try_from(value.as_u64()?).ok();
                let bytes: Vec<u8> = values.iter().map_while(byte).collect();
                Some(String::from_utf8_lossy(&bytes).into_owned())
            }
            _ => None,
        },
        _ => None,
    }
}
