//! Plans of remediation in a world that goes wrong: heads that end at any point, managers that do not answer, hosts that heal or do
//! not, jobs that come back, people who approve, refuse and undo.
#![allow(missing_docs, clippy::unwrap_used)]

use std::collections::{BTreeMap, BTreeSet};

use gtrace_event::Timestamp;
use gtrace_fleet::remedy::{
    Cause, Effect, Facts, HostFacts, Mode, Order, Outcome, Plan, PlanState, Policy, Remediation,
    Step, StepState,
};
use proptest::prelude::*;

#[derive(Clone, Debug)]
enum Event {
    /// A head's turn; its orders are carried out as these say.
    Turn,
    /// An order that is under way ends.
    Ends(usize, Fate),
    /// The head ends: what is under way is carried out, or not, and nobody learns which.
    Crash(End),
    /// The turn's changes are not kept: its orders are not carried out.
    Unwritten,
    /// So many seconds go by.
    Pass(i64),
    /// Something that was sent, and that was not answered, takes effect after all.
    TakesEffect(usize),
    /// The policy acts, or is dry.
    Acts(bool),
    Approve(usize),
    Refuse(usize),
    Undo(usize),
    Busy(usize, bool),
    Well(usize, bool),
    Over(usize, bool),
    Evidence(usize, bool),
    /// Somebody else cordons a host, or takes that back.
    ByHand(usize, bool),
    /// The managers do not answer.
    Silent(bool),
    /// Hosts begin what they were asked to do.
    HostsBegin,
    /// Hosts end what they have begun; whether it went well.
    HostsEnd(bool),
}

/// Where a head ends.
#[derive(Clone, Copy, Debug)]
enum End {
    Unclaimed,
    Unsent,
    Done,
    /// What was sent may take effect yet.
    Sent,
}

#[derive(Clone, Copy, Debug)]
enum Fate {
    Works,
    Refused,
    Lost {
        done: bool,
    },
    /// It ends before anything is sent.
    NotSent,
    /// Nobody waits for it any more, and it may take effect yet.
    Late,
}

/// What was sent takes effect within this time or not at all, in seconds: five times `answer_s`.
const SETTLED_S: i64 = 50;

const HOSTS: usize = 5;

fn steps() -> impl Strategy<Value = Vec<Step>> {
    use Step::{Cordon, Drain, Reboot, ResetGpu, Return, SlurmDrain, Ticket};
    prop_oneof![
        Just(vec![Ticket, Cordon, Drain, Reboot, Return]),
        Just(vec![SlurmDrain, ResetGpu, Return, Ticket]),
        Just(vec![Cordon, SlurmDrain, Reboot]),
        Just(vec![Reboot]),
        Just(vec![Ticket]),
        Just(vec![Cordon]),
    ]
}

fn event() -> impl Strategy<Value = Event> {
    let host = 0..HOSTS;
    let fate = prop_oneof![
        4 => Just(Fate::Works),
        1 => Just(Fate::Refused),
        1 => any::<bool>().prop_map(|done| Fate::Lost { done }),
        1 => Just(Fate::NotSent),
        1 => Just(Fate::Late),
    ];
    let end = prop_oneof![
        Just(End::Unclaimed),
        Just(End::Unsent),
        Just(End::Done),
        Just(End::Sent)
    ];
    let time = prop_oneof![2 => 1..40_i64, 3 => (1..90_i64).prop_map(|minutes| minutes * 60)];
    prop_oneof![
        12 => Just(Event::Turn),
        8 => (0..4_usize, fate).prop_map(|(n, fate)| Event::Ends(n, fate)),
        2 => end.prop_map(Event::Crash),
        1 => Just(Event::Unwritten),
        5 => time.prop_map(Event::Pass),
        2 => (0..4_usize).prop_map(Event::TakesEffect),
        1 => prop::bool::weighted(0.7).prop_map(Event::Acts),
        3 => host.clone().prop_map(Event::Approve),
        1 => host.clone().prop_map(Event::Refuse),
        1 => host.clone().prop_map(Event::Undo),
        2 => (host.clone(), any::<bool>()).prop_map(|(h, b)| Event::Busy(h, b)),
        3 => (host.clone(), any::<bool>()).prop_map(|(h, b)| Event::Well(h, b)),
        1 => (host.clone(), any::<bool>()).prop_map(|(h, b)| Event::Over(h, b)),
        2 => (host.clone(), any::<bool>()).prop_map(|(h, b)| Event::Evidence(h, b)),
        1 => (host, any::<bool>()).prop_map(|(h, b)| Event::ByHand(h, b)),
        1 => any::<bool>().prop_map(Event::Silent),
        4 => Just(Event::HostsBegin),
        4 => prop::bool::weighted(0.8).prop_map(Event::HostsEnd),
    ]
}

/// Who cordoned or drained a host.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Hand {
    Plan(i64),
    Somebody,
}

/// How far a host is with what it was asked to do.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Asked {
    Pending,
    Begun,
    Done,
    Failed,
}

#[derive(Default)]
struct World {
    /// Seconds since it began.
    now: i64,
    /// What holds of which host.
    held: BTreeMap<(String, Step), Hand>,
    /// Requests to agents by plan and step.
    asked: BTreeMap<(i64, Step), Asked>,
    /// What was sent and may take effect yet, and until when.
    late: Vec<(Order, i64)>,
    busy: BTreeSet<String>,
    unwell: BTreeSet<String>,
    over: BTreeSet<String>,
    evidence: BTreeSet<String>,
    silent: bool,
    /// How often each step of each plan was carried out.
    acts: BTreeMap<(i64, Step, bool), u32>,
    /// Plans whose annotation nodes have, also those that somebody has made schedulable again.
    annotated: BTreeSet<i64>,
}

fn name(n: usize) -> String {
    format!("h{n}")
}

impl World {
    fn time(&self) -> Timestamp {
        Timestamp::from_second(1_780_000_000 + self.now).unwrap()
    }

    /// A plan for the n-th host.
    fn plan(&self, id: i64, n: usize, steps: &[Step]) -> Plan {
        let (cause, state) = (Cause::default(), PlanState::Waiting);
        Plan::new(id, &name(n), "r", cause, steps, state, self.time())
    }

    /// Requests that no host has begun.
    fn pending(&mut self) -> impl Iterator<Item = (&(i64, Step), &mut Asked)> {
        let is_pending = |(_, asked): &(&(i64, Step), &mut Asked)| **asked == Asked::Pending;
        self.asked.iter_mut().filter(is_pending)
    }

    fn hosts_begin(&mut self) {
        let begun: Vec<(i64, Step)> = self
            .pending()
            .map(|(of, asked)| {
                *asked = Asked::Begun;
                *of
            })
            .collect();
        for (plan, step) in begun {
            *self.acts.entry((plan, step, false)).or_default() += 1;
        }
    }

    fn hosts_end(&mut self, well: bool) {
        let begun = self.asked.values_mut().filter(|a| **a == Asked::Begun);
        begun.for_each(|asked| *asked = if well { Asked::Done } else { Asked::Failed });
    }

    fn pass(&mut self, seconds: i64) {
        self.now += seconds;
        self.late.retain(|(_, until)| *until >= self.now);
    }

    fn facts(&self, plans: &Remediation) -> Facts {
        let listed = |of: &BTreeSet<String>, host: &str, why: &str| {
            of.contains(host).then(|| why.to_owned())
        };
        let of_plan = |plan: &Plan| {
            let host = plan.host.as_str();
            let mut effects = BTreeMap::new();
            for step in &plan.steps {
                let kind = step.step;
                let held = self.held.get(&(host.to_owned(), kind));
                let effect = match kind {
                    _ if self.silent && kind != Step::Reboot && kind != Step::ResetGpu => {
                        Effect::Unknown("no answer".to_owned())
                    }
                    Step::Cordon | Step::SlurmDrain => match held {
                        Some(Hand::Plan(id)) if *id == plan.id => Effect::Ours,
                        Some(_) => Effect::Theirs,
                        None => Effect::Absent,
                    },
                    Step::Drain if self.busy.contains(host) => Effect::Absent,
                    Step::Drain => Effect::Ours,
                    Step::Reboot | Step::ResetGpu => match self.asked.get(&(plan.id, kind)) {
                        Some(Asked::Done) => Effect::Ours,
                        Some(Asked::Pending | Asked::Begun) => Effect::Going,
                        Some(Asked::Failed) => Effect::Failed("no".to_owned()),
                        None => Effect::Absent,
                    },
                    Step::Ticket | Step::Return => Effect::Unknown("no trace".to_owned()),
                };
                effects.insert(kind, effect);
            }
            let unknown = self.silent.then(|| "no answer".to_owned());
            HostFacts {
                version: plan.version,
                over: listed(&self.over, host, "it is well"),
                no_evidence: (!self.evidence.contains(host)).then(|| "none".to_owned()),
                busy: unknown.or_else(|| listed(&self.busy, host, "jobs")),
                unwell: listed(&self.unwell, host, "unwell"),
                effects,
                ..HostFacts::default()
            }
        };
        let held = self.held.keys().map(|(host, _)| host.clone());
        Facts {
            now: self.time(),
            hosts: HOSTS,
            out: held.collect(),
            out_unknown: self.silent.then(|| "no answer".to_owned()),
            of: plans.plans.values().map(|p| (p.id, of_plan(p))).collect(),
        }
    }

    /// As managers and hosts do it: what holds already is not done once more.
    fn carry_out(&mut self, order: &Order) {
        let key = (order.host.clone(), order.step);
        let is_ours = self.held.get(&key) == Some(&Hand::Plan(order.plan));
        let does = match (order.step, order.undo) {
            (Step::Cordon, false) => {
                !self.held.contains_key(&key) && self.annotated.insert(order.plan)
            }
            (Step::SlurmDrain, false) => !self.held.contains_key(&key),
            (Step::Cordon | Step::SlurmDrain, true) => is_ours,
            (Step::Reboot | Step::ResetGpu, _) => {
                let asked = self.asked.entry((order.plan, order.step));
                asked.or_insert(Asked::Pending);
                // It counts once its host has begun.
                false
            }
            (Step::Drain | Step::Ticket | Step::Return, _) => true,
        };
        if !does {
            return;
        }
        *self
            .acts
            .entry((order.plan, order.step, order.undo))
            .or_default() += 1;
        match (order.step, order.undo) {
            (Step::Cordon | Step::SlurmDrain, false) => {
                self.held.insert(key, Hand::Plan(order.plan));
            }
            (Step::Cordon | Step::SlurmDrain, true) => drop(self.held.remove(&key)),
            (Step::Drain, _) => drop(self.busy.remove(&order.host)),
            (Step::Reboot | Step::ResetGpu | Step::Ticket | Step::Return, _) => {}
        }
    }
}

fn policy(act: bool) -> Policy {
    let policy: Policy = serde_json::from_value(serde_json::json!({
        "mode": if act { "act" } else { "dry" },
        "max_out": 2, "max_out_percent": 60, "plans_per_hour": 3, "again_after_h": 24, "rule": [],
    }))
    .unwrap();
    policy.check().unwrap();
    policy
}

struct Head {
    plans: Remediation,
    flying: Vec<Order>,
}

impl Head {
    /// A turn over all plans, as the database takes it: changes are kept first, then orders are given.
    fn turn(
        &mut self,
        world: &mut World,
        policy: &Policy,
        kept: bool,
    ) -> Result<(), TestCaseError> {
        if kept && policy.mode == Mode::Dry {
            world
                .pending()
                .for_each(|(_, asked)| *asked = Asked::Failed);
        }
        let facts = world.facts(&self.plans);
        let before = self.plans.clone();
        let mut orders = Vec::new();
        for id in before.plans.keys() {
            let flying = self.flying.iter().any(|order| order.plan == *id);
            let order = self.plans.advance(*id, policy, &facts, flying);
            if let Some(order) = order {
                let step = &self.plans.plans[id].steps[order.index];
                let noted = if order.undo { step.undo } else { step.state };
                prop_assert_eq!(noted, StepState::Begun, "not recorded: {:?}", order);
                let of = &facts.of[id];
                if order.step.is_disruptive() {
                    prop_assert!(
                        of.busy.is_none() && of.no_evidence.is_none() && of.over.is_none()
                    );
                    for before in &self.plans.plans[id].steps[..order.index] {
                        prop_assert!(
                            !before.step.has_undo()
                                || matches!(
                                    of.effects[&before.step],
                                    Effect::Ours | Effect::Theirs
                                )
                        );
                    }
                }
                orders.push(order);
            }
        }
        // Nothing is put back while the host is at a reset or a reboot.
        let all_before = before
            .plans
            .iter()
            .filter(|(_, p)| p.state == PlanState::Undoing);
        for (id, plan) in all_before {
            let is_at = plan.steps.iter().any(|step| {
                let in_time =
                    |at: Timestamp| facts.now.duration_since(at).as_secs() <= step.step.limit_s();
                step.step.is_disruptive()
                    && facts.of[id].effects[&step.step] == Effect::Going
                    && step.began.is_some_and(in_time)
            });
            let goes_on = self.plans.plans[id].state != PlanState::Undoing
                || orders.iter().any(|order| order.plan == *id);
            prop_assert!(!(is_at && goes_on), "{plan:?}");
        }
        prop_assert!(policy.mode == Mode::Act || orders.iter().all(|order| order.undo));
        if !kept {
            self.plans = before;
            return Ok(());
        }
        // What a host has not begun is withdrawn once what it needs does not hold any more.
        let settled = |id: &i64| !self.flying.iter().any(|order| order.plan == *id);
        let ids = before.plans.keys().copied().filter(settled);
        let unfounded = ids.filter_map(|id| self.plans.unfounded(id, policy, &facts));
        for (id, index, step, why) in unfounded.collect::<Vec<_>>() {
            if world.asked.get(&(id, step)) == Some(&Asked::Pending) {
                world.asked.remove(&(id, step));
                self.plans.withdrawn(id, index, &why, facts.now);
            }
        }
        self.flying.extend(orders);
        Ok(())
    }
}

/// Some seconds; with `cargo xtask test --long` some minutes.
fn cases() -> u32 {
    match std::env::var_os("GTRACE_TEST_LONG") {
        Some(_) => 5000,
        None => 80,
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn plans_keep_to_their_limits_whatever_happens(
        kinds in prop::collection::vec((steps(), any::<bool>()), HOSTS..2 * HOSTS),
        events in prop::collection::vec(event(), 1..200),
    ) {
        let (acts, dry) = (policy(true), policy(false));
        let mut policy = &acts;
        let mut world = World::default();
        let mut head = Head { plans: Remediation::default(), flying: Vec::new() };
        let mut approval = BTreeMap::new();
        for (n, (steps, wants)) in kinds.iter().enumerate() {
            let id = n as i64 + 1;
            let cause = Cause { key: id.to_string(), ..Cause::default() };
            let state = if *wants { PlanState::Approval } else { PlanState::Waiting };
            let plan = Plan::new(id, &name(n % HOSTS), "r", cause, steps, state, world.time());
            head.plans.plans.insert(id, plan);
            approval.insert(id, !*wants);
        }
        (0..HOSTS).for_each(|n| assert!(world.unwell.insert(name(n))));
        let mut undone: BTreeMap<i64, u32> = BTreeMap::new();
        let set = |of: &mut BTreeSet<String>, host: usize, on: bool| match on {
            true => drop(of.insert(name(host))),
            false => drop(of.remove(&name(host))),
        };
        for event in events {
            let now = world.time();
            let begun = |plans: &Remediation| -> BTreeMap<i64, Timestamp> {
                plans.plans.values().filter_map(|p| Some((p.id, p.began?))).collect()
            };
            let others: BTreeSet<String> = world.held.iter()
                .filter(|(_, hand)| **hand == Hand::Somebody).map(|((host, _), _)| host.clone()).collect();
            let (out_before, begun_before) = (head.plans.out(), begun(&head.plans));
            match event {
                Event::Turn => head.turn(&mut world, policy, true)?,
                Event::Unwritten => head.turn(&mut world, policy, false)?,
                Event::Ends(n, fate) => {
                    if !head.flying.is_empty() {
                        let order = head.flying.remove(n % head.flying.len());
                        if matches!(fate, Fate::NotSent) {
                            head.plans.ended(&order, Outcome::Unsure("no answer".to_owned()), now);
                            continue;
                        }
                        if policy.mode == Mode::Dry && !order.undo {
                            head.plans.ended(&order, Outcome::Withdrawn, now);
                            continue;
                        }
                        let claimed = head.plans.plans.get_mut(&order.plan).is_some_and(|p| p.claim(&order, now));
                        if !claimed {
                            head.plans.ended(&order, Outcome::Withdrawn, now);
                            continue;
                        }
                        let outcome = match fate {
                            Fate::Works => Outcome::Acted(String::new()),
                            Fate::Refused => Outcome::Refused("no".to_owned()),
                            Fate::Lost { .. } | Fate::NotSent | Fate::Late => Outcome::Unsure("no answer".to_owned()),
                        };
                        if matches!(fate, Fate::Late) {
                            world.late.push((order.clone(), world.now + SETTLED_S));
                        }
                        if matches!(fate, Fate::Works | Fate::Lost { done: true }) {
                            world.carry_out(&order);
                        }
                        head.plans.ended(&order, outcome, now);
                    }
                }
                Event::Crash(end) => for order in std::mem::take(&mut head.flying) {
                    let plan = head.plans.plans.get_mut(&order.plan).unwrap();
                    match end {
                        End::Unclaimed => {}
                        End::Unsent => drop(plan.claim(&order, now)),
                        End::Done if plan.claim(&order, now) => world.carry_out(&order),
                        End::Sent if plan.claim(&order, now) => {
                            world.late.push((order, world.now + SETTLED_S));
                        }
                        End::Done | End::Sent => {}
                    }
                },
                Event::Pass(seconds) => world.pass(seconds),
                Event::TakesEffect(n) => if !world.late.is_empty() {
                    let (order, _) = world.late.remove(n % world.late.len());
                    world.carry_out(&order);
                },
                Event::Acts(on) => policy = if on { &acts } else { &dry },
                Event::Approve(n) => for plan in head.plans.plans.values_mut().filter(|p| p.host == name(n)) {
                    if plan.approve("x", now).is_ok() {
                        approval.insert(plan.id, true);
                    }
                },
                Event::Refuse(n) => for plan in head.plans.plans.values_mut().filter(|p| p.host == name(n)) {
                    drop(plan.refuse("x", now));
                },
                Event::Undo(n) => for plan in head.plans.plans.values_mut().filter(|p| p.host == name(n)) {
                    if plan.undo("x", now).is_ok() {
                        *undone.entry(plan.id).or_default() += 1;
                        let of_plan = world.pending().filter(|((id, _), _)| *id == plan.id);
                        of_plan.for_each(|(_, asked)| *asked = Asked::Failed);
                    }
                },
                Event::Busy(n, on) => set(&mut world.busy, n, on),
                Event::Well(n, on) => set(&mut world.unwell, n, !on),
                Event::Over(n, on) => set(&mut world.over, n, on),
                Event::Evidence(n, on) => set(&mut world.evidence, n, on),
                Event::ByHand(n, true) => {
                    world.held.entry((name(n), Step::Cordon)).or_insert(Hand::Somebody);
                }
                Event::ByHand(n, false) => drop(world.held.remove(&(name(n), Step::Cordon))),
                Event::Silent(on) => world.silent = on,
                Event::HostsBegin => world.hosts_begin(),
                Event::HostsEnd(well) => world.hosts_end(well),
            }
            let out = head.plans.out();
            prop_assert!(out.len() <= 2, "{out:?}");
            // Nobody is taken out beyond the limits, with those that others took out.
            if out.difference(&out_before).next().is_some() {
                let all: BTreeSet<&String> = out.iter().chain(&others).collect();
                prop_assert!(all.len() <= 2, "{out:?} beside {others:?}");
            }
            let begun_now = begun(&head.plans);
            for (id, at) in &begun_now {
                prop_assert!(approval[id], "plan {id} began without approval");
                if !begun_before.contains_key(id) {
                    let lately = begun_now.values().filter(|other| at.duration_since(**other).as_secs() < 3600);
                    prop_assert!(lately.count() <= 3);
                    let host = &head.plans.plans[id].host;
                    let same = begun_now.iter().filter(|(other, at_other)| {
                        head.plans.plans[other].host == *host && at.duration_since(**at_other).as_secs() < 86_400
                    });
                    prop_assert_eq!(same.count(), 1);
                }
            }
            for ((id, step, undo), count) in &world.acts {
                let most = match (step.is_resumable(), undo) {
                    (true, _) => u32::MAX,
                    (_, true) => 1 + undone.get(id).copied().unwrap_or_default(),
                    _ => 1,
                };
                prop_assert!(*count <= most, "{step} of plan {id} was done {count} times");
            }
        }
        // Once nothing goes wrong any more, nothing hangs.
        world.silent = false;
        world.busy.clear();
        world.unwell.clear();
        for _ in 0..80 {
            world.pass(3600);
            world.hosts_begin();
            world.hosts_end(true);
            head.turn(&mut world, &acts, true)?;
            for order in std::mem::take(&mut head.flying) {
                finish(&mut world, &mut head.plans, &order);
            }
        }
        for plan in head.plans.plans.values() {
            let waits = matches!(plan.state, PlanState::Approval | PlanState::Waiting);
            prop_assert!(!plan.state.is_live() || waits, "{plan:?}");
            prop_assert!(plan.state != PlanState::Waiting || plan.waits.is_some(), "{plan:?}");
            // What was taken back, or returned, is not held by what came late.
            let is_back = plan.state == PlanState::Undone || (plan.state == PlanState::Done && !plan.out);
            let holds = world.held.values().any(|hand| *hand == Hand::Plan(plan.id));
            prop_assert!(!(is_back && holds), "{plan:?} {:?}", world.held);
        }
    }
}

/// Claims an order, has it done, and gets the answer.
fn finish(world: &mut World, plans: &mut Remediation, order: &Order) {
    let plan = plans.plans.get_mut(&order.plan).unwrap();
    let outcome = match plan.claim(order, world.time()) {
        true => {
            world.carry_out(order);
            Outcome::Acted(String::new())
        }
        false => Outcome::Withdrawn,
    };
    plans.ended(order, outcome, world.time());
}

/// A world with one plan, for its first host, of which is saved what it kept.
fn one_plan(steps: &[Step]) -> (World, Remediation) {
    let mut world = World::default();
    world.evidence.insert(name(0));
    let mut plans = Remediation::default();
    plans.plans.insert(1, world.plan(1, 0, steps));
    (world, plans)
}

/// A turn of the one plan.
fn turn(plans: &mut Remediation, world: &World, policy: &Policy) -> Option<Order> {
    plans.advance(1, policy, &world.facts(plans), false)
}

#[test]
fn a_dry_policy_does_nothing_even_to_plans_that_were_approved() {
    let (mut world, mut plans) = one_plan(&[Step::Cordon, Step::Reboot]);
    let dry = policy(false);
    assert_eq!(turn(&mut plans, &world, &dry), None);
    assert_eq!(plans.plans[&1].waits.as_deref(), Some("the policy is dry"));
    // It goes on from where it is once the policy acts, and stops again.
    let acts = policy(true);
    let order = turn(&mut plans, &world, &acts).unwrap();
    finish(&mut world, &mut plans, &order);
    assert_eq!(turn(&mut plans, &world, &dry), None);
    assert_eq!(plans.plans[&1].steps[1].state, StepState::Pending);
}

/// A plan whose steps were all begun and whose host is at the last of them.
fn at_reset(steps: &[Step]) -> (World, Remediation, Policy) {
    let (mut world, mut plans) = one_plan(steps);
    let policy = policy(true);
    for _ in steps {
        let order = turn(&mut plans, &world, &policy).unwrap();
        finish(&mut world, &mut plans, &order);
    }
    (world, plans, policy)
}

#[test]
fn undoing_waits_for_a_reset_that_is_under_way() {
    let (mut world, mut plans, policy) = at_reset(&[Step::Cordon, Step::ResetGpu]);
    let plan = plans.plans.get_mut(&1).unwrap();
    plan.undo("x", world.time()).unwrap();
    assert_eq!(turn(&mut plans, &world, &policy), None);
    let waits = plans.plans[&1].waits.clone().unwrap();
    assert!(waits.contains("reset_gpu is under way"), "{waits}");
    // A host that never answers does not keep it for ever.
    world.now += Step::ResetGpu.limit_s() + 1;
    let order = turn(&mut plans, &world, &policy).unwrap();
    assert_eq!((order.step, order.undo), (Step::Cordon, true));
}

#[test]
fn a_host_that_left_the_fleet_keeps_nobody_else_in() {
    let (mut world, mut plans, policy) = at_reset(&[Step::Cordon, Step::ResetGpu]);
    world.now += Step::ResetGpu.limit_s() + 1;
    turn(&mut plans, &world, &policy);
    assert_eq!(plans.plans[&1].state, PlanState::Failed);
    assert_eq!(plans.out().len(), 1);
    world.silent = true;
    let mut facts = world.facts(&plans);
    plans.advance(1, &policy, &facts, false);
    assert_eq!(plans.out().len(), 1);
    facts.of.get_mut(&1).unwrap().gone = true;
    plans.advance(1, &policy, &facts, false);
    assert!(plans.out().is_empty());
}

#[test]
fn a_plan_that_cannot_be_carried_out_takes_nothing_out() {
    let (world, mut plans) = one_plan(&[Step::Cordon, Step::Reboot]);
    let mut facts = world.facts(&plans);
    facts.of.get_mut(&1).unwrap().cannot = Some("it does not permit it".to_owned());
    assert_eq!(plans.advance(1, &policy(true), &facts, false), None);
    assert!(plans.out().is_empty());
    let waits = plans.plans[&1].waits.as_deref();
    assert_eq!(waits, Some("it does not permit it"));
}

#[test]
fn a_dry_policy_evicts_no_more_pods() {
    let (mut world, mut plans) = one_plan(&[Step::Cordon, Step::Drain]);
    world.busy.insert(name(0));
    let order = turn(&mut plans, &world, &policy(true));
    world.carry_out(&order.unwrap());
    plans.plans.get_mut(&1).unwrap().steps[0].state = StepState::Acted;
    let drain = turn(&mut plans, &world, &policy(true));
    assert_eq!(drain.map(|order| order.step), Some(Step::Drain));
    assert_eq!(turn(&mut plans, &world, &policy(false)), None);
    assert_eq!(plans.plans[&1].waits.as_deref(), Some("the policy is dry"));
    assert!(turn(&mut plans, &world, &policy(true)).is_some());
}

#[test]
fn a_policy_that_cannot_be_meant_is_refused() {
    let check = |rule: serde_json::Value| {
        let hook = serde_json::json!({ "url": "https://tickets.example.com/new" });
        let api = serde_json::json!({ "url": "http://127.0.0.1:8001" });
        let policy = serde_json::json!({ "rule": [rule], "webhook": hook, "kubernetes": api });
        let policy: Policy = serde_json::from_value(policy).map_err(|e| e.to_string())?;
        policy.check()
    };
    let of = |steps: &[&str]| check(serde_json::json!({ "name": "a", "steps": steps }));
    assert_eq!(
        of(&["ticket", "cordon", "drain", "reboot", "return"]),
        Ok(())
    );
    for (steps, why) in [
        (&["drain"][..], "needs `cordon`"),
        (&["reboot", "return"], "needs `cordon` or `slurm_drain`"),
        (&["cordon", "cordon"], "twice"),
        (&["cordon", "return", "reboot"], "follows `return`"),
        (&["reboot"], "needs `cordon` before it"),
        (&["reboot", "cordon"], "needs `cordon` before it"),
        (&[], "no steps"),
        (&["run"], "unknown variant"),
        (&["slurm_drain"], "[slurm]"),
    ] {
        let refused = of(steps).unwrap_err();
        assert!(refused.contains(why), "{steps:?}: {refused}");
    }
    let mixed = serde_json::json!({ "name": "a", "steps": ["ticket"], "health": ["reboot"], "class": ["pcie"] });
    assert!(check(mixed).unwrap_err().contains("two rules"));
    let mild = serde_json::json!({ "name": "a", "steps": ["ticket"], "health": ["watch"] });
    assert!(check(mild).unwrap_err().contains("asks for nothing"));
}

#[test]
fn credentials_do_not_go_over_a_network_in_clear() {
    let check = |url: &str| {
        let policy = serde_json::json!({ "webhook": { "url": url } });
        serde_json::from_value::<Policy>(policy).unwrap().check()
    };
    for fine in [
        "https://a.example.com/x",
        "http://127.0.0.1:1/x",
        "http://[::1]:1",
        "http://[::1]/x",
        "http://localhost",
    ] {
        assert_eq!(check(fine), Ok(()), "{fine}");
    }
    for wrong in [
        "http://a.example.com",
        "https://",
        "https:///x",
        "ftp://127.0.0.1",
        "http://x@127.0.0.1",
        "http://127.0.0.1.example.com",
    ] {
        assert!(check(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn what_was_decided_for_a_plan_is_not_done_once_somebody_has_changed_it() {
    let (mut world, mut plans) = one_plan(&[Step::Cordon]);
    let policy = policy(true);
    let facts = world.facts(&plans);
    let order = plans.advance(1, &policy, &facts, false).unwrap();
    // Facts of the version before say nothing about this one.
    assert_eq!(plans.advance(1, &policy, &facts, false), None);
    let plan = plans.plans.get_mut(&1).unwrap();
    plan.undo("alice", world.time()).unwrap();
    finish(&mut world, &mut plans, &order);
    assert!(world.held.is_empty() && world.acts.is_empty());
    assert_eq!(turn(&mut plans, &world, &policy), None);
    assert_eq!(plans.plans[&1].state, PlanState::Undone);
}

#[test]
fn a_step_that_was_begun_and_not_sent_is_begun_again_and_one_that_was_lost_too() {
    let (mut world, mut plans) = one_plan(&[Step::Ticket, Step::Cordon]);
    let policy = policy(true);
    let first = turn(&mut plans, &world, &policy).unwrap();
    // The head ends. Another one does it, and what the first one had decided holds no more.
    world.now += 3600;
    let again = turn(&mut plans, &world, &policy).unwrap();
    assert_eq!((again.step, again.undo), (first.step, first.undo));
    assert!(!plans.plans.get_mut(&1).unwrap().claim(&first, world.time()));
    finish(&mut world, &mut plans, &again);
    let cordon = turn(&mut plans, &world, &policy).unwrap();
    assert_eq!(cordon.step, Step::Cordon);
    assert!(
        plans
            .plans
            .get_mut(&1)
            .unwrap()
            .claim(&cordon, world.time())
    );
    // It ends before anything is sent: that is known once no answer can come any more.
    assert_eq!(turn(&mut plans, &world, &policy), None);
    world.now += 60;
    let again = turn(&mut plans, &world, &policy).unwrap();
    finish(&mut world, &mut plans, &again);
    assert_eq!(turn(&mut plans, &world, &policy), None);
    assert_eq!(plans.plans[&1].state, PlanState::Done);
}

#[test]
fn what_cannot_be_sent_is_tried_for_its_time_and_noted_once() {
    let (mut world, mut plans) = one_plan(&[Step::Cordon]);
    world.busy.insert(name(0));
    let policy = policy(true);
    let tries = |world: &mut World, plans: &mut Remediation| -> usize {
        for n in 0.. {
            let Some(order) = turn(plans, world, &policy) else {
                return n;
            };
            assert!(n < 100, "it is tried for ever");
            plans.ended(
                &order,
                Outcome::Unsure("no answer".to_owned()),
                world.time(),
            );
            world.now += 10;
        }
        0
    };
    assert!(tries(&mut world, &mut plans) > 5);
    let plan = &plans.plans[&1];
    assert_eq!(plan.state, PlanState::Failed);
    let begins = |plan: &Plan, what: &str| {
        plan.course
            .iter()
            .filter(|line| line.what.starts_with(what))
            .count()
    };
    assert_eq!(begins(plan, "cordon begins"), 1, "{plan:#?}");
    assert!(plan.course.last().unwrap().what.contains("no answer"));
    // The same of what is taken back.
    world.held.insert((name(0), Step::Cordon), Hand::Plan(1));
    let now = world.time();
    plans.plans.get_mut(&1).unwrap().undo("x", now).unwrap();
    assert!(tries(&mut world, &mut plans) > 5);
    let plan = &plans.plans[&1];
    assert_eq!(plan.state, PlanState::Failed);
    assert_eq!(begins(plan, "undoing cordon begins"), 1, "{plan:#?}");
}

#[test]
fn what_a_host_has_not_begun_is_withdrawn_once_jobs_are_there() {
    let (mut world, mut plans, policy) = at_reset(&[Step::Cordon, Step::ResetGpu]);
    plans.plans.get_mut(&1).unwrap().version = 9;
    let unfounded =
        |plans: &Remediation, world: &World| plans.unfounded(1, &policy, &world.facts(plans));
    assert_eq!(unfounded(&plans, &world), None);
    world.busy.insert(name(0));
    let (id, index, step, why) = unfounded(&plans, &world).unwrap();
    assert_eq!((index, step, why.as_str()), (1, Step::ResetGpu, "jobs"));
    world.asked.clear();
    plans.withdrawn(id, index, &why, world.time());
    assert_eq!(turn(&mut plans, &world, &policy), None);
    assert_eq!(plans.plans[&1].waits.as_deref(), Some("reset_gpu: jobs"));
    world.busy.clear();
    assert_eq!(
        turn(&mut plans, &world, &policy).unwrap().step,
        Step::ResetGpu
    );
}

#[test]
fn nothing_is_taken_back_while_what_was_sent_may_still_take_effect() {
    let (mut world, mut plans) = one_plan(&[Step::SlurmDrain]);
    let policy = policy(true);
    let drain = turn(&mut plans, &world, &policy).unwrap();
    let plan = plans.plans.get_mut(&1).unwrap();
    assert!(plan.claim(&drain, world.time()));
    // The head is killed while scontrol waits for its manager, and a person has the plan undone.
    plan.undo("x", world.time()).unwrap();
    assert_eq!(turn(&mut plans, &world, &policy), None);
    assert_eq!(plans.plans[&1].state, PlanState::Undoing);
    // It takes effect after all, and is taken back.
    world.carry_out(&drain);
    let undo = turn(&mut plans, &world, &policy).unwrap();
    assert!(undo.undo);
    finish(&mut world, &mut plans, &undo);
    assert_eq!(turn(&mut plans, &world, &policy), None);
    assert_eq!(plans.plans[&1].state, PlanState::Undone);
    assert!(world.held.is_empty());

    // The same of a step that was sent so late that its time is over.
    let (mut world, mut plans) = one_plan(&[Step::SlurmDrain]);
    let drain = turn(&mut plans, &world, &policy).unwrap();
    world.pass(Step::SlurmDrain.limit_s() + 1);
    let plan = plans.plans.get_mut(&1).unwrap();
    assert!(plan.claim(&drain, world.time()));
    for _ in 0..2 {
        assert_eq!(turn(&mut plans, &world, &policy), None);
    }
    // The host is not in service yet.
    let plan = plans.plans.get_mut(&1).unwrap();
    assert!(plan.state == PlanState::Failed && plan.out);
    plan.undo("x", world.time()).unwrap();
    assert_eq!(turn(&mut plans, &world, &policy), None);
    assert_eq!(plans.plans[&1].state, PlanState::Undoing);
    world.carry_out(&drain);
    assert!(turn(&mut plans, &world, &policy).unwrap().undo);
}

#[test]
fn a_plan_that_cannot_be_read_may_keep_a_host_out() {
    let (world, mut plans) = one_plan(&[Step::Cordon]);
    plans.plans.insert(2, world.plan(2, 1, &[Step::Cordon]));
    plans.unreadable.insert(7, Some(name(0)));
    plans.unreadable.insert(8, Some(name(4)));
    let policy = policy(true);
    let facts = world.facts(&plans);
    assert_eq!(plans.advance(1, &policy, &facts, false), None);
    let waits = plans.plans[&1].waits.as_deref().unwrap();
    assert!(waits.contains("plan 7, which this version"), "{waits}");
    assert_eq!(plans.advance(2, &policy, &facts, false), None);
    let waits = plans.plans[&2].waits.as_deref().unwrap();
    assert!(waits.contains("3 hosts would be out"), "{waits}");
}
