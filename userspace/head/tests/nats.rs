//! Agents and heads with the distribution's nats-server between them.
#![allow(missing_docs, clippy::unwrap_used, clippy::panic)]

mod support;

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use gtrace_agent::{Enrolled, NatsAccess};
use gtrace_event::HealthState;
use gtrace_fleet::nats::{
    CALL, GENERATION, HOST, HeadPosition, Key, Kind, LAST, NONCE, SIGNATURE, Subject,
};
use gtrace_head::db::{ChainReport, Place};
use gtrace_nats::async_nats::HeaderMap;
use gtrace_nats::async_nats::jetstream::message::PublishMessage;
use gtrace_nats::async_nats::jetstream::{self};
use gtrace_nats::{Access, POSITIONS, RECORDS};
use gtrace_tls::testing::{Authority, Dates};
use support::fleet::{Agent, Agents, Head, block, enrolled};
use support::nats::Servers;
use support::{Host, Postgres, wait_within};

fn is_long() -> bool {
    std::env::var_os("GTRACE_TEST_LONG").is_some()
}

fn start(access: &Access, hosts: &[Host], keys: &[Enrolled]) -> Agents {
    let of = |(host, key): (&Host, &Enrolled)| {
        let mut agent = Agent::new(host, key.clone(), "r7");
        agent.options.nats = Some(NatsAccess {
            access: access.clone(),
            site: "lab".to_owned(),
        });
        agent
    };
    Agents::start(hosts.iter().zip(keys).map(of).collect())
}

/// Every record of every host is there once, in its order.
fn all_there(head: &Head, agents: &Agents, hosts: &[Host]) {
    let began = Instant::now();
    let what = || {
        let of = |host: &Host| (host.name.clone(), host.store.last_seq());
        let tips: Vec<_> = hosts.iter().map(of).collect();
        let views = head.hosts();
        let there: Vec<_> = views.iter().map(|view| view.records).collect();
        format!(
            "the last records of {tips:?}: {there:?}, {:?}",
            agents.errors()
        )
    };
    wait_within(60, &what, || {
        let views = head.hosts();
        let there = |host: &Host| {
            let view = views.iter().find(|view| view.host == host.name)?;
            (view.records == host.store.last_seq()).then_some(())
        };
        hosts.iter().all(|host| there(host).is_some()).then_some(())
    });
    println!("all there after {:?}", began.elapsed());
    let reports: Vec<ChainReport> = head.client.get("/fleet/v1/verify").unwrap();
    assert!(reports.iter().all(ChainReport::is_whole), "{reports:?}");
    let views = head.hosts();
    let whole = views
        .iter()
        .all(|view| view.forks == 0 && view.unexplained_gaps == 0);
    assert!(whole, "{views:?}");
}

fn metric(head: &Head, name: &str) -> u64 {
    let text = head.client.get_text("/metrics").unwrap();
    let line = text.lines().find_map(|line| line.strip_prefix(name));
    line.unwrap().trim().parse().unwrap()
}

fn secret_file(dir: &Path, name: &str, text: &str) -> PathBuf {
    let file = dir.join(name);
    std::fs::write(&file, text).unwrap();
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600)).unwrap();
    file
}

/// A connection of somebody who may use the servers, and is no host.
async fn somebody(access: &Access) -> jetstream::Context {
    jetstream::new(access.connect("somebody").await.unwrap().client)
}

#[test]
fn records_come_once_through_a_server_that_is_killed_and_a_stream_that_loses() {
    // Messages so small that batches have to be split.
    // With the permissions that docs/fleet.md lists.
    let more = r#"max_payload: 8192
        authorization { users: [
            { user: head, password: "h3ad", permissions: {
                publish: ["gtrace.>", "$JS.API.>", "$JS.ACK.>", "_INBOX.>"], subscribe: ["gtrace.>", "_INBOX.>"] } }
            { user: host, password: "h:st", permissions: {
                publish: ["gtrace.lab.*.*", "$JS.API.STREAM.MSG.GET.>"], subscribe: ["gtrace.lab.*.position", "_INBOX.>"] } }
        ] }"#;
    let Some(mut servers) = Servers::start(1, more) else {
        return;
    };
    let dir = tempfile::tempdir().unwrap();
    let of_head = secret_file(dir.path(), "head", "head:h3ad\n");
    let of_hosts = secret_file(dir.path(), "host", "host:h:st\n");
    let access = servers.access(Some(of_hosts));
    let all = servers.access(Some(of_head.clone()));
    let wrong = servers.access(None);
    let refused = block(wrong.connect("nobody")).map(drop).unwrap_err();
    assert!(
        refused.to_string().contains("--nats-credentials"),
        "{refused}"
    );

    let database = Place::File(dir.path().join("fleet.db"));
    let through = servers.head(Some(of_head));
    let mut head = Head::through(dir.path(), &database, through.clone());
    let join = head.token(None, 2);
    let mut hosts = vec![
        Host::new(dir.path(), "a1"),
        Host::new(dir.path(), "a2.example.com"),
    ];
    let keys: Vec<Enrolled> = hosts
        .iter()
        .map(|host| enrolled(&head, &host.name, &join))
        .collect();
    hosts.iter_mut().for_each(|host| host.events(700));
    let agents = start(&access, &hosts, &keys);
    all_there(&head, &agents, &hosts);
    let view = wait_within(60, &|| "a state with a clock".to_owned(), || {
        let view = head.hosts().remove(0);
        view.clock.is_some().then_some(view)
    });
    assert_eq!(view.labels["rack"], "r7");
    assert_eq!(view.state, HealthState::Unknown);
    assert!(metric(&head, "gtrace_head_nats_messages_total ") > 8);

    // The server is killed while records come.
    hosts.iter_mut().for_each(|host| host.events(300));
    agents.wake();
    servers.kill(0);
    hosts.iter_mut().for_each(|host| host.events(20));
    servers.run(0);
    agents.wake();
    all_there(&head, &agents, &hosts);

    // Without a head the stream takes records; what it loses of them is asked for again.
    drop(head);
    let older = dir.path().join("older.db");
    rusqlite::Connection::open(dir.path().join("fleet.db"))
        .unwrap()
        .execute("VACUUM INTO ?1", [older.to_str().unwrap()])
        .unwrap();
    hosts[0].events(500);
    hosts[1].events(10);
    agents.caught_up(&hosts.iter().collect::<Vec<_>>());
    block(async {
        let jetstream = somebody(&all).await;
        let stream = jetstream.get_stream(RECORDS).await.unwrap();
        let delete = async |subject: &str| {
            let first = stream.get_first_raw_message_by_subject(subject, 1).await;
            let first = first.unwrap().sequence;
            assert!(stream.delete_message(first).await.unwrap());
        };
        // The first of several, so that others follow a gap; and the only one.
        delete("gtrace.lab.a1.records").await;
        let only = "gtrace.lab.a2~example~com.records";
        match is_long() {
            // After it nats-server 2.9 leaves out those of the other host too, which a head sees after some seconds.
            true => assert!(stream.purge().filter(only).await.unwrap().success),
            false => delete(only).await,
        }
    });
    head = Head::through(dir.path(), &database, through.clone());
    agents.wake();
    all_there(&head, &agents, &hosts);
    assert!(metric(&head, "gtrace_head_nats_missing_total ") >= 1);

    // An agent that starts anew goes on where the head is.
    drop(agents);
    hosts[0].events(5);
    let agents = start(&access, &hosts, &keys);
    all_there(&head, &agents, &hosts);
    nobody_in(&head, &all, &keys);
    // Both send what is new, and nothing from the beginning.
    let sent = agents.sent(0);
    hosts.iter_mut().for_each(|host| host.events(5));
    agents.wake();
    all_there(&head, &agents, &hosts);
    let sent = agents.sent(0) - sent;
    assert!(sent < 16_384, "{sent} bytes were sent again");

    // An older database is put back: hosts that have nothing new send what it lacks.
    drop(head);
    head = Head::through(dir.path(), &Place::File(older), through);
    wait_within(60, &|| format!("what was lost: {:?}", head.hosts()), || {
        // So that it is not the 10 s between two states.
        agents.wake();
        let there = |host: &Host| {
            let views = head.hosts();
            let view = views.iter().find(|view| view.host == host.name);
            view.is_some_and(|view| view.records == host.store.last_seq())
        };
        hosts.iter().all(there).then_some(())
    });
    all_there(&head, &agents, &hosts);
}

/// Who may use the servers writes in nobody's name, and is believed nothing.
fn nobody_in(head: &Head, access: &Access, keys: &[Enrolled]) {
    let removed = || metric(head, "gtrace_head_nats_removed_total ");
    let before = removed();
    let (number, secret) = gtrace_fleet::credential_parts(&keys[0].credential).unwrap();
    let own = Key::of_secret(secret);
    let subject = |host: &str, kind| {
        let (site, host) = ("lab".to_owned(), host.to_owned());
        Subject { site, host, kind }.to_string()
    };
    block(async {
        let jetstream = somebody(access).await;
        let batch = |subject: String, key: &Key, body: &'static [u8]| {
            let parts: [&[u8]; 5] = [b"records", subject.as_bytes(), b"r", b"l", body];
            let message = PublishMessage::build()
                .header(HOST, number.to_string())
                .header(SIGNATURE, key.sign(&parts).to_string())
                .header(GENERATION, "r")
                .header(LAST, "l")
                .payload(body.into());
            jetstream.send_publish(subject, message)
        };
        for sent in [
            // Of nobody; of another host's name; no batch.
            batch(subject("a1", Kind::Records), &Key::of_secret("x"), b"x"),
            batch(subject("a2.example.com", Kind::Records), &own, b"x"),
            batch(subject("a1", Kind::Records), &own, b"not zstd"),
        ] {
            sent.await.unwrap().await.unwrap();
        }
        // A position that no head wrote: the agent would go on from the beginning.
        let reported = serde_json::to_vec(&HeadPosition::default()).unwrap();
        let message = PublishMessage::build()
            .header(
                SIGNATURE,
                Key::of_secret("x").sign(&[&reported]).to_string(),
            )
            .payload(reported.into());
        let sent = jetstream
            .send_publish(subject("a1", Kind::Position), message)
            .await;
        sent.unwrap().await.unwrap();
        // A host has the head answer, without a body, what would remove the states of all hosts.
        let subject = subject("a1", Kind::Call);
        let parts: [&[u8]; 5] = [b"call", subject.as_bytes(), b"n", b"nothing", b""];
        let mut headers = HeaderMap::new();
        headers.insert(HOST, number.to_string());
        headers.insert(SIGNATURE, own.sign(&parts).to_string());
        headers.insert(NONCE, "n");
        headers.insert(CALL, "nothing");
        let client = access.connect("a host").await.unwrap().client;
        let reply = "$JS.API.STREAM.PURGE.GTRACE_STATES";
        let sent = client
            .publish_with_reply_and_headers(subject, reply, headers, "".into())
            .await;
        sent.unwrap();
        client.flush().await.unwrap();
    });
    wait_within(60, &|| "the removal of four messages".to_owned(), || {
        (removed() == before + 4).then_some(())
    });
}

#[test]
fn heads_of_one_database_share_the_work_and_a_cluster_loses_servers() {
    // A cluster takes 20 s to agree on the leaders of its streams and consumers.
    let count = if is_long() { 3 } else { 1 };
    // Messages so small that a backlog is of many.
    let more = "max_payload: 8192\n authorization { token: s3cret }";
    let (Some(postgres), Some(mut servers)) = (Postgres::start(), Servers::start(count, more))
    else {
        return;
    };
    let dir = tempfile::tempdir().unwrap();
    let second = tempfile::tempdir().unwrap();
    let token = secret_file(dir.path(), "token", "s3cret\n");
    let place = postgres.place();
    let start_heads = |servers: &Servers| {
        [dir.path(), second.path()]
            .map(|dir| Head::through(dir, &place, servers.head(Some(token.clone()))))
    };
    let heads = start_heads(&servers);
    let join = heads[0].token(None, 4);
    let mut hosts: Vec<Host> = (0..4)
        .map(|n| Host::new(dir.path(), &format!("h{n}")))
        .collect();
    let keys: Vec<Enrolled> = hosts
        .iter()
        .map(|host| enrolled(&heads[0], &host.name, &join))
        .collect();
    let access = servers.access(Some(token.clone()));
    // Agents would wait longer each time before there are streams.
    block(async {
        let jetstream = somebody(&access).await;
        while jetstream.get_stream(POSITIONS).await.is_err() {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    });
    let agents = start(&access, &hosts, &keys);
    let more = |hosts: &mut [Host]| {
        for _ in 0..4 {
            hosts.iter_mut().for_each(|host| host.events(150));
            agents.wake();
            std::thread::sleep(Duration::from_millis(10));
        }
    };
    more(&mut hosts);
    all_there(&heads[1], &agents, &hosts);
    // Both take turns with what one host has sent meanwhile, and neither takes what the other has for missing.
    drop(heads);
    hosts[0].events(250);
    agents.caught_up(&hosts.iter().collect::<Vec<_>>());
    let heads = start_heads(&servers);
    all_there(&heads[1], &agents, &hosts);
    let missing = |head: &Head| metric(head, "gtrace_head_nats_missing_total ");
    assert_eq!(heads.each_ref().map(missing), [0, 0]);
    // After each, those that are left have to agree on leaders, for some seconds.
    let kills = if is_long() { 6 } else { 0 };
    for killed in (0..kills).map(|n| n % 3) {
        more(&mut hosts);
        servers.kill(killed);
        hosts.iter_mut().for_each(|host| host.events(20));
        agents.wake();
        all_there(&heads[1], &agents, &hosts);
        servers.run(killed);
    }
    let taken = || {
        heads
            .each_ref()
            .map(|head| metric(head, "gtrace_head_nats_messages_total "))
    };
    wait_within(60, &|| format!("work for each head: {:?}", taken()), || {
        more(&mut hosts);
        taken().iter().all(|n| *n > 0).then_some(())
    });
    all_there(&heads[0], &agents, &hosts);
}

/// What nats-server is configured with to show a certificate, and to want one of this authority where there is one.
fn tls_of((certificate, key): &(PathBuf, PathBuf), clients: Option<&Authority>) -> String {
    let of_clients = clients.map_or(String::new(), |authority| {
        format!("ca_file: {:?}, verify: true", authority.ca())
    });
    format!("tls {{ cert_file: {certificate:?}, key_file: {key:?}, {of_clients} }}")
}

#[test]
fn servers_with_tls_take_who_shows_a_certificate_and_others_learn_why() {
    let dir = tempfile::tempdir().unwrap();
    let [own, other] = ["own", "other"].map(|name| {
        let folder = dir.path().join(name);
        std::fs::create_dir(&folder).unwrap();
        Authority::new(&folder)
    });
    let server = own.issue("server", 1, Dates::Good);
    let Some(servers) = Servers::start(1, &tls_of(&server, Some(&own))) else {
        return;
    };
    let over_tls = |servers: &Servers, authority: &Authority, identity: Option<_>| Access {
        url: servers.url().replace("nats:", "tls:").parse().unwrap(),
        credentials: None,
        ca: Some(authority.ca()),
        identity,
    };

    let database = Place::File(dir.path().join("fleet.db"));
    let mut through = servers.head(None);
    through.access = over_tls(&servers, &own, Some(own.issue("head", 2, Dates::Good)));
    let head = Head::through(dir.path(), &database, through);
    let mut hosts = vec![Host::new(dir.path(), "a1")];
    let keys = [enrolled(&head, "a1", &head.token(None, 1))];
    hosts[0].events(20);
    let access = over_tls(&servers, &own, Some(own.issue("host", 3, Dates::Good)));
    let agents = start(&access, &hosts, &keys);
    all_there(&head, &agents, &hosts);

    let old = Servers::start(1, &tls_of(&own.issue("old", 4, Dates::Expired), None)).unwrap();
    let plain = Servers::start(1, "").unwrap();
    let good = access.identity.clone();
    let expired = Some(own.issue("expired", 5, Dates::Expired));
    let of_another = Some(other.issue("stranger", 6, Dates::Good));
    let no_file = Access {
        ca: None,
        ..access.clone()
    };
    // The URL alone would go without TLS: these are servers of this host.
    let by_file = Access {
        url: servers.url().parse().unwrap(),
        ..over_tls(&servers, &other, None)
    };
    for (access, cause, remedy) in [
        (
            over_tls(&servers, &other, good.clone()),
            "no authority in",
            "--nats-ca",
        ),
        (by_file, "no authority in", "--nats-ca"),
        (no_file, "authorit", "--nats-ca"),
        (
            over_tls(&servers, &own, None),
            "want a certificate of this client",
            "--nats-cert and",
        ),
        (
            over_tls(&servers, &own, expired),
            "certificate, which expired at 2001-01-01",
            "issued anew",
        ),
        (
            over_tls(&servers, &own, of_another),
            "this client's certificate",
            "issued anew",
        ),
        (
            over_tls(&old, &own, None),
            "expired at 2001-01-01",
            "renew it",
        ),
        (over_tls(&plain, &own, good), "do not speak TLS", "tls {}"),
    ] {
        let refused = block(access.connect("somebody")).map(drop).unwrap_err();
        let said = refused.to_string();
        println!("{said}");
        assert!(said.contains(cause) && said.contains(remedy), "{said}");
        assert_eq!(said.lines().count(), 1, "{said}");
    }
}
