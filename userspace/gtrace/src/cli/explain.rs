//! `gtrace explain`: what a code or a kind of event means and what to do, without an event.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context as _;
use gtrace_catalogue::{Catalogue, failure_mode, failure_mode_title};
use gtrace_event::{
    Advice, Event, FailureClass, Kind, Occurrence, Provenance, Severity, Timestamp, WitnessName,
};
use gtrace_incident::Rules;
use serde::Serialize;

use super::policy;
use super::shared::{self, Exit, Failure};

/// NVIDIA's SXids begin here; Xids end long before.
const FIRST_SXID: u32 = 10_000;

/// Look up an Xid, an SXid or a kind of event: what it means, how bad it is, what to do.
///
/// Exit status: 0 it is known, 1 this version has no entry for the code, 2 wrong usage.
#[derive(Clone, Debug, clap::Args)]
pub struct Args {
    /// `xid 79`, `xid:79`, `79`, `sxid 20034`, or a kind such as `gpu_lost`.
    #[arg(required = true, num_args = 1..=2, value_name = "CODE|KIND")]
    subject: Vec<String>,
    /// Print it as JSON.
    #[arg(long)]
    json: bool,
    /// Site policy (TOML) that severity, action and steps follow.
    #[arg(long, value_name = "FILE")]
    site_policy: Option<PathBuf>,
}

/// What is looked up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Subject {
    Xid(u32),
    Sxid(u32),
    Kind(Kind),
}

impl Subject {
    /// Reads `xid 79`, `xid:79`, `79`, `SXid 20034` or a kind.
    pub(super) fn parse(words: &[String]) -> Option<Self> {
        let text = words.join(" ").to_ascii_lowercase();
        let (name, code) = match text.split_once([' ', ':', '=']) {
            Some((name, code)) => (name.trim(), code.trim()),
            None if text.len() < 6 && text.bytes().all(|b| b.is_ascii_digit()) => ("", &*text),
            None => {
                let kind = Kind::ALL.into_iter().find(|kind| kind.name() == text);
                return kind.map(Self::Kind);
            }
        };
        let code = code.parse().ok()?;
        match name {
            "xid" => Some(Self::Xid(code)),
            "sxid" => Some(Self::Sxid(code)),
            "" if code >= FIRST_SXID => Some(Self::Sxid(code)),
            "" => Some(Self::Xid(code)),
            _ => None,
        }
    }

    fn kind(self) -> Kind {
        match self {
            Self::Xid(_) => Kind::Xid,
            Self::Sxid(_) => Kind::Sxid,
            Self::Kind(kind) => kind,
        }
    }

    /// An occurrence that says no more than this.
    fn occurrence(self, catalogue: &Catalogue) -> Occurrence {
        let kind = self.kind();
        let severity = catalogue.kind(kind).severity;
        let mut occurrence = Occurrence::new(kind, severity, "");
        occurrence.provenance = Provenance::Kernel;
        match self {
            Self::Xid(code) => occurrence.detail.xid.xid = Some(code),
            Self::Sxid(code) => occurrence.detail.fabric.sxid = Some(code),
            Self::Kind(_) => {}
        }
        occurrence
    }
}

/// What is known of a subject; the JSON.
#[serde_with::skip_serializing_none]
#[derive(Debug, Serialize)]
pub(super) struct Explanation {
    kind: Kind,
    code: Option<u32>,
    /// Whether this version has an entry for it.
    pub(super) known: bool,
    name: Option<&'static str>,
    scope: Option<&'static str>,
    category: &'static str,
    severity: Severity,
    /// Class of the incident that it opens or joins.
    pub(super) class: FailureClass,
    failure_mode: Option<&'static str>,
    advice: Advice,
    /// Command that prints the steps for the class.
    runbook: String,
    /// Command that prints the page of the kind.
    page: String,
}

impl Explanation {
    /// What `catalogue` says of `subject`.
    pub(super) fn of(subject: Subject, catalogue: &Catalogue) -> anyhow::Result<Self> {
        let mut occurrence = subject.occurrence(catalogue);
        let advice = catalogue.assess(&mut occurrence);
        let mode = failure_mode(&occurrence);
        let severity = occurrence.severity;
        let now = Timestamp::now();
        let rules = Rules::builtin().context("the rules that come with gtrace")?;
        let class = rules.class(&Event::seen(now, WitnessName::Kmsg, 1, occurrence));
        let kind = catalogue.kind(subject.kind());
        let (code, name, scope, category) = match subject {
            Subject::Xid(code) => {
                let entry = catalogue.xid(code);
                (
                    Some(code),
                    entry.map(|e| e.name),
                    None,
                    entry.map(|e| e.category),
                )
            }
            Subject::Sxid(code) => {
                let entry = catalogue.sxid(code);
                let scope = entry.map(|e| e.scope.name());
                (
                    Some(code),
                    entry.map(|e| e.name),
                    scope,
                    entry.map(|e| e.category),
                )
            }
            Subject::Kind(_) => (None, None, None, Some(kind.category)),
        };
        Ok(Self {
            kind: subject.kind(),
            code,
            known: category.is_some(),
            name,
            scope,
            category: category.unwrap_or(kind.category).name(),
            severity,
            class,
            failure_mode: mode,
            advice,
            runbook: format!("gtrace runbook {class}"),
            page: format!("gtrace runbook {}", subject.kind()),
        })
    }

    /// Commands that print more, each with what it has.
    pub(super) fn commands(&self) -> Vec<(&'static str, String)> {
        let mut commands = vec![("runbook", self.runbook.clone())];
        // The class `nvlink` is a kind too: its page is then the one above.
        if self.page != self.runbook {
            commands.push(("more", self.page.clone()));
        }
        commands
    }

    /// For people.
    pub(super) fn text(&self) -> String {
        let mut text = match (self.kind, self.code) {
            (Kind::Xid, Some(code)) => format!("Xid {code}"),
            (Kind::Sxid, Some(code)) => format!("SXid {code}"),
            (kind, _) => kind.name().to_owned(),
        };
        if let Some(name) = self.name {
            let _ = write!(text, "  {name}");
        }
        if !self.known {
            text.push_str("  not in the catalogue of this version");
        }
        text.push('\n');
        // Writing to a String cannot fail.
        let mut part = |label: &str, value: &str| {
            let _ = writeln!(text, "  {label:<8}  {value}");
        };
        part("severity", &self.severity.name().to_uppercase());
        if let Some(scope) = self.scope {
            part("scope", scope);
        }
        let mode = self.failure_mode.map(|mode| {
            let title = failure_mode_title(mode).unwrap_or_default();
            format!(" ({mode}: {title})")
        });
        let class = format!("{}{}", self.class, mode.unwrap_or_default());
        part("class", &class);
        part("where", self.category);
        if let Some(meaning) = &self.advice.meaning {
            part("meaning", meaning);
        }
        if let Some(action) = self.advice.action {
            part("action", action.name());
        }
        for (label, steps) in [("to do", &self.advice.vendor), ("site", &self.advice.site)] {
            for (at, step) in steps.iter().enumerate() {
                let label = if at == 0 { label } else { "" };
                part(label, &format!("{}. {step}", at + 1));
            }
        }
        if let Some(rule) = &self.advice.rule {
            part("rule", rule);
        }
        for (label, command) in self.commands() {
            part(label, &command);
        }
        if self.code.is_some() {
            part(
                "note",
                "the text of a line can change severity and steps: gtrace decode",
            );
        }
        text
    }
}

/// Runs the command.
///
/// # Errors
///
/// A policy that cannot be read, and what standard output says, a closed pipe aside.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let catalogue = policy::catalogue(args.site_policy.as_deref())?;
    let Some(subject) = Subject::parse(&args.subject) else {
        let kinds: Vec<_> = Kind::ALL.iter().map(|kind| kind.name()).collect();
        let why = format!(
            "`{}` is no code and no kind of event; give `xid CODE`, `sxid CODE` or one of: {}",
            args.subject.join(" "),
            kinds.join(", ")
        );
        return Err(Failure::usage(why).into());
    };
    let explanation = Explanation::of(subject, &catalogue)?;
    let text = match args.json {
        true => format!("{}\n", serde_json::to_string_pretty(&explanation)?),
        false => explanation.text(),
    };
    shared::print(&text)?;
    Ok(match explanation.known {
        true => Exit::Success.into(),
        false => Exit::Problem.into(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn explain(words: &str) -> Explanation {
        let words: Vec<String> = words.split(' ').map(str::to_owned).collect();
        Explanation::of(Subject::parse(&words).unwrap(), &Catalogue::builtin()).unwrap()
    }

    #[test]
    fn a_code_is_found_however_it_is_written() {
        for (text, want) in [
            ("xid 79", Some(Subject::Xid(79))),
            ("XID:79", Some(Subject::Xid(79))),
            ("79", Some(Subject::Xid(79))),
            ("SXid 20034", Some(Subject::Sxid(20034))),
            ("20034", Some(Subject::Sxid(20034))),
            ("gpu_lost", Some(Subject::Kind(Kind::GpuLost))),
            ("xid", Some(Subject::Kind(Kind::Xid))),
            ("xid x", None),
            ("gpu_lost 79", None),
            ("pcie", None),
            ("123456", None),
            ("", None),
        ] {
            let words: Vec<String> = text.split(' ').map(str::to_owned).collect();
            assert_eq!(Subject::parse(&words), want, "{text}");
        }
    }

    #[test]
    fn a_known_code_has_meaning_class_steps_and_runbook() {
        let text = explain("xid 79").text();
        for part in [
            "Xid 79  ROBUST_CHANNEL_GPU_HAS_FALLEN_OFF_THE_BUS\n",
            "  severity  FATAL\n",
            "  class     pcie (F4: PCIe fault)\n",
            "  meaning   The GPU no longer answers on PCIe.",
            "  to do     1. Run gtrace capture",
            "  runbook   gtrace runbook pcie\n",
            "  more      gtrace runbook xid\n",
        ] {
            assert!(text.contains(part), "{part} in\n{text}");
        }
        let sxid = explain("sxid 20034").text();
        assert!(sxid.contains("  scope     always fatal\n"), "{sxid}");
        assert!(explain("oom_kill").known);
    }

    #[test]
    fn an_unknown_code_says_so() {
        let unknown = explain("xid 999");
        assert!(!unknown.known);
        let text = unknown.text();
        assert!(
            text.starts_with("Xid 999  not in the catalogue of this version\n"),
            "{text}"
        );
        let json = serde_json::to_value(&unknown).unwrap();
        assert_eq!(
            (&json["known"], &json["code"]),
            (&false.into(), &999.into())
        );
    }
}
