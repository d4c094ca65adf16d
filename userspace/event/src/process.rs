use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The process that an event is about.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Process {
    /// Process id (thread group id), in the initial pid namespace.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub pid: Option<u32>,
    /// Name as the kernel or driver has it; whole, with commas and spaces where it has some.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub comm: Option<String>,
    /// Control group path (v2, or the longest of v1), read while the process lived.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub cgroup: Option<String>,
    /// Container id found in the control group path.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub container: Option<String>,
}
