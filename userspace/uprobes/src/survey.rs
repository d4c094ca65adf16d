//! What uprobes are like on this kernel, found out by using them on gtrace itself.

use std::fmt;

use crate::calibrate::TrapCost;
use crate::load::{Options, TraceError};
use crate::tracer::Tracer;
use crate::way::Way;

/// The best way that works, and what it costs.
#[derive(Clone, Debug, PartialEq)]
pub struct Survey {
    /// The way.
    pub way: Way,
    /// Better ways, with why they are not taken.
    pub refused: Vec<(Way, String)>,
    /// What a probe costs.
    pub trap: TrapCost,
    /// Whether the kernel leaves other processes alone where one is traced.
    pub others_unaffected: bool,
}

/// Loads the programs, attaches them to functions of this process and takes them away.
///
/// # Errors
///
/// If no way works, with why each does not.
pub fn survey() -> Result<Survey, TraceError> {
    let tracer = Tracer::load(Options {
        histograms: 1,
        allocations: 1,
        ring_bytes: 4096,
        ..Options::new(Some(std::process::id()), Vec::new())
    })?;
    Ok(Survey {
        way: tracer.way(),
        refused: tracer.refused().to_vec(),
        trap: *tracer.trap(),
        others_unaffected: tracer.others_unaffected(),
    })
}

impl fmt::Display for Survey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let trap = &self.trap;
        write!(
            f,
            "{}: a traced call costs {:.1} us more, {:.1} us where the probed instruction is \
             single-stepped; of that, {:.1} us and {:.1} us would be seen as the call's own, and are taken \
             off its latency",
            self.way.name(),
            trap.emulated_ns / 1e3,
            trap.single_stepped_ns / 1e3,
            trap.seen_emulated_ns / 1e3,
            trap.seen_single_stepped_ns / 1e3,
        )?;
        for (way, why) in &self.refused {
            write!(f, "; not {} ({}): {why}", way.name(), way.since())?;
        }
        if self.way == Way::Single {
            write!(f, "; {} functions at most", Way::MOST_SINGLE)?;
        }
        if !self.others_unaffected {
            f.write_str("; all processes with the same library pay")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_way_comes_first_and_what_is_missing_is_said() {
        let survey = Survey {
            way: Way::Single,
            refused: vec![
                (Way::Session, "no".to_owned()),
                (Way::Multi, "nor".to_owned()),
            ],
            trap: TrapCost {
                emulated_ns: 1234.0,
                single_stepped_ns: 20_000.0,
                seen_emulated_ns: 600.0,
                seen_single_stepped_ns: 10_000.0,
                ..TrapCost::default()
            },
            others_unaffected: false,
        };
        assert_eq!(
            survey.to_string(),
            "single uprobes: a traced call costs 1.2 us more, 20.0 us where the probed instruction \
             is single-stepped; of that, 0.6 us and 10.0 us would be seen as the call's own, and are taken off \
             its latency; not uprobe.session (Linux 6.13): no; not uprobe.multi \
             (Linux 6.6): nor; 16 functions at most; all processes with the same library pay"
        );
    }
}
