use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::middleware;
use axum::routing::{MethodRouter, get, post};
use gtrace_api::{
    AckRequest, CallStats, CaptureRequest, CudaReport, Health, IncidentRequest, MaintenanceRequest,
    PauseRequest, ProcessUse, Published, PublishedIncident, Ready, SampleHistory, SourceStatus,
    Status, Version,
};
use gtrace_devices::GpuInfo;
use gtrace_engine::recorder::ATTACHED_MAX;
use gtrace_event::{Event, GpuUsage, HealthReport, Incident, MaintenanceWindow, ProcessEnds};
use gtrace_profile::DailyCalls;
use gtrace_tls::Role;
use schemars::{Schema, SchemaGenerator};

use super::gate::Gate;
use super::gpud;
use super::query::{AFTER, BUCKETS, HISTORY_LIMIT, INCIDENT_PARAMETERS, PARAMETERS, Parameter};
use super::samples::SAMPLE_PARAMETERS;
use super::{AppState, MAX_BODY, body, gate, handlers, page};

type SchemaFn = fn(&mut SchemaGenerator) -> Schema;

/// What a route answers when all is well.
#[derive(Clone, Copy)]
pub(super) enum Answer {
    /// JSON of this schema.
    Json(SchemaFn),
    /// The same, with 503 where it says that something is wrong.
    Verdict(SchemaFn),
    /// Any JSON object.
    Object,
    /// Text of this media type.
    Text(&'static str),
    /// Server-sent events whose data is JSON of this schema.
    Stream(SchemaFn),
    /// The bytes of a file of this media type.
    File(&'static str),
    /// 204.
    Nothing,
}

/// One route: what the router and `/api/openapi.json` are made from.
pub(super) struct Route {
    /// `get` or `post`.
    pub(super) method: &'static str,
    pub(super) path: &'static str,
    pub(super) summary: &'static str,
    /// What a client must be to use it.
    pub(super) needs: Role,
    /// Parameters of the query.
    pub(super) parameters: &'static [Parameter],
    /// Whether the header Last-Event-ID resumes after a record.
    pub(super) resumes: bool,
    pub(super) body: Option<SchemaFn>,
    /// Whether the body is the bytes of a file.
    pub(super) takes_file: bool,
    pub(super) answer: Answer,
    /// Status codes of errors, besides those of every route.
    pub(super) errors: &'static [u16],
    handler: fn() -> MethodRouter<AppState>,
}

fn of<T: schemars::JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    generator.subschema_for::<T>()
}

const fn read(
    path: &'static str,
    summary: &'static str,
    answer: Answer,
    handler: fn() -> MethodRouter<AppState>,
) -> Route {
    Route {
        method: "get",
        path,
        summary,
        needs: Role::Read,
        parameters: &[],
        resumes: false,
        body: None,
        takes_file: false,
        answer,
        errors: &[],
        handler,
    }
}

const fn change(
    path: &'static str,
    summary: &'static str,
    answer: Answer,
    handler: fn() -> MethodRouter<AppState>,
) -> Route {
    let errors = &[400, 408, 413];
    Route {
        method: "post",
        needs: Role::Operate,
        errors,
        ..read(path, summary, answer, handler)
    }
}

/// Parameters of the stream: those of the list without `until`, and where to go on.
const STREAM_PARAMETERS: [Parameter; 8] = [
    AFTER,
    PARAMETERS[0],
    PARAMETERS[2],
    PARAMETERS[3],
    PARAMETERS[4],
    PARAMETERS[5],
    HISTORY_LIMIT,
    PARAMETERS[7],
];

/// Every route, in the order of the documentation: what it is for, its path and summary; its answer and handler, and what it
/// has beside that.
macro_rules! routes {
    ($($how:ident $path:literal $summary:literal $answer:ident $(($of:expr))? => $handler:expr $(, $field:ident: $value:expr)*;)*) => {
        pub(super) static ROUTES: &[Route] = &[$(Route {
            $($field: $value,)*
            ..$how($path, $summary, Answer::$answer $(($of))?, || $handler)
        }),*];
    };
}

routes! {
    read "/healthz" "Whether sources and store work"
        Verdict(of::<Health>) => get(handlers::healthz);
    read "/readyz" "Whether a fault that happens now would be seen and kept"
        Verdict(of::<Ready>) => get(handlers::readyz);
    read "/version" "The daemon's version, and those of the API that it answers"
        Json(of::<Version>) => get(handlers::version);
    read "/metrics" "Metrics, as OpenMetrics 1.0.0 or, if Accept asks for it, Prometheus text 0.0.4"
        Text("application/openmetrics-text; version=1.0.0; charset=utf-8") => get(handlers::metrics);
    read "/metrics/dcgm" "GPUs under the names of dcgm-exporter, Prometheus text 0.0.4"
        Text("text/plain; version=0.0.4") => get(handlers::dcgm);
    read "/api/v1/events" "Events with all amendments applied, oldest first"
        Json(of::<Vec<Event>>) => get(handlers::events), parameters: &PARAMETERS, errors: &[400];
    read "/api/v1/events/stream" "Records as they come, as server-sent events; since gives history first, Last-Event-ID resumes"
        Stream(of::<Published>) => get(handlers::events_stream), parameters: &STREAM_PARAMETERS, resumes: true, errors: &[400];
    read "/api/v1/events/{id}" "One event"
        Json(of::<Event>) => get(handlers::event), errors: &[400, 404];
    change "/api/v1/events/{id}/ack" "Acknowledges an event"
        Json(of::<Event>) => post(handlers::ack), body: Some(of::<AckRequest>), errors: &[400, 404, 408, 413];
    read "/api/v1/incidents" "Incidents as they are now, the one that began first at the front"
        Json(of::<Vec<Incident>>) => get(handlers::incidents::list), parameters: &INCIDENT_PARAMETERS, errors: &[400];
    read "/api/v1/incidents/stream" "Changes of incidents as they come, as server-sent events; Last-Event-ID resumes"
        Stream(of::<PublishedIncident>) => get(handlers::incidents::follow), parameters: &[AFTER], resumes: true, errors: &[400];
    read "/api/v1/incidents/{id}" "One incident"
        Json(of::<Incident>) => get(handlers::incidents::one), errors: &[400, 404];
    change "/api/v1/incidents/{id}/state" "Changes the state of an incident"
        Json(of::<Incident>) => post(handlers::incidents::change), body: Some(of::<IncidentRequest>), errors: &[400, 404, 408, 409, 413];
    read "/api/v1/incidents/{id}/evidence/{*name}" "A file that was kept of an incident, as its field evidence names it"
        File("application/octet-stream") => get(handlers::evidence::get), needs: Role::Operate, errors: &[400, 404];
    change "/api/v1/incidents/{id}/evidence/{*name}" "Adds a file to the recording of an incident, while that is under way: calls-NUMBER.pftrace.zst"
        Nothing => post(handlers::evidence::add).layer(DefaultBodyLimit::max(ATTACHED_MAX)), takes_file: true, errors: &[400, 404, 408, 413];
    change "/api/v1/capture" "Keeps the state of the host: opens an incident, whose recording is complete half a minute later"
        Json(of::<Incident>) => post(handlers::incidents::capture), body: Some(of::<CaptureRequest>);
    read "/api/v1/health" "The health of the host and of its parts: state, reasons, what to do"
        Json(of::<HealthReport>) => get(handlers::health::report);
    change "/api/v1/maintenance" "Begins a maintenance window, or ends the one that is on"
        Json(of::<MaintenanceWindow>) => post(handlers::health::maintain), body: Some(of::<MaintenanceRequest>), errors: &[400, 408, 409, 413];
    change "/api/v1/flush" "Makes what was captured so far durable and readable in the store"
        Nothing => post(handlers::flush), errors: &[];
    change "/api/v1/pause" "Detaches every probe, or attaches them again"
        Nothing => post(handlers::pause), body: Some(of::<PauseRequest>);
    read "/api/v1/status" "The daemon, its sources, costs and store"
        Json(of::<Status>) => get(handlers::status);
    read "/api/v1/sources" "Every source and whether it works"
        Json(of::<Vec<SourceStatus>>) => get(handlers::sources);
    read "/api/v1/gpus" "The GPUs of this host, with the newest sample"
        Json(of::<Vec<GpuInfo>>) => get(handlers::gpus);
    read "/api/v1/usage" "How long each pod, job, remote client or user had which GPU since the start of the daemon, and how busy it was"
        Json(of::<Vec<GpuUsage>>) => get(handlers::usage);
    read "/api/v1/usage/ends" "How the processes of each pod and job ended that had a GPU's device file open, since the start of the daemon"
        Json(of::<Vec<ProcessEnds>>) => get(handlers::process_ends);
    read "/api/v1/latency" "How long driver and CUDA calls of all processes took since the start of the daemon, by day: histograms, those first that took the most time"
        Json(of::<Vec<DailyCalls>>) => get(handlers::latency);
    read "/api/v1/samples" "Samples of the past, in the resolution that is left; without a metric, the metrics that there are"
        Json(of::<SampleHistory>) => get(handlers::samples::list), parameters: &SAMPLE_PARAMETERS, errors: &[400, 404];
    read "/api/v1/histograms" "Driver calls by process and operation, with percentiles"
        Json(of::<Vec<CallStats>>) => get(handlers::histograms), parameters: &[BUCKETS], errors: &[400];
    read "/api/v1/processes" "Live processes that use a GPU: host CPU, CUDA and driver calls, device memory, container"
        Json(of::<Vec<ProcessUse>>) => get(handlers::processes), parameters: &[BUCKETS], errors: &[400];
    read "/api/v1/cuda" "CUDA calls by process and function, with percentiles; device memory by process; what the probes cost"
        Json(of::<CudaReport>) => get(handlers::cuda), parameters: &[BUCKETS], errors: &[400];
    read "/api/v1/remote" "The clients of gtrace serve on this host, with the time of their calls in queue and driver"
        Object => get(handlers::remote::show);
    read "/api/v1/schema/event" "JSON schema of an event"
        Object => get(handlers::event_schema);
    read "/api/openapi.json" "This API as OpenAPI 3.1"
        Object => get(handlers::openapi_json);
    read "/" "The page for people"
        File("text/html") => page::asset("text/html; charset=utf-8", page::INDEX);
    read "/page/app.js" "Its script"
        File("text/javascript") => page::asset("text/javascript; charset=utf-8", page::SCRIPT);
    read "/page/app.css" "Its style sheet"
        File("text/css") => page::asset("text/css; charset=utf-8", page::STYLE);
    read "/page/icon.svg" "Its icon"
        File("image/svg+xml") => page::asset("image/svg+xml", page::ICON);
    read "/page/routes.json" "The paths of this API, for the page"
        File("application/json") => get(page::routes);
}

/// What a client must be to use the path of a route, whatever the method.
pub(super) fn needed(path: &str) -> Role {
    let routes = ROUTES.iter().filter(|route| route.path == path);
    routes.map(|route| route.needs).max().unwrap_or(Role::Read)
}

/// The router of every listener: the peer of a request is among its extensions.
pub(super) fn router(state: AppState) -> Router {
    let gpud = state.compat.gpud;
    let gate = Gate {
        state: state.clone(),
        needed,
    };
    let mut router = Router::new();
    for route in ROUTES {
        let handler = match (route.path, gpud) {
            ("/healthz", true) => get(gpud::healthz),
            _ => (route.handler)(),
        };
        router = router.route(route.path, handler);
    }
    if gpud {
        router = router.merge(gpud::router());
    }
    router
        .method_not_allowed_fallback(handlers::wrong_method)
        .fallback(handlers::not_found)
        .layer(DefaultBodyLimit::max(MAX_BODY))
        .layer(middleware::from_fn_with_state(state.clone(), body::bound))
        .layer(middleware::from_fn_with_state(gate, gate::authorise))
        .with_state(state)
}
