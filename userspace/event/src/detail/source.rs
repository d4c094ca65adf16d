use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What gtrace lost of a source.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SourceDetail {
    /// The source.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub source: Option<String>,
    /// How many records are known to be lost.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub lost: Option<u64>,
    /// First lost sequence number, where records are numbered.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub first_seq: Option<u64>,
    /// Last lost sequence number.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub last_seq: Option<u64>,
    /// Why.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub reason: Option<String>,
    /// What brings it back.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub remedy: Option<String>,
}

fill_fields!(SourceDetail {
    source,
    lost,
    first_seq,
    last_seq,
    reason,
    remedy
});
