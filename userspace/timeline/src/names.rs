//! What kernels, streams and results are called.

use std::collections::HashMap;

/// Most names of a process that are kept.
const MAX_KERNELS: usize = 1 << 20;

/// Names of a process's kernels. A handle may be used again for another kernel.
#[derive(Debug, Default)]
pub struct Kernels {
    names: HashMap<u64, Vec<(u64, String)>>,
    count: usize,
}

impl Kernels {
    /// A handle has this name from a time on.
    pub fn learn(&mut self, ticks: u64, handle: u64, name: &str) {
        if self.count >= MAX_KERNELS {
            return;
        }
        let names = self.names.entry(handle).or_default();
        let at = names.partition_point(|(since, _)| *since <= ticks);
        // Programs ask for the same function again and again.
        if at > 0 && names[at - 1].1 == name {
            return;
        }
        names.insert(at, (ticks, name.to_owned()));
        self.count += 1;
    }

    /// The name that a handle had at a time.
    pub fn name(&self, ticks: u64, handle: u64) -> Option<&str> {
        let names = self.names.get(&handle)?;
        let at = names.partition_point(|(since, _)| *since <= ticks);
        // Two threads may have learnt of it in any order.
        let found = names.get(at.saturating_sub(1))?;
        Some(&found.1)
    }
}

/// The name of a result.
pub(crate) fn result(code: u32) -> Option<&'static str> {
    gtrace_tables::results::driver(code)?.0.to_str().ok()
}

/// The name of a stream. `per_thread`: 0 stands for the thread's default stream.
pub(crate) fn stream(stream: u64, per_thread: bool) -> String {
    match (stream, per_thread) {
        (0, true) | (2, _) => "stream of the thread (default)".to_owned(),
        (0 | 1, _) => "stream 0 (default)".to_owned(),
        (stream, _) => format!("stream {stream:#x}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_handle_is_what_it_was_at_the_time() {
        let mut kernels = Kernels::default();
        kernels.learn(10, 7, "first");
        kernels.learn(30, 7, "second");
        kernels.learn(40, 7, "second");
        let names = [5, 10, 29, 30, 99].map(|ticks| kernels.name(ticks, 7).unwrap());
        assert_eq!(names, ["first", "first", "first", "second", "second"]);
        assert_eq!((kernels.name(10, 8), kernels.count), (None, 2));
    }

    #[test]
    fn results_and_default_streams_have_names() {
        assert_eq!(result(700), Some("CUDA_ERROR_ILLEGAL_ADDRESS"));
        assert_eq!(result(12345), None);
        assert_ne!(stream(0, true), stream(0, false));
        assert_eq!(stream(0, false), stream(1, true));
    }
}
