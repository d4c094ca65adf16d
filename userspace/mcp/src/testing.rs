//! A source with known contents.

use std::cell::Cell;

use gtrace_api::{CallStats, SampleHistory, Status};
use gtrace_catalogue::Catalogue;
use gtrace_event::{
    Event, EventId, HealthReport, Incident, Kind, Occurrence, Severity, Timestamp, WitnessName,
};

use crate::{Query, Refusal, Source};

/// Some events, perhaps an incident, and nothing else.
#[derive(Debug, Default)]
pub struct Known {
    /// The oldest first.
    pub events: Vec<Event>,
    /// It has any id.
    pub incident: Option<Incident>,
    /// How often events were asked for by their ids.
    pub asked: Cell<u32>,
}

impl Known {
    /// Events of an Xid, a second apart; the message of each is `message`.
    pub fn with_events(count: u32, message: &str) -> Self {
        let event = |second: u32| {
            let time = Timestamp::from_second(i64::from(second)).unwrap_or(Timestamp::UNIX_EPOCH);
            let mut occurrence = Occurrence::new(Kind::Xid, Severity::Fatal, message);
            occurrence.detail.xid.xid = Some(79);
            Event::seen(time, WitnessName::Kmsg, 1, occurrence)
        };
        Self {
            events: (0..count).map(event).collect(),
            ..Self::default()
        }
    }
}

fn none<T>() -> Result<T, Refusal> {
    Err(Refusal("this source has none".to_owned()))
}

impl Source for Known {
    fn origin(&self) -> String {
        "a test".to_owned()
    }

    fn events(&self, query: &Query) -> Result<Vec<Event>, Refusal> {
        let value = |name: &str| {
            query
                .iter()
                .find(|(n, _)| *n == name)
                .map(|(_, v)| v.as_str())
        };
        let until: Option<Timestamp> = value("until").map(str::parse).transpose()?;
        let limit: usize = value("limit").unwrap_or("1").parse()?;
        let before = self
            .events
            .iter()
            .filter(|e| until.is_none_or(|t| e.time < t));
        let mut found: Vec<Event> = before.cloned().collect();
        found.drain(..found.len().saturating_sub(limit));
        Ok(found)
    }

    fn event(&self, id: &str) -> Result<Event, Refusal> {
        self.asked.update(|asked| asked + 1);
        let found = self.events.iter().find(|event| event.id.to_string() == id);
        found.cloned().map_or_else(none, Ok)
    }

    fn events_of(&self, ids: &[EventId]) -> Vec<Event> {
        self.asked.update(|asked| asked + 1);
        let find = |id: &EventId| self.events.iter().find(|event| event.id == *id).cloned();
        ids.iter().filter_map(find).collect()
    }

    fn incidents(&self, _: &Query) -> Result<Vec<Incident>, Refusal> {
        Ok(Vec::new())
    }

    fn incident(&self, _: &str) -> Result<Incident, Refusal> {
        self.incident.clone().map_or_else(none, Ok)
    }

    fn postmortem(&self, _: &Incident) -> Result<String, Refusal> {
        none()
    }

    fn health(&self) -> Result<HealthReport, Refusal> {
        none()
    }

    fn status(&self) -> Result<Status, Refusal> {
        none()
    }

    fn gpus(&self) -> Result<serde_json::Value, Refusal> {
        none()
    }

    fn samples(&self, _: &Query) -> Result<SampleHistory, Refusal> {
        Ok(SampleHistory::default())
    }

    fn driver_calls(&self) -> Result<Vec<CallStats>, Refusal> {
        Ok(vec![CallStats::default(); 30])
    }

    fn catalogue(&self) -> Catalogue {
        Catalogue::builtin()
    }

    fn runbooks(&self) -> Vec<(&'static str, &'static str)> {
        vec![("pcie", "PCIe failure")]
    }

    fn page(&self, name: &str) -> Option<&'static str> {
        (name == "pcie").then_some("# PCIe\n\nReseat it.\n")
    }
}
