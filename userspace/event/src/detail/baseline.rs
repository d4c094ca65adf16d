use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

section! {
    /// What a comparison with the baseline found.
    BaselineDetail {
        /// Drift: each setting that is not as expected.
        drift: Vec<Drift>,
    }
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
