//! Pseudonyms for what names people and places: hosts, users, paths, processes, containers, jobs, clients, addresses.
//!
//! One original has one pseudonym throughout a report, numbered by first appearance: a hash of a name could be guessed.

mod scan;

use std::cmp::Reverse;
use std::collections::BTreeMap;

use aho_corasick::{AhoCorasick, AhoCorasickBuilder, Match};
use gtrace_event::MissingEvidence;
use serde_json::Value;

use crate::material::{Material, missing};
use crate::{ReportError, chain};

/// Fields whose texts are words of gtrace, ids, times or hashes. Whatever is not listed is searched for names.
const FIXED: &str = "\
    action class closed confidence end events first_time from generator gpu gpus_below hash hotplug id kind \
    last_time layer limited_by made metric opened part pci pci_device port_change provenance removal removed_up_to \
    severity sha256 source start state time to";

/// Whether texts of a field are not searched for names.
fn is_fixed(field: Option<&str>) -> bool {
    field.is_some_and(|field| FIXED.split(' ').any(|fixed| fixed == field))
}

gtrace_event::shown_enum! {
    /// What a name names.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub(crate) enum Category {
        Host = "host",
        /// A machine's or a boot's id.
        Machine = "machine",
        /// A person, as they named themselves.
        User = "user",
        /// A path or the address of a page.
        Path = "path",
        Process = "process",
        Container = "container",
        Job = "job",
        /// A client of a remote GPU.
        Client = "client",
        /// An address of a network.
        Address = "address",
    }
}

impl Category {
    /// What the texts of a field name.
    fn of_field(field: &str) -> Option<Self> {
        Some(match field {
            "host" | "hosts" | "server" => Self::Host,
            "machine_id" | "boot_id" | "previous_boot_id" => Self::Machine,
            "by" | "user" => Self::User,
            "pod" | "namespace" | "job" => Self::Job,
            "cgroup" => Self::Path,
            "comm" | "program" => Self::Process,
            "container" | "containers" | "container_name" => Self::Container,
            "jobs" => Self::Job,
            "remote_client" | "remote_clients" => Self::Client,
            _ => return None,
        })
    }
}

/// A report without names.
#[derive(Debug)]
pub(crate) struct Redacted {
    /// What is left.
    pub(crate) material: Material,
    /// Originals and their pseudonyms.
    pub(crate) pseudonyms: BTreeMap<String, String>,
}

/// Replaces names by pseudonyms. The store's records and the snapshot are left out, which is said: hashes hold for the
/// originals only, and a snapshot may name anything.
///
/// # Errors
///
/// [`ReportError::Json`], of material that has no form in JSON.
pub(crate) fn redact(material: &Material) -> Result<Redacted, ReportError> {
    let mut material = material.clone();
    leave_out(&mut material);
    // By these the page finds why a part is missing.
    let whats: Vec<String> = material.missing.iter().map(|m| m.what.clone()).collect();
    // They have no names, and JSON has no word for NaN.
    let points: Vec<_> = material
        .samples
        .iter_mut()
        .map(|series| std::mem::take(&mut series.points))
        .collect();
    let mut value = serde_json::to_value(&material)?;
    let mut names = Names::default();
    // Names in a field of their own, then those within texts.
    texts(None, &value, &mut |field, text| {
        if let Some(category) = field.and_then(Category::of_field) {
            names.add(text, category);
        }
    });
    texts(None, &value, &mut |field, text| {
        if !is_fixed(field) {
            scan::names(text, &mut |name, category| names.add(name, category));
        }
    });
    let pseudonyms = names.pseudonyms();
    let replacer = Replacer::new(&pseudonyms)?;
    replacer.value(None, &mut value);
    let mut material: Material = serde_json::from_value(value)?;
    for (missing, what) in material.missing.iter_mut().zip(whats) {
        if missing::ALL.contains(&what.as_str()) {
            missing.what = what;
        }
    }
    for (series, points) in material.samples.iter_mut().zip(points) {
        series.points = points;
        // A label may be called after a fixed field.
        let labels = std::mem::take(&mut series.labels);
        series.labels = labels
            .into_iter()
            .map(|(k, v)| (k, replacer.text(&v)))
            .collect();
    }
    Ok(Redacted {
        material,
        pseudonyms,
    })
}

fn leave_out(material: &mut Material) {
    let mut gone = |what: &str, why: String| {
        material.missing.retain(|missing| missing.what != what);
        material.missing.push(MissingEvidence::new(what, why));
    };
    if let Some(summary) = material.chain.as_ref().and_then(chain::summary) {
        let chain::Summary {
            first_seq,
            last_seq,
            last,
            ..
        } = summary;
        gone(
            missing::CHAIN,
            format!(
                "the report is redacted, and the hashes hold for the original records only; the store has them as \
                 {first_seq} to {last_seq}, the last with hash {last}"
            ),
        );
    }
    if !material.traces.is_empty() {
        gone(
            missing::CALLS,
            "the report is redacted, and the last calls of traced programs have their names"
                .to_owned(),
        );
    }
    if !material.snapshot.is_empty() {
        gone(
            missing::SNAPSHOT,
            "the report is redacted, and a snapshot may name anything".to_owned(),
        );
    }
    material.chain = None;
    material.snapshot.clear();
    material.traces.clear();
}

/// Gives each text and the name of its field.
fn texts(field: Option<&str>, value: &Value, take: &mut impl FnMut(Option<&str>, &str)) {
    match value {
        Value::String(text) => take(field, text),
        Value::Array(items) => items.iter().for_each(|item| texts(field, item, take)),
        Value::Object(fields) => fields
            .iter()
            .for_each(|(name, value)| texts(Some(name), value, take)),
        _ => {}
    }
}

/// Originals, in the order in which they appear.
#[derive(Default)]
struct Names {
    found: BTreeMap<String, Category>,
    order: Vec<String>,
}

impl Names {
    fn add(&mut self, original: &str, category: Category) {
        let original = original.trim();
        // Under the first name the calls of ended processes add up; gtrace names itself by the second.
        let own = [gtrace_profile::Process::ENDED, "gtrace"].contains(&original);
        if own || original.len() < 2 || self.found.contains_key(original) {
            return;
        }
        self.found.insert(original.to_owned(), category);
        self.order.push(original.to_owned());
    }

    fn pseudonyms(self) -> BTreeMap<String, String> {
        let mut counts: BTreeMap<Category, u32> = BTreeMap::new();
        let mut pseudonyms = BTreeMap::new();
        for original in self.order {
            let category = self.found[&original];
            let count = counts.entry(category).or_default();
            *count += 1;
            pseudonyms.insert(original, format!("{}-{count}", category.name()));
        }
        pseudonyms
    }
}

struct Replacer {
    automaton: AhoCorasick,
    pseudonyms: Vec<String>,
}

/// From this length on a name is replaced within a word, too.
const UNMISTAKABLE: usize = 6;

impl Replacer {
    fn new(pseudonyms: &BTreeMap<String, String>) -> Result<Self, ReportError> {
        let automaton = AhoCorasickBuilder::new()
            .ascii_case_insensitive(true)
            .build(pseudonyms.keys())
            .map_err(|error| ReportError::Io(std::io::Error::other(error)))?;
        Ok(Self {
            automaton,
            pseudonyms: pseudonyms.values().cloned().collect(),
        })
    }

    fn text(&self, text: &str) -> String {
        let in_word = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
        let is_name = |found: &Match| {
            let (before, after) = (&text[..found.start()], &text[found.end()..]);
            let within = in_word(before.chars().next_back()) || in_word(after.chars().next());
            !within || found.len() >= UNMISTAKABLE
        };
        let all = self.automaton.find_overlapping_iter(text);
        let mut all: Vec<Match> = all.filter(is_name).collect();
        // The first, and the longest of those that begin there.
        all.sort_by_key(|found| (found.start(), Reverse(found.end())));
        let mut out = String::with_capacity(text.len());
        let mut done = 0;
        for found in all {
            if found.start() < done {
                continue;
            }
            out.push_str(&text[done..found.start()]);
            out.push_str(&self.pseudonyms[found.pattern().as_usize()]);
            done = found.end();
        }
        out.push_str(&text[done..]);
        out
    }

    fn value(&self, field: Option<&str>, value: &mut Value) {
        match value {
            Value::String(text) if !is_fixed(field) => {
                *text = self.text(text);
            }
            Value::Array(items) => items.iter_mut().for_each(|item| self.value(field, item)),
            Value::Object(fields) => fields
                .iter_mut()
                .for_each(|(name, value)| self.value(Some(name), value)),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_begins_a_longer_one_within_a_word_is_replaced() {
        let pseudonyms = [("ab", "host-1"), ("ab-cd", "host-2")];
        let pseudonyms = pseudonyms.map(|(name, by)| (name.to_owned(), by.to_owned()));
        let replacer = Replacer::new(&BTreeMap::from(pseudonyms)).unwrap();
        assert_eq!(
            replacer.text("ab-cde, ab-cd, abc"),
            "host-1-cde, host-2, abc"
        );
    }
}
