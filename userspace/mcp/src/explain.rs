//! What codes and kinds mean.

use gtrace_catalogue::Catalogue;
use gtrace_event::{Kind, Occurrence, Severity};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::source::{Refusal, Source};

/// Exactly one of these.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Explain {
    /// An Xid code.
    xid: Option<u32>,
    /// An SXid code of the NVSwitch driver.
    sxid: Option<u32>,
    /// A kind of event.
    kind: Option<Kind>,
}

pub(crate) fn explain(source: &dyn Source, asked: &Explain) -> Result<Value, Refusal> {
    let catalogue = source.catalogue();
    match (asked.xid, asked.sxid, asked.kind) {
        (Some(code), None, None) => xid(&catalogue, code),
        (None, Some(code), None) => sxid(&catalogue, code),
        (None, None, Some(kind)) => Ok(of_kind(&catalogue, kind)),
        _ => Err(Refusal(
            "give exactly one of `xid`, `sxid` and `kind`".to_owned(),
        )),
    }
}

fn xid(catalogue: &Catalogue, code: u32) -> Result<Value, Refusal> {
    let entry = catalogue
        .xid(code)
        .ok_or_else(|| Refusal(format!("the catalogue has no Xid {code}")))?;
    let mut occurrence = Occurrence::new(Kind::Xid, Severity::Info, "");
    occurrence.detail.xid.xid = Some(code);
    Ok(json!({
        "xid": code,
        "name": entry.name,
        "meaning": entry.meaning,
        "look_first_at": entry.category.name(),
        "severity": entry.severity,
        "vendor": entry.vendor,
        "failure_mode": gtrace_catalogue::failure_mode(&occurrence),
        "advice": catalogue.assess(&mut occurrence),
        "more": "get_runbook with the name `xid` has the page of this kind",
    }))
}

fn sxid(catalogue: &Catalogue, code: u32) -> Result<Value, Refusal> {
    let entry = catalogue
        .sxid(code)
        .ok_or_else(|| Refusal(format!("the catalogue has no SXid {code}")))?;
    let mut occurrence = Occurrence::new(Kind::Sxid, Severity::Info, "");
    occurrence.detail.fabric.sxid = Some(code);
    Ok(json!({
        "sxid": code,
        "name": entry.name,
        "reported_by": entry.area,
        "reach": entry.scope.name(),
        "meaning": entry.meaning,
        "look_first_at": entry.category.name(),
        "severity": entry.severity,
        "vendor": entry.vendor,
        "advice": catalogue.assess(&mut occurrence),
        "more": "get_runbook with the name `sxid` has the page of this kind",
    }))
}

fn of_kind(catalogue: &Catalogue, kind: Kind) -> Value {
    let entry = catalogue.kind(kind);
    let mut occurrence = Occurrence::new(kind, Severity::Info, "");
    json!({
        "kind": kind,
        "meaning": entry.meaning,
        "look_first_at": entry.category.name(),
        "severity": entry.severity,
        "steps": entry.steps,
        "advice": catalogue.assess(&mut occurrence),
        "more": format!("get_runbook with the name `{kind}` has the page of this kind"),
    })
}
