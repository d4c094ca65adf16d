use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What the text says of NVLink and NVSwitch.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FabricDetail {
    /// SXid code.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub sxid: Option<u32>,
    /// Switch number (`nvidia-nvswitch0`).
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub nvswitch: Option<u32>,
    /// NVLink number; -1 where the driver says so (not tied to one link).
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub link: Option<i64>,
    /// SXid: `Fatal` or `Non-fatal`, verbatim.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub scope: Option<String>,
    /// SXid: words of the `Data {..}` line, hex.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub data: Vec<String>,
}

fill_fields!(FabricDetail {
    sxid,
    nvswitch,
    link,
    scope,
    data
});
