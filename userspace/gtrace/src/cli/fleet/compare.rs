//! `gtrace fleet compare`: whether hosts with one version fail more than hosts with another; a gate for rollouts.

use gtrace_api::client::target;
use gtrace_fleet::cohort::{Cohort, Comparison, Verdict};

use super::super::shared::{self, Exit};
use super::Asked;
use crate::render;

/// Which versions are compared.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct Compare {
    /// By what hosts differ: driver, kernel, vbios, firmware, or a label.
    #[arg(long, value_name = "WHAT", default_value = "driver")]
    by: String,
    /// The version that runs; without versions all are listed.
    #[arg(requires = "new")]
    old: Option<String>,
    /// The version that is to replace it.
    new: Option<String>,
    /// The new version passes where it fails less than so many times as often.
    #[arg(long, value_name = "TIMES", default_value_t = gtrace_fleet::cohort::MARGIN, requires = "old")]
    margin: f64,
    #[command(flatten)]
    asked: Asked,
}

pub(super) fn run(compare: Compare) -> anyhow::Result<Exit> {
    let Compare {
        by,
        old,
        new,
        margin,
        asked,
    } = compare;
    match old.zip(new) {
        None => list(&by, &asked),
        Some((old, new)) => {
            let margin = margin.to_string();
            let pairs = [("by", by), ("old", old), ("new", new), ("margin", margin)];
            gate(&pairs, &asked)
        }
    }
}

fn list(by: &str, asked: &Asked) -> anyhow::Result<Exit> {
    let path = target("/fleet/v1/cohorts", &[("by", by)]);
    let found: Vec<Cohort> = asked.get_finding(&path)?;
    if !asked.json && !found.is_empty() {
        shared::print(&header())?;
    }
    let nothing =
        "no version is known: agents within daemons say which GPUs there are, and what runs them";
    shared::list(asked.json, &found, line, nothing)
}

fn header() -> String {
    format!(
        "{:<32} {:>6} {:>8} {:>12} {:>12}\n",
        "VERSION", "HOSTS", "FAILURES", "GPU-HOURS", "IN 1000 H"
    )
}

fn line(cohort: &Cohort) -> String {
    format!(
        "{:<32} {:>6} {:>8} {:>12.1} {:>12.4}\n",
        render::clean(&cohort.version),
        cohort.hosts,
        cohort.failures,
        cohort.hours,
        cohort.rate
    )
}

fn gate(pairs: &[(&str, String)], asked: &Asked) -> anyhow::Result<Exit> {
    let path = target("/fleet/v1/compare", pairs);
    // 1 says that the new version is worse: a version that no host had is not that.
    let found: Comparison = asked.get_finding(&path)?;
    let exit = match found.verdict {
        Verdict::NotWorse => Exit::Success,
        Verdict::Worse => Exit::Problem,
        Verdict::Undecided => Exit::NotPossible,
    };
    shared::show(asked.json, &found, || described(&found))?;
    Ok(exit)
}

fn described(found: &Comparison) -> String {
    let mut text = header() + &line(&found.old) + &line(&found.new);
    let high = match found.high {
        Some(high) => format!("{high:.2}"),
        None => "no upper end".to_owned(),
    };
    let ratio = found
        .ratio
        .map_or("unknown".to_owned(), |r| format!("{r:.2}"));
    text += &format!(
        "ratio {ratio}, 95 % interval {:.2} to {high}; margin {:.2}\n",
        found.low, found.margin
    );
    let (old, new) = (
        render::clean(&found.old.version),
        render::clean(&found.new.version),
    );
    let margin = found.margin;
    text += &match found.verdict {
        Verdict::NotWorse => {
            format!("NOT WORSE: {new} fails less than {margin} times as often as {old}\n")
        }
        Verdict::Worse => format!("WORSE: {new} fails more often than {old}\n"),
        Verdict::Undecided => "UNDECIDED\n".to_owned(),
    };
    if let Some(why) = &found.why {
        text += &format!("    {}\n", render::clean(why));
    }
    if let Some(hours) = found.needs_hours {
        text += &format!(
            "    with about {hours:.0} GPU-hours of {new} (now {:.0}) it would be decided, if both fail alike\n",
            found.new.hours
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use gtrace_fleet::cohort::{MARGIN, compare};
    use gtrace_fleet::lemon::Exposed;

    use super::*;

    #[test]
    fn a_verdict_says_what_it_rests_on_and_what_is_missing() {
        let hosts = |n: usize, failures: u64| -> Vec<Exposed> {
            let host = |n| Exposed {
                name: format!("h{n}"),
                failures,
                hours: 1000.0,
                ..Exposed::default()
            };
            (0..n).map(host).collect()
        };
        let (many, few, worse) = (hosts(400, 1), hosts(20, 1), hosts(20, 4));
        let text = described(&compare(("535", &many), ("550", &few), MARGIN));
        assert!(text.contains("UNDECIDED\n"), "{text}");
        assert!(text.contains("GPU-hours of 550 (now 20000)"), "{text}");
        let text = described(&compare(("535", &many), ("550", &worse), MARGIN));
        assert!(
            text.contains("WORSE: 550 fails more often than 535"),
            "{text}"
        );
        let text = described(&compare(("535", &many), ("550", &many), MARGIN));
        assert!(
            text.contains("NOT WORSE: 550 fails less than 1.5 times"),
            "{text}"
        );
    }
}
