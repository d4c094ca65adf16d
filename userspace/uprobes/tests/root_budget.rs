//! The budget of the probes on the real kernel: what is taken away, and what comes back. Every test
//! here needs root; without it each is skipped, saying so.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod support;

use std::time::{Duration, Instant};

use gtrace_uprobes::functions::default_set;
use gtrace_uprobes::{Options, Settings, Tracer, Watch};
use support::{Caller, Folder, attach_to, libraries, poll_until, ways};

#[test]
fn root_the_budget_is_kept_by_taking_the_dearest_probes_away_and_said() {
    let Some(folder) = Folder::new() else { return };
    let mut caller = Caller::start(&folder.library(), &["spin", "4000000", "1"]);
    caller.until("open");
    let options = Options::new(Some(caller.pid()), default_set());
    let mut watch = Watch::start(options, Settings::default()).unwrap();
    watch.take_words();
    caller.go_on();
    let is_shed = |watch: &Watch| !watch.tracer().shed().is_empty();
    poll_until(&mut watch, "the budget was not kept", is_shed);
    let words = watch.take_words().join("\n");
    assert!(
        words.contains("cuStreamSynchronize: its probes are taken away"),
        "{words}"
    );
    let counts = |watch: &Watch| -> u64 {
        let counted = watch.tracer().counted().unwrap();
        counted.rows.iter().map(|row| row.calls).sum()
    };
    let then = counts(&watch);
    let deeds = caller.deeds();
    assert_eq!(counts(&watch), then, "its probes are still there");
    assert!(then < deeds.functions["cuStreamSynchronize"][0]);
    let report = watch.report().unwrap();
    let (function, cost) = report.costs.iter().find(|(_, cost)| cost.shed).unwrap();
    assert!(cost.ns > 0.0 && report.cpu_ns > 0.0);
    assert!(cost.unseen > Duration::ZERO, "{cost:?}");
    assert!(report.partial.contains(&(caller.pid(), *function)));
}

#[test]
fn root_functions_are_given_up_one_by_one_while_the_others_are_counted_on() {
    let Some(folder) = Folder::new() else { return };
    for way in ways() {
        let mut caller = Caller::start(&folder.library(), &["many", "300", "1"]);
        caller.until("open");
        let mut options = Options::new(Some(caller.pid()), default_set());
        options.way = Some(way);
        let mut tracer = Tracer::load(options).unwrap();
        attach_to(&mut tracer, caller.pid());
        let number = |name: &str| {
            let found = tracer.functions().iter().position(|f| f.name == name);
            u32::try_from(found.unwrap()).unwrap()
        };
        let (copy, sync) = (number("cuMemcpyHtoD_v2"), number("cuCtxSynchronize"));
        tracer.shed_functions([copy]).unwrap();
        tracer.sample(sync, 1 << 30).unwrap();
        caller.go_on();
        let mut deeds = caller.deeds();
        deeds.functions.remove("cuMemcpyHtoD_v2");
        let counted = tracer.counted().unwrap();
        let row = counted
            .rows
            .iter()
            .find(|row| row.function == sync)
            .unwrap();
        assert_eq!(row.calls, deeds.functions["cuCtxSynchronize"][0]);
        assert!(row.timed < 5, "{} were timed", row.timed);
        deeds.assert_seen(&tracer, &counted, caller.pid());
    }
}

/// Its probes cost too much while it calls as fast as it can, and nothing once it waits.
#[test]
fn root_what_the_budget_took_away_comes_back_when_calls_are_few_and_goes_again_when_they_are_not() {
    let Some(folder) = Folder::new() else { return };
    const NAME: &str = "cuStreamSynchronize";
    let mut caller = Caller::start(&folder.library(), &["turns", "20000", "1"]);
    caller.until("open");
    let options = Options::new(Some(caller.pid()), default_set());
    let mut watch = Watch::start(options, Settings::default()).unwrap();
    watch.try_again_after(Duration::from_millis(1), Duration::from_millis(1));
    let number = |watch: &Watch| {
        let found = watch
            .tracer()
            .functions()
            .iter()
            .position(|f| f.name == NAME);
        u32::try_from(found.unwrap()).unwrap()
    };
    let number = number(&watch);
    let is_shed = |watch: &Watch| watch.tracer().shed().contains(&number);
    let is_timed = |watch: &Watch| !is_shed(watch) && watch.tracer().time_every(number) == 1;
    for _ in 0..2 {
        // Calls without end.
        caller.go_on();
        caller.until("spinning");
        watch.take_words();
        poll_until(&mut watch, "the budget was not kept", is_shed);
        caller.go_on();
        caller.until("waiting");
        // It may be under trial at this moment, and will be found quiet.
        poll_until(&mut watch, "its probes do not come back", is_timed);
        let words = watch.take_words().join("\n");
        assert!(words.contains("probed again"), "{words}");
        // Some calls: each is counted.
        let seen = |watch: &Watch| -> u64 {
            let counted = watch.tracer().counted().unwrap();
            let rows = counted.rows.iter().filter(|row| row.function == number);
            rows.map(|row| row.calls).sum()
        };
        let before = seen(&watch);
        caller.go_on();
        caller.until("some");
        assert_eq!(seen(&watch), before + 100);
    }
}

#[test]
fn root_what_was_too_dear_is_probed_again_and_a_library_that_nobody_has_is_let_go() {
    let Some(folder) = Folder::new() else { return };
    // A name that no other process of this host has.
    let name = format!("libagain-{}.so", std::process::id());
    let library = folder.path().join(&name);
    std::fs::rename(folder.library(), &library).unwrap();
    let mut caller = Caller::start(&library, &["time", "20000"]);
    caller.until("open");
    let settings = Settings {
        budget: Some(0.0001),
        library: name,
        ..Settings::default()
    };
    let mut watch = Watch::start(Options::new(None, default_set()), settings).unwrap();
    watch.try_again_after(Duration::from_millis(100), Duration::from_millis(100));
    assert_eq!(libraries(&watch), 1);
    let timed = |caller: &mut Caller| {
        caller.go_on();
        caller.until("timed");
    };
    let given_up = |watch: &Watch| !watch.tracer().shed().is_empty();
    let deadline = Instant::now() + Duration::from_secs(60);
    while !given_up(&watch) {
        assert!(Instant::now() < deadline, "it was not too dear");
        timed(&mut caller);
        watch.poll().unwrap();
    }
    // It does nothing meanwhile.
    poll_until(&mut watch, "not probed again", |watch| !given_up(watch));
    let words = watch.take_words().join("\n");
    assert!(
        words.contains("cuStreamSynchronize: probed again"),
        "{words}"
    );
    let calls = |watch: &Watch| -> u64 {
        let rows = watch.tracer().counted().unwrap().rows;
        rows.iter().map(|row| row.calls).sum()
    };
    let before = calls(&watch);
    timed(&mut caller);
    assert_eq!(calls(&watch), before + 100_000);

    drop(caller);
    poll_until(&mut watch, "not let go", |watch| libraries(watch) == 0);
}
