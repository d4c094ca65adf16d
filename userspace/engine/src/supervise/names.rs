//! Names of the tasks that serve components: those of their threads without `gtrace-`.

/// Takes records out of the rings of the probes.
pub const DRAIN: &str = "drain";
/// Keeps the probes up to date, follows the driver's modules and reads histograms.
pub const HOUSEKEEPING: &str = "housekeeping";
/// Reads the kernel log.
pub const KMSG: &str = "kmsg";
/// Reads sysfs, /proc/driver/nvidia and NVML.
pub const DEVICES: &str = "devices";
/// Reads the host itself: memory, disks, tasks and the like.
pub const HOST: &str = "host";
/// Counts CUDA calls.
pub const CUDA: &str = "cuda";
/// Answers HTTP, and asks `gtrace serve` for its state.
pub const HTTP: &str = "http";
/// Keeps samples on disk.
pub const HISTORY: &str = "history";
/// Sends incidents to Alertmanager.
pub const ALERTMANAGER: &str = "alertmanager";
/// Checks the health of every component.
pub const CHECKS: &str = "checks";
/// Watches for what triggers of the site say.
pub const TRIGGERS: &str = "triggers";
/// The flight recorder.
pub const RECORDER: &str = "recorder";
/// Tells NVSentinel of health.
pub const NVSENTINEL: &str = "nvsentinel";
/// Runs plugins of the site.
pub const PLUGINS: &str = "plugins";
/// Asks container runtimes and the kubelet whether they answer.
pub const RUNTIMES: &str = "runtimes";
/// Sends metrics and events by OTLP.
pub const OTLP: &str = "otlp";
/// Reads the rules of health of the site.
pub const RULES: &str = "rules";
/// Reads limits of control groups.
pub const CGROUPS: &str = "cgroups";
