//! The calls of a recorded program, made again by name.
//!
//! What is kept is which functions were called, in which order, and how many bytes they moved. What is not: kernels,
//! which are replaced by an empty one, graphs, by one of [`Case::GRAPH_NODES`](crate::Case::GRAPH_NODES) of them, streams
//! and threads, which become one, and addresses.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::libcuda::{Driver, Empty, Event, Graph};
use crate::{Case, MeasureError, random};

/// A call that is made again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Step {
    /// `cuMemGetInfo`.
    Query,
    /// `cuLaunchKernel` and its like.
    Launch,
    /// `cuGraphLaunch`.
    Graph,
    /// `cuCtxSynchronize`.
    ContextSynchronize,
    /// `cuStreamSynchronize`.
    StreamSynchronize,
    /// `cuStreamQuery`.
    StreamQuery,
    /// `cuEventRecord`.
    EventRecord,
    /// `cuEventSynchronize`.
    EventSynchronize,
    /// `cuEventQuery`.
    EventQuery,
    /// `cuMemcpyHtoD` of so many bytes.
    ToDevice(u64),
    /// `cuMemcpyHtoDAsync`.
    ToDeviceAsync(u64),
    /// `cuMemcpyDtoH`.
    ToHost(u64),
    /// `cuMemcpyDtoHAsync`.
    ToHostAsync(u64),
    /// `cuMemcpyDtoDAsync`, for the synchronous one as well: neither waits for the device.
    OnDevice(u64),
    /// `cuMemsetD8Async` of so many bytes, for all widths.
    Fill(u64),
    /// `cuMemAlloc` of so many bytes.
    Allocate(u64),
    /// `cuMemFree` of the oldest allocation, if there is one.
    Free,
}

impl Step {
    /// What is made of a call; `None` if it is left out. `bytes` is what it moved or allocated, where that was recorded.
    pub fn of(function: &str, bytes: Option<u64>) -> Option<Self> {
        let name = function
            .trim_end_matches("_ptsz")
            .trim_end_matches("_ptds")
            .trim_end_matches("_v2");
        let bytes = bytes.filter(|bytes| *bytes > 0);
        Some(match name {
            "cuMemGetInfo" => Self::Query,
            "cuLaunchKernel" | "cuLaunchKernelEx" | "cuLaunchCooperativeKernel" => Self::Launch,
            "cuGraphLaunch" => Self::Graph,
            "cuCtxSynchronize" => Self::ContextSynchronize,
            "cuStreamSynchronize" => Self::StreamSynchronize,
            "cuStreamQuery" => Self::StreamQuery,
            "cuEventRecord" | "cuEventRecordWithFlags" => Self::EventRecord,
            "cuEventSynchronize" => Self::EventSynchronize,
            "cuEventQuery" => Self::EventQuery,
            "cuMemcpyHtoD" => Self::ToDevice(bytes?),
            "cuMemcpyHtoDAsync" => Self::ToDeviceAsync(bytes?),
            "cuMemcpyDtoH" => Self::ToHost(bytes?),
            "cuMemcpyDtoHAsync" => Self::ToHostAsync(bytes?),
            "cuMemcpyDtoD" | "cuMemcpyDtoDAsync" => Self::OnDevice(bytes?),
            "cuMemsetD8" | "cuMemsetD16" | "cuMemsetD32" | "cuMemsetD8Async"
            | "cuMemsetD16Async" | "cuMemsetD32Async" => Self::Fill(bytes?),
            "cuMemAlloc" | "cuMemAllocAsync" => Self::Allocate(bytes?),
            "cuMemFree" | "cuMemFreeAsync" => Self::Free,
            _ => return None,
        })
    }

    /// Bytes of the program's memory or the device's that it needs a place for.
    const fn copied(self) -> u64 {
        match self {
            Self::ToDevice(bytes)
            | Self::ToDeviceAsync(bytes)
            | Self::ToHost(bytes)
            | Self::ToHostAsync(bytes)
            | Self::OnDevice(bytes)
            | Self::Fill(bytes) => bytes,
            _ => 0,
        }
    }

    /// Device memory that the steps need at most at a time, bytes.
    pub fn device_bytes(steps: &[Self]) -> u64 {
        let copied = steps.iter().map(|step| step.copied()).max().unwrap_or(0);
        let (mut now, mut most) = (0u64, 0u64);
        let mut live = std::collections::VecDeque::new();
        for step in steps {
            match step {
                Self::Allocate(bytes) => {
                    live.push_back(*bytes);
                    now = now.saturating_add(*bytes);
                }
                Self::Free => now -= live.pop_front().unwrap_or(0),
                _ => {}
            }
            most = most.max(now);
        }
        copied.saturating_mul(2).saturating_add(most)
    }
}

/// The steps with all that they need.
pub(crate) struct Replay<'a> {
    driver: &'a Driver,
    steps: &'a [Step],
    kernel: Empty,
    graph: Option<Graph>,
    event: Event,
    /// Two places on the device, and one here, as large as the largest copy.
    memory: [u64; 2],
    host: Vec<u8>,
    live: std::collections::VecDeque<u64>,
}

impl<'a> Replay<'a> {
    pub(crate) fn new(driver: &'a Driver, steps: &'a [Step]) -> Result<Self, MeasureError> {
        let bytes = steps.iter().map(|step| step.copied()).max().unwrap_or(0);
        let bytes = usize::try_from(bytes.max(1)).unwrap_or(usize::MAX);
        let kernel = driver.empty()?;
        let graph = match steps.contains(&Step::Graph) {
            true => Some(driver.graph(kernel, Case::GRAPH_NODES)?),
            false => None,
        };
        Ok(Self {
            driver,
            steps,
            kernel,
            graph,
            event: driver.event()?,
            memory: [driver.allocate(bytes)?, driver.allocate(bytes)?],
            host: random::bytes(1, bytes),
            live: std::collections::VecDeque::new(),
        })
    }

    /// All steps once, and the end of what they have begun.
    pub(crate) fn once(&mut self) -> Result<(), MeasureError> {
        for step in self.steps {
            self.step(*step)?;
        }
        self.driver.synchronize()?;
        while let Some(address) = self.live.pop_front() {
            self.driver.free(address)?;
        }
        Ok(())
    }

    fn step(&mut self, step: Step) -> Result<(), MeasureError> {
        let driver = self.driver;
        let [first, second] = self.memory;
        // Each is at most as large as the places.
        let length = |bytes: u64| usize::try_from(bytes).unwrap_or(usize::MAX);
        match step {
            Step::Query => driver.free_bytes().map(drop),
            Step::Launch => driver.launch(self.kernel),
            Step::Graph => match self.graph {
                Some(graph) => driver.launch_graph(graph),
                None => Ok(()),
            },
            Step::ContextSynchronize => driver.synchronize(),
            Step::StreamSynchronize => driver.synchronize_stream(),
            Step::StreamQuery => driver.query_stream(),
            Step::EventRecord => driver.record(self.event),
            Step::EventSynchronize => driver.synchronize_event(self.event),
            Step::EventQuery => driver.query_event(self.event),
            Step::ToDevice(bytes) => driver.to_device(first, &self.host[..length(bytes)]),
            Step::ToDeviceAsync(bytes) => {
                driver.to_device_async(first, &self.host[..length(bytes)])
            }
            Step::ToHost(bytes) => driver.to_host(&mut self.host[..length(bytes)], first),
            Step::ToHostAsync(bytes) => {
                driver.to_host_async(&mut self.host[..length(bytes)], first)
            }
            Step::OnDevice(bytes) => driver.on_device(second, first, length(bytes)),
            Step::Fill(bytes) => driver.fill(second, length(bytes)),
            Step::Allocate(bytes) => {
                self.live.push_back(driver.allocate(length(bytes))?);
                Ok(())
            }
            Step::Free => match self.live.pop_front() {
                Some(address) => driver.free(address),
                None => Ok(()),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_known_by_name_whatever_their_version() {
        assert_eq!(
            Step::of("cuMemcpyHtoDAsync_v2_ptsz", Some(64)),
            Some(Step::ToDeviceAsync(64))
        );
        assert_eq!(Step::of("cuLaunchKernel_ptsz", None), Some(Step::Launch));
        assert_eq!(
            Step::of("cuMemAlloc_v2", Some(1 << 20)),
            Some(Step::Allocate(1 << 20))
        );
        assert_eq!(
            Step::of("cuMemcpyHtoD_v2", None),
            None,
            "nobody knows how much"
        );
        assert_eq!(Step::of("cuModuleLoadData", None), None);
    }

    #[test]
    fn the_memory_that_steps_need_is_what_lives_at_a_time() {
        let steps = [
            Step::Allocate(100),
            Step::Free,
            Step::Free,
            Step::Allocate(50),
            Step::Allocate(70),
            Step::ToHost(10),
        ];
        assert_eq!(Step::device_bytes(&steps), 120 + 20);
        assert_eq!(Step::device_bytes(&[]), 0);
    }
}
