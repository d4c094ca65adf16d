//! Times of what the GPU did for calls, for clients that ask for them.

#![allow(clippy::unwrap_used)]

mod support;

use gtrace_cuda::Kind;
use gtrace_cuda::payload::{Download, Upload};
use gtrace_protocol::{After, Flags, Works, Writer, control, op_id};
use support::{Client, Server, bytes, target};

/// Copies four bytes to `to` in the default stream, to be timed; the number of the frame.
fn timed(client: &mut Client, to: u64) -> u64 {
    let mut header = client.header(op_id("cuMemcpyHtoDAsync_v2"), Flags::ONE_WAY);
    header.set_work_stream(0);
    let upload = bytes(&Upload { to, stream: 0 });
    client.send(header, &upload, &[1; 4]).unwrap();
    client.seq
}

/// Sends a call that waits for all of them.
fn wait(client: &mut Client) {
    let header = client.header(op_id("cuCtxSynchronize"), Flags::default());
    client.send(header, &[], &[]).unwrap();
}

/// The frames whose times are in the next one.
fn reported(client: &mut Client) -> Vec<u64> {
    let frame = client.receive().unwrap();
    assert_eq!(frame.header.op, control::WORK);
    let works = Works::read(&frame.small).unwrap();
    works.0.iter().map(|work| work.seq).collect()
}

#[test]
fn all_that_has_ended_is_reported_with_one_answer() {
    let server = Server::start(|_| {});
    let mut client = Client::ready(server.tcp(), "tcp");
    let at = client.alloc(4).unwrap();
    let sent: Vec<_> = (0..3000).map(|_| timed(&mut client, at)).collect();
    wait(&mut client);
    assert_eq!(reported(&mut client), sent);
    assert_eq!(client.answer().header.status, 0);
}

/// A program that waits by copies to the host has no other answers.
#[test]
fn work_is_reported_behind_an_answer_with_bytes() {
    let server = Server::start(|_| {});
    let mut client = Client::ready(server.tcp(), "tcp");
    let at = client.alloc(4).unwrap();
    let sent = timed(&mut client, at);
    assert_eq!(client.download(at, 4, 4096), Ok(vec![1; 4]));
    assert_eq!(reported(&mut client), [sent]);
}

/// Clients compare their clock with the server's by when an answer was sent.
#[test]
fn an_answer_with_bytes_was_sent_when_they_were_copied() {
    let server = Server::start(|_| {});
    let mut client = Client::ready(server.tcp(), "tcp");
    let mut other = Client::open(&target(server.tcp(), "tcp"), Some(&client.session)).unwrap();
    other.context = client.context;
    let flag = client.alloc(4).unwrap();
    client.upload(flag, &[0; 4]);
    let stream = Kind::Stream.handle(1);
    let mut w = Writer::default();
    w.u64(stream);
    w.u32(1); // CU_STREAM_NON_BLOCKING
    let created = client.call("cuStreamCreate", w.as_slice());
    assert_eq!(created.header.status, 0);
    client.wait_value(stream, flag, 1);
    let download = Download {
        from: flag,
        len: 4,
        chunk: 4096,
        stream,
    };
    let header = client.header(op_id("cuMemcpyDtoHAsync_v2"), Flags::default());
    client.send(header, &bytes(&download), &[]).unwrap();
    // The copy waits for what the other lane writes after this.
    let header = other.header(control::ECHO, Flags::default());
    other.send(header, &[], &[]).unwrap();
    let before = other.receive().unwrap().header;
    assert_eq!(before.op, control::ECHO);
    other.upload(flag, &1u32.to_le_bytes());
    let copied = client.answer();
    assert_eq!(copied.bulk, 1u32.to_le_bytes());
    assert!(copied.header.sent_ns > before.sent_ns);
}

/// What is looked up before contexts end, by calls that nobody waits for, is not kept without end either.
#[test]
fn a_server_keeps_times_up_to_a_bound() {
    // That many are timed at once.
    const AT_ONCE: usize = 4096;
    let (_server, mut client) = Server::with_client(|_| {});
    let at = client.alloc(4).unwrap();
    for _ in 0..Works::MOST / AT_ONCE + 2 {
        for _ in 0..AT_ONCE {
            timed(&mut client, at);
        }
        client.one_way("cuCtxSynchronize", &[], &[]);
        // There is none of this name.
        let context = Kind::Context.handle(99);
        client.one_way("cuCtxDestroy_v2", &context.to_le_bytes(), &[]);
    }
    let mut times = 0;
    for _ in 0..3 {
        wait(&mut client);
        loop {
            let frame = client.receive().unwrap();
            match frame.header.op {
                control::WORK => times += Works::read(&frame.small).unwrap().0.len(),
                control::CREDIT => {}
                _ => break,
            }
        }
    }
    assert_eq!(times, Works::MOST + AT_ONCE);
}

#[test]
fn a_context_that_ends_takes_no_times_of_another() {
    let server = Server::start(|_| {});
    let mut one = Client::ready(server.tcp(), "tcp");
    let at = one.alloc(4).unwrap();
    let sent = timed(&mut one, at);
    let mut two = Client::open(&target(server.tcp(), "tcp"), Some(&one.session)).unwrap();
    let context = Kind::Context.handle(2);
    let mut w = Writer::default();
    w.u64(context);
    w.u32(0);
    w.i32(0);
    let mut header = two.header(op_id("cuCtxCreate_v2"), Flags::default());
    header.after = After::new(one.welcome.lane, sent).0;
    two.send(header, w.as_slice(), &[]).unwrap();
    assert_eq!(two.answer().header.status, 0);
    assert_eq!(two.status("cuCtxDestroy_v2", &context.to_le_bytes()), 0);
    wait(&mut one);
    assert_eq!(reported(&mut one), [sent]);
}
