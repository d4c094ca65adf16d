//! The site's policy: which action an occurrence calls for here, and the site's own steps.

mod error;
mod file;
mod rule;

use std::sync::OnceLock;

use gtrace_event::{Action, Occurrence, Provenance, Severity};

pub use error::PolicyError;
use file::Defaults;
use rule::Rule;

/// The rules of one file, in its order; the first that matches decides.
#[derive(Clone, Debug, Default)]
pub(crate) struct Policy {
    defaults: Defaults,
    rules: Vec<Rule>,
}

impl Policy {
    pub(crate) fn parse(toml: &str) -> Result<Self, PolicyError> {
        file::parse(toml)
    }

    /// The policy that applies where the site says nothing.
    pub(crate) fn default_policy() -> &'static Self {
        static POLICY: OnceLock<Policy> = OnceLock::new();
        // A test proves that the built-in text parses; without it every action follows severity.
        POLICY.get_or_init(|| Self::parse(DEFAULT_TOML).unwrap_or_default())
    }

    pub(crate) fn len(&self) -> usize {
        self.rules.len()
    }

    fn first(&self, occ: &Occurrence) -> Option<&Rule> {
        self.rules.iter().find(|r| r.matches(occ))
    }
}

/// The built-in default policy, as a site would write it.
pub(crate) const DEFAULT_TOML: &str = include_str!("../../data/site-policy.toml");

/// What the policies decided about one occurrence.
pub(crate) struct Ruling<'a> {
    pub(crate) severity: Severity,
    pub(crate) action: Action,
    pub(crate) steps: &'a [String],
    pub(crate) note: Option<&'a str>,
    /// Set where a rule of the site's own file matched.
    pub(crate) rule: Option<String>,
}

impl<'a> Ruling<'a> {
    /// The site's first matching rule decides; what it leaves open, the default policy's first
    /// matching rule; what that leaves open, the action by severity.
    pub(crate) fn of(site: Option<&'a Policy>, occ: &Occurrence, severity: Severity) -> Self {
        let default = Policy::default_policy();
        let own = site.and_then(|p| p.first(occ));
        let builtin = default.first(occ);
        let layers = [own, builtin];
        let named = layers.iter().flatten().find_map(|r| r.severity);
        let severity = named.unwrap_or(severity);
        // A site that sets only the severity wants the action that follows from it.
        let by_rule = match own {
            Some(r) if r.action.is_some() || r.severity.is_some() => r.action,
            _ => builtin.and_then(|r| r.action),
        };
        let action = by_rule
            .or_else(|| site.and_then(|p| p.defaults.action(severity)))
            .or_else(|| default.defaults.action(severity))
            .unwrap_or_else(|| by_severity(severity));
        let asked_for = own.is_some_and(|r| r.action.is_some() && r.names_userspace());
        Self {
            severity,
            action: capped(action, occ.provenance, asked_for),
            steps: layers
                .iter()
                .flatten()
                .map(|r| r.steps.as_slice())
                .find(|s| !s.is_empty())
                .unwrap_or(&[]),
            note: layers.iter().flatten().find_map(|r| r.note.as_deref()),
            rule: own.map(|r| format!("site:{}", r.label(occ))),
        }
    }
}

/// Nobody is woken by a drill, nor by a line that any process could have written, unless the
/// site asked for just that.
fn capped(action: Action, provenance: Provenance, asked_for: bool) -> Action {
    match provenance {
        Provenance::Injected => Action::Drill,
        Provenance::Userspace if !asked_for => action.min(Action::Ticket),
        _ => action,
    }
}

const fn by_severity(severity: Severity) -> Action {
    match severity {
        Severity::Info => Action::Log,
        Severity::Warning => Action::Ticket,
        Severity::Critical | Severity::Fatal => Action::Page,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_built_in_policy_is_valid() {
        let policy = Policy::parse(DEFAULT_TOML).unwrap();
        assert!(policy.len() > 5);
        for severity in Severity::ALL {
            assert_eq!(
                policy.defaults.action(severity),
                Some(by_severity(severity)),
                "{severity}"
            );
        }
    }
}
