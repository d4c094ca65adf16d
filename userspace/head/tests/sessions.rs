//! Profiling sessions over real agents and a real head: one clock, restarts, gaps, and gswarm-profiler's routes.
#![allow(missing_docs, clippy::unwrap_used, clippy::panic)]

#[path = "support/clocks.rs"]
mod clocks;
mod support;

use std::io::{Read as _, Write as _};
use std::time::Duration;

use clocks::Skewed;
use gtrace_agent::now_ns;
use gtrace_fleet::{GapFinder, HostFrame, Metric, slot_begin};
use gtrace_head::db::{Frame, Place, Session};
use gtrace_head::{By, FramesPage, SessionHost, SessionRequest, SessionView};
use support::fleet::{Agent, Agents, Head, enrolled};
use support::{Host, Postgres, wait_for};

const MS: i64 = 1_000_000;

fn agent(host: &Host, key: &gtrace_agent::Enrolled, rack: &str, clock: Skewed) -> Agents {
    let mut agent = Agent::new(host, key.clone(), rack);
    agent.sampler = clock.give(&mut agent.options);
    Agents::start(vec![agent])
}

fn view(head: &Head, name: &str) -> SessionView {
    let path = format!("/fleet/v1/sessions/{name}");
    head.client.get(&path).unwrap()
}

fn of<'a>(view: &'a SessionView, host: &str) -> &'a SessionHost {
    view.hosts.iter().find(|h| h.host == host).unwrap()
}

/// Waits until the host has so many frames more than it has now.
fn more(head: &Head, session: &str, host: &str, frames: u64) {
    let before = of(&view(head, session), host).frames;
    wait_for(host, 60, || {
        (of(&view(head, session), host).frames >= before + frames).then_some(())
    });
}

fn all_frames(head: &Head, name: &str) -> Vec<Frame> {
    let (mut all, mut next) = (Vec::new(), String::new());
    loop {
        let path = format!("/fleet/v1/sessions/{name}/frames?limit=7{next}");
        let page: FramesPage = head.client.get(&path).unwrap();
        all.extend(page.frames);
        match page.next {
            Some(after) => next = format!("&after={after}"),
            None => return all,
        }
    }
}

fn sessions(database: &Place) {
    let dir = tempfile::tempdir().unwrap();
    let mut head = Head::start(dir.path(), database, "127.0.0.1:0");
    let token = head.token(None, 4);
    let began = now_ns();
    let clock = |offset, ppm| Skewed { began, offset, ppm };
    let (right, wrong) = (clock(0, 0), clock(-3_700 * MS, 60));
    let names = ["a", "b", "c", "d"];
    let hosts: Vec<Host> = names.iter().map(|n| Host::new(dir.path(), n)).collect();
    let keys: Vec<_> = names.iter().map(|n| enrolled(&head, n, &token)).collect();
    let start = |n: usize, rack, clock| agent(&hosts[n], &keys[n], rack, clock);
    let _a = start(0, "r1", right);
    let mut b = Some(start(1, "r1", wrong));
    // One that does not permit it, and one of another rack.
    let mut forbidden = Agent::new(&hosts[2], keys[2].clone(), "r1");
    forbidden.options.allow_sessions = false;
    forbidden.sampler = right.give(&mut forbidden.options);
    let _c = Agents::start(vec![forbidden]);
    let _d = start(3, "r2", right);
    wait_for("states", 60, || {
        let labelled = |h: &gtrace_head::HostView| !h.labels.is_empty();
        head.hosts().iter().all(labelled).then_some(())
    });

    let mut asked = SessionRequest {
        name: "run".to_owned(),
        hosts: vec!["rack=r1".to_owned()],
        interval_ms: 100,
        metrics: vec![Metric::Power],
        for_s: 60,
        by: "test".to_owned(),
    };
    let session: Session = head.client.post("/fleet/v1/sessions", &asked).unwrap();
    assert_eq!(session.hosts, ["a", "b", "c"]);
    let again = head.client.post::<Session>("/fleet/v1/sessions", &asked);
    assert!(again.unwrap_err().to_string().contains("is on"));
    asked.hosts = vec!["nobody*".to_owned()];
    asked.name = "other".to_owned();
    let none = head.client.post::<Session>("/fleet/v1/sessions", &asked);
    assert!(none.unwrap_err().to_string().contains("nobody*"));
    more(&head, "run", "a", 5);
    more(&head, "run", "b", 5);
    let problem = of(&view(&head, "run"), "c").problem.clone().unwrap();
    assert!(problem.contains("--allow-sessions"), "{problem}");

    // The head goes away and comes back: what was measured meanwhile is not lost. An agent that goes away leaves a gap.
    let address = head.url.strip_prefix("http://").unwrap().to_owned();
    drop(head);
    drop(b.take());
    std::thread::sleep(Duration::from_millis(300));
    head = Head::start(dir.path(), database, &address);
    b = Some(start(1, "r1", wrong));
    more(&head, "run", "b", 5);
    more(&head, "run", "a", 5);
    let by = By {
        by: "test".to_owned(),
    };
    let stopped: Session = head
        .client
        .post("/fleet/v1/sessions/run/stop", &by)
        .unwrap();
    let last = stopped
        .slots(stopped.started)
        .end
        .max(stopped.slots(stopped.stopped.unwrap()).end)
        - 1;
    // On a busy host a clock may be known so badly that its host does not reach the last intervals.
    let unsure = |frame: &HostFrame| (frame.error_ns + 50 * MS) / (100 * MS);
    let newest = |frames: &[Frame], host: &str| {
        let newest = frames.iter().rfind(|f| f.host == host);
        newest.unwrap().frame.clone()
    };
    let frames = wait_for("the last frames", 60, || {
        let frames = all_frames(&head, "run");
        let arrived = |host: &&str| {
            let frame = newest(&frames, host);
            last - frame.slot <= unsure(&frame)
        };
        ["a", "b"].iter().all(arrived).then_some(frames)
    });

    let gaps = |host: &str| -> Vec<i64> {
        let mut finder = GapFinder::new(stopped.slots(stopped.stopped.unwrap()));
        let of_host = frames.iter().filter(|f| f.host == host);
        let mut gaps: Vec<_> = of_host.filter_map(|f| finder.frame(f.frame.slot)).collect();
        // Before its first frame it did not know of the session yet.
        gaps.retain(|gap| gap.start != stopped.slots(stopped.started).start);
        let sure =
            |gap: &std::ops::Range<i64>| gap.end - gap.start > unsure(&newest(&frames, host));
        gaps.extend(finder.end().filter(sure));
        gaps.iter().map(|gap| gap.end - gap.start).collect()
    };
    assert_eq!(gaps("a"), Vec::<i64>::new(), "no frame of `a` is missing");
    let of_b = gaps("b");
    assert!(
        of_b.len() == 1 && of_b[0] >= 3,
        "the agent of `b` was away: {of_b:?}"
    );
    for Frame { host, frame } in &frames {
        let from = slot_begin(frame.slot, 100) - began;
        let mean = frame.gpus[0].power_w.unwrap() * MS as f64;
        let (from, until) = (from - frame.error_ns, from + 100 * MS + frame.error_ns);
        assert!(
            mean >= from as f64 && mean <= until as f64,
            "{host}: readings of {mean} ns in a frame of {from} to {until}"
        );
        assert!(frame.error_ns < 1_000 * MS, "{host}: {}", frame.error_ns);
        assert_eq!(frame.gpus[0].utilization, None, "nobody asked for it");
    }
    drop(b);
}

#[test]
fn sessions_over_the_embedded_database() {
    let dir = tempfile::tempdir().unwrap();
    sessions(&Place::File(dir.path().join("fleet.db")));
}

#[test]
fn sessions_over_postgresql() {
    if let Some(server) = Postgres::start() {
        sessions(&server.place());
    }
}

/// As `curl -X METHOD URL`, with further lines of the head.
fn curl(method: &str, url: &str, lines: &str) -> (u16, serde_json::Value) {
    let rest = url.strip_prefix("http://").unwrap();
    let (address, path) = rest.split_once('/').unwrap();
    let mut stream = std::net::TcpStream::connect(address).unwrap();
    let request = format!(
        "{method} /{path} HTTP/1.1\r\nHost: {address}\r\nUser-Agent: curl/8.5.0\r\nAccept: */*\r\nConnection: close\r\n{lines}\r\n"
    );
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    (status, serde_json::from_str(body).unwrap())
}

#[test]
fn gswarm_profilers_own_workflow() {
    let dir = tempfile::tempdir().unwrap();
    let database = Place::File(dir.path().join("fleet.db"));
    let head = Head::start(dir.path(), &database, "127.0.0.1:0");
    let token = head.token(None, 2);
    let right = Skewed {
        began: now_ns(),
        offset: 0,
        ppm: 0,
    };
    let hosts: Vec<Host> = ["m1", "m2"].map(|n| Host::new(dir.path(), n)).into();
    let _agents: Vec<Agents> = hosts
        .iter()
        .map(|host| agent(host, &enrolled(&head, &host.name, &token), "r1", right))
        .collect();
    let url = |path: &str| format!("{}{path}", head.gswarm);

    let (status, body) = curl("POST", &url("/stop"), "");
    assert_eq!(
        (status, &body["detail"]),
        (400, &"Profiling is not active.".into())
    );
    let (status, _) = curl("POST", &url("/start"), "Origin: http://example.com\r\n");
    assert_eq!(status, 403, "a page of another site");
    let (status, body) = curl("POST", &url("/start/my_profiling_data"), "");
    assert_eq!(
        (status, &body["output_file"]),
        (200, &"my_profiling_data.json".into())
    );
    let (status, body) = curl("POST", &url("/start"), "");
    assert_eq!(
        (status, &body["detail"]),
        (400, &"Profiling is already active.".into())
    );
    more(&head, "my_profiling_data", "m1", 3);
    more(&head, "my_profiling_data", "m2", 3);
    let (status, body) = curl("POST", &url("/stop"), "");
    assert_eq!(status, 200);
    assert!(
        body["message"]
            .as_str()
            .unwrap()
            .contains("my_profiling_data.json"),
        "{body}"
    );

    let text = std::fs::read(dir.path().join("my_profiling_data.json")).unwrap();
    let file: serde_json::Value = serde_json::from_slice(&text).unwrap();
    let frames = file["frames"].as_array().unwrap();
    assert!(frames.len() >= 3);
    let mut both = 0;
    for (n, frame) in frames.iter().enumerate() {
        assert_eq!(frame["frame_id"], n + 1);
        let ids = frame["gpu_id"].as_array().unwrap();
        both += usize::from(*ids == ["m1:0:true times", "m2:0:true times"]);
        let array = |name: &str, value: f64| {
            let all = frame[name].as_array().unwrap();
            assert!(
                all.len() == ids.len() && all.iter().all(|v| *v == value),
                "{name}: {frame}"
            );
        };
        array("gpu_util", 0.5);
        array("gpu_memory", 0.25);
        array("dram_bandwidth", 1.8626);
        assert_eq!(frame["gpu_bandwidth"], serde_json::json!([]));
    }
    assert!(both >= 3, "frames have both hosts: {both}");
    assert_eq!(
        file["summary_by_device"]["m1:0:true times"]["avg_gpu_util"],
        0.5
    );
    // The session goes on to be one as any other, and the next may begin.
    assert!(view(&head, "my_profiling_data").session.gswarm);
    assert_eq!(curl("POST", &url("/start"), "").0, 200);
}
