use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The process that an event is about.
#[serde_with::skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Process {
    /// Process id (thread group id), in the initial pid namespace.
    pub pid: Option<u32>,
    /// Name as the kernel or driver has it; whole, with commas and spaces where it has some.
    pub comm: Option<String>,
    /// Control group path (v2, or the longest of v1), read while the process lived.
    pub cgroup: Option<String>,
    /// Container id found in the control group path.
    pub container: Option<String>,
}
