//! Where the server's facts come from.

use gtrace_api::{CallStats, SampleHistory, Status};
use gtrace_catalogue::Catalogue;
use gtrace_event::{Event, EventId, HealthReport, Incident};

/// Parameters as the route of the API with the same name takes them, in text.
pub type Query = Vec<(&'static str, String)>;

/// Why a source does not say what was asked for. It is for the model to read: cause and remedy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal(pub String);

impl<E: std::fmt::Display> From<E> for Refusal {
    fn from(error: E) -> Self {
        Self(error.to_string())
    }
}

/// What gtrace knows. Nothing here changes anything.
pub trait Source {
    /// Who answers: the running daemon, or the store.
    fn origin(&self) -> String;

    /// Events as `/api/v1/events` has them, the oldest first.
    ///
    /// # Errors
    ///
    /// [`Refusal`], here and below.
    fn events(&self, query: &Query) -> Result<Vec<Event>, Refusal>;

    /// One event.
    fn event(&self, id: &str) -> Result<Event, Refusal>;

    /// Those of these events that are there, in this order.
    fn events_of(&self, ids: &[EventId]) -> Vec<Event>;

    /// Incidents as `/api/v1/incidents` has them, the one that began first at the front.
    fn incidents(&self, query: &Query) -> Result<Vec<Incident>, Refusal>;

    /// One incident, by its id or a part of it.
    fn incident(&self, id: &str) -> Result<Incident, Refusal>;

    /// The postmortem that a report of the incident has, filled in as far as the evidence goes; Markdown.
    fn postmortem(&self, incident: &Incident) -> Result<String, Refusal>;

    /// Whether the host is fit.
    fn health(&self) -> Result<HealthReport, Refusal>;

    /// The daemon's own state.
    fn status(&self) -> Result<Status, Refusal>;

    /// The GPUs, as `/api/v1/gpus` has them.
    fn gpus(&self) -> Result<serde_json::Value, Refusal>;

    /// Samples as `/api/v1/samples` has them.
    fn samples(&self, query: &Query) -> Result<SampleHistory, Refusal>;

    /// Driver calls since the daemon started.
    fn driver_calls(&self) -> Result<Vec<CallStats>, Refusal>;

    /// What codes and kinds mean, with the site's policy where there is one.
    fn catalogue(&self) -> Catalogue;

    /// Names and titles of the runbooks, one for each class of failure.
    fn runbooks(&self) -> Vec<(&'static str, &'static str)>;

    /// The page of a class of failure or a kind of event.
    fn page(&self, name: &str) -> Option<&'static str>;
}
