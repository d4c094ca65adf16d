use gtrace_event::{FailureClass, Incident, IncidentId, Record};
use gtrace_fleet::Metric;
use gtrace_fleet::remedy::{Cause, Facts, Policy, Step};

use super::testing::{bare_state, first_batch, incident, with_hosts};
use super::*;

#[test]
fn a_database_of_the_first_version_is_brought_to_this_one() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("fleet.db");
    let place = Place::File(path.clone());
    let mut sql = sqlite::Sqlite::open(&path).unwrap();
    let tables = schema::TABLES.replace("{bytes}", "BLOB");
    sql.batch(&format!("{tables} INSERT INTO meta VALUES ('version', 1);"))
        .unwrap();
    sql.batch("INSERT INTO sessions VALUES (4, 'old', '', 200, 1000, NULL)")
        .unwrap();
    drop(sql);
    let mut database = Database::open(&place).unwrap();
    assert_eq!(database.exposed(&Unit::Gpu).unwrap(), []);
    let on = database.sessions_on().unwrap();
    assert_eq!(
        (on.len(), on[0].id, on[0].metrics.len()),
        (1, 4, Metric::ALL.len())
    );
    drop(database);
    // And it stays so.
    Database::open(&place).unwrap();
    let mut sql = sqlite::Sqlite::open(&path).unwrap();
    sql.batch("UPDATE meta SET value = 99").unwrap();
    assert!(matches!(
        Database::open(&place),
        Err(DbError::Newer { found: 99, .. })
    ));
}

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

/// A turn of which nothing is known but these faults.
fn remediate(database: &mut Database, wishes: &[Wish]) -> Turned {
    let policy: Policy = serde_json::from_value(serde_json::json!({ "mode": "act" })).unwrap();
    let facts = Facts {
        now: Timestamp::now(),
        hosts: wishes.len(),
        out: Default::default(),
        out_unknown: None,
        of: Default::default(),
    };
    let none = Default::default();
    let turned = database.remediate("o", &policy, wishes, facts, &none, true);
    turned.unwrap().unwrap()
}

/// A turn for open incidents of hosts of these names.
fn turn(database: &mut Database, hosts: &[&str]) {
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
fn requests_have_numbers_of_their_own_and_end_with_their_plan() {
    let (_dir, mut database) = with_hosts(&["a"]);
    let now = Timestamp::now();
    let later = now + jiff::SignedDuration::from_hours(24 * 40);
    let new = |key: Option<&str>, order: Option<gtrace_fleet::remedy::Order>| NewRequest {
        host: "a".to_owned(),
        ask: gtrace_fleet::Ask::Reboot,
        key: key.map(str::to_owned),
        order,
        by: "x".to_owned(),
        deadline: later,
    };
    let ask = |database: &mut Database, new: NewRequest, now| {
        let asked = database.ask(&new, now).unwrap();
        asked.map(|request| request.id)
    };
    assert_eq!(ask(&mut database, new(Some("k"), None), now), Ok(1));
    assert_eq!(ask(&mut database, new(Some("k"), None), now), Ok(1));
    assert_eq!(ask(&mut database, new(None, None), now), Ok(2));
    // The same attempt may ask again, as an answer may be lost; nobody else.
    for (attempt, may) in [("x", true), ("x", true), ("y", false), ("", false)] {
        let begun = database.begin_request(1, 0, attempt, now).unwrap();
        assert_eq!(begun, may, "{attempt}");
    }
    assert!(!database.begin_request(1, 1, "x", now).unwrap());
    assert!(database.begin_request(2, 0, "", now).unwrap());
    assert!(!database.begin_request(2, 0, "", now).unwrap());
    // It has its time from when it began, and is not begun long after; its answer is taken late too.
    let after = |s: i64| now + jiff::SignedDuration::from_secs(s);
    assert!(database.begin_request(1, 0, "x", after(59)).unwrap());
    assert!(!database.begin_request(1, 0, "x", after(61)).unwrap());
    database.expire_requests(after(1799)).unwrap();
    let state = |database: &mut Database| database.request(1).unwrap().unwrap().state;
    assert_eq!(state(&mut database), gtrace_fleet::RequestState::Begun);
    database.expire_requests(after(1801)).unwrap();
    assert_eq!(state(&mut database), gtrace_fleet::RequestState::Expired);
    assert!(database.is_awaited(1, 0).unwrap());
    assert!(database.answer_request(1, 0, Ok(("", b""))).unwrap());
    assert!(!database.answer_request(1, 0, Ok(("", b""))).unwrap());
    assert_eq!(state(&mut database), gtrace_fleet::RequestState::Done);
    // What was done so long ago is no effect of what is asked now.
    assert_eq!(ask(&mut database, new(Some("k"), None), later), Ok(3));
    turn(&mut database, &["a"]);
    let order = gtrace_fleet::remedy::Order {
        plan: 1,
        version: 1,
        host: "a".to_owned(),
        index: 0,
        step: Step::Cordon,
        undo: false,
        cause: Default::default(),
    };
    let of_plan = database.ask(&new(Some("plan:1:reboot"), Some(order)), now);
    assert_eq!(of_plan.unwrap(), Err(NotAsked::Changed(1)));
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
fn what_is_begun_is_synced() {
    let (_dir, mut database) = with_hosts(&[]);
    let level = |sql: &mut dyn Sql| -> Result<i64, DbError> {
        Ok(sql.rows("PRAGMA synchronous", &[])?[0][0].int())
    };
    assert_eq!(database.durably(level).unwrap(), 2);
    assert_eq!(database.transaction(level).unwrap(), 1);
}

#[test]
fn what_comes_late_makes_no_host_newer_and_replaces_no_newer_state() {
    let (_dir, mut database) = with_hosts(&["a"]);
    let at = |s: i64| Timestamp::from_second(1_780_000_000 + s).unwrap();
    let mut say = |tip: u64, seen: i64, now: i64| {
        let state = NewState {
            state: r#"{"time":"2026-01-01T00:00:00Z","version":"x"}"#.to_owned(),
            tip,
            ..bare_state(0, at(seen))
        };
        database.put_states(&[state], at(now)).unwrap();
        let row = database.hosts().unwrap().remove(0);
        (row.tip, row.seen.unwrap())
    };
    assert_eq!(say(1, 10, 10), (1, at(10)));
    assert_eq!(say(2, 30, 30), (2, at(30)));
    assert_eq!(say(3, 20, 31), (2, at(30)));
    // Under a clock that was a day ahead, which then is set.
    assert_eq!(say(4, 86_400, 86_400), (4, at(86_400)));
    assert_eq!(say(5, 40, 40), (5, at(40)));
    let epoch = gtrace_event::Epoch::from_bytes([1; 16]);
    let mut hash = gtrace_store::Hash::GENESIS;
    let mut after = None;
    let mut ship = |seq: u64, seen: i64| {
        let record = gtrace_fleet::Carried::new(epoch, seq, hash, "{}".to_owned());
        hash = record.hash;
        let batch = gtrace_fleet::Batch {
            after,
            tip: seq,
            records: vec![record],
        };
        after = Some(batch.records[0].position());
        let seen = at(seen);
        let arrived = Arrived {
            host: 0,
            batch,
            seen,
        };
        let taken = database.ingest(at(99), &[arrived]).unwrap();
        assert_eq!(taken[0].taken, 1);
        database.hosts().unwrap().remove(0).seen.unwrap()
    };
    assert_eq!(ship(1, 35), at(40));
    assert_eq!(ship(2, 50), at(50));
}

/// A host's first batch: records with these bodies.
#[test]
fn what_no_column_takes_is_kept_in_the_body_of_its_record_alone() {
    let (_dir, mut database) = with_hosts(&["a"]);
    let now = Timestamp::now();
    let of = |record: &str, id: &str, state: &str, class: &str| {
        format!(
            r#"{{"record":"{record}","id":"{id}","time":"{now}","state":"{state}","class":"{class}"}}"#
        )
    };
    let (nul, long) = (r"a\u0000b", "i".repeat(257));
    let bodies = [
        of(nul, "1", "open", "pcie"),
        of(&long, "1", "open", "pcie"),
        of("incident", nul, "open", "pcie"),
        of("incident", &long, "open", "pcie"),
        of("incident", "2", nul, "pcie"),
        of("incident", "2", "open", nul),
        of("incident", "3", "open", "pcie"),
    ];
    let batch = first_batch(0, bodies.into_iter(), now);
    assert_eq!(database.ingest(now, &[batch]).unwrap()[0].taken, 7);
    let table = database.tables().unwrap().remove(0);
    let mut texts = |of: &str| -> Vec<String> {
        let rows = database.sql.rows(of, &[]).unwrap();
        rows.iter().map(|row| row[0].text().to_owned()).collect()
    };
    let records = texts(&format!("SELECT record FROM {table} ORDER BY n"));
    assert_eq!(records[..3], ["unknown", "unknown", "incident"]);
    assert_eq!(texts("SELECT id FROM incidents"), ["3"]);
}

#[test]
fn events_of_hosts_are_the_same_whether_they_are_found_by_host_or_by_time() {
    use gtrace_event::{Event, Kind, Occurrence, Severity, Witness, WitnessName};
    let names = ["a", "b", "c"];
    let (_dir, mut database) = with_hosts(&names);
    let at = |s: i64| Timestamp::from_second(1_780_000_000 + s).unwrap();
    for (host, name) in names.iter().enumerate() {
        let epoch = gtrace_event::Epoch::from_bytes([host as u8 + 1; 16]);
        let mut hash = gtrace_store::Hash::GENESIS;
        let mut records = Vec::new();
        for n in 1..=20 {
            let time = at(10 * n + host as i64);
            let witness = Witness {
                source: WitnessName::PrintkConsole,
                count: 1,
                first_time: time,
            };
            let occurrence = Occurrence::new(Kind::Xid, Severity::Critical, format!("{name} {n}"));
            let event = Record::Event(Box::new(Event::new(time, witness, occurrence)));
            let body = serde_json::to_string(&event).unwrap();
            records.push(gtrace_fleet::Carried::new(epoch, n as u64, hash, body));
            hash = records[records.len() - 1].hash;
        }
        let batch = gtrace_fleet::Batch {
            after: None,
            tip: 20,
            records,
        };
        let arrived = Arrived {
            host: host as i64,
            batch,
            seen: at(300),
        };
        assert_eq!(database.ingest(at(300), &[arrived]).unwrap()[0].taken, 20);
    }
    let mut messages = |hosts: Option<&[&str]>, until: i64| -> Vec<String> {
        let query = EventQuery {
            until: Some(at(until)),
            hosts: hosts.map(|hosts| hosts.iter().map(|host| (*host).to_owned()).collect()),
            limit: 5,
            ..EventQuery::default()
        };
        let found = database.events(&query).unwrap();
        let all: Vec<String> = found.into_iter().map(|one| one.event.message).collect();
        database
            .sql
            .execute("UPDATE hosts SET taken = 1000000 - taken", &[])
            .unwrap();
        all
    };
    // The second time of hosts of which many records were taken.
    for _ in 0..2 {
        let of_two = ["b 18", "a 19", "b 19", "a 20", "b 20"];
        assert_eq!(messages(Some(&["a", "b", "nobody"]), 300), of_two);
    }
    for _ in 0..2 {
        assert_eq!(messages(Some(&["c"]), 32), ["c 1", "c 2"]);
    }
    assert_eq!(messages(Some(&["nobody"]), 300), [""; 0]);
    assert_eq!(messages(None, 13), ["a 1", "b 1", "c 1"]);
}

#[test]
fn amendments_that_raise_no_severity_hide_no_severe_event() {
    use gtrace_event::{Event, Kind, Occurrence, Severity, Witness, WitnessName};
    let (_dir, mut database) = with_hosts(&["a"]);
    let at = |s: i64| Timestamp::from_second(1_780_000_000 + s).unwrap();
    let event = |n: i64, severity: Severity| {
        let witness = Witness {
            source: WitnessName::PrintkConsole,
            count: 1,
            first_time: at(n),
        };
        let occurrence = Occurrence::new(Kind::Xid, severity, n.to_string());
        Event::new(at(n), witness, occurrence)
    };
    let amendment = |event: &Event, severity: Severity| -> Record {
        let value = serde_json::json!({
            "record": "amendment", "id": event.id, "revision": 1, "time": event.time,
            "witnesses": event.witnesses, "severity": severity,
        });
        serde_json::from_value(value).unwrap()
    };
    let mut records = Vec::new();
    for n in 0..5_003 {
        let critical = n == 0;
        let event = match critical {
            true => event(n, Severity::Critical),
            false => event(n, Severity::Info),
        };
        let later = match n {
            1 => Severity::Critical,
            _ => event.severity,
        };
        let amended = amendment(&event, later);
        records.extend([Record::Event(Box::new(event)), amended]);
    }
    let bodies = records.iter().map(|r| serde_json::to_string(r).unwrap());
    let batch = first_batch(0, bodies, at(6_000));
    database.ingest(at(6_000), &[batch]).unwrap();
    let mut messages = |severity, limit| -> Vec<String> {
        let query = EventQuery {
            severity,
            limit,
            ..EventQuery::default()
        };
        let found = database.events(&query).unwrap();
        found.into_iter().map(|one| one.event.message).collect()
    };
    assert_eq!(messages(Some(Severity::Critical), 10), ["0", "1"]);
    assert_eq!(messages(None, 2), ["5001", "5002"]);
}

#[test]
fn counts_of_a_host_that_are_too_large_leave_usage_of_the_fleet_whole() {
    let (_dir, mut database) = with_hosts(&["a"]);
    let now = Timestamp::now();
    let ends = |since: i64| ProcessEnds {
        day: usage::date_of(usage::day_of(now)),
        since: Timestamp::from_second(since).unwrap(),
        last: now,
        holder: gtrace_event::Holder {
            job: Some("slurm:1".to_owned()),
            ..gtrace_event::Holder::default()
        },
        ended: u64::MAX,
        failed: u64::MAX,
    };
    // The second as an older head wrote it.
    usage::put_ends(database.sql.as_mut(), 0, &[ends(1)], now).unwrap();
    let older = "INSERT INTO process_ends SELECT host, day, 2, holder, $1, $1 FROM process_ends";
    database.sql.execute(older, &[i64::MAX.into()]).unwrap();
    let query = UsageQuery {
        since: now,
        until: now,
        by: UsageBy::Job,
        owner: None,
        job: None,
        hosts: None,
    };
    assert_eq!(database.usage(&query).unwrap().held.jobs_failed, 1);
    let rows = "SELECT max(failed) FROM process_ends WHERE since_ns > 2";
    let kept = database.sql.rows(rows, &[]).unwrap();
    assert_eq!(kept[0][0].int(), 1_000_000_000);
}

#[test]
fn what_people_ask_for_keeps_no_plan_from_asking() {
    let (_dir, mut database) = with_hosts(&["a"]);
    let now = Timestamp::now();
    let mut ask = |key: Option<String>| {
        let new = NewRequest {
            host: "a".to_owned(),
            ask: gtrace_fleet::Ask::Reboot,
            key,
            order: None,
            by: "x".to_owned(),
            deadline: now + jiff::SignedDuration::from_mins(1),
        };
        database.ask(&new, now).unwrap().map(drop)
    };
    let full = Err(NotAsked::Full("a".to_owned()));
    for n in 0..gtrace_fleet::REQUESTS_MAX {
        assert_eq!(ask(None), Ok(()), "{n}");
    }
    assert_eq!(ask(None), full);
    for n in 0..gtrace_fleet::REQUESTS_MAX {
        assert_eq!(ask(Some(format!("plan:{n}:reboot"))), Ok(()));
    }
    assert_eq!(ask(Some("plan:99:reboot".to_owned())), full);
}

#[test]
fn hosts_are_locked_by_number_and_answered_in_the_order_in_which_they_came() {
    let (_dir, mut database) = with_hosts(&["a", "b", "c"]);
    let now = Timestamp::now();
    let log = "CREATE TABLE log(n INTEGER PRIMARY KEY, host); \
        CREATE TRIGGER note AFTER UPDATE ON hosts BEGIN INSERT INTO log(host) VALUES (NEW.id); END";
    database.sql.batch(log).unwrap();
    let order = |database: &mut Database| -> Vec<i64> {
        let rows = database.sql.rows("SELECT host FROM log ORDER BY n", &[]);
        let order = rows.unwrap().iter().map(|row| row[0].int()).collect();
        database.sql.batch("DELETE FROM log").unwrap();
        order
    };
    let batches = [(2, 3), (0, 1), (1, 2)]
        .map(|(host, n)| first_batch(host, (0..n).map(|_| "{}".to_owned()), now));
    let done = database.ingest(now, &batches).unwrap();
    let taken: Vec<usize> = done.iter().map(|one| one.taken).collect();
    assert_eq!(taken, [3, 1, 2]);
    assert_eq!(order(&mut database)[..3], [0, 1, 2]);
    let states = [2, 0, 1].map(|host| NewState {
        tip: 1,
        ..bare_state(host, now)
    });
    database.put_states(&states, now).unwrap();
    assert!(order(&mut database).is_sorted());
}

#[test]
fn incidents_of_a_revoked_host_count_for_nothing_and_go_in_the_end() {
    let (_dir, mut database) = with_hosts(&["a", "b"]);
    for host in 0..2_i64 {
        let open = "INSERT INTO incidents VALUES ($1, 'i', 1, 0, 0, 'open', 'pcie', 0, '', 0)";
        database.sql.execute(open, &[host.into()]).unwrap();
    }
    let now = Timestamp::now();
    let open = |database: &mut Database| database.open_incidents_by_class().unwrap();
    let of_class = |n: u64| std::collections::BTreeMap::from([((FailureClass::Pcie, false), n)]);
    assert_eq!(open(&mut database), of_class(2));
    assert!(database.revoke("b", "x", now).unwrap());
    assert_eq!(open(&mut database), of_class(1));
    // However many classes a host makes up, and whatever a newer one has.
    for class in 0..20_i64 {
        let named = "INSERT INTO incidents VALUES (0, $1, 1, 0, 0, 'open', $1, 0, '', 0)";
        let name = format!("class-{class}").into();
        database.sql.execute(named, &[name]).unwrap();
    }
    let known = open(&mut database);
    let unknown = known.get(&(FailureClass::Unknown, false));
    assert_eq!((known.len(), unknown), (2, Some(&20)));
    let mut kept = |day: i64| -> Vec<i64> {
        database.retain(day).unwrap();
        let rows = database
            .sql
            .rows("SELECT host FROM incidents ORDER BY host", &[]);
        rows.unwrap().iter().map(|row| row[0].int()).collect()
    };
    let today = nanos(now).div_euclid(DAY_NS);
    assert_eq!(kept(today), [vec![0; 21], vec![1]].concat());
    assert_eq!(kept(today + 2), [0; 21]);
}

#[test]
fn a_chain_is_whole_whichever_day_it_was_when_its_records_came() {
    let (_dir, mut database) = with_hosts(&["a", "b"]);
    let day = |day: i64| time_of(day.saturating_mul(DAY_NS));
    let bodies = (0..9).map(|n| format!(r#"{{"n":{n}}}"#));
    let Arrived { batch, .. } = first_batch(0, bodies, day(20_000));
    let mut after = None;
    // The clock is set back, twice.
    for (one, of_day) in batch.records.into_iter().zip([5, 5, 4, 5, 6, 4, 7, 8, 8]) {
        let position = one.position();
        let batch = gtrace_fleet::Batch {
            after,
            tip: 9,
            records: vec![one],
        };
        after = Some(position);
        let seen = day(20_000 + of_day);
        let arrived = Arrived {
            host: 0,
            batch,
            seen,
        };
        assert_eq!(database.ingest(seen, &[arrived]).unwrap()[0].taken, 1);
    }
    let others = first_batch(1, std::iter::once("{}".to_owned()), day(20_009));
    database.ingest(day(20_009), &[others]).unwrap();
    let report = database.verify(0, "a").unwrap();
    assert!(report.is_whole(), "{report:?}");
    assert_eq!(report.records, 9);
    let groups = database.in_order(0).unwrap();
    let sizes: Vec<usize> = groups.iter().map(Vec::len).collect();
    assert_eq!(sizes, [3, 1, 1]);
    let table = &groups[0][0];
    let change = format!("UPDATE {table} SET body = 'x' WHERE host = 0 AND n = 1");
    assert_eq!(database.sql.execute(&change, &[]).unwrap(), 1);
    assert_eq!(database.verify(0, "a").unwrap().faults.len(), 1);
}

#[test]
fn epochs_gaps_and_faults_of_a_host_are_bounded_and_its_newest_stay() {
    let (_dir, mut database) = with_hosts(&["a", "b"]);
    let genesis = gtrace_store::Hash::GENESIS;
    let at = |s: i64| Timestamp::from_second(1_780_000_000 + s).unwrap();
    let mut seq = 0;
    let mut after = None;
    for batch in 0..44_u8 {
        let records: Vec<_> = (0..100_u8)
            .map(|n| {
                // Each leaves a number out, and follows nothing where it says so.
                seq += 1 + u64::from(n % 2);
                let mut bytes = [batch; 16];
                bytes[0] = n;
                let epoch = gtrace_event::Epoch::from_bytes(bytes);
                gtrace_fleet::Carried::new(epoch, seq, genesis, "{}".to_owned())
            })
            .collect();
        let last = records.last().map(gtrace_fleet::Carried::position);
        let batch = gtrace_fleet::Batch {
            after,
            tip: seq,
            records,
        };
        after = last;
        let seen = at(seq as i64);
        let arrived = Arrived {
            host: 0,
            batch,
            seen,
        };
        assert_eq!(database.ingest(seen, &[arrived]).unwrap()[0].taken, 100);
    }
    let count = |database: &mut Database, what: &str| {
        let rows = database.sql.rows(&format!("SELECT {what}"), &[]);
        rows.unwrap()[0][0].int()
    };
    assert_eq!(count(&mut database, "count(*) FROM epochs"), 4100);
    assert_eq!(count(&mut database, "max(n) FROM epochs"), 4400);
    assert_eq!(count(&mut database, "count(*) FROM gaps"), 100);
    assert_eq!(
        count(&mut database, "max(last_seq) FROM gaps") as u64,
        seq - 1
    );
    // Sixteen of each batch.
    assert_eq!(count(&mut database, "count(*) FROM faults"), 112);
    assert_eq!(database.host("a").unwrap().unwrap().faults.len(), 20);
    assert_eq!(database.host("b").unwrap().unwrap().faults.len(), 0);
    database
        .sql
        .execute("UPDATE gaps SET explained = 1 WHERE last_seq % 2 = 0", &[])
        .unwrap();
    database
        .retain(nanos(at(0)).div_euclid(DAY_NS) + 2)
        .unwrap();
    assert_eq!(count(&mut database, "count(*) FROM faults"), 0);
    assert!(count(&mut database, "count(*) FROM gaps") < 100);
    assert_eq!(count(&mut database, "max(explained) FROM gaps"), 0);
}
