//! Agents whose clock is wrong, and readings that show when they were taken.
#![allow(unreachable_pub, reason = "shared by tests and benchmarks")]

use std::sync::Arc;

use gtrace_agent::{Measured, Options, Read, Sampled, Sampler, Wanted, now_ns};
use gtrace_fleet::GpuFrame;

const MS: i64 = 1_000_000;

/// The clock of a host that is wrong by `offset` from a common beginning on, and by `ppm` millionths more as time goes on.
#[derive(Clone, Copy)]
pub struct Skewed {
    pub began: i64,
    pub offset: i64,
    pub ppm: i64,
}

impl Skewed {
    fn of(self, truth: i64) -> i64 {
        truth + self.offset + (truth - self.began) / 1_000_000 * self.ppm
    }

    /// Gives it to an agent, with true times to be read.
    pub fn give(self, options: &mut Options) -> Option<Box<dyn Sampler>> {
        options.clock = Arc::new(move || self.of(now_ns()));
        Some(Box::new(TrueTimes {
            clock: self,
            every_ns: None,
            next: 0,
        }))
    }
}

/// Readings whose power is the true time in ms since the beginning: a frame shows whether it has the right ones.
struct TrueTimes {
    clock: Skewed,
    every_ns: Option<i64>,
    next: i64,
}

impl Sampler for TrueTimes {
    fn want(&mut self, wanted: Option<&Wanted>) {
        if wanted.is_some() && self.every_ns.is_none() {
            self.next = now_ns();
        }
        self.every_ns = wanted.map(|wanted| i64::from(wanted.every_ms) * MS);
    }

    fn take(&mut self, _: i64) -> Sampled {
        let mut sampled = Sampled::default();
        let now = now_ns();
        while let Some(every) = self.every_ns
            && self.next < now
        {
            let gpu = GpuFrame {
                name: "true times".to_owned(),
                utilization: Some(0.5),
                memory: Some(0.25),
                pcie_rx: Some(1e9),
                pcie_tx: Some(1e9),
                power_w: Some((self.next - self.clock.began) as f64 / MS as f64),
                ..GpuFrame::default()
            };
            sampled.readings.push(Measured {
                time_ns: self.clock.of(self.next),
                read: Read::Gpu(gpu),
            });
            self.next += every;
        }
        sampled
    }
}
