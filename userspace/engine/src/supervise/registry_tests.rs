use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc;

use super::*;
use crate::supervise::{beat, sending};

fn task(name: &'static str) -> Task {
    Task::needed(name, Duration::from_secs(10), vec![WitnessName::Kmsg])
}

/// A task that does nothing until what is returned goes; `begun` is called by each of its threads.
fn idle(
    registry: &Registry,
    name: &'static str,
    begun: impl Fn() + Send + Sync + 'static,
) -> mpsc::Sender<()> {
    let (go_on, wait) = mpsc::channel();
    let wait = Mutex::new(wait);
    let body = move |_: &Pulse| {
        begun();
        let _ = wait.lock().unwrap().recv();
        Ok(())
    };
    registry.start(task(name), body).unwrap();
    go_on
}

fn until_end(registry: &Registry, index: usize) {
    while registry.lock().tasks[index]
        .run
        .end
        .lock()
        .unwrap()
        .is_none()
    {
        std::thread::yield_now();
    }
}

fn state(registry: &Registry) -> TaskState {
    registry.statuses()[0].state
}

fn seconds(n: u64) -> Duration {
    Duration::from_secs(n)
}

#[test]
fn a_panic_is_a_loss_with_its_text_and_the_task_is_started_again() {
    let registry = Registry::default();
    let runs = Arc::new(AtomicU32::new(0));
    let count = Arc::clone(&runs);
    registry
        .start(task("test"), move |_| {
            assert!(
                count.fetch_add(1, Ordering::SeqCst) > 0,
                "the first run ends"
            );
            Ok(())
        })
        .unwrap();
    until_end(&registry, 0);
    let now = Instant::now();
    let losses = registry.tick(now);
    assert_eq!(losses.len(), 1);
    assert!(
        losses[0].reason.contains("panicked: the first run ends"),
        "{losses:?}"
    );
    assert_eq!(state(&registry), TaskState::Restarting);
    assert_eq!(registry.unfit(now), None, "a restart takes a moment");

    assert_eq!(registry.tick(now + seconds(1)), []);
    until_end(&registry, 0);
    assert_eq!(registry.statuses()[0].restarts, 1);
    assert_eq!(registry.tick(now + seconds(2)), []);
    assert_eq!(state(&registry), TaskState::Ended);
    assert_eq!(runs.load(Ordering::SeqCst), 2);
}

#[test]
fn a_task_that_hangs_is_replaced_and_its_old_thread_never_sends_again() {
    let registry = Registry::default();
    let (sender, received) = mpsc::channel();
    let (go_on, wait) = mpsc::channel::<()>();
    let (hangs, now_hangs) = mpsc::channel();
    let wait = Mutex::new(Some(wait));
    registry
        .start(task("test"), move |pulse| {
            beat();
            let first = wait.lock().unwrap().take();
            if let Some(wait) = first {
                hangs.send(()).unwrap();
                let _ = wait.recv();
                sending(|| sender.send("stale")).unwrap();
            }
            sending(|| sender.send("new")).unwrap();
            while !pulse.is_stopping() {
                beat();
                std::thread::yield_now();
            }
            Ok(())
        })
        .unwrap();
    now_hangs.recv().unwrap();
    let mut now = Instant::now();
    registry.tick(now);
    let mut losses = Vec::new();
    while losses.is_empty() {
        now += seconds(1);
        losses = registry.tick(now);
    }
    assert_eq!(losses[0].reason, "hangs: no heartbeat within 10 s");
    registry.tick(now + seconds(1));
    assert_eq!(received.recv().unwrap(), "new");
    go_on.send(()).unwrap();
    // The stale thread unwinds, and with it goes its end.
    assert_eq!(state(&registry), TaskState::Running);
    assert_eq!(registry.stop(&["test"], seconds(20)), [""; 0]);
    drop(registry);
    assert_eq!(received.recv().ok(), None);
}

#[test]
fn threads_that_hang_do_not_add_up() {
    let registry = Registry::default();
    let (begins, begun) = mpsc::channel();
    let go_on = idle(&registry, "test", move || begins.send(()).unwrap());
    let mut now = Instant::now();
    for _ in 0..100 * HANGING_MAX {
        now += TICK_MAX;
        registry.tick(now);
    }
    assert_eq!(begun.iter().take(HANGING_MAX).count(), HANGING_MAX);
    assert!(begun.try_recv().is_err(), "no other was started");
    assert_eq!(state(&registry), TaskState::Restarting);
    drop(go_on);
    while begun.try_recv().is_err() {
        now += TICK_MAX;
        registry.tick(now);
        std::thread::yield_now();
    }
}

#[test]
fn what_waits_for_another_task_does_not_hang() {
    let registry = Registry::default();
    let (sender, received) = mpsc::sync_channel(0);
    registry
        .start(task("test"), move |_| {
            sending(|| sender.send(())).map_err(|e| e.to_string())
        })
        .unwrap();
    while !registry.lock().tasks[0].run.pulse.is_sending() {
        std::thread::yield_now();
    }
    let now = Instant::now();
    for second in 0..100 {
        assert_eq!(registry.tick(now + seconds(second)), []);
    }
    received.recv().unwrap();
}

#[test]
fn who_waits_for_something_to_do_does_not_hang_and_gives_no_heartbeat() {
    let registry = Registry::default();
    let body = |pulse: &Pulse| {
        pulse.wait(Duration::MAX);
        Ok(())
    };
    registry.start(task("test"), body).unwrap();
    while !registry.lock().tasks[0].run.pulse.is_resting() {
        std::thread::yield_now();
    }
    let now = Instant::now();
    for second in 0..100 {
        assert_eq!(registry.tick(now + seconds(second)), []);
    }
    assert_eq!(registry.next_tick(now), TICK);
    registry.wake("test");
    until_end(&registry, 0);
}

#[test]
fn the_tasks_are_checked_when_one_may_have_been_silent_for_too_long() {
    let registry = Registry::default();
    let _go_on = idle(&registry, "test", || {});
    let now = Instant::now();
    assert_eq!(registry.tick(now), []);
    assert_eq!(registry.next_tick(now), TICK);
    assert_eq!(registry.tick(now + seconds(4)), []);
    assert_eq!(registry.tick(now + seconds(8)), []);
    let next = registry.next_tick(now + seconds(8));
    assert_eq!(next, seconds(2) + Duration::from_millis(1));
    let hung = now + seconds(8) + next;
    assert_eq!(registry.tick(hung).len(), 1);
    assert!(registry.next_tick(hung) < seconds(1), "it is started again");
}

#[test]
fn a_process_that_was_stopped_does_not_take_its_tasks_for_hung() {
    let registry = Registry::default();
    let _go_on = idle(&registry, "test", || {});
    let now = Instant::now();
    registry.tick(now);
    assert_eq!(registry.tick(now + seconds(3600)), []);
}

#[test]
fn what_cannot_be_replaced_is_red_while_it_hangs_and_green_when_it_goes_on() {
    let registry = Registry::default();
    let (go_on, wait) = mpsc::channel::<()>();
    let body = move || {
        let _ = wait.recv();
        beat();
        let _ = wait.recv();
    };
    let thread = registry.start_once(task("test"), body).unwrap();
    let mut now = Instant::now();
    registry.tick(now);
    while state(&registry) == TaskState::Running {
        now += seconds(1);
        registry.tick(now);
    }
    assert_eq!(state(&registry), TaskState::Hung);
    assert_eq!(registry.lost(), None);
    assert_eq!(registry.unfit(now), None);
    let unfit = registry.unfit(now + seconds(31)).unwrap();
    assert!(unfit.contains("test does not recover"), "{unfit}");

    // A beat within the same millisecond as the last would not be seen as one.
    let seen = registry.lock().tasks[0].run.seen_ms;
    while now_ms() == seen {
        std::thread::yield_now();
    }
    go_on.send(()).unwrap();
    while registry.lock().tasks[0].run.pulse.last_ms() == seen {
        std::thread::yield_now();
    }
    assert_eq!(registry.tick(now + seconds(32)), []);
    assert_eq!(state(&registry), TaskState::Running);
    assert_eq!(registry.unfit(now + seconds(99)), None);
    drop(go_on);
    thread.join().unwrap();
}

#[test]
fn what_cannot_be_restarted_and_panics_is_lost_with_its_reason() {
    let registry = Registry::default();
    let thread = registry
        .start_once(task("test"), || assert!(false_(), "out of luck"))
        .unwrap();
    thread.join().unwrap();
    let now = Instant::now();
    assert_eq!(registry.tick(now).len(), 1);
    let lost = registry.lost().unwrap();
    assert!(lost.reason.contains("out of luck"), "{lost:?}");
    assert!(registry.unfit(now).unwrap().contains("out of luck"));
}

fn false_() -> bool {
    std::hint::black_box(false)
}

#[test]
fn a_needed_task_that_fails_again_and_again_makes_the_daemon_unfit() {
    for (needed, unfit) in [(true, true), (false, false)] {
        let registry = Registry::default();
        let of_test = Task {
            needed,
            ..task("test")
        };
        registry
            .start(of_test, |_| Err("no luck".to_owned()))
            .unwrap();
        let mut now = Instant::now();
        for _ in 0..=RESTARTS_MAX {
            until_end(&registry, 0);
            assert_eq!(registry.tick(now).len(), 1);
            // Within a second of health each time, past any back-off.
            now += seconds(31);
            registry.tick(now);
        }
        assert_eq!(registry.unfit(now).is_some(), unfit);
    }
}

#[test]
fn a_stop_that_is_not_obeyed_ends_with_the_name() {
    let registry = Registry::default();
    let _go_on = idle(&registry, "deaf", || {});
    assert_eq!(registry.stop(&["deaf"], Duration::ZERO), ["deaf"]);
}

#[test]
fn a_task_that_waits_for_a_lock_in_vain_fails_with_the_reason_and_leaves_no_thread_behind() {
    use crate::supervise::{lock_or_fail, lock_within};

    let registry = Registry::default();
    let held = Arc::new(Mutex::new(7));
    let guard = held.lock().unwrap();
    let of_task = Arc::clone(&held);
    registry
        .start(task("test"), move |_| {
            let value = lock_or_fail(&of_task, Duration::from_millis(5), "another detaches");
            assert_eq!(*value, 7);
            Ok(())
        })
        .unwrap();
    until_end(&registry, 0);
    let now = Instant::now();
    let losses = registry.tick(now);
    assert_eq!(losses[0].reason, "another detaches");
    assert!(lock_within(&held, Duration::ZERO).is_none());
    drop(guard);
    registry.tick(now + seconds(1));
    until_end(&registry, 0);
    registry.tick(now + seconds(2));
    assert_eq!(state(&registry), TaskState::Ended);
    assert!(lock_within(&held, Duration::ZERO).is_some());
}
