//! Metrics of the fleet for Prometheus, as text 0.0.4.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::PoisonError;
use std::sync::atomic::Ordering;

use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use gtrace_event::{FailureClass, HealthState, Timestamp};

use super::App;
use super::problem::Problem;
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
            let label = |(name, value): &(&str, String)| {
                let value = value
                    .replace('\\', "\\\\")
                    .replace('"', "\\\"")
                    .replace('\n', "\\n");
                format!("{name}=\"{value}\"")
            };
            let labels: Vec<String> = labels.iter().map(label).collect();
            let _ = match labels.is_empty() {
                true => writeln!(text, "{name} {value}"),
                false => writeln!(text, "{name}{{{}}} {value}", labels.join(",")),
            };
        }
    }
    text
}

fn of_class(class: FailureClass, drill: bool) -> Labels {
    vec![
        ("class", class.name().to_owned()),
        ("drill", drill.to_string()),
    ]
}

/// What the head knows now.
pub(super) async fn families(app: &App) -> Result<Vec<Family>, Problem> {
    let found = app.read(|db| {
        let plans = db.plans_by_state()?;
        Ok((db.hosts()?, db.open_incidents_by_class()?, plans))
    });
    let (rows, classes, plans) = found.await?;
    let now = Timestamp::now();
    // A host that was revoked is out of the fleet: nobody is to look at it.
    let members = rows.iter().filter(|row| row.revoked.is_none());
    let views: Vec<HostView> = members.map(|row| HostView::new(row, now)).collect();
    let mut all = Vec::new();
    let mut family = |name, kind, help, series: &[(Labels, u64)]| {
        all.push(Family {
            name,
            kind,
            help,
            series: series.to_vec(),
        });
    };
    let mut states = BTreeMap::from(HealthState::ALL.map(|state| (state.name(), 0)));
    for view in &views {
        *states.entry(view.state.name()).or_default() += 1;
    }
    let states: Vec<_> = states
        .into_iter()
        .map(|(state, n)| (vec![("state", state.to_string())], n))
        .collect();
    family(
        "gtrace_fleet_hosts",
        "gauge",
        "Hosts of the fleet by health; one that is silent is unknown.",
        &states,
    );
    let incidents: Vec<_> = classes
        .into_iter()
        .map(|((class, drill), n)| (of_class(class, drill), n))
        .collect();
    family(
        "gtrace_fleet_open_incidents",
        "gauge",
        "Incidents of hosts of the fleet that nobody has resolved.",
        &incidents,
    );
    let plans: Vec<_> = plans
        .into_iter()
        .map(|(state, n)| (vec![("state", state.to_string())], n))
        .collect();
    family(
        "gtrace_fleet_remediation_plans",
        "gauge",
        "Plans of remediation that are kept, by state.",
        &plans,
    );
    if let Some(shared) = &app.remediation {
        let standing = shared.lock().unwrap_or_else(PoisonError::into_inner);
        let unplanned = [
            ("host", standing.unplanned_of_hosts),
            ("fleet", standing.unplanned_of_fleet),
        ];
        family(
            "gtrace_head_remediation_unplanned_total",
            "counter",
            "Causes for which no plan was made, as their host or the fleet had as many as they may.",
            &unplanned.map(|(bound, n)| (vec![("bound", bound.to_owned())], n)),
        );
    }
    // A search that fails takes nothing else with it.
    if let Ok(latest) = super::outbreaks::latest(app).await {
        let mut outbreaks: BTreeMap<(FailureClass, bool), u64> = BTreeMap::new();
        for (one, open) in latest.iter().filter(|(one, _)| !one.is_of_one_job()) {
            *outbreaks.entry((one.class, one.drill)).or_default() += u64::from(*open);
        }
        let outbreaks: Vec<_> = outbreaks
            .into_iter()
            .map(|((class, drill), n)| (of_class(class, drill), n))
            .collect();
        family(
            "gtrace_fleet_open_outbreaks",
            "gauge",
            "Outbreaks with incidents that nobody has resolved.",
            &outbreaks,
        );
    }
    let of_hosts = |value: fn(&HostView) -> u64| -> Vec<(Labels, u64)> {
        let named = |view: &HostView| (vec![("host", view.host.clone())], value(view));
        views.iter().map(named).collect()
    };
    family(
        "gtrace_fleet_host_healthy",
        "gauge",
        "1 where the host says that it is healthy.",
        &of_hosts(|view| u64::from(view.state == HealthState::Healthy)),
    );
    family(
        "gtrace_fleet_host_behind_records",
        "gauge",
        "Records that the host's store has and the head has not.",
        &of_hosts(|view| view.behind),
    );
    family(
        "gtrace_fleet_host_chain_faults",
        "gauge",
        "Places where the host's chain of records does not hold, and unexplained gaps in it.",
        &of_hosts(|view| view.chain_faults.len() as u64 + view.unexplained_gaps),
    );
    let counters = &app.writer.counters;
    let count = |counter: &std::sync::atomic::AtomicU64| {
        vec![(Labels::new(), counter.load(Ordering::Relaxed))]
    };
    for (name, help, counter) in [
        (
            "gtrace_head_records_total",
            "Records taken since the head started.",
            &counters.records,
        ),
        (
            "gtrace_head_known_records_total",
            "Records that came again.",
            &counters.known,
        ),
        (
            "gtrace_head_missing_batches_total",
            "Batches refused because records before them were missing.",
            &counters.missing,
        ),
        (
            "gtrace_head_frames_total",
            "Frames of profiling sessions taken since the head started.",
            &counters.frames,
        ),
        (
            "gtrace_head_transactions_total",
            "Transactions that took records.",
            &counters.transactions,
        ),
        (
            "gtrace_head_database_failures_total",
            "Transactions that failed; agents send again.",
            &counters.failures,
        ),
        (
            "gtrace_head_nats_messages_total",
            "Messages taken through NATS since the head started.",
            &app.intake.nats.taken,
        ),
        (
            "gtrace_head_nats_put_off_total",
            "Messages of NATS that were put off: records before them were under way, or the database did not answer.",
            &app.intake.nats.again,
        ),
        (
            "gtrace_head_nats_missing_total",
            "Batches through NATS before which records were missing, so that the host was asked for them.",
            &app.intake.nats.missing,
        ),
        (
            "gtrace_head_nats_removed_total",
            "Messages of NATS that were removed: of no host of the fleet, not understood, or refused by the database again and again.",
            &app.intake.nats.refused,
        ),
        (
            "gtrace_head_refused_total",
            "Requests without a good credential or join token.",
            app.intake.refused(),
        ),
    ] {
        family(name, "counter", help, &count(counter));
    }
    if let Some(pushed) = &app.pushed {
        let of = |outcome: &str, counter: &std::sync::atomic::AtomicU64| {
            let labels = vec![("outcome", outcome.to_owned())];
            (labels, counter.load(Ordering::Relaxed))
        };
        family(
            "gtrace_head_remote_write_samples_total",
            "counter",
            "Samples that were pushed by remote write: taken, or failed.",
            &[of("taken", &pushed.taken), of("failed", &pushed.failed)],
        );
    }
    Ok(all)
}
