//! The cases of all kernels as one queue, which two workers take the longest from: so both end at about the same time. A
//! third one has those that wait most of their time.

use std::num::NonZero;
use std::panic::{self, AssertUnwindSafe};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;

use gtrace_vm_tests::scenario::Scenario;

use super::cases::Case;
use super::suite::{Log, Outcome, Suite};
use crate::report::Counts;
use crate::shell::step;

/// How many machines run at a time: as many as there are processors, two at most, as an emulated one keeps about one
/// busy.
pub(super) fn workers() -> usize {
    let processors = thread::available_parallelism().map_or(1, NonZero::get);
    processors.min(2)
}

/// The cases of one scenario in one suite.
pub(super) struct Job<'a> {
    /// Which of the suites.
    pub(super) suite: usize,
    pub(super) scenario: Scenario,
    pub(super) cases: Vec<&'a Case>,
    /// Whether they wait most of their time.
    idle: bool,
}

impl<'a> Job<'a> {
    /// Those of `cases`: one for each that waits, and one for the others.
    pub(super) fn split(
        suite: usize,
        scenario: Scenario,
        cases: &[&'a Case],
    ) -> impl Iterator<Item = Self> + use<'a> {
        let (idle, busy): (Vec<_>, Vec<_>) = cases.iter().copied().partition(|case| case.idle);
        let idle = idle.into_iter().map(|case| (vec![case], true));
        let busy = (!busy.is_empty()).then_some((busy, false));
        busy.into_iter().chain(idle).map(move |(cases, idle)| Self {
            suite,
            scenario,
            cases,
            idle,
        })
    }

    /// About how long its cases take, in seconds on two busy cores.
    fn seconds(&self) -> usize {
        let each = match self.scenario {
            Scenario::Real => 60,
            _ if self.is_greedy() => 80,
            _ => 12,
        };
        self.cases.len() * each
    }

    /// Whether it is about RDMA, whose machines want most of the processors: two of them at a time keep each other
    /// waiting.
    fn is_greedy(&self) -> bool {
        matches!(
            self.scenario,
            Scenario::Rdma | Scenario::RdmaCounted | Scenario::RdmaTwo
        )
    }
}

/// What is left to do.
struct Queue<'j, 'a> {
    jobs: Vec<&'j Job<'a>>,
    /// Whether one of those that are greedy is under way.
    greedy: bool,
}

impl<'j, 'a> Queue<'j, 'a> {
    fn new(jobs: &'j [Job<'a>]) -> Self {
        let mut jobs: Vec<_> = jobs.iter().collect();
        jobs.sort_by_key(|job| job.seconds());
        Self {
            jobs,
            greedy: false,
        }
    }

    /// Takes the longest that may begin, of those that wait or of the others. What is left where there is none falls to the
    /// worker that is under way.
    fn next(&mut self, idle: bool) -> Option<&'j Job<'a>> {
        let may = |job: &&Job<'_>| job.idle == idle && !(self.greedy && job.is_greedy());
        let at = self.jobs.iter().rposition(may)?;
        let job = self.jobs.remove(at);
        self.greedy |= job.is_greedy();
        Some(job)
    }

    /// One that was taken is over.
    fn done(&mut self, job: &Job<'_>) {
        self.greedy &= !job.is_greedy();
    }
}

/// Runs all jobs, each in its suite. How the cases of each suite ended.
pub(super) fn run(suites: &[Suite<'_>], jobs: &[Job<'_>], log: &Log) -> Vec<Outcome> {
    let queue = Mutex::new(Queue::new(jobs));
    let outcomes: Vec<_> = suites.iter().map(|_| Outcome::default()).collect();
    let outcomes = Mutex::new(outcomes);
    let work = |idle| {
        while let Some(job) = { locked(&queue).next(idle) } {
            let ended = run_job(&suites[job.suite], job, log);
            locked(&outcomes)[job.suite].add(ended);
            locked(&queue).done(job);
        }
    };
    thread::scope(|threads| {
        for _ in 0..workers() {
            threads.spawn(|| work(false));
        }
        threads.spawn(|| work(true));
    });
    outcomes
        .into_inner()
        .unwrap_or_else(PoisonError::into_inner)
}

/// Runs one. Its cases have failed where that panics.
fn run_job(suite: &Suite<'_>, job: &Job<'_>, log: &Log) -> Outcome {
    let (kernel, scenario, count) = (&suite.kernel.key, job.scenario, job.cases.len());
    step(format!(
        "testing on kernel {kernel}: {scenario}, cases: {count}"
    ));
    let ended = panic::catch_unwind(AssertUnwindSafe(|| {
        suite.run(job.scenario, &job.cases, log)
    }));
    ended.unwrap_or_else(|_| Outcome {
        counts: Counts {
            failed: job.cases.len() as u64,
            ..Counts::default()
        },
        note: format!("the thread that ran {} panicked", job.scenario),
        times: Vec::new(),
    })
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn case(idle: bool) -> Case {
        Case {
            name: "a_case".to_owned(),
            scenario: Scenario::Driver,
            patience: Duration::from_secs(1),
            core: false,
            idle,
        }
    }

    #[test]
    fn a_case_that_waits_has_a_machine_of_its_own_beside_the_others() {
        let (idle, busy) = (case(true), case(false));
        let cases = [&busy, &idle, &busy, &idle];
        let jobs: Vec<_> = Job::split(0, Scenario::Driver, &cases).collect();
        let mut queue = Queue::new(&jobs);
        let mut next = |idle| queue.next(idle).map(|job| (job.cases.len(), job.idle));
        assert_eq!(next(true), Some((1, true)));
        assert_eq!(next(false), Some((2, false)));
        assert_eq!(next(false), None);
        assert_eq!(next(true), Some((1, true)));
        assert_eq!(next(true), None);
        assert_eq!(Job::split(0, Scenario::Driver, &[]).count(), 0);
    }

    #[test]
    fn the_longest_comes_first_and_one_that_is_greedy_at_a_time() {
        let case = case(false);
        let jobs: Vec<_> = [
            (Scenario::Hotplug, 2),
            (Scenario::Rdma, 4),
            (Scenario::RdmaTwo, 1),
            (Scenario::Driver, 23),
            (Scenario::Rdma, 3),
        ]
        .into_iter()
        .map(|(scenario, count)| Job {
            suite: 0,
            scenario,
            cases: vec![&case; count],
            idle: false,
        })
        .collect();
        let mut queue = Queue::new(&jobs);
        let next = |queue: &mut Queue<'_, '_>| {
            let job = queue.next(false);
            job.map(|job| (job.scenario, job.cases.len()))
        };
        // Those that are greedy take turns: the first of them begins at once.
        assert_eq!(next(&mut queue), Some((Scenario::Rdma, 4)));
        assert_eq!(next(&mut queue), Some((Scenario::Driver, 23)));
        assert_eq!(next(&mut queue), Some((Scenario::Hotplug, 2)));
        // The worker that has the first of them takes the others.
        assert_eq!(next(&mut queue), None);
        queue.done(&jobs[1]);
        assert_eq!(next(&mut queue), Some((Scenario::Rdma, 3)));
        assert_eq!(next(&mut queue), None);
        queue.done(&jobs[4]);
        assert_eq!(next(&mut queue), Some((Scenario::RdmaTwo, 1)));
    }
}
