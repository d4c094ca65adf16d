//! The other process is killed while this one waits: the wait ends within a second.
//!
//! The other process is this test binary again, told by the environment to connect and stay.

#![allow(clippy::unwrap_used, clippy::expect_used)]

mod common;

use std::env;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use common::{Certificates, tcp_server, terms};
use gtrace_link::{Link, LinkError, Preference, Target, TlsClient, connect, hello};

const ADDRESS: &str = "GTRACE_TEST_ADDRESS";
const LINK: &str = "GTRACE_TEST_LINK";
const CA: &str = "GTRACE_TEST_CA";

/// Not a test by itself: the process that is killed.
#[test]
fn the_other_process() {
    let Ok(address) = env::var(ADDRESS) else {
        return;
    };
    let mut target = Target::parse(&address).unwrap();
    target.link = env::var(LINK).unwrap().parse().unwrap();
    target.tls = env::var_os(CA).map(|ca| TlsClient {
        ca: ca.into(),
        name: None,
    });
    let (mut link, _, _) = connect(&target, &hello(false), None).unwrap();
    link.tx.bulk(b"here").unwrap();
    thread::sleep(Duration::from_secs(60));
}

/// A link to a process of its own.
fn other_process(link: Preference, tls: Option<&Certificates>) -> (Link, Child) {
    let (address, accepted) = tcp_server(tls.map_or_else(terms, Certificates::terms));
    let mut command = Command::new(env::current_exe().unwrap());
    command
        .args(["--exact", "the_other_process"])
        .env(ADDRESS, address)
        .env(LINK, link.to_string())
        .stdout(Stdio::null());
    if let Some(tls) = tls {
        command.env(CA, tls.path("cert"));
    }
    let child = command.spawn().unwrap();
    let (mut link, _, _) = accepted
        .recv_timeout(Duration::from_secs(20))
        .unwrap()
        .unwrap();
    assert_eq!(link.rx.peek(4, None).unwrap(), b"here");
    link.rx.consume(4);
    (link, child)
}

fn killed(link: Preference, tls: Option<&Certificates>) {
    for sends in [false, true] {
        let (mut link, mut child) = other_process(link, tls);
        let kind = link.info.kind;
        let waiting = thread::spawn(move || {
            if sends {
                let body = vec![1; 1 << 20];
                while let Ok(()) = link.tx.bulk(&body) {}
                link.tx.bulk(&body).unwrap_err()
            } else {
                link.rx.peek(1, None).unwrap_err()
            }
        });
        // Long enough that the wait sleeps, and with seldom looks.
        thread::sleep(Duration::from_millis(1300));
        assert!(!waiting.is_finished(), "{kind}, sending: {sends}");
        let began = Instant::now();
        child.kill().unwrap();
        let error = waiting.join().unwrap();
        let took = began.elapsed();
        assert!(matches!(error, LinkError::Closed(_)), "{kind}: {error}");
        assert!(took < Duration::from_secs(1), "{kind}: {took:?}");
        child.wait().unwrap();
    }
}

#[test]
fn killed_on_the_other_end_of_tcp() {
    killed(Preference::Tcp, None);
}

#[test]
fn killed_on_the_other_end_of_tls() {
    killed(Preference::Tcp, Some(&Certificates::new()));
}

#[test]
fn killed_on_the_other_end_of_a_unix_socket() {
    killed(Preference::Unix, None);
}

#[test]
fn killed_on_the_other_end_of_shared_memory() {
    killed(Preference::SharedMemory, None);
}

#[test]
fn a_child_of_a_fork_that_lives_on_does_not_hide_the_end() {
    // A child has a copy of the descriptor; a handler of pthread_atfork calls `forget_in_child`. Here
    // it is called in this process, which then must find its own end closed and harm nothing else.
    let (here, mut there) = common::link_of(gtrace_link::LinkKind::SharedMemory);
    here.end.forget_in_child();
    let error = there.rx.peek(1, None).unwrap_err();
    assert!(matches!(error, LinkError::Closed(_)), "{error}");
    drop(here);
}
