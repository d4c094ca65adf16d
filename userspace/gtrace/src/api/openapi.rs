use gtrace_event::Event;
use schemars::generate::SchemaSettings;
use schemars::{Schema, SchemaGenerator};
use serde_json::{Map, Value, json};

use super::problem::ProblemBody;
use super::routes::{Answer, ROUTES, Route};
use super::stream::Gap;

/// The API as OpenAPI 3.1, made from the table of routes and the schemas of the types that the
/// handlers answer with.
pub fn document() -> Value {
    let settings =
        SchemaSettings::draft2020_12().with(|s| s.definitions_path = "/components/schemas".into());
    let mut generator = settings.into_generator();
    let problem = generator.subschema_for::<ProblemBody>();
    generator.subschema_for::<Gap>();
    let mut paths = Map::new();
    for route in &ROUTES {
        let operation = operation(route, &problem, &mut generator);
        let path = paths.entry(route.path).or_insert_with(|| json!({}));
        path[route.method] = operation;
    }
    let schemas = generator.take_definitions(true);
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "gtrace",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "Events, status and metrics of the gtrace daemon of one host. \
                Operations marked x-unix-socket-only are refused over TCP.",
        },
        "servers": [{ "url": "http://127.0.0.1:7470" }],
        "paths": paths,
        "components": { "schemas": schemas },
    })
}

/// JSON schema (draft 2020-12) of an event.
pub fn event_schema() -> Value {
    SchemaSettings::draft2020_12()
        .into_generator()
        .into_root_schema_for::<Event>()
        .to_value()
}

fn operation(route: &Route, problem: &Schema, generator: &mut SchemaGenerator) -> Value {
    let mut parameters: Vec<Value> = path_parameters(route.path).collect();
    parameters.extend(route.parameters.iter().map(|(name, meaning)| {
        json!({
            "name": name, "in": "query", "required": false, "description": meaning,
            "schema": { "type": "string" },
        })
    }));
    let mut responses = Map::new();
    let (code, answer) = answer(route.answer, generator);
    responses.insert(code.to_owned(), answer);
    for status in route.errors {
        let content = json!({ "application/json": { "schema": problem } });
        let description = reason(*status);
        responses.insert(
            status.to_string(),
            json!({ "description": description, "content": content }),
        );
    }
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
    if route.local_only {
        operation["x-unix-socket-only"] = json!(true);
    }
    operation
}

fn answer(answer: Answer, generator: &mut SchemaGenerator) -> (&'static str, Value) {
    let content = match answer {
        Answer::Json(schema) => json!({ "application/json": { "schema": schema(generator) } }),
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
        Answer::Nothing => return ("204", json!({ "description": "done" })),
    };
    ("200", json!({ "description": "OK", "content": content }))
}

fn path_parameters(path: &str) -> impl Iterator<Item = Value> {
    path.split('/')
        .filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'))
        .map(|name| {
            json!({
                "name": name, "in": "path", "required": true,
                "schema": { "$ref": "#/components/schemas/EventId" },
            })
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
        403 => "Only over the Unix socket",
        404 => "No such event",
        413 => "The body is too large",
        429 => "Too many stream readers",
        _ => "Not possible now",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_route_and_every_schema_it_names_is_in_the_document() {
        let document = document();
        for route in &ROUTES {
            let operation = &document["paths"][route.path][route.method];
            assert_eq!(operation["summary"], route.summary, "{}", route.path);
        }
        assert_eq!(document["paths"].as_object().unwrap().len(), ROUTES.len());
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

    #[test]
    fn the_schema_of_an_event_lists_its_required_fields() {
        let schema = event_schema();
        let required = schema["required"].as_array().unwrap();
        for field in ["id", "time", "kind", "severity", "message", "provenance"] {
            assert!(required.contains(&json!(field)), "{field}");
        }
    }
}
