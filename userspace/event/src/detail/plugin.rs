use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a plugin of the site found.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PluginDetail {
    /// The plugin, by the name of its file.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub plugin: Option<String>,
    /// Which of its checks.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub check: Option<String>,
    /// How what it checks is now: healthy, degraded or unhealthy.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub check_state: Option<String>,
}

fill_fields!(PluginDetail {
    plugin,
    check,
    check_state
});
