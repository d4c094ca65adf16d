//! Plans of remediation. Each change of a plan is written down with its lines in the audit before anything is done.

use std::collections::BTreeSet;

use gtrace_event::Timestamp;
use gtrace_fleet::HostState;
use gtrace_fleet::remedy::{
    Cause, Facts, Mode, Order, Outcome, Plan, PlanState, Policy, Remediation, Step,
};

use super::sql::{DbError, Sql, Value};
use super::{Database, audit, nanos};

/// For so long a head that carries plans out keeps others from it after its last turn.
const LEASE_NS: i64 = 30_000_000_000;
/// Plans that are live at a time.
const LIVE_MAX: usize = 256;

/// A fault that the policy has a rule for.
#[derive(Clone, Debug)]
pub struct Wish {
    /// The host's name.
    pub host: String,
    /// The rule.
    pub rule: String,
    /// Why.
    pub cause: Cause,
    /// What is to be done.
    pub steps: Vec<Step>,
    /// Whether somebody has to approve it.
    pub approval: bool,
    /// Whether it is an exercise, for which nothing is done.
    pub drill: bool,
}

/// What a person does with a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// It may begin.
    Approve,
    /// It may not.
    Refuse,
    /// What it did is taken back.
    Undo,
}

impl Database {
    /// Plans, the newest first: those that are live or keep a host out, or all.
    ///
    /// # Errors
    /// [`DbError`].
    pub fn plans(&mut self, all: bool, limit: u32) -> Result<Vec<Plan>, DbError> {
        let which = match all {
            true => "",
            false => "WHERE live = 1 OR holds = 1",
        };
        let rows = self.sql.rows(
            &format!("SELECT body FROM plans {which} ORDER BY id DESC LIMIT {limit}"),
            &[],
        )?;
        rows.iter().map(|row| plan(&row[0])).collect()
    }

    /// A plan.
    ///
    /// # Errors
    /// [`DbError`].
    pub fn plan(&mut self, id: i64) -> Result<Option<Plan>, DbError> {
        one(self.sql.as_mut(), id)
    }

    /// How many plans there are by state.
    ///
    /// # Errors
    /// [`DbError`].
    pub fn plans_by_state(&mut self) -> Result<Vec<(PlanState, u64)>, DbError> {
        let mut counts: Vec<(PlanState, u64)> = PlanState::ALL.map(|state| (state, 0)).into();
        let mut broken = None;
        self.sql.query("SELECT body FROM plans", &[], &mut |row| {
            match plan(&row[0]) {
                Ok(plan) => {
                    let entry = counts.iter_mut().find(|(state, _)| *state == plan.state);
                    if let Some((_, count)) = entry {
                        *count += 1;
                    }
                }
                Err(error) => broken = Some(error),
            }
            broken.is_none()
        })?;
        broken.map_or(Ok(counts), Err)
    }

    /// A person approves, refuses or undoes a plan.
    ///
    /// # Errors
    /// [`DbError`]. In the answer: why that cannot be; `None` where there is no such plan.
    pub fn change_plan(
        &mut self,
        id: i64,
        change: Change,
        who: &str,
        now: Timestamp,
    ) -> Result<Option<Result<Plan, String>>, DbError> {
        self.durably(|sql| {
            lock(sql)?;
            let Some(before) = one(sql, id)? else {
                return Ok(None);
            };
            let mut after = before.clone();
            let done = match change {
                Change::Approve => after.approve(who, now),
                Change::Refuse => after.refuse(who, now),
                Change::Undo => after.undo(who, now),
            };
            if let Err(why) = done {
                return Ok(Some(Err(why)));
            }
            if change == Change::Undo {
                sql.execute(
                    "UPDATE requests SET state = 'expired', said = 'its plan is undone' \
                     WHERE state = 'pending' AND key LIKE $1",
                    &[format!("plan:{id}:%").into()],
                )?;
            }
            keep(sql, Some(&before), &after)?;
            Ok(Some(Ok(after)))
        })
    }

    /// One turn: takes up what the policy wants done, takes every plan as far as it goes, and writes that down. Only then are the orders
    /// carried out that it answers with. `None` where another head does this.
    ///
    /// # Errors
    /// [`DbError`]: nothing is to be carried out.
    pub fn remediate(
        &mut self,
        owner: &str,
        policy: &Policy,
        wishes: &[Wish],
        mut facts: Facts,
        in_flight: &BTreeSet<i64>,
    ) -> Result<Option<Vec<Order>>, DbError> {
        self.durably(|sql| {
            // What holds was found out before, and somebody may have changed a plan since.
            let now = Timestamp::now().max(facts.now);
            facts.now = now;
            let until = nanos(now).saturating_add(LEASE_NS);
            let leased = sql.execute(
                "UPDATE leases SET owner = $1, until_ns = $2 WHERE name = 'remediation' AND (owner = $1 OR until_ns < $3)",
                &[owner.into(), until.into(), nanos(now).into()],
            )?;
            if leased == 0 {
                return Ok(None);
            }
            if policy.mode == Mode::Dry {
                sql.execute(
                    "UPDATE requests SET state = 'expired', said = 'the policy is dry' \
                     WHERE state = 'pending' AND key LIKE 'plan:%'",
                    &[],
                )?;
            }
            let before = counting(sql, policy, now)?;
            let mut plans = before.clone();
            for wish in wishes {
                take_up(sql, policy, wish, &mut plans, now)?;
            }
            let mut orders = Vec::new();
            let ids: Vec<i64> = plans.plans.keys().copied().collect();
            for id in ids {
                orders.extend(plans.advance(id, policy, &facts, in_flight.contains(&id)));
            }
            for (id, after) in &plans.plans {
                let known = before.plans.get(id);
                if known != Some(after) {
                    keep(sql, known, after)?;
                }
            }
            Ok(Some(orders))
        })
    }

    /// Lets another head carry plans out at once.
    ///
    /// # Errors
    /// [`DbError`].
    pub fn end_remediation(&mut self, owner: &str) -> Result<(), DbError> {
        let done = self.sql.execute(
            "UPDATE leases SET until_ns = 0 WHERE name = 'remediation' AND owner = $1",
            &[owner.into()],
        );
        done.map(drop)
    }

    /// Takes over what came of an order.
    ///
    /// # Errors
    /// [`DbError`].
    pub fn order_ended(
        &mut self,
        order: &Order,
        outcome: &Outcome,
        now: Timestamp,
    ) -> Result<(), DbError> {
        self.durably(|sql| {
            lock(sql)?;
            let Some(before) = one(sql, order.plan)? else {
                return Ok(());
            };
            let mut plans = Remediation::default();
            plans.plans.insert(before.id, before.clone());
            plans.ended(order, outcome.clone(), now);
            match plans.plans.get(&before.id) {
                Some(after) if *after != before => keep(sql, Some(&before), after),
                _ => Ok(()),
            }
        })
    }
}

/// Locks the plans until the end of the transaction, whoever carries them out.
pub(super) fn lock(sql: &mut dyn Sql) -> Result<(), DbError> {
    sql.execute(
        "UPDATE leases SET until_ns = until_ns WHERE name = 'remediation'",
        &[],
    )
    .map(drop)
}

/// Whether a plan's steps are being done; after [`lock`] it stays so until the end of the transaction.
pub(super) fn is_acting(sql: &mut dyn Sql, id: i64) -> Result<bool, DbError> {
    Ok(one(sql, id)?.is_some_and(|plan| plan.state == PlanState::Acting))
}

/// Drops plans that changed last before `before`: not the newest, whose number must not be used again, nor those whose cause is still
/// there, which would be acted on again.
pub(super) fn retain(sql: &mut dyn Sql, before: i64) -> Result<(), DbError> {
    lock(sql)?;
    let old = sql.rows(
        "SELECT id, key FROM plans WHERE changed_ns < $1 AND live = 0 AND holds = 0 \
         AND id < (SELECT max(id) FROM plans)",
        &[before.into()],
    )?;
    if old.is_empty() {
        return Ok(());
    }
    let mut causes = BTreeSet::new();
    let incidents = "SELECT h.name, i.id FROM incidents i JOIN hosts h ON h.id = i.host WHERE i.state <> 'resolved'";
    for row in sql.rows(incidents, &[])? {
        causes.insert(Cause::key_of_incident(row[0].text(), row[1].text()));
    }
    for row in sql.rows("SELECT name, state FROM hosts", &[])? {
        let state = row[1].opt_text();
        let state = state.and_then(|text| serde_json::from_str::<HostState>(text).ok());
        let subjects = state.and_then(|state| Some(state.health?.subjects));
        for of in subjects.into_iter().flatten() {
            causes.insert(Cause::key_of_health(row[0].text(), of.action, of.since));
        }
    }
    for row in old {
        let key = row[1].text();
        if !causes.contains(key.strip_prefix("dry:").unwrap_or(key)) {
            sql.execute("DELETE FROM plans WHERE id = $1", &[row[0].clone()])?;
        }
    }
    Ok(())
}

fn plan(body: &Value) -> Result<Plan, DbError> {
    serde_json::from_str(body.text())
        .map_err(|e| DbError::Corrupt(format!("a plan of remediation ({e})")))
}

fn one(sql: &mut dyn Sql, id: i64) -> Result<Option<Plan>, DbError> {
    let rows = sql.rows("SELECT body FROM plans WHERE id = $1", &[id.into()])?;
    rows.first().map(|row| plan(&row[0])).transpose()
}

/// The plans that count: live, keeping a host out, or begun lately.
fn counting(sql: &mut dyn Sql, policy: &Policy, now: Timestamp) -> Result<Remediation, DbError> {
    let lately_s = 3600 * i64::from(policy.again_after_h.max(1));
    let lately = nanos(now).saturating_sub(lately_s.saturating_mul(1_000_000_000));
    let rows = sql.rows(
        "SELECT body FROM plans WHERE live = 1 OR holds = 1 OR began_ns > $1",
        &[lately.into()],
    )?;
    let mut plans = Remediation::default();
    for row in rows {
        let plan = plan(&row[0])?;
        plans.plans.insert(plan.id, plan);
    }
    Ok(plans)
}

/// Makes a plan of a wish, unless there is one for it, or for its host.
fn take_up(
    sql: &mut dyn Sql,
    policy: &Policy,
    wish: &Wish,
    plans: &mut Remediation,
    now: Timestamp,
) -> Result<(), DbError> {
    let is_dry = wish.drill || policy.mode == Mode::Dry;
    // Once the policy acts, what was dry before is planned anew.
    let key = match is_dry {
        true => format!("dry:{}", wish.cause.key),
        false => wish.cause.key.clone(),
    };
    let mut live = plans.plans.values().filter(|plan| plan.state.is_live());
    if !is_dry && live.any(|plan| plan.host == wish.host) {
        return Ok(());
    }
    if plans.plans.values().filter(|p| p.state.is_live()).count() >= LIVE_MAX {
        return Ok(());
    }
    let known = sql.rows("SELECT 1 FROM plans WHERE key = $1", &[key.as_str().into()])?;
    if !known.is_empty() {
        return Ok(());
    }
    let state = match (is_dry, wish.approval) {
        (true, _) => PlanState::Dry,
        (false, true) => PlanState::Approval,
        (false, false) => PlanState::Waiting,
    };
    let rows = sql.rows("SELECT coalesce(max(id), 0) + 1 FROM plans", &[])?;
    let id = rows.first().map_or(1, |row| row[0].int());
    let cause = Cause {
        key,
        ..wish.cause.clone()
    };
    let plan = Plan::new(id, &wish.host, &wish.rule, cause, &wish.steps, state, now);
    keep(sql, None, &plan)?;
    plans.plans.insert(id, plan);
    Ok(())
}

/// Writes a plan down, and what is new of its course into the audit.
fn keep(sql: &mut dyn Sql, before: Option<&Plan>, after: &Plan) -> Result<(), DbError> {
    let body = serde_json::to_string(after).map_err(|e| DbError::Statement(e.to_string()))?;
    sql.execute(
        "INSERT INTO plans(id, key, live, holds, began_ns, changed_ns, body) VALUES ($1, $2, $3, $4, $5, $6, $7) \
         ON CONFLICT (id) DO UPDATE SET live = excluded.live, holds = excluded.holds, began_ns = excluded.began_ns, \
         changed_ns = excluded.changed_ns, body = excluded.body",
        &[
            after.id.into(),
            after.cause.key.as_str().into(),
            i64::from(after.state.is_live()).into(),
            i64::from(after.out).into(),
            after.began.map(nanos).into(),
            nanos(after.changed).into(),
            body.into(),
        ],
    )?;
    let last = before.and_then(|plan| plan.course.last());
    let new = after
        .course
        .iter()
        .rev()
        .take_while(|line| Some(*line) != last);
    let new: Vec<_> = new.collect();
    for line in new.into_iter().rev() {
        let what = format!("plan {} for {}: {}", after.id, after.host, line.what);
        audit(sql, &line.who, &what)?;
    }
    Ok(())
}
