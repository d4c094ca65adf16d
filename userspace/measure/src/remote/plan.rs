//! How much is measured.

use crate::{Case, Limits, Plan, Step};

/// Largest copy without `--full`, bytes.
const COPY: u64 = 64 << 20;
/// With it.
const COPY_FULL: u64 = 1 << 30;
/// With `--short`.
const COPY_SHORT: u64 = 1 << 16;

/// How much is measured, for one link.
#[derive(Clone, Copy, Debug)]
pub struct Extent {
    /// Most calls of a case.
    calls: u64,
    /// Longest time of a case, ms.
    time_ms: u64,
    /// Largest copy, bytes.
    most: u64,
    /// Bytes of a stream.
    pub stream: u64,
    /// Streams, of which the quickest counts.
    pub streams: u32,
    /// Calls a second.
    rate: Option<f64>,
}

impl Extent {
    /// As the options say.
    pub const fn new(short: bool, full: bool, rate: Option<f64>) -> Self {
        match (short, full) {
            (true, _) => Self {
                calls: 300,
                time_ms: 150,
                most: COPY_SHORT,
                stream: 4 << 20,
                streams: 1,
                rate,
            },
            (_, full) => Self {
                calls: 20_000,
                time_ms: if full { 5_000 } else { 1_000 },
                most: if full { COPY_FULL } else { COPY },
                stream: 64 << 20,
                streams: 5,
                rate,
            },
        }
    }

    /// The cases in their order.
    pub fn cases(&self, replay: bool) -> Vec<Case> {
        let mut all = vec![Case::Query, Case::Launch, Case::LaunchSync, Case::Graph];
        all.extend(replay.then_some(Case::Replay));
        all.extend(Case::copies(self.most));
        all
    }

    /// The plan of a case; `steps` are those of a recorded program.
    pub fn plan(&self, case: Case, steps: &[Step]) -> Plan {
        Plan {
            case,
            calls: self.calls,
            time_ms: self.time_ms,
            // A rate of single calls is none of whole programs.
            rate: self.rate.filter(|_| case != Case::Replay),
            steps: match case {
                Case::Replay => steps.to_vec(),
                _ => Vec::new(),
            },
        }
    }

    /// The limits of an exchange.
    pub const fn exchanges(&self) -> Limits {
        Limits {
            calls: self.calls,
            time: std::time::Duration::from_millis(self.time_ms),
            rate: self.rate,
            pause_every: None,
        }
    }
}
