//! GPUs that gave no answer while others may: each is left out for a while and then asked last, so that it holds up no
//! other.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use gtrace_event::PciAddress;

use super::config::NvmlConfig;
use super::protocol::{Asked, NvmlGpu, NvmlSnapshot, UnreadableGpu};

/// Which GPUs do not answer, by NVML's index.
#[derive(Debug, Default)]
pub(super) struct SilentGpus {
    silent: BTreeMap<u32, Silent>,
    /// Where the GPUs sit that were read.
    known: BTreeMap<u32, PciAddress>,
}

#[derive(Debug)]
struct Silent {
    due: Instant,
    wait: Duration,
    reason: String,
}

impl SilentGpus {
    /// Which are left out now, and which are to be asked again.
    pub(super) fn left_out_and_due(&self) -> (Vec<u32>, Vec<u32>) {
        let now = Instant::now();
        self.silent
            .keys()
            .copied()
            .partition(|index| self.silent[index].due > now)
    }

    /// Whether NVML counts a GPU that may answer, beside the one that is asked.
    pub(super) fn leave_others(&self, asked: Asked) -> bool {
        (0..asked.count).any(|index| index != asked.index && !self.silent.contains_key(&index))
    }

    /// That GPU gave no answer, for `reason`.
    pub(super) fn add(&mut self, index: u32, reason: &str, config: &NvmlConfig) {
        let (first, longest) = match self.known.contains_key(&index) {
            true => (config.retry.1, config.retry.1),
            false => config.retry_start,
        };
        let before = self.silent.get(&index);
        let wait = before.map_or(first, |silent| (silent.wait * 2).min(longest));
        let silent = Silent {
            due: Instant::now() + wait,
            wait,
            reason: format!("{reason}; it is left alone for {wait:?}"),
        };
        self.silent.insert(index, silent);
    }

    /// That GPU was read.
    pub(super) fn read(&mut self, gpu: &NvmlGpu) {
        self.silent.remove(&gpu.index);
        let before = self.known.insert(gpu.index, gpu.pci);
        if before.is_some_and(|before| before != gpu.pci) {
            // NVML counts anew, as a GPU has come or gone.
            self.silent.clear();
            self.known.clear();
        }
    }

    /// That GPU was asked, and NVML said why it cannot be read.
    pub(super) fn refused(&mut self, index: u32) {
        self.silent.remove(&index);
    }

    /// Nothing is known any more.
    pub(super) fn clear(&mut self) {
        self.silent.clear();
        self.known.clear();
    }

    /// Adds them to what the others said.
    pub(super) fn complete(&self, snapshot: &mut NvmlSnapshot) {
        let silent = self.silent.iter().map(|(&index, silent)| UnreadableGpu {
            index,
            pci: self.known.get(&index).copied(),
            silent: true,
            lost: false,
            error: silent.reason.clone(),
        });
        snapshot.unreadable.extend(silent);
        snapshot.unreadable.sort_by_key(|gpu| gpu.index);
        snapshot.gpus.sort_by_key(|gpu| gpu.index);
    }

    /// Which do not answer, in words.
    pub(super) fn reason(&self) -> Option<String> {
        let reasons: Vec<_> = self
            .silent
            .iter()
            .map(|(index, silent)| {
                let at = self.known.get(index);
                let at = at.map_or_else(String::new, |pci| format!(" ({pci})"));
                format!("GPU {index}{at}: {}", silent.reason)
            })
            .collect();
        (!reasons.is_empty()).then(|| reasons.join("; "))
    }
}
