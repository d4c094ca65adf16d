use gtrace_event::{Action, Kind, PciAddress, Provenance, Severity};
use serde::{Deserialize, Deserializer};
use toml::Spanned;

use super::rule::{OneOrMany, Rule, WhichGpu};
use super::{Policy, PolicyError};

/// Longest policy text that is read, in bytes. A rule takes about 200.
const MAX_TEXT: usize = 256 * 1024;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawPolicy {
    #[serde(default)]
    default: Defaults,
    #[serde(default)]
    rule: Vec<Spanned<RawRule>>,
}

/// Reads an action that a file may set: all but `drill`, which follows from the provenance alone.
fn settable<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Action>, D::Error> {
    #[derive(Deserialize)]
    #[serde(rename_all = "snake_case")]
    enum Settable {
        Log,
        Ticket,
        Page,
    }
    let settable = Option::<Settable>::deserialize(from)?;
    Ok(settable.map(|action| match action {
        Settable::Log => Action::Log,
        Settable::Ticket => Action::Ticket,
        Settable::Page => Action::Page,
    }))
}

/// The `[default]` table: the action of each severity where no rule sets one.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Defaults {
    #[serde(default, deserialize_with = "settable")]
    info: Option<Action>,
    #[serde(default, deserialize_with = "settable")]
    warning: Option<Action>,
    #[serde(default, deserialize_with = "settable")]
    critical: Option<Action>,
    #[serde(default, deserialize_with = "settable")]
    fatal: Option<Action>,
}

impl Defaults {
    pub(super) const fn action(&self, severity: Severity) -> Option<Action> {
        match severity {
            Severity::Info => self.info,
            Severity::Warning => self.warning,
            Severity::Critical => self.critical,
            Severity::Fatal => self.fatal,
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawRule {
    #[serde(default)]
    xid: OneOrMany<u32>,
    #[serde(default)]
    sxid: OneOrMany<u32>,
    #[serde(default)]
    kind: OneOrMany<Kind>,
    #[serde(default)]
    sub_code: OneOrMany<u32>,
    provenance: Option<Provenance>,
    gpu: Option<String>,
    severity: Option<Severity>,
    #[serde(default, deserialize_with = "settable")]
    action: Option<Action>,
    #[serde(default)]
    steps: OneOrMany<String>,
    note: Option<String>,
}

pub(super) fn parse(toml: &str) -> Result<Policy, PolicyError> {
    if toml.len() > MAX_TEXT {
        let cause = format!("it has {} bytes, more than {MAX_TEXT}", toml.len());
        let remedy = "merge rules that differ only in their code: `xid = [13, 31]`";
        return Err(PolicyError::at(toml, None, cause, remedy));
    }
    let raw: RawPolicy = toml::from_str(toml).map_err(|e| {
        let cause = e.message().trim().to_owned();
        let remedy = remedy_for(&cause);
        PolicyError::at(toml, e.span().map(|s| s.start), cause, remedy)
    })?;
    let rules = raw.rule.into_iter().map(|spanned| {
        let at = heading(toml, spanned.span().start);
        check(spanned.into_inner())
            .map_err(|(cause, remedy)| PolicyError::at(toml, at, cause, remedy))
    });
    Ok(Policy {
        defaults: raw.default,
        rules: rules.collect::<Result<_, _>>()?,
    })
}

/// The parser's own words name the keys or values it knows; what is left to say is where to look.
fn remedy_for(cause: &str) -> &'static str {
    if cause.starts_with("unknown field") {
        "remove the key or correct its spelling"
    } else if cause.starts_with("unknown variant") {
        "use one of the values listed"
    } else if cause.starts_with("invalid") {
        "give the key a value of the expected type"
    } else {
        "correct the TOML at this place"
    }
}

/// The span of a `[[rule]]` table starts at its heading or just after it, by parser version.
fn heading(toml: &str, start: usize) -> Option<usize> {
    let upto = toml.get(..start.saturating_add(8).min(toml.len()));
    upto.and_then(|t| t.rfind("[[")).or(Some(start))
}

/// A cause and a remedy.
type Refusal = (String, &'static str);

fn refuse<T>(cause: &str, remedy: &'static str) -> Result<T, Refusal> {
    Err((cause.to_owned(), remedy))
}

fn check(raw: RawRule) -> Result<Rule, Refusal> {
    if !raw.xid.0.is_empty() && !raw.sxid.0.is_empty() {
        return refuse(
            "a rule with both `xid` and `sxid` never matches",
            "write two rules",
        );
    }
    let code = !raw.xid.0.is_empty() || !raw.sxid.0.is_empty();
    let narrowed = raw.provenance.is_some() || raw.gpu.is_some();
    if !code && raw.kind.0.is_empty() && !narrowed {
        return refuse(
            "the rule matches nothing",
            "add `xid`, `sxid`, `kind`, `provenance` or `gpu`; for all events use the [default] table",
        );
    }
    if !raw.sub_code.0.is_empty() && raw.xid.0.is_empty() {
        return refuse(
            "`sub_code` belongs to an Xid",
            "add the `xid` it belongs to (144 to 150)",
        );
    }
    let sets = raw.severity.is_some() || raw.action.is_some() || raw.note.is_some();
    if !sets && raw.steps.0.is_empty() {
        return refuse(
            "the rule changes nothing",
            "add `action`, `severity`, `steps` or `note`",
        );
    }
    if let Some(kind) = raw.kind.0.iter().find(|k| {
        (!raw.xid.0.is_empty() && **k != Kind::Xid) || (!raw.sxid.0.is_empty() && **k != Kind::Sxid)
    }) {
        let cause = format!("no event of kind `{kind}` has that code");
        return Err((cause, "leave `kind` out: the code implies it"));
    }
    let gpu = raw.gpu.as_deref().map(which_gpu).transpose()?;
    Ok(Rule {
        xid: raw.xid.0,
        sxid: raw.sxid.0,
        kind: raw.kind.0,
        sub_code: raw.sub_code.0,
        provenance: raw.provenance,
        gpu,
        severity: raw.severity,
        action: raw.action,
        steps: raw.steps.0,
        note: raw.note,
    })
}

fn which_gpu(text: &str) -> Result<WhichGpu, Refusal> {
    if text.starts_with("GPU-") || text.starts_with("MIG-") {
        return Ok(WhichGpu::Uuid(text.to_owned()));
    }
    PciAddress::parse(text).map(WhichGpu::Pci).ok_or_else(|| {
        let cause = format!("`{text}` is neither a PCI address nor a UUID");
        (
            cause,
            "write `0000:3b:00.0` or `GPU-…` as nvidia-smi -L prints it",
        )
    })
}
