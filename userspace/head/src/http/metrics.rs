//! Metrics of the fleet for Prometheus, as text 0.0.4.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicU64, Ordering};

use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use gtrace_event::{FailureClass, HealthState};
use gtrace_profile::openmetrics::escaped;

use super::problem::Problem;
use super::{App, seen};
use crate::view::HostView;

/// Names and values of labels.
pub(super) type Labels = Vec<(&'static str, String)>;

/// Series of one name.
pub(super) struct Family {
    pub(super) name: &'static str,
    pub(super) kind: &'static str,
    pub(super) help: &'static str,
    pub(super) series: Vec<(Labels, u64)>,
}

/// An array of families, a line each: kind, name, what it is, and its series.
macro_rules! families {
    ($($kind:ident $name:literal $help:literal => $series:expr;)*) => {
        [$(Family { name: $name, kind: stringify!($kind), help: $help, series: $series }),*]
    };
}

pub(super) async fn metrics(State(app): State<App>) -> Result<Response, Problem> {
    let content = "text/plain; version=0.0.4; charset=utf-8";
    let text = text(&families(&app).await?);
    Ok(([(header::CONTENT_TYPE, content)], text).into_response())
}

fn text(families: &[Family]) -> String {
    let mut text = String::new();
    for Family {
        name,
        kind,
        help,
        series,
    } in families
    {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} {kind}");
        for (labels, value) in series {
            let label = |(name, value): &(&str, String)| format!("{name}=\"{}\"", escaped(value));
            let labels: Vec<String> = labels.iter().map(label).collect();
            let _ = match labels.is_empty() {
                true => writeln!(text, "{name} {value}"),
                false => writeln!(text, "{name}{{{}}} {value}", labels.join(",")),
            };
        }
    }
    text
}

fn by_state(counts: BTreeMap<&'static str, u64>) -> Vec<(Labels, u64)> {
    let of = |(state, n): (&str, u64)| (vec![("state", state.to_owned())], n);
    counts.into_iter().map(of).collect()
}

fn by_class(counts: BTreeMap<(FailureClass, bool), u64>) -> Vec<(Labels, u64)> {
    let of = |((class, drill), n): ((FailureClass, bool), u64)| {
        let class = ("class", class.name().to_owned());
        (vec![class, ("drill", drill.to_string())], n)
    };
    counts.into_iter().map(of).collect()
}

/// What the head knows now.
pub(super) async fn families(app: &App) -> Result<Vec<Family>, Problem> {
    let found = app.read(|db| {
        let plans = db.plans_by_state()?;
        Ok((db.open_incidents_by_class()?, plans))
    });
    let (classes, plans) = found.await?;
    let hosts = seen::hosts(app).await?.views;
    // A host that was revoked is out of the fleet: nobody is to look at it.
    let views: Vec<&HostView> = hosts.iter().filter(|view| !view.revoked).collect();
    let mut states = BTreeMap::from(HealthState::ALL.map(|state| (state.name(), 0)));
    for view in &views {
        *states.entry(view.state.name()).or_default() += 1;
    }
    let mut all = Vec::from(families! {
        gauge "gtrace_fleet_hosts" "Hosts of the fleet by health; one that is silent is unknown." =>
            by_state(states);
        gauge "gtrace_fleet_open_incidents" "Incidents of hosts of the fleet that nobody has resolved." =>
            by_class(classes);
        gauge "gtrace_fleet_remediation_plans" "Plans of remediation that are kept, by state." => by_state(plans);
    });
    if let Some(shared) = &app.remediation {
        let standing = shared.lock().unwrap_or_else(PoisonError::into_inner);
        let of = |bound: &str, n| (vec![("bound", bound.to_owned())], n);
        all.extend(families! {
            counter "gtrace_head_remediation_unplanned_total" "Causes for which no plan was made, as their host or the fleet had as many as they may." =>
                vec![of("host", standing.unplanned_of_hosts), of("fleet", standing.unplanned_of_fleet)];
        });
    }
    // A search that fails takes nothing else with it.
    if let Ok(latest) = super::outbreaks::latest(app).await {
        let mut outbreaks: BTreeMap<(FailureClass, bool), u64> = BTreeMap::new();
        for (one, open) in latest.iter().filter(|(one, _)| !one.is_of_one_job()) {
            *outbreaks.entry((one.class, one.drill)).or_default() += u64::from(*open);
        }
        all.extend(families! {
            gauge "gtrace_fleet_open_outbreaks" "Outbreaks with incidents that nobody has resolved." =>
                by_class(outbreaks);
        });
    }
    let of_hosts = |value: fn(&HostView) -> u64| -> Vec<(Labels, u64)> {
        let named = |view: &&HostView| (vec![("host", view.host.clone())], value(view));
        views.iter().map(named).collect()
    };
    all.extend(families! {
        gauge "gtrace_fleet_host_healthy" "1 where the host says that it is healthy." =>
            of_hosts(|view| u64::from(view.state == HealthState::Healthy));
        gauge "gtrace_fleet_host_behind_records" "Records that the host's store has and the head has not." =>
            of_hosts(|view| view.behind);
        gauge "gtrace_fleet_host_chain_faults" "Places where the host's chain of records does not hold, and unexplained gaps in it." =>
            of_hosts(|view| view.chain_faults.len() as u64 + view.unexplained_gaps);
    });
    let counters = &app.writer.counters;
    let count = |counter: &AtomicU64| vec![(Labels::new(), counter.load(Ordering::Relaxed))];
    all.extend(families! {
        counter "gtrace_head_records_total" "Records taken since the head started." => count(&counters.records);
        counter "gtrace_head_known_records_total" "Records that came again." => count(&counters.known);
        counter "gtrace_head_missing_batches_total" "Batches refused because records before them were missing." =>
            count(&counters.missing);
        counter "gtrace_head_frames_total" "Frames of profiling sessions taken since the head started." =>
            count(&counters.frames);
        counter "gtrace_head_transactions_total" "Transactions that took records." => count(&counters.transactions);
        counter "gtrace_head_database_failures_total" "Transactions that failed; agents send again." =>
            count(&counters.failures);
        counter "gtrace_head_nats_messages_total" "Messages taken through NATS since the head started." =>
            count(&app.intake.nats.taken);
        counter "gtrace_head_nats_put_off_total" "Messages of NATS that were put off: records before them were under way, or the database did not answer." =>
            count(&app.intake.nats.again);
        counter "gtrace_head_nats_missing_total" "Batches through NATS before which records were missing, so that the host was asked for them." =>
            count(&app.intake.nats.missing);
        counter "gtrace_head_nats_removed_total" "Messages of NATS that were removed: of no host of the fleet, not understood, or refused by the database again and again." =>
            count(&app.intake.nats.refused);
        counter "gtrace_head_refused_total" "Requests without a good credential or join token." =>
            count(app.intake.refused());
    });
    if let Some(pushed) = &app.pushed {
        let of = |outcome: &str, counter: &AtomicU64| {
            let labels = vec![("outcome", outcome.to_owned())];
            (labels, counter.load(Ordering::Relaxed))
        };
        all.extend(families! {
            counter "gtrace_head_remote_write_samples_total" "Samples that were pushed by remote write: taken, or failed." =>
                vec![of("taken", &pushed.taken), of("failed", &pushed.failed)];
        });
    }
    Ok(all)
}
