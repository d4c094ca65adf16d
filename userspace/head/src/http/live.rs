//! What hosts report, as it is committed: server-sent events.

use std::collections::HashMap;
use std::convert::Infallible;
use std::time::Duration;

use axum::Extension;
use axum::body::Body;
use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use gtrace_event::{Kind, Severity};
use serde::Deserialize;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::mpsc;
use tokio::time::interval;

use super::App;
use super::ending::over;
use super::gate::{Known, Only};
use super::named;
use super::people::kind_and_severity;
use super::problem::Problem;
use super::query::Query;
use crate::committed::{Committed, Shown, What};
use crate::db::HostRow;
use crate::writer::Sent;

/// Messages that a reader's connection may be behind, beside those of the channel that all readers share.
const WAITING: usize = 16;
/// So often a comment shows that the connection stands.
const PING: Duration = Duration::from_secs(15);
/// So often it is checked whether the reader may still read.
const CHECK: Duration = Duration::from_secs(1);
/// Some do not come.
const GAP: &str = "event: gap\ndata: {}\n\n";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct EventParameters {
    host: Option<String>,
    kind: Option<String>,
    severity: Option<String>,
}

/// Events of all hosts.
pub(super) async fn events(
    State(app): State<App>,
    known: Option<Extension<Known>>,
    only: Only,
    Query(asked): Query<EventParameters>,
) -> Result<Response, Problem> {
    let (kind, severity) = kind_and_severity(asked.kind, asked.severity)?;
    let wanted = Wanted {
        host: asked.host,
        of: Of::Events { kind, severity },
    };
    follow(app, known, only, wanted).await
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct IncidentParameters {
    host: Option<String>,
}

/// Changes of incidents of all hosts.
pub(super) async fn incidents(
    State(app): State<App>,
    known: Option<Extension<Known>>,
    only: Only,
    Query(asked): Query<IncidentParameters>,
) -> Result<Response, Problem> {
    let wanted = Wanted {
        host: asked.host,
        of: Of::Incidents,
    };
    follow(app, known, only, wanted).await
}

/// What a reader is sent.
struct Wanted {
    host: Option<String>,
    of: Of,
}

enum Of {
    Incidents,
    /// Of this kind, and at least so severe.
    Events {
        kind: Option<Kind>,
        severity: Option<Severity>,
    },
}

impl Wanted {
    /// A message, if the reader wants this record. One that is large does not come.
    fn message(&self, host: &str, record: Option<&Committed>) -> Option<String> {
        if self.host.as_ref().is_some_and(|wanted| wanted != host) {
            return None;
        }
        let Some(record) = record else {
            return Some(GAP.to_owned());
        };
        let Shown { what, json } = record.shown()?;
        let name = match (what, &self.of) {
            (What::Incident, Of::Incidents) => "incident",
            (What::Event(of, found), Of::Events { kind, severity })
                if kind.as_ref().is_none_or(|kind| kind == of)
                    && severity.is_none_or(|least| *found >= least) =>
            {
                "event"
            }
            _ => return None,
        };
        // As a [`crate::db::FleetEvent`] or [`crate::db::FleetIncident`].
        let host = serde_json::to_string(host).ok()?;
        Some(format!(
            "event: {name}\ndata: {{\"fleet_host\":{host},\"{name}\":{json}}}\n\n"
        ))
    }
}

async fn follow(
    app: App,
    known: Option<Extension<Known>>,
    only: Only,
    wanted: Wanted,
) -> Result<Response, Problem> {
    // A name that is no host's would be waited for without end.
    if let Some(host) = &wanted.host {
        only.host(&app, host).await?;
    }
    let live = &app.writer.live;
    let mut live = match wanted.of {
        Of::Incidents => live.incidents.subscribe(),
        Of::Events { .. } => live.events.subscribe(),
    };
    let (sender, receiver) = mpsc::channel::<Result<String, Infallible>>(WAITING);
    let mut ended = app.ended.clone();
    tokio::spawn(async move {
        let mut names = HashMap::<i64, Option<String>>::new();
        let (mut ping, mut check) = (interval(PING), interval(CHECK));
        loop {
            let text = tokio::select! {
                () = over(&mut ended) => return,
                // A credential that is revoked, or runs out, is one for a stream that is open too.
                _ = check.tick() => match known.as_ref().is_none_or(|known| known.still_holds()) {
                    true => continue,
                    false => return,
                },
                _ = ping.tick() => {
                    // Labels change, and with them whose hosts are whose.
                    if !only.is_all() {
                        names.clear();
                    }
                    ": \n\n".to_owned()
                }
                received = live.recv() => match received {
                    Ok(Sent::Record(host, record)) => {
                        if !names.contains_key(&host)
                            && let Ok(rows) = named::hosts(&app, host).await
                        {
                            let name = |row: &HostRow| (row.id, only.has(row).then(|| row.name.clone()));
                            names = rows.iter().map(name).collect();
                        }
                        let name = match names.get(&host) {
                            Some(name) => name.as_deref(),
                            None => only.is_all().then_some(""),
                        };
                        let Some(message) = name.and_then(|name| wanted.message(name, record.as_deref())) else {
                            continue;
                        };
                        message
                    }
                    Ok(Sent::Gap) => GAP.to_owned(),
                    Err(RecvError::Lagged(lost)) => format!("event: gap\ndata: {{\"lost\":{lost}}}\n\n"),
                    Err(RecvError::Closed) => return,
                },
            };
            if sender.send(Ok(text)).await.is_err() {
                return;
            }
        }
    });
    let body = futures_util::stream::unfold(receiver, |mut receiver| async {
        receiver.recv().await.map(|text| (text, receiver))
    });
    let headers = [
        (header::CONTENT_TYPE, "text/event-stream"),
        (header::CACHE_CONTROL, "no-cache"),
    ];
    Ok((headers, Body::from_stream(body)).into_response())
}
