//! The page in a browser, against the real API with much data: every view is drawn without an error, asks nobody else,
//! fits a phone, follows what happens, and runs nothing that is not its own.
#![allow(clippy::unwrap_used, reason = "only tests use it")]

#[path = "support/chromium.rs"]
mod chromium;
#[path = "support/page_data.rs"]
mod page_data;
mod support;

use std::path::Path;

use chromium::{Chromium, View};
use gtrace_api::SourceState;
use gtrace_engine::component::remote;
use gtrace_event::Severity;
use page_data::{EVENTS, Filled};
use serde_json::{Value, json};
use support::{Daemon, xid};

/// Processes that are shown.
const PROCESSES: usize = 24;

fn views(incident: &str, event: &str, pid: u32) -> Vec<View> {
    let rows = |selector: &str, least: usize| {
        format!("document.querySelectorAll('{selector}').length >= {least}")
    };
    let view = |name: &str| format!("document.querySelector('main').dataset.view === '{name}'");
    let of = |name: &'static str, address: String, drawn: String| {
        let view = view(address.split(['/', '?']).next().unwrap());
        (name, format!("#/{address}"), format!("{view} && {drawn}"))
    };
    let drawn = "[...document.querySelectorAll('canvas')].some((one) => one.width > 100)";
    let worst_first = "document.querySelector('.attention').innerText.includes('fell off the bus')";
    vec![
        of(
            "overview",
            "overview".into(),
            format!(
                "{} && {} && {} && {worst_first}",
                rows("article.gpu", 8),
                rows("svg.spark path.line", 12),
                rows(".events .event", 8)
            ),
        ),
        of("events", "events".into(), rows(".events .event", 150)),
        of(
            "event",
            format!("events/{event}"),
            format!(
                "{} && document.querySelector('.detail').innerText.includes('fallen off the bus')",
                rows(".detail dl", 1)
            ),
        ),
        of("incidents", "incidents".into(), rows("a.incident", 2)),
        of(
            "incident",
            format!("incidents/{incident}"),
            format!(
                "{} && {} && {}",
                rows(".timeline .point", 3),
                rows(".chain li", 1),
                rows(".command", 3)
            ),
        ),
        of(
            "processes",
            format!("processes/{pid}"),
            format!("{} && {drawn}", rows("tbody tr", PROCESSES)),
        ),
        of(
            "samples",
            "samples".into(),
            format!("{} && {drawn}", rows("table.legend tbody tr", 8)),
        ),
        of(
            "gpu",
            "gpu/0000:e1:00.0".into(),
            format!(
                "['580.82.07', '1650924000127'].every((fact) => document.querySelector('main').innerText.includes(fact)) \
                 && {} && {} && {} && {drawn}",
                rows(".charts figure canvas", 6),
                rows("article.gpu", 1),
                rows(".events .event", 1)
            ),
        ),
        of(
            "remote",
            "remote".into(),
            "document.querySelector('main').innerText.includes('Not watched')".into(),
        ),
        of(
            "sources",
            "sources".into(),
            format!("{} && {}", rows("tbody tr", 1), rows("section", 5)),
        ),
        of(
            "search",
            "search?q=e1:00".into(),
            format!("{} && {}", rows("h2", 3), rows(".event", 1)),
        ),
    ]
}

#[test]
fn every_view_is_drawn_in_a_browser_without_an_error_and_without_a_request_elsewhere() {
    let Some(mut browser) = Chromium::start() else {
        eprintln!("skipped: chromium is not installed");
        return;
    };
    let filled = Filled::processes(PROCESSES);
    let dir = tempfile::tempdir().unwrap();
    page_data::fill_history(dir.path(), filled.pid());
    let daemon = Daemon::start_in(dir);
    // Else the view of remote clients would show whatever `gtrace serve` runs on this host.
    daemon.hub.update_status(|status| {
        let mut remoting = status.sources[0].clone();
        remoting.name = remote::NAME.into();
        remoting.witness = None;
        remoting.state = SourceState::Off;
        status.sources.push(remoting);
    });
    let base = format!("http://{}/", daemon.tcp);
    // A host with nothing in it.
    browser.window(1440, 900, "light");
    browser.open(&base);
    // Of a GPU that is gone the reason is there.
    let condition = "['No GPU in this host', 'fell off the bus'].every((text) => \
        document.querySelector('.attention, .empty') && document.querySelector('main').innerText.includes(text))";
    browser.wait("a host without a GPU", condition);
    browser.picture("none-wide.png");
    filled.fill(&daemon);
    let incidents: Vec<Value> = daemon.client().get("/api/v1/incidents").unwrap();
    let incident = incidents.iter().find(|one| one["class"] == "pcie").unwrap();
    let fatal: Vec<Value> = daemon
        .client()
        .get("/api/v1/events?severity=fatal")
        .unwrap();
    let views = views(
        incident["id"].as_str().unwrap(),
        fatal[0]["id"].as_str().unwrap(),
        filled.pid(),
    );
    browser.draws(&base, &views, "");
    assert!(
        browser
            .requests
            .iter()
            .any(|url| url.ends_with("/api/v1/events/stream")),
        "{:?}",
        browser.requests
    );

    follows_and_obeys_keys(&mut browser, &daemon, &base);
    finds_while_somebody_types(&mut browser, &base);
    keeps_the_place(&mut browser, &base);
    shows_what_happened_unseen(&mut browser, &daemon, &base);
    let id = incident["id"].as_str().unwrap();
    drops_what_is_no_longer_the_stores(&mut browser, &base);
    is_loaded_anew_after_an_upgrade(&mut browser, &base);
    says_what_cannot_be_read(&mut browser, &base, id);
    means_the_same_on_paper_and_elsewhere(&mut browser, &base, id);
    runs_nothing_of_others(&mut browser, &base);
}

/// The newest event is there as it happens, filters are addresses, keys move.
fn follows_and_obeys_keys(browser: &mut Chromium, daemon: &Daemon, base: &str) {
    browser.window(1440, 900, "light");
    browser.open(&format!("{base}#/events?xid=119"));
    browser.wait(
        "the stream is open",
        "document.querySelector('.connection').innerText.includes('live')",
    );
    browser.wait("no event has this Xid", "document.querySelector('.empty') && document.querySelector('.empty').innerText.includes('No event passes')");
    let now = gtrace_event::Timestamp::now().to_string();
    daemon.publish_event(&xid("0000:3b:00.0", 119, Severity::Critical, &now));
    let took = browser.wait(
        "the new event",
        "document.querySelectorAll('.events .event.critical').length === 1",
    );
    eprintln!("a new event is shown after {} ms", took.as_millis());
    browser.value("document.body.focus()");
    browser.press("j");
    browser.wait(
        "a row has the focus",
        "document.activeElement.matches('[data-row]')",
    );
    browser.press("3");
    browser.wait(
        "the third view",
        "document.querySelector('main').dataset.view === 'incidents'",
    );
    browser.press("?");
    browser.wait("the list of keys", "document.querySelector('dialog[open]')");
    browser.press("2");
    let behind = browser.value("document.querySelector('main').dataset.view");
    assert_eq!(behind, "incidents", "the list of keys is before it");
    browser.press("Escape");
    browser.wait("no list", "!document.querySelector('dialog')");
    browser.press("t");
    browser.wait(
        "another theme",
        "document.documentElement.dataset.theme === 'light'",
    );
    let shown = browser.value("fetch('/api/v1/events?limit=10000').then((answer) => answer.json()).then((all) => all.length)");
    assert!(shown.as_u64().unwrap() >= EVENTS as u64, "{shown}");
}

/// A filter takes several words, and a search is one step of the browser's history, however many letters it has.
fn finds_while_somebody_types(browser: &mut Chromium, base: &str) {
    let types = |browser: &mut Chromium, field: &str, text: &str| {
        browser.value(&format!("document.querySelector('{field}').focus()"));
        for letter in text.chars() {
            browser.press(&letter.to_string());
        }
    };
    browser.open(&format!("{base}#/events"));
    browser.wait("events", "document.querySelector('.events .event')");
    types(browser, "input[name=q]", "fallen off");
    browser.wait(
        "both words",
        "document.querySelector('input[name=q]').value === 'fallen off' && location.hash.endsWith('q=fallen+off')",
    );
    browser.open(&format!("{base}#/overview"));
    browser.wait("the page", "document.querySelector('.tiles')");
    types(browser, "#search", "xid 79");
    browser.wait("the search", "location.hash === '#/search?q=xid+79'");
    browser.value("history.back()");
    browser.wait(
        "what was there before the search",
        "document.querySelector('main').dataset.view === 'overview'",
    );
}

/// Back leads to the row that was opened, and a list that is held still takes older events.
fn keeps_the_place(browser: &mut Chromium, base: &str) {
    browser.open(&format!("{base}#/incidents"));
    let second = "document.querySelectorAll('a.incident')[1]";
    browser.wait("two incidents", second);
    browser.value(&format!("{second}.click()"));
    browser.wait("one", "document.querySelector('.incident-page')");
    browser.value("history.back()");
    browser.wait(
        "the focus on its row",
        &format!("document.activeElement === {second}"),
    );
    browser.open(&format!("{base}#/events"));
    let click = |browser: &mut Chromium, text: &str| {
        let button = format!(
            "[...document.querySelectorAll('.pane button')].find((one) => one.innerText.startsWith('{text}'))"
        );
        browser.wait(text, &button);
        browser.value(&format!("{button}.click()"));
    };
    browser.wait("events", "document.querySelector('.events .event')");
    for text in ["Hold", "Show 500", "Show 350", "Read older"] {
        click(browser, text);
    }
    browser.wait(
        "older events, of which none is new",
        "document.querySelector('.pane .bar b').innerText === '2,000' && document.querySelector('.pane').innerText.includes('Go on (0 new)')",
    );
}

/// What happens while nobody sees the page, and what it would have read then, is there once somebody does.
fn shows_what_happened_unseen(browser: &mut Chromium, daemon: &Daemon, base: &str) {
    let source = "Object.defineProperty(document, 'hidden', { get: () => window.seen !== true })";
    let hides = browser.script(source);
    let see = |browser: &mut Chromium, seen: bool| {
        browser.value(&format!(
            "window.seen = {seen}; document.dispatchEvent(new Event('visibilitychange')); 0"
        ));
    };
    browser.open(&format!("{base}#/search?q=gtrace_gpu_power"));
    browser.wait("the page", "document.querySelector('.tabs')");
    see(browser, true);
    browser.wait(
        "a metric",
        "document.querySelector('main').innerText.includes('gtrace_gpu_power_watts')",
    );
    browser.open(&format!("{base}#/events?xid=140"));
    browser.wait("the page", "document.querySelector('.tabs')");
    let connection = browser.value("document.querySelector('.connection').innerText");
    assert!(connection.as_str().unwrap().contains("connecting"));
    see(browser, true);
    browser.wait(
        "no event has this Xid",
        "document.querySelector('.empty') && document.querySelector('.empty').innerText.includes('No event passes')",
    );
    see(browser, false);
    let now = gtrace_event::Timestamp::now().to_string();
    daemon.publish_event(&xid("0000:3b:00.0", 140, Severity::Critical, &now));
    see(browser, true);
    browser.wait(
        "the event that nobody saw",
        "document.querySelectorAll('.events .event.critical').length === 1",
    );
    browser.without(hides);
}

/// After a gap that nobody can count, as of another store, only what the store has is shown.
fn drops_what_is_no_longer_the_stores(browser: &mut Chromium, base: &str) {
    let source = "const Stream = window.EventSource; window.EventSource = class extends Stream { \
        constructor(...all) { super(...all); window.stream = this; } }";
    let script = browser.script(source);
    let lost = xid(
        "0000:3b:00.0",
        141,
        Severity::Critical,
        &gtrace_event::Timestamp::now().to_string(),
    );
    let sends = |browser: &mut Chromium, name: &str, data: &Value| {
        let text = Value::from(data.to_string());
        browser.value(&format!(
            "window.stream.dispatchEvent(new MessageEvent('{name}', {{ data: {text} }})); 0"
        ));
    };
    browser.open(&format!("{base}#/events?xid=141"));
    browser.wait(
        "the stream is open, and no event has this Xid",
        "document.querySelector('.connection').innerText.includes('live') && document.querySelector('.empty')",
    );
    sends(browser, "event", &json!({ "event": lost }));
    browser.wait("the event", "document.querySelector('.events .event')");
    sends(browser, "gap", &json!({ "reason": "another store" }));
    browser.wait(
        "it is none of the store's",
        "document.querySelector('.empty') && document.querySelector('.pane').innerText.includes('another store')",
    );
    browser.without(script);
}

/// A page that stayed open while the daemon was upgraded says so: answers of another version may mean something else.
fn is_loaded_anew_after_an_upgrade(browser: &mut Chromium, base: &str) {
    let source = r#"const ask = window.fetch; window.fetch = async (url, ...more) => {
        const answer = await ask(url, ...more);
        if (!window.upgraded || !String(url).endsWith("/api/v1/status")) return answer;
        return new Response(JSON.stringify({ ...await answer.json(), version: "9.9.9" }));
    }"#;
    let script = browser.script(source);
    browser.open(&format!("{base}#/overview"));
    browser.wait("the page", "document.querySelector('.tiles')");
    assert_eq!(
        browser.value("document.querySelector('.trouble')"),
        Value::Null
    );
    browser.value("window.upgraded = true");
    let button = "document.querySelector('.trouble button')";
    browser.wait(
        "the other version",
        &format!("{button} && document.querySelector('.trouble').innerText.includes('9.9.9')"),
    );
    browser.value(&format!("{button}.click()"));
    browser.wait(
        "the page anew",
        "!window.upgraded && document.querySelector('.tiles') && !document.querySelector('.trouble')",
    );
    browser.without(script);
}

/// What cannot be read is neither dropped, nor none, nor as it was before: the page says so.
fn says_what_cannot_be_read(browser: &mut Chromium, base: &str, incident: &str) {
    // From the start on, requests fail whose address has this part; a script of the test can change it.
    let cut = |browser: &mut Chromium, part: &str, view: &str| {
        let source = format!(
            "window.cut = '{part}'; const ask = window.fetch; window.fetch = (url, ...more) => \
             String(url).includes(window.cut) ? Promise.reject(new TypeError('cut')) : ask(url, ...more)"
        );
        let script = browser.script(&source);
        browser.open(&format!("{base}#/{view}"));
        script
    };
    let script = cut(browser, "/api/v1/events", &format!("incidents/{incident}"));
    browser.wait(
        "the incident without its events",
        "document.querySelector('.incident-page .headline') && document.querySelector('.incident-page .trouble')",
    );
    let text = browser.value("document.querySelector('.incident-page').innerText");
    assert!(!text.as_str().unwrap().contains("retention"), "{text}");
    browser.without(script);
    let script = cut(browser, "/api/v1/incidents", "overview");
    browser.wait(
        "no count of incidents",
        "document.querySelector('.trouble') && document.querySelector('.tiles').innerText.includes('not read yet')",
    );
    browser.without(script);
    let script = cut(browser, "nothing", "processes");
    browser.wait("processes", "document.querySelector('tbody tr')");
    browser.value("window.cut = '/api/v1/processes'; 0");
    browser.wait(
        "that these were read before",
        "document.querySelector('tbody tr') && document.querySelector('main').innerText.includes('from before')",
    );
    browser.without(script);
}

/// An incident has its date and zone; in print no line is cut off, and dark colours stay on the screen.
fn means_the_same_on_paper_and_elsewhere(browser: &mut Chromium, base: &str, incident: &str) {
    browser.window(1440, 900, "dark");
    let zone = |name: &str| json!({ "timezoneId": name });
    browser.call("Emulation.setTimezoneOverride", zone("Asia/Kolkata"));
    browser.open(&format!("{base}#/incidents/{incident}"));
    browser.wait(
        "date and zone",
        r"/opened \d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3} UTC\+05:30,/.test(document.querySelector('.badges').innerText)
          && document.querySelector('.zone').innerText === 'UTC+05:30'",
    );
    browser.wait("its events", "document.querySelector('.event .text')");
    browser.value("document.documentElement.dataset.theme = 'dark'");
    browser.call("Emulation.setEmulatedMedia", json!({ "media": "print" }));
    let cut = "[...document.querySelectorAll('.event > *')].filter((one) => one.scrollWidth > one.clientWidth + 1 && getComputedStyle(one).overflowX !== 'visible').length";
    assert_eq!(browser.value(cut), 0);
    let paper = browser.value("getComputedStyle(document.body).backgroundColor");
    assert_eq!(paper, "rgb(255, 255, 255)");
    browser.call("Emulation.setEmulatedMedia", json!({ "media": "" }));
    browser.call("Emulation.setTimezoneOverride", zone(""));
}

/// A script within the page, one from elsewhere and a request elsewhere are refused, and this test sees it.
fn runs_nothing_of_others(browser: &mut Chromium, base: &str) {
    assert_eq!(browser.complaints, Vec::<String>::new());
    browser.open(base);
    browser.wait("the page", "document.querySelector('.tabs')");
    browser.value(
        "(() => { const one = document.createElement('script'); one.textContent = 'window.inline = 1'; document.head.append(one);\
         const other = document.createElement('script'); other.src = 'http://site.example/x.js'; document.head.append(other);\
         fetch('http://site.example/').catch(() => { window.refused = 1 }); })()",
    );
    browser.wait("the request is refused", "window.refused === 1");
    assert_eq!(browser.value("window.inline === undefined"), true);
    assert!(
        browser
            .complaints
            .iter()
            .any(|one| one.contains("Content Security Policy")),
        "{:?}",
        browser.complaints
    );
}

#[test]
fn the_page_is_for_reading_and_its_files_say_what_a_browser_may_do() {
    let daemon = Daemon::start();
    for path in [
        "/",
        "/page/app.js",
        "/page/app.css",
        "/page/icon.svg",
        "/page/routes.json",
    ] {
        let request = |host: &str| {
            format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n")
        };
        let (code, answer) = daemon.raw_tcp(&request("localhost"));
        assert_eq!(code, 200, "{path}");
        let head = answer.split("\r\n\r\n").next().unwrap();
        assert!(
            head.contains("content-security-policy: default-src 'none'; script-src 'self'"),
            "{head}"
        );
        assert!(head.contains("x-content-type-options: nosniff"), "{head}");
        let (code, _) = daemon.raw_tcp(&request("evil.example"));
        assert_eq!(code, 403, "{path} for another name");
    }
    let routes: Vec<String> = daemon.tcp_client().get("/page/routes.json").unwrap();
    assert!(routes.contains(&"/api/v1/samples".to_owned()));
    // Whatever the page asks the daemon for is a route.
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("../http/page/app.js");
    let script = std::fs::read_to_string(sources).unwrap();
    for part in script
        .split("\"/api/")
        .skip(1)
        .chain(script.split("`/api/").skip(1))
    {
        let path = part.split(['"', '`', '?', '$']).next().unwrap();
        let path = format!("/api/{path}");
        // The health of subjects is asked for where the daemon has it.
        let known = routes
            .iter()
            .any(|route| route == &path || route.trim_end_matches("{id}") == path);
        assert!(known || path == "/api/v1/health", "{path}");
    }
}
