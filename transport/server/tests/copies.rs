//! Large copies: by each link, and by each way between link and device.

#![allow(clippy::unwrap_used)]

mod support;

use gtrace_cuda::Kind;
use gtrace_cuda::payload::{self, Download, SYNCHRONOUS, Upload};
use gtrace_protocol::{Flags, Writer, op_id};
use support::{Client, Server, bytes, random};

/// What `GTRACE_STAGING` may say; nothing: the server measures.
const WAYS: [&str; 3] = ["pageable", "locked", ""];
const LINKS: [&str; 3] = ["tcp", "unix", "shm"];
const FRAME: usize = 1 << 20;
const INVALID_VALUE: u32 = 1;

fn server(way: &str) -> Server {
    Server::start(|options| {
        let variable = ("GTRACE_STAGING".to_owned(), way.to_owned());
        options.environment.push(variable);
    })
}

fn client(server: &Server, link: &str) -> Client {
    Client::ready(server.address(link), link)
}

fn name(stream: u64, direction: &str) -> String {
    let suffix = match stream {
        SYNCHRONOUS => "_v2",
        _ => "Async_v2",
    };
    format!("cuMemcpy{direction}{suffix}")
}

/// As clients send it: frames of which each but the last says that there is more.
fn upload(client: &mut Client, to: u64, all: &[u8], stream: u64) {
    let frames = all.len().div_ceil(FRAME);
    for (at, piece) in all.chunks(FRAME).enumerate() {
        let upload = Upload {
            to: to + (at * FRAME) as u64,
            stream,
        };
        let mut flags = Flags::ONE_WAY;
        if at + 1 < frames {
            flags = flags.with(Flags::MORE);
        }
        let header = client.header(op_id(&name(stream, "HtoD")), flags);
        client.send(header, &bytes(&upload), piece).unwrap();
    }
}

fn download(client: &mut Client, from: u64, len: usize, stream: u64) -> Result<Vec<u8>, u32> {
    let download = Download {
        from,
        len: len as u64,
        chunk: FRAME as u32,
        stream,
    };
    let header = client.header(op_id(&name(stream, "DtoH")), Flags::default());
    client.send(header, &bytes(&download), &[]).unwrap();
    let mut all = Vec::new();
    loop {
        let answer = client.answer();
        all.extend(answer.bulk);
        if !answer.header.flags.has(Flags::MORE) {
            return match answer.header.status {
                0 => Ok(all),
                status => Err(status),
            };
        }
    }
}

fn new_stream(client: &mut Client, number: u64) -> u64 {
    let stream = Kind::Stream.handle(number);
    let mut w = Writer::default();
    w.u64(stream);
    w.u32(1);
    assert_eq!(client.status("cuStreamCreate", w.as_slice()), 0);
    stream
}

#[test]
fn bytes_return_as_they_were_sent() {
    let all = random(9 << 20, 1);
    for way in WAYS {
        let server = server(way);
        for link in LINKS {
            let mut client = client(&server, link);
            let stream = new_stream(&mut client, 1);
            let at = client.alloc(10 << 20).unwrap();
            // Around the sizes of pieces, and so many bytes that the server has measured.
            let near = [128 << 10, 256 << 10, FRAME, 3 * FRAME];
            let sizes = near.iter().flat_map(|size| [size - 1, *size, size + 1]);
            for (from, len) in sizes.chain([1, 8 << 20]).enumerate() {
                for (stream, what) in [(SYNCHRONOUS, "sync"), (stream, "stream"), (0, "null")] {
                    let from = 3 * from + what.len();
                    let sent = &all[from..from + len];
                    upload(&mut client, at + 3, sent, stream);
                    let back = download(&mut client, at + 3, len, stream).unwrap();
                    assert!(
                        back == sent,
                        "{way} {link} {what}: {len} bytes were changed"
                    );
                }
            }
        }
    }
}

#[test]
fn a_copy_to_nowhere_is_an_error_and_the_lane_goes_on() {
    for way in WAYS {
        let server = server(way);
        for link in LINKS {
            let mut client = client(&server, link);
            let at = client.alloc(2 << 20).unwrap();
            for _ in 0..3 {
                let sent = random(2 << 20, 5);
                upload(&mut client, 8, &sent, SYNCHRONOUS);
                let context = client.call("cuCtxSynchronize", &[]).header.context;
                assert_eq!(context, INVALID_VALUE, "{way} {link}");
                let none = download(&mut client, 8, 2 << 20, SYNCHRONOUS);
                assert_eq!(none, Err(INVALID_VALUE), "{way} {link}");
                // The end of the memory lies within the copy.
                let beyond = download(&mut client, at + (1 << 20), 2 << 20, SYNCHRONOUS);
                assert_eq!(beyond, Err(INVALID_VALUE), "{way} {link}");
                upload(&mut client, at, &sent, SYNCHRONOUS);
                let back = download(&mut client, at, 2 << 20, SYNCHRONOUS).unwrap();
                assert!(back == sent, "{way} {link}");
            }
        }
    }
}

#[test]
fn a_copy_that_is_broken_off_spoils_no_other() {
    let server = server("locked");
    for link in LINKS {
        let mut client = client(&server, link);
        let at = client.alloc(4 << 20).unwrap();
        for round in 2..20 {
            let stream = new_stream(&mut client, round);
            // It says that more comes, and then its stream is gone.
            let header = client.header(
                op_id("cuMemcpyHtoDAsync_v2"),
                Flags::ONE_WAY.with(Flags::MORE),
            );
            let begun = bytes(&Upload { to: at, stream });
            client.send(header, &begun, &random(FRAME, round)).unwrap();
            client.one_way("cuStreamDestroy_v2", &stream.to_le_bytes(), &[]);
            let sent = random(2 << 20, round);
            upload(&mut client, at + (2 << 20), &sent, SYNCHRONOUS);
            let back = download(&mut client, at + (2 << 20), 2 << 20, SYNCHRONOUS).unwrap();
            assert!(back == sent, "{link}");
        }
    }
}

#[test]
fn copies_outlive_the_context_that_the_memory_was_locked_in() {
    let server = server("locked");
    for link in LINKS {
        let mut client = client(&server, link);
        for round in 0..4 {
            let at = client.alloc(2 << 20).unwrap();
            let sent = random(2 << 20, round);
            upload(&mut client, at, &sent, SYNCHRONOUS);
            let back = download(&mut client, at, 2 << 20, SYNCHRONOUS).unwrap();
            assert!(back == sent, "{link}");
            let device = 0i32.to_le_bytes();
            assert_eq!(
                client.status("cuDevicePrimaryCtxRelease_v2", &device),
                0,
                "{link}"
            );
            client.context = 0;
            let number = 2 + round as u32;
            let mut w = Writer::default();
            w.u64(Kind::Context.handle(number.into()));
            w.i32(0);
            assert_eq!(
                client.status("cuDevicePrimaryCtxRetain", w.as_slice()),
                0,
                "{link}"
            );
            client.context = number;
        }
    }
}

#[test]
fn an_answer_has_pieces_no_larger_than_the_client_wants() {
    for way in WAYS {
        let server = server(way);
        let mut client = client(&server, "tcp");
        let at = client.alloc(2 << 20).unwrap();
        let sent = random(2 << 20, 3);
        upload(&mut client, at, &sent, SYNCHRONOUS);
        for chunk in [0, 1, 4096, 5000, 100_000, u32::MAX] {
            let download = payload::Download {
                from: at,
                len: 2 << 20,
                chunk,
                stream: SYNCHRONOUS,
            };
            let header = client.header(op_id("cuMemcpyDtoH_v2"), Flags::default());
            client.send(header, &bytes(&download), &[]).unwrap();
            let mut back = Vec::new();
            while back.len() < sent.len() {
                let answer = client.answer();
                assert_eq!(answer.header.status, 0);
                assert!(answer.bulk.len() <= (chunk as usize).max(4096));
                back.extend(answer.bulk);
            }
            assert!(back == sent, "{way}: pieces of {chunk}");
        }
    }
}

/// A driver may read pageable bytes of an asynchronous copy when the stream comes to it. What the link and the lane's own
/// memory have there meanwhile are other bytes.
#[test]
fn bytes_that_the_driver_has_not_read_are_not_used_again() {
    for link in ["tcp", "shm"] {
        let server = Server::start(|options| {
            for (name, value) in [
                ("GTRACE_SOFTGPU_PAGEABLE", "late"),
                ("GTRACE_STAGING", "pageable"),
            ] {
                options.environment.push((name.into(), value.into()));
            }
        });
        let mut client = client(&server, link);
        let [waits, goes] = [1, 2].map(|number| new_stream(&mut client, number));
        let flag = client.alloc(4).unwrap();
        let at = client.alloc(1 << 20).unwrap();
        let other = client.alloc(1 << 20).unwrap();
        upload(&mut client, flag, &[0; 4], SYNCHRONOUS);
        client.wait_value(waits, flag, 1);
        let sent = random(60 << 10, 5);
        for (number, piece) in sent.chunks(20 << 10).enumerate() {
            let to = at + (number * (20 << 10)) as u64;
            upload(&mut client, to, piece, waits);
        }
        // More than the ring has, and all of the lane's own memory.
        let junk = random(60 << 10, 6);
        for _ in 0..80 {
            upload(&mut client, other, &junk, goes);
        }
        upload(&mut client, flag, &1u32.to_le_bytes(), SYNCHRONOUS);
        let back = download(&mut client, at, sent.len(), waits).unwrap();
        assert!(back == sent, "{link}: other bytes were copied");
        let back = download(&mut client, other, junk.len(), goes).unwrap();
        assert!(back == junk, "{link}: other bytes were copied");
    }
}
