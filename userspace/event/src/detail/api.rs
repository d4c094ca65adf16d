use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One driver call.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ApiDetail {
    /// ioctl request number, hex; `open`, `mmap` or `close` for these.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub ioctl: Option<String>,
    /// Name of the operation, where public.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub op: Option<String>,
    /// What the operation is about, hex: the control command of RM_CONTROL, the class of RM_ALLOC.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub code: Option<String>,
    /// Public name of `code`; `unreadable` where the parameters could not be read.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub code_name: Option<String>,
    /// NV_STATUS that the driver answered, hex; ioctl(2) itself may have returned 0.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub status: Option<String>,
    /// Public name of `status`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub status_name: Option<String>,
    /// Name of the device file: `nvidia0`, `nvidiactl`, `nvidia-uvm`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub device: Option<String>,
    /// Character device, major:minor.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub chardev: Option<String>,
    /// How long it took.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub latency_ns: Option<u64>,
    /// `false` for a call that had not returned yet.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub returned: Option<bool>,
    /// The threshold that it passed.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub threshold_ns: Option<u64>,
    /// Error number that ioctl(2) returned, positive.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub errno: Option<i32>,
}

fill_fields!(ApiDetail {
    ioctl,
    op,
    code,
    code_name,
    status,
    status_name,
    device,
    chardev,
    latency_ns,
    returned,
    threshold_ns,
    errno
});
