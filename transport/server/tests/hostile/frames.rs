//! Frames that are none, and lanes that are not read.

use std::time::Duration;

use gtrace_cuda::Kind;
use gtrace_cuda::payload::{self, Payload as _};
use gtrace_protocol::{ECHO_BULK_MAX, Flags, Reader, control, op_id};

use crate::serves;
use crate::support::{Client, Server, bytes, random};

/// What the server does with a lane that sends `bytes` after its handshake.
fn after_garbage(server: &Server, garbage: &[u8]) -> Option<String> {
    let mut client = Client::ready(server.unix(), "unix");
    let room = client.link.tx.reserve(garbage.len()).unwrap();
    room[..garbage.len()].copy_from_slice(garbage);
    client.link.tx.commit(garbage.len());
    client.link.tx.flush().unwrap();
    let goodbye = client.receive().ok()?;
    assert_eq!(goodbye.header.op, control::GOODBYE);
    assert!(client.receive().is_err(), "the lane is closed");
    Some(String::from_utf8_lossy(&goodbye.small).into_owned())
}

#[test]
fn frames_that_are_none_close_the_lane_with_the_reason() {
    let server = Server::start(|_| {});
    let reason = after_garbage(&server, &[0x55; 64]).unwrap();
    assert!(reason.contains("checksum"), "{reason}");
    let mut skipped = gtrace_protocol::Header {
        op: op_id("cuCtxSynchronize"),
        seq: 99,
        ..Default::default()
    };
    skipped.set_payload(0, 0);
    let reason = after_garbage(&server, &skipped.to_bytes()).unwrap();
    assert!(reason.contains("follows"), "{reason}");
    let mut hello = gtrace_protocol::Header {
        op: control::HELLO,
        seq: 3,
        ..Default::default()
    };
    hello.set_payload(0, 0);
    assert!(after_garbage(&server, &hello.to_bytes()).is_some());
    let mut long = gtrace_protocol::Header {
        op: op_id("cuCtxSynchronize"),
        seq: 3,
        length: u32::MAX,
        ..Default::default()
    };
    long.small = 1 << 30;
    assert!(
        after_garbage(&server, &long.to_bytes())
            .unwrap()
            .contains("claims")
    );
    server.wait_for("no sessions", |status| status.sessions.is_empty());
    serves(&server);
}

#[test]
fn echoes_give_back_what_came_and_no_more_bytes_than_a_mebibyte() {
    let server = Server::start(|_| {});
    for link in ["unix", "shm", "tcp"] {
        let mut client = Client::ready(server.address(link), link);
        for (asked, given) in [
            (0, 0),
            (1, 1),
            (ECHO_BULK_MAX as u32, ECHO_BULK_MAX),
            (u32::MAX, ECHO_BULK_MAX),
        ] {
            let mut header = client.header(control::ECHO, Flags::default());
            header.status = asked;
            // What comes as a bulk part is read to nowhere.
            client.send(header, b"hello", &random(70_000, 3)).unwrap();
            let answer = client.answer();
            assert_eq!(answer.header.op, control::ECHO);
            assert_eq!(answer.header.bulk(), given, "{link}: {asked}");
            assert_eq!(
                (answer.small.as_slice(), answer.bulk.len()),
                (&b"hello"[..], given)
            );
        }
        drop(client);
    }
    serves(&server);
}

#[test]
fn a_client_that_does_not_read_harms_nobody() {
    let server = Server::start(|_| {});
    for link in ["unix", "shm", "tcp"] {
        let address = server.address(link);
        let mut client = Client::ready(address, link);
        let at = client.alloc(64 << 20).unwrap();
        let download = payload::Download {
            from: at,
            len: 64 << 20,
            chunk: 1 << 20,
            stream: payload::SYNCHRONOUS,
        };
        let header = client.header(op_id("cuMemcpyDtoH_v2"), Flags::default());
        client.send(header, &bytes(&download), &[]).unwrap();
        std::thread::sleep(Duration::from_millis(300));
        serves(&server);
        drop(client);
        server.wait_for(link, |status| status.sessions.is_empty());
    }
}

#[test]
fn frames_behind_one_that_waits_for_host_functions_are_read() {
    // A dead client's end lies behind what it sent last, and comes only if that is read.
    let server = Server::start(|_| {});
    let mut client = Client::ready(server.tcp(), "tcp");
    let next = client.header(payload::HOST_NEXT, Flags::default());
    client.send(next, &[], &[]).unwrap();
    let query = client.header(op_id("cuMemGetInfo_v2"), Flags::default());
    client.send(query, &[], &[]).unwrap();
    let answer = client.receive().unwrap();
    assert_eq!((answer.header.seq, answer.header.status), (next.seq, 600));
    assert_eq!(client.answer().header.status, 0);
}

/// The next function that a stream has reached, or never will.
fn next(client: &mut Client) -> (u64, bool) {
    let answer = client.call_op(payload::HOST_NEXT, &[], &[]);
    let next = payload::HostReached::read(&mut Reader::new(&answer.small)).unwrap();
    let never = next.call == payload::HostReached::NEVER;
    if !never {
        client.call_op(payload::HOST_DONE, &next.call.to_le_bytes(), &[]);
    }
    (next.ticket, never)
}

fn launch_host_function(client: &mut Client, stream: u64, ticket: u64) {
    let host = payload::HostFunction { stream, ticket };
    client.one_way("cuLaunchHostFunc", &bytes(&host), &[]);
}

#[test]
fn a_function_that_no_stream_will_reach_is_reported() {
    let server = Server::start(|_| {});
    let mut client = Client::ready(server.tcp(), "tcp");
    launch_host_function(&mut client, Kind::Stream.handle(99), 5);
    launch_host_function(&mut client, 0, 6);
    let mut reached = [next(&mut client), next(&mut client)];
    reached.sort_unstable();
    assert_eq!(reached, [(5, true), (6, false)]);
}

/// As many as a program may have under way, whether or not it asks for them in between.
#[test]
fn no_function_that_no_stream_will_reach_is_forgotten() {
    const MANY: u64 = 6000;
    let (_server, mut client) = Server::with_client(|_| {});
    let exec = Kind::GraphExec.handle(99);
    let launch = [exec, 0].map(u64::to_le_bytes).concat();
    // Nobody asks what became of the functions of this one, as there are none.
    client.one_way("cuGraphLaunch", &launch, &[]);
    for ticket in 1..=MANY {
        launch_host_function(&mut client, Kind::Stream.handle(99), ticket);
    }
    for ticket in 1..=MANY {
        assert_eq!(next(&mut client), (ticket, true));
    }
    launch_host_function(&mut client, 0, MANY + 1);
    assert_eq!(next(&mut client), (MANY + 1, false));
    client.one_way("cuGraphLaunch", &launch, &[]);
    assert_eq!(next(&mut client), (exec, true));
}
