use std::sync::LazyLock;

use axum::body::Bytes;
use gtrace_api::{Gap, ProblemBody};
use gtrace_event::{Kind, Provenance, RecordId, Severity};
use schemars::generate::SchemaSettings;
use schemars::{Schema, SchemaGenerator};
use serde_json::{Map, Value, json};

use super::query::{Parameter, Values};
use super::routes::{Answer, ROUTES, Route};

/// Status codes that any route may answer with: credential, role, rate and what waits for readers are looked at for all.
const OF_EVERY_ROUTE: [u16; 4] = [401, 403, 429, 503];

/// [`document`] as text: making it takes long.
pub(super) static DOCUMENT: LazyLock<Bytes> =
    LazyLock::new(|| document().to_string().into_bytes().into());

/// Paths of all routes, as JSON.
pub(super) static PATHS: LazyLock<Bytes> = LazyLock::new(|| {
    let paths: Vec<&str> = ROUTES.iter().map(|route| route.path).collect();
    // A list of texts always makes JSON.
    serde_json::to_vec(&paths).unwrap_or_default().into()
});

/// The API as OpenAPI 3.1, made from the table of routes and the schemas of the types that the
/// handlers answer with.
pub fn document() -> Value {
    let settings =
        SchemaSettings::draft2020_12().with(|s| s.definitions_path = "/components/schemas".into());
    let mut generator = settings.into_generator();
    let problem = generator.subschema_for::<ProblemBody>();
    generator.subschema_for::<Gap>();
    let mut paths = Map::new();
    for route in ROUTES {
        let operation = operation(route, &problem, &mut generator);
        let path = paths
            .entry(path_in_document(route))
            .or_insert_with(|| json!({}));
        path[route.method] = operation;
    }
    let schemas = generator.take_definitions(true);
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "gtrace",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "Events, status and metrics of the gtrace daemon of one host. \
                x-role is what a client must be: over the Unix socket it is operate, over TCP on loopback \
                read, over https what its token or certificate is.",
        },
        "servers": [{ "url": "http://127.0.0.1:7470" }],
        "paths": paths,
        // Nothing over the Unix socket and TCP on loopback, one of the others over https.
        "security": [{}, { "token": [] }, { "password": [] }, { "certificate": [] }],
        "components": {
            "schemas": schemas,
            "securitySchemes": {
                "token": { "type": "http", "scheme": "bearer" },
                "password": {
                    "type": "http", "scheme": "basic",
                    "description": "Any name, and a token as the password",
                },
                "certificate": { "type": "mutualTLS" },
            },
        },
    })
}

fn operation(route: &Route, problem: &Schema, generator: &mut SchemaGenerator) -> Value {
    let mut parameters: Vec<Value> = path_parameters(route.path).collect();
    let query = route.parameters.iter();
    parameters.extend(query.map(|parameter| query_parameter(parameter, generator)));
    if route.resumes {
        parameters.push(json!({
            "name": "Last-Event-ID", "in": "header", "required": false,
            "description": "Continues after this record: the id of the last message received",
            "schema": record(generator),
        }));
    }
    let mut responses = Map::new();
    for status in OF_EVERY_ROUTE.iter().chain(route.errors) {
        let content = json!({ "application/json": { "schema": problem } });
        let description = reason(*status);
        responses.insert(
            status.to_string(),
            json!({ "description": description, "content": content }),
        );
    }
    let (code, answer) = answer(route.answer, generator);
    if let Answer::Verdict(_) = route.answer {
        let content = &answer["content"];
        responses.insert(
            "503".to_owned(),
            json!({ "description": "Something is wrong: the reasons", "content": content }),
        );
    }
    responses.insert(code.to_owned(), answer);
    let mut operation = json!({
        "summary": route.summary,
        "operationId": operation_id(route),
        "parameters": parameters,
        "responses": responses,
    });
    if let Some(body) = route.body {
        let schema = body(generator);
        operation["requestBody"] =
            json!({ "required": true, "content": { "application/json": { "schema": schema } } });
    }
    if route.takes_file {
        operation["requestBody"] =
            json!({ "required": true, "content": file("application/octet-stream") });
    }
    operation["x-role"] = json!(route.needs);
    operation
}

fn answer(answer: Answer, generator: &mut SchemaGenerator) -> (&'static str, Value) {
    let content = match answer {
        Answer::Json(schema) | Answer::Verdict(schema) => {
            json!({ "application/json": { "schema": schema(generator) } })
        }
        Answer::Object => json!({ "application/json": { "schema": { "type": "object" } } }),
        Answer::Text(media) => {
            let schema = json!({ "type": "string" });
            json!({ media: { "schema": schema }, "text/plain; version=0.0.4": { "schema": schema } })
        }
        Answer::Stream(schema) => {
            let data = schema(generator);
            json!({ "text/event-stream": {
                "schema": { "type": "string" },
                "x-data-schema": data,
                "x-gap-schema": { "$ref": "#/components/schemas/Gap" },
            } })
        }
        Answer::File(media) => file(media),
        Answer::Nothing => return ("204", json!({ "description": "done" })),
    };
    ("200", json!({ "description": "OK", "content": content }))
}

/// Without the mark of a parameter that may have slashes, which is for the router alone.
fn path_in_document(route: &Route) -> String {
    route.path.replace("{*", "{")
}

fn file(media: &str) -> Value {
    json!({ media: { "schema": { "type": "string", "format": "binary" } } })
}

fn query_parameter(parameter: &Parameter, generator: &mut SchemaGenerator) -> Value {
    let Parameter {
        name,
        meaning,
        values,
    } = parameter;
    let schema = match values {
        Values::Time => json!({
            "type": "string",
            "anyOf": [{ "format": "date-time" }, { "pattern": "^-?([0-9]+[smhdw])+$" }],
        }),
        Values::Kinds => json!({ "type": "array", "items": generator.subschema_for::<Kind>() }),
        Values::Gpu => json!({
            "type": "string", "minLength": 1,
            "examples": ["0000:3b:00.0", "2", "GPU-8f3a"],
        }),
        Values::Severity => generator.subschema_for::<Severity>().to_value(),
        Values::Provenance => generator.subschema_for::<Provenance>().to_value(),
        Values::Integer { min, max, default } => json!({
            "type": "integer", "minimum": min, "maximum": max, "default": default,
        }),
        Values::Record => record(generator),
        Values::Text => json!({ "type": "array", "items": { "type": "string" } }),
        Values::Flag => json!({ "type": "boolean", "default": false }),
    };
    let mut described = json!({
        "name": name, "in": "query", "required": false, "description": meaning, "schema": schema,
    });
    if matches!(values, Values::Kinds) {
        described["style"] = json!("form");
        described["explode"] = json!(false);
    }
    described
}

/// The id of a record, or its number.
fn record(generator: &mut SchemaGenerator) -> Value {
    let id = generator.subschema_for::<RecordId>();
    json!({ "anyOf": [id, { "type": "integer", "format": "int64", "minimum": 0 }] })
}

fn path_parameters(path: &str) -> impl Iterator<Item = Value> {
    path.split('/')
        .filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'))
        .map(move |name| {
            let schema = match name.trim_start_matches('*') {
                "id" if path.contains("/events/") => {
                    json!({ "$ref": "#/components/schemas/EventId" })
                }
                _ => json!({ "type": "string" }),
            };
            let name = name.trim_start_matches('*');
            json!({ "name": name, "in": "path", "required": true, "schema": schema })
        })
}

fn operation_id(route: &Route) -> String {
    let words = route
        .path
        .split(|c: char| !c.is_ascii_alphanumeric())
        .filter(|w| !w.is_empty());
    let mut id = route.method.to_owned();
    for word in words {
        id.push('_');
        id.push_str(word);
    }
    id
}

fn reason(status: u16) -> &'static str {
    match status {
        400 => "A parameter or the body cannot be understood",
        401 => "Over https: no valid credential was shown",
        403 => "Beyond the role of the client, or asked for by a page of another site",
        404 => "There is none of this name",
        408 => "The body did not come in time",
        409 => "The incident is resolved, or no maintenance window is on",
        413 => "The body is too large",
        429 => "Too many stream readers, or over https too many requests",
        _ => "Not possible now",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::query::{EventQuery, PARAMETERS};

    #[test]
    fn every_route_and_every_schema_it_names_is_in_the_document() {
        let document = document();
        for route in ROUTES {
            let operation = &document["paths"][path_in_document(route)][route.method];
            assert_eq!(operation["summary"], route.summary, "{}", route.path);
        }
        let paths = document["paths"].as_object().unwrap().values();
        let operations = paths.map(|path| path.as_object().unwrap().len());
        assert_eq!(operations.sum::<usize>(), ROUTES.len());
        let text = document.to_string();
        let schemas = document["components"]["schemas"].as_object().unwrap();
        for reference in text
            .split("\"$ref\":\"")
            .skip(1)
            .map(|rest| rest.split('"').next())
        {
            let name = reference
                .unwrap()
                .strip_prefix("#/components/schemas/")
                .unwrap();
            assert!(schemas.contains_key(name), "{name} is not defined");
        }
    }
    /// Values that a schema of the document describes: some that it allows, some that it does not.
    fn samples(document: &Value, schema: &Value) -> (Vec<String>, Vec<String>) {
        let text = |value: &Value| match value {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        if let Some(reference) = schema["$ref"].as_str() {
            let named = document.pointer(reference.trim_start_matches('#')).unwrap();
            return samples(document, named);
        }
        if let Some(values) = schema["enum"].as_array() {
            return (values.iter().map(text).collect(), vec!["no_such".into()]);
        }
        if let Some(choices) = schema["oneOf"].as_array() {
            let allowed = choices.iter().flat_map(|choice| match &choice["const"] {
                Value::Null => samples(document, choice).0,
                value => vec![text(value)],
            });
            return (allowed.collect(), vec!["no_such".into()]);
        }
        match schema["type"].as_str().unwrap() {
            "array" => {
                let (allowed, refused) = samples(document, &schema["items"]);
                (vec![allowed.join(",")], refused)
            }
            "boolean" => (
                vec!["true".into(), "false".into(), text(&schema["default"])],
                vec!["maybe".into()],
            ),
            "integer" => {
                let (min, max) = (&schema["minimum"], &schema["maximum"]);
                let out = [min.as_i64().unwrap() - 1, max.as_i64().unwrap() + 1];
                let mut refused: Vec<_> = out.map(|value| value.to_string()).into();
                refused.push("many".into());
                (
                    vec![text(min), text(max), text(&schema["default"])],
                    refused,
                )
            }
            "string" if schema["anyOf"][0]["format"] == "date-time" => (
                vec!["2026-03-03T04:05:06Z".into(), "30m".into()],
                vec!["noon".into(), "30 minutes".into()],
            ),
            "string" => {
                let examples = schema["examples"].as_array();
                let examples = examples.expect("a text of no form is no type");
                (examples.iter().map(text).collect(), vec![String::new()])
            }
            other => panic!("{other}"),
        }
    }

    #[test]
    fn the_server_takes_what_the_types_of_the_parameters_allow_and_refuses_the_rest() {
        let document = document();
        let parameters = document["paths"]["/api/v1/events"]["get"]["parameters"].clone();
        let parameters = parameters.as_array().unwrap();
        assert_eq!(parameters.len(), PARAMETERS.len());
        let now = gtrace_event::Timestamp::now();
        for parameter in parameters {
            let name = parameter["name"].as_str().unwrap();
            let (allowed, refused) = samples(&document, &parameter["schema"]);
            assert!(!allowed.is_empty(), "{name}");
            for value in allowed {
                EventQuery::from_pairs([(name, value.as_str())], now).unwrap();
            }
            for value in refused {
                let read = EventQuery::from_pairs([(name, value.as_str())], now);
                assert!(read.is_err(), "{name}={value}");
            }
        }
        let types = |path: &str| -> Vec<String> {
            let parameters = document["paths"][path]["get"]["parameters"].as_array();
            let schemas = parameters.unwrap().iter().map(|one| &one["schema"]["type"]);
            schemas
                .map(|kind| kind.as_str().unwrap_or("$ref").to_owned())
                .collect()
        };
        assert_eq!(types("/api/v1/cuda"), ["boolean"]);
    }

    #[test]
    fn what_the_daemon_answers_and_takes_besides_is_in_the_document() {
        let document = document();
        for path in document["paths"].as_object().unwrap().values() {
            for operation in path.as_object().unwrap().values() {
                for code in OF_EVERY_ROUTE {
                    let answer = &operation["responses"][code.to_string()];
                    assert!(answer.is_object(), "{code}: {operation}");
                }
            }
        }
        // A client may show nothing, or what the document defines.
        let ways = document["security"].as_array().unwrap();
        assert_eq!(ways[0], json!({}));
        for name in ways.iter().flat_map(|way| way.as_object().unwrap().keys()) {
            let scheme = &document["components"]["securitySchemes"][name];
            assert!(scheme.is_object(), "{name}");
        }
        let get = |path: &str| &document["paths"][path]["get"];
        // `/healthz` and `/readyz` say with 503 what they say with 200.
        for path in ["/healthz", "/readyz"] {
            let responses = &get(path)["responses"];
            let (well, unwell) = (&responses["200"]["content"], &responses["503"]["content"]);
            assert!(well.is_object() && well == unwell, "{path}: {responses}");
        }
        let state = &document["paths"]["/api/v1/incidents/{id}/state"]["post"];
        assert!(state["responses"]["409"].is_object(), "{state}");
        // The stream's ids, and numbers.
        let parameters = get("/api/v1/events/stream")["parameters"].as_array();
        let parameters = parameters.unwrap();
        let schema = |name: &str| {
            let mut named = parameters.iter().filter(|one| one["name"] == name);
            &named.next().unwrap()["schema"]
        };
        let record = schema("Last-Event-ID");
        assert_eq!(record, schema("after"));
        let id = &record["anyOf"][0]["$ref"];
        assert_eq!(id, "#/components/schemas/RecordId", "{record}");
        assert_eq!(record["anyOf"][1]["type"], "integer", "{record}");
    }
}
