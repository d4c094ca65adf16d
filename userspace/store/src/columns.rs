use std::borrow::Cow;

use gtrace_event::{RecordRef, Timestamp, nanos};
use serde::Deserialize;

/// The columns that queries search by. All are derived from the record's JSON, which the chain
/// covers, so that a changed column can be reported.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Columns<'a> {
    /// `event`, `amendment`, `ack`, `incident` or `health`.
    pub(crate) record: Cow<'a, str>,
    /// Of an incident's record the incident's, of one of health its own.
    pub(crate) event_id: Cow<'a, str>,
    pub(crate) time_ns: i64,
    pub(crate) kind: Option<Cow<'a, str>>,
    pub(crate) severity: Option<Cow<'a, str>>,
    pub(crate) pci: Option<Cow<'a, str>>,
}

impl Columns<'static> {
    pub(crate) fn of(record: RecordRef<'_>) -> Self {
        let (tag, kind, severity, gpu) = match record {
            RecordRef::Event(e) => ("event", Some(e.kind), Some(e.severity), e.gpu.as_ref()),
            RecordRef::Amendment(a) => ("amendment", None, a.severity, a.gpu.as_ref()),
            RecordRef::Ack(_) => ("ack", None, None, None),
            RecordRef::Incident(i) => ("incident", None, Some(i.severity), None),
            RecordRef::Health(_) => ("health", None, None, None),
        };
        Self {
            record: tag.into(),
            event_id: record.subject().into(),
            time_ns: nanos(record.time()),
            kind: kind.map(|k| k.name().into()),
            severity: severity.map(|s| s.name().into()),
            pci: gpu.and_then(|g| g.pci).map(|p| p.to_string().into()),
        }
    }
}

/// The parts of a record's JSON that become columns, whatever version wrote it: kinds and
/// severities that this version does not know are only texts here.
#[derive(Deserialize)]
struct Body<'a> {
    #[serde(borrow)]
    record: Cow<'a, str>,
    #[serde(borrow)]
    id: Cow<'a, str>,
    time: Timestamp,
    #[serde(borrow, default)]
    kind: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    severity: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    gpu: Option<BodyGpu<'a>>,
}

#[derive(Deserialize)]
struct BodyGpu<'a> {
    #[serde(borrow, default)]
    pci: Option<Cow<'a, str>>,
}

impl<'a> Columns<'a> {
    /// The columns of a stored record; `None` where the JSON is no record.
    pub(crate) fn of_json(body: &'a str) -> Option<Self> {
        let body: Body<'a> = serde_json::from_str(body).ok()?;
        Some(Self {
            record: body.record,
            event_id: body.id,
            time_ns: nanos(body.time),
            kind: body.kind,
            severity: body.severity,
            pci: body.gpu.and_then(|g| g.pci),
        })
    }
}

#[cfg(test)]
mod tests {
    use gtrace_event::{
        Ack, Amendment, Event, Gpu, Kind, Occurrence, Record, Severity, WitnessName,
    };

    use super::*;

    #[test]
    fn columns_of_a_record_and_of_its_json_agree() {
        let time: Timestamp = "2026-03-03T04:05:06.1Z".parse().unwrap();
        let mut occurrence = Occurrence::new(Kind::Xid, Severity::Critical, "NVRM: Xid");
        occurrence.gpu = Some(Gpu::at("0000:3b:00.0".parse().unwrap()));
        let old = Event::seen(time, WitnessName::Kmsg, 1, occurrence);
        let mut new = old.clone();
        new.revision = 1;
        new.severity = Severity::Fatal;
        let ack = Ack::new(old.id, time, "me", "");
        let amendment = Amendment::between(&old, &new, time).unwrap();
        for record in [
            Record::Event(Box::new(old)),
            Record::Amendment(Box::new(amendment)),
            Record::Ack(ack),
        ] {
            let json = serde_json::to_string(&record).unwrap();
            let borrowed = RecordRef::from(&record);
            assert_eq!(Columns::of_json(&json).unwrap(), Columns::of(borrowed));
            assert_eq!(serde_json::to_string(&borrowed).unwrap(), json);
        }
    }
}
