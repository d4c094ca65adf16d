//! `gtrace fleet usage`: who had GPUs for how long, how busy they were, and what that cost.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use gtrace_api::client::target;
use gtrace_event::Timestamp;
use gtrace_head::db::{UsageLine, UsageReport};
use serde::{Deserialize, Serialize};

use super::super::shared::{self, Exit, Failure};
use super::Asked;
use crate::render;

/// Which usage, and how it is added up.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct Usage {
    /// By what it is added up: owner, job, host, gpu, model, or a label such as rack.
    #[arg(long, value_name = "WHAT", default_value = "owner")]
    by: String,
    /// From the day of this time on, UTC: an age (7d), RFC 3339, or local time.
    #[arg(long, value_name = "TIME", default_value = "7d", allow_hyphen_values = true, value_parser = shared::parse_local_time)]
    since: Timestamp,
    /// To the day of this time.
    #[arg(long, value_name = "TIME", allow_hyphen_values = true, value_parser = shared::parse_end_time)]
    until: Option<shared::End>,
    /// Only of this owner, as the table names it: `user/ada`, `namespace/ml`.
    #[arg(long, value_name = "NAME")]
    owner: Option<String>,
    /// Only of this job, as the table names it: `slurm:4711`, `ml/train-0`. With `--by gpu`: where it ran.
    #[arg(long, value_name = "NAME")]
    job: Option<String>,
    /// Only of this host.
    #[arg(long, value_name = "NAME")]
    host: Option<String>,
    /// The first so many.
    #[arg(long, value_name = "N", default_value_t = 20)]
    limit: usize,
    /// Prices: a TOML file with `currency = "EUR"` and a table `[gpu_hour]` of `"H100" = 2.5`; the longest name that the model contains
    /// counts, `default` for all others.
    #[arg(long, value_name = "FILE")]
    prices: Option<PathBuf>,
    #[command(flatten)]
    asked: Asked,
}

/// What a GPU costs.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Prices {
    #[serde(default)]
    currency: String,
    gpu_hour: BTreeMap<String, f64>,
}

impl Prices {
    fn read(path: &Path) -> Result<Self, Failure> {
        let wrong = |cause: String| {
            let remedy =
                "it has `currency = \"EUR\"` and a table [gpu_hour] of lines as \"H100\" = 2.5";
            Failure::usage(format!("{}: {cause}; {remedy}", path.display()))
        };
        let text = std::fs::read_to_string(path).map_err(|e| wrong(e.to_string()))?;
        let prices: Self = toml::from_str(&text).map_err(|e| wrong(e.message().to_owned()))?;
        match prices
            .gpu_hour
            .iter()
            .find(|(_, price)| !price.is_finite() || **price < 0.0)
        {
            Some((name, price)) => Err(wrong(format!("the price of {name} is {price}"))),
            None => Ok(prices),
        }
    }

    /// What an hour of the model costs, if it is said.
    fn of(&self, model: &str) -> Option<f64> {
        let named = self
            .gpu_hour
            .iter()
            .filter(|(name, _)| model.contains(name.as_str()));
        let longest = named
            .max_by_key(|(name, _)| name.len())
            .map(|(_, price)| *price);
        longest.or_else(|| self.gpu_hour.get("default").copied())
    }

    /// `None` where the price of a model is not known.
    fn cost(&self, hours: &BTreeMap<String, f64>) -> Option<f64> {
        let cost = |(model, hours): (&String, &f64)| Some(self.of(model)? * hours);
        hours.iter().map(cost).sum()
    }
}

/// A line with its costs, for JSON.
#[serde_with::skip_serializing_none]
#[derive(Serialize)]
struct Priced<'a> {
    #[serde(flatten)]
    line: &'a UsageLine,
    cost: Option<f64>,
    idle_cost: Option<f64>,
    currency: Option<&'a str>,
}

pub(super) fn run(usage: Usage) -> anyhow::Result<Exit> {
    let prices = usage.prices.as_deref().map(Prices::read).transpose()?;
    let mut pairs = vec![("by", usage.by.clone()), ("since", usage.since.to_string())];
    let until = usage.until.map(|end| end.after(Some(usage.since)));
    pairs.extend(until.map(|time| ("until", time.to_string())));
    let filters = [
        ("owner", usage.owner),
        ("job", usage.job),
        ("host", usage.host),
    ];
    pairs.extend(
        filters
            .into_iter()
            .filter_map(|(name, value)| Some((name, value?))),
    );
    let path = target("/fleet/v1/usage", &pairs);
    let found: UsageReport = usage.asked.get(&path)?;
    let lines = &found.lines[..found.lines.len().min(usage.limit)];
    if usage.asked.json {
        for line in lines {
            let of = |hours| prices.as_ref().and_then(|prices| prices.cost(hours));
            let priced = Priced {
                line,
                cost: of(&line.models),
                idle_cost: of(&line.idle_models),
                currency: prices.as_ref().map(|prices| prices.currency.as_str()),
            };
            if !shared::print(&shared::json_line(&priced)?)? {
                break;
            }
        }
    } else {
        shared::print(&table(&found, lines, &usage.by, prices.as_ref()))?;
        if found.lines.is_empty() {
            shared::say(
                "nobody had a GPU: agents of daemons with NVML or a kubelet say who has one",
            );
        } else if lines.len() < found.lines.len() {
            shared::say(&format!(
                "{} more: --limit shows them",
                found.lines.len() - lines.len()
            ));
        }
    }
    Ok(Exit::Success)
}

/// A share of hours, where there are any.
fn percent(part: f64, whole: f64) -> String {
    match whole > 0.0 {
        true => format!("{:.0} %", 100.0 * part / whole),
        false => "-".to_owned(),
    }
}

fn table(found: &UsageReport, lines: &[UsageLine], by: &str, prices: Option<&Prices>) -> String {
    let (held, all) = (&found.held, found.held.hours + found.free_hours);
    let share = match found.free_hours > 0.0 {
        true => format!("{all:.1} GPU-hours, held {}", percent(held.hours, all)),
        false => format!("{all:.1} GPU-hours held"),
    };
    let mut text = format!(
        "{} to {} (UTC): {share}; of held time busy {}, idle {}\n",
        found.since,
        found.until,
        percent(held.busy_hours, held.measured_hours),
        percent(held.idle_hours, held.measured_hours),
    );
    if lines.is_empty() {
        return text;
    }
    let names: Vec<String> = lines.iter().map(|line| render::clean(&line.name)).collect();
    let longest = names.iter().map(|name| name.chars().count()).max();
    let width = longest.unwrap_or(0).max(by.len());
    let mut row = |name: &str, cells: [String; 10], costs: Option<[String; 2]>| {
        let [
            hours,
            busy,
            idle,
            idle_hours,
            gpus,
            hosts,
            jobs,
            failed,
            incidents,
            last,
        ] = cells;
        text += &format!(
            "{name:<width$} {hours:>10} {busy:>6} {idle:>6} {idle_hours:>10} {gpus:>5} {hosts:>5} {jobs:>5} {failed:>6} {incidents:>9} {last:>16}"
        );
        if let Some([cost, idle]) = costs {
            text += &format!(" {cost:>14} {idle:>14}");
        }
        text.push('\n');
    };
    let titles = [
        "GPU-HOURS",
        "BUSY",
        "IDLE",
        "IDLE HOURS",
        "GPUS",
        "HOSTS",
        "JOBS",
        "FAILED",
        "INCIDENTS",
        "LAST",
    ];
    let currency = prices.map(|prices| render::clean(&prices.currency));
    let costs = currency.map(|of| [format!("COST {of}"), format!("IDLE {of}")]);
    row(&by.to_uppercase(), titles.map(str::to_owned), costs);
    for (name, line) in names.iter().zip(lines) {
        let last = line
            .last
            .map(|last| last.to_zoned(jiff::tz::TimeZone::system()));
        let last = last.map(|last| last.strftime("%Y-%m-%d %H:%M").to_string());
        let cells = [
            format!("{:.1}", line.hours),
            percent(line.busy_hours, line.measured_hours),
            percent(line.idle_hours, line.measured_hours),
            format!("{:.1}", line.idle_hours),
            line.gpus.to_string(),
            line.hosts.to_string(),
            line.jobs.to_string(),
            line.jobs_failed.to_string(),
            line.jobs_with_incident.to_string(),
            last.unwrap_or_default(),
        ];
        let costs = prices.map(|prices| {
            [&line.models, &line.idle_models].map(|hours| {
                let cost = prices.cost(hours);
                cost.map_or_else(|| "unknown".to_owned(), |cost| format!("{cost:.2}"))
            })
        });
        row(name, cells, costs);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_price_is_that_of_the_longest_name_and_a_model_without_one_has_none() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("prices.toml");
        let text = "currency = \"EUR\"\n[gpu_hour]\n\"H100\" = 2.5\n\"H100 NVL\" = 3\n";
        std::fs::write(&file, text).unwrap();
        let prices = Prices::read(&file).unwrap();
        assert_eq!(prices.of("NVIDIA H100 80GB HBM3"), Some(2.5));
        assert_eq!(prices.of("NVIDIA H100 NVL"), Some(3.0));
        let hours = |models: &[(&str, f64)]| {
            models
                .iter()
                .map(|(m, h)| ((*m).to_owned(), *h))
                .collect::<BTreeMap<_, _>>()
        };
        let known = hours(&[("NVIDIA H100 80GB HBM3", 10.0), ("NVIDIA H100 NVL", 2.0)]);
        assert_eq!(prices.cost(&known), Some(31.0));
        assert_eq!(prices.cost(&hours(&[("NVIDIA L4", 1.0)])), None);
        std::fs::write(&file, format!("{text}default = 1\n")).unwrap();
        let prices = Prices::read(&file).unwrap();
        assert_eq!(prices.of("NVIDIA L4"), Some(1.0));
        for (text, cause) in [
            ("[gpu_hour]\nx = -1\n", "the price of x is -1"),
            ("currency = \"EUR\"\n", "gpu_hour"),
            ("[gpu_hour]\n[other]\n", "other"),
        ] {
            std::fs::write(&file, text).unwrap();
            let Failure(_, why) = Prices::read(&file).unwrap_err();
            assert!(why.contains(cause) && why.contains("[gpu_hour]"), "{why}");
        }
    }

    #[test]
    fn the_table_has_shares_and_costs() {
        let line = UsageLine {
            name: "user/ada".to_owned(),
            hours: 10.0,
            measured_hours: 8.0,
            busy_hours: 4.0,
            idle_hours: 2.0,
            models: BTreeMap::from([("H100".to_owned(), 10.0)]),
            idle_models: BTreeMap::from([("H100".to_owned(), 2.0)]),
            ..UsageLine::default()
        };
        let day = |text: &str| text.parse().unwrap();
        let report = UsageReport {
            since: day("2026-11-21"),
            until: day("2026-11-28"),
            held: UsageLine {
                name: String::new(),
                ..line.clone()
            },
            free_hours: 30.0,
            lines: vec![line],
        };
        let prices: Prices = toml::from_str("currency = \"EUR\"\n[gpu_hour]\nH100 = 2\n").unwrap();
        let text = table(&report, &report.lines, "owner", Some(&prices));
        let first = "2026-11-21 to 2026-11-28 (UTC): 40.0 GPU-hours, held 25 %; of held time busy 50 %, idle 25 %";
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], first);
        let words: Vec<&str> = lines[2].split_whitespace().collect();
        assert_eq!(
            words,
            [
                "user/ada", "10.0", "50", "%", "25", "%", "2.0", "0", "0", "0", "0", "0", "20.00",
                "4.00"
            ]
        );
    }
}
