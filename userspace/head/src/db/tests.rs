use gtrace_event::{FailureClass, IncidentState, Record, Severity};
use gtrace_fleet::Metric;
use gtrace_fleet::remedy::{Order, Step};

use super::bounds::{INCIDENTS_DROPPED, INCIDENTS_MAX, RECORDS_DROPPED, RECORDS_MAX};
use super::remediation::tests::turn;
use super::tallies::changes;
use super::testing::{amendment, bare_state, first_batch, incident, put_first, with_hosts, xid};
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
    assert_eq!(database.exposed_anew(&Unit::Gpu), []);
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

#[test]
fn requests_have_numbers_of_their_own_and_end_with_their_plan() {
    let (_dir, mut database) = with_hosts(&["a"]);
    let now = Timestamp::now();
    let later = now + jiff::SignedDuration::from_hours(24 * 40);
    let new = |key: Option<&str>, order: Option<Order>| NewRequest {
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
    let order = Order {
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
    let batch = first_batch(0, bodies, now);
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
    let names = ["a", "b", "c"];
    let (_dir, mut database) = with_hosts(&names);
    let at = |s: i64| Timestamp::from_second(1_780_000_000 + s).unwrap();
    for (host, name) in names.iter().enumerate() {
        let bodies = (1..=20).map(|n| {
            let time = at(10 * n + host as i64);
            let event = xid(time, Severity::Critical, &format!("{name} {n}"));
            serde_json::to_string(&Record::Event(Box::new(event))).unwrap()
        });
        let arrived = first_batch(host as i64, bodies, at(300));
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
fn states_are_read_of_those_hosts_that_are_wanted() {
    let (_dir, mut database) = with_hosts(&["a", "b"]);
    let state = r#"{"time":"2026-01-01T00:00:00Z","version":"1"}"#;
    let update = "UPDATE hosts SET state = $1, machine_id = 'm' || name";
    database.sql.execute(update, &[state.into()]).unwrap();
    let rows = database.hosts_with_states(|name| name == "b").unwrap();
    let have: Vec<bool> = rows.iter().map(|row| row.state.is_some()).collect();
    assert_eq!(have, [false, true]);
    assert!(database.hosts().unwrap()[0].state.is_some());
    assert_eq!(database.machines().unwrap()["a"], "ma");
}

#[test]
fn amendments_that_raise_no_severity_hide_no_severe_event() {
    let (_dir, mut database) = with_hosts(&["a"]);
    let at = |s: i64| Timestamp::from_second(1_780_000_000 + s).unwrap();
    let mut records = Vec::new();
    for n in 0..5_003 {
        let (severity, later) = match n {
            0 => (Severity::Critical, Severity::Critical),
            1 => (Severity::Info, Severity::Critical),
            _ => (Severity::Info, Severity::Info),
        };
        let event = xid(at(n), severity, &n.to_string());
        let amended = amendment(&event, later);
        records.extend([Record::Event(Box::new(event)), amended]);
    }
    put_first(&mut database, 0, &records, at(6_000));
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
fn what_came_on_the_day_before_by_another_heads_clock_changes_an_event() {
    let (_dir, mut database) = with_hosts(&["a"]);
    let noon = |day: i64| time_of(day * DAY_NS + DAY_NS / 2);
    let event = xid(noon(20_000), Severity::Info, "Xid 79");
    let raised = amendment(&event, Severity::Critical);
    let bodies = [Record::Event(Box::new(event)), raised]
        .map(|record| serde_json::to_string(&record).unwrap());
    let Arrived { batch, .. } = first_batch(0, bodies, noon(20_000));
    let mut after = None;
    for (one, day) in batch.records.into_iter().zip([20_000, 19_999]) {
        put_next(&mut database, &mut after, 2, vec![one], noon(day));
    }
    for severity in [Some(Severity::Critical), None] {
        let query = EventQuery {
            severity,
            limit: 1,
            ..EventQuery::default()
        };
        let found = database.events(&query).unwrap();
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].event.severity, Severity::Critical);
    }
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
    let kept = database.number("SELECT max(failed) FROM process_ends WHERE since_ns > 2");
    assert_eq!(kept, 1_000_000_000);
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
    let batches = [(2, 3), (0, 1), (1, 2)].map(|(host, n)| first_batch(host, vec!["{}"; n], now));
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
fn the_audit_has_what_was_done_and_of_a_year_or_of_as_long_as_records_are_kept() {
    let (_dir, mut database) = with_hosts(&["a"]);
    let now = Timestamp::now();
    assert!(!database.revoke("nobody", "x", now).unwrap());
    assert!(database.audit(9).unwrap().is_empty());
    assert!(database.revoke("a", "x", now).unwrap());
    let today = nanos(now).div_euclid(DAY_NS);
    for days in [364_i64, 366] {
        let line = "INSERT INTO audit VALUES ($1, 'x', $2)";
        let values = [(nanos(now) - days * DAY_NS).into(), days.into()];
        database.sql.execute(line, &values).unwrap();
    }
    let mut kept = |days: i64| {
        database.retain(today - days).unwrap();
        database.audit(9).unwrap().len()
    };
    assert_eq!(kept(400), 3);
    assert_eq!(kept(30), 2);
}

/// Takes records of the host 0 that follow `after`, which is the last of them then.
fn put_next(
    database: &mut Database,
    after: &mut Option<gtrace_fleet::Position>,
    tip: u64,
    records: Vec<gtrace_fleet::Carried>,
    seen: Timestamp,
) {
    let (count, host) = (records.len(), 0);
    let last = records.last().map(gtrace_fleet::Carried::position);
    let after = std::mem::replace(after, last);
    let batch = gtrace_fleet::Batch {
        after,
        tip,
        records,
    };
    let arrived = Arrived { host, batch, seen };
    assert_eq!(database.ingest(seen, &[arrived]).unwrap()[0].taken, count);
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
        put_next(
            &mut database,
            &mut after,
            9,
            vec![one],
            day(20_000 + of_day),
        );
    }
    let others = first_batch(1, ["{}"], day(20_009));
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
        put_next(&mut database, &mut after, seq, records, at(seq as i64));
    }
    for (what, wanted) in [
        ("count(*) FROM epochs", 4100),
        ("max(n) FROM epochs", 4400),
        ("count(*) FROM gaps", 100),
        ("max(last_seq) FROM gaps", seq as i64 - 1),
        // Sixteen of each batch.
        ("count(*) FROM faults", 112),
    ] {
        assert_eq!(database.number(&format!("SELECT {what}")), wanted, "{what}");
    }
    assert_eq!(database.host("a").unwrap().unwrap().faults.len(), 20);
    assert_eq!(database.host("b").unwrap().unwrap().faults.len(), 0);
    let explained = "UPDATE gaps SET explained = 1 WHERE last_seq % 2 = 0";
    database.sql.batch(explained).unwrap();
    let day = nanos(at(0)).div_euclid(DAY_NS) + 2;
    database.retain(day).unwrap();
    assert_eq!(database.number("SELECT count(*) FROM faults"), 0);
    assert!(database.number("SELECT count(*) FROM gaps") < 100);
    assert_eq!(database.number("SELECT max(explained) FROM gaps"), 0);
}

#[test]
fn an_incident_ends_though_its_host_lost_the_newest_of_it_in_a_power_cut() {
    let (_dir, mut database) = with_hosts(&["a"]);
    let now = Timestamp::now();
    let first = incident(now, FailureClass::Pcie, &[]);
    let record = |revision: u32, state: IncidentState| {
        let one = gtrace_event::Incident {
            revision,
            state,
            ..first.clone()
        };
        serde_json::to_string(&Record::Incident(Box::new(one))).unwrap()
    };
    // The second is of a storm, and was taken before the host's disk had it.
    let bodies = [
        record(0, IncidentState::Open),
        record(9000, IncidentState::Open),
    ];
    let arrived = first_batch(0, bodies, now);
    let left = arrived.batch.records[0].position();
    database.ingest(now, &[arrived]).unwrap();
    let open = IncidentQuery {
        unresolved: true,
        limit: 9,
        ..IncidentQuery::default()
    };
    assert_eq!(database.incidents(&open).unwrap().len(), 1);
    let epoch = gtrace_event::Epoch::from_bytes([99; 16]);
    let next = gtrace_fleet::Carried::new(epoch, 2, left.hash, record(1, IncidentState::Resolved));
    put_next(&mut database, &mut Some(left), 2, vec![next], now);
    assert!(database.incidents(&open).unwrap().is_empty());
    assert_eq!(database.host("a").unwrap().unwrap().forks, 1);
}

#[test]
fn incidents_of_a_host_are_bounded_and_take_no_other_hosts() {
    let (_dir, mut database) = with_hosts(&["a", "b"]);
    let now = Timestamp::now();
    // Those that nobody resolves, all of one time.
    let many = format!(
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {INCIDENTS_MAX}) \
         INSERT INTO incidents SELECT 0, printf('%06d', i), 1, 7, {}, 'open', 'pcie', 0, '', 0 FROM n",
        nanos(now)
    );
    database.sql.execute(&many, &[]).unwrap();
    let other = "INSERT INTO incidents VALUES (1, 'other', 1, 0, 0, 'open', 'pcie', 0, '', 0)";
    database.sql.execute(other, &[]).unwrap();
    // The clock of the host is behind; then it is set.
    let bodies = [time_of(1_000_000_000), now].map(|opened| {
        let one = incident(opened, FailureClass::Pcie, &[]);
        serde_json::to_string(&Record::Incident(Box::new(one))).unwrap()
    });
    let Arrived { batch, .. } = first_batch(0, bodies, now);
    let mut after = None;
    for one in batch.records {
        put_next(&mut database, &mut after, 2, vec![one], now);
    }
    let mut count =
        |which: &str| database.number(&format!("SELECT count(*) FROM incidents WHERE {which}"));
    let kept = INCIDENTS_MAX - INCIDENTS_DROPPED;
    assert_eq!(count("host = 0"), kept + 1);
    assert_eq!(count("host = 0 AND changed > 0"), 2);
    assert_eq!(count("id = '001001'"), 0);
    assert_eq!(count("id = '001002' OR id = 'other'"), 2);
    // What is counted from them is read anew once for so many.
    let (_, removals) = changes(database.sql.as_mut()).unwrap();
    assert_eq!(removals, 1);
}

#[test]
fn records_of_a_host_are_bounded_and_take_no_other_hosts() {
    let (_dir, mut database) = with_hosts(&["a", "b"]);
    let now = Timestamp::now();
    let yesterday = now - jiff::SignedDuration::from_hours(24);
    let bodies = |n: usize| vec!["{}"; n];
    let Arrived { batch, .. } = first_batch(0, bodies(4), now);
    let mut records = batch.records;
    let last = records.pop().unwrap();
    let after = records.last().map(gtrace_fleet::Carried::position);
    let of = |after, records| Arrived {
        host: 0,
        batch: gtrace_fleet::Batch {
            after,
            tip: 4,
            records,
        },
        seen: now,
    };
    let first = [of(None, records), first_batch(1, bodies(2), now)];
    database.ingest(yesterday, &first).unwrap();
    // As after millions of others.
    let table = database.tables().unwrap().remove(0);
    let (moved, before) = (RECORDS_DROPPED - 2, RECORDS_MAX + RECORDS_DROPPED - 1);
    for change in [
        format!("UPDATE {table} SET n = n + {moved} WHERE host = 0"),
        format!("UPDATE hosts SET taken = {before} WHERE id = 0"),
    ] {
        database.sql.execute(&change, &[]).unwrap();
    }
    let taken = database.ingest(now, &[of(after, vec![last])]).unwrap();
    assert_eq!(taken[0].taken, 1);
    let tables = database.tables().unwrap();
    assert_eq!(tables.len(), 2);
    let mut kept = |host: i64| -> Vec<i64> {
        let mut kept = Vec::new();
        for table in &tables {
            let of_host = format!("SELECT n FROM {table} WHERE host = $1 ORDER BY n");
            let rows = database.sql.rows(&of_host, &[host.into()]).unwrap();
            kept.extend(rows.iter().map(|row| row[0].int()));
        }
        kept
    };
    assert_eq!(
        kept(0),
        [RECORDS_DROPPED + 1, RECORDS_MAX + RECORDS_DROPPED]
    );
    assert_eq!(kept(1), [1, 2]);
}

#[test]
fn what_goes_of_far_too_many_records_leaves_no_hole() {
    let (_dir, mut database) = with_hosts(&["a", "b"]);
    let now = Timestamp::now();
    let yesterday = now - jiff::SignedDuration::from_hours(24);
    let bodies = |n: usize| vec!["{}"; n];
    for (host, n, day) in [(0, 2, yesterday), (1, 1, now)] {
        let batch = first_batch(host, bodies(n), now);
        database.ingest(day, &[batch]).unwrap();
    }
    // As of one host, and of those between that there are others.
    let tables = database.tables().unwrap();
    let [old, new] = tables.as_slice() else {
        panic!("{tables:?}");
    };
    for change in [
        format!("UPDATE {old} SET n = 60000 WHERE n = 2"),
        format!("UPDATE {new} SET host = 0, n = 60001"),
    ] {
        database.sql.execute(&change, &[]).unwrap();
    }
    let last = RECORDS_MAX + 100_000;
    let took = notes::Took {
        host: 0,
        first: last,
        last,
    };
    for kept in [2, 0] {
        bounds::records(database.sql.as_mut(), &took).unwrap();
        let count = format!(
            "SELECT (SELECT count(*) FROM {old} WHERE host = 0) + (SELECT count(*) FROM {new} WHERE host = 0)"
        );
        assert_eq!(database.number(&count), kept);
    }
}

#[test]
fn nothing_is_taken_while_the_file_is_not_at_its_place() {
    let (dir, mut database) = with_hosts(&["a"]);
    let [path, aside] = ["fleet.db", "aside"].map(|name| dir.path().join(name));
    std::fs::rename(&path, &aside).unwrap();
    let now = Timestamp::now();
    let batch = || [first_batch(0, ["{}"], now)];
    database.ingest(now, &batch()).unwrap_err();
    std::fs::rename(&aside, &path).unwrap();
    assert_eq!(database.ingest(now, &batch()).unwrap()[0].taken, 1);
}

#[test]
fn what_shows_that_the_database_takes_something_is_written_each_time() {
    let (dir, mut database) = with_hosts(&[]);
    let other = rusqlite::Connection::open(dir.path().join("fleet.db")).unwrap();
    let version = || {
        let version = other.query_row("PRAGMA data_version", [], |row| row.get::<_, i64>(0));
        version.unwrap()
    };
    for _ in 0..2 {
        let before = version();
        database.touch().unwrap();
        assert_ne!(version(), before);
    }
}
