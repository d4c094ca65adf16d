//! `gtrace session`: profiling sessions over the hosts of a fleet.

mod export;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use gtrace_api::client::encoded;
use gtrace_fleet::{INTERVAL_MS, Metric};
use gtrace_head::db::Session;
use gtrace_head::{By, SessionRequest, SessionView};

use super::ack::user_name;
use super::duration::{seconds, whole_seconds};
use super::fleet::{Asked, failure};
use super::other_host::HeadPlace;
use super::shared::{self, Exit};
use crate::render;

/// Profile GPUs of many hosts at the same time, on one clock: start, stop and export sessions.
///
/// A session has a frame for each interval and host: the means of what was read in that interval, by the head's clock, with a bound of
/// the error. An interval in which a host measured nothing is a gap. Hosts take part whose agents run with --allow-sessions, or
/// whose daemons have `head_sessions = true`.
///
/// Exit status: 0 done, 1 no such session or host, 2 wrong usage, 3 no head answers.
#[derive(Clone, Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: What,
}

#[derive(Clone, Debug, clap::Subcommand)]
enum What {
    /// Begin a session.
    Start {
        /// Its name: letters, digits, `-`, `.` and `_`.
        name: String,
        /// Its hosts, with commas between: names, patterns (gpu-*) and labels (rack=r7); all by default.
        #[arg(long, value_name = "HOST", value_delimiter = ',')]
        hosts: Vec<String>,
        /// Length of a frame, 20ms to 60s.
        #[arg(long, value_name = "TIME", default_value = "200ms", value_parser = interval)]
        interval: u32,
        /// What to measure, with commas between: utilization, memory, pcie, nvlink, power, clocks, temperature, calls, cuda_calls; all by default.
        #[arg(long, value_name = "METRIC", value_delimiter = ',')]
        metrics: Vec<Metric>,
        /// After this time it ends by itself, up to 7d.
        #[arg(long = "for", value_name = "TIME", default_value = "1h", value_parser = seconds)]
        length: Duration,
        #[command(flatten)]
        asked: Asked,
    },
    /// End a session.
    Stop {
        /// Its name, or its number.
        name: String,
        #[command(flatten)]
        asked: Asked,
    },
    /// List sessions, the newest first.
    List {
        #[command(flatten)]
        asked: Asked,
    },
    /// Show a session: frames, gaps and the error of the clock of each host, and why one measures nothing.
    Show {
        /// Its name, or its number.
        name: String,
        #[command(flatten)]
        asked: Asked,
    },
    /// Write the frames of a session to a file.
    Export {
        /// Its name, or its number.
        name: String,
        /// In which format.
        #[arg(long, value_enum, default_value_t = export::Format::Json)]
        format: export::Format,
        /// The file; standard output without it.
        #[arg(long, short, value_name = "FILE")]
        output: Option<PathBuf>,
        #[command(flatten)]
        head: HeadPlace,
    },
}

pub(super) fn interval(text: &str) -> Result<u32, String> {
    let outside = || "an interval is 20ms to 60s".to_owned();
    // Shorter than what other commands take.
    let ms = match text.strip_suffix("ms") {
        Some(digits) => digits.parse::<u32>().map_err(|_| outside())?,
        None => u32::try_from(seconds(text)?.as_millis()).map_err(|_| outside())?,
    };
    match INTERVAL_MS.contains(&ms) {
        true => Ok(ms),
        false => Err(outside()),
    }
}

/// Runs the command.
///
/// # Errors
///
/// Why it is not done; what standard output says, a closed pipe aside; what the file of an export says.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let exit = match args.command {
        What::Start {
            name,
            hosts,
            interval,
            metrics,
            length,
            asked,
        } => {
            let request = SessionRequest {
                name,
                hosts,
                interval_ms: interval,
                metrics,
                for_s: whole_seconds(length),
                by: user_name(),
            };
            start(&request, &asked)
        }
        What::Stop { name, asked } => stop(&name, &asked),
        What::List { asked } => list(&asked),
        What::Show { name, asked } => show(&name, &asked),
        What::Export {
            name,
            format,
            output,
            head,
        } => {
            let asked = Asked::of(head);
            export::export(
                &asked.client()?,
                &path(&name, ""),
                format,
                output.as_deref(),
            )
        }
    }?;
    Ok(exit.into())
}

/// Where the head has a session; `below` begins with a slash.
fn path(name: &str, below: &str) -> String {
    format!("/fleet/v1/sessions/{}{below}", encoded(name))
}

fn start(request: &SessionRequest, asked: &Asked) -> anyhow::Result<Exit> {
    let path = "/fleet/v1/sessions";
    let session: Session = asked.client()?.post(path, request).map_err(failure)?;
    shared::show(asked.json, &session, || line(&session))?;
    // It is on all the same: hosts come, and may come to permit it.
    let view = asked.get::<SessionView>(&self::path(&session.name, ""));
    if view.is_ok_and(|view| view.hosts.iter().all(|host| host.problem.is_some())) {
        shared::say(&format!(
            "no host takes part so far: `gtrace session show {}` says why",
            session.name
        ));
    }
    Ok(Exit::Success)
}

fn stop(name: &str, asked: &Asked) -> anyhow::Result<Exit> {
    let by = By { by: user_name() };
    let stopped = asked.client()?.post(&path(name, "/stop"), &by);
    let session: Session = stopped.map_err(failure)?;
    shared::show(asked.json, &session, || line(&session))?;
    Ok(Exit::Success)
}

fn list(asked: &Asked) -> anyhow::Result<Exit> {
    let found: Vec<Session> = asked.get("/fleet/v1/sessions")?;
    let nothing = "there are no sessions; `gtrace session start` begins one";
    shared::list(asked.json, &found, line, nothing)
}

fn line(session: &Session) -> String {
    let hosts = match session.hosts.len() {
        0 => "all hosts".to_owned(),
        1 => session.hosts[0].clone(),
        n => format!("{n} hosts"),
    };
    let metrics: Vec<&str> = session.metrics.iter().map(|metric| metric.name()).collect();
    let state = match session.stopped {
        Some(stopped) => format!("ended {stopped:.0}"),
        None => format!("on, until {:.0}", session.ends),
    };
    format!(
        "{:>4}  {:<24} {:.0}  {state}  every {} ms on {hosts}: {}\n",
        session.id,
        session.name,
        session.started,
        session.interval_ms,
        metrics.join(",")
    )
}

fn show(name: &str, asked: &Asked) -> anyhow::Result<Exit> {
    let view: SessionView = asked.get(&path(name, ""))?;
    if asked.json {
        shared::print(&shared::json_line(&view)?)?;
        return Ok(Exit::Success);
    }
    let mut text = line(&view.session);
    for host in &view.hosts {
        let error = match host.frames {
            0 => String::new(),
            _ => format!(", clock within {:.3} ms", host.error_ns as f64 / 1e6),
        };
        let missing = match host.missing {
            0 => String::new(),
            n => format!(", {n} missing"),
        };
        let problem = host.problem.as_deref().map(render::clean);
        let problem = problem.map_or_else(String::new, |text| format!("  ({text})"));
        text += &format!(
            "      {:<20} {} frames{missing}{error}{problem}\n",
            host.host, host.frames
        );
    }
    if view.hosts.is_empty() {
        text += "      no host of the fleet takes part\n";
    }
    shared::print(&text)?;
    Ok(Exit::Success)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_are_read_as_people_write_them() {
        assert_eq!(interval("20ms"), Ok(20));
        assert_eq!(interval("1s"), Ok(1000));
        assert_eq!(interval("1m"), Ok(60_000));
        for wrong in ["19ms", "2m", "x", "-5ms", "0"] {
            assert!(interval(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_name_is_one_part_of_a_path() {
        assert_eq!(
            path("../hosts?x", "/stop"),
            "/fleet/v1/sessions/..%2Fhosts%3Fx/stop"
        );
    }
}
