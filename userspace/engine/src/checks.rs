//! What plugins of the site found, as the core takes it: reasons of health, and events where a check has changed.

use std::collections::{BTreeMap, BTreeSet};

use gtrace_event::{
    Gpu, HealthAction, HealthState, HealthSubject, Kind, Occurrence, Provenance, Severity,
    SubjectKind,
};
use gtrace_plugins::Check;

use crate::clock;

/// A run of a plugin: what it said, or why it said nothing.
#[derive(Clone, Debug)]
pub struct Checked {
    /// The plugin.
    pub plugin: String,
    /// Its checks, or why nothing is known of them.
    pub outcome: Result<Vec<Check>, String>,
    /// Checks of GPUs that are not there now. Whether they hold nobody knows: their reasons stand.
    pub of_unknown: Vec<Check>,
    /// Whether every line could be read. If not, one of them may name a check that is missing here, and its reason stands.
    pub is_complete: bool,
}

/// A look into the folder of plugins.
#[derive(Clone, Debug)]
pub struct Looked {
    /// Names of those that are there, refused ones too; or why the folder could not be read, which says nothing of them.
    pub there: Result<BTreeSet<String>, String>,
    /// Those of them that are not run, and why.
    pub refused: BTreeMap<String, String>,
}

impl Looked {
    /// No plugin is there.
    pub fn none() -> Self {
        Self {
            there: Ok(BTreeSet::new()),
            refused: BTreeMap::new(),
        }
    }
}

/// What names of plugins' parts and judgements begin with.
const PREFIX: &str = "plugin/";

/// The plugin whose part or judgement has this name.
pub fn plugin_of(name: &str) -> Option<&str> {
    name.strip_prefix(PREFIX)?.split('/').next()
}

impl Checked {
    /// A run, of which all GPUs are there and all lines could be read.
    pub fn new(plugin: &str, outcome: Result<Vec<Check>, String>) -> Self {
        Self {
            plugin: plugin.to_owned(),
            outcome,
            of_unknown: Vec::new(),
            is_complete: true,
        }
    }

    /// The part that the plugin is in health.
    pub fn subject(&self) -> HealthSubject {
        HealthSubject::new(SubjectKind::Component, self.rule())
    }

    /// Name of the judgement whether it runs.
    pub fn rule(&self) -> String {
        format!("{PREFIX}{}", self.plugin)
    }

    /// Whether a judgement is that of one of its checks.
    pub fn is_own(&self, rule: &str) -> bool {
        rule.strip_prefix(&self.rule())
            .is_some_and(|check| check.starts_with('/'))
    }

    /// The judgement of a check.
    pub fn judge(&self, check: &Check) -> Judged {
        let subject = match check.gpu {
            Some(gpu) => HealthSubject::new(SubjectKind::Gpu, gpu.to_string()),
            None => self.subject(),
        };
        let text = match check.reason.is_empty() {
            true => format!(
                "the check {} of the plugin {} fails",
                check.check, self.plugin
            ),
            false => check.reason.clone(),
        };
        Judged {
            subject,
            rule: format!("{}/{}", self.rule(), check.check),
            state: check.state,
            text,
        }
    }

    /// The event that a check has changed.
    pub fn occurrence(&self, check: &Check) -> Occurrence {
        let severity = match check.state {
            HealthState::Healthy | HealthState::Unknown => Severity::Info,
            HealthState::Degraded => Severity::Warning,
            HealthState::Unhealthy => Severity::Critical,
        };
        let (plugin, name, state) = (&self.plugin, &check.check, check.state);
        let mut message = format!("plugin {plugin}: {name} is {state}");
        if !check.reason.is_empty() {
            message.push_str(": ");
            message.push_str(&check.reason);
        }
        let mut occurrence = Occurrence::new(Kind::PluginCheck, severity, message);
        occurrence.gpu = check.gpu.map(Gpu::at);
        occurrence.provenance = Provenance::Kernel;
        occurrence.boottime_ns = Some(clock::boottime_ns());
        let detail = &mut occurrence.detail.plugin;
        detail.plugin = Some(plugin.clone());
        detail.check = Some(name.clone());
        detail.check_state = Some(state.to_string());
        occurrence
    }
}

/// What a check makes of a part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Judged {
    /// Which part.
    pub subject: HealthSubject,
    /// Name of the judgement.
    pub rule: String,
    /// How it is.
    pub state: HealthState,
    /// Why.
    pub text: String,
}

impl Judged {
    /// What to do.
    pub fn action(&self) -> HealthAction {
        match self.state {
            HealthState::Healthy | HealthState::Unknown => HealthAction::None,
            HealthState::Degraded | HealthState::Unhealthy => HealthAction::Watch,
        }
    }
}
