use std::sync::LazyLock;

use axum::body::Bytes;
use gtrace_event::Event;
use schemars::generate::SchemaSettings;
use serde_json::Value;

/// [`event_schema`] as text: making it takes long.
pub(super) static EVENT: LazyLock<Bytes> =
    LazyLock::new(|| event_schema().to_string().into_bytes().into());

/// JSON schema (draft 2020-12) of an event.
pub fn event_schema() -> Value {
    SchemaSettings::draft2020_12()
        .into_generator()
        .into_root_schema_for::<Event>()
        .to_value()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_schema_of_an_event_lists_its_required_fields() {
        let schema = event_schema();
        let required = schema["required"].as_array().unwrap();
        for field in ["id", "time", "kind", "severity", "message", "provenance"] {
            assert!(required.contains(&json!(field)), "{field}");
        }
    }
}
