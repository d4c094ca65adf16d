//! Rules of the site: its file adds rules, changes those that come with gtrace, and switches some off.
//!
//! What a rule of the file leaves out is that of the rule that comes with gtrace and has its name, or that it names by
//! `like`. Rules with names of their own come before those of gtrace, in the order of the file.

use gtrace_event::{Clearing, Confidence, HealthAction, HealthState, RuleOrigin, SubjectKind};
use serde::Deserialize;
use toml::Spanned;

use crate::pattern::Pattern;
use crate::rules::{Escalation, Recovery, Rule, RuleError, Rules, once};

/// Largest file, bytes: its text is part of each snapshot of health.
pub const SITE_RULES_MAX: usize = 64 << 10;
/// Most rules and recoveries of a file, each.
const MOST: usize = 256;
/// Longest name and text, characters.
const NAME_MAX: usize = 48;
const TEXT_MAX: usize = 300;
/// Names of reasons that no event and no rule gives.
const RESERVED: [&str; 4] = ["not-seen", "component", "baseline", "store"];

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct SiteFile {
    rule: Vec<SiteRule>,
    recovery: Vec<SiteRecovery>,
}

/// A rule as the file has it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SiteRule {
    name: Spanned<String>,
    /// The rule that comes with gtrace from which it takes what it leaves out.
    like: Option<Spanned<String>>,
    #[serde(rename = "match")]
    pattern: Option<Pattern>,
    part: Option<SubjectKind>,
    state: Option<HealthState>,
    action: Option<HealthAction>,
    confidence: Option<Confidence>,
    text: Option<String>,
    clears: Option<Vec<Clearing>>,
    quiet_s: Option<u32>,
    times: Option<u64>,
    within_s: Option<u32>,
    escalate: Option<Escalation>,
    /// False: what the other rule has of escalation is left out.
    escalates: Option<bool>,
    /// Events that match make nothing worse.
    #[serde(default)]
    off: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SiteRecovery {
    name: Spanned<String>,
    #[serde(rename = "match")]
    pattern: Pattern,
    part: SubjectKind,
    #[serde(default)]
    rules: Vec<Spanned<String>>,
    as_by: Option<Clearing>,
}

/// Something wrong at a byte of the file.
struct Wrong {
    at: usize,
    cause: String,
}

impl Rules {
    /// The rules that come with gtrace, as the text of a site's file adds to and changes them. `file` names it in errors.
    ///
    /// # Errors
    ///
    /// The first thing that cannot be understood, with its line.
    pub fn with_site(file: &str, text: &str) -> Result<Self, RuleError> {
        let refuse = |line: Option<usize>, cause: String| RuleError {
            file: file.to_owned(),
            line,
            cause,
        };
        if text.len() > SITE_RULES_MAX {
            let cause = format!("it has {} bytes; the most is {SITE_RULES_MAX}", text.len());
            return Err(refuse(None, cause));
        }
        let mut rules = Self::builtin()?;
        // The parser's own message names line and column.
        let read: SiteFile =
            toml::from_str(text).map_err(|error| refuse(None, error.to_string()))?;
        rules.merge(read).map_err(|wrong| {
            let before = text.get(..wrong.at).unwrap_or_default();
            refuse(Some(before.matches('\n').count() + 1), wrong.cause)
        })?;
        Ok(rules)
    }

    fn merge(&mut self, read: SiteFile) -> Result<(), Wrong> {
        let builtin = self.rules.clone();
        let mut own: Vec<Rule> = Vec::new();
        let mut changed: Vec<String> = Vec::new();
        for (count, given) in read.rule.into_iter().enumerate() {
            let at = given.name.span().start;
            let name = given.name.get_ref().clone();
            let wrong = |cause: String| Wrong {
                at,
                cause: format!("rule `{name}`: {cause}"),
            };
            if count == MOST {
                return Err(wrong(format!("a file has {MOST} rules at most")));
            }
            check_name(&name).map_err(wrong)?;
            let known = changed.contains(&name) || own.iter().any(|rule| rule.name == name);
            if known {
                return Err(wrong("the file has two of this name".to_owned()));
            }
            let place = self.rules.iter().position(|rule| rule.name == name);
            let base = match (&given.like, place) {
                (Some(_), Some(_)) => {
                    let cause = "it changes the rule of its own name that comes with gtrace; `like` is for a rule with \
                                 another name";
                    return Err(wrong(cause.to_owned()));
                }
                (Some(like), None) => Some(base(&builtin, like).map_err(|(at, cause)| Wrong {
                    at,
                    cause: format!("rule `{name}`: {cause}"),
                })?),
                (None, place) => place.map(|place| self.rules[place].clone()),
            };
            let is_change = place.is_some();
            let rule = given.over(base, is_change).map_err(wrong)?;
            rule.check().map_err(wrong)?;
            match place {
                Some(place) => {
                    changed.push(rule.name.clone());
                    self.rules[place] = rule;
                }
                None => own.push(rule),
            }
        }
        own.append(&mut self.rules);
        self.rules = own;
        let mut recoveries: Vec<Recovery> = Vec::new();
        for (count, given) in read.recovery.into_iter().enumerate() {
            let at = given.name.span().start;
            let name = given.name.into_inner();
            let wrong = |at: usize, cause: String| Wrong {
                at,
                cause: format!("recovery `{name}`: {cause}"),
            };
            if count == MOST {
                return Err(wrong(at, format!("a file has {MOST} recoveries at most")));
            }
            check_name(&name).map_err(|cause| wrong(at, cause))?;
            let mut known = self.recoveries.iter().chain(&recoveries);
            if known.any(|known| known.name == name) {
                let cause = "there is one of this name; give it another".to_owned();
                return Err(wrong(at, cause));
            }
            if given.pattern.kinds.is_empty() {
                return Err(wrong(at, "`kinds` is empty".to_owned()));
            }
            let mut rules = Vec::new();
            for ends in given.rules {
                if self.named(ends.get_ref()).is_none() {
                    let cause = format!("there is no rule `{}`", ends.get_ref());
                    return Err(wrong(ends.span().start, cause));
                }
                rules.push(ends.into_inner());
            }
            if rules.is_empty() && given.as_by.is_none() {
                let cause = "it ends nothing: `rules` names what it ends".to_owned();
                return Err(wrong(at, cause));
            }
            recoveries.push(Recovery {
                name,
                pattern: given.pattern,
                part: given.part,
                rules,
                as_by: given.as_by,
            });
        }
        recoveries.append(&mut self.recoveries);
        self.recoveries = recoveries;
        Ok(())
    }
}

/// The rule of this name.
fn base(builtin: &[Rule], like: &Spanned<String>) -> Result<Rule, (usize, String)> {
    let found = builtin.iter().find(|rule| rule.name == *like.get_ref());
    found.cloned().ok_or_else(|| {
        let cause = format!(
            "no rule that comes with gtrace is called `{}`; docs/health.md lists them",
            like.get_ref()
        );
        (like.span().start, cause)
    })
}

fn check_name(name: &str) -> Result<(), String> {
    let is_part = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    if name.is_empty() || name.len() > NAME_MAX || !name.chars().all(is_part) {
        return Err(format!(
            "a name is 1 to {NAME_MAX} small letters, digits and hyphens"
        ));
    }
    if RESERVED.contains(&name) {
        return Err("gtrace gives that name to reasons without a rule; choose another".to_owned());
    }
    Ok(())
}

impl SiteRule {
    /// It, with what it leaves out as `base` has it.
    fn over(self, base: Option<Rule>, is_change: bool) -> Result<Rule, String> {
        let base = base.as_ref();
        if let Some(text) = &self.text
            && (text.is_empty() || text.chars().count() > TEXT_MAX)
        {
            return Err(format!("`text` has 1 to {TEXT_MAX} characters"));
        }
        let missing = |key: &str| {
            format!(
                "`{key}` is missing: give it, or name a rule that comes with gtrace by `like`, from which it is taken"
            )
        };
        // A rule of another name and the same events would always come first, and hide the other whole: that is said, not
        // guessed.
        let pattern = match (self.pattern, base) {
            (Some(pattern), _) => pattern,
            (None, Some(base)) if is_change => base.pattern.clone(),
            (None, _) => {
                return Err("`match` is missing: it says which events the rule is for".to_owned());
            }
        };
        if self.off {
            // What it would say is never asked for.
            let mut rule = base
                .cloned()
                .unwrap_or_else(|| Rule::silent(pattern.clone()));
            (rule.name, rule.pattern) = (self.name.into_inner(), pattern);
            (rule.origin, rule.off) = (RuleOrigin::Site, true);
            return Ok(rule);
        }
        let clears = self.clears.or_else(|| base.map(|base| base.clears.clone()));
        let clears = clears.ok_or_else(|| missing("clears"))?;
        let is_quiet = clears.contains(&Clearing::Quiet);
        let inherited = base.and_then(|base| base.quiet_s).filter(|_| is_quiet);
        let times = self.times.or_else(|| base.map(|base| base.times));
        let times = times.unwrap_or_else(once);
        let inherited_within = base.and_then(|base| base.within_s).filter(|_| times > 1);
        let escalate = match (self.escalate, self.escalates) {
            (Some(_), Some(false)) => {
                return Err("`escalate` and `escalates = false` exclude each other".to_owned());
            }
            (Some(escalate), _) => Some(escalate),
            (None, Some(false)) => None,
            (None, _) => base.and_then(|base| base.escalate.clone()),
        };
        if let Some(escalation) = &escalate {
            check_escalation(escalation)?;
        }
        Ok(Rule {
            name: self.name.into_inner(),
            topic: base.and_then(|base| base.topic.clone()),
            pattern,
            part: self
                .part
                .or_else(|| base.map(|base| base.part))
                .ok_or_else(|| missing("part"))?,
            state: self
                .state
                .or_else(|| base.map(|base| base.state))
                .ok_or_else(|| missing("state"))?,
            action: self
                .action
                .or_else(|| base.map(|base| base.action))
                .ok_or_else(|| missing("action"))?,
            confidence: self
                .confidence
                .or_else(|| base.map(|base| base.confidence))
                .unwrap_or(Confidence::High),
            text: self
                .text
                .or_else(|| base.map(|base| base.text.clone()))
                .ok_or_else(|| missing("text"))?,
            clears,
            quiet_s: self.quiet_s.or(inherited),
            times,
            within_s: self.within_s.or(inherited_within),
            escalate,
            origin: RuleOrigin::Site,
            off: false,
        })
    }
}

fn check_escalation(escalation: &Escalation) -> Result<(), String> {
    let text = escalation.text.chars().count();
    if text == 0 || text > TEXT_MAX {
        return Err(format!(
            "`text` of `escalate` has 1 to {TEXT_MAX} characters"
        ));
    }
    if escalation.times.is_some() != escalation.within_s.is_some() {
        return Err("`times` and `within_s` of `escalate` belong together".to_owned());
    }
    if escalation.times.is_none() && escalation.after_reboots.is_none() {
        return Err(
            "`escalate` says not when: `after_reboots`, or `times` and `within_s`".to_owned(),
        );
    }
    if escalation.state == HealthState::Unknown {
        return Err("an event does not make a state unknown".to_owned());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(text: &str) -> String {
        Rules::with_site("site.toml", text).unwrap_err().to_string()
    }

    #[test]
    fn a_rule_takes_from_another_what_it_leaves_out() {
        let text = "[[rule]]\nname = \"off-the-bus\"\naction = \"replace\"\nescalates = false\n\n\
                    [[rule]]\nname = \"our-13\"\nlike = \"off-the-bus\"\nmatch = { kinds = [\"xid\"], codes = [13] }\n\
                    clears = [\"quiet\"]\nquiet_s = 60\n\n\
                    [[rule]]\nname = \"hush\"\nmatch = { kinds = [\"throttle\"] }\noff = true\n";
        let rules = Rules::with_site("site.toml", text).unwrap();
        let builtin = Rules::builtin().unwrap();
        let changed = rules.named("off-the-bus").unwrap();
        assert_eq!(changed.action, HealthAction::Replace);
        assert_eq!(changed.clears, [Clearing::Reboot]);
        assert!(changed.escalate.is_none() && changed.origin == RuleOrigin::Site);
        assert_eq!(
            builtin.named("off-the-bus").unwrap().origin,
            RuleOrigin::Builtin
        );
        let own = rules.named("our-13").unwrap();
        assert_eq!(
            own.action,
            HealthAction::Reboot,
            "of gtrace's own rule, not of the changed"
        );
        assert_eq!((own.quiet_s, own.state), (Some(60), HealthState::Unhealthy));
        assert!(rules.named("hush").unwrap().off);
        assert_eq!(rules.rules.len(), builtin.rules.len() + 2);
        assert_eq!(rules.rules[0].name, "our-13");
        assert!(Rules::with_site("site.toml", "").is_ok());
    }

    #[test]
    fn what_is_wrong_is_said_with_its_line() {
        let rule = |lines: &str| format!("# a site's\n\n[[rule]]\n{lines}");
        let own = "match = { kinds = [\"xid\"], codes = [13] }";
        let like = "name = \"own\"\nlike = \"off-the-bus\"";
        for (lines, line, want) in [
            ("state = \"bad\"".to_owned(), 4, "unknown variant `bad`"),
            (
                "action = \"off-the-bus\"\n".to_owned(),
                4,
                "unknown variant",
            ),
            (format!("name = \"own\"\n{own}"), 4, "`clears` is missing"),
            (
                format!("name = \"own\"\nlike = \"off\"\n{own}"),
                5,
                "is called `off`",
            ),
            (like.to_owned(), 4, "`match` is missing"),
            (format!("{like}\n{own}\nclears = [\"quiet\"]"), 4, "quiet_s"),
            (format!("{like}\n{own}\ntimes = 3"), 4, "within_s"),
            (format!("{like}\n{own}\nstate = \"unknown\""), 4, "unknown"),
            (
                format!("{like}\n{own}\n\n[[rule]]\n{like}\n{own}"),
                9,
                "two of this name",
            ),
            (format!("name = \"Own rule\"\n{own}"), 4, "small letters"),
            (format!("name = \"not-seen\"\n{own}"), 4, "choose another"),
            (
                "name = \"off-the-bus\"\nlike = \"gone\"".to_owned(),
                4,
                "another name",
            ),
            (
                format!("{like}\n{own}\nseverity = 3"),
                7,
                "unknown field `severity`",
            ),
            (
                format!(
                    "{like}\n{own}\nescalate = {{ state = \"degraded\", action = \"watch\", text = \"x\" }}"
                ),
                4,
                "not when",
            ),
            (
                format!(
                    "{like}\n{own}\n[[recovery]]\nname = \"r\"\nmatch = {{ kinds = [\"xid\"] }}\npart = \"gpu\"\nrules = [\n  \"nine\"]"
                ),
                12,
                "no rule `nine`",
            ),
        ] {
            let message = error(&rule(&lines));
            assert!(message.contains(want), "{lines}: {message}");
            assert!(
                message.contains(&format!("line {line}")),
                "{lines}: {message}"
            );
        }
        let large = "#".repeat(SITE_RULES_MAX + 1);
        assert!(error(&large).contains("65537 bytes"));
        let many: String = (0..=MOST)
            .map(|n| format!("[[rule]]\nname = \"r{n}\"\noff = true\n{own}\n"))
            .collect();
        assert!(error(&many).contains("256 rules at most"));
    }
}
