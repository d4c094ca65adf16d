use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

crate::named_enum! {
    /// Who wrote the text or raised the signal behind an event.
    #[derive(
        Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
        JsonSchema,
    )]
    pub enum Provenance {
        /// The kernel itself: log facility 0, a tracepoint, sysfs, procfs or NVML.
        Kernel = "kernel",
        /// A process, by writing to /dev/kmsg (any facility but 0).
        Userspace = "userspace",
        /// `gtrace inject`, for a drill.
        Injected = "injected",
        /// Not known (yet): a saved log without facilities, or a record that only `printk:console`
        /// has shown so far.
        #[default]
        Unknown = "unknown",
    }
}
