//! One drill after another: inject, watch, close.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use gtrace_api::client::{Client, ClientError, target};
use gtrace_api::{AckRequest, IncidentRequest, SourceState, SourceStatus};
use gtrace_event::{
    Event, FailureClass, Incident, IncidentState, Severity, Timestamp, WitnessName,
};

use super::super::inject;
use super::super::shared::Failure;
use super::alerts;
use super::drills::{Drill, Target};
use super::verdict::{Observed, Outcome, witnesses};

/// How long an event may take.
const DETECTED_WITHIN: Duration = Duration::from_secs(10);
/// How long the rest may take: further witnesses, the incident, the metrics.
const COMPLETE_WITHIN: Duration = Duration::from_secs(3);
/// How long an aborted drill is followed, to close what it opens.
const GRACE: Duration = Duration::from_secs(1);
/// Between two questions; it bounds how exactly the time of detection is known.
const ASK_EVERY: Duration = Duration::from_millis(2);
/// Drills of the last moments among which the event is sought.
const SOUGHT: &str = "200";
/// What closes a drill.
const NOTE: &str = "drill of gtrace gameday";

/// What all drills of a game day have in common.
pub(super) struct Round {
    client: Client,
    /// The active sources that read the kernel log: each has to see each drill.
    sources: Vec<WitnessName>,
    by: String,
    abort: Arc<AtomicBool>,
}

impl Round {
    pub(super) fn new(
        client: Client,
        sources: &[SourceStatus],
        by: String,
        abort: Arc<AtomicBool>,
    ) -> Self {
        let reads_log = [WitnessName::PrintkConsole, WitnessName::Kmsg];
        let active = sources.iter().filter(|s| s.state == SourceState::Active);
        let sources = active.filter_map(|source| source.witness);
        Self {
            client,
            sources: sources.filter(|w| reads_log.contains(w)).collect(),
            by,
            abort,
        }
    }

    /// Injects `drill`, follows it, and closes what it opened.
    pub(super) fn play(&self, drill: &Drill) -> Result<Outcome, Failure> {
        let place = Target::new(fastrand::u64(..));
        let mark = drill.mark(&place);
        let line = inject::line(&drill.what(&place)).map_err(Failure::not_possible)?;
        let since = Timestamp::now();
        let before = self.selected(drill.severity, None)?;
        let began = Instant::now();
        inject::write(&line).map_err(|error| Failure::not_possible(format!("{error:#}")))?;

        let mut observed = Observed::default();
        let found = self.wait(DETECTED_WITHIN, || self.event(&mark, since))?;
        observed.event = found.map(|event| (event, began.elapsed()));
        if observed.event.is_some() {
            self.complete(drill, &mark, since, &before, &mut observed)?;
        }
        self.close(drill, &mark, since, &mut observed)?;
        Ok(Outcome::judge(drill, line, &observed, &self.sources))
    }

    /// Waits for what comes after the event.
    fn complete(
        &self,
        drill: &Drill,
        mark: &str,
        since: Timestamp,
        before: &alerts::Selected,
        observed: &mut Observed,
    ) -> Result<(), Failure> {
        let expected = alerts::expected(drill);
        self.wait(COMPLETE_WITHIN, || {
            if let (Some((known, _)), Some(event)) = (&mut observed.event, self.event(mark, since)?)
            {
                *known = event;
            }
            observed.incident = self.incident(observed)?;
            let event = observed.event.as_ref().map(|(event, _)| event);
            let severity = event.map_or(drill.severity, |event| event.severity);
            let class = observed.incident.as_ref().map(|incident| incident.class);
            observed.alerts = alerts::fired(before, &self.selected(severity, class)?);
            let seen_by = observed.event.as_ref().map(|(event, _)| witnesses(event));
            let seen_by = seen_by.unwrap_or_default();
            let is_complete = self.sources.iter().all(|s| seen_by.contains(s))
                && observed.incident.is_some() == drill.class.is_some()
                && observed.alerts == expected;
            Ok(is_complete.then_some(()))
        })?;
        Ok(())
    }

    /// Resolves the incident and acknowledges the event; after an abort also those that only just come.
    fn close(
        &self,
        drill: &Drill,
        mark: &str,
        since: Timestamp,
        observed: &mut Observed,
    ) -> Result<(), Failure> {
        let until = Instant::now() + GRACE;
        while self.abort.load(Ordering::Relaxed)
            && Instant::now() < until
            && (observed.event.is_none() || observed.incident.is_some() != drill.class.is_some())
        {
            if observed.event.is_none() {
                let found = self.event(mark, since)?;
                observed.event = found.map(|event| (event, since_then(since)));
            }
            observed.incident = self.incident(observed)?;
            std::thread::sleep(ASK_EVERY);
        }
        if let Some(incident) = &observed.incident {
            let request = IncidentRequest {
                state: IncidentState::Resolved,
                by: self.by.clone(),
                note: NOTE.to_owned(),
            };
            let path = format!("/api/v1/incidents/{}/state", incident.id);
            let closed = self.client.post::<Incident>(&path, &request);
            observed.unclosed = closed
                .err()
                .map(|error| format!("the incident {} stays open: {error}", incident.id));
        }
        if let Some((event, _)) = &observed.event {
            let request = AckRequest {
                by: self.by.clone(),
                note: NOTE.to_owned(),
            };
            let path = format!("/api/v1/events/{}/ack", event.id);
            if let Err(error) = self.client.post::<Event>(&path, &request) {
                let why = format!("the event {} stays open: {error}", event.id);
                observed.unclosed.get_or_insert(why);
            }
        }
        Ok(())
    }

    /// The event that has `mark`.
    fn event(&self, mark: &str, since: Timestamp) -> Result<Option<Event>, ClientError> {
        let query = [
            ("provenance", "injected".to_owned()),
            ("since", since.to_string()),
            ("limit", SOUGHT.to_owned()),
        ];
        let events: Vec<Event> = self.client.get(&target("/api/v1/events", &query))?;
        let has_mark =
            |event: &Event| serde_json::to_string(event).is_ok_and(|json| json.contains(mark));
        Ok(events.into_iter().find(has_mark))
    }

    /// The open incident that the event belongs to.
    fn incident(&self, observed: &Observed) -> Result<Option<Incident>, ClientError> {
        let Some((event, _)) = &observed.event else {
            return Ok(None);
        };
        let query = [("open", "true"), ("limit", SOUGHT)];
        let incidents: Vec<Incident> = self.client.get(&target("/api/v1/incidents", &query))?;
        let mut incidents = incidents.into_iter();
        Ok(incidents.find(|incident| incident.events.contains(&event.id)))
    }

    /// What the alerts select of the metrics of now.
    fn selected(
        &self,
        severity: Severity,
        class: Option<FailureClass>,
    ) -> Result<alerts::Selected, ClientError> {
        let metrics = self.client.get_text("/metrics")?;
        Ok(alerts::selected(&metrics, alerts::Of { severity, class }))
    }

    /// Asks until there is an answer, at most for `limit`, and until it is aborted.
    fn wait<T>(
        &self,
        limit: Duration,
        mut ask: impl FnMut() -> Result<Option<T>, ClientError>,
    ) -> Result<Option<T>, Failure> {
        let until = Instant::now() + limit;
        loop {
            if let Some(answer) = ask()? {
                return Ok(Some(answer));
            }
            if Instant::now() >= until || self.abort.load(Ordering::Relaxed) {
                return Ok(None);
            }
            std::thread::sleep(ASK_EVERY);
        }
    }
}

fn since_then(time: Timestamp) -> Duration {
    let passed = Timestamp::now().duration_since(time);
    Duration::try_from(passed).unwrap_or_default()
}
