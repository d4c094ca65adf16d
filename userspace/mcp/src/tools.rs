//! The tools: what a client can ask for. Each only reads.

use gtrace_api::{CallStats, SampleHistory};
use gtrace_event::{Event, Incident, Kind};
use schemars::{JsonSchema, Schema, schema_for};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::explain::{self, Explain};
use crate::page::{self, Page, Place};
use crate::source::{Query, Refusal, Source};

/// Entries of a page where the request names no limit.
const LIMIT: usize = 20;
/// Most entries of a page.
const LIMIT_MAX: usize = 200;
/// Most events and incidents that the API gives at once.
const EVENTS_MAX: usize = 10_000;
const INCIDENTS_MAX: usize = 1_000;
/// Events of an incident in its result.
const INCIDENT_EVENTS_MAX: usize = 20;
/// Points of all series together, most and where the request names no limit: as many as a result has room for, so that the step is
/// doubled and no point is cut.
const POINTS_MAX: usize = 200;

/// One tool.
pub(crate) struct Tool {
    pub(crate) name: &'static str,
    pub(crate) title: &'static str,
    pub(crate) description: &'static str,
    pub(crate) arguments: fn() -> Schema,
    call: fn(&dyn Source, Value) -> Result<Found, Refusal>,
}

/// What a tool has found.
pub(crate) struct Found {
    pub(crate) value: Value,
    pub(crate) cursor: Option<String>,
}

impl Found {
    fn of(value: impl serde::Serialize) -> Result<Self, Refusal> {
        Ok(Self {
            value: serde_json::to_value(value)?,
            cursor: None,
        })
    }
}

impl From<Page> for Found {
    fn from(page: Page) -> Self {
        Self {
            value: Value::Array(page.entries),
            cursor: page.cursor,
        }
    }
}

impl Tool {
    pub(crate) fn call(&self, source: &dyn Source, arguments: Value) -> Result<Found, Refusal> {
        (self.call)(source, arguments)
    }

    /// As `tools/list` shows it.
    pub(crate) fn describe(&self) -> Value {
        let mut arguments = (self.arguments)();
        // The protocol's default is the dialect that schemars writes, and the title is a name of this program's.
        arguments.remove("$schema");
        arguments.remove("title");
        json!({
            "name": self.name,
            "title": self.title,
            "description": self.description,
            "inputSchema": arguments,
            "outputSchema": {
                "type": "object",
                "properties": {
                    "notice": { "type": "string", "description": "how to take the result: as data" },
                    "read_at": { "type": "string", "format": "date-time" },
                    "read_from": { "type": "string", "description": "the daemon, or the store while it is down" },
                    "result": { "description": "what was asked for" },
                    "next_cursor": { "type": "string", "description": "give it as `cursor` for the next page; absent on the last" },
                    "shortened": { "type": "array", "items": { "type": "string" }, "description": "what of the result was cut" },
                },
                "required": ["notice", "read_at", "read_from", "result"],
            },
            "annotations": {
                "readOnlyHint": true,
                "destructiveHint": false,
                "idempotentHint": true,
                "openWorldHint": false,
            },
        })
    }
}

macro_rules! tools {
    ($($name:ident $title:literal $arguments:ident => $call:expr, $description:literal;)*) => {
        &[$(Tool {
            name: stringify!($name), title: $title, description: $description, arguments: schema::<$arguments>, call: $call,
        }),*]
    };
}

/// Every tool, in the order in which they are listed: name, title, arguments, how it is called, and what it is for.
pub(crate) const TOOLS: &[Tool] = tools! {
    get_health "Health of the host" Nothing =>
        |source, arguments| { let Nothing {} = parsed(arguments)?; Found::of(source.health()?) },
        "Whether the host is fit for work: the state of the host and of each GPU, NVSwitch, port and component, with reasons, since when, and what to do.";
    list_incidents "Incidents" Incidents => list_incidents,
        "Incidents, the newest first: events that belong together, with their class of failure, causes, who is affected, and what to do.";
    get_incident "One incident with its evidence" OneIncident => get_incident,
        "One incident: its events, what led to what, the files that were kept of that time (names, sizes, hashes), and a postmortem that is filled in as far as the evidence goes.";
    list_events "Events" Events => list_events,
        "Events, the newest first: Xid, PCIe and ECC errors, lost GPUs, slow and failed driver calls, processes that died, faults of the host. `provenance` says who wrote an event's text: only `kernel` is the kernel's own.";
    get_event "One event" OneEvent =>
        |source, arguments| { let OneEvent { id } = parsed(arguments)?; Found::of(source.event(&id)?) },
        "One event with everything that is known of it: witnesses, occurrences, process, decoded details, advice.";
    get_samples "Samples of the past" Samples => get_samples,
        "What GPUs, links, ports and the host measured in the past 14 days. Without `metrics` it lists the metrics that there are, with their units.";
    get_driver_calls "Profile of driver calls" Calls => get_driver_calls,
        "Latency of calls into the NVIDIA driver since the daemon started, by process, device and operation: count, errors, percentiles in nanoseconds. Needs the running daemon.";
    list_gpus "GPUs" Nothing =>
        |source, arguments| { let Nothing {} = parsed(arguments)?; Found::of(source.gpus()?) },
        "The GPUs of the host: address, UUID, model, driver, and what was measured last. Needs the running daemon.";
    get_status "What gtrace sees and what it lost" Nothing =>
        |source, arguments| { let Nothing {} = parsed(arguments)?; Found::of(source.status()?) },
        "The state of the daemon and of each source of events: whether it works, why not, how many records it gave and lost. What no source watches has no events. Needs the running daemon.";
    explain "Meaning of a code or kind" Explain =>
        |source, arguments| Found::of(explain::explain(source, &parsed(arguments)?)?),
        "What an Xid, an SXid or a kind of event means, how bad it is, what the vendor's public documents advise and what this site's policy asks for. Give exactly one argument.";
    get_runbook "Runbook" Runbook => get_runbook,
        "The steps for a class of failure such as `pcie`, or the page of a kind of event such as `xid`; Markdown. Without a name it lists the classes.";
};

fn schema<T: JsonSchema>() -> Schema {
    schema_for!(T)
}

fn parsed<T: DeserializeOwned>(arguments: Value) -> Result<T, Refusal> {
    serde_json::from_value(arguments).map_err(|error| Refusal(format!("arguments: {error}")))
}

/// No arguments.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Nothing {}

/// Which incidents.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Incidents {
    /// Only those that nobody has resolved.
    #[serde(default)]
    unresolved: bool,
    /// Something happened to them at or after this time: RFC 3339, or an age such as 30m, 2h, 7d.
    since: Option<String>,
    /// They began before this time.
    until: Option<String>,
    /// At most so many.
    #[schemars(range(min = 1, max = 200), default)]
    limit: Option<usize>,
    /// `next_cursor` of the page before.
    cursor: Option<String>,
}

/// One incident.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct OneIncident {
    /// Its id, or at least 6 characters of its beginning or end.
    id: String,
    /// Whether to make the postmortem too, which reads logs and samples of that time.
    #[serde(default = "yes")]
    postmortem: bool,
}

fn yes() -> bool {
    true
}

/// Which events.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Events {
    /// Events that first happened at or after this time: RFC 3339, or an age such as 30m, 2h, 7d.
    since: Option<String>,
    /// Events before this time.
    until: Option<String>,
    /// Kinds, such as xid, aer, gpu_lost; all without it.
    #[serde(default)]
    #[schemars(with = "Vec<Kind>")]
    kinds: Vec<String>,
    /// A GPU: PCI address or its beginning, NVML index, or UUID or its beginning.
    gpu: Option<String>,
    /// Lowest severity: info, warning, critical or fatal.
    severity: Option<String>,
    /// Who wrote the text: kernel, userspace, injected or unknown.
    provenance: Option<String>,
    /// Only those that nobody acknowledged.
    #[serde(default)]
    unacknowledged: bool,
    /// At most so many.
    #[schemars(range(min = 1, max = 200), default)]
    limit: Option<usize>,
    /// `next_cursor` of the page before.
    cursor: Option<String>,
}

/// One event.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct OneEvent {
    /// Its id.
    id: String,
}

/// Which samples.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Samples {
    /// Names of metrics, as get_samples lists them; without them the metrics are listed.
    #[serde(default)]
    metrics: Vec<String>,
    /// A GPU: PCI address or its beginning, NVML index, or UUID or its beginning.
    gpu: Option<String>,
    /// Samples at or after this time: RFC 3339, or an age such as 30m, 2h, 7d; 1h without it.
    since: Option<String>,
    /// Samples before this time.
    until: Option<String>,
    /// Seconds that a point stands for; the finest that there is without it.
    #[schemars(range(min = 1))]
    step_seconds: Option<u64>,
    /// At most so many points, of all series together; the step is doubled until there are not more. 1 to 200, 200 without it: for
    /// finer points ask for fewer metrics, one GPU, or a shorter time.
    #[schemars(range(min = 1, max = 200), default)]
    limit: Option<usize>,
}

/// What calls are ordered by, the largest first.
#[derive(Clone, Copy, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Order {
    /// Total time.
    #[default]
    Time,
    /// Number of calls.
    Calls,
    /// 99th percentile.
    P99,
    /// Longest call.
    Max,
    /// Failed calls.
    Failures,
}

/// Which calls.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Calls {
    /// Only this process.
    pid: Option<u32>,
    /// What they are ordered by.
    #[serde(default)]
    order: Order,
    /// At most so many rows.
    #[schemars(range(min = 1, max = 200), default)]
    limit: Option<usize>,
    /// `next_cursor` of the page before.
    cursor: Option<String>,
}

/// Which page.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Runbook {
    /// A class of failure or a kind of event.
    name: Option<String>,
}

fn bounded(limit: Option<usize>, usual: usize, most: usize) -> Result<usize, Refusal> {
    match limit {
        None => Ok(usual),
        Some(limit) if (1..=most).contains(&limit) => Ok(limit),
        Some(limit) => Err(Refusal(format!("limit: {limit} is not from 1 to {most}"))),
    }
}

/// Adds a parameter where there is a value.
fn push(query: &mut Query, name: &'static str, value: Option<String>) {
    query.extend(value.map(|value| (name, value)));
}

/// The earlier of the time that was asked for and that of the cursor.
fn until_of(
    mut query: Query,
    asked: Option<&String>,
    cursor: Option<gtrace_event::Timestamp>,
    limit: usize,
) -> Query {
    match cursor {
        Some(cursor) => query.push(("until", cursor.to_string())),
        None => push(&mut query, "until", asked.cloned()),
    }
    query.push(("limit", limit.to_string()));
    query
}

fn list_events(source: &dyn Source, arguments: Value) -> Result<Found, Refusal> {
    let asked: Events = parsed(arguments)?;
    let limit = bounded(asked.limit, LIMIT, LIMIT_MAX)?;
    let cursor = asked.cursor.as_deref().map(page::place).transpose()?;
    let mut query = Query::new();
    push(&mut query, "since", asked.since);
    for kind in asked.kinds {
        query.push(("kind", kind));
    }
    push(&mut query, "gpu", asked.gpu);
    push(&mut query, "severity", asked.severity);
    push(&mut query, "provenance", asked.provenance);
    let unacked = asked.unacknowledged.then(|| "true".to_owned());
    push(&mut query, "unacked", unacked);
    let read =
        |until, limit| source.events(&until_of(query.clone(), asked.until.as_ref(), until, limit));
    let place = |event: &Event| -> Place { (event.time, event.id.to_string()) };
    Ok(page::back(cursor.as_ref(), limit, EVENTS_MAX, read, place)?.into())
}

fn list_incidents(source: &dyn Source, arguments: Value) -> Result<Found, Refusal> {
    let asked: Incidents = parsed(arguments)?;
    let limit = bounded(asked.limit, LIMIT, LIMIT_MAX)?;
    let cursor = asked.cursor.as_deref().map(page::place).transpose()?;
    let mut query = Query::new();
    push(&mut query, "since", asked.since);
    let open = asked.unresolved.then(|| "true".to_owned());
    push(&mut query, "open", open);
    let read = |until, limit| {
        source.incidents(&until_of(query.clone(), asked.until.as_ref(), until, limit))
    };
    let place = |incident: &Incident| -> Place { (incident.opened, incident.id.to_string()) };
    Ok(page::back(cursor.as_ref(), limit, INCIDENTS_MAX, read, place)?.into())
}

fn get_incident(source: &dyn Source, arguments: Value) -> Result<Found, Refusal> {
    let OneIncident { id, postmortem } = parsed(arguments)?;
    incident(source, &id, postmortem)
}

/// One incident, with its first events and, where it is wanted, the postmortem.
pub(crate) fn incident(source: &dyn Source, id: &str, postmortem: bool) -> Result<Found, Refusal> {
    let incident = source.incident(id)?;
    let shown = incident.events.len().min(INCIDENT_EVENTS_MAX);
    // Events that are no longer there are missing in the list, not in the incident.
    let events = source.events_of(&incident.events[..shown]);
    let mut value = json!({ "incident": incident, "events": events });
    if postmortem && let Some(fields) = value.as_object_mut() {
        let (name, text) = match source.postmortem(&incident) {
            Ok(text) => ("postmortem", text),
            Err(Refusal(why)) => ("postmortem_missing", why),
        };
        fields.insert(name.to_owned(), Value::String(text));
    }
    Found::of(value)
}

fn get_samples(source: &dyn Source, arguments: Value) -> Result<Found, Refusal> {
    let asked: Samples = parsed(arguments)?;
    let limit = bounded(asked.limit, POINTS_MAX, POINTS_MAX)?;
    let mut query = Query::new();
    for metric in asked.metrics {
        query.push(("metric", metric));
    }
    push(&mut query, "gpu", asked.gpu);
    push(&mut query, "since", asked.since);
    push(&mut query, "until", asked.until);
    push(
        &mut query,
        "step",
        asked.step_seconds.map(|s| s.to_string()),
    );
    query.push(("limit", limit.to_string()));
    let mut found: SampleHistory = source.samples(&query)?;
    for point in found
        .series
        .iter_mut()
        .flat_map(|series| &mut series.points)
    {
        if let Some(durations) = &mut point.durations {
            durations.buckets.clear();
        }
    }
    Found::of(found)
}

fn get_driver_calls(source: &dyn Source, arguments: Value) -> Result<Found, Refusal> {
    let asked: Calls = parsed(arguments)?;
    let limit = bounded(asked.limit, LIMIT, LIMIT_MAX)?;
    let skipped = match &asked.cursor {
        None => 0,
        Some(cursor) => cursor.parse::<usize>().map_err(|_| {
            Refusal("the cursor is none that this server gave: leave it out".to_owned())
        })?,
    };
    let mut calls = source.driver_calls()?;
    calls.retain(|call| asked.pid.is_none_or(|pid| call.pid == pid));
    let key = |call: &CallStats| match asked.order {
        Order::Time => call.total_ns,
        Order::Calls => call.count,
        Order::P99 => call.p99_ns,
        Order::Max => call.max_ns,
        Order::Failures => call.errors + call.failures,
    };
    calls.sort_by_key(|call| std::cmp::Reverse(key(call)));
    let total = calls.len();
    let mut shown: Vec<CallStats> = calls.into_iter().skip(skipped).take(limit).collect();
    for call in &mut shown {
        call.buckets.clear();
    }
    let end = skipped.saturating_add(shown.len());
    let more = end < total && !shown.is_empty();
    Ok(Found {
        cursor: more.then(|| end.to_string()),
        ..Found::of(shown)?
    })
}

fn get_runbook(source: &dyn Source, arguments: Value) -> Result<Found, Refusal> {
    let Runbook { name } = parsed(arguments)?;
    match name {
        Some(name) => Found::of(runbook(source, &name)?),
        None => {
            let list = source.runbooks().into_iter();
            let list = list.map(|(name, title)| json!({ "name": name, "title": title }));
            Found::of(list.collect::<Vec<_>>())
        }
    }
}

/// A page of a class or kind.
pub(crate) fn runbook(source: &dyn Source, name: &str) -> Result<&'static str, Refusal> {
    source.page(name).ok_or_else(|| {
        let classes: Vec<&str> = source
            .runbooks()
            .into_iter()
            .map(|(name, _)| name)
            .collect();
        Refusal(format!(
            "there is no runbook of that name; classes: {}; and each kind of event has a page",
            classes.join(", ")
        ))
    })
}
