//! What the rule files say.

use gtrace_catalogue::{Catalogue, Category};
use gtrace_event::{Confidence, Event, FailureClass, Kind, Provenance, Severity};
use serde::Deserialize;

/// Rules that come with gtrace.
const CLASSES: &str = include_str!("../rules/classes.toml");
const CAUSES: &str = include_str!("../rules/causes.toml");

/// A rule file that cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("{file}: {cause}")]
pub struct RuleError {
    /// Which file.
    pub file: String,
    /// What is wrong with it, and where.
    pub cause: String,
}

/// All rules.
#[derive(Clone, Debug)]
pub struct Rules {
    classes: Vec<ClassRule>,
    causes: Vec<CauseRule>,
    quiet: Vec<QuietRule>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ClassFile {
    class: Vec<ClassRule>,
    #[serde(default)]
    quiet: Vec<QuietRule>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CauseFile {
    cause: Vec<CauseRule>,
}

/// Which events a rule is for. What is not given holds for any.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Pattern {
    kinds: Vec<Kind>,
    /// Codes of Xids and SXids.
    codes: Vec<u32>,
    /// Names of categories of the catalogue.
    categories: Vec<String>,
    /// Names of `NV_STATUS`.
    statuses: Vec<String>,
    severity: Option<Severity>,
    /// A call that had not returned yet.
    hung: Option<bool>,
    /// A process that was ended by a signal, or by a status other than 0.
    failed: Option<bool>,
    /// A PCIe error that the hardware corrected.
    corrected: Option<bool>,
    /// Whether it names a GPU, or a port above one.
    gpu: Option<bool>,
    /// Which memory ran out, of an OOM kill: `cgroup`, `numa` or `host`.
    oom_scope: Option<String>,
    /// A text in the message.
    contains: Option<String>,
}

/// The class of an event.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ClassRule {
    #[serde(rename = "match")]
    pattern: Pattern,
    /// The class.
    pub(crate) class: FailureClass,
    /// Of the events of an incident, the one of the greatest weight gives the class and the title.
    pub(crate) weight: u32,
    /// What happened, for the title. `{at}` stands for the device, `{code}` for the code, `{who}` for the process,
    /// `{message}` for the whole message.
    pub(crate) title: String,
    /// Whether such an event opens an incident. By default its severity decides: critical and above.
    pub(crate) opens: Option<bool>,
    /// Whether it is the own fault of the process that it names.
    #[serde(default)]
    pub(crate) of_program: bool,
}

/// What ties cause and effect together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Relation {
    /// They name the same GPU, or the port above it.
    Device,
    /// They name the same process.
    Process,
    /// They name processes of one container or job.
    Job,
    /// Both are about NVLink or NVSwitch of this host.
    Fabric,
    /// They happened on this host.
    Host,
}

/// What can be the cause of what.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct CauseRule {
    pub(crate) name: String,
    from: Pattern,
    to: Pattern,
    /// Any of these.
    pub(crate) relations: Vec<Relation>,
    /// Longest time from cause to effect, seconds.
    pub(crate) within_s: u32,
    pub(crate) why: String,
    pub(crate) confidence: Confidence,
    /// Whether the two together open an incident, if neither does alone.
    #[serde(default)]
    pub(crate) opens: bool,
}

/// Incidents of this class are resolved by themselves once nothing has happened for so long.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct QuietRule {
    class: FailureClass,
    after_s: u32,
}

fn parse<T: for<'de> Deserialize<'de>>(file: &str, text: &str) -> Result<T, RuleError> {
    toml::from_str(text).map_err(|error| RuleError {
        file: file.to_owned(),
        cause: error.to_string(),
    })
}

impl Rules {
    /// The rules that come with gtrace.
    ///
    /// # Errors
    ///
    /// None in a tested build: the files are part of the program.
    pub fn builtin() -> Result<Self, RuleError> {
        Self::parse(CLASSES, CAUSES)
    }

    /// Rules from the text of a file of classes and of one of causes.
    ///
    /// # Errors
    ///
    /// The first that cannot be understood, with its place.
    pub fn parse(classes: &str, causes: &str) -> Result<Self, RuleError> {
        let ClassFile { class, quiet } = parse("classes.toml", classes)?;
        let CauseFile { cause } = parse("causes.toml", causes)?;
        let refuse = |file: &str, cause: String| RuleError {
            file: file.to_owned(),
            cause,
        };
        let categories = class
            .iter()
            .map(|rule| &rule.pattern)
            .chain(cause.iter().flat_map(|rule| [&rule.from, &rule.to]))
            .flat_map(|pattern| &pattern.categories);
        if let Some(unknown) = categories.into_iter().find(|name| !is_category(name)) {
            return Err(refuse(
                "rules",
                format!("`{unknown}` is no category of the catalogue"),
            ));
        }
        if let Some(rule) = cause.iter().find(|rule| rule.relations.is_empty()) {
            return Err(refuse(
                "causes.toml",
                format!("{}: `relations` is empty", rule.name),
            ));
        }
        Ok(Self {
            classes: class,
            causes: cause,
            quiet,
        })
    }

    /// The rule for `event`, the first that matches.
    pub(crate) fn class_of(&self, event: &Event) -> Option<&ClassRule> {
        self.classes.iter().find(|rule| rule.pattern.matches(event))
    }

    /// The class of the incident that `event` opens or joins, if it weighs most there.
    pub fn class(&self, event: &Event) -> FailureClass {
        self.class_of(event)
            .map_or(FailureClass::Unknown, |rule| rule.class)
    }

    pub(crate) fn causes(&self) -> &[CauseRule] {
        &self.causes
    }

    /// After so many seconds of quiet an incident of `class` is resolved by itself; `None`: never.
    pub(crate) fn resolves_after_s(&self, class: FailureClass) -> Option<u32> {
        let rule = self.quiet.iter().find(|rule| rule.class == class)?;
        Some(rule.after_s)
    }
}

impl CauseRule {
    pub(crate) fn is_cause(&self, event: &Event) -> bool {
        self.from.matches(event)
    }

    pub(crate) fn is_effect(&self, event: &Event) -> bool {
        self.to.matches(event)
    }
}

impl Pattern {
    fn matches(&self, event: &Event) -> bool {
        let detail = &event.detail;
        let among =
            |codes: &[u32]| codes.is_empty() || event.code().is_some_and(|c| codes.contains(&c));
        let status = detail.api.status_name.as_deref();
        (self.kinds.is_empty() || self.kinds.contains(&event.kind))
            && among(&self.codes)
            && (self.categories.is_empty()
                || self
                    .categories
                    .iter()
                    .any(|name| name == Catalogue::builtin().category(event).name()))
            && (self.statuses.is_empty()
                || status.is_some_and(|status| self.statuses.iter().any(|s| s == status)))
            && self.severity.is_none_or(|least| event.severity >= least)
            && self
                .hung
                .is_none_or(|hung| hung == (detail.api.returned == Some(false)))
            && self.failed.is_none_or(|failed| failed == has_failed(event))
            && self.gpu.is_none_or(|gpu| gpu == event.names_gpu())
            && self
                .corrected
                .is_none_or(|corrected| corrected == detail.aer.is_corrected())
            && self
                .oom_scope
                .as_ref()
                .is_none_or(|scope| detail.host.oom_scope.as_ref() == Some(scope))
            && self
                .contains
                .as_ref()
                .is_none_or(|text| event.message.contains(text.as_str()))
    }
}

fn has_failed(event: &Event) -> bool {
    let exit = &event.detail.process_exit;
    exit.signal.is_some_and(|signal| signal != 0) || exit.exit_code.is_some_and(|code| code != 0)
}

fn is_category(name: &str) -> bool {
    Category::ALL.iter().any(|category| category.name() == name)
}

/// Whether `event` counts: what programs wrote into the log, or may have written, opens nothing.
pub(crate) fn counts(event: &Event) -> bool {
    matches!(event.provenance, Provenance::Kernel | Provenance::Injected)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rules_that_come_with_gtrace_can_be_read() {
        let rules = Rules::builtin().unwrap();
        assert!(rules.classes.len() > 20 && rules.causes.len() > 10);
        let mut names: Vec<_> = rules.causes.iter().map(|rule| &rule.name).collect();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), rules.causes.len(), "two causes have one name");
    }

    #[test]
    fn a_wrong_rule_is_named_with_its_place() {
        let causes = "cause = []";
        let unknown =
            "[[class]]\nmatch = { kinds = [\"xyd\"] }\nclass = \"pcie\"\nweight = 1\ntitle = \"\"";
        let error = Rules::parse(unknown, causes).unwrap_err().to_string();
        assert!(
            error.contains("classes.toml") && error.contains("xyd"),
            "{error}"
        );
        let category = "[[class]]\nmatch = { categories = [\"x\"] }\nclass = \"pcie\"\nweight = 1\ntitle = \"\"";
        let error = Rules::parse(category, causes).unwrap_err().to_string();
        assert!(error.contains("`x` is no category"), "{error}");
    }
}
