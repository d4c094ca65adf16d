//! What tracing adds to a call on a watched device, on another device, and to other calls.

use std::fs::File;
use std::os::fd::AsFd as _;

use super::Context;
use crate::bpftrace::Bpftrace;
use crate::daemon::Daemon;
use crate::ioctl_load::{REQUEST, TRACED, other_device, time_each, traced_device};
use crate::report::{Figure, Report};
use crate::stats::Samples;
use crate::sys;

const BUDGET_RATIO: f64 = 0.9;
/// Parts of one measurement; the fastest counts, so that an interruption does not.
const PARTS: u32 = 5;

/// Nanoseconds of one call, by kind of call.
#[derive(Clone, Copy, Debug)]
struct Costs {
    traced: f64,
    other: f64,
    getppid: f64,
}

#[derive(Debug, Default)]
struct Rounds {
    bare: Vec<Costs>,
    gtrace: Vec<Costs>,
    bpftrace: Vec<Costs>,
}

pub(super) fn run(context: &Context) -> anyhow::Result<Report> {
    let rounds = context.pick(1, 7, 15);
    let calls = context.pick(20_000, 100_000, 200_000);
    let mut report = Report::new(
        "ioctl-cost",
        format!(
            "nanoseconds a call, {rounds} rounds of bare, gtrace, bpftrace in turn; a round is \
             the fastest of {PARTS} times {calls} calls, a figure the median of rounds"
        ),
    );
    let bench = Bench {
        device: traced_device()?,
        null: other_device()?,
        calls,
    };
    let daemon = Daemon::start(context, &["--devices", TRACED])?;
    daemon
        .source("syscalls:ioctl")?
        .map_err(anyhow::Error::msg)?;
    let mut result = Rounds::default();
    let mut filter = None;
    for round in 1..=rounds {
        context.say(&format!("round {round} of {rounds}"));
        daemon.pause(true)?;
        result.bare.push(bench.measure());
        daemon.pause(false)?;
        result.gtrace.push(bench.measure());
        daemon.pause(true)?;
        if let Some(bpftrace) = Bpftrace::start()? {
            result.bpftrace.push(bench.measure());
            filter = Some(bpftrace.filter);
        }
        daemon.pause(false)?;
    }
    match filter {
        Some(filter) => report.note(format!(
            "{} filters by {filter} and keys its histogram by process; gtrace keys by process, \
             request and device, and counts errors",
            Bpftrace::version().unwrap_or_default()
        )),
        None => report.note("bpftrace is not installed, so there is no peer"),
    }
    result.push_to(&mut report);
    Ok(report)
}

struct Bench {
    device: File,
    null: File,
    calls: u32,
}

impl Bench {
    fn measure(&self) -> Costs {
        let ioctl = |file: &File| {
            let fd = file.as_fd();
            self.fastest(|| sys::ioctl(fd, REQUEST))
        };
        Costs {
            traced: ioctl(&self.device),
            other: ioctl(&self.null),
            getppid: self.fastest(sys::getppid),
        }
    }

    fn fastest(&self, mut call: impl FnMut()) -> f64 {
        time_each(self.calls / 10, &mut call);
        (0..PARTS)
            .map(|_| time_each(self.calls, &mut call))
            .fold(f64::INFINITY, f64::min)
    }
}

type Part = fn(&Costs) -> f64;
const PARTS_OF_COSTS: [(&str, Part); 3] = [
    ("ioctl on a traced device", |c| c.traced),
    ("ioctl on another device", |c| c.other),
    ("getppid", |c| c.getppid),
];

impl Rounds {
    fn push_to(&self, report: &mut Report) {
        for (name, part) in PARTS_OF_COSTS {
            let of = |costs: &[Costs]| costs.iter().map(part).collect::<Samples>();
            let bare = of(&self.bare);
            report.push(Figure::median(format!("{name}, bare"), &bare, "ns"));
            for (who, costs) in [("gtrace", &self.gtrace), ("bpftrace", &self.bpftrace)] {
                if costs.is_empty() {
                    continue;
                }
                let figure = Figure::median(format!("{name}, {who}"), &of(costs), "ns");
                let added = figure.value() - bare.median();
                report.push(figure.with("added", added).beside("bare", bare.median()));
            }
        }
        if !self.bpftrace.is_empty() {
            for (name, part) in PARTS_OF_COSTS {
                let ratio = self.added(&self.gtrace, part) / self.added(&self.bpftrace, part);
                let figure = Figure::new(format!("added to {name}, gtrace to bpftrace"), ratio, "");
                // The budget is on what both do.
                let budget = name == PARTS_OF_COSTS[0].0;
                report.push(if budget {
                    figure.budget(BUDGET_RATIO)
                } else {
                    figure
                });
            }
        }
    }

    /// Median over the rounds of what was added to the bare call of the same round.
    fn added(&self, costs: &[Costs], part: Part) -> f64 {
        let pairs = costs.iter().zip(&self.bare);
        pairs
            .map(|(with, bare)| part(with) - part(bare))
            .collect::<Samples>()
            .median()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_added_is_taken_round_by_round() {
        let costs = |traced| Costs {
            traced,
            other: 1.0,
            getppid: 1.0,
        };
        let rounds = Rounds {
            bare: vec![costs(100.0), costs(200.0), costs(300.0)],
            gtrace: vec![costs(150.0), costs(260.0), costs(340.0)],
            bpftrace: vec![costs(200.0), costs(300.0), costs(400.0)],
        };
        assert_eq!(rounds.added(&rounds.gtrace, |c| c.traced), 50.0);
        let mut report = Report::new("ioctl-cost", "");
        rounds.push_to(&mut report);
        assert!(
            report
                .text()
                .contains("0.556 x the budget of 0.900: within budget")
        );
    }
}
