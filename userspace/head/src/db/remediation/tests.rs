use gtrace_event::{FailureClass, Incident, IncidentId, Record};

use super::*;
use crate::db::testing::{incident, with_hosts};
use crate::db::{DAY_NS, Place, time_of};

/// A fault of a host that the policy has a rule for.
fn wish(host: &str, key: &str, approval: bool) -> Wish {
    Wish {
        host: host.to_owned(),
        rule: "r".to_owned(),
        cause: Cause {
            key: key.to_owned(),
            ..Cause::default()
        },
        steps: vec![Step::Cordon],
        approval,
        drill: false,
    }
}

/// A turn of a head of which nothing is known but these faults.
fn turn_of(
    database: &mut Database,
    owner: &str,
    wishes: &[Wish],
    (now, sole): (Timestamp, bool),
) -> Option<Turned> {
    let policy: Policy = serde_json::from_value(serde_json::json!({ "mode": "act" })).unwrap();
    let facts = Facts {
        now,
        hosts: wishes.len(),
        out: BTreeSet::new(),
        out_unknown: None,
        of: BTreeMap::new(),
    };
    let turned = database.remediate(owner, &policy, wishes, facts, &BTreeSet::new(), sole);
    turned.unwrap()
}

/// The same of the only head.
fn remediate(database: &mut Database, wishes: &[Wish]) -> Turned {
    turn_of(database, "o", wishes, (Timestamp::now(), true)).unwrap()
}

/// A turn for open incidents of hosts of these names.
pub(in crate::db) fn turn(database: &mut Database, hosts: &[&str]) {
    let of = |host: &&str| wish(host, &Cause::key_of_incident(host, "i"), true);
    let wishes: Vec<Wish> = hosts.iter().map(of).collect();
    assert_eq!(remediate(database, &wishes), Turned::default());
}

#[test]
fn retention_keeps_the_newest_plan_and_those_of_open_incidents() {
    let (_dir, mut database) = with_hosts(&["a", "b", "c"]);
    let open = "INSERT INTO incidents VALUES (0, 'i', 1, 0, 0, 'open', 'pcie', 0, '', 0)";
    database.sql.execute(open, &[]).unwrap();
    turn(&mut database, &["a", "b", "c"]);
    let now = Timestamp::now();
    for id in 1..=3 {
        let refused = database.change_plan(id, Change::Refuse, "x", now).unwrap();
        refused.unwrap().unwrap();
    }
    database.retain(nanos(now) / DAY_NS + 2).unwrap();
    let ids = |database: &mut Database| -> Vec<i64> {
        let plans = database.plans(true, 9).unwrap().plans;
        plans.iter().map(|plan| plan.id).collect()
    };
    assert_eq!(ids(&mut database), [3, 1]);
    turn(&mut database, &["a", "b"]);
    assert_eq!(ids(&mut database), [4, 3, 1]);
}

#[test]
fn a_host_gets_so_many_plans_and_one_that_waits_for_approval_is_in_no_other_ones_way() {
    let (_dir, mut database) = with_hosts(&["a"]);
    let wish = |n: u32, approval| wish("a", &format!("health:a:{n}"), approval);
    let mut of = |wishes: Vec<Wish>| {
        let turned = remediate(&mut database, &wishes);
        (turned.unplanned, database.plans(false, 99).unwrap().plans)
    };
    let (unplanned, live) = of((0..7).map(|n| wish(n, true)).collect());
    assert_eq!((unplanned.len(), live.len()), (3, 4));
    assert_eq!(unplanned[0], ("health:a:4".to_owned(), Bound::Host));
    // Those that are only shown are in the way of none that acts.
    let drills = (20..40).map(|n| Wish {
        drill: true,
        ..wish(n, false)
    });
    let (unplanned, _) = of(drills.collect());
    assert_eq!(unplanned.len(), 8);
    // None of them has its place; the next one takes it, and keeps it.
    let (unplanned, live) = of(vec![wish(10, false), wish(11, false)]);
    assert_eq!((unplanned.len(), live.len()), (0, 5));
    assert_eq!(database.plans(true, 99).unwrap().plans.len(), 17);
}

#[test]
fn so_many_plans_are_under_way_and_none_of_them_is_left_out_for_those_that_wait() {
    let (_dir, mut database) = with_hosts(&[]);
    let wishes: Vec<Wish> = (0..257)
        .map(|n| wish(&format!("h{n}"), &format!("k{n}"), n == 0))
        .collect();
    assert_eq!(remediate(&mut database, &wishes), Turned::default());
    let now = Timestamp::now();
    let change = |database: &mut Database, id, change| {
        let changed = database.change_plan(id, change, "x", now).unwrap();
        changed.unwrap().map(drop)
    };
    let why = change(&mut database, 1, Change::Approve).unwrap_err();
    assert_eq!(why, "256 plans are under way, which is the most");
    change(&mut database, 2, Change::Refuse).unwrap();
    change(&mut database, 1, Change::Approve).unwrap();
    let began = "UPDATE plans SET began_ns = 1 WHERE id IN (7, 9)";
    database.sql.execute(began, &[]).unwrap();
    let found = database.plans(false, 3).unwrap().plans;
    let ids: Vec<i64> = found.iter().map(|plan| plan.id).collect();
    assert_eq!(ids, [257, 9, 7]);
}

#[test]
fn incidents_that_have_plans_and_those_of_a_host_with_many_hide_no_others() {
    let (_dir, mut database) = with_hosts(&["a", "b"]);
    let mut insert = |host: i64, last: i64, drill: bool| {
        let incident = Incident {
            id: IncidentId::new(last.unsigned_abs()),
            drill,
            ..incident(time_of(last), FailureClass::Pcie, &[])
        };
        let id = incident.id.to_string();
        let body = serde_json::to_string(&Record::Incident(Box::new(incident))).unwrap();
        let statement =
            "INSERT INTO incidents VALUES ($1, $2, 1, 0, $3, 'open', 'pcie', $4, $5, 0)";
        let parameters = [
            host.into(),
            id.as_str().into(),
            last.into(),
            i64::from(drill).into(),
            body.into(),
        ];
        database.sql.execute(statement, &parameters).unwrap();
        id
    };
    let old = insert(1, 1, false);
    let many: Vec<String> = (2..300).map(|n| insert(0, n, n % 2 == 0)).collect();
    let newest = &many[297];
    let unplanned = |database: &mut Database, is_dry| -> Vec<String> {
        let found = database.unplanned_incidents(is_dry).unwrap();
        found.iter().map(|f| f.incident.id.to_string()).collect()
    };
    let found = unplanned(&mut database, false);
    assert_eq!((found.len(), &found[0]), (201, &old));
    assert!(found.contains(newest) && !found.contains(&many[0]));
    let cause = |host, id: &str| Cause::key_of_incident(host, id);
    let wishes = [
        wish("a", &cause("a", newest), true),
        wish("b", &cause("b", &old), true),
    ];
    assert_eq!(remediate(&mut database, &wishes), Turned::default());
    let found = unplanned(&mut database, false);
    assert!(!found.contains(newest) && !found.contains(&old));
    // Those plans act: a policy that is dry shows what it would do.
    let found = unplanned(&mut database, true);
    assert!(found.contains(newest) && found.contains(&old));
    // Of an exercise there are only plans that are dry.
    let exercise = &many[296];
    let drill = Wish {
        drill: true,
        ..wish("a", &cause("a", exercise), true)
    };
    assert_eq!(remediate(&mut database, &[drill]), Turned::default());
    for is_dry in [false, true] {
        assert!(!unplanned(&mut database, is_dry).contains(exercise));
    }
}

#[test]
fn a_plan_that_another_version_wrote_is_shown_as_such_and_stops_nothing() {
    let (_dir, mut database) = with_hosts(&["a", "b", "c"]);
    turn(&mut database, &["a", "b"]);
    let newer = r#"{"id":1,"host":"a","steps":[{"step":"replace_fan"}]}"#;
    let sql = database.sql.as_mut();
    sql.execute(
        "UPDATE plans SET body = $1, host = '' WHERE id = 1",
        &[newer.into()],
    )
    .unwrap();
    sql.execute("UPDATE plans SET body = 'x' WHERE id = 2", &[])
        .unwrap();
    turn(&mut database, &["a", "b", "c"]);
    let found = database.plans(false, 9).unwrap();
    assert_eq!((found.plans.len(), found.plans[0].host.as_str()), (1, "c"));
    let hosts: Vec<_> = found.unreadable.iter().map(|p| p.host.as_deref()).collect();
    assert_eq!(hosts, [Some("b"), Some("a")]);
    assert!(database.plan(1).unwrap().unwrap().is_err());
    assert_eq!(database.plans_by_state().unwrap()["unreadable"], 2);
    let now = Timestamp::now();
    let refused = database.change_plan(1, Change::Undo, "x", now).unwrap();
    assert!(refused.unwrap().unwrap_err().contains("cannot be read"));
}

#[test]
fn plans_that_have_ended_are_counted_without_reading_them() {
    let (_dir, mut database) = with_hosts(&[]);
    // Four that show what would be done, and have ended; one that waits for approval.
    let wishes: Vec<Wish> = (1..=5)
        .map(|n| Wish {
            drill: n < 5,
            ..wish(&format!("h{n}"), &format!("k{n}"), true)
        })
        .collect();
    assert_eq!(remediate(&mut database, &wishes), Turned::default());
    for what in [
        "body = 'x' WHERE id IN (1, 2)",
        // As an older version has left it, and a newer one.
        "state = '' WHERE id = 3",
        "state = 'invented' WHERE id = 4",
    ] {
        let statement = format!("UPDATE plans SET {what}");
        database.sql.execute(&statement, &[]).unwrap();
    }
    let mut counts = database.plans_by_state().unwrap();
    counts.retain(|_, n| *n > 0);
    let expected = [("approval", 1), ("dry", 3), ("unreadable", 1)];
    assert_eq!(counts, BTreeMap::from(expected));
    let read = READ_TO_COUNT.map(|which| format!("SELECT body FROM plans WHERE {which}"));
    for statement in read.iter().map(String::as_str).chain([COUNT_ENDED]) {
        let plan = format!("EXPLAIN QUERY PLAN {statement}");
        for row in database.sql.rows(&plan, &[]).unwrap() {
            let step = row[3].text();
            assert!(step.starts_with("SEARCH"), "{step}");
        }
    }
}

#[test]
fn a_head_keeps_others_out_for_as_long_as_it_takes_turns_whatever_their_clocks_are() {
    let (dir, mut ahead) = with_hosts(&[]);
    let place = Place::File(dir.path().join("fleet.db"));
    let [mut right, mut another] = [(), ()].map(|()| Database::open(&place).unwrap());
    let takes_turn = |database: &mut Database, owner: &str, now: Timestamp| {
        turn_of(database, owner, &[], (now, false)).is_some()
    };
    // For a head that is kept out, the time of a lease passes.
    let passes = |database: &mut Database| {
        let (_, since) = database.lease.as_mut().unwrap();
        *since = since.checked_sub(LEASE).unwrap();
    };
    let now = Timestamp::now();
    let later = |n: i64| time_of(nanos(now) + 9_000 * DAY_NS + n);
    for n in 0..3 {
        assert!(takes_turn(&mut ahead, "ahead", later(n)));
        assert!(!takes_turn(&mut right, "right", now));
        passes(&mut right);
    }
    // One whose clock is behind ends the lease for no other either.
    assert!(takes_turn(&mut ahead, "ahead", later(3)));
    assert!(!takes_turn(&mut right, "right", now));
    assert!(!takes_turn(&mut another, "another", later(4)));
    // It is killed.
    passes(&mut right);
    assert!(!takes_turn(&mut right, "right", now));
    assert!(takes_turn(&mut right, "right", now));
    assert!(!takes_turn(&mut another, "another", now));
    // By clocks that go together its end is known at once.
    let passed = "UPDATE leases SET until_ns = until_ns - $1";
    let passed = right.sql.execute(passed, &[(LEASE_NS + 1).into()]);
    passed.unwrap();
    assert!(takes_turn(&mut another, "another", now));
}
