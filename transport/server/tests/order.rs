//! Calls of several threads: what one of them needs is executed before, or nothing of the session is any more.

#![allow(clippy::unwrap_used)]

mod support;

use gtrace_cuda::payload;
use gtrace_protocol::{After, Flags, HEADER_LEN, control, op_id};
use support::{Answer, Client, Server, bytes, target};

/// Sends an upload of which half is missing: the connection breaks in the middle of it.
fn half_an_upload(client: &mut Client, to: u64) -> After {
    let upload = payload::Upload {
        to,
        stream: payload::SYNCHRONOUS,
    };
    let small = bytes(&upload);
    let mut header = client.header(op_id("cuMemcpyHtoD_v2"), Flags::ONE_WAY);
    header.set_payload(small.len(), 4096);
    let len = HEADER_LEN + small.len();
    let room = client.link.tx.reserve(len).unwrap();
    room[..HEADER_LEN].copy_from_slice(&header.to_bytes());
    room[HEADER_LEN..len].copy_from_slice(&small);
    client.link.tx.commit(len);
    client.link.tx.bulk(&[7; 2048]).unwrap();
    After::new(client.welcome.lane, client.seq)
}

/// A call that is to come after `after`, and the next frame that is no credit.
fn call_after(client: &mut Client, after: After) -> Answer {
    let mut header = client.header(op_id("cuCtxSynchronize"), Flags::default());
    header.after = after.0;
    client.send(header, &[], &[]).unwrap();
    loop {
        let answer = client.receive().unwrap();
        if answer.header.op != control::CREDIT {
            return answer;
        }
    }
}

fn goodbye(answer: &Answer) -> String {
    assert_eq!(answer.header.op, control::GOODBYE, "{:?}", answer.header);
    String::from_utf8(answer.small.clone()).unwrap()
}

/// A session with three lanes in one context, and memory.
fn three(server: &Server, link: &str) -> ([Client; 3], u64) {
    let address = server.address(link);
    let mut first = Client::ready(address, link);
    let at = first.alloc(4096).unwrap();
    let mut more = [(); 2].map(|()| {
        let mut lane = Client::open(&target(address, link), Some(&first.session)).unwrap();
        lane.context = first.context;
        lane
    });
    // The server knows them all by now.
    for lane in &mut more {
        assert_eq!(lane.status("cuCtxSynchronize", &[]), 0);
    }
    let [second, third] = more;
    ([first, second, third], at)
}

#[test]
fn a_call_that_needs_a_lost_one_is_not_executed_and_ends_the_session() {
    let server = Server::start(|_| {});
    for link in ["tcp", "unix", "shm"] {
        let ([mut broken, mut second, mut third], at) = three(&server, link);
        let lost = half_an_upload(&mut broken, at);
        drop(broken);
        let reason = goodbye(&call_after(&mut second, lost));
        assert!(reason.contains("lost"), "{link}: {reason}");
        // And every other thread gets an error, whatever it waits for.
        let reason = goodbye(&call_after(&mut third, After(0)));
        assert!(reason.contains("lost"), "{link}: {reason}");
        drop((second, third));
        server.wait_for("its end", |status| status.sessions.is_empty());
    }
}

#[test]
fn a_lane_that_breaks_with_all_its_calls_executed_harms_nobody() {
    let server = Server::start(|_| {});
    let ([mut broken, mut second, _third], at) = three(&server, "tcp");
    broken.upload(at, &[7; 4096]);
    assert_eq!(broken.status("cuCtxSynchronize", &[]), 0);
    let done = After::new(broken.welcome.lane, broken.seq - 1);
    drop(broken);
    assert_eq!(call_after(&mut second, done).header.status, 0);
    assert_eq!(second.download(at, 4096, 4096).unwrap(), [7; 4096]);
}

/// The end of a program asks whether all of its calls were executed.
#[test]
fn an_echo_waits_for_the_calls_of_other_lanes() {
    let server = Server::start(|_| {});
    let ([mut broken, mut second, _third], at) = three(&server, "unix");
    broken.upload(at, &[1; 4096]);
    let done = After::new(broken.welcome.lane, broken.seq);
    let mut header = second.header(control::ECHO, Flags::default());
    header.after = done.0;
    second.send(header, &[], &[]).unwrap();
    assert_eq!(second.receive().unwrap().header.op, control::ECHO);
    let lost = half_an_upload(&mut broken, at);
    drop(broken);
    let mut header = second.header(control::ECHO, Flags::default());
    header.after = lost.0;
    second.send(header, &[], &[]).unwrap();
    goodbye(&second.receive().unwrap());
}
