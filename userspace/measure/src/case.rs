//! What is measured.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One kind of call, or a fixed sequence of calls.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Case {
    /// `cuMemGetInfo`: a question that only the server can answer, and that asks nothing of the GPU.
    Query,
    /// `cuLaunchKernel` of an empty kernel, until the call returns.
    Launch,
    /// `cuLaunchKernel` and `cuCtxSynchronize`.
    LaunchSync,
    /// `cuGraphLaunch` of a graph of [`Case::GRAPH_NODES`] empty kernels, and `cuStreamSynchronize`.
    Graph,
    /// The calls of a recorded program, see [`Step`](crate::Step), all together.
    Replay,
    /// `cuMemcpyHtoD` of so many bytes from pageable memory, and `cuCtxSynchronize`.
    ToDevice(u64),
    /// `cuMemcpyDtoH` of so many bytes to pageable memory.
    ToHost(u64),
    /// `cuMemcpyHtoDAsync` of so many bytes from page-locked memory, and `cuStreamSynchronize`.
    LockedToDevice(u64),
    /// `cuMemcpyDtoHAsync` of so many bytes to page-locked memory, and `cuStreamSynchronize`.
    LockedToHost(u64),
}

impl Case {
    /// Kernels of the graph.
    pub const GRAPH_NODES: usize = 16;

    /// Bytes that it copies.
    pub const fn bytes(self) -> Option<u64> {
        match self {
            Self::ToDevice(bytes)
            | Self::ToHost(bytes)
            | Self::LockedToDevice(bytes)
            | Self::LockedToHost(bytes) => Some(bytes),
            _ => None,
        }
    }

    /// Without the size.
    pub const fn family(self) -> &'static str {
        match self {
            Self::Query => "query",
            Self::Launch => "launch",
            Self::LaunchSync => "launch+sync",
            Self::Graph => "graph",
            Self::Replay => "replay",
            Self::ToDevice(_) => "to device",
            Self::ToHost(_) => "to host",
            Self::LockedToDevice(_) => "locked to device",
            Self::LockedToHost(_) => "locked to host",
        }
    }

    /// Fewest bytes that are copied with page-locked memory: fewer cost what they cost with pageable memory.
    const LOCKED: u64 = 64 << 10;

    /// Copies both ways of 1 byte to `most`, in powers of 4.
    pub fn copies(most: u64) -> Vec<Self> {
        let sizes = || {
            std::iter::successors(Some(1u64), |bytes| bytes.checked_mul(4))
                .take_while(move |bytes| *bytes <= most)
        };
        let locked = || sizes().filter(|bytes| *bytes >= Self::LOCKED);
        sizes()
            .map(Self::ToDevice)
            .chain(sizes().map(Self::ToHost))
            .chain(locked().map(Self::LockedToDevice))
            .chain(locked().map(Self::LockedToHost))
            .collect()
    }
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.family())?;
        let Some(bytes) = self.bytes() else {
            return Ok(());
        };
        const UNITS: [(u64, &str); 3] = [(1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
        match UNITS
            .iter()
            .find(|(unit, _)| bytes >= *unit && bytes % unit == 0)
        {
            Some((unit, name)) => write!(f, " {} {name}", bytes / unit),
            None => write!(f, " {bytes} B"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_go_both_ways_up_to_the_largest() {
        let copies = Case::copies(1 << 20);
        assert_eq!(copies.len(), 28);
        assert_eq!(copies[10].to_string(), "to device 1 MiB");
        assert_eq!(copies[11].to_string(), "to host 1 B");
        assert_eq!(copies[22].to_string(), "locked to device 64 KiB");
        assert_eq!(copies[27].to_string(), "locked to host 1 MiB");
        assert_eq!(Case::copies(1 << 30).len(), 48);
        assert!(Case::copies(0).is_empty());
    }

    #[test]
    fn a_case_comes_back_from_json() {
        for case in [Case::Query, Case::LaunchSync, Case::ToHost(4096)] {
            let text = serde_json::to_string(&case).unwrap();
            assert_eq!(serde_json::from_str::<Case>(&text).unwrap(), case);
        }
    }
}
