//! The pages in docs/events/ say what the code does. `UPDATE_DOCS=1 cargo test -p
//! gtrace-catalogue` rewrites the tables of codes, and severity and advice of the examples.
// clippy sees only the functions marked #[test] as tests, not their helpers.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use gtrace_catalogue::{Catalogue, failure_mode, failure_mode_title};
use gtrace_event::{Detail, Event, Kind, Occurrence, WitnessName};

fn page(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../docs/events")
        .join(format!("{name}.md"))
}

fn read(name: &str) -> String {
    let path = page(name);
    fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// Compares a page with what it should be; with UPDATE_DOCS set, writes it.
fn same_or_update(name: &str, want: &str) {
    let path = page(name);
    if std::env::var_os("UPDATE_DOCS").is_some() {
        fs::write(&path, want).unwrap();
        return;
    }
    let have = fs::read_to_string(&path).unwrap_or_default();
    let line = have.lines().zip(want.lines()).position(|(a, b)| a != b);
    assert!(
        have == want,
        "{} is stale, first in line {}: run UPDATE_DOCS=1 cargo test -p gtrace-catalogue",
        path.display(),
        line.map_or(have.lines().count().min(want.lines().count()), |n| n) + 1
    );
}

fn action_of(catalogue: &Catalogue, kind: Kind, code: u32) -> String {
    let mut occ = Occurrence::new(kind, gtrace_event::Severity::Info, "");
    match kind {
        Kind::Xid => occ.detail.xid.xid = Some(code),
        _ => occ.detail.fabric.sxid = Some(code),
    }
    let mode = failure_mode(&occ).map_or(String::new(), |m| format!(", {m}"));
    format!("{}{mode}", catalogue.action(&occ))
}

#[test]
fn the_table_of_xid_codes_is_the_catalogue() {
    let catalogue = Catalogue::builtin();
    let mut text = String::from(
        "# Xid codes\n\n<!-- Written by `UPDATE_DOCS=1 cargo test -p gtrace-catalogue`; edit \
         userspace/catalogue/src/table/xid.rs instead. -->\n\n\
         What this version of gtrace knows, in its own words. Sources of the facts: names from the \
         headers of NVIDIA's open kernel modules; meaning and vendor's steps from NVIDIA's public \
         Xid catalogue. Severity is the one without more detail; [xid](xid.md) says what the text \
         of a line changes. The action is the built-in policy's, which a site can replace, with \
         the failure mode where one fits.\n\n\
         | Xid | name | category | severity | action | meaning | vendor's steps |\n\
         |---|---|---|---|---|---|---|\n",
    );
    for e in catalogue.xids() {
        let action = action_of(&catalogue, Kind::Xid, e.code);
        let (name, cat, sev, steps) = (e.name, e.category, e.severity, e.vendor.join(" "));
        // Outside of code, Markdown would take `<GPU>` for a tag.
        let steps = steps.replace('<', "&lt;");
        let _ = writeln!(
            text,
            "| {} | `{name}` | {cat} | {sev} | {action} | {} | {steps} |",
            e.code, e.meaning
        );
    }
    same_or_update("xid-codes", &text);
}

#[test]
fn the_table_of_sxid_codes_is_the_catalogue() {
    let catalogue = Catalogue::builtin();
    let mut text = String::from(
        "# SXid codes\n\n<!-- Written by `UPDATE_DOCS=1 cargo test -p gtrace-catalogue`; edit \
         userspace/catalogue/src/table/sxid.rs instead. -->\n\n\
         What this version of gtrace knows, in its own words. Sources of the facts: codes, texts \
         and scopes from NVIDIA's NVSwitch and fabric manager guide. The vendor's steps follow \
         the scope; [sxid](sxid.md) lists them and says what the text of a line changes.\n\n\
         | SXid | driver's text | part of the switch | scope | severity | action | meaning |\n\
         |---|---|---|---|---|---|---|\n",
    );
    for e in catalogue.sxids() {
        let action = action_of(&catalogue, Kind::Sxid, e.code);
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} | {} | {action} | {} |",
            e.code, e.name, e.area, e.scope, e.severity, e.meaning
        );
    }
    same_or_update("sxid-codes", &text);
}

/// The text between "```json\n" and "```", and where it stands.
fn json_block(text: &str) -> Option<std::ops::Range<usize>> {
    let start = text.find("```json\n")? + "```json\n".len();
    let end = start + text.get(start..)?.find("```")?;
    Some(start..end)
}

fn occurrence_of(event: &Event) -> Occurrence {
    let mut occ = Occurrence::new(event.kind, event.severity, event.message.clone());
    occ.gpu.clone_from(&event.gpu);
    occ.process.clone_from(&event.process);
    occ.detail.clone_from(&event.detail);
    occ.provenance = event.provenance;
    occ
}

#[test]
fn every_kind_has_a_page_whose_example_is_what_gtrace_says() {
    let catalogue = Catalogue::builtin();
    for kind in Kind::ALL {
        let name = kind.name();
        let text = read(name);
        assert!(text.len() > 1200, "{name}.md says next to nothing");
        for heading in [
            "Seen by",
            "Detail",
            "Example",
            "Severity and action",
            "What to do",
            "Limits",
        ] {
            assert!(
                text.contains(&format!("\n## {heading}\n")),
                "{name}.md: no `{heading}`"
            );
        }
        let block = json_block(&text).unwrap_or_else(|| panic!("{name}.md: no JSON example"));
        let json = &text[block.clone()];
        let mut event: Event =
            serde_json::from_str(json).unwrap_or_else(|e| panic!("{name}.md: {e}"));
        assert_eq!(event.kind, kind, "{name}.md");
        let mut occ = occurrence_of(&event);
        event.advice = Some(catalogue.assess(&mut occ));
        event.severity = occ.severity;
        let whole = serde_json::to_string_pretty(&event).unwrap() + "\n";
        let mut want = text.clone();
        want.replace_range(block, &whole);
        same_or_update(name, &want);

        let detail = serde_json::to_value(&event.detail).unwrap();
        for field in detail.as_object().unwrap().keys() {
            assert!(
                text.contains(&format!("| `{field}` |")),
                "{name}.md: `{field}`"
            );
        }
        let mode = failure_mode(&occ);
        let statement = match mode {
            Some(m) => format!("Failure mode: {m} ({})", failure_mode_title(m).unwrap()),
            None => "Failure mode: none".to_owned(),
        };
        assert!(text.contains(&statement), "{name}.md: `{statement}`");
    }
}

/// Addresses and masks are hex without leading zeros; 16-bit pairs and PCI addresses are not.
#[test]
fn hex_strings_of_the_examples_follow_the_contract() {
    for kind in Kind::ALL {
        let text = read(kind.name());
        let event: serde_json::Value =
            serde_json::from_str(&text[json_block(&text).unwrap()]).unwrap();
        let detail = event["detail"].to_string();
        for hex in detail.split('"').filter(|s| s.starts_with("0x")) {
            let digits = &hex[2..];
            assert!(digits == "0" || !digits.starts_with('0'), "{kind}: {hex}");
            assert!(
                !digits.chars().any(|c| c.is_ascii_uppercase()),
                "{kind}: {hex}"
            );
        }
    }
}

#[test]
fn every_field_of_the_detail_is_on_some_page() {
    let schema = serde_json::to_value(schemars::schema_for!(Detail)).unwrap();
    let fields: BTreeSet<String> = schema["properties"]
        .as_object()
        .unwrap()
        .keys()
        .cloned()
        .collect();
    assert!(fields.len() > 60, "{fields:?}");
    let all: String = Kind::ALL.iter().map(|k| read(k.name())).collect();
    for field in fields {
        assert!(
            all.contains(&format!("| `{field}` |")),
            "no page explains `{field}`"
        );
    }
}

#[test]
fn the_index_links_every_page_and_names_every_witness() {
    let index = read("README");
    for kind in Kind::ALL {
        assert!(index.contains(&format!("({kind}.md)")), "{kind}");
    }
    for witness in WitnessName::ALL {
        assert!(index.contains(&format!("`{witness}`")), "{witness}");
    }
    for page in ["xid-codes.md", "sxid-codes.md"] {
        assert!(index.contains(page), "{page}");
    }
}
