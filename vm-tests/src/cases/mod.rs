//! Every case, one file a topic.
//!
//! A case states what a user relies on. It gets a machine of its scenario that was just booted or
//! that an earlier case left in order: no processes but PID 1, no stub loaded, an empty directory,
//! nothing of theirs in the kernel's log.

/// The cases of a topic, in the order in which they run, a line each: the machine, the name, what it does, and what it has beside that.
macro_rules! cases {
    ($($scenario:ident $name:literal => $run:expr $(, $with:ident $(($value:literal))?)*;)*) => {
        pub(super) const CASES: &[super::Case] = &[$(
            super::Case::new($name, gtrace_vm_tests::scenario::Scenario::$scenario, $run)
                $(.$with($($value)?))*
        ),*];
    };
}

/// Ends a case with an error unless a value has these: JSON pointers without the first slash, and what is there, `null` where
/// nothing is.
macro_rules! has {
    ($value:expr, { $($fields:tt)* }) => {
        super::has(&$value, &serde_json::json!({ $($fields)* }))?
    };
}

mod bench;
mod calls;
mod hardware;
mod incidents;
mod pcie;
mod power;
mod process;
mod rdma;
mod rdma_bench;
mod rdma_faults;
mod rdma_load;
mod rdma_ports;
mod rdma_two;
mod real;
mod real_gsp;
mod real_gsp_clients;
mod real_gsp_day;
mod real_gsp_events;
mod real_gsp_links;
mod real_gsp_process;
mod real_gsp_readings;
mod real_gsp_two;
mod real_judged;
mod real_nvml;
mod real_series;
mod reload;
mod serve;
mod smoke;
mod stub;
mod under_way;
mod unload;
mod uprobes;
mod verifier;
mod xid;

use std::time::Duration;

use anyhow::{Result, ensure};
use gtrace_vm_tests::scenario::Scenario;
use serde_json::Value;

use crate::guest::Guest;

/// What `has!` asks for.
fn has(value: &Value, wanted: &Value) -> Result<()> {
    for (path, wanted) in wanted.as_object().into_iter().flatten() {
        let found = value.pointer(&format!("/{path}")).unwrap_or(&Value::Null);
        ensure!(
            found == wanted,
            "{path} is {found}, not {wanted}: {value:#}"
        );
    }
    Ok(())
}

/// Something to be shown about gtrace on a real kernel.
pub(crate) struct Case {
    /// Unique; begins with its topic.
    pub(crate) name: &'static str,
    /// The machine that it wants.
    pub(crate) scenario: Scenario,
    /// What it does.
    pub(crate) run: fn(&mut Guest) -> Result<()>,
    /// After so long without a word it is taken to hang, and its machine is ended.
    pub(crate) patience: Duration,
    /// Whether every run of `cargo xtask test` has it, on every kernel. The others take turns.
    pub(crate) core: bool,
    /// Whether it waits most of its time: its machine leaves the processors to others.
    pub(crate) idle: bool,
}

impl Case {
    /// A case with the usual patience of 120 seconds.
    pub(crate) const fn new(
        name: &'static str,
        scenario: Scenario,
        run: fn(&mut Guest) -> Result<()>,
    ) -> Self {
        Self {
            name,
            scenario,
            run,
            patience: Duration::from_secs(120),
            core: false,
            idle: false,
        }
    }

    /// The same as one of the core set.
    pub(crate) const fn core(mut self) -> Self {
        self.core = true;
        self
    }

    /// The same as one that waits most of its time.
    pub(crate) const fn idle(mut self) -> Self {
        self.idle = true;
        self
    }

    /// The same with another patience.
    pub(crate) const fn patience(mut self, seconds: u64) -> Self {
        self.patience = Duration::from_secs(seconds);
        self
    }
}

/// The cases of each topic, in the order in which they run.
const TOPICS: &[&[Case]] = &[
    smoke::CASES,
    stub::CASES,
    verifier::CASES,
    xid::CASES,
    calls::CASES,
    under_way::CASES,
    reload::CASES,
    unload::CASES,
    process::CASES,
    pcie::CASES,
    incidents::CASES,
    power::CASES,
    rdma::CASES,
    rdma_bench::CASES,
    rdma_ports::CASES,
    rdma_faults::CASES,
    rdma_two::CASES,
    serve::CASES,
    uprobes::CASES,
    real::CASES,
    real_judged::CASES,
    real_nvml::CASES,
    real_series::CASES,
    real_gsp::CASES,
    real_gsp_clients::CASES,
    real_gsp_day::CASES,
    real_gsp_events::CASES,
    real_gsp_links::CASES,
    real_gsp_process::CASES,
    real_gsp_readings::CASES,
    real_gsp_two::CASES,
    bench::CASES,
    hardware::CASES,
];

/// What further processes of a case can do, by name: see
/// [`Helper`](crate::guest::process::Helper).
const HELPERS: &[&[Helper]] = &[
    &[("caller", stub::caller)],
    calls::HELPERS,
    under_way::HELPERS,
    reload::HELPERS,
    unload::HELPERS,
    process::HELPERS,
    incidents::HELPERS,
    real_gsp_process::HELPERS,
];

/// A helper's name and what it does with its arguments.
pub(crate) type Helper = (&'static str, fn(&[String]) -> Result<()>);

/// The helper of that name.
pub(crate) fn helper(name: &str) -> Option<&'static Helper> {
    let all = HELPERS.iter().copied().flatten();
    all.into_iter().find(|(known, _)| *known == name)
}

/// All cases.
pub(crate) fn all() -> impl Iterator<Item = &'static Case> {
    TOPICS.iter().copied().flatten()
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn names_are_unique_words() {
        let mut seen = HashSet::new();
        for case in all() {
            let word = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
            assert!(case.name.chars().all(word), "{}", case.name);
            assert!(seen.insert(case.name), "{} is there twice", case.name);
        }
    }

    #[test]
    fn the_core_set_has_something_of_each_topic_and_each_machine_but_slow_ones() {
        let core: Vec<_> = all().filter(|case| case.core).collect();
        let topics = "smoke stub verifier xid calls reload unload process pcie rdma uprobes real";
        for topic in topics.split(' ') {
            let is_of = |case: &&Case| case.name.starts_with(&format!("{topic}_"));
            assert!(core.iter().any(is_of), "{topic}");
        }
        for scenario in Scenario::ALL {
            let rotates = matches!(
                scenario,
                Scenario::RdmaTwo | Scenario::RdmaCounted | Scenario::Power | Scenario::Bench
            );
            let found = core.iter().any(|case| case.scenario == scenario);
            assert_eq!(found, !rotates, "{scenario}");
        }
    }
}
