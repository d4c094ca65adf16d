use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a comparison with the baseline found.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BaselineDetail {
    /// Drift: each setting that is not as expected.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub drift: Vec<Drift>,
}

/// A setting that is not as the baseline says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Drift {
    /// The setting, as in the file: `vbios`, `ecc`, `gpus`.
    pub setting: String,
    /// What the baseline says.
    pub expected: String,
    /// What was found.
    pub found: String,
}

fill_fields!(BaselineDetail { drift });
