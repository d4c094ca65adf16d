//! What a plugin says: a line of JSON for each check.

use std::collections::{BTreeMap, BTreeSet};

use gtrace_api::text::clean;
use gtrace_event::{HealthState, PciAddress};
use serde::Deserialize;

/// Checks of one plugin, at most.
pub const CHECKS_MAX: usize = 32;
/// Metrics of one check, at most.
pub const METRICS_MAX: usize = 16;
/// Longest name of a check and of a metric.
const NAME_MAX: usize = 48;
/// Longest reason, characters.
const REASON_MAX: usize = 256;
/// Lines that are named as wrong, at most.
const FAULTS_MAX: usize = 4;

/// One check.
#[derive(Clone, Debug, PartialEq)]
pub struct Check {
    /// Its name.
    pub check: String,
    /// How what it checks is.
    pub state: HealthState,
    /// Why; empty where nothing is to be said.
    pub reason: String,
    /// The GPU that it is about; none for the host.
    pub gpu: Option<PciAddress>,
    /// What it measured, by name.
    pub metrics: BTreeMap<String, f64>,
}

/// What a plugin said.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Output {
    /// In its order; each check of a GPU once.
    pub checks: Vec<Check>,
    /// What could not be understood.
    pub faults: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    check: String,
    state: HealthState,
    #[serde(default)]
    reason: String,
    gpu: Option<String>,
    #[serde(default)]
    metrics: BTreeMap<String, f64>,
}

/// Reads a plugin's output. Lines that cannot be understood keep no other from being read.
pub fn parse(output: &[u8]) -> Output {
    let mut found = Output::default();
    let mut known = BTreeSet::new();
    let mut faults = 0;
    for (number, line) in output.split(|byte| *byte == b'\n').enumerate() {
        if line.trim_ascii().is_empty() {
            continue;
        }
        let read = check(line).and_then(|check| {
            if found.checks.len() >= CHECKS_MAX {
                return Err(format!("there are more than {CHECKS_MAX} checks"));
            }
            match known.insert((check.check.clone(), check.gpu)) {
                true => Ok(check),
                false => Err(format!("the check `{}` was there before", check.check)),
            }
        });
        match read {
            Ok(check) => found.checks.push(check),
            Err(why) => {
                faults += 1;
                if faults <= FAULTS_MAX {
                    found.faults.push(format!("line {}: {why}", number + 1));
                }
            }
        }
    }
    if faults > FAULTS_MAX {
        found
            .faults
            .push(format!("and {} lines more", faults - FAULTS_MAX));
    }
    found
}

fn check(line: &[u8]) -> Result<Check, String> {
    let line: Line = serde_json::from_slice(line).map_err(|error| shortened(&error.to_string()))?;
    if !is_name(&line.check) {
        return Err(format!(
            "`{}` is no name of a check: use up to {NAME_MAX} small letters, digits and `_`",
            shortened(&line.check)
        ));
    }
    if line.metrics.len() > METRICS_MAX {
        return Err(format!("a check has at most {METRICS_MAX} metrics"));
    }
    if let Some(name) = line.metrics.keys().find(|name| !is_name(name)) {
        return Err(format!("`{}` is no name of a metric", shortened(name)));
    }
    let gpu = line.gpu.map(|text| {
        PciAddress::parse(&text)
            .ok_or_else(|| format!("`{}` is no PCI address of a GPU", shortened(&text)))
    });
    Ok(Check {
        check: line.check,
        state: line.state,
        reason: shortened(&line.reason),
        gpu: gpu.transpose()?,
        metrics: line.metrics,
    })
}

fn is_name(name: &str) -> bool {
    let plain = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_';
    (1..=NAME_MAX).contains(&name.len()) && name.bytes().all(plain)
}

/// Text of others, on one line and at a length that fits.
fn shortened(text: &str) -> String {
    let text = clean(text.trim());
    match text.char_indices().nth(REASON_MAX) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn each_line_is_a_check_and_one_that_is_none_is_named() {
        let output = b"\n{\"check\":\"mount\",\"state\":\"healthy\"}\n\
            {\"check\":\"fan\",\"state\":\"degraded\",\"reason\":\"slow\\u001b[31m\",\"gpu\":\"00000000:3B:00.0\",\"metrics\":{\"rpm\":900}}\n\
            {\"check\":\"fan\",\"state\":\"healthy\",\"gpu\":\"0000:5e:00.0\"}\n\
            {\"check\":\"mount\",\"state\":\"unhealthy\"}\n\
            {\"check\":\"Mount\",\"state\":\"healthy\"}\n\
            {\"check\":\"x\",\"state\":\"fine\"}\n\
            {\"check\":\"x\",\"state\":\"healthy\",\"gpu\":\"the first\"}\n\
            {\"check\":\"x\",\"state\":\"healthy\",\"run\":\"rm -rf /\"}\n\
            OK\n";
        let Output { checks, faults } = parse(output);
        assert_eq!(checks.len(), 3);
        assert_eq!(checks[1].reason, "slow\\x1b[31m");
        assert_eq!(checks[1].gpu, PciAddress::parse("0000:3b:00.0"));
        assert_eq!(checks[1].metrics["rpm"], 900.0);
        assert!(
            faults[0].starts_with("line 5: the check `mount` was there"),
            "{faults:?}"
        );
        assert!(faults[1].contains("small letters"), "{faults:?}");
        assert!(faults[2].contains("unknown variant"), "{faults:?}");
        assert!(
            faults[3].contains("PCI address") && faults[4] == "and 2 lines more",
            "{faults:?}"
        );
    }

    proptest! {
        #[test]
        fn whatever_is_printed_is_bounded(bytes in proptest::collection::vec(any::<u8>(), 0..400), lines in 0_usize..200) {
            let many = (0..lines).map(|n| format!("{{\"check\":\"c{n}\",\"state\":\"unknown\"}}\n"));
            let output = [bytes, many.collect::<String>().into_bytes()].concat();
            let found = parse(&output);
            prop_assert!(found.checks.len() <= CHECKS_MAX && found.faults.len() <= FAULTS_MAX + 1);
            prop_assert!(found.faults.iter().all(|fault| fault.chars().count() < 700));
        }
    }
}
