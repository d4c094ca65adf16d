//! What the environment says, read once when the program first needs the server.

use std::env;
use std::path::PathBuf;

/// Where statistics go at the end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum StatsTo {
    /// A table on standard error.
    Stderr,
    /// JSON to a file; `%p` in its name is the process id.
    File(PathBuf),
}

/// Settings of the shim; those of the connection are `gtrace_link::Target`'s.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Settings {
    /// GTRACE_STRICT: every call is answered before it returns.
    pub(crate) strict: bool,
    /// GTRACE_STRICT_EXIT: a program whose calls are lost exits with a status of its own.
    pub(crate) strict_exit: bool,
    /// CUDA_LAUNCH_BLOCKING: every launch waits for its end.
    pub(crate) launch_blocking: bool,
    /// CUDA_VISIBLE_DEVICES.
    pub(crate) visible_devices: Option<String>,
    /// CUDA_DEVICE_ORDER.
    pub(crate) device_order: Option<String>,
    /// GTRACE_STATS.
    pub(crate) stats: Option<StatsTo>,
}

impl Settings {
    /// From the environment.
    pub(crate) fn from_env() -> Self {
        Self::from_variables(|name| Some(env::var_os(name)?.to_string_lossy().into_owned()))
    }

    fn from_variables(get: impl Fn(&str) -> Option<String>) -> Self {
        let on = |name| get(name).is_some_and(|value| !matches!(value.trim(), "" | "0"));
        Self {
            strict: on("GTRACE_STRICT"),
            strict_exit: on("GTRACE_STRICT_EXIT"),
            launch_blocking: on("CUDA_LAUNCH_BLOCKING"),
            visible_devices: get("CUDA_VISIBLE_DEVICES"),
            device_order: get("CUDA_DEVICE_ORDER"),
            stats: match get("GTRACE_STATS").as_deref() {
                None | Some("") => None,
                Some("-") => Some(StatsTo::Stderr),
                Some(path) => Some(StatsTo::File(path.into())),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zero_and_nothing_switch_off() {
        let read = |value: Option<&str>| {
            Settings::from_variables(|name| {
                (name == "GTRACE_STRICT").then(|| value.map(str::to_owned))?
            })
            .strict
        };
        assert_eq!(
            [None, Some(""), Some("0"), Some("1"), Some("yes")].map(read),
            [false, false, false, true, true]
        );
    }

    #[test]
    fn an_empty_list_of_devices_is_not_no_list() {
        let read =
            Settings::from_variables(|name| (name == "CUDA_VISIBLE_DEVICES").then(String::new));
        assert_eq!(read.visible_devices.as_deref(), Some(""));
        assert_eq!(read.stats, None);
    }
}
