use std::collections::BTreeMap;

use serde_json::{Map, Value};

/// Families that the view shows, without `gtrace_` and `_total`.
const SHOWN: [&str; 5] = ["events", "xid", "sxid", "records", "lost"];

/// The daemon's counters, read from `/metrics`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Counters {
    families: BTreeMap<&'static str, Vec<Sample>>,
}

/// A line of `/metrics`.
#[derive(Clone, Debug, PartialEq)]
pub struct Sample {
    /// Name of the series.
    pub name: String,
    /// Labels, with their values unescaped.
    pub labels: Vec<(String, String)>,
    /// The value.
    pub value: f64,
}

impl Sample {
    /// Reads `name{label="value",..} number`.
    pub fn parse(line: &str) -> Option<Self> {
        let end = line.find(['{', ' '])?;
        let (name, mut rest) = line.split_at(end);
        let mut labels = Vec::new();
        if let Some(inside) = rest.strip_prefix('{') {
            rest = inside;
            while !rest.starts_with('}') {
                let (label, after) = rest.split_once("=\"")?;
                let (value, after) = quoted(after)?;
                labels.push((label.trim_start_matches(',').to_owned(), value));
                rest = after;
            }
            rest = &rest[1..];
        }
        Some(Self {
            name: name.to_owned(),
            labels,
            value: rest.trim().split(' ').next()?.parse().ok()?,
        })
    }

    /// The value of a label; empty where it has none.
    pub fn label(&self, name: &str) -> &str {
        let found = self.labels.iter().find(|(have, _)| have == name);
        found.map_or("", |(_, value)| value)
    }
}

impl Counters {
    /// Reads OpenMetrics text; lines that are not understood are passed over.
    pub fn parse(text: &str) -> Self {
        let mut counters = Self::default();
        let lines = text.lines().filter(|line| !line.starts_with('#'));
        for sample in lines.filter_map(Sample::parse) {
            let name = sample
                .name
                .strip_prefix("gtrace_")
                .and_then(|n| n.strip_suffix("_total"));
            if let Some(shown) = SHOWN.into_iter().find(|shown| Some(*shown) == name) {
                counters.families.entry(shown).or_default().push(sample);
            }
        }
        counters
    }

    /// Samples of a family, the largest first.
    pub(super) fn largest(&self, family: &str) -> Vec<&Sample> {
        let mut samples: Vec<&Sample> = self.families.get(family).into_iter().flatten().collect();
        samples.sort_by(|a, b| b.value.total_cmp(&a.value));
        samples
    }

    /// Sums of a family by two labels, the largest first.
    pub(super) fn sums(&self, family: &str, labels: [&str; 2]) -> Vec<((String, String), f64)> {
        let mut sums: BTreeMap<[&str; 2], f64> = BTreeMap::new();
        for sample in self.families.get(family).into_iter().flatten() {
            *sums.entry(labels.map(|l| sample.label(l))).or_default() += sample.value;
        }
        let mut sums: Vec<_> = sums
            .into_iter()
            .map(|([a, b], sum)| ((a.to_owned(), b.to_owned()), sum))
            .collect();
        sums.sort_by(|a, b| b.1.total_cmp(&a.1));
        sums
    }

    /// `{"xid": [{"gpu": .., "xid": .., "count": ..}], ..}`.
    pub fn to_json(&self) -> Value {
        let family = |name: &str| -> Value {
            let samples = self.families.get(name).into_iter().flatten();
            samples
                .map(|sample| {
                    let labels = sample
                        .labels
                        .iter()
                        .map(|(k, v)| (k.clone(), v.clone().into()));
                    let mut object: Map<String, Value> = labels.collect();
                    // Counters are whole numbers far below 2^53.
                    object.insert("count".to_owned(), (sample.value as u64).into());
                    Value::Object(object)
                })
                .collect()
        };
        SHOWN
            .into_iter()
            .map(|name| (name.to_owned(), family(name)))
            .collect()
    }
}

/// A label's value up to its closing quote, without escapes, and what follows.
fn quoted(text: &str) -> Option<(String, &str)> {
    let mut value = String::new();
    let mut chars = text.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return Some((value, &text[at + 1..])),
            '\\' => match chars.next()?.1 {
                'n' => value.push('\n'),
                escaped => value.push(escaped),
            },
            c => value.push(c),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_are_read_with_their_labels_and_escapes() {
        let text = "# TYPE gtrace_xid counter\n\
            gtrace_xid_total{gpu=\"0000:3b:00.0\",xid=\"79\",provenance=\"kernel\"} 3\n\
            gtrace_xid_total{gpu=\"0000:5e:00.0\",xid=\"79\",provenance=\"kernel\"} 4\n\
            gtrace_xid_total{gpu=\"0000:5e:00.0\",xid=\"79\",provenance=\"injected\"} 2\n\
            gtrace_lost_total{source=\"a\\\"b}\\\\\",what=\"\"} 1.0\n\
            gtrace_other_total 5\nnonsense{\ngtrace_xid_total{gpu=\"x\n# EOF\n";
        let counters = Counters::parse(text);
        assert_eq!(counters.largest("xid")[0].label("gpu"), "0000:5e:00.0");
        let sum = |provenance: &str, sum| (("79".to_owned(), provenance.to_owned()), sum);
        assert_eq!(
            counters.sums("xid", ["xid", "provenance"]),
            [sum("kernel", 7.0), sum("injected", 2.0)]
        );
        assert_eq!(counters.largest("lost")[0].label("source"), "a\"b}\\");
        let json = counters.to_json();
        assert_eq!(json["xid"][0]["count"], 3);
        assert_eq!(json["events"], serde_json::json!([]));
    }
}
