//! What may be done next.

use std::collections::{BTreeMap, BTreeSet};

use gtrace_event::Timestamp;

use super::plan::{Order, Plan, PlanState, PlanStep, StepState};
use super::policy::{Mode, Policy, Step};

/// Whether what a step does can be seen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Effect {
    /// It is there, by the hand of the plan.
    Ours,
    /// It is there, by another hand: nothing is taken back.
    Theirs,
    /// It is not there.
    Absent,
    /// The host has yet to do it, or is at it.
    Going,
    /// The host says that it did not, and why.
    Failed(String),
    /// Nobody can say, and why.
    Unknown(String),
}

/// What is known of a host. Each `Some` says why something does not hold.
#[derive(Clone, Debug, Default)]
pub struct HostFacts {
    /// Version of the plan for which they were gathered. They hold for no other.
    pub version: i64,
    /// The cause is gone: nothing has to be done any more.
    pub over: Option<String>,
    /// What was kept of the incident is not known to be saved.
    pub no_evidence: Option<String>,
    /// It has jobs, or nobody knows.
    pub busy: Option<String>,
    /// It is not well, or nobody knows.
    pub unwell: Option<String>,
    /// It is in the fleet no longer.
    pub gone: bool,
    /// A step of the plan cannot be done there at all.
    pub cannot: Option<String>,
    /// Its boot.
    pub boot: Option<String>,
    /// When it found out what is known of its health, by its own clock.
    pub health_time: Option<Timestamp>,
    /// The effects of steps.
    pub effects: BTreeMap<Step, Effect>,
}

/// What is known of the fleet.
#[derive(Clone, Debug)]
pub struct Facts {
    /// Now.
    pub now: Timestamp,
    /// How many hosts are in the fleet.
    pub hosts: usize,
    /// Those that are out whatever plans say: silent, cordoned, drained.
    pub out: BTreeSet<String>,
    /// Why it is not known which are.
    pub out_unknown: Option<String>,
    /// By plan.
    pub of: BTreeMap<i64, HostFacts>,
}

/// What came of an order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It was done; its effect is still to be seen.
    Acted(String),
    /// It was not done.
    Refused(String),
    /// It was not sent, as the plan was changed after it was decided.
    Withdrawn,
    /// Whether it was done is not known; its effect shows it.
    Unsure(String),
}

/// How far putting back is.
enum Back {
    Order(Order),
    Wait,
    Done,
    Failed(String),
}

/// The plans that count: those that are live, that keep a host out, and that began lately.
#[derive(Clone, Debug, Default)]
pub struct Remediation {
    /// By number.
    pub plans: BTreeMap<i64, Plan>,
    /// Numbers of plans that count and that this version cannot read, with their hosts where these are known. Each may keep a host out.
    pub unreadable: BTreeMap<i64, Option<String>>,
}

fn hours(hours: u32) -> i64 {
    i64::from(hours) * 3600
}

fn age(since: Timestamp, now: Timestamp) -> i64 {
    now.duration_since(since).as_secs()
}

impl Remediation {
    /// Hosts that plans keep out.
    pub fn out(&self) -> BTreeSet<String> {
        let out = self.plans.values().filter(|plan| plan.out);
        let out = out.map(|plan| plan.host.clone());
        out.chain(self.unreadable.values().flatten().cloned())
            .collect()
    }

    /// Why `host` may not be taken out now.
    fn limited(&self, host: &str, policy: &Policy, facts: &Facts) -> Option<String> {
        if let Some(why) = &facts.out_unknown {
            return Some(format!("it is not known which hosts are out: {why}"));
        }
        let mut out = self.out();
        out.extend(facts.out.iter().cloned());
        out.insert(host.to_owned());
        let nameless = self.unreadable.values().filter(|host| host.is_none());
        let (count, hosts) = (out.len() + nameless.count(), facts.hosts);
        if count > policy.max_out as usize {
            return Some(format!(
                "{count} hosts would be out, and max_out is {}",
                policy.max_out
            ));
        }
        (count * 100 > policy.max_out_percent as usize * hosts).then(|| {
            format!(
                "{count} of {hosts} hosts would be out, and max_out_percent is {}",
                policy.max_out_percent
            )
        })
    }

    /// Why a plan may not begin now.
    fn held(&self, plan: &Plan, policy: &Policy, now: Timestamp) -> Option<String> {
        let others = || self.plans.values().filter(|other| other.id != plan.id);
        let began =
            |within: i64| move |other: &&Plan| other.began.is_some_and(|at| age(at, now) < within);
        let same_host = |other: &&Plan| other.host == plan.host;
        let of_host =
            |(_, host): &(&i64, &Option<String>)| host.as_ref().is_none_or(|h| *h == plan.host);
        if let Some((id, _)) = self.unreadable.iter().find(of_host) {
            return Some(format!(
                "plan {id}, which this version of gtrace cannot read, may have the host"
            ));
        }
        let has_begun =
            |other: &&Plan| other.out || (other.state.is_live() && other.began.is_some());
        if let Some(other) = others().filter(same_host).find(has_begun) {
            return Some(format!("plan {} has the host", other.id));
        }
        let again = hours(policy.again_after_h);
        if let Some(other) = others().filter(same_host).find(began(again)) {
            return Some(format!(
                "plan {} was for the same host within {} h (again_after_h)",
                other.id, policy.again_after_h
            ));
        }
        (others().filter(began(3600)).count() >= policy.plans_per_hour as usize).then(|| {
            format!(
                "{} plans began within the hour (plans_per_hour)",
                policy.plans_per_hour
            )
        })
    }

    /// Takes a plan as far as it goes without doing anything, and says what is to be done once the plan is written down. `in_flight`:
    /// this head is at one of its orders.
    pub fn advance(
        &mut self,
        id: i64,
        policy: &Policy,
        facts: &Facts,
        in_flight: bool,
    ) -> Option<Order> {
        if in_flight {
            return None;
        }
        // Of what nothing is known, nothing is done.
        let of = facts.of.get(&id)?;
        let before = self.plans.get(&id)?;
        if of.version != before.version {
            return None;
        }
        let mut plan = before.clone();
        let now = facts.now;
        let order = match plan.state {
            PlanState::Approval | PlanState::Waiting if of.over.is_some() => {
                let why = of.over.clone().unwrap_or_default();
                let rule = plan.by_rule();
                plan.enter(now, &rule, PlanState::Lapsed, &format!("not needed: {why}"));
                None
            }
            PlanState::Approval => None,
            PlanState::Waiting => {
                let dry = (policy.mode == Mode::Dry).then(|| "the policy is dry".to_owned());
                plan.waits = dry
                    .or_else(|| of.cannot.clone())
                    .or_else(|| self.held(&plan, policy, now))
                    .or_else(|| self.not_yet(&plan, 0, policy, facts, of));
                match plan.waits.is_some() {
                    true => None,
                    false => {
                        plan.state = PlanState::Acting;
                        plan.began = Some(now);
                        self.act(&mut plan, policy, facts, of)
                    }
                }
            }
            PlanState::Acting => self.act(&mut plan, policy, facts, of),
            PlanState::Verifying => {
                Self::verify(&mut plan, policy, of, now);
                None
            }
            PlanState::Undoing if under_way(&plan, of, now).is_some() => {
                // The host would get work while it is reset.
                let step = under_way(&plan, of, now);
                plan.waits = step.map(|step| format!("{step} is under way, and cannot be stopped"));
                None
            }
            PlanState::Undoing => {
                let all = plan.steps.len();
                match put_back(&mut plan, all, policy, of, now) {
                    Back::Order(order) => Some(order),
                    Back::Wait => None,
                    Back::Done => {
                        plan.out = false;
                        let rule = plan.by_rule();
                        plan.enter(now, &rule, PlanState::Undone, "undone");
                        None
                    }
                    Back::Failed(why) => {
                        fail(&mut plan, now, &format!("it was not undone: {why}"));
                        None
                    }
                }
            }
            _ => {
                release(&mut plan, policy, of, now);
                None
            }
        };
        let before = self.plans.get(&id)?;
        plan.count(before);
        let version = plan.version;
        self.plans.insert(id, plan);
        order.map(|order| Order { version, ..order })
    }

    /// Why a step cannot be done now.
    fn not_yet(
        &self,
        plan: &Plan,
        index: usize,
        policy: &Policy,
        facts: &Facts,
        of: &HostFacts,
    ) -> Option<String> {
        let step = plan.steps.get(index)?.step;
        if step.takes_out()
            && !plan.out
            && let Some(why) = self.limited(&plan.host, policy, facts)
        {
            return Some(why);
        }
        match step {
            Step::ResetGpu | Step::Reboot => given_work(plan, index, of)
                .or_else(|| of.no_evidence.clone())
                .or_else(|| of.busy.clone()),
            Step::Return => of.unwell.clone(),
            _ => None,
        }
    }

    /// Which step of a plan its host was asked for though what it needs does not hold any more, and why: the host may not have begun. Its
    /// plan, its index, what it is.
    pub fn unfounded(
        &self,
        id: i64,
        policy: &Policy,
        facts: &Facts,
    ) -> Option<(i64, usize, Step, String)> {
        let (plan, of) = (self.plans.get(&id)?, facts.of.get(&id)?);
        if plan.state != PlanState::Acting || of.version != plan.version {
            return None;
        }
        let is_asked = |one: &PlanStep| {
            one.step.is_disruptive()
                && one.sent.is_some()
                && matches!(one.state, StepState::Begun | StepState::Acted)
                && of.effects.get(&one.step) == Some(&Effect::Going)
        };
        let index = plan.steps.iter().position(is_asked)?;
        let over = of.over.clone();
        let why = over.or_else(|| self.not_yet(plan, index, policy, facts, of))?;
        Some((id, index, plan.steps[index].step, why))
    }

    /// What a host was asked for was withdrawn before it began: the step waits once more.
    pub fn withdrawn(&mut self, id: i64, index: usize, why: &str, now: Timestamp) {
        let Some(plan) = self.plans.get_mut(&id) else {
            return;
        };
        let before = plan.clone();
        let rule = plan.by_rule();
        let Some(step) = plan.steps.get_mut(index) else {
            return;
        };
        let what = format!("{} is withdrawn: {why}", step.step);
        (step.state, step.began, step.sent) = (StepState::Pending, None, None);
        (step.boot, step.reported) = (None, None);
        plan.note(now, &rule, &what);
        plan.count(&before);
    }

    fn act(
        &self,
        plan: &mut Plan,
        policy: &Policy,
        facts: &Facts,
        of: &HostFacts,
    ) -> Option<Order> {
        let now = facts.now;
        loop {
            let is_over = |step: &PlanStep| {
                matches!(step.state, StepState::Done | StepState::Skipped)
                    || (step.step == Step::Ticket && step.state == StepState::Failed)
            };
            let Some(index) = plan.steps.iter().position(|step| !is_over(step)) else {
                self.end(plan, policy, of, now);
                return None;
            };
            let step = plan.steps[index].step;
            let late = plan.steps[index]
                .began
                .is_none_or(|at| age(at, now) > step.limit_s());
            let resent = !late
                && plan.steps[index].state == StepState::Begun
                && step.has_undo()
                && of.effects.get(&step) == Some(&Effect::Absent)
                && is_settled(&plan.steps[index], policy, now);
            let unsent = plan.steps[index].is_unsent();
            // An attempt ended before anything was sent, and reported why.
            let retried = unsent && !late && plan.steps[index].reported.is_some();
            let again = match step {
                Step::Return => of.unwell.is_some() && nothing_is_put_back(&plan.steps[..index]),
                _ => resent || retried || (unsent && plan.steps[index].reported.is_none()),
            };
            if again {
                // All that it needs is looked at anew.
                plan.steps[index].state = StepState::Pending;
            }
            if plan.steps[index].state == StepState::Pending {
                if policy.mode == Mode::Dry {
                    plan.waits = Some("the policy is dry".to_owned());
                    return None;
                }
                if step.is_disruptive()
                    && let Some(why) = &of.over
                {
                    plan.steps[index].state = StepState::Skipped;
                    let rule = plan.by_rule();
                    plan.note(now, &rule, &format!("{step} is not needed: {why}"));
                    continue;
                }
                if let Some(why) = self.not_yet(plan, index, policy, facts, of) {
                    let since = *plan.waiting_since.get_or_insert(now);
                    let most = match step {
                        Step::Return => i64::from(policy.verify_minutes) * 60,
                        _ => hours(policy.wait_h),
                    };
                    if age(since, now) > most {
                        fail(plan, now, &format!("{step} waited in vain: {why}"));
                        return None;
                    }
                    plan.waits = Some(format!("{step}: {why}"));
                    return None;
                }
                plan.waits = None;
                plan.waiting_since = None;
                plan.out |= step.takes_out();
                if !retried {
                    let rule = plan.by_rule();
                    plan.note(now, &rule, &format!("{step} begins"));
                }
                let begun = &mut plan.steps[index];
                begun.state = StepState::Begun;
                if !resent && !retried {
                    begun.began = Some(now);
                }
                if !retried {
                    begun.reported = None;
                }
                begun.sent = None;
                begun.boot.clone_from(&of.boot);
                match step {
                    Step::Return => continue,
                    _ => return Some(order(plan, index, false)),
                }
            }
            let dry = policy.mode == Mode::Dry;
            if dry && step == Step::Return {
                plan.waits = Some("the policy is dry".to_owned());
                return None;
            }
            if step == Step::Return {
                match put_back(plan, index, policy, of, now) {
                    Back::Order(order) => return Some(order),
                    Back::Wait => return None,
                    Back::Failed(why) => {
                        fail(plan, now, &format!("the host was not returned: {why}"));
                        return None;
                    }
                    Back::Done => {
                        plan.steps[index].state = StepState::Done;
                        plan.out = false;
                        let rule = plan.by_rule();
                        plan.note(now, &rule, "the host is in service again");
                        continue;
                    }
                }
            }
            let interrupted = plan.steps[index].state == StepState::Begun;
            let effect = of.effects.get(&step);
            let why = match effect {
                Some(Effect::Ours | Effect::Theirs) => {
                    let done = &mut plan.steps[index];
                    done.state = StepState::Done;
                    done.seen = Some(now);
                    done.health_time = of.health_time;
                    if effect == Some(&Effect::Theirs) {
                        done.undo = StepState::Skipped;
                    }
                    let rule = plan.by_rule();
                    plan.note(now, &rule, &format!("{step} has taken effect"));
                    continue;
                }
                // A ticket shows nowhere but in the answer to it.
                _ if step == Step::Ticket && !interrupted => {
                    plan.steps[index].state = StepState::Done;
                    continue;
                }
                _ if step == Step::Ticket && unsent => {
                    let reported = plan.steps[index].reported.as_deref().unwrap_or("no answer");
                    format!("it was not sent within {} s ({reported})", step.limit_s())
                }
                _ if step == Step::Ticket => {
                    let why = "the head ended while it was under way";
                    let reported = plan.steps[index].reported.as_deref();
                    format!(
                        "{}; whether it was done is not known",
                        reported.unwrap_or(why)
                    )
                }
                Some(Effect::Failed(why)) => why.clone(),
                _ if dry && interrupted && step.is_resumable() => {
                    plan.waits = Some("the policy is dry".to_owned());
                    return None;
                }
                _ if !late && interrupted && step.is_resumable() => {
                    return Some(order(plan, index, false));
                }
                _ if !late => {
                    plan.waits = Some(format!("{step}: its effect is awaited"));
                    return None;
                }
                Some(Effect::Unknown(why)) => {
                    format!("nobody can say whether it has taken effect: {why}")
                }
                _ => {
                    let reported = plan.steps[index].reported.as_deref().unwrap_or("no answer");
                    format!("no effect within {} s ({reported})", step.limit_s())
                }
            };
            let failed = &mut plan.steps[index];
            failed.state = StepState::Failed;
            failed.reported = Some(why.clone());
            match step {
                Step::Ticket => {
                    let rule = plan.by_rule();
                    plan.note(now, &rule, &format!("{step} failed: {why}"));
                }
                _ => {
                    fail(plan, now, &format!("{step} failed: {why}"));
                    return None;
                }
            }
        }
    }

    /// All steps are over.
    fn end(&self, plan: &mut Plan, policy: &Policy, of: &HostFacts, now: Timestamp) {
        let done = |step: &PlanStep| step.state == StepState::Done;
        let returned = plan
            .steps
            .iter()
            .any(|step| step.step == Step::Return && done(step));
        let disruptive = |step: &PlanStep| step.step.is_disruptive() && done(step);
        let rule = plan.by_rule();
        if !returned && plan.steps.iter().any(disruptive) {
            plan.enter(
                now,
                &rule,
                PlanState::Verifying,
                "all is done; the host has to be well",
            );
            Self::verify(plan, policy, of, now);
        } else {
            plan.enter(now, &rule, PlanState::Done, "done");
            release(plan, policy, of, now);
        }
    }

    fn verify(plan: &mut Plan, policy: &Policy, of: &HostFacts, now: Timestamp) {
        let since = *plan.waiting_since.get_or_insert(now);
        let rule = plan.by_rule();
        match &of.unwell {
            None => {
                plan.enter(now, &rule, PlanState::Done, "done, and the host is well");
                release(plan, policy, of, now);
            }
            Some(why) if age(since, now) > i64::from(policy.verify_minutes) * 60 => {
                fail(plan, now, &format!("the host is not well: {why}"));
            }
            Some(why) => plan.waits = Some(why.clone()),
        }
    }

    /// Takes over what came of an order.
    pub fn ended(&mut self, order: &Order, outcome: Outcome, now: Timestamp) {
        let Some(plan) = self.plans.get_mut(&order.plan) else {
            return;
        };
        let before = plan.clone();
        let rule = plan.by_rule();
        let what = match order.undo {
            true => format!("undoing {}", order.step),
            false => order.step.to_string(),
        };
        let Some(step) = plan.steps.get_mut(order.index) else {
            return;
        };
        let state = match order.undo {
            true => &mut step.undo,
            false => &mut step.state,
        };
        // Another head has judged it by its effect meanwhile.
        if *state != StepState::Begun {
            return;
        }
        match outcome {
            // Whoever changed the plan knows that it was not sent.
            Outcome::Withdrawn => {}
            Outcome::Acted(text) => {
                *state = StepState::Acted;
                step.reported = Some(text.clone());
                plan.note(now, &rule, &format!("{what}: {text}"));
            }
            Outcome::Unsure(why) => {
                // A drain says so again and again.
                if step.reported.replace(why.clone()) != Some(why.clone()) {
                    plan.note(now, &rule, &format!("{what}: {why}"));
                }
            }
            Outcome::Refused(why) => {
                *state = StepState::Failed;
                step.reported = Some(why.clone());
                let what = format!("{what} failed: {why}");
                // Whoever has it undone, or has seen its end, goes on.
                let counts = match order.undo {
                    true => matches!(plan.state, PlanState::Acting | PlanState::Undoing),
                    false => plan.state == PlanState::Acting,
                };
                match order.step {
                    Step::Ticket => plan.note(now, &rule, &what),
                    _ if !counts => plan.note(now, &rule, &what),
                    _ => fail(plan, now, &what),
                }
            }
        }
        plan.count(&before);
    }
}

/// Whether no undoing of these steps was sent.
fn nothing_is_put_back(steps: &[PlanStep]) -> bool {
    steps.iter().all(|step| match step.undo {
        StepState::Pending => true,
        StepState::Begun => step.sent.is_none(),
        _ => false,
    })
}

/// Whether what was sent, and has no effect, can have none any more.
fn is_settled(step: &PlanStep, policy: &Policy, now: Timestamp) -> bool {
    step.sent
        .is_some_and(|at| age(at, now) > policy.settled_after_s())
}

/// Whether what was sent for a step may have its effect yet, also where nobody waits for it any more.
fn may_take_effect(step: &PlanStep, policy: &Policy, now: Timestamp) -> bool {
    step.state != StepState::Done && step.sent.is_some() && !is_settled(step, policy, now)
}

fn order(plan: &Plan, index: usize, undo: bool) -> Order {
    Order {
        plan: plan.id,
        version: plan.version,
        host: plan.host.clone(),
        index,
        step: plan.steps[index].step,
        undo,
        cause: plan.cause.clone(),
    }
}

fn fail(plan: &mut Plan, now: Timestamp, what: &str) {
    let rule = plan.by_rule();
    plan.enter(now, &rule, PlanState::Failed, what);
}

/// What the host was asked to do and is at, in its time.
fn under_way(plan: &Plan, of: &HostFacts, now: Timestamp) -> Option<Step> {
    let is_at = |step: &&PlanStep| {
        let in_time = step
            .began
            .is_some_and(|at| age(at, now) <= step.step.limit_s());
        in_time && step.step.is_disruptive() && of.effects.get(&step.step) == Some(&Effect::Going)
    };
    plan.steps.iter().find(is_at).map(|step| step.step)
}

/// Why the host may get work again, though a step of the plan was to keep that from it.
fn given_work(plan: &Plan, index: usize, of: &HostFacts) -> Option<String> {
    let mut keeps = plan.steps[..index]
        .iter()
        .filter(|step| step.step.has_undo() && step.state == StepState::Done);
    keeps.find_map(|step| match of.effects.get(&step.step) {
        Some(Effect::Ours | Effect::Theirs) => None,
        Some(Effect::Unknown(why)) => Some(format!(
            "it is not known whether {} holds: {why}",
            step.step
        )),
        _ => Some(format!("{} was taken back by others", step.step)),
    })
}

/// Takes back what can be of the steps before `end`, the last first.
fn put_back(plan: &mut Plan, end: usize, policy: &Policy, of: &HostFacts, now: Timestamp) -> Back {
    let rule = plan.by_rule();
    for index in (0..end).rev() {
        let step = &mut plan.steps[index];
        let kind = step.step;
        let was_done = !matches!(step.state, StepState::Pending | StepState::Skipped);
        if !kind.has_undo() || !was_done {
            continue;
        }
        match step.undo {
            StepState::Done | StepState::Skipped => {}
            StepState::Failed => {
                return Back::Failed(step.reported.clone().unwrap_or_default());
            }
            StepState::Pending
                if may_take_effect(step, policy, now)
                    && of.effects.get(&kind) != Some(&Effect::Ours) =>
            {
                // What was sent may have its effect yet, after what would take it back.
                plan.waits = Some(format!(
                    "undoing {kind}: what was sent for it may still take effect"
                ));
                return Back::Wait;
            }
            StepState::Pending => {
                step.undo = StepState::Begun;
                step.began = Some(now);
                step.sent = None;
                step.reported = None;
                plan.note(now, &rule, &format!("undoing {kind} begins"));
                return Back::Order(order(plan, index, true));
            }
            StepState::Begun | StepState::Acted => {
                let late = step.began.is_none_or(|at| age(at, now) > kind.limit_s());
                let unsent = step.undo == StepState::Begun && step.sent.is_none();
                let had_none = step.undo == StepState::Begun && is_settled(step, policy, now);
                let why = match of.effects.get(&kind) {
                    Some(Effect::Absent | Effect::Theirs) => {
                        step.undo = StepState::Done;
                        plan.note(now, &rule, &format!("{kind} is undone"));
                        continue;
                    }
                    // It was not sent, or had no effect and cannot have one any more.
                    effect
                        if (unsent && (!late || step.reported.is_none()))
                            || (!late && had_none && effect == Some(&Effect::Ours)) =>
                    {
                        // An attempt that ended before anything was sent has reported why, and counts to the time that there is.
                        let retried = unsent && step.reported.is_some();
                        if unsent && !retried {
                            step.began = Some(now);
                        }
                        step.sent = None;
                        if !retried {
                            plan.note(now, &rule, &format!("undoing {kind} begins again"));
                        }
                        return Back::Order(order(plan, index, true));
                    }
                    _ if !late => {
                        plan.waits = Some(format!("undoing {kind}: its effect is awaited"));
                        return Back::Wait;
                    }
                    Some(Effect::Unknown(why) | Effect::Failed(why)) => why.clone(),
                    _ => {
                        let reported = step.reported.as_deref().unwrap_or("no answer");
                        format!("{kind} still holds after {} s ({reported})", kind.limit_s())
                    }
                };
                step.undo = StepState::Failed;
                step.reported = Some(why.clone());
                return Back::Failed(why);
            }
        }
    }
    Back::Done
}

/// Notes that a host of a plan that has ended is in service again.
fn release(plan: &mut Plan, policy: &Policy, of: &HostFacts, now: Timestamp) {
    if !plan.out {
        return;
    }
    if of.gone {
        plan.out = false;
        let rule = plan.by_rule();
        plan.note(now, &rule, "the host is in the fleet no longer");
        return;
    }
    let mut held = plan
        .steps
        .iter()
        .filter(|step| step.step.has_undo() && step.state != StepState::Pending)
        .peekable();
    let is_in = match held.peek() {
        // A person, or somebody else's automation, has put it back.
        Some(_) => held.all(|step| {
            of.effects.get(&step.step) == Some(&Effect::Absent)
                && !may_take_effect(step, policy, now)
        }),
        None => of.unwell.is_none() && of.effects.values().all(|e| *e != Effect::Going),
    };
    if is_in {
        plan.out = false;
        let rule = plan.by_rule();
        plan.note(now, &rule, "the host is in service again");
    }
}
