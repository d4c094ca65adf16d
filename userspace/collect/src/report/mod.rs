//! What a report is made of, gathered from the store, the daemon and this host. Every part that cannot be had is named
//! with the reason; none of them keeps the report from being made.

mod calls;
mod facts;
mod kernel_log;
mod latency;
mod recorded;
mod samples;

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use gtrace_api::Status;
use gtrace_api::client::Client;
use gtrace_event::{
    Event, EventId, Incident, IncidentId, Kind, MissingEvidence, Provenance, Record, Timestamp,
};
use gtrace_report::{ChainRecord, ChainSegment, Loss, Material, Report, Window, missing};
use gtrace_store::{Filter, Reader, Segment, StoreError};

use facts::Place;
use recorded::Recorded;

/// Records of the store in a report, at most.
const RECORDS_MAX: usize = 200_000;
/// How much time around an incident a report has.
const WINDOW: std::time::Duration = std::time::Duration::from_secs(600);
/// Events, at most: the newest.
const EVENTS_MAX: usize = 100_000;

/// What a report is to be about, and where to read it.
#[derive(Debug)]
pub struct Question {
    /// The incident; absent where a time was asked for.
    pub incident: Option<Incident>,
    /// The time.
    pub window: Window,
    /// A saved kernel log; by default the running kernel's.
    pub kernel_log: Option<PathBuf>,
    /// Directory of the history of samples.
    pub samples: Option<PathBuf>,
    /// Directory with the last minutes of the flight recorder.
    pub recorder: Option<PathBuf>,
    /// Directory with what was kept of incidents.
    pub evidence: Option<PathBuf>,
    /// What makes the report: `gtrace 0.1.0`.
    pub generator: String,
}

/// The time around an incident: half of `length` before its first event and after its last.
pub fn window_around(from: Timestamp, to: Timestamp, length: std::time::Duration) -> Window {
    let half = jiff::SignedDuration::try_from(length / 2).unwrap_or(jiff::SignedDuration::ZERO);
    Window {
        from: from.checked_sub(half).unwrap_or(Timestamp::MIN),
        to: to.checked_add(half).unwrap_or(Timestamp::MAX),
    }
}

/// Gathers everything. `client` is that of the daemon that writes the store; absent where none is known.
///
/// # Errors
///
/// The store's, of reading events: without them there is nothing to report.
pub fn gather(
    question: Question,
    reader: &Reader,
    client: Option<Client>,
) -> Result<Material, StoreError> {
    let Question {
        incident,
        window,
        kernel_log,
        samples,
        recorder,
        evidence,
        generator,
    } = question;
    let mut material = Material::new(Timestamp::now(), generator, window);
    material.incident = incident;
    chain(reader, &mut material)?;
    material.events = events(reader, &material)?;
    let place = Place::of(&material);
    facts::add(&mut material, &place);
    let recorded = Recorded::read(&mut material, evidence.as_deref(), recorder.as_deref());
    material.calls = recorded.calls(&material.events);
    if material.calls.is_empty() {
        gap(
            &mut material,
            missing::CALLS,
            "no driver call of this time was slow or failed, as far as calls were watched",
        );
    }
    kernel_log::add(
        &mut material,
        kernel_log.as_deref(),
        &place,
        recorded.kernel_log(),
    );
    material.snapshot.extend(recorded.snapshot());
    let status = client
        .as_ref()
        .map(|client| client.get::<Status>("/api/v1/status"));
    match status {
        Some(Ok(status)) => of_daemon(&mut material, &status),
        Some(Err(error)) => no_daemon(&mut material, &error.to_string()),
        None => no_daemon(
            &mut material,
            "the store is not that of a running daemon that is known here",
        ),
    }
    let samples = recorded.samples.as_deref().or(samples.as_deref());
    samples::add(&mut material, samples);
    latency::add(&mut material, samples);
    losses(&mut material, reader);
    if let Some(note) = drills(&material.events) {
        material.notes.push(note);
    }
    Ok(material)
}

/// The report of an incident as a page, from the store at `store` and the daemon that writes it.
///
/// # Errors
/// Why there is none.
pub fn page_of_incident(
    store: &Path,
    id: IncidentId,
    daemon: Client,
    generator: &str,
) -> Result<Vec<u8>, String> {
    // Without a daemon the store is as new as it gets.
    let _ = daemon.flush();
    let failed = |error: StoreError| format!("cannot read the store: {error}");
    let reader = Reader::open(store).map_err(failed)?;
    let incident = reader.incident(id).map_err(failed)?;
    let incident = incident.ok_or_else(|| format!("the host's store has no incident {id}"))?;
    let last = incident.last_time.max(incident.opened);
    let question = Question {
        window: window_around(incident.opened, last, WINDOW),
        incident: Some(incident),
        kernel_log: None,
        samples: Some(gtrace_engine::history::directory(store)),
        recorder: Some(gtrace_engine::recorder::directory(store)),
        evidence: Some(gtrace_engine::recorder::evidence_directory(store)),
        generator: generator.to_owned(),
    };
    let material = gather(question, &reader, Some(daemon)).map_err(failed)?;
    Report::new(material).html().map_err(|e| e.to_string())
}

fn gap(material: &mut Material, what: &str, why: &str) {
    material.missing.push(MissingEvidence::new(what, why));
}

/// Events that began in the time, those of before that happened again in it, and those of the incident wherever they are.
fn events(reader: &Reader, material: &Material) -> Result<Vec<Event>, StoreError> {
    let Window { from, to } = material.window;
    let filter = Filter {
        since: Some(from),
        until: Some(to),
        limit: Some(EVENTS_MAX),
        ..Filter::default()
    };
    let mut events = reader.query(&filter)?;
    let known: HashSet<EventId> = events.iter().map(|event| event.id).collect();
    let of_incident = material
        .incident
        .iter()
        .flat_map(|incident| &incident.events);
    let own: HashSet<EventId> = of_incident.copied().collect();
    let changed = material.chain.iter().flat_map(|chain| &chain.records);
    let changed = changed.filter_map(|record| amended(&record.body));
    let others: HashSet<EventId> = own.iter().copied().chain(changed).collect();
    let others: Vec<EventId> = others.difference(&known).copied().collect();
    let again = |event: &Event| event.time < from && event.last_time >= Some(from);
    let others = reader.events(&others)?.into_iter();
    events.extend(others.filter(|event| own.contains(&event.id) || again(event)));
    events.sort_by_key(|event| (event.time, event.id));
    Ok(events)
}

/// The event about which the record with this JSON says more: that it happened again, for example.
fn amended(body: &str) -> Option<EventId> {
    match serde_json::from_str(body) {
        Ok(Record::Amendment(amendment)) => Some(amendment.id),
        _ => None,
    }
}

fn chain(reader: &Reader, material: &mut Material) -> Result<(), StoreError> {
    let Window { from, to } = material.window;
    let Segment { records, left_out } = reader.segment(from, to, RECORDS_MAX)?;
    if left_out > 0 {
        material.losses.push(Loss {
            what: "records of the store in chain.jsonl".to_owned(),
            count: Some(left_out),
            why: format!("a report has at most {RECORDS_MAX}; the store has the later ones"),
        });
    }
    if records.is_empty() {
        gap(
            material,
            missing::CHAIN,
            "the store has no record of this time",
        );
        return Ok(());
    }
    let record = |record: gtrace_store::StoredRecord| ChainRecord {
        seq: record.seq,
        before: record.before.0,
        hash: record.hash.0,
        body: record.body,
    };
    material.chain = Some(ChainSegment {
        records: records.into_iter().map(record).collect(),
    });
    Ok(())
}

fn of_daemon(material: &mut Material, status: &Status) {
    if material.host.is_empty() {
        material.host.clone_from(&status.host);
    }
    for source in status.sources.iter().filter(|source| source.lost > 0) {
        material.losses.push(Loss {
            what: source.name.clone(),
            count: Some(source.lost),
            why: format!(
                "since the daemon started at {}, not in this time alone",
                status.started
            ),
        });
    }
    material
        .snapshot
        .push(facts::device_users(status, material.made));
}

fn no_daemon(material: &mut Material, why: &str) {
    if material.snapshot.is_empty() {
        gap(material, missing::SNAPSHOT, why);
    }
}

fn losses(material: &mut Material, reader: &Reader) {
    let lost = material
        .events
        .iter()
        .filter(|event| event.kind == Kind::SourceLost);
    let lost: Vec<Loss> = lost
        .map(|event| {
            let detail = &event.detail.source;
            Loss {
                what: detail
                    .source
                    .clone()
                    .unwrap_or_else(|| "a source".to_owned()),
                count: detail.lost,
                why: detail
                    .reason
                    .clone()
                    .unwrap_or_else(|| event.message.clone()),
            }
        })
        .collect();
    material.losses.extend(lost);
    if reader.unreadable() > 0 {
        material.losses.push(Loss {
            what: "records of the store that this version cannot read".to_owned(),
            count: Some(reader.unreadable()),
            why: "a newer gtrace wrote them; chain.jsonl has them".to_owned(),
        });
    }
}

/// That some of the events are drills, where others are none.
fn drills(events: &[Event]) -> Option<String> {
    let injected = events
        .iter()
        .filter(|event| event.provenance == Provenance::Injected)
        .count();
    (injected > 0 && injected < events.len()).then(|| {
        format!("{injected} of the {} events here were injected as a drill: their provenance is \"injected\".", events.len())
    })
}
