//! Streams of records.

use super::*;

#[test]
fn history_then_live_has_every_record_once_while_others_publish() {
    let daemon = Daemon::start();
    let core = daemon.core();
    let publisher = std::thread::spawn(move || {
        let mut known: Vec<Event> = Vec::new();
        for round in 0..400 {
            let mut records = Vec::new();
            if let Some(event) = known.get_mut(round / 3) {
                let (record, new) = repeat(event);
                *event = new.clone();
                records.push((record, new));
            }
            let event = xid("0000:3b:00.0", 13, Severity::Warning, HOUR);
            records.push((Record::Event(Box::new(event.clone())), event.clone()));
            known.push(event);
            core.publish(&records);
        }
        let last = event(Kind::SourceLost, Severity::Info, HOUR, "the end");
        core.publish(&[(Record::Event(Box::new(last.clone())), last)]);
        known
    });
    let readers: Vec<_> = (0..6)
        .map(|_| {
            let client = daemon.client();
            std::thread::spawn(move || {
                // Connections of a few live records first: each one's history ends at another
                // moment of the publishing.
                while !read_on(&client, 3).1 {}
                read_on(&client, usize::MAX).0
            })
        })
        .collect();
    let known = publisher.join().unwrap();
    for reader in readers {
        let revisions = reader.join().unwrap();
        assert_eq!(revisions.len(), known.len());
        for event in &known {
            assert_eq!(revisions[&event.id], event.revision);
        }
    }
}

/// Reads history and so many live records, or up to the event that says the end (true), and
/// checks that each event comes once and its revisions without a gap.
fn read_on(client: &Client, mut live: usize) -> (HashMap<EventId, u32>, bool) {
    let target = "/api/v1/events/stream?since=2026-03-03T00:00:00Z";
    let mut stream = client.stream(target, None).unwrap();
    let mut revisions: HashMap<EventId, u32> = HashMap::new();
    let mut is_live = false;
    while live > 0 {
        let message = stream.next_message().unwrap().unwrap();
        if message.event.is_empty() {
            is_live = true;
            continue;
        }
        let published: Published = serde_json::from_str(&message.data).unwrap();
        live -= usize::from(is_live);
        let event = published.event;
        if event.kind == Kind::SourceLost {
            return (revisions, true);
        }
        match published.change {
            None => {
                let before = revisions.insert(event.id, event.revision);
                assert_eq!(before, None, "the same event twice");
            }
            Some(EventChange::Amendment(amendment)) => {
                let revision = revisions.get_mut(&event.id).unwrap();
                assert_eq!(amendment.revision, *revision + 1, "a gap or a repeat");
                *revision = amendment.revision;
            }
            Some(EventChange::Ack(_)) => unreachable!(),
        }
    }
    (revisions, false)
}

#[test]
fn a_reader_that_lags_is_caught_up_from_the_store() {
    // It may take its time to publish all that.
    let limits = Limits {
        stall: Duration::from_secs(3600),
        ..Limits::default()
    };
    let daemon = Daemon::start_with(tempfile::tempdir().unwrap(), limits);
    let mut stream = daemon
        .client()
        .stream("/api/v1/events/stream", None)
        .unwrap();
    wait_until_live(&mut stream);
    // More than the live channel and the socket's buffers hold together.
    let count = 20_000;
    for _ in 0..count / 500 {
        let event = event(Kind::Xid, Severity::Warning, HOUR, "NVRM: Xid");
        let record = (Record::Event(Box::new(event.clone())), event);
        daemon.core().publish(&vec![record; 500]);
    }
    for seq in 1..=count {
        assert_eq!(next_published(&mut stream).seq, Some(seq));
    }
}

#[test]
fn a_stream_resumes_after_the_last_id_and_reports_what_is_gone() {
    let daemon = Daemon::start();
    let mut event = xid("0000:3b:00.0", 13, Severity::Warning, HOUR);
    daemon.publish_event(&event);
    for _ in 0..4 {
        let (record, new) = repeat(&event);
        daemon.core().publish(&[(record, new.clone())]);
        event = new;
    }
    let client = daemon.client();
    let mut stream = client
        .stream("/api/v1/events/stream?since=1h", Some("2"))
        .unwrap();
    for seq in 3..=5 {
        let published = next_published(&mut stream);
        assert_eq!(published.seq, Some(seq));
        let id = published.id.unwrap().to_string();
        assert_eq!(stream.last_id(), Some(id.as_str()));
    }
    // The store was replaced by a younger one.
    let mut stream = client.stream("/api/v1/events/stream", Some("900")).unwrap();
    let (name, data) = next(&mut stream);
    assert_eq!(name, "gap");
    let gap: Gap = serde_json::from_str(&data).unwrap();
    assert!(gap.reason.contains("after record 5"), "{}", gap.reason);
    wait_until_live(&mut stream);
    daemon.publish_event(&xid("0000:3b:00.0", 79, Severity::Fatal, HOUR));
    assert_eq!(next_published(&mut stream).seq, Some(6));
}

#[test]
fn who_saw_records_that_a_power_cut_took_gets_those_that_have_their_numbers_now() {
    let publish = |daemon: &Daemon, count| {
        for _ in 0..count {
            daemon.publish_event(&xid("0000:3b:00.0", 13, Severity::Warning, HOUR));
        }
    };
    let backup = tempfile::tempdir().unwrap();
    let copy = |from: &std::path::Path, to: &std::path::Path| {
        for file in ["store.db", "store.db-wal"] {
            let _ = std::fs::remove_file(to.join(file));
            if from.join(file).exists() {
                std::fs::copy(from.join(file), to.join(file)).unwrap();
            }
        }
    };
    let daemon = Daemon::start();
    let target = "/api/v1/events/stream";
    let mut stream = daemon.client().stream(target, Some("0")).unwrap();
    publish(&daemon, 3);
    copy(daemon.dir.path(), backup.path());
    publish(&daemon, 2);
    let seen: Vec<_> = (0..5).map(|_| next_published(&mut stream).id).collect();
    let last_id = stream.last_id().unwrap().to_owned();
    let dir = daemon.stop();
    copy(backup.path(), dir.path());

    let daemon = Daemon::start_in(dir);
    publish(&daemon, 4);
    let after = format!("{target}?after={last_id}");
    let mut stream = daemon.client().stream(&after, None).unwrap();
    let (name, data) = next(&mut stream);
    assert_eq!(name, "gap");
    assert!(data.contains("newest 2 records"), "{data}");
    for seq in 4..=7 {
        let published = next_published(&mut stream);
        assert_eq!(published.seq, Some(seq));
        assert!(!seen.contains(&published.id), "{published:?}");
    }
    let last_id = stream.last_id().unwrap().to_owned();

    // A store of its own begins: nothing of it was seen yet.
    let dir = daemon.stop();
    std::fs::remove_file(dir.path().join("store.db")).unwrap();
    let daemon = Daemon::start_in(dir);
    publish(&daemon, 2);
    let mut stream = daemon.client().stream(target, Some(&last_id)).unwrap();
    let (name, data) = next(&mut stream);
    assert_eq!(name, "gap");
    assert!(data.contains("none of this store"), "{data}");
    for seq in 1..=2 {
        assert_eq!(next_published(&mut stream).seq, Some(seq));
    }
}

#[test]
fn nobody_resumes_from_a_record_that_the_store_has_not_taken() {
    let daemon = Daemon::start();
    daemon.publish_event(&xid("0000:3b:00.0", 13, Severity::Warning, HOUR));
    let target = "/api/v1/events/stream";
    let mut early = daemon.client().stream(target, Some("0")).unwrap();
    let id = next_published(&mut early).id.unwrap().to_string();
    let waiting = xid("0000:3b:00.0", 79, Severity::Fatal, HOUR);
    let provisional = Published::provisional(None, waiting.clone());
    daemon.hub.publish_provisional(provisional.into(), true);
    let mut late = daemon.client().stream(target, None).unwrap();
    for stream in [&mut early, &mut late] {
        let (name, data) = next(stream);
        assert_eq!(name, "provisional");
        let published: Published = serde_json::from_str(&data).unwrap();
        assert!(published.provisional && published.seq.is_none());
        assert_eq!(published.event, waiting);
        assert_eq!(stream.last_id(), Some(id.as_str()));
    }
    daemon.publish_event(&waiting);
    for stream in [&mut early, &mut late] {
        let published = next_published(stream);
        assert!(!published.provisional);
        assert_eq!((published.seq, published.event), (Some(2), waiting.clone()));
    }
    let mut after = daemon.client().stream(target, Some("0")).unwrap();
    for seq in 1..=2 {
        assert_eq!(next_published(&mut after).seq, Some(seq));
    }
}

#[test]
fn a_stream_carries_only_what_matches_and_an_event_once_it_does() {
    let daemon = Daemon::start();
    let target = "/api/v1/events/stream?severity=critical&gpu=3b:00.0";
    let mut stream = daemon.client().stream(target, None).unwrap();
    wait_until_live(&mut stream);
    let mut event = xid("0000:3b:00.0", 13, Severity::Warning, HOUR);
    daemon.publish_event(&event);
    daemon.publish_event(&xid("0000:5e:00.0", 79, Severity::Fatal, HOUR));
    event.severity = Severity::Critical;
    let (record, event) = repeat(&event);
    daemon.core().publish(&[(record, event.clone())]);
    let published = next_published(&mut stream);
    assert_eq!((published.seq, published.event.id), (Some(3), event.id));
}

#[test]
fn stream_readers_are_limited_and_a_place_is_free_again_once_one_leaves() {
    let daemon = Daemon::start();
    let client = daemon.client();
    let open = || client.stream("/api/v1/events/stream", None);
    // One user gets half of them.
    let mut streams: Vec<_> = (0..MAX_STREAMS / 2).map(|_| open().unwrap()).collect();
    let (status, body) = refused(open().unwrap_err());
    assert_eq!(status, 429);
    assert!(body.contains("64 readers"), "{body}");
    let refused_streams = r#"gtrace_http_refused_total{listener="unix",reason="streams"}"#;
    assert_eq!(daemon.metric(refused_streams), Some(1.0));
    streams.pop();
    // The server sees the closed connection in its own time.
    while let Err(error) = open() {
        assert_eq!(refused(error).0, 429);
    }
}

#[test]
fn the_end_of_the_daemon_ends_its_streams_and_takes_the_socket_away() {
    let daemon = Daemon::start();
    let mut stream = daemon
        .client()
        .stream("/api/v1/events/stream", None)
        .unwrap();
    wait_until_live(&mut stream);
    let (ended, wait) = mpsc::channel();
    let reader = std::thread::spawn(move || {
        ended.send(stream.next_message().unwrap()).unwrap();
    });
    let client = daemon.client();
    let dir = daemon.stop();
    assert_eq!(wait.recv().unwrap(), None);
    reader.join().unwrap();
    assert!(!dir.path().join("socket").exists());
    assert!(matches!(
        client.get::<Value>("/healthz"),
        Err(ClientError::NoDaemon { .. })
    ));
}
