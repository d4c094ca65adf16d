use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A reading that became an event.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SampleDetail {
    /// Name of the reading, as in /metrics.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub metric: Option<String>,
    /// The reading.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub value: Option<f64>,
    /// The reading before.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub previous: Option<f64>,
    /// The limit that it passed.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub limit: Option<f64>,
    /// Clock event reasons, in NVML's words.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub reasons: Vec<String>,
    /// PCIe link speed now, verbatim from sysfs.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub speed: Option<String>,
    /// Highest PCIe link speed of the device.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub max_speed: Option<String>,
    /// PCIe lanes in use.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub width: Option<u32>,
    /// PCIe lanes the device has.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub max_width: Option<u32>,
}

fill_fields!(SampleDetail {
    metric,
    value,
    previous,
    limit,
    reasons,
    speed,
    max_speed,
    width,
    max_width
});
