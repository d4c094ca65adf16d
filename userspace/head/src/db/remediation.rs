//! Plans of remediation. Each change of a plan is written down with its lines in the audit before anything is done.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use gtrace_event::Timestamp;
use gtrace_fleet::HostState;
use gtrace_fleet::remedy::{
    Cause, Facts, Mode, Order, Outcome, Plan, PlanState, Policy, Remediation, Step,
};
use serde::{Deserialize, Serialize};

use super::sql::{DbError, Sql, Value};
use super::{Database, audit, nanos};

/// For so long a head that carries plans out keeps others from it after its last turn.
const LEASE_NS: i64 = 30_000_000_000;
const LEASE: Duration = Duration::from_nanos(LEASE_NS.unsigned_abs());
/// Plans that take their hosts' places at a time.
const BUSY_MAX: usize = 256;
/// Plans that wait for approval at a time.
const APPROVALS_MAX: usize = 1000;
/// The same of one host: its faults come one after the other.
const APPROVALS_OF_HOST: usize = 4;
/// Plans that are made for a host within a day, and as many that are dry: a host whose health flaps has a new cause each time.
const PLANS_OF_HOST: i64 = 12;
/// Text of plans that cannot be read is looked at for the host up to here.
const HOST_MAX: usize = 253;

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

/// A plan that this version of gtrace cannot read: an older or a newer one wrote it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnreadablePlan {
    /// Its number.
    pub id: i64,
    /// Its host, where that is known.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub host: Option<String>,
    /// Why it cannot be read.
    pub why: String,
}

/// Plans of the database.
#[derive(Clone, Debug, Default)]
pub struct Plans {
    /// Those that can be read.
    pub plans: Vec<Plan>,
    /// The others.
    pub unreadable: Vec<UnreadablePlan>,
}

/// Why there is no plan for a wish.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    /// Its host has as many as it may.
    Host,
    /// The fleet has.
    Fleet,
}

/// What came of a turn.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Turned {
    /// What is to be carried out.
    pub orders: Vec<Order>,
    /// Keys of causes for which there is no plan, as there are too many.
    pub unplanned: Vec<(String, Bound)>,
}

impl Database {
    /// Plans, the newest first: those that are live or keep a host out, or all. Of the former the limit leaves out none that has begun
    /// before one that waits.
    pub fn plans(&mut self, all: bool, limit: u32) -> Result<Plans, DbError> {
        let which = match all {
            true => "ORDER BY id DESC",
            false => {
                "WHERE live = 1 OR holds = 1 ORDER BY CASE WHEN began_ns IS NULL THEN 1 ELSE 0 END, id DESC"
            }
        };
        let rows = self.sql.rows(
            &format!("SELECT {COLUMNS} FROM plans {which} LIMIT {limit}"),
            &[],
        )?;
        let mut found = read(&rows);
        found.plans.sort_by_key(|plan| std::cmp::Reverse(plan.id));
        Ok(found)
    }

    /// A plan.
    ///
    /// # Errors
    /// [`DbError`]; in the answer, why it cannot be read.
    pub fn plan(&mut self, id: i64) -> Result<Option<Result<Plan, UnreadablePlan>>, DbError> {
        one(self.sql.as_mut(), id)
    }

    /// How many plans there are by the name of their state, and how many cannot be read, as far as they are read: those that are live or keep
    /// a host out.
    pub fn plans_by_state(&mut self) -> Result<BTreeMap<&'static str, u64>, DbError> {
        let names = PlanState::ALL.map(|state| (state.name(), 0));
        let mut counts: BTreeMap<&'static str, u64> = names.into();
        for which in READ_TO_COUNT {
            let statement = format!("SELECT {COLUMNS} FROM plans WHERE {which}");
            self.sql.query(&statement, &[], &mut |row| {
                let name = plan(&row).map_or("unreadable", |plan| plan.state.name());
                *counts.entry(name).or_default() += 1;
                true
            })?;
        }
        self.sql.query(COUNT_ENDED, &[], &mut |row| {
            // Another version may have other states.
            let mut known = PlanState::ALL.iter().map(|state| state.name());
            let name = known.find(|name| *name == row[0].text());
            *counts.entry(name.unwrap_or("unreadable")).or_default() += row[1].int().unsigned_abs();
            true
        })?;
        Ok(counts)
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
            let before = match one(sql, id)? {
                None => return Ok(None),
                Some(Err(unreadable)) => {
                    let why = format!("plan {id} cannot be read: {}", unreadable.why);
                    return Ok(Some(Err(why)));
                }
                Some(Ok(plan)) => plan,
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
            if change == Change::Approve && busy(sql)? >= BUSY_MAX {
                let why = format!("{BUSY_MAX} plans are under way, which is the most");
                return Ok(Some(Err(why)));
            }
            if change == Change::Undo {
                sql.execute(
                    "UPDATE requests SET state = 'expired', reported = 'its plan is undone' \
                     WHERE state = 'pending' AND key LIKE $1",
                    &[format!("plan:{id}:%").into()],
                )?;
            }
            keep(sql, Some(&before), &after)?;
            Ok(Some(Ok(after)))
        })
    }

    /// One turn: takes up what the policy wants done, takes every plan as far as it goes, and writes that down. Only then are the orders
    /// carried out that it answers with. `None` where another head does this; `sole`: this one knows that no other does.
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
        sole: bool,
    ) -> Result<Option<Turned>, DbError> {
        let mut lease = self.lease.take();
        let done: Result<_, DbError> = self.durably(|sql| {
            // What holds was found out before, and somebody may have changed a plan since.
            let now = Timestamp::now().max(facts.now);
            facts.now = now;
            let until = nanos(now).saturating_add(LEASE_NS);
            let leased = sql.execute(
                "UPDATE leases SET owner = $1, until_ns = $2 WHERE name = 'remediation' AND (owner = $1 OR until_ns < $3 OR $4 = 1)",
                &[
                    owner.into(),
                    until.into(),
                    nanos(now).into(),
                    i64::from(sole).into(),
                ],
            )?;
            if leased == 0 {
                lease = observe_lease(sql, lease)?;
                return Ok(None);
            }
            lease = None;
            if policy.mode == Mode::Dry {
                sql.execute(
                    "UPDATE requests SET state = 'expired', reported = 'the policy is dry' \
                     WHERE state = 'pending' AND key LIKE 'plan:%'",
                    &[],
                )?;
            }
            let mut plans = counting(sql, policy, now)?;
            let mut turned = Turned::default();
            for wish in wishes {
                if let Some(bound) = take_up(sql, policy, wish, &mut plans, now)? {
                    turned.unplanned.push((wish.cause.key.clone(), bound));
                }
            }
            // With those that were just made, which are written down.
            let before = plans.clone();
            let ids: Vec<i64> = plans.plans.keys().copied().collect();
            for id in ids {
                turned
                    .orders
                    .extend(plans.advance(id, policy, &facts, in_flight.contains(&id)));
            }
            // What a host has not begun is withdrawn once what it needs does not hold any more.
            let unfounded: Vec<_> = plans
                .plans
                .keys()
                .filter(|id| !in_flight.contains(id))
                .filter_map(|id| plans.unfounded(*id, policy, &facts))
                .collect();
            for (id, index, step, why) in unfounded {
                if withdraw(sql, &request_key(id, step), &why)? {
                    plans.withdrawn(id, index, &why, now);
                }
            }
            for (id, after) in &plans.plans {
                let known = before.plans.get(id);
                if known != Some(after) {
                    keep(sql, known, after)?;
                }
            }
            Ok(Some(turned))
        });
        self.lease = lease;
        done
    }

    /// Notes that an order is about to be sent; whether it may be: nobody has changed its plan since it was decided. The version of the
    /// plan after that.
    ///
    /// # Errors
    /// [`DbError`]: nothing is to be sent.
    pub fn claim(&mut self, order: &Order, now: Timestamp) -> Result<Option<i64>, DbError> {
        self.durably(|sql| {
            lock(sql)?;
            claim(sql, order, now)
        })
    }

    /// Whether a plan still has this version.
    pub fn is_version(&mut self, plan: i64, version: i64) -> Result<bool, DbError> {
        let rows = self.sql.rows(
            "SELECT 1 FROM plans WHERE id = $1 AND version = $2",
            &[plan.into(), version.into()],
        )?;
        Ok(!rows.is_empty())
    }

    /// Lets another head carry plans out at once.
    pub fn end_remediation(&mut self, owner: &str) -> Result<(), DbError> {
        let done = self.sql.execute(
            "UPDATE leases SET until_ns = 0 WHERE name = 'remediation' AND owner = $1",
            &[owner.into()],
        );
        done.map(drop)
    }

    /// Takes over what came of an order.
    pub fn order_ended(
        &mut self,
        order: &Order,
        outcome: &Outcome,
        now: Timestamp,
    ) -> Result<(), DbError> {
        self.durably(|sql| {
            lock(sql)?;
            let Some(Ok(before)) = one(sql, order.plan)? else {
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

/// The key of the request that a step of a plan makes.
pub(crate) fn request_key(plan: i64, step: Step) -> String {
    format!("plan:{plan}:{step}")
}

/// Ends the lease of a head that has taken no turn, which changes it, for as long as it is good for: clocks of heads may differ, so that by
/// them alone it would go on for years. `before`: the lease as it was found last, and since when; the answer is the same of now.
fn observe_lease(
    sql: &mut dyn Sql,
    before: Option<(i64, Instant)>,
) -> Result<Option<(i64, Instant)>, DbError> {
    let until = "SELECT until_ns FROM leases WHERE name = 'remediation'";
    let until = sql.number(until, &[])?;
    let Some((_, since)) = before.filter(|(known, _)| *known == until) else {
        return Ok(Some((until, Instant::now())));
    };
    if since.elapsed() >= LEASE {
        sql.execute(
            "UPDATE leases SET until_ns = 0 WHERE name = 'remediation' AND until_ns = $1",
            &[until.into()],
        )?;
    }
    Ok(Some((until, since)))
}

/// Takes a request back that its host has not begun; whether that was so. Another one may be made with its key.
fn withdraw(sql: &mut dyn Sql, key: &str, why: &str) -> Result<bool, DbError> {
    let changed = sql.execute(
        "UPDATE requests SET state = 'expired', reported = $1, key = key || ':' || CAST(id AS TEXT) \
         WHERE key = $2 AND state = 'pending'",
        &[why.into(), key.into()],
    )?;
    Ok(changed > 0)
}

/// Locks the plans until the end of the transaction, whoever carries them out.
pub(super) fn lock(sql: &mut dyn Sql) -> Result<(), DbError> {
    sql.execute(
        "UPDATE leases SET until_ns = until_ns WHERE name = 'remediation'",
        &[],
    )
    .map(drop)
}

/// [`Database::claim`], after [`lock`].
pub(super) fn claim(
    sql: &mut dyn Sql,
    order: &Order,
    now: Timestamp,
) -> Result<Option<i64>, DbError> {
    let Some(Ok(before)) = one(sql, order.plan)? else {
        return Ok(None);
    };
    let mut after = before.clone();
    if !after.claim(order, now) {
        return Ok(None);
    }
    keep(sql, Some(&before), &after)?;
    Ok(Some(after.version))
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

/// What is read of a plan.
const COLUMNS: &str = "id, version, host, body";

/// Plans whose texts are read to count them: they are live, keep a host out, or are of before the state had a column. Each is found by an
/// index.
const READ_TO_COUNT: [&str; 3] = [
    "live = 1",
    "live = 0 AND holds = 1",
    "live = 0 AND holds = 0 AND state = ''",
];

/// The others, by state.
const COUNT_ENDED: &str =
    "SELECT state, count(*) FROM plans WHERE live = 0 AND holds = 0 AND state > '' GROUP BY state";

fn plan(row: &[Value]) -> Result<Plan, UnreadablePlan> {
    let (id, body) = (row[0].int(), row[3].text());
    match serde_json::from_str::<Plan>(body) {
        Ok(plan) if plan.id == id => Ok(Plan {
            version: row[1].int(),
            ..plan
        }),
        other => {
            let why = match other {
                Ok(plan) => format!("it says that it is plan {}", plan.id),
                Err(error) => error.to_string(),
            };
            let host = Some(row[2].text().to_owned()).filter(|host| !host.is_empty());
            // The name of a host has been there since the first version.
            let from_body = || {
                let value: serde_json::Value = serde_json::from_str(body).ok()?;
                let host = value["host"].as_str().map(str::to_owned);
                host.filter(|host| !host.is_empty() && host.len() <= HOST_MAX)
            };
            Err(UnreadablePlan {
                id,
                host: host.or_else(from_body),
                why,
            })
        }
    }
}

fn read(rows: &[Vec<Value>]) -> Plans {
    let mut read = Plans::default();
    for row in rows {
        match plan(row) {
            Ok(plan) => read.plans.push(plan),
            Err(unreadable) => read.unreadable.push(unreadable),
        }
    }
    read
}

fn one(sql: &mut dyn Sql, id: i64) -> Result<Option<Result<Plan, UnreadablePlan>>, DbError> {
    let statement = format!("SELECT {COLUMNS} FROM plans WHERE id = $1");
    let rows = sql.rows(&statement, &[id.into()])?;
    Ok(rows.first().map(|row| plan(row)))
}

/// How many plans take their hosts' places.
fn busy(sql: &mut dyn Sql) -> Result<usize, DbError> {
    let live = sql.rows(&format!("SELECT {COLUMNS} FROM plans WHERE live = 1"), &[])?;
    let plans = read(&live).plans.into_iter();
    Ok(plans.filter(|plan| plan.state.is_busy()).count())
}

/// The plans that count: live, keeping a host out, or begun lately.
fn counting(sql: &mut dyn Sql, policy: &Policy, now: Timestamp) -> Result<Remediation, DbError> {
    let lately_s = 3600 * i64::from(policy.again_after_h.max(1));
    let lately = nanos(now).saturating_sub(lately_s.saturating_mul(1_000_000_000));
    let rows = sql.rows(
        &format!("SELECT {COLUMNS} FROM plans WHERE live = 1 OR holds = 1 OR began_ns > $1"),
        &[lately.into()],
    )?;
    let Plans { plans, unreadable } = read(&rows);
    Ok(Remediation {
        plans: plans.into_iter().map(|plan| (plan.id, plan)).collect(),
        unreadable: unreadable.into_iter().map(|p| (p.id, p.host)).collect(),
    })
}

fn plan_key(cause: &str, is_dry: bool) -> String {
    match is_dry {
        true => format!("dry:{cause}"),
        false => cause.to_owned(),
    }
}

/// Makes a plan of a wish, unless there is one for it, or one that has its host's place. Where there are too many: of whom.
fn take_up(
    sql: &mut dyn Sql,
    policy: &Policy,
    wish: &Wish,
    plans: &mut Remediation,
    now: Timestamp,
) -> Result<Option<Bound>, DbError> {
    let is_dry = wish.drill || policy.mode == Mode::Dry;
    // Once the policy acts, what was dry before is planned anew.
    let key = plan_key(&wish.cause.key, is_dry);
    let of_host = |plan: &&Plan| plan.host == wish.host;
    let mut busy = plans.plans.values().filter(|plan| plan.state.is_busy());
    if !is_dry && busy.clone().any(|plan| of_host(&plan)) {
        return Ok(None);
    }
    let known = sql.rows("SELECT 1 FROM plans WHERE key = $1", &[key.as_str().into()])?;
    if !known.is_empty() {
        return Ok(None);
    }
    let day = nanos(now).saturating_sub(super::DAY_NS);
    // Those that are only shown are in the way of none that acts.
    let kind = if is_dry { "LIKE" } else { "NOT LIKE" };
    let made = format!(
        "SELECT count(*) FROM plans WHERE host = $1 AND made_ns > $2 AND key {kind} 'dry:%'"
    );
    let made = sql.number(&made, &[wish.host.as_str().into(), day.into()])?;
    let approvals = || {
        let waiting = |plan: &&Plan| plan.state == PlanState::Approval;
        plans.plans.values().filter(waiting)
    };
    let asks = !is_dry && wish.approval;
    let host_is_full =
        made >= PLANS_OF_HOST || (asks && approvals().filter(of_host).count() >= APPROVALS_OF_HOST);
    if host_is_full {
        return Ok(Some(Bound::Host));
    }
    let fleet_is_full = match (is_dry, asks) {
        (true, _) => false,
        (_, true) => approvals().count() >= APPROVALS_MAX,
        (_, false) => busy.by_ref().count() >= BUSY_MAX,
    };
    if fleet_is_full {
        return Ok(Some(Bound::Fleet));
    }
    let state = match (is_dry, wish.approval) {
        (true, _) => PlanState::Dry,
        (false, true) => PlanState::Approval,
        (false, false) => PlanState::Waiting,
    };
    let id = sql.number("SELECT max(id) FROM plans", &[])? + 1;
    let cause = Cause {
        key,
        ..wish.cause.clone()
    };
    let plan = Plan::new(id, &wish.host, &wish.rule, cause, &wish.steps, state, now);
    keep(sql, None, &plan)?;
    plans.plans.insert(id, plan);
    Ok(None)
}

/// Writes a plan down, if it is still as it was, and what is new of its course into the audit.
fn keep(sql: &mut dyn Sql, before: Option<&Plan>, after: &Plan) -> Result<(), DbError> {
    let body = serde_json::to_string(after)?;
    let mut parameters: Vec<Value> = vec![
        after.cause.key.as_str().into(),
        i64::from(after.state.is_live()).into(),
        i64::from(after.out).into(),
        after.began.map(nanos).into(),
        nanos(after.changed).into(),
        after.host.as_str().into(),
        nanos(after.made).into(),
        after.version.into(),
        body.into(),
        after.state.name().into(),
        after.id.into(),
    ];
    let statement = match before {
        None => {
            "INSERT INTO plans(key, live, holds, began_ns, changed_ns, host, made_ns, version, body, state, id) \
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)"
        }
        Some(before) => {
            parameters.push(before.version.into());
            "UPDATE plans SET key = $1, live = $2, holds = $3, began_ns = $4, changed_ns = $5, host = $6, made_ns = $7, \
             version = $8, body = $9, state = $10 WHERE id = $11 AND version = $12"
        }
    };
    let written = sql.execute(statement, &parameters)?;
    if written == 0 {
        let why = format!("plan {} was changed by somebody else meanwhile", after.id);
        return Err(DbError::Statement(why));
    }
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

#[cfg(test)]
pub(super) mod tests;
