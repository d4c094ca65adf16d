use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How a process that used a GPU ended.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ProcessExitDetail {
    /// Exit status, 0 to 255, where it ended by itself.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub exit_code: Option<u32>,
    /// Signal that ended it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub signal: Option<u32>,
    /// Whether the kernel says that a core was dumped.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub core_dumped: Option<bool>,
}

fill_fields!(ProcessExitDetail {
    exit_code,
    signal,
    core_dumped
});
