//! Where there is no RDMA, TCP is used, and both sides know why.

#![allow(clippy::unwrap_used, clippy::expect_used)]

mod common;

use common::{rdma_address, tcp_server, terms};
use gtrace_link::{LinkError, LinkKind, Preference, Target, connect, hello};

/// What a host without RDMA says of itself; each with what helps.
const REASONS: [&str; 3] = [
    "libibverbs.so.1 not found",
    "has no RDMA device",
    "no RDMA device has the address 127.0.0.1",
];

#[test]
fn without_rdma_it_is_tcp_with_the_reason_on_both_sides() {
    if rdma_address().is_some() {
        eprintln!("skipped: there is an RDMA device");
        return;
    }
    let server = || {
        let mut trusting = terms();
        trusting.rdma_trusted = "127.0.0.1".parse().unwrap();
        // What is preferred to it on one host is not offered.
        trusting.ring = 0;
        tcp_server(trusting)
    };
    let (address, accepted) = server();
    let mut target = Target::parse(&address).unwrap();
    target.rdma_trusted = "127.0.0.0/8".parse().unwrap();
    let (client, _, _) = connect(&target, &hello(false), None).unwrap();
    let (served, _, _) = accepted.recv().unwrap().unwrap();
    assert_eq!(
        (client.info.kind, served.info.kind),
        (LinkKind::Tcp, LinkKind::Tcp)
    );
    let reason = client.info.fallbacks.last().unwrap();
    let known = REASONS.iter().any(|known| reason.contains(known));
    assert!(reason.starts_with("rdma: ") && known, "{reason}");
    assert_eq!(client.info.changes.refusals(), 1);
    // A client that requires it gets the reason, not another link.
    let (address, _accepted) = server();
    target.address = Target::parse(&address).unwrap().address;
    target.link = Preference::Rdma;
    let error = connect(&target, &hello(false), None).unwrap_err();
    assert!(matches!(error, LinkError::Usage(_)), "{error}");
    let text = error.to_string();
    assert!(
        text.contains("--link auto") && text.contains("rdma: "),
        "{text}"
    );
    // But a program that had it is not ended when it opens another lane.
    let (address, _accepted) = server();
    target.address = Target::parse(&address).unwrap().address;
    target.link = Preference::Auto;
    let (_first, _, session) = connect(&target, &hello(false), None).unwrap();
    target.link = Preference::Rdma;
    let (further, _, _) = connect(&target, &hello(false), Some(&session)).unwrap();
    assert_eq!(further.info.kind, LinkKind::Tcp);
    let reason = further.info.fallbacks.last().unwrap();
    assert!(reason.starts_with("rdma: "), "{reason}");
    assert_eq!(further.info.changes.reasons(), [reason.as_str()]);
}

#[test]
fn a_network_that_one_side_does_not_trust_carries_no_plaintext() {
    let (address, accepted) = tcp_server(terms());
    let mut target = Target::parse(&address).unwrap();
    target.link = Preference::Rdma;
    target.rdma_trusted = "10.0.0.0/8".parse().unwrap();
    let error = connect(&target, &hello(false), None)
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("in no network that the client trusts"),
        "{error}"
    );
    assert!(accepted.recv().unwrap().is_err());
    let (address, _accepted) = tcp_server(terms());
    target.address = Target::parse(&address).unwrap().address;
    target.rdma_trusted = "127.0.0.1".parse().unwrap();
    let error = connect(&target, &hello(false), None)
        .unwrap_err()
        .to_string();
    assert!(error.contains("the server trusts no network"), "{error}");
}
