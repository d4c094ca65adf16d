//! What Kubernetes and Slurm say of hosts: asked by a thread for each, so that one which does not answer delays neither the other nor
//! the plans that do not need it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::mpsc::Sender;
use std::time::{Duration, Instant};

use gtrace_fleet::remedy::scontrol::Node;
use gtrace_fleet::remedy::{Plan, Policy, Step, StepState};

use super::kubernetes::{Kubernetes, Named, NodeState};
use super::slurm::Slurm;
use super::{Word, answer_within};

/// For so long after its time a thread may still end by itself.
const GRACE: Duration = Duration::from_secs(3);

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
    pub(super) fn has_part_in(self, plan: &Plan) -> bool {
        plan.steps.iter().any(|one| match self {
            Self::Kubernetes => matches!(one.step, Step::Cordon | Step::Drain),
            Self::Slurm => one.step == Step::SlurmDrain,
        })
    }
}

/// What Kubernetes says.
#[derive(Default)]
pub(super) struct Nodes {
    /// Nodes that are cordoned, by whomever.
    pub(super) cordoned: Option<Result<BTreeSet<String>, String>>,
    /// Of each host that was asked for: its node, and why it is busy where that was asked for.
    pub(super) hosts: BTreeMap<String, OfNode>,
}

pub(super) struct OfNode {
    pub(super) node: Result<Option<NodeState>, String>,
    pub(super) busy: Option<Result<Option<String>, String>>,
    /// Why the node of that name is not the host.
    pub(super) other: Option<String>,
}

/// What is asked for a plan's host.
struct Question {
    host: Named,
    pods: bool,
}

/// When something was asked, and for which versions of plans.
#[derive(Clone, Debug)]
pub(super) struct Asked {
    /// Which look it is.
    serial: u64,
    at: Instant,
    versions: BTreeMap<i64, i64>,
}

/// What a manager said, or why nothing is known.
pub(super) struct Look<T> {
    running: Option<Asked>,
    newest: Option<(Asked, Result<T, String>)>,
}

impl<T> Default for Look<T> {
    fn default() -> Self {
        Self {
            running: None,
            newest: None,
        }
    }
}

impl<T> Look<T> {
    /// Takes an answer, unless it is one to a question of before.
    fn take(&mut self, serial: u64, said: Result<T, String>) {
        if let Some(asked) = self.running.take_if(|asked| asked.serial == serial) {
            self.newest = Some((asked, said));
        }
    }

    /// Whether an answer may come soon.
    fn is_awaited(&self, within: Duration) -> bool {
        let asked = self.running.as_ref();
        asked.is_some_and(|asked| asked.at.elapsed() < within)
    }

    /// What is known for a plan; `None` where it has to wait for what is being asked.
    fn of(&self, manager: Manager, plan: &Plan, policy: &Policy) -> Option<Result<&T, String>> {
        let has_part = manager.has_part_in(plan);
        let look = Duration::from_secs(policy.look_s().into());
        let fresh = look + Duration::from_millis(policy.turn_ms.into()) * 2 + GRACE;
        let newest = self.newest.as_ref().filter(|(asked, _)| {
            let is_of = asked.versions.get(&plan.id) == Some(&plan.version);
            asked.at.elapsed() <= fresh && (is_of || !has_part)
        });
        let name = manager.name();
        match newest {
            Some((_, said)) => Some(said.as_ref().map_err(Clone::clone)),
            // Its thread should have ended.
            None if self.running.is_some() && !self.is_awaited(look + GRACE) => {
                Some(Err(format!("{name} does not answer")))
            }
            None if has_part => None,
            None => Some(Err(format!("{name} has not answered yet"))),
        }
    }
}

/// Both.
#[derive(Default)]
pub(super) struct Looks {
    kubernetes: Look<Nodes>,
    slurm: Look<BTreeMap<String, Node>>,
    /// How many looks there were. Each begins with another host, so that a slow Kubernetes comes to all.
    serial: u64,
}

/// What is known for a plan: each is absent where the policy has no such manager.
pub(super) struct Seen<'a> {
    pub(super) kubernetes: Option<Result<&'a Nodes, String>>,
    pub(super) slurm: Option<Result<&'a BTreeMap<String, Node>, String>>,
}

impl Looks {
    /// Asks those that are not being asked. `machine` knows the machine of a host.
    pub(super) fn begin(
        &mut self,
        policy: &Policy,
        plans: &[Plan],
        machine: impl Fn(&str) -> Option<String>,
        words: &Sender<Word>,
    ) {
        self.serial += 1;
        let serial = self.serial;
        let asked = || Asked {
            serial,
            at: Instant::now(),
            versions: plans.iter().map(|plan| (plan.id, plan.version)).collect(),
        };
        let (answer, all) = (
            answer_within(policy),
            Duration::from_secs(policy.look_s().into()),
        );
        if let Some(service) = policy.kubernetes.clone()
            && self.kubernetes.running.is_none()
        {
            let mut questions: Vec<Question> = plans
                .iter()
                .filter(|plan| plan.out || plan.state.is_busy())
                .map(|plan| Question {
                    host: Named {
                        name: plan.host.clone(),
                        machine: machine(&plan.host),
                    },
                    pods: plan.steps.iter().any(|one| {
                        let needs = one.step.is_disruptive() || one.step == Step::Drain;
                        needs && one.state != StepState::Done
                    }),
                })
                .collect();
            let first = usize::try_from(serial).unwrap_or(0) % questions.len().max(1);
            questions.rotate_left(first);
            let words = words.clone();
            self.kubernetes.running = Some(asked());
            let look = move || {
                let api = Kubernetes::new(&service, answer, all);
                let said = api.map(|api| ask(&api, &questions));
                let _ = words.send(Word::Kubernetes(serial, said));
            };
            if let Err(error) = thread(look) {
                self.kubernetes.take(serial, Err(error));
            }
        }
        if let Some(access) = policy.slurm.clone()
            && self.slurm.running.is_none()
        {
            let words = words.clone();
            self.slurm.running = Some(asked());
            let look = move || {
                let said = Slurm::new(&access, answer, all).nodes();
                let _ = words.send(Word::Slurm(serial, said));
            };
            if let Err(error) = thread(look) {
                self.slurm.take(serial, Err(error));
            }
        }
    }

    pub(super) fn take_kubernetes(&mut self, serial: u64, said: Result<Nodes, String>) {
        self.kubernetes.take(serial, said);
    }

    pub(super) fn take_slurm(&mut self, serial: u64, said: Result<BTreeMap<String, Node>, String>) {
        self.slurm.take(serial, said);
    }

    /// Forgets what was said, and what is being asked: the policy is another one.
    pub(super) fn forget(&mut self) {
        *self = Self {
            serial: self.serial,
            ..Self::default()
        };
    }

    /// Whether an answer is on its way.
    pub(super) fn are_running(&self) -> bool {
        self.kubernetes.running.is_some() || self.slurm.running.is_some()
    }

    /// What is known for a plan; `None` where it has to wait for an answer.
    pub(super) fn of<'a>(&'a self, plan: &Plan, policy: &Policy) -> Option<Seen<'a>> {
        let kubernetes = match policy.kubernetes {
            Some(_) => Some(self.kubernetes.of(Manager::Kubernetes, plan, policy)?),
            None => None,
        };
        let slurm = match policy.slurm {
            Some(_) => Some(self.slurm.of(Manager::Slurm, plan, policy)?),
            None => None,
        };
        Some(Seen { kubernetes, slurm })
    }
}

fn thread(look: impl FnOnce() + Send + 'static) -> Result<(), String> {
    let thread = std::thread::Builder::new().name("gtrace-remedy-look".to_owned());
    let started = thread.spawn(look).map(drop);
    started.map_err(|error| format!("cannot start a thread: {error}"))
}

fn ask(api: &Kubernetes, questions: &[Question]) -> Nodes {
    let mut nodes = Nodes {
        cordoned: Some(api.cordoned()),
        hosts: BTreeMap::new(),
    };
    for Question { host, pods } in questions {
        let found = api.node(&host.name);
        let node = found.as_ref().ok().and_then(Option::as_ref);
        let other = node.and_then(|node| node.is_not(host));
        let busy = (*pods && node.is_some() && other.is_none()).then(|| api.busy(&host.name));
        let known = OfNode {
            node: other.clone().map_or(found, Err),
            busy,
            other,
        };
        nodes.hosts.insert(host.name.clone(), known);
    }
    nodes
}
