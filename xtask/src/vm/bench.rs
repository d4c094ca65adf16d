//! `cargo xtask bench driver-ioctl`: what probing a driver call adds to it, beside bpftrace, in a
//! machine with the stub of the driver.

use std::ops::ControlFlow;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use gtrace_vm_tests::scenario::{Scenario, bench_rounds};

use super::machine::Boot;
use super::session::{self, Progress, Verdict};
use super::{Base, LOGS, build, cache, kernel, programs};
use crate::context::{Context, Profile};
use crate::packages;
use crate::shell::{self, step};

/// gtrace's added cost is to be at most this share of bpftrace's.
const BUDGET: f64 = 0.9;

/// How long the measurement on one kernel may take.
const LIMIT: Duration = Duration::from_secs(60 * 60);

/// Where the figures are kept, from the repository's root.
const RESULTS: &str = "bench/driver-ioctl.md";

/// One kernel's figures by name, nanoseconds a call and their ratio.
#[derive(Clone, Debug, Default, PartialEq)]
struct Figures {
    bare: f64,
    traps: f64,
    gtrace: f64,
    bpftrace: f64,
    ratio: f64,
}

impl Figures {
    /// Takes a note of the guest: `figure ratio 0.61`. Other notes are none of its business.
    fn take(&mut self, note: &str) -> Option<()> {
        let mut words = note.strip_prefix("figure ")?.split(' ');
        let (name, value) = (words.next()?, words.next()?.parse().ok()?);
        *match name {
            "bare_ns" => &mut self.bare,
            "traps_added_ns" => &mut self.traps,
            "gtrace_added_ns" => &mut self.gtrace,
            "bpftrace_added_ns" => &mut self.bpftrace,
            "ratio" => &mut self.ratio,
            _ => return None,
        } = value;
        Some(())
    }

    fn row(&self, kernel: &str) -> String {
        let verdict = if self.ratio <= BUDGET {
            "met"
        } else {
            "missed"
        };
        format!(
            "| {kernel} | {:.0} ns | {:.0} ns | {:.0} ns | {:.0} ns | {:.2} | {BUDGET} | {verdict} |",
            self.bare, self.traps, self.gtrace, self.bpftrace, self.ratio
        )
    }
}

/// Runs it on every default kernel. A missed budget is said and is no error.
pub(crate) fn driver_ioctl(context: &Context, long: bool, write: bool) -> Result<()> {
    programs(context)?;
    if !shell::in_path("bpftrace") {
        packages::ensure(&["bpftrace"], "bpftrace is what the cost is compared with")?;
    }
    let all = build(context, Profile::Release)?;
    let selected: Vec<_> = all
        .iter()
        .filter(|case| case.scenario == Scenario::Bench)
        .collect();
    let cache = cache(context)?;
    let bases = kernel::DEFAULT_LINES
        .iter()
        .map(|line| Base::ensure(context, &cache, line))
        .collect::<Result<Vec<_>>>()?;
    let mut table = String::from(
        "| kernel | bare call | added by two empty probes | by gtrace | by bpftrace | ratio | budget | |\n\
         |---|---|---|---|---|---|---|---|\n",
    );
    for base in &bases {
        let line = &base.kernel.line;
        let image = base.image(context, &cache, Profile::Release, &[])?;
        step(format!("measuring on kernel {}", base.kernel.key));
        let console = cache.dir.join(LOGS).join(format!("{line}-bench.log"));
        let machine = Boot {
            kernel: &base.kernel,
            image: &image,
            scenario: Scenario::Bench,
            console: &console,
            long,
            in_turns: false,
            share: Some(Path::new("/")),
            deadline: Instant::now() + LIMIT,
        };
        let mut figures = Figures::default();
        let mut failure = None;
        let booted = session::boot(&machine, &selected, &mut |progress| {
            match progress {
                Progress::Note { text, .. } => {
                    if figures.take(&text).is_none() {
                        println!("     {line}: {text}");
                    }
                }
                Progress::Over { verdict, .. } | Progress::BadEnd(verdict) => match verdict {
                    Verdict::Passed => {}
                    Verdict::Failed(why) | Verdict::Skipped(why) => failure = Some(why),
                    Verdict::Died { message, .. } => failure = Some(message),
                },
            }
            ControlFlow::Continue(())
        })?;
        if let Some(why) = booted.err().or(failure) {
            bail!("no measurement on kernel {line}: {why}");
        }
        table.push_str(&figures.row(&base.kernel.key));
        table.push('\n');
    }
    println!("\n{table}");
    if write {
        let text = format!("{}{table}", heading(long));
        std::fs::write(context.root.join(RESULTS), text)
            .with_context(|| format!("cannot write {RESULTS}"))?;
        step(format!("wrote {RESULTS}"));
    }
    Ok(())
}

fn heading(long: bool) -> String {
    let rounds = bench_rounds(long);
    format!(
        "# Cost of a probed driver call\n\n\
         Written by `cargo xtask bench driver-ioctl{} -- --write`. RM_CONTROL on the stub of the \
         NVIDIA driver, in an emulated machine (QEMU, no hardware acceleration): **only the ratio \
         means something**. {rounds} rounds of bare, gtrace, bpftrace in turn; a round is the \
         fastest of 7 times 3,000 calls, a figure the median of rounds. Both decode device, control \
         command and NV_STATUS and keep a histogram by process and operation; gtrace's has 896 \
         buckets, bpftrace's one an octave. Each counted every call. The ratio is gtrace's added cost \
         to bpftrace's.\n\n",
        if long { " --long" } else { "" }
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_taken_from_notes() {
        let mut figures = Figures::default();
        assert_eq!(figures.take("figure ratio 0.61"), Some(()));
        assert_eq!(figures.take("round 1 of 3"), None);
        assert_eq!(figures.take("figure unknown 1"), None);
        assert!(figures.row("6.12").contains("| 0.61 | 0.9 | met |"));
    }
}
