//! The journal of systemd, by its native protocol: an entry is a datagram of fields, so that `journalctl GTRACE_KIND=xid` finds events
//! without reading their text.
//!
//! Source: <https://systemd.io/JOURNAL_NATIVE_PROTOCOL>. A field is `NAME=value` and a newline; a value that has a newline of its own is its
//! name, a newline, its length in 8 bytes little-endian, the value and a newline.

use std::io;
use std::os::unix::net::UnixDatagram;
use std::path::Path;

use gtrace_event::{Event, Incident, IncidentState, Severity};

/// Where the journal listens.
pub(super) const SOCKET: &str = "/run/systemd/journal/socket";
/// Longest value, bytes: an entry is one datagram, of which a socket takes some 200 KiB.
const VALUE_MAX: usize = 8 * 1024;
/// What events and incidents have in common, so that a catalogue of messages can name them.
const EVENT: &str = "d5f9a3c04b6e4f0c9a52e1d7c8b34a10";
const INCIDENT: &str = "d5f9a3c04b6e4f0c9a52e1d7c8b34a11";

/// A connection to it.
pub(super) struct Journal(UnixDatagram);

/// An entry that is being written.
struct Entry(Vec<u8>);

impl Entry {
    fn new(message_id: &str, priority: &str, message: &str) -> Self {
        let mut entry = Self(Vec::new());
        entry.field("MESSAGE", message);
        entry.field("MESSAGE_ID", message_id);
        entry.field("PRIORITY", priority);
        entry.field("SYSLOG_IDENTIFIER", "gtrace");
        entry
    }

    /// Names are constants of this file: capital letters, digits and underscores.
    fn field(&mut self, name: &str, value: &str) {
        let mut end = value.len().min(VALUE_MAX);
        while !value.is_char_boundary(end) {
            end -= 1;
        }
        let value = value.get(..end).unwrap_or_default();
        self.0.extend_from_slice(name.as_bytes());
        match value.contains('\n') {
            false => self.0.push(b'='),
            true => {
                self.0.push(b'\n');
                self.0
                    .extend_from_slice(&(value.len() as u64).to_le_bytes());
            }
        }
        self.0.extend_from_slice(value.as_bytes());
        self.0.push(b'\n');
    }

    fn known(&mut self, name: &str, value: Option<impl ToString>) {
        if let Some(value) = value {
            self.field(name, &value.to_string());
        }
    }
}

/// Priorities of syslog(3): crit, warning, info.
fn priority(severity: Severity) -> &'static str {
    match severity {
        Severity::Fatal | Severity::Critical => "2",
        Severity::Warning => "4",
        Severity::Info => "6",
    }
}

impl Journal {
    /// Connects to the journal at `socket`.
    ///
    /// # Errors
    ///
    /// What the system says: this host has no journal, or it does not run.
    pub(super) fn open(socket: &Path) -> io::Result<Self> {
        let journal = UnixDatagram::unbound()?;
        journal.connect(socket)?;
        // A journal that hangs must not hold up who writes to it.
        journal.set_nonblocking(true)?;
        Ok(Self(journal))
    }

    /// Writes an event; `line` is its text.
    pub(super) fn event(&self, event: &Event, line: &str) -> io::Result<()> {
        let mut entry = Entry::new(EVENT, priority(event.severity), line);
        entry.field("GTRACE_EVENT", &event.id.to_string());
        entry.field("GTRACE_KIND", event.kind.name());
        entry.field("GTRACE_SEVERITY", event.severity.name());
        entry.field("GTRACE_PROVENANCE", event.provenance.name());
        let action = event.advice.as_ref().and_then(|advice| advice.action);
        entry.known("GTRACE_ACTION", action);
        if let Some(gpu) = &event.gpu {
            entry.known("GTRACE_GPU", gpu.pci);
            entry.known("GTRACE_GPU_UUID", gpu.uuid.as_ref());
            entry.known("GTRACE_GPU_INDEX", gpu.index);
        }
        entry.known("GTRACE_XID", event.detail.xid.xid);
        entry.known("GTRACE_SXID", event.detail.fabric.sxid);
        entry.known("GTRACE_PLUGIN", event.detail.plugin.plugin.as_ref());
        entry.known("GTRACE_CHECK", event.detail.plugin.check.as_ref());
        if let Some(process) = &event.process {
            entry.known("GTRACE_PID", process.pid);
            entry.known("GTRACE_COMM", process.comm.as_ref());
            entry.known("GTRACE_CONTAINER", process.container.as_ref());
        }
        self.0.send(&entry.0).map(drop)
    }

    /// Writes that an incident was opened or that its state has changed; `line` is its text.
    pub(super) fn incident(&self, incident: &Incident, line: &str) -> io::Result<()> {
        let priority = match incident.state {
            IncidentState::Open => priority(incident.severity),
            _ => "5",
        };
        let mut entry = Entry::new(INCIDENT, priority, line);
        entry.field("GTRACE_INCIDENT", &incident.id.to_string());
        entry.field("GTRACE_CLASS", incident.class.name());
        entry.field("GTRACE_STATE", incident.state.name());
        entry.field("GTRACE_SEVERITY", incident.severity.name());
        entry.field("GTRACE_DRILL", if incident.drill { "1" } else { "0" });
        self.0.send(&entry.0).map(drop)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use gtrace_event::{Gpu, Kind, Occurrence, Timestamp, WitnessName};

    use super::*;

    /// Fields of an entry, as the protocol's page describes them.
    fn parse(mut bytes: &[u8]) -> BTreeMap<String, String> {
        let mut fields = BTreeMap::new();
        while !bytes.is_empty() {
            let end = bytes
                .iter()
                .position(|b| matches!(b, b'=' | b'\n'))
                .unwrap();
            let name = String::from_utf8(bytes[..end].to_vec()).unwrap();
            assert!(
                name.bytes().all(|b| b.is_ascii_uppercase() || b == b'_'),
                "{name}"
            );
            let (value, rest) = match bytes[end] {
                b'=' => {
                    let rest = &bytes[end + 1..];
                    let end = rest.iter().position(|b| *b == b'\n').unwrap();
                    (&rest[..end], &rest[end..])
                }
                _ => {
                    let (length, rest) = bytes[end + 1..].split_first_chunk::<8>().unwrap();
                    rest.split_at(usize::try_from(u64::from_le_bytes(*length)).unwrap())
                }
            };
            assert_eq!(rest[0], b'\n');
            fields.insert(name, String::from_utf8(value.to_vec()).unwrap());
            bytes = &rest[1..];
        }
        fields
    }

    #[test]
    fn an_event_is_an_entry_with_fields_and_no_text_becomes_a_field_of_its_own() {
        let dir = tempfile::tempdir().unwrap();
        let socket = dir.path().join("socket");
        assert!(Journal::open(&socket).is_err());
        let server = UnixDatagram::bind(&socket).unwrap();
        let journal = Journal::open(&socket).unwrap();
        let time = Timestamp::UNIX_EPOCH;
        let mut occurrence = Occurrence::new(Kind::Xid, Severity::Fatal, "x");
        occurrence.detail.xid.xid = Some(79);
        occurrence.gpu = Some(Gpu::at("0000:3b:00.0".parse().unwrap()));
        let event = Event::seen(time, WitnessName::Kmsg, 1, occurrence);
        let long = "é".repeat(VALUE_MAX);
        let hostile = format!("Xid 79\nPRIORITY=0\nGTRACE_KIND=forged\n{long}");
        journal.event(&event, &hostile).unwrap();
        let mut bytes = vec![0; 64 * 1024];
        let length = server.recv(&mut bytes).unwrap();
        let fields = parse(&bytes[..length]);
        assert!(fields["MESSAGE"].starts_with("Xid 79\nPRIORITY=0\n"));
        assert!(fields["MESSAGE"].len() <= VALUE_MAX);
        for (name, value) in [
            ("PRIORITY", "2"),
            ("GTRACE_KIND", "xid"),
            ("GTRACE_XID", "79"),
            ("GTRACE_GPU", "0000:3b:00.0"),
            ("GTRACE_PROVENANCE", "unknown"),
            ("SYSLOG_IDENTIFIER", "gtrace"),
        ] {
            assert_eq!(fields[name], value, "{name}");
        }
        assert!(!fields.contains_key("GTRACE_PID"));
        drop(server);
        assert!(
            journal.event(&event, "x").is_err(),
            "whoever writes prints it then"
        );
    }
}
