//! The tables of the loaded probes: reading, filling and emptying them.
#![allow(clippy::result_large_err)] // aya's errors are large and rare

use std::collections::BTreeMap;

use aya::Pod;
use aya::maps::{HashMap, PerCpuArray};
use gtrace_abi::{CallHist, CallKey, CallStart, Counter, FailureKey, OpenFile};

use super::probes::Probes;

impl Probes {
    /// Empties a table that nothing writes to any more.
    pub(super) fn clear<K: Pod + Ord, V: Pod>(&mut self, name: &str) {
        self.forget_where::<K, V>(name, |_| true);
    }

    fn forget_where<K: Pod + Ord, V: Pod>(&mut self, name: &str, is_over: impl Fn(&K) -> bool) {
        let keys = self.entries::<K, V>(name).into_keys();
        let keys: Vec<K> = keys.filter(is_over).collect();
        let map = self.ebpf.map_mut(name);
        if let Some(mut map) = map.and_then(|m| HashMap::<_, K, V>::try_from(m).ok()) {
            for key in keys {
                // Gone already is as good.
                let _ = map.remove(&key);
            }
        }
    }

    /// Registers, for the exit probe, a process that already had a watched device open.
    pub fn remember_gpu_task(&mut self, tgid: u32, rdev: u32) {
        let map = self.ebpf.map_mut("GPU_TASKS");
        if let Some(mut map) = map.and_then(|m| HashMap::<_, u32, u32>::try_from(m).ok()) {
            // A full table is counted where it fills up, in the probe.
            let _ = map.insert(tgid, rdev, 0);
        }
    }

    /// Everything dropped or failed inside BPF, summed over CPUs.
    pub fn counters(&self) -> Vec<(Counter, u64)> {
        let Some(array) = self
            .ebpf
            .map("COUNTERS")
            .and_then(|m| PerCpuArray::<_, u64>::try_from(m).ok())
        else {
            return Vec::new();
        };
        let sum = |c: Counter| array.get(&(c as u32), 0).map_or(0, |v| v.iter().sum());
        Counter::ALL.iter().map(|&c| (c, sum(c))).collect()
    }

    /// Every driver-call histogram.
    pub fn histograms(&self) -> Vec<(CallKey, Box<CallHist>)> {
        self.histograms_where(|_| true)
    }

    /// Those whose keys are asked for: a histogram takes 7 KiB.
    pub fn histograms_where(
        &self,
        wanted: impl Fn(&CallKey) -> bool,
    ) -> Vec<(CallKey, Box<CallHist>)> {
        let maps = ["HISTS", "HISTS_OTHERS"].into_iter();
        let maps = maps.filter_map(|name| {
            HashMap::<_, CallKey, CallHist>::try_from(self.ebpf.map(name)?).ok()
        });
        maps.flat_map(|map| {
            let keys = map.keys().filter_map(Result::ok).filter(&wanted);
            keys.filter_map(|key| Some((key, Box::new(map.get(&key, 0).ok()?))))
                .filter(|(_, hist)| hist.count() > 0)
                .collect::<Vec<_>>()
        })
        .collect()
    }

    /// How often the driver failed which call how.
    pub fn failures(&self) -> Vec<(FailureKey, u64)> {
        self.entries("FAILURES").into_iter().collect()
    }

    /// The calls under way, by process and thread id (`tgid << 32 | tid`).
    pub fn calls_under_way(&self) -> Vec<(u64, CallStart)> {
        let mut calls: Vec<(u64, CallStart)> = self.entries("DRIVER_STARTS").into_iter().collect();
        for others in ["STARTS", "FILE_STARTS"] {
            calls.extend(self.entries::<u64, CallStart>(others));
        }
        calls.retain(|(_, start)| start.boottime_ns != 0);
        calls
    }

    /// Gives back the places of threads (`tgid << 32 | tid`) that are gone. A thread that executes a program gets the number
    /// of its process, so that its end is not seen under its own.
    pub fn forget_gone_threads(&mut self, is_there: impl Fn(u64) -> bool) {
        for name in ["STARTS", "DRIVER_STARTS", "FILE_STARTS"] {
            self.forget_where::<u64, CallStart>(name, |id| !is_there(*id));
        }
    }

    /// The device files that are open, as far as their opening was seen.
    pub fn open_files(&self) -> Vec<OpenFile> {
        self.entries::<u64, OpenFile>("OPENS")
            .into_values()
            .collect()
    }

    /// A table that is written to while it is read can show a key twice.
    fn entries<K: Pod + Ord, V: Pod>(&self, map: &str) -> BTreeMap<K, V> {
        let Some(map) = self
            .ebpf
            .map(map)
            .and_then(|m| HashMap::<_, K, V>::try_from(m).ok())
        else {
            return BTreeMap::new();
        };
        map.iter().filter_map(Result::ok).collect()
    }

    /// Forgets how the calls of a process that has ended failed.
    pub fn forget_failure(&mut self, key: FailureKey) {
        let map = self.ebpf.map_mut("FAILURES");
        if let Some(mut map) = map.and_then(|m| HashMap::<_, FailureKey, u64>::try_from(m).ok()) {
            // Gone already is as good.
            let _ = map.remove(&key);
        }
    }

    /// Forgets an open file whose closing was not seen.
    pub fn forget_open_file(&mut self, file: u64) {
        let map = self.ebpf.map_mut("OPENS");
        if let Some(mut map) = map.and_then(|m| HashMap::<_, u64, OpenFile>::try_from(m).ok()) {
            // Gone already is as good.
            let _ = map.remove(&file);
        }
    }

    /// Forgets the histograms of a process that has ended.
    pub fn forget_histogram(&mut self, key: CallKey) {
        if key == CallKey::OVERFLOW {
            return;
        }
        // Those of all others together end with the probes.
        let map = self.ebpf.map_mut("HISTS");
        if let Some(mut map) = map.and_then(|m| HashMap::<_, CallKey, CallHist>::try_from(m).ok()) {
            // Gone already is as good.
            let _ = map.remove(&key);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bpf::{Layout, ProbesOptions};

    #[test]
    fn root_places_of_threads_that_are_gone_are_given_back() {
        if !crate::host::is_root() {
            eprintln!("skipped: needs root");
            return;
        }
        let options = ProbesOptions {
            small: true,
            ..ProbesOptions::default()
        };
        let mut probes = Probes::load(Layout::default(), options).unwrap();
        let map = probes.ebpf.map_mut("DRIVER_STARTS").unwrap();
        let mut map: HashMap<_, u64, CallStart> = HashMap::try_from(map).unwrap();
        for id in [7_u64, 8] {
            map.insert(id, CallStart::default(), 0).unwrap();
        }
        probes.forget_gone_threads(|id| id == 8);
        let left = probes.entries::<u64, CallStart>("DRIVER_STARTS");
        assert_eq!(left.into_keys().collect::<Vec<_>>(), [8]);
    }
}
