//! `gtrace fleet`: questions about all hosts of a fleet.

mod answer;
mod compare;
mod latency;
mod remediation;
mod report;
mod trace;
mod usage;

use std::process::ExitCode;

use gtrace_api::client::{Client, ClientError, encoded, target};
use gtrace_event::{HealthState, Kind, Severity, Timestamp};
use gtrace_fleet::lemon::Ranking;
use gtrace_fleet::outbreak::Outbreak;
use gtrace_head::db::{ChainReport, FleetEvent, FleetIncident};
use gtrace_head::{AuditLine, By, HostView};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::ack::user_name;
use super::other_host::HeadPlace;
use super::shared::{self, Exit, Failure};
use super::signals::end_cleanly_on_signals;
use crate::render::{self, ColorChoice, Style};

/// Most events or incidents that a head gives at once.
const LIMIT_MAX: i64 = 10_000;

/// Ask the head of a fleet about its hosts, their events and incidents.
///
/// Exit status of `hosts` and `verify`: 0 all is well, 1 a host needs attention, 2 wrong usage, 3 no head answers, or it refuses to.
#[derive(Clone, Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: What,
}

/// Which head is asked, and how the answer is shown.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct Asked {
    #[command(flatten)]
    head: HeadPlace,
    /// Print JSON, one object a line.
    #[arg(long)]
    pub(super) json: bool,
}

#[derive(Clone, Debug, clap::Subcommand)]
enum What {
    /// List the hosts: which are unhealthy, and why.
    Hosts {
        /// Only those that need attention.
        #[arg(long)]
        bad: bool,
        #[command(flatten)]
        asked: Asked,
    },
    /// List events of all hosts, oldest first.
    Events {
        /// At or after this time: an age (30m, 2d), RFC 3339, or local time.
        #[arg(long, value_name = "TIME", allow_hyphen_values = true, value_parser = shared::parse_local_time)]
        since: Option<Timestamp>,
        /// Before this time.
        #[arg(long, value_name = "TIME", allow_hyphen_values = true, value_parser = shared::parse_end_time)]
        until: Option<shared::End>,
        /// Of this host.
        #[arg(long, value_name = "NAME")]
        host: Option<String>,
        /// Of this kind.
        #[arg(long)]
        kind: Option<Kind>,
        /// At least so severe.
        #[arg(long)]
        severity: Option<Severity>,
        /// The newest so many.
        #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=LIMIT_MAX))]
        limit: u32,
        /// Print them as they come, until it is interrupted.
        #[arg(long, conflicts_with_all = ["since", "until", "limit"])]
        follow: bool,
        #[command(flatten)]
        asked: Asked,
    },
    /// List incidents of all hosts; those that many hosts have at the same time are shown as one.
    Incidents {
        /// Only incidents that nobody has resolved.
        #[arg(long)]
        open: bool,
        /// Incidents that something happened to at or after this time.
        #[arg(long, value_name = "TIME", allow_hyphen_values = true, value_parser = shared::parse_local_time)]
        since: Option<Timestamp>,
        /// The newest so many.
        #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=LIMIT_MAX))]
        limit: u32,
        /// Print changes as they come, until it is interrupted.
        #[arg(long, conflicts_with_all = ["open", "since", "limit"])]
        follow: bool,
        #[command(flatten)]
        asked: Asked,
    },
    /// Rank GPUs, slots, hosts or values of a label by how probable it is that they fail more than their peers.
    ///
    /// Failures are incidents of hardware that are no drills; exposure is the time in which agents said that the GPU was there. Exit
    /// status 1 where a unit is worse than its peers with a probability of 95 % or more.
    Lemons {
        /// What is ranked: gpu, slot, host, or a label such as rack.
        #[arg(long, value_name = "UNIT", default_value = "gpu")]
        by: String,
        /// The first so many.
        #[arg(long, value_name = "N", default_value_t = 10)]
        limit: u32,
        #[command(flatten)]
        asked: Asked,
    },
    /// List outbreaks: incidents of one class that many hosts have at nearly the same time, more than chance gives.
    ///
    /// Exit status 1 where there is one that is neither a drill nor of one job.
    Outbreaks {
        /// Only those with incidents that nobody has resolved.
        #[arg(long)]
        open: bool,
        /// Those that went on at or after this time.
        #[arg(long, value_name = "TIME", allow_hyphen_values = true, value_parser = shared::parse_local_time)]
        since: Option<Timestamp>,
        #[command(flatten)]
        asked: Asked,
    },
    /// Compare hosts by version of driver, kernel, VBIOS or firmware: does the new one fail more often?
    ///
    /// The verdict rests on the 95 % interval of the ratio of their rates of failures, with exposure. Exit status, for rollouts: 0 the new
    /// version is not worse than the margin allows, 1 it is worse, 3 the data do not carry a verdict, no host had the version, or no head
    /// answers.
    Compare(compare::Compare),
    /// Add up GPU-hours: held, busy and idle while held, by owner, job, host or model; with prices, costs.
    ///
    /// Hosts count every 10 s who has which GPU, and how busy it is. A GPU that several have is theirs in equal parts.
    Usage(usage::Usage),
    /// Show percentiles of how long driver and CUDA calls took, of all hosts together or beside each other.
    ///
    /// Hosts send histograms, which are added up bucket by bucket: percentiles are those of all calls, within 1/64, and no mean of
    /// percentiles. `--call NAME --by host` finds the host that is slow, `--by driver` what a new driver changes.
    Latency(latency::Latency),
    /// Fetch the report of an incident from its host, through the connection of its agent.
    Report(report::Report),
    /// Trace the CUDA and driver calls of a process of a host, for some seconds and some calls at most, and fetch the trace.
    ///
    /// It is that of `gtrace trace --pid`, packed by gzip: ui.perfetto.dev opens it as it is. The process is neither stopped nor prepared;
    /// each of its calls pays for a probe meanwhile. The host has to permit it: head_traces = true of its daemon, or `gtrace agent run
    /// --allow trace`.
    Trace(trace::Trace),
    /// See what the policy of remediation does about faults, approve and refuse plans, take them back.
    #[command(subcommand)]
    Remediation(remediation::What),
    /// Compute the hash of each record anew, and compare it with what the hosts have.
    Verify {
        /// Only this host.
        #[arg(long, value_name = "NAME")]
        host: Option<String>,
        #[command(flatten)]
        asked: Asked,
    },
    /// List who did what at the head: the newest 1000 lines, the newest first.
    Audit {
        #[command(flatten)]
        asked: Asked,
    },
    /// Let a host in no longer: its credential is refused from now on.
    Revoke {
        /// Its name.
        host: String,
        #[command(flatten)]
        asked: Asked,
    },
}

/// Why a head did not answer, and the exit code for it.
pub(super) fn failure(error: ClientError) -> Failure {
    match error {
        ClientError::NoDaemon { endpoint, cause } => Failure::not_possible(format!(
            "no head answers on {endpoint} ({cause}): start it with `gtrace head`"
        )),
        ClientError::Refused {
            status: 400..=499,
            body,
        } => Failure(
            Exit::Problem,
            format!("{}: {}; {}", body.error, body.cause, body.remedy),
        ),
        error => Failure::not_possible(error),
    }
}

/// The same where 1 says that something was found: nothing was.
fn unanswered(error: ClientError) -> Failure {
    Failure::not_possible(failure(error))
}

impl Asked {
    /// For a command whose output is no lines.
    pub(super) fn of(head: HeadPlace) -> Self {
        Self { head, json: false }
    }

    pub(super) fn client(&self) -> Result<Client, Failure> {
        self.head.client()
    }

    /// What the head has there.
    pub(super) fn get<T: DeserializeOwned>(&self, path: &str) -> Result<T, Failure> {
        self.client()?.get(path).map_err(failure)
    }

    /// The same where the exit status says what was found.
    fn get_finding<T: DeserializeOwned>(&self, path: &str) -> Result<T, Failure> {
        self.client()?.get(path).map_err(unanswered)
    }
}

/// Runs the command.
///
/// # Errors
///
/// Why it is not done; what standard output says, a closed pipe aside.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let exit = match args.command {
        What::Hosts { bad, asked } => hosts(bad, &asked),
        What::Events {
            since,
            until,
            host,
            kind,
            severity,
            limit,
            follow: live,
            asked,
        } => {
            let until = until.map(|end| end.after(since));
            shared::check_time(since, until)?;
            let mut pairs = Vec::new();
            if !live {
                pairs.push(("limit", limit.to_string()));
            }
            pairs.extend(since.map(|time| ("since", time.to_string())));
            pairs.extend(until.map(|time| ("until", time.to_string())));
            pairs.extend(host.map(|host| ("host", host)));
            pairs.extend(kind.map(|kind| ("kind", kind.to_string())));
            pairs.extend(severity.map(|severity| ("severity", severity.name().to_owned())));
            match live {
                true => follow("/fleet/v1/events/stream", &pairs, &asked, event_line),
                false => events(&pairs, limit, &asked),
            }
        }
        What::Incidents {
            follow: true,
            asked,
            ..
        } => follow("/fleet/v1/incidents/stream", &[], &asked, incident_line),
        What::Incidents {
            open,
            since,
            limit,
            asked,
            ..
        } => {
            shared::check_time(since, None)?;
            let mut pairs = vec![("open", open.to_string())];
            pairs.extend(since.map(|time| ("since", time.to_string())));
            incidents(&pairs, limit, &asked)
        }
        What::Lemons { by, limit, asked } => {
            lemons(&[("by", by), ("limit", limit.to_string())], &asked)
        }
        What::Outbreaks { open, since, asked } => {
            shared::check_time(since, None)?;
            let mut pairs = vec![("open", open.to_string())];
            pairs.extend(since.map(|time| ("since", time.to_string())));
            outbreaks(&pairs, &asked)
        }
        What::Compare(compare) => compare::run(compare),
        What::Usage(usage) => usage::run(usage),
        What::Latency(latency) => latency::run(latency),
        What::Report(report) => report::run(report),
        What::Trace(trace) => trace::run(trace),
        What::Remediation(what) => remediation::run(what),
        What::Verify { host, asked } => verify(host, &asked),
        What::Audit { asked } => audit(&asked),
        What::Revoke { host, asked } => revoke(&host, &asked),
    }?;
    Ok(exit.into())
}

fn hosts(bad: bool, asked: &Asked) -> anyhow::Result<Exit> {
    let mut found: Vec<HostView> = asked.get_finding("/fleet/v1/hosts")?;
    let attention = found.iter().filter(|host| host.needs_attention()).count();
    if bad {
        found.retain(HostView::needs_attention);
    }
    let nothing = match bad {
        true => "no host needs attention",
        false => "no hosts are in the fleet; `gtrace head token` makes a token for one",
    };
    shared::list(asked.json, &found, host_lines, nothing)?;
    Ok(match attention {
        0 => Exit::Success,
        _ => Exit::Problem,
    })
}

/// How far the host's clock is from the head's, where that is a second or more: its times are by it.
fn clock(host: &HostView) -> String {
    let Some(of) = host.clock else {
        return String::new();
    };
    let seconds = of.offset_ns.unsigned_abs() / 1_000_000_000;
    match seconds {
        0 => String::new(),
        // What has to be added to the host's clock.
        n if of.offset_ns < 0 => format!(", clock {n} s ahead"),
        n => format!(", clock {n} s behind"),
    }
}

fn host_lines(host: &HostView) -> String {
    let labels: Vec<String> = host
        .labels
        .iter()
        .map(|(n, v)| format!("{n}={v}"))
        .collect();
    let mut text = format!(
        "{:<20} {:<9} {} incidents, {} records{}{}{}  {}\n",
        host.host,
        host.state,
        host.open_incidents,
        host.records,
        match host.behind {
            0 => String::new(),
            n => format!(", {n} behind"),
        },
        clock(host),
        if host.simulated { ", simulated" } else { "" },
        labels.join(" ")
    );
    let gaps = (host.unexplained_gaps > 0).then(|| {
        format!(
            "{} ranges of its records are missing, and nothing explains it",
            host.unexplained_gaps
        )
    });
    let all = host.reasons.iter().chain(&host.chain_faults).chain(&gaps);
    if host.state != HealthState::Healthy || host.needs_attention() {
        for reason in all.take(8) {
            text += &format!("    {}\n", render::clean(reason));
        }
    }
    text
}

fn events(pairs: &[(&str, String)], limit: u32, asked: &Asked) -> anyhow::Result<Exit> {
    let found: Vec<FleetEvent> = asked.get(&target("/fleet/v1/events", pairs))?;
    let style = Style::of_stdout(ColorChoice::Auto);
    let line = |one: &FleetEvent| event_line(one, &style);
    let exit = shared::list(asked.json, &found, line, "no events match")?;
    say_limit(found.len(), limit);
    Ok(exit)
}

/// Says that there may be more, where there are as many as were asked for.
fn say_limit(found: usize, limit: u32) {
    if found >= limit as usize {
        shared::say(&more(limit));
    }
}

fn more(limit: u32) -> String {
    let remedy = match i64::from(limit) < LIMIT_MAX {
        true => "--limit shows them",
        false => "a head shows no more at once",
    };
    format!("these are the newest {limit}, and there may be more: {remedy}")
}

fn incidents(pairs: &[(&str, String)], limit: u32, asked: &Asked) -> anyhow::Result<Exit> {
    let limited = [pairs, &[("limit", limit.to_string())]].concat();
    let found: Vec<FleetIncident> = asked.get(&target("/fleet/v1/incidents", &limited))?;
    if !asked.json {
        let path = target("/fleet/v1/outbreaks", pairs);
        match asked.client()?.get::<Vec<Outbreak>>(&path) {
            // They are of the fleet: who may see some of the hosts sees the incidents of these.
            Err(ClientError::Refused { status: 403, .. }) => {}
            found => shared::show_each(false, &found.map_err(failure)?, outbreak_line)?,
        }
    }
    let style = Style::of_stdout(ColorChoice::Auto);
    let line = |one: &FleetIncident| incident_line(one, &style);
    let exit = shared::list(asked.json, &found, line, "no incidents match")?;
    say_limit(found.len(), limit);
    Ok(exit)
}

fn outbreaks(pairs: &[(&str, String)], asked: &Asked) -> anyhow::Result<Exit> {
    let path = target("/fleet/v1/outbreaks", pairs);
    let found: Vec<Outbreak> = asked.get_finding(&path)?;
    let block = |one: &Outbreak| {
        let mut text = outbreak_line(one);
        let (shown, more) = one.hosts.split_at(one.hosts.len().min(12));
        text += &format!("    hosts: {}", shown.join(", "));
        if !more.is_empty() {
            text += &format!(" and {} more", more.len());
        }
        text += &format!(
            "\n    by chance {} of these or rarer ones\n",
            chance(one.expected)
        );
        if !one.jobs.is_empty() {
            text += &format!("    each affects {}\n", render::clean(&one.jobs.join(", ")));
        }
        text
    };
    let nothing = "no outbreak: chance explains what happens on several hosts at a time";
    shared::list(asked.json, &found, block, nothing)?;
    let is_trouble = |one: &Outbreak| !one.drill && !one.is_of_one_job();
    Ok(match found.iter().any(is_trouble) {
        true => Exit::Problem,
        false => Exit::Success,
    })
}

/// How many are expected.
fn chance(expected: f64) -> String {
    match expected {
        e if e < 1e-6 => "less than 0.000001".to_owned(),
        e => format!("about {e:.6}"),
    }
}

fn outbreak_line(outbreak: &Outbreak) -> String {
    let (hosts, of) = (outbreak.hosts.len(), outbreak.of);
    let place = match outbreak.labels.as_slice() {
        [] => format!("{hosts} of {of} hosts of the fleet"),
        // Versions of driver and kernel are among them, which are what hosts say.
        labels => {
            let labels = render::clean(&labels.join(", "));
            format!("{hosts} of {of} hosts of {labels}")
        }
    };
    let seconds = outbreak.last.duration_since(outbreak.first).as_secs();
    let drill = if outbreak.drill { " (drill)" } else { "" };
    let what = match outbreak.is_of_one_job() {
        true => "one job",
        false => "OUTBREAK",
    };
    format!(
        "{what}: {}{drill} on {place} within {seconds} s, from {:.0}\n",
        outbreak.class.title(),
        outbreak.first
    )
}

fn event_line(one: &FleetEvent, style: &Style) -> String {
    let line = render::line(&one.event, style);
    format!("{}  {}\n", one.fleet_host, line.trim_end())
}

fn incident_line(one: &FleetIncident, style: &Style) -> String {
    let line = render::incident_line(&one.incident, style);
    format!("{}  {}\n", one.fleet_host, line.trim_end())
}

/// Prints what comes on a stream, each as `line` writes it.
fn follow<T: Serialize + DeserializeOwned>(
    path: &str,
    pairs: &[(&str, String)],
    asked: &Asked,
    line: impl Fn(&T, &Style) -> String,
) -> anyhow::Result<Exit> {
    end_cleanly_on_signals()?;
    let style = Style::of_stdout(ColorChoice::Auto);
    let path = target(path, pairs);
    let mut stream = asked.client()?.stream(&path, None).map_err(failure)?;
    loop {
        let message = stream.next_message().map_err(failure)?;
        let ended = || Failure::not_possible("the head ended the stream: it is stopped");
        let message = message.ok_or_else(ended)?;
        if message.event == "gap" {
            shared::say(
                "some did not come: this reader was too slow, they are large, or the head was without its database; without --follow it has all",
            );
            continue;
        }
        let Ok(found) = serde_json::from_str::<T>(&message.data) else {
            continue;
        };
        if !shared::show(asked.json, &found, || line(&found, &style))? {
            return Ok(Exit::Success);
        }
    }
}

/// So probable it has to be that a unit is worse than its peers.
const SURE: f64 = 0.95;

fn lemons(pairs: &[(&str, String)], asked: &Asked) -> anyhow::Result<Exit> {
    let found: Ranking = asked.get_finding(&target("/fleet/v1/lemons", pairs))?;
    let worse = found.units.iter().any(|unit| unit.worse >= SURE);
    let exit = if worse { Exit::Problem } else { Exit::Success };
    if asked.json {
        shared::print(&shared::json_line(&found)?)?;
        return Ok(exit);
    }
    if found.units.is_empty() {
        let (hours, failures) = (found.hours, found.failures);
        shared::say(&format!(
            "nothing to rank: {failures} failures in {hours:.0} GPU-hours; agents within daemons say which GPUs there are"
        ));
        return Ok(exit);
    }
    let mut text = format!(
        "{} failures in {:.0} GPU-hours: {:.3} in 1000 h\n{:<44} {:>8} {:>10} {:>8} {:>17} {:>6} {:>7} {:>11} {:>12} {:>14}\n",
        found.failures,
        found.hours,
        found.rate,
        "UNIT",
        "FAILURES",
        "GPU-HOURS",
        "RATE",
        "90 % INTERVAL",
        "TIMES",
        "P(>2x)",
        "AFTER RESET",
        "AFTER REBOOT",
        "AFTER EXCHANGE"
    );
    for one in &found.units {
        let interval = format!("{:.3} to {:.3}", one.interval.0, one.interval.1);
        text += &format!(
            "{:<44} {:>8} {:>10.0} {:>8.3} {interval:>17} {:>6.2} {:>7.3} {:>11} {:>12} {:>14}\n",
            render::clean(&one.unit.name),
            one.unit.failures,
            one.unit.hours,
            one.rate,
            one.times,
            one.worse,
            one.unit.after_reset,
            one.unit.after_reboot,
            one.unit.after_exchange
        );
    }
    shared::print(&text)?;
    Ok(exit)
}

fn verify(host: Option<String>, asked: &Asked) -> anyhow::Result<Exit> {
    let pairs: Vec<(&str, String)> = host.map(|host| ("host", host)).into_iter().collect();
    let client = asked
        .client()?
        .with_deadline(std::time::Duration::from_secs(600));
    let path = target("/fleet/v1/verify", &pairs);
    let found: Vec<ChainReport> = client.get(&path).map_err(unanswered)?;
    shared::show_each(asked.json, &found, |report| {
        let mut text = match report.is_whole() {
            true => format!(
                "{}: the chain is whole: {} records\n",
                report.host, report.records
            ),
            false => format!(
                "{}: the chain is not whole, {} records\n",
                report.host, report.records
            ),
        };
        for (first, last) in &report.unexplained {
            text +=
                &format!("    records {first} to {last} are missing, and nothing explains it\n");
        }
        for fault in &report.faults {
            text += &format!("    {fault}\n");
        }
        text
    })?;
    Ok(match found.iter().all(ChainReport::is_whole) {
        true => Exit::Success,
        false => Exit::Problem,
    })
}

fn audit(asked: &Asked) -> anyhow::Result<Exit> {
    let found: Vec<AuditLine> = asked.get("/fleet/v1/audit")?;
    shared::show_each(asked.json, &found, |line| {
        format!(
            "{:.0}  {}  {}\n",
            line.time,
            render::clean(&line.who),
            render::clean(&line.what)
        )
    })?;
    Ok(Exit::Success)
}

fn revoke(host: &str, asked: &Asked) -> anyhow::Result<Exit> {
    let path = format!("/fleet/v1/hosts/{}/revoke", encoded(host));
    let by = By { by: user_name() };
    asked.client()?.post::<()>(&path, &by).map_err(failure)?;
    shared::show(asked.json, &serde_json::json!({ "revoked": host }), || {
        format!("{host} is revoked\n")
    })?;
    Ok(Exit::Success)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_are_promised_only_where_a_head_gives_them() {
        assert!(more(9_999).contains("--limit"));
        assert!(!more(10_000).contains("--limit"));
    }

    #[test]
    fn a_clock_that_is_wrong_is_shown_beside_its_host() {
        let line = |offset_ns: i64| {
            let host: HostView = serde_json::from_value(serde_json::json!({
                "host": "a", "state": "healthy", "reasons": [], "simulated": false, "labels": {}, "gpus": 0,
                "open_incidents": 0, "records": 7, "behind": 0, "unexplained_gaps": 0, "forks": 0,
                "clock": { "offset_ns": offset_ns, "error_ns": 233_947 },
            }))
            .unwrap();
            host_lines(&host)
        };
        assert!(line(-3_600_000_057_880).contains("7 records, clock 3600 s ahead"));
        assert!(line(2_000_000_000).contains("7 records, clock 2 s behind"));
        assert!(!line(999_999_999).contains("clock"));
    }

    #[test]
    fn an_outbreak_is_one_line_whatever_hosts_say_that_their_driver_is() {
        let outbreak: Outbreak = serde_json::from_value(serde_json::json!({
            "class": "pcie", "first": "2026-03-03T04:05:06Z", "last": "2026-03-03T04:05:16Z", "drill": false,
            "hosts": ["a", "b"], "members": [], "labels": ["driver=1\u{1b}[2J\nall is well"], "of": 2, "expected": 0.0,
        }))
        .unwrap();
        let line = outbreak_line(&outbreak);
        assert_eq!(line.lines().count(), 1, "{line:?}");
        assert!(!line.contains('\u{1b}'), "{line:?}");
    }
}
