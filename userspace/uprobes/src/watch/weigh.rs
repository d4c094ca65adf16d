//! What the probes cost, and what is done about it.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use gtrace_abi::ApiKind;

use super::{Unprobed, WEIGH_EVERY, Watch};
use crate::functions::Function;
use crate::governor::{self, Action, Load, SAMPLE_EVERY};
use crate::instruction::Class;
use crate::load::TraceError;
use crate::procfs;
use crate::run_stats::{self, Statistics};

/// How often the BPF programs' own time is measured, for the time of one poll.
const MEASURE_EVERY: Duration = Duration::from_secs(10);

impl Watch {
    /// Measures the BPF programs' own time from one poll to the next, now and then.
    pub(super) fn measure(&mut self) {
        if let Some((statistics, before)) = self.measuring.take() {
            let after = run_stats::of_programs(self.tracer.object(), self.tracer.way());
            drop(statistics);
            let runs = after.runs.saturating_sub(before.runs);
            if runs > 0 {
                let a_run = after.ns.saturating_sub(before.ns) as f64 / runs as f64;
                // A call has two: its start and its end.
                self.program_ns = Some(2.0 * a_run);
            }
            return;
        }
        // While nothing is called there is nothing to learn, and every BPF program of the host would pay.
        let soon = self.program_ns.is_none() && self.may_measure;
        if self.called && (soon || self.measured.elapsed() >= MEASURE_EVERY) {
            self.measured = Instant::now();
            let before = run_stats::of_programs(self.tracer.object(), self.tracer.way());
            self.measuring = Statistics::switch_on().ok().map(|on| (on, before));
            self.may_measure = self.measuring.is_some();
        }
    }

    /// Reads what was counted, keeps what ended processes have done, and holds the cost against the
    /// budget.
    pub(super) fn weigh(&mut self, first: bool) -> Result<(), TraceError> {
        self.weighed = Instant::now();
        let counted = self.tracer.counted()?;
        let mut calls: BTreeMap<u32, u64> = BTreeMap::new();
        for row in &counted.rows {
            let seen = self.seen_calls.entry((row.pid, row.function)).or_default();
            *calls.entry(row.function).or_default() += row.calls.saturating_sub(*seen);
            *seen = row.calls;
        }
        self.called = calls.values().any(|calls| *calls > 0);
        let rows = counted.rows.iter().map(|row| row.pid);
        let pids: BTreeSet<u32> = rows
            // A process can have a ledger and no room for a histogram.
            .chain(counted.ledgers.keys().copied())
            .chain(self.pid)
            .filter(|pid| *pid != 0)
            .collect();
        let cpu = self.cpu_since(&pids);
        let loads = self.loads(&calls);
        for load in &loads {
            *self.costs.entry(load.function).or_default() += load.cost_ns();
        }
        self.cpu_ns += cpu;
        self.keep(&counted, &pids)?;
        if let Some(budget) = self.settings.budget
            && !first
        {
            // What was under way when its probes were taken away still counts, and is given up already.
            let probed = |load: &Load| !self.tracer.shed().contains(&load.function);
            let probed: Vec<Load> = loads.iter().filter(|load| probed(load)).cloned().collect();
            let actions = governor::decide(&probed, cpu, budget);
            self.act(&actions, budget)?;
            if actions.is_empty() {
                self.give_back(&loads, cpu, budget)?;
            }
        }
        Ok(())
    }

    /// CPU time of these processes since the last time.
    fn cpu_since(&mut self, pids: &BTreeSet<u32>) -> f64 {
        let mut sum = 0;
        for pid in pids {
            if let Some(now) = procfs::cpu_ns(&self.proc_root, *pid) {
                // Known since its library was found; otherwise nothing is known of what it did before.
                let before = self.seen_cpu.insert(*pid, now).unwrap_or(now);
                sum += now.saturating_sub(before);
            }
        }
        sum as f64
    }

    fn loads(&self, calls: &BTreeMap<u32, u64>) -> Vec<Load> {
        let trap = *self.tracer.trap();
        // How much longer the programs take here than on a function of no arguments.
        let more = match self.program_ns {
            Some(ns) if trap.program_ns > 0.0 => ns - trap.program_ns,
            _ => 0.0,
        };
        let mut loads = Vec::new();
        for (function, calls) in calls {
            if self.tracer.functions().len() <= *function as usize {
                continue;
            }
            let class = self.class_of(*function);
            loads.push(Load {
                function: *function,
                calls: *calls,
                class,
                // However the measurements were disturbed, timing is never cheaper than counting.
                timed_ns: (trap.timed(class) + more).max(trap.counted(class)),
                counted_ns: trap.counted(class),
                time_every: self.tracer.time_every(*function),
                can_sample: self.can_sample(*function),
            });
        }
        loads
    }

    /// The most expensive class that the function has in any of the libraries.
    fn class_of(&self, function: u32) -> Class {
        let sites = self.tracer.libraries().flat_map(|library| &library.sites);
        let classes = sites
            .filter(|site| site.function == function)
            .map(|site| site.place.class);
        classes.max().unwrap_or(Class::Emulated)
    }

    fn act(&mut self, actions: &[Action], budget: f64) -> Result<(), TraceError> {
        let mut shed = BTreeSet::new();
        let mut most: f64 = 0.0;
        for action in actions {
            let name = |function: u32| self.tracer.functions()[function as usize].name.clone();
            let budget = budget * 100.0;
            match action {
                Action::Sample { function, share } => {
                    let name = name(*function);
                    self.tracer.sample(*function, SAMPLE_EVERY)?;
                    self.say(format!(
                        "{name}: one call in {SAMPLE_EVERY} is timed from now on, the others are only \
                         counted; its probes took {:.1} % of the CPU time of the traced processes, the \
                         budget is {budget:.1} % (--budget)",
                        share * 100.0
                    ));
                }
                Action::Shed { function, share } => {
                    shed.insert(*function);
                    most = most.max(*share);
                    let tracking = match self.tracer.functions()[*function as usize]
                        .tracks_allocations()
                    {
                        true => {
                            "; with it go those of all functions that allocate and free, and the \
                                 ledger of memory is not kept any further"
                        }
                        false => "",
                    };
                    self.say(format!(
                        "{}: its probes are taken away, no further call is seen{tracking}; they took \
                         {:.1} % of the CPU time of the traced processes, the budget is {budget:.1} % \
                         (--budget)",
                        name(*function),
                        share * 100.0
                    ));
                }
            }
        }
        if shed.is_empty() {
            return Ok(());
        }
        self.tracking_disabled |= add_allocations(&mut shed, self.tracer.functions());
        let now = Instant::now();
        if let Some(recovery) = &mut self.recovery {
            for function in &shed {
                // Those that went with another one come back with it.
                recovery.took_away(*function, most, budget, WEIGH_EVERY, now);
            }
        }
        let at = self.started.elapsed();
        for function in &shed {
            let begun = Unprobed {
                began: at,
                ..Unprobed::default()
            };
            let known = self.unprobed.entry(*function).or_insert(begun);
            // One that went with another one before is away already.
            if known.ended.is_some() {
                known.begin(at);
            }
        }
        self.tracer.shed_functions(shed)
    }

    /// Times all calls of functions again that were sampled, and puts probes back that were taken away,
    /// where there is room in the budget.
    fn give_back(&mut self, loads: &[Load], cpu_ns: f64, budget: f64) -> Result<(), TraceError> {
        let Some(recovery) = &mut self.recovery else {
            return Ok(());
        };
        let timed = recovery.calm(loads, cpu_ns, budget);
        let due = recovery.due(loads, cpu_ns, budget, Instant::now());
        for function in timed {
            self.tracer.sample(function, 1)?;
            let name = &self.tracer.functions()[function as usize].name;
            self.say(format!(
                "{name}: every call is timed again, as there is room in the budget for it"
            ));
        }
        if due.is_empty() {
            return Ok(());
        }
        let functions = self.tracer.functions();
        let starts_tracking = due
            .iter()
            .any(|function| functions[*function as usize].tracks_allocations());
        let names: Vec<&str> = due
            .iter()
            .map(|function| functions[*function as usize].name.as_str())
            .collect();
        let text = format!(
            "{}: probed again, to see whether that is within the budget now",
            names.join(", ")
        );
        self.say(text);
        if starts_tracking {
            // What was allocated and freed meanwhile is not known: tracking restarts.
            self.tracer.forget_memory()?;
            self.memory.clear();
            self.tracking_disabled = false;
        }
        // Their rate is not known: to count is the cheaper way of finding out.
        let back: Vec<(u32, u32)> = due
            .iter()
            .map(|function| match self.can_sample(*function) {
                true => (*function, SAMPLE_EVERY),
                false => (*function, 1),
            })
            .collect();
        self.tracer.restore_functions(&back)?;
        let at = self.started.elapsed();
        for function in &due {
            if let Some(unprobed) = self.unprobed.get_mut(function) {
                unprobed.end(at);
            }
        }
        Ok(())
    }

    /// Whether a function may be timed only now and then.
    fn can_sample(&self, function: u32) -> bool {
        let described = self.tracer.functions().get(function as usize);
        described.is_some_and(|described| {
            !described.tracks_allocations()
                && described.description.kind != ApiKind::Info as u32
                && self.tracer.way() == crate::Way::Session
        })
    }
}

/// Adds all functions that allocate and free to those whose probes are to go, if one of them is among these; whether it is.
/// Tracking only some allocations would report false leaks.
fn add_allocations(shed: &mut BTreeSet<u32>, functions: &[Function]) -> bool {
    let tracks = (0..)
        .zip(functions)
        .filter(|(_, function)| function.tracks_allocations());
    let tracks: BTreeSet<u32> = tracks.map(|(number, _)| number).collect();
    let any = !shed.is_disjoint(&tracks);
    if any {
        shed.extend(tracks);
    }
    any
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::functions::default_set;
    use crate::recovery::Recovery;

    #[test]
    fn functions_that_allocate_and_free_come_back_together_each_time() {
        let functions = default_set();
        let number = |name: &str| {
            let at = functions.iter().position(|f| f.name == name).unwrap();
            u32::try_from(at).unwrap()
        };
        let mut launch = BTreeSet::from([number("cuLaunchKernel")]);
        assert!(!add_allocations(&mut launch, &functions));
        assert_eq!(launch.len(), 1);
        let second = Duration::from_secs(1);
        let mut recovery = Recovery::within(10 * second, 600 * second);
        let mut now = Instant::now();
        // Each trial fails, so that the next one waits for longer.
        for _ in 0..3 {
            let mut shed = BTreeSet::from([number("cuMemAlloc_v2")]);
            assert!(add_allocations(&mut shed, &functions));
            assert!(shed.contains(&number("cuMemFree_v2")));
            for function in &shed {
                recovery.took_away(*function, 0.02, 0.01, second, now);
            }
            let back = loop {
                now += second;
                let due = recovery.due(&[], 1e9, 0.01, now);
                if !due.is_empty() {
                    break due;
                }
            };
            assert_eq!(back, shed.into_iter().collect::<Vec<_>>());
        }
    }
}
