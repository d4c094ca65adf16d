//! `gtrace fleet latency`: how long driver and CUDA calls took, of all hosts together or beside each other.

use gtrace_api::client::target;
use gtrace_event::Timestamp;
use gtrace_head::db::{LatencyLine, LatencyReport};
use gtrace_profile::Layer;
use gtrace_profile::text::duration;

use super::super::shared::{self, Exit, Failure};
use super::Asked;
use crate::render;

/// Which calls, and how they are added up.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct Latency {
    /// By what they are added up: call; with --call also host, driver, kernel, model, or a label such as rack.
    #[arg(long, value_name = "WHAT", default_value = "call")]
    by: String,
    /// Only this call, as the table names it: `cuLaunchKernel`, `NV2080_CTRL_CMD_GPU_GET_INFO_V2`.
    #[arg(long, value_name = "NAME")]
    call: Option<String>,
    /// Only calls that were timed here.
    #[arg(long, value_name = "LAYER")]
    layer: Option<At>,
    /// Only of this host.
    #[arg(long, value_name = "NAME")]
    host: Option<String>,
    /// From the day of this time on, UTC: an age (7d), RFC 3339, or local time.
    #[arg(long, value_name = "TIME", default_value = "1d", allow_hyphen_values = true, value_parser = shared::parse_local_time)]
    since: Timestamp,
    /// To the day of this time.
    #[arg(long, value_name = "TIME", allow_hyphen_values = true, value_parser = shared::parse_end_time)]
    until: Option<shared::End>,
    /// What comes first.
    #[arg(long, value_name = "WHAT", default_value = "time")]
    sort: Sort,
    /// The first so many.
    #[arg(long, value_name = "N", default_value_t = 20)]
    limit: usize,
    #[command(flatten)]
    asked: Asked,
}

/// Where calls were timed.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum At {
    /// At the driver's ioctl(2).
    Driver,
    /// At a function of CUDA.
    Api,
}

/// What the most of comes first.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Sort {
    /// All calls together.
    Time,
    /// Number of calls.
    Calls,
    /// 99th percentile.
    P99,
    /// The longest.
    Max,
}

impl Sort {
    fn of(self, line: &LatencyLine) -> u64 {
        match self {
            Self::Time => line.total_ns,
            Self::Calls => line.calls,
            Self::P99 => line.p99_ns,
            Self::Max => line.max_ns,
        }
    }
}

pub(super) fn run(latency: Latency) -> anyhow::Result<Exit> {
    if latency.by != "call" && latency.call.is_none() {
        let by = render::clean(&latency.by);
        let why = format!(
            "durations of different calls together say nothing: name one with --call; without `--by {by}` they are listed"
        );
        return Err(Failure::usage(why).into());
    }
    let layer = latency.layer.map(|layer| match layer {
        At::Driver => Layer::Driver,
        At::Api => Layer::Api,
    });
    let mut pairs = vec![
        ("by", latency.by.clone()),
        ("since", latency.since.to_string()),
    ];
    let until = latency.until.map(|end| end.after(Some(latency.since)));
    pairs.extend(until.map(|time| ("until", time.to_string())));
    pairs.extend(latency.call.clone().map(|call| ("call", call)));
    pairs.extend(layer.map(|layer| ("layer", layer.name().to_owned())));
    pairs.extend(latency.host.map(|host| ("host", host)));
    let path = target("/fleet/v1/latency", &pairs);
    let mut found: LatencyReport = latency.asked.get(&path)?;
    found
        .lines
        .sort_by_key(|line| std::cmp::Reverse(latency.sort.of(line)));
    let all = found.lines.len();
    found.lines.truncate(latency.limit);
    if latency.asked.json {
        for line in &found.lines {
            if !shared::print(&shared::json_line(line)?)? {
                break;
            }
        }
    } else {
        shared::print(&table(&found, &latency.by, latency.call.as_deref()))?;
        if all == 0 {
            shared::say(
                "no call was timed: daemons with probes time them, and their agents say so within five minutes",
            );
        } else if found.lines.len() < all {
            let more = all - found.lines.len();
            shared::say(&format!("{more} more: --limit shows them"));
        }
    }
    Ok(Exit::Success)
}

fn table(found: &LatencyReport, by: &str, call: Option<&str>) -> String {
    let of = call.map_or_else(String::new, |call| format!(": {}", render::clean(call)));
    let mut text = format!("{} to {} (UTC){of}\n", found.since, found.until);
    if found.lines.is_empty() {
        return text;
    }
    let names: Vec<String> = found
        .lines
        .iter()
        .map(|line| render::clean(&line.name))
        .collect();
    let longest = names.iter().map(|name| name.chars().count()).max();
    let width = longest.unwrap_or(0).max(by.len());
    let mut row = |name: &str, cells: [String; 9]| {
        let [layer, calls, p50, p90, p99, p999, max, total, hosts] = cells;
        text += &format!(
            "{name:<width$} {layer:<6} {calls:>12} {p50:>7} {p90:>7} {p99:>7} {p999:>7} {max:>7} {total:>8} {hosts:>6}\n"
        );
    };
    let titles = [
        "LAYER", "CALLS", "p50", "p90", "p99", "p99.9", "MAX", "TOTAL", "HOSTS",
    ];
    row(&by.to_uppercase(), titles.map(str::to_owned));
    for (name, line) in names.iter().zip(&found.lines) {
        let times = [
            line.p50_ns,
            line.p90_ns,
            line.p99_ns,
            line.p999_ns,
            line.max_ns,
            line.total_ns,
        ];
        let [p50, p90, p99, p999, max, total] = times.map(duration);
        let layer = line.layer.map_or("", Layer::name).to_owned();
        let (calls, hosts) = (line.calls.to_string(), line.hosts.to_string());
        row(name, [layer, calls, p50, p90, p99, p999, max, total, hosts]);
    }
    text
}

#[cfg(test)]
mod tests {
    use gtrace_profile::Histogram;

    use super::*;

    #[test]
    fn the_table_has_percentiles_of_all_hosts() {
        let mut histogram = Histogram::default();
        histogram.record_n(1_000, 990);
        histogram.record_n(2_000_000, 10);
        let line = LatencyLine {
            name: "cuLaunchKernel".to_owned(),
            layer: Some(Layer::Api),
            calls: histogram.count(),
            p50_ns: histogram.quantile(0.5),
            p90_ns: histogram.quantile(0.9),
            p99_ns: histogram.quantile(0.99),
            p999_ns: histogram.quantile(0.999),
            max_ns: histogram.max_ns(),
            total_ns: histogram.sum_ns(),
            hosts: 3,
            histogram,
        };
        let report = LatencyReport {
            since: "2026-11-27".parse().unwrap(),
            until: "2026-11-28".parse().unwrap(),
            lines: vec![line],
        };
        let text = table(&report, "call", None);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], "2026-11-27 to 2026-11-28 (UTC)");
        let words: Vec<&str> = lines[2].split_whitespace().collect();
        assert_eq!(
            words,
            [
                "cuLaunchKernel",
                "api",
                "1000",
                "1.00us",
                "1.00us",
                "1.00us",
                "2.00ms",
                "2.00ms",
                "21.0ms",
                "3"
            ]
        );
        let text = table(&report, "rack", Some("cu\u{1b}X"));
        assert!(text.starts_with("2026-11-27 to 2026-11-28 (UTC): cu"));
        assert!(!text.contains('\u{1b}'));
    }
}
