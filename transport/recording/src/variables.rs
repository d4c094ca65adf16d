//! Environment variables of a traced program.

use std::ffi::OsString;
use std::path::PathBuf;

use crate::clock::Scale;
use crate::layout::MAX_EVENTS;

const SOCKET: &str = "GTRACE_TRACE";
const EVENTS: &str = "GTRACE_TRACE_EVENTS";
const CLOCK: &str = "GTRACE_TRACE_CLOCK";
const LIBCUDA: &str = "GTRACE_LIBCUDA";
const GPU_TIME: &str = "GTRACE_TRACE_GPU_TIME";

/// What the pass-through library reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variables {
    /// The socket at which `gtrace trace` gets memory and names.
    pub socket: Option<PathBuf>,
    /// Room of a thread's ring: a power of two, or 0 for no events.
    pub events: u32,
    /// The clock.
    pub scale: Scale,
    /// The driver's library.
    pub libcuda: Option<PathBuf>,
    /// Whether work on the GPU is timed by events.
    pub gpu_time: bool,
}

impl Variables {
    /// All names, so that those of an outer `gtrace trace` can be taken away.
    pub const NAMES: [&'static str; 5] = [SOCKET, EVENTS, CLOCK, LIBCUDA, GPU_TIME];

    /// As `get` reports them. What cannot be read means the default.
    pub fn read(get: impl Fn(&str) -> Option<OsString>) -> Self {
        let path = |name| get(name).filter(|path| !path.is_empty()).map(PathBuf::from);
        let number = |name| get(name)?.to_str()?.parse::<u64>().ok();
        Self {
            socket: path(SOCKET),
            events: number(EVENTS).map_or(0, ring),
            scale: Scale::new(number(CLOCK).unwrap_or(0)),
            libcuda: path(LIBCUDA),
            gpu_time: number(GPU_TIME) == Some(1),
        }
    }

    /// To be set.
    pub fn to_set(&self) -> Vec<(&'static str, OsString)> {
        let path = |path: &Option<PathBuf>| path.clone().map(PathBuf::into_os_string);
        let set = [
            (SOCKET, path(&self.socket)),
            (EVENTS, Some(self.events.to_string().into())),
            (CLOCK, Some(self.scale.mult().to_string().into())),
            (LIBCUDA, path(&self.libcuda)),
            (GPU_TIME, self.gpu_time.then(|| "1".into())),
        ];
        set.into_iter()
            .filter_map(|(name, value)| Some((name, value?)))
            .collect()
    }
}

/// The room of a ring that has at least `events`.
fn ring(events: u64) -> u32 {
    match events {
        0 => 0,
        events => events.min(u64::from(MAX_EVENTS)).next_power_of_two() as u32,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_set_is_read() {
        let set = Variables {
            socket: Some("/a/b".into()),
            events: 64,
            scale: Scale::new(7),
            libcuda: Some("/c".into()),
            gpu_time: true,
        };
        let variables = set.to_set();
        let get = |name: &str| {
            let found = variables.iter().find(|(n, _)| *n == name);
            found.map(|(_, value)| value.clone())
        };
        assert_eq!(Variables::read(get), set);
        assert!(variables.iter().all(|(n, _)| Variables::NAMES.contains(n)));
    }

    #[test]
    fn rings_have_sizes_that_rings_can_have() {
        assert_eq!([0, 1, 3, u64::MAX].map(ring), [0, 1, 4, MAX_EVENTS]);
    }
}
