//! What it costs that a connection which breaks is replaced by another one, where none breaks: the same client with
//! `--resume 0` and without, in turns.

use gtrace_e2e::server::Via;

use crate::remote::BULK;
use crate::remote::client::Found;
use crate::report::{Figure, Report};
use crate::stats::Samples;

/// What may be added, as multiples of the same without.
const QUERY: f64 = 1.01;
const LAUNCH: f64 = 1.03;
const COPY: f64 = 1.03;

/// Links whose connections are replaced.
const LINKS: [Via; 2] = [Via::Tcp, Via::Unix];
const OFF: &[&str] = &["--resume", "0"];

/// What was measured on a link.
#[derive(Default)]
struct Pair {
    with: Vec<Found>,
    without: Vec<Found>,
}

#[derive(Default)]
pub(super) struct Resume {
    links: [Pair; 2],
}

impl Resume {
    /// Each link with and without, by `client`, which takes options of `gtrace exec`; who is first changes with the round.
    pub(super) fn round(
        &mut self,
        round: usize,
        client: impl Fn(Via, &[&str]) -> anyhow::Result<Found>,
    ) -> anyhow::Result<()> {
        for (via, pair) in LINKS.into_iter().zip(&mut self.links) {
            if round.is_multiple_of(2) {
                pair.without.push(client(via, OFF)?);
                pair.with.push(client(via, &[])?);
            } else {
                pair.with.push(client(via, &[])?);
                pair.without.push(client(via, OFF)?);
            }
        }
        Ok(())
    }

    pub(super) fn figures(&self, report: &mut Report) {
        type Of = fn(&Found) -> f64;
        let bulk = BULK >> 20;
        let rows: [(String, &str, f64, f64, Of); 4] = [
            ("cuMemGetInfo, p50".into(), "us", QUERY, 1.0, |f| f.query),
            (
                "cuLaunchKernel, until done".into(),
                "us",
                LAUNCH,
                1.0,
                |f| f.launch_done,
            ),
            (format!("{bulk} MiB to the device"), "ms", COPY, 1e-3, |f| {
                f.to_device
            }),
            (format!("{bulk} MiB to the host"), "ms", COPY, 1e-3, |f| {
                f.to_host
            }),
        ];
        for (via, pair) in LINKS.into_iter().zip(&self.links) {
            for (name, unit, budget, scale, of) in &rows {
                let samples = |found: &[Found]| -> Samples {
                    found.iter().map(|found| of(found) * scale).collect()
                };
                let without = samples(&pair.without).median();
                let name = format!("{name} over {} that may break", via.name());
                report.push(
                    Figure::median(name, &samples(&pair.with), unit)
                        .beside("with --resume 0", without)
                        .budget(without * budget),
                );
            }
        }
    }
}
