use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One driver call.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ApiDetail {
    /// ioctl request number, hex.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub ioctl: Option<String>,
    /// Name of the operation, where public.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub op: Option<String>,
    /// Character device, major:minor.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub chardev: Option<String>,
    /// How long it took.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub latency_ns: Option<u64>,
    /// The threshold that it passed.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub threshold_ns: Option<u64>,
    /// Error number that ioctl(2) returned, positive.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub errno: Option<i32>,
}
