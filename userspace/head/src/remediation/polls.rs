//! What Kubernetes and Slurm answer about hosts: polled by a thread for each, so that one which does not answer delays neither the other
//! nor the plans that do not need it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::mpsc::Sender;
use std::time::{Duration, Instant};

use gtrace_fleet::remedy::scontrol::Node;
use gtrace_fleet::remedy::{Plan, Policy, Step, StepState};

use super::kubernetes::{Kubernetes, Named, NodeState};
use super::slurm::Slurm;
use super::{Message, Threads, answer_within};

/// For so long after its time a thread may still end by itself.
const GRACE: Duration = Duration::from_secs(3);

/// Threads for one manager at a time: what was given up may still be there.
const THREADS_MAX: usize = 8;
/// What is known where the thread that polls panics.
const PANICKED: &str = "the thread that polls it has panicked";

/// A manager of jobs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Manager {
    Kubernetes,
    Slurm,
}

impl Manager {
    fn name(self) -> &'static str {
        match self {
            Self::Kubernetes => "Kubernetes",
            Self::Slurm => "Slurm",
        }
    }

    /// Whether a plan has steps that it carries out.
    pub(super) fn is_needed_by(self, plan: &Plan) -> bool {
        plan.steps.iter().any(|one| match self {
            Self::Kubernetes => matches!(one.step, Step::Cordon | Step::Drain),
            Self::Slurm => one.step == Step::SlurmDrain,
        })
    }
}

/// What Kubernetes answers.
#[derive(Default)]
pub(super) struct Nodes {
    /// Nodes that are cordoned, by whomever.
    pub(super) cordoned: Option<Result<BTreeSet<String>, String>>,
    /// Of each host that was asked for: its node, and why it is busy where that was asked for.
    pub(super) hosts: BTreeMap<String, OfNode>,
    /// Those for which no time was left; the next poll begins with them.
    pub(super) left: Vec<String>,
}

pub(super) struct OfNode {
    pub(super) node: Result<Option<NodeState>, String>,
    pub(super) busy: Option<Result<Option<String>, String>>,
    /// Why the node of that name is not the host.
    pub(super) other: Option<String>,
}

/// A host whose node is read.
struct Query {
    host: Named,
    /// Whether its pods are, too.
    pods: bool,
}

/// When a poll began, and for which versions of plans.
#[derive(Clone, Debug)]
pub(super) struct Begun {
    /// Its number.
    serial: u64,
    at: Instant,
    versions: BTreeMap<i64, i64>,
}

impl Begun {
    fn now(serial: u64, plans: &[Plan]) -> Self {
        Self {
            serial,
            at: Instant::now(),
            versions: plans.iter().map(|plan| (plan.id, plan.version)).collect(),
        }
    }
}

/// What is known from a manager, or why nothing is.
pub(super) struct Poll<T> {
    running: Option<Begun>,
    newest: Option<(Begun, Result<T, String>)>,
    threads: Threads,
}

impl<T> Poll<T> {
    fn new(thread: &'static str) -> Self {
        Self {
            running: None,
            newest: None,
            threads: Threads::new(thread, THREADS_MAX),
        }
    }

    /// Takes an answer, unless it is one to a poll of before.
    pub(super) fn take(&mut self, serial: u64, answer: Result<T, String>) {
        if let Some(begun) = self.running.take_if(|begun| begun.serial == serial) {
            self.newest = Some((begun, answer));
        }
    }

    /// Waits no longer for a thread that should have ended, as one that hangs has not. The last of them is waited for.
    fn give_up(&mut self, within: Duration, name: &str) {
        let is_late = |begun: &mut Begun| begun.at.elapsed() >= within;
        if !self.threads.is_full()
            && let Some(begun) = self.running.take_if(is_late)
        {
            self.newest = Some((begun, Err(format!("{name} does not answer"))));
        }
    }

    fn forget(&mut self) {
        (self.running, self.newest) = (None, None);
    }

    /// Whether an answer may come soon.
    fn is_awaited(&self, within: Duration) -> bool {
        let begun = self.running.as_ref();
        begun.is_some_and(|begun| begun.at.elapsed() < within)
    }

    /// What is known for a plan; `None` where it has to wait for what is being asked.
    fn of(&self, manager: Manager, plan: &Plan, policy: &Policy) -> Option<Result<&T, String>> {
        let is_needed = manager.is_needed_by(plan);
        let poll = Duration::from_secs(policy.look_s().into());
        let fresh = poll + Duration::from_millis(policy.turn_ms.into()) * 2 + GRACE;
        let newest = self.newest.as_ref().filter(|(begun, _)| {
            let is_of = begun.versions.get(&plan.id) == Some(&plan.version);
            begun.at.elapsed() <= fresh && (is_of || !is_needed)
        });
        let name = manager.name();
        match newest {
            Some((_, answer)) => Some(answer.as_ref().map_err(Clone::clone)),
            // Its thread should have ended.
            None if self.running.is_some() && !self.is_awaited(poll + GRACE) => {
                Some(Err(format!("{name} does not answer")))
            }
            None if is_needed => None,
            None => Some(Err(format!("{name} has not answered yet"))),
        }
    }
}

/// Both.
pub(super) struct Polls {
    kubernetes: Poll<Nodes>,
    pub(super) slurm: Poll<BTreeMap<String, Node>>,
    /// How many there were.
    serial: u64,
    /// With which host the next poll of Kubernetes begins, so that a slow one comes to all.
    first: Option<String>,
}

impl Default for Polls {
    fn default() -> Self {
        Self {
            kubernetes: Poll::new("gtrace-kube"),
            slurm: Poll::new("gtrace-slurm"),
            serial: 0,
            first: None,
        }
    }
}

/// What is known for a plan: each is absent where the policy has no such manager.
pub(super) struct Known<'a> {
    pub(super) kubernetes: Option<Result<&'a Nodes, String>>,
    pub(super) slurm: Option<Result<&'a BTreeMap<String, Node>, String>>,
}

impl Known<'_> {
    /// Whether it is of the same answers.
    pub(super) fn is_same(&self, other: &Known<'_>) -> bool {
        is_same(self.kubernetes.as_ref(), other.kubernetes.as_ref())
            && is_same(self.slurm.as_ref(), other.slurm.as_ref())
    }
}

fn is_same<T>(one: Option<&Result<&T, String>>, other: Option<&Result<&T, String>>) -> bool {
    match (one, other) {
        (Some(Ok(one)), Some(Ok(other))) => std::ptr::eq(*one, *other),
        (Some(Err(one)), Some(Err(other))) => one == other,
        (one, other) => one.is_none() && other.is_none(),
    }
}

impl Polls {
    /// Polls those that are not being polled. `machine` knows the machine of a host.
    pub(super) fn begin(
        &mut self,
        policy: &Policy,
        plans: &[Plan],
        machine: impl Fn(&str) -> Option<String>,
        messages: &Sender<Message>,
    ) {
        let (answer, all) = (
            answer_within(policy),
            Duration::from_secs(policy.look_s().into()),
        );
        self.kubernetes
            .give_up(all + GRACE, Manager::Kubernetes.name());
        self.slurm.give_up(all + GRACE, Manager::Slurm.name());
        self.serial += 1;
        let serial = self.serial;
        if let Some(service) = policy.kubernetes.clone()
            && self.kubernetes.running.is_none()
        {
            let queries = queries(plans, machine, self.first.as_deref());
            self.kubernetes.running = Some(Begun::now(serial, plans));
            let panicked = Message::Kubernetes(serial, Err(PANICKED.to_owned()));
            let poll = move || {
                let api = Kubernetes::new(&service, answer, all);
                Message::Kubernetes(serial, api.map(|api| read(&api, &queries)))
            };
            let started = self.kubernetes.threads.start(messages, panicked, poll);
            if let Err(error) = started {
                self.kubernetes.take(serial, Err(error));
            }
        }
        if let Some(access) = policy.slurm.clone()
            && self.slurm.running.is_none()
        {
            self.slurm.running = Some(Begun::now(serial, plans));
            let panicked = Message::Slurm(serial, Err(PANICKED.to_owned()));
            let poll = move || Message::Slurm(serial, Slurm::new(&access, answer, all).nodes());
            let started = self.slurm.threads.start(messages, panicked, poll);
            if let Err(error) = started {
                self.slurm.take(serial, Err(error));
            }
        }
    }

    pub(super) fn take_kubernetes(&mut self, serial: u64, answer: Result<Nodes, String>) {
        if let Ok(nodes) = &answer {
            self.first = nodes.left.first().cloned();
        }
        self.kubernetes.take(serial, answer);
    }

    /// Forgets what was answered, and what is being polled: the policy is another one.
    pub(super) fn forget(&mut self) {
        self.kubernetes.forget();
        self.slurm.forget();
    }

    /// Whether an answer is on its way.
    pub(super) fn are_running(&self) -> bool {
        self.kubernetes.running.is_some() || self.slurm.running.is_some()
    }

    /// What is known for a plan; `None` where it has to wait for an answer.
    pub(super) fn of<'a>(&'a self, plan: &Plan, policy: &Policy) -> Option<Known<'a>> {
        let kubernetes = match policy.kubernetes {
            Some(_) => {
                let nodes = self.kubernetes.of(Manager::Kubernetes, plan, policy)?;
                let is_left = nodes.as_ref().is_ok_and(|n| n.left.contains(&plan.host));
                if is_left && Manager::Kubernetes.is_needed_by(plan) {
                    // No time was left for it: the next poll begins with those.
                    return None;
                }
                Some(nodes)
            }
            None => None,
        };
        let slurm = match policy.slurm {
            Some(_) => Some(self.slurm.of(Manager::Slurm, plan, policy)?),
            None => None,
        };
        Some(Known { kubernetes, slurm })
    }
}

/// The hosts that are read, beginning with `first`. One that has several plans is read once, with what any of them needs.
fn queries(
    plans: &[Plan],
    machine: impl Fn(&str) -> Option<String>,
    first: Option<&str>,
) -> Vec<Query> {
    let mut hosts: BTreeMap<&str, bool> = BTreeMap::new();
    for plan in plans.iter().filter(|p| p.out || p.state.is_busy()) {
        let pods = plan.steps.iter().any(|one| {
            let needs = one.step.is_disruptive() || one.step == Step::Drain;
            needs && one.state != StepState::Done
        });
        *hosts.entry(&plan.host).or_default() |= pods;
    }
    let query = |(name, pods): (&str, bool)| Query {
        host: Named {
            name: name.to_owned(),
            machine: machine(name),
        },
        pods,
    };
    let mut queries: Vec<Query> = hosts.into_iter().map(query).collect();
    let is_first = |one: &Query| Some(one.host.name.as_str()) == first;
    let first = queries.iter().position(is_first).unwrap_or(0);
    queries.rotate_left(first);
    queries
}

fn read(api: &Kubernetes, queries: &[Query]) -> Nodes {
    let mut nodes = Nodes {
        cordoned: Some(api.cordoned()),
        hosts: BTreeMap::new(),
        left: Vec::new(),
    };
    for (n, Query { host, pods }) in queries.iter().enumerate() {
        let found = api.node(&host.name);
        let node = found.as_ref().ok().and_then(Option::as_ref);
        let other = node.and_then(|node| node.is_not(host));
        let busy = (*pods && node.is_some() && other.is_none()).then(|| api.busy(&host.name));
        // Of the first it is known that Kubernetes is too slow: it had all of the time.
        if n > 0 && api.is_late() {
            let left = queries[n..].iter().map(|one| one.host.name.clone());
            nodes.left = left.collect();
            break;
        }
        let known = OfNode {
            node: other.clone().map_or(found, Err),
            busy,
            other,
        };
        nodes.hosts.insert(host.name.clone(), known);
    }
    nodes
}

#[cfg(test)]
mod tests {
    use gtrace_event::Timestamp;
    use gtrace_fleet::remedy::{Cause, PlanState, Service};

    use super::*;

    fn plan(id: i64, host: &str, steps: &[Step]) -> Plan {
        let (cause, now) = (Cause::default(), Timestamp::now());
        Plan::new(id, host, "r", cause, steps, PlanState::Waiting, now)
    }

    fn policy() -> Policy {
        let api = serde_json::json!({ "url": "http://127.0.0.1:1" });
        serde_json::from_value(serde_json::json!({ "kubernetes": api })).unwrap()
    }

    #[test]
    fn a_slow_kubernetes_is_asked_next_for_those_for_which_no_time_was_left() {
        let api = serde_json::from_value::<Service>(serde_json::json!({ "url": "http://[::1]:1" }));
        let (policy, answer) = (policy(), Duration::from_secs(1));
        // The time is over before anything is answered.
        let api = Kubernetes::new(&api.unwrap(), answer, Duration::ZERO).unwrap();
        let drains = [Step::Cordon, Step::Drain];
        let plans: Vec<Plan> = ["a", "b", "c", "b"]
            .iter()
            .zip(1..)
            .map(|(host, id)| plan(id, host, if id == 4 { &drains } else { &drains[..1] }))
            .collect();
        let mut polls = Polls::default();
        let mut order = Vec::new();
        for serial in 1..=3 {
            let queries = queries(&plans, |_| None, polls.first.as_deref());
            assert!(queries.iter().all(|one| one.pods == (one.host.name == "b")));
            let nodes = read(&api, &queries);
            assert_eq!((queries.len(), nodes.left.len()), (3, 2));
            order.push(queries[0].host.name.clone());
            polls.kubernetes.running = Some(Begun::now(serial, &plans));
            polls.take_kubernetes(serial, Ok(nodes));
            for plan in &plans {
                // That it is too slow is known of the first; the others wait.
                let known = polls.of(plan, &policy);
                assert_eq!(known.is_some(), *order.last().unwrap() == plan.host);
            }
        }
        assert_eq!(order, ["a", "b", "c"]);
    }

    #[test]
    fn plans_that_know_the_same_answers_say_so() {
        let policy = policy();
        let plans = [1, 2, 3].map(|id| plan(id, "a", &[Step::Cordon]));
        let mut polls = Polls::default();
        let mut poll = |serial, answer| {
            polls.kubernetes.running = Some(Begun::now(serial, &plans));
            polls.take_kubernetes(serial, answer);
            let known = plans
                .each_ref()
                .map(|plan| polls.of(plan, &policy).unwrap());
            (known[0].is_same(&known[1]), known[1].is_same(&known[2]))
        };
        assert_eq!(poll(1, Ok(Nodes::default())), (true, true));
        assert_eq!(poll(2, Err("away".to_owned())), (true, true));
        let nodes = [Nodes::default(), Nodes::default()];
        let of = |nodes| Known {
            kubernetes: Some(nodes),
            slurm: None,
        };
        assert!(!of(Ok(&nodes[0])).is_same(&of(Ok(&nodes[1]))));
        assert!(!of(Ok(&nodes[0])).is_same(&of(Err("away".to_owned()))));
    }

    #[test]
    fn a_poll_whose_thread_hangs_is_given_up_and_what_it_answers_later_counts_no_more() {
        let (policy, plans) = (policy(), [plan(1, "a", &[Step::Cordon])]);
        let mut poll: Poll<Nodes> = Poll::new("gtrace-test");
        let begun = |serial| Begun::now(serial, &plans);
        let known = |poll: &Poll<Nodes>| {
            let known = poll.of(Manager::Kubernetes, &plans[0], &policy);
            known.map(|known| known.map(drop))
        };
        poll.running = Some(begun(1));
        assert_eq!(known(&poll), None);
        poll.give_up(Duration::from_secs(3600), "Kubernetes");
        assert!(poll.running.is_some());
        poll.give_up(Duration::ZERO, "Kubernetes");
        let failed = Some(Err("Kubernetes does not answer".to_owned()));
        assert_eq!(
            (poll.running.is_none(), known(&poll)),
            (true, failed.clone())
        );
        // The next one begins, and what is known comes from it alone.
        poll.running = Some(begun(2));
        poll.take(1, Ok(Nodes::default()));
        assert_eq!(known(&poll), failed);
        poll.take(2, Ok(Nodes::default()));
        assert_eq!(known(&poll), Some(Ok(())));
    }
}
