//! What the rule files say.

use std::collections::BTreeSet;

use gtrace_event::{
    Clearing, Confidence, Event, HealthAction, HealthState, Kind, Provenance, RuleOrigin,
    SubjectKind,
};
use serde::Deserialize;

use crate::pattern::{Pattern, code_of, is_category};

/// Rules that come with gtrace.
const FILES: [(&str, &str); 6] = [
    // Before those of all other Xids, by severity.
    ("memory.toml", include_str!("../rules/memory.toml")),
    ("gpu.toml", include_str!("../rules/gpu.toml")),
    ("links.toml", include_str!("../rules/links.toml")),
    ("host.toml", include_str!("../rules/host.toml")),
    ("kernel.toml", include_str!("../rules/kernel.toml")),
    ("recoveries.toml", include_str!("../rules/recoveries.toml")),
];
/// A reason that was cleared, or never held, is remembered so long, to know whether it comes back.
const REMEMBERED_S: u32 = 30 * 86_400;

/// A rule file that cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("{file}: {}{cause}", place(*line))]
pub struct RuleError {
    /// Which file.
    pub file: String,
    /// Which of its lines, unless `cause` names it.
    pub line: Option<usize>,
    /// What is wrong with it, and where.
    pub cause: String,
}

fn place(line: Option<usize>) -> String {
    line.map(|line| format!("line {line}: "))
        .unwrap_or_default()
}

/// All rules.
#[derive(Clone, Debug, Default)]
pub struct Rules {
    pub(crate) rules: Vec<Rule>,
    pub(crate) recoveries: Vec<Recovery>,
}

/// A rule as the table of the documentation shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// Its name, and how often.
    pub name: String,
    /// Whose it is.
    pub origin: RuleOrigin,
    /// Which kind of part it is about.
    pub part: &'static str,
    /// The state that it gives; `notice` for one that makes nothing worse, `off` for one that is switched off.
    pub state: &'static str,
    /// The action that it gives.
    pub action: &'static str,
    /// What ends it.
    pub clears: String,
    /// When it is no longer enough to wait for that.
    pub escalates: String,
}

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct File {
    rule: Vec<Rule>,
    recovery: Vec<Recovery>,
}

/// What an event makes worse, and what ends that.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Rule {
    pub(crate) name: String,
    /// Of the rules of one topic only the newest holds.
    #[serde(default)]
    pub(crate) topic: Option<String>,
    #[serde(rename = "match")]
    pub(crate) pattern: Pattern,
    /// The kind of part that it is about.
    pub(crate) part: SubjectKind,
    /// `healthy` makes nothing worse: it is a notice with an action.
    pub(crate) state: HealthState,
    pub(crate) action: HealthAction,
    pub(crate) confidence: Confidence,
    /// In one sentence. `{code}` stands for the code, `{message}` for the first line of the message.
    pub(crate) text: String,
    /// What ends it, besides another device in its place.
    pub(crate) clears: Vec<Clearing>,
    /// With `quiet`: how long it must not have happened, seconds.
    #[serde(default)]
    pub(crate) quiet_s: Option<u32>,
    /// It holds once it has happened so often ...
    #[serde(default = "once")]
    pub(crate) times: u64,
    /// ... within so many seconds.
    #[serde(default)]
    pub(crate) within_s: Option<u32>,
    #[serde(default)]
    pub(crate) escalate: Option<Escalation>,
    /// Whose it is.
    #[serde(skip)]
    pub(crate) origin: RuleOrigin,
    /// Events that match it make nothing worse.
    #[serde(skip)]
    pub(crate) off: bool,
}

pub(crate) const fn once() -> u64 {
    1
}

/// When what ends a reason has not helped: from then on a person must look at it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Escalation {
    /// It happens again after so many reboots since it happened first.
    #[serde(default)]
    pub(crate) after_reboots: Option<usize>,
    /// It happens so often ...
    #[serde(default)]
    pub(crate) times: Option<u64>,
    /// ... within so many seconds.
    #[serde(default)]
    pub(crate) within_s: Option<u32>,
    pub(crate) state: HealthState,
    pub(crate) action: HealthAction,
    pub(crate) text: String,
}

/// An event that says that something is over.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Recovery {
    pub(crate) name: String,
    #[serde(rename = "match")]
    pub(crate) pattern: Pattern,
    pub(crate) part: SubjectKind,
    /// Names of the rules whose reasons it ends.
    #[serde(default)]
    pub(crate) rules: Vec<String>,
    /// It also ends what this ends.
    #[serde(default)]
    pub(crate) as_by: Option<Clearing>,
}

impl Rules {
    /// The rules that come with gtrace.
    ///
    /// # Errors
    ///
    /// None in a tested build: the files are part of the program.
    pub fn builtin() -> Result<Self, RuleError> {
        Self::parse(&FILES)
    }

    /// Rules from files: name and text of each.
    ///
    /// # Errors
    ///
    /// The first that cannot be understood, with its place.
    pub fn parse(files: &[(&str, &str)]) -> Result<Self, RuleError> {
        let mut all = Self::default();
        for (name, text) in files {
            let refuse = |cause: String| RuleError {
                file: (*name).to_owned(),
                line: None,
                cause,
            };
            let file: File = toml::from_str(text).map_err(|error| refuse(error.to_string()))?;
            for rule in &file.rule {
                rule.check()
                    .map_err(|cause| refuse(format!("{}: {cause}", rule.name)))?;
            }
            all.rules.extend(file.rule);
            all.recoveries.extend(file.recovery);
        }
        all.check_names().map_err(|cause| RuleError {
            file: "rules".to_owned(),
            line: None,
            cause,
        })?;
        Ok(all)
    }

    fn check_names(&self) -> Result<(), String> {
        let mut names = BTreeSet::new();
        for rule in &self.rules {
            if !names.insert(rule.name.as_str()) {
                return Err(format!("two rules have the name `{}`", rule.name));
            }
        }
        for recovery in &self.recoveries {
            let unknown = recovery
                .rules
                .iter()
                .find(|name| !names.contains(name.as_str()));
            if let Some(name) = unknown {
                return Err(format!("{}: there is no rule `{name}`", recovery.name));
            }
            if recovery.rules.is_empty() && recovery.as_by.is_none() {
                return Err(format!("{}: it ends nothing", recovery.name));
            }
        }
        Ok(())
    }

    /// The rule for `event`, the first that matches; none where the site has switched that off.
    pub(crate) fn of(&self, event: &Event) -> Option<&Rule> {
        let found = self.rules.iter().find(|rule| rule.pattern.matches(event));
        found.filter(|rule| !rule.off)
    }

    /// What `event` says is over.
    pub(crate) fn recovery_of(&self, event: &Event) -> Option<&Recovery> {
        self.recoveries
            .iter()
            .find(|recovery| recovery.pattern.matches(event))
    }

    pub(crate) fn named(&self, name: &str) -> Option<&Rule> {
        self.rules.iter().find(|rule| rule.name == name)
    }

    /// What the documentation's table shows.
    pub fn rows(&self) -> Vec<Row> {
        self.rules.iter().map(Rule::row).collect()
    }
}

impl Rule {
    /// One that says nothing.
    pub(crate) fn silent(pattern: Pattern) -> Self {
        Self {
            name: String::new(),
            topic: None,
            pattern,
            part: SubjectKind::Host,
            state: HealthState::Healthy,
            action: HealthAction::None,
            confidence: Confidence::High,
            text: String::new(),
            clears: vec![Clearing::Reboot],
            quiet_s: None,
            times: once(),
            within_s: None,
            escalate: None,
            origin: RuleOrigin::Site,
            off: true,
        }
    }

    pub(crate) fn check(&self) -> Result<(), String> {
        let pattern = &self.pattern;
        if let Some(name) = pattern.categories.iter().find(|name| !is_category(name)) {
            return Err(format!("`{name}` is no category of the catalogue"));
        }
        if pattern.kinds.is_empty() {
            return Err("`kinds` is empty".to_owned());
        }
        // The store writes these by itself, past the core.
        if pattern.kinds.contains(&Kind::RecordsRemoved) {
            return Err("events of kind records_removed change no health".to_owned());
        }
        if self.clears.is_empty() {
            return Err("nothing ends it: `clears` is empty".to_owned());
        }
        if self.clears.contains(&Clearing::Quiet) != self.quiet_s.is_some() {
            return Err("`quiet_s` and `quiet` in `clears` belong together".to_owned());
        }
        if (self.times > 1) != self.within_s.is_some() {
            return Err("`times` above 1 and `within_s` belong together".to_owned());
        }
        if self.state == HealthState::Unknown {
            return Err("an event does not make a state unknown".to_owned());
        }
        Ok(())
    }

    /// What it says of `event`.
    pub(crate) fn text_of(&self, event: &Event) -> String {
        fill(&self.text, event)
    }

    /// Whether `by` ends a reason of it.
    pub(crate) fn ends_by(&self, by: Clearing) -> bool {
        match by {
            Clearing::GpuReset | Clearing::DriverReload | Clearing::Reboot => {
                // Each includes those before it.
                self.clears.iter().any(|own| *own <= by)
            }
            other => self.clears.contains(&other),
        }
    }

    /// So far back its counts look, seconds; `None` where time does not matter to them.
    pub(crate) fn looks_back_s(&self) -> Option<u32> {
        let often = self.escalate.as_ref().filter(|e| e.times.is_some());
        match often {
            Some(escalation) => Some(escalation.within_s?.max(self.within_s.unwrap_or(0))),
            None => self.within_s,
        }
    }

    /// So long after its end a reason is remembered, seconds.
    pub(crate) fn remembered_s(&self) -> u32 {
        REMEMBERED_S
    }

    fn row(&self) -> Row {
        let clears = self.clears.iter().map(|by| match (by, self.quiet_s) {
            (Clearing::Quiet, Some(s)) => format!("quiet for {}", span(s)),
            (by, _) => by.name().replace('_', " "),
        });
        let mut escalates = String::new();
        if let Some(escalation) = &self.escalate {
            if let Some(n) = escalation.after_reboots {
                escalates = match n {
                    1 => "again after a reboot".to_owned(),
                    n => format!("again after {n} reboots"),
                };
            }
            if let (Some(n), Some(s)) = (escalation.times, escalation.within_s) {
                if !escalates.is_empty() {
                    escalates.push_str(", or ");
                }
                escalates.push_str(&format!("{n} times within {}", span(s)));
            }
            escalates.push_str(&format!(": {}", escalation.action.name()));
        }
        let often = match self.within_s {
            Some(s) => format!(" ({} times within {})", self.times, span(s)),
            None => String::new(),
        };
        let state = match (self.off, self.state) {
            (true, _) => "off",
            (false, HealthState::Healthy) => "notice",
            (false, state) => state.name(),
        };
        Row {
            name: format!("{}{often}", self.name),
            origin: self.origin,
            part: self.part.name(),
            state,
            action: self.action.name(),
            clears: clears.collect::<Vec<_>>().join(", "),
            escalates,
        }
    }
}

fn span(seconds: u32) -> String {
    match seconds {
        s if s % 86_400 == 0 => format!("{} d", s / 86_400),
        s if s % 3600 == 0 => format!("{} h", s / 3600),
        s if s % 60 == 0 => format!("{} min", s / 60),
        s => format!("{s} s"),
    }
}

/// `text` with what the event says in the places of its words in braces.
pub(crate) fn fill(text: &str, event: &Event) -> String {
    let code = code_of(event).map(|code| code.to_string());
    let message = event.message.lines().next().unwrap_or_default();
    let message: String = message.chars().take(160).collect();
    text.replace("{code}", &code.unwrap_or_default())
        .replace("{message}", &message)
}

/// Whether `event` counts: only what the kernel wrote makes anything worse.
pub(crate) fn counts(event: &Event) -> bool {
    event.provenance == Provenance::Kernel
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rules_that_come_with_gtrace_can_be_read() {
        let rules = Rules::builtin().unwrap();
        assert!(rules.rules.len() > 40, "{}", rules.rules.len());
        assert!(rules.recoveries.len() > 4);
    }

    #[test]
    fn a_wrong_rule_is_named_with_its_place() {
        let rule = |change: &str| {
            let text = "[[rule]]\nname = \"r\"\nmatch = { kinds = [\"xid\"] }\npart = \"gpu\"\nstate = \"degraded\"\n\
                        action = \"watch\"\nconfidence = \"high\"\ntext = \"t\"\nclears = [\"reboot\"]\n";
            let (from, to) = change.split_once(" => ").unwrap();
            assert!(text.contains(from), "{from}");
            Rules::parse(&[("x.toml", &text.replace(from, to))])
                .unwrap_err()
                .to_string()
        };
        for (change, want) in [
            ("\"xid\" => \"xyd\"", "x.toml"),
            ("kinds = [\"xid\"] => kinds = []", "`kinds` is empty"),
            ("\"xid\" => \"records_removed\"", "records_removed"),
            ("[\"reboot\"] => []", "nothing ends it"),
            ("[\"reboot\"] => [\"quiet\"]", "quiet_s"),
            ("clears => times = 3\nclears", "within_s"),
            ("state = \"degraded\" => state = \"unknown\"", "unknown"),
            (
                "kinds = [\"xid\"] => kinds = [\"xid\"], categories = [\"x\"]",
                "`x` is no category",
            ),
        ] {
            let error = rule(change);
            assert!(error.contains(want), "{change}: {error}");
        }
        let recovery = "[[recovery]]\nname = \"r\"\nmatch = { kinds = [\"xid\"] }\npart = \"gpu\"\nrules = [\"none\"]";
        let error = Rules::parse(&[("x.toml", recovery)])
            .unwrap_err()
            .to_string();
        assert!(error.contains("no rule `none`"), "{error}");
    }

    #[test]
    fn a_reboot_includes_a_reload_and_that_a_reset() {
        let rules = Rules::builtin().unwrap();
        let rule = |name: &str| rules.named(name).unwrap();
        let reset = rule("driver-halted");
        assert!(reset.ends_by(Clearing::GpuReset) && reset.ends_by(Clearing::Reboot));
        let reboot = rule("off-the-bus");
        assert!(!reboot.ends_by(Clearing::DriverReload) && reboot.ends_by(Clearing::Reboot));
        assert!(!reboot.ends_by(Clearing::Quiet));
    }
}
