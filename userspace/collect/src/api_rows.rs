//! CUDA calls of running processes as rows of a profile, so that they are saved, drawn and compared as others.

use std::collections::HashMap;
use std::time::Duration;

use anyhow::Context as _;
use gtrace_api::CudaReport;
use gtrace_engine::cuda::{cgroup_of, function_name, report_of, result_name};
use gtrace_engine::host;
use gtrace_profile::{Counts, Histogram, Key, Layer, Part, Process, Row};
use gtrace_uprobes::functions::default_set;
use gtrace_uprobes::{ENDED, Options, Settings, Watch};

use crate::Collector;

/// Probes of its own.
pub struct Calls {
    pid: Option<u32>,
    settings: Settings,
    /// While it counts.
    watch: Option<Watch>,
    say: fn(&str),
    /// What was said meanwhile.
    messages: Vec<String>,
    host: String,
    /// Processes as they were first seen: a row must keep its name, and exec(2) changes a process's.
    names: HashMap<u32, Process>,
}

impl Calls {
    /// Of one process, or of all. `say` gets a line for people whenever there is one.
    pub fn new(pid: Option<u32>, settings: Settings, say: fn(&str)) -> Self {
        Self {
            pid,
            settings,
            watch: None,
            say,
            messages: Vec::new(),
            host: host::name(),
            names: HashMap::new(),
        }
    }

    fn watch(&mut self) -> anyhow::Result<&mut Watch> {
        self.watch.as_mut().context("nothing is traced yet")
    }

    fn say(&mut self, text: String) {
        (self.say)(&text);
        self.messages.push(text);
    }

    fn say_words(&mut self) {
        let words = self.watch.as_mut().map(Watch::take_words);
        for word in words.unwrap_or_default() {
            self.say(word);
        }
    }

    /// Detaches the probes, and returns all that was counted in `traced`.
    ///
    /// # Errors
    ///
    /// If the kernel refuses to give the counts.
    pub fn end(&mut self, traced: Duration) -> anyhow::Result<CudaReport> {
        let report = self.watch()?.report()?;
        self.say_words();
        let messages = std::mem::take(&mut self.messages);
        let watch = self.watch()?;
        let view = report_of(watch, &report, traced, messages);
        watch.detach();
        Ok(view)
    }
}

impl Collector for Calls {
    fn start(&mut self) -> anyhow::Result<()> {
        let options = Options::new(self.pid, default_set());
        let watch = Watch::start(options, self.settings.clone())?;
        for (way, why) in watch.tracer().refused() {
            tracing::debug!("{} is not possible: {why}", way.name());
        }
        let waits = watch.tracer().libraries().next().is_none();
        let others_pay = !watch.tracer().others_unaffected();
        self.watch = Some(watch);
        if let Some(pid) = self.pid.filter(|_| waits) {
            self.say(format!(
                "process {pid} has no {}* open: waiting until it opens one",
                self.settings.library
            ));
        }
        if self.pid.is_some() && others_pay {
            self.say(
                "other processes that use the same library pay for the probes too, though their calls \
                 are not counted: this kernel cannot leave them alone (Linux 6.10 can)"
                    .to_owned(),
            );
        }
        self.say_words();
        Ok(())
    }

    fn poll(&mut self) -> anyhow::Result<bool> {
        let watch = self.watch()?;
        let alive = watch.is_alive();
        watch.poll()?;
        self.say_words();
        Ok(alive)
    }

    fn counts_from_its_start(&self) -> bool {
        true
    }

    fn read(&mut self) -> anyhow::Result<Vec<Row>> {
        let watch = self.watch.as_mut().context("nothing is traced yet")?;
        let report = watch.report()?;
        let tracer = watch.tracer();
        let (host, names) = (&self.host, &mut self.names);
        let mut process = |pid: u32| {
            let known = report.processes.get(&pid);
            if pid == ENDED {
                let nobody = Process {
                    host: host.clone(),
                    ..Process::default()
                };
                return nobody.ended();
            }
            let process = names.entry(pid).or_insert_with(|| Process {
                host: host.clone(),
                pid,
                comm: known.map(|known| known.comm.clone()).unwrap_or_default(),
                cgroup: known.and_then(cgroup_of),
                origin: None,
            });
            process.clone()
        };
        let row = |row: &gtrace_uprobes::Row| {
            let function = function_name(tracer, row.function);
            Ok(Row {
                key: Key {
                    process: process(row.pid),
                    layer: Layer::Api,
                    function,
                    part: Part::Whole,
                    gpu: None,
                },
                counts: counts(row)?,
            })
        };
        report.rows.iter().map(row).collect()
    }

    fn notes(&self) -> Vec<String> {
        let none = |watch: &Watch| watch.tracer().libraries().next().is_none();
        match self.watch.as_ref().is_some_and(none) {
            true => vec![format!(
                "no CUDA call was seen: no process that was looked at has {}* open",
                self.settings.library
            )],
            false => Vec::new(),
        }
    }
}

fn counts(row: &gtrace_uprobes::Row) -> anyhow::Result<Counts> {
    let filled = row.buckets.iter().enumerate().filter(|(_, n)| **n > 0);
    let buckets: Vec<(u16, u64)> = filled.map(|(at, n)| (at as u16, *n)).collect();
    let statuses = row.failures.iter();
    Ok(Counts {
        calls: row.calls,
        errors: Some(row.errors),
        statuses: statuses.map(|(code, n)| (result_name(*code), *n)).collect(),
        bytes: Some(row.bytes),
        histogram: Histogram::from_buckets(&buckets, row.total_ns, row.max_ns)?,
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn a_row_keeps_buckets_results_and_calls_that_were_not_timed() {
        let mut buckets = Box::new([0; gtrace_abi::BUCKETS]);
        buckets[gtrace_abi::bucket_of(1_000)] = 3;
        let row = gtrace_uprobes::Row {
            pid: 7,
            function: 0,
            calls: 5,
            timed: 3,
            errors: 2,
            bytes: 4096,
            total_ns: 3_000,
            max_ns: 1_000,
            buckets,
            failures: BTreeMap::from([(2, 2)]),
        };
        let counts = counts(&row).unwrap();
        assert_eq!((counts.calls, counts.histogram.count()), (5, 3));
        assert_eq!(counts.statuses["CUDA_ERROR_OUT_OF_MEMORY"], 2);
        assert_eq!((counts.errors, counts.bytes), (Some(2), Some(4096)));
        assert_eq!(counts.histogram.quantile(0.5), 1_000);
    }
}
