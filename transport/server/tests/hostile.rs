//! Clients that do not keep to the protocol, and those that die.

#![allow(clippy::unwrap_used)]

mod support;

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use gtrace_cuda::Kind;
use gtrace_cuda::payload::{
    self, Extent, NodeCall, NodePlace, NodeWork, Payload as _, Pitched, Side, SideKind,
};
use gtrace_link::{LinkError, Token};
use gtrace_protocol::{
    ClientHello, ECHO_BULK_MAX, Flags, GREETING_LEN, Greeting, HEADER_LEN, Header, PREAMBLE_LEN,
    Preamble, Reader, Refused, Writer, control, op_id,
};
use sha2::{Digest as _, Sha256};
use support::{Client, Server, bytes, random, target};

fn counted(server: &Server, reason: &str, at_least: u64) {
    server.wait_for(reason, |status| {
        status.counters.refused.get(reason).copied().unwrap_or(0) >= at_least
    });
}

/// The server's first bytes, which everybody gets.
fn greeted(stream: &mut TcpStream) {
    let mut greeting = [0; GREETING_LEN];
    stream.read_exact(&mut greeting).unwrap();
    assert!(Greeting::parse(&greeting).is_ok());
}

/// That another client is served as if nothing were.
fn serves(server: &Server) {
    let mut client = Client::ready(server.unix(), "unix");
    let at = client.alloc(4096).unwrap();
    assert_eq!(client.free(at), 0);
}

#[test]
fn what_is_no_client_is_closed_and_counted() {
    let server = Server::start(|options| options.preamble_deadline = Duration::from_millis(300));
    // A web browser.
    let mut stream = TcpStream::connect(server.tcp()).unwrap();
    stream
        .write_all(b"GET / HTTP/1.1\r\nHost: gpu\r\n\r\n")
        .unwrap();
    greeted(&mut stream);
    assert_eq!(stream.read(&mut [0; 64]).unwrap_or(0), 0);
    counted(&server, "garbage", 1);
    // A port scan: connects, and goes.
    drop(TcpStream::connect(server.tcp()).unwrap());
    counted(&server, "closed", 1);
    // Many that say nothing keep nobody waiting, and are closed.
    let silent: Vec<TcpStream> = (0..100)
        .map(|_| TcpStream::connect(server.tcp()).unwrap())
        .collect();
    let began = Instant::now();
    serves(&server);
    assert!(began.elapsed() < Duration::from_secs(5));
    counted(&server, "timeout", 100);
    for mut stream in silent {
        greeted(&mut stream);
        assert_eq!(stream.read(&mut [0; 1]).unwrap(), 0);
    }
    // Half a preamble.
    let mut stream = UnixStream::connect(server.unix().trim_start_matches("unix:")).unwrap();
    stream
        .write_all(&Preamble::new(false, false).to_bytes()[..20])
        .unwrap();
    counted(&server, "timeout", 101);
    serves(&server);
    assert!(server.status().counters.accepted >= 104);
}

#[test]
fn another_version_and_an_ended_session_are_reported() {
    let server = Server::start(|_| {});
    for (version, further, wanted) in [(9u16, false, "version"), (2, true, "session")] {
        let mut preamble = Preamble::new(false, further).to_bytes();
        preamble[8..10].copy_from_slice(&version.to_le_bytes());
        preamble[10..12].copy_from_slice(&version.to_le_bytes());
        let mut stream = TcpStream::connect(server.tcp()).unwrap();
        stream.write_all(&preamble).unwrap();
        let mut reply = Vec::new();
        stream.read_to_end(&mut reply).unwrap();
        let text = String::from_utf8_lossy(&reply[GREETING_LEN + HEADER_LEN..]).into_owned();
        assert!(text.contains(wanted), "{text}");
        counted(&server, wanted, 1);
    }
}

#[test]
fn a_preamble_and_then_nothing_leaves_no_worker() {
    let server = Server::start(|_| {});
    let mut streams = Vec::new();
    for _ in 0..3 {
        let mut stream = TcpStream::connect(server.tcp()).unwrap();
        stream
            .write_all(&Preamble::new(false, false).to_bytes())
            .unwrap();
        streams.push(stream);
    }
    server.wait_for("workers", |status| status.sessions.len() == 3);
    server.wait_for("no workers", |status| status.sessions.is_empty());
    counted(&server, "timeout", 3);
    drop(streams);
    serves(&server);
}

#[test]
fn a_wrong_token_is_refused_and_the_right_one_let_in() {
    let server = Server::start(|options| options.token = Some("the token of this server".into()));
    let refused = |token: Option<&[u8]>| {
        let mut target = target(server.tcp(), "tcp");
        target.token = token.map(|token| Token::new(token).unwrap());
        match Client::open(&target, None) {
            Err(LinkError::Refused(refused)) => refused.reason,
            other => panic!("{:?}", other.map(|client| client.welcome)),
        }
    };
    assert!(refused(Some(b"the token of another server")).contains("token"));
    assert!(refused(None).contains("token"));
    counted(&server, "token", 1);
    let mut target = target(server.tcp(), "tcp");
    target.token = Some(Token::new(b"the token of this server").unwrap());
    let mut client = Client::open(&target, None).unwrap();
    client.snapshot();
    // A lane of that session needs its secret.
    let mut session = client.session.clone();
    assert!(Client::open(&target, Some(&session)).is_ok());
    session.secret[0] ^= 1;
    let wrong = Client::open(&target, Some(&session));
    assert!(matches!(wrong, Err(LinkError::Refused(_))));
}

#[test]
fn arguments_that_cannot_be_read_are_answered() {
    let server = Server::start(|_| {});
    let mut client = Client::ready(server.unix(), "unix");
    for (op, arguments) in [
        ("cuMemAlloc_v2", &[0u8; 3][..]),
        ("cuMemAlloc_v2", &[0; 9]),
        ("cuModuleGetFunction", &[0xff; 40]),
        ("cuModuleLoadData", &[0xff; 100]),
        ("cuLaunchKernel", &[0xff; 200]),
        ("cuMemcpyDtoH_v2", &[]),
        ("gtrace.snapshot", &[9]),
    ] {
        let answer = client.call(op, arguments);
        assert_eq!(answer.header.status, 1, "{op}");
    }
    // Bulk bytes where none belong are passed over.
    let answer = client.call_op(op_id("cuCtxSynchronize"), &[], &[7; 100_000]);
    assert_eq!(answer.header.status, 0);
    // More bytes than there are cannot be had, and nothing is sent for them.
    assert!(client.download(0x1000, u64::MAX, 4096).is_err());
    let at = client.alloc(4096).unwrap();
    assert!(client.download(at, 1 << 40, 1 << 20).is_err());
    client.upload(at + 4000, &[1; 4096]);
    assert_ne!(client.call("cuCtxSynchronize", &[]).header.context, 0);
    assert_eq!(client.free(at), 0);
}

/// Nodes of graphs lead neither to memory of the server's process nor to objects that the client does not
/// have.
#[test]
fn nodes_lead_nowhere_but_to_the_device() {
    let server = Server::start(|_| {});
    let mut client = Client::ready(server.unix(), "unix");
    let graph = Kind::Graph.handle(1);
    client.one_way(
        "cuGraphCreate",
        &[&graph.to_le_bytes()[..], &[0; 4]].concat(),
        &[],
    );
    let side = |kind, place| Side {
        kind,
        place,
        x: 0,
        y: 0,
        z: 0,
        lod: 0,
        pitch: 0,
        height: 0,
    };
    let at = client.alloc(64).unwrap();
    let copy = |from| Pitched {
        from,
        to: side(SideKind::Device, at),
        extent: Extent {
            width: 64,
            height: 1,
            depth: 1,
        },
        chunk: 0,
        stream: 0,
    };
    let mut number = 0;
    let mut add = |client: &mut Client, work: NodeWork<'_>, after: Vec<(u64, [u8; 8])>| {
        number += 1;
        let place = NodePlace::Add {
            node: Kind::GraphNode.handle(number),
            graph,
            after,
        };
        let call = bytes(&NodeCall { place, work });
        client
            .call_op(payload::GRAPH_NODE, &call, &[])
            .header
            .status
    };
    let memcpy = |copy| NodeWork::Memcpy { copy, context: 0 };
    let good = memcpy(copy(side(SideKind::Device, at)));
    assert_eq!(add(&mut client, good, Vec::new()), 0);
    let own = Box::new([7u8; 64]);
    let address = own.as_ptr() as u64;
    for kind in [SideKind::Client, SideKind::Device] {
        let status = add(&mut client, memcpy(copy(side(kind, address))), Vec::new());
        assert_eq!(status, 1, "{kind:?}");
    }
    let array = memcpy(copy(side(SideKind::Array, 5)));
    assert_eq!(add(&mut client, array, Vec::new()), 400);
    let stranger = vec![(Kind::GraphNode.handle(99), [0; 8])];
    assert_eq!(add(&mut client, NodeWork::Empty, stranger), 400);
    let odd_edge = vec![(Kind::GraphNode.handle(1), [9; 8])];
    assert_eq!(add(&mut client, NodeWork::Empty, odd_edge), 1);
    assert_eq!(
        add(&mut client, NodeWork::Child { graph: 7 }, Vec::new()),
        400
    );
    assert_eq!(
        add(&mut client, NodeWork::EventWait { event: at }, Vec::new()),
        400
    );
    assert_eq!(
        add(&mut client, NodeWork::MemFree { address: at }, Vec::new()),
        1
    );
    let conditional = NodeWork::Conditional {
        handle: u64::MAX,
        kind: 1,
        bodies: 1,
        context: 0,
    };
    assert_eq!(add(&mut client, conditional, Vec::new()), 1);
    let huge = NodeWork::MemAlloc {
        pool: [0xff; payload::POOL_PROPERTIES],
        accesses: vec![[0xff; payload::ACCESS]; 1000],
        size: u64::MAX,
    };
    assert_ne!(add(&mut client, huge, Vec::new()), 0);
    for op in [
        payload::GRAPH_NODE,
        payload::GRAPH_KERNEL,
        payload::GRAPH_COPY,
        payload::GRAPH_HOST,
        payload::GRAPH_MEMORY,
        payload::GRAPH_INSTANTIATE,
        payload::GRAPH_UPDATE,
        payload::CAPTURE_INFO,
    ] {
        for garbage in [&[][..], &[0xff; 7], &[0xff; 300]] {
            assert_ne!(client.call_op(op, garbage, &[]).header.status, 0);
        }
    }
    assert_eq!(client.free(at), 0);
    serves(&server);
}

/// A graph would lead to memory of the server's process long after that is something else's.
#[test]
fn copies_of_the_client_are_no_part_of_a_capture() {
    const CAPTURE_UNSUPPORTED: u32 = 900;
    let server = Server::start(|_| {});
    for link in ["unix", "shm"] {
        let mut client = Client::ready(server.unix(), link);
        let at = client.alloc(1 << 20).unwrap();
        let stream = Kind::Stream.handle(1);
        let create = [&stream.to_le_bytes()[..], &1u32.to_le_bytes()].concat();
        assert_eq!(client.call("cuStreamCreate", &create).header.status, 0);
        let side = |kind, place| Side {
            kind,
            place,
            x: 0,
            y: 0,
            z: 0,
            lod: 0,
            pitch: 64,
            height: 0,
        };
        let (own, device) = (side(SideKind::Client, 0), side(SideKind::Device, at));
        let pitched = |from, to| {
            bytes(&Pitched {
                from,
                to,
                extent: Extent {
                    width: 64,
                    height: 2,
                    depth: 1,
                },
                chunk: 4096,
                stream,
            })
        };
        let mut ticket = 0;
        let mut statuses = |client: &mut Client| {
            let mut found = Vec::new();
            let upload = bytes(&payload::Upload { to: at, stream });
            for len in [100, 20_000, 600_000] {
                let answer =
                    client.call_op(op_id("cuMemcpyHtoDAsync_v2"), &upload, &random(len, 1));
                found.push(answer.header.status);
                let download = payload::Download {
                    from: at,
                    len: len as u64,
                    chunk: 1 << 20,
                    stream,
                };
                let header = client.header(op_id("cuMemcpyDtoHAsync_v2"), Flags::default());
                client.send(header, &bytes(&download), &[]).unwrap();
                let mut answer = client.answer();
                while answer.header.flags.has(Flags::MORE) {
                    answer = client.answer();
                }
                found.push(answer.header.status);
            }
            let op = op_id("cuMemcpy2DAsync_v2");
            let answer = client.call_op(op, &pitched(own, device), &[1; 128]);
            found.push(answer.header.status);
            let answer = client.call_op(op, &pitched(device, own), &[]);
            found.push(answer.header.status);
            ticket += 1;
            let deferred_copy = bytes(&payload::DeferredCopy {
                ticket,
                from: at,
                len: 1000,
                stream,
            });
            let answer = client.call_op(payload::DEFER_COPY, &deferred_copy, &[]);
            found.push(answer.header.status);
            found
        };
        assert_eq!(statuses(&mut client), [0; 9], "{link}");
        // In each mode.
        for mode in 0..3u32 {
            let begin = [&stream.to_le_bytes()[..], &mode.to_le_bytes()].concat();
            let begun = client.call("cuStreamBeginCapture_v2", &begin);
            assert_eq!(begun.header.status, 0);
            let found = statuses(&mut client);
            assert_eq!(found, [CAPTURE_UNSUPPORTED; 9], "{link}, mode {mode}");
            // Nothing of it was put into the capture, which goes on.
            let ended = client.call("cuStreamEndCapture", &stream.to_le_bytes());
            assert_eq!(ended.header.status, 0);
            assert_eq!(statuses(&mut client), [0; 9], "{link}, mode {mode}");
        }
    }
    serves(&server);
}

/// A driver is not given the length of an image: it relies on the image's headers.
#[test]
fn images_that_lead_out_of_themselves_are_refused() {
    const INVALID_IMAGE: u32 = 200;
    let server = Server::start(|_| {});
    let mut client = Client::ready(server.unix(), "unix");
    let link = Kind::Link.handle(1);
    let create = payload::LinkCreate {
        handle: link,
        jit: payload::JitOptions::default(),
    };
    assert_eq!(
        client
            .call("cuLinkCreate_v2", &bytes(&create))
            .header
            .status,
        0
    );
    // In the middle of what is never mapped.
    let wrapper = [0x1_4662_43b1_u64, 1 << 60, 0]
        .map(u64::to_le_bytes)
        .concat();
    let fat = |size: u64| {
        let mut image = [0x10_0001_ba55_ed50_u64, size]
            .map(u64::to_le_bytes)
            .concat();
        image.extend([0; 64]);
        image
    };
    let mut elf = [0; 64];
    elf[..6].copy_from_slice(b"\x7fELF\x02\x01");
    elf[40..48].copy_from_slice(&(1u64 << 40).to_le_bytes());
    (elf[58], elf[60]) = (64, 1);
    for (what, image) in [
        ("a wrapper", &wrapper[..]),
        ("a short one", b"PTX\0"),
        ("a fat binary", &fat(65)),
        ("a large fat binary", &fat(u64::MAX)),
        ("an ELF file", &elf),
    ] {
        for (kind, op) in [
            (payload::LoadKind::Module, "cuModuleLoadData"),
            (payload::LoadKind::Library, "cuLibraryLoadData"),
        ] {
            let load = payload::Load {
                kind,
                handle: match kind {
                    payload::LoadKind::Module => Kind::Module.handle(1),
                    payload::LoadKind::Library => Kind::Library.handle(1),
                },
                hash: Sha256::digest(image).into(),
                size: image.len() as u64,
                jit: payload::JitOptions::default(),
                library: Vec::new(),
            };
            let answer = client.call_op(op_id(op), &bytes(&load), image);
            assert_eq!(answer.header.status, INVALID_IMAGE, "{what}: {op}");
        }
        // PTX, fat binary, and none of the kinds.
        for kind in [1, 2, 99] {
            let add = payload::LinkAdd {
                state: link,
                kind,
                name: "",
                jit: payload::JitOptions::default(),
            };
            let answer = client.call_op(op_id("cuLinkAddData_v2"), &bytes(&add), image);
            assert_eq!(answer.header.status, INVALID_IMAGE, "{what}: {kind}");
        }
    }
    serves(&server);
}

/// The image of a linker lies in memory of the driver, which another lane may have freed while it is sent.
#[test]
fn a_linked_image_is_sent_whole_whoever_destroys_the_linker() {
    let server = Server::start(|_| {});
    let mut client = Client::ready(server.unix(), "unix");
    let link = Kind::Link.handle(1);
    let create = payload::LinkCreate {
        handle: link,
        jit: payload::JitOptions::default(),
    };
    let created = client.call("cuLinkCreate_v2", &bytes(&create));
    assert_eq!(created.header.status, 0);
    // More than the driver's allocator keeps when it is freed.
    let mut text = b".version 8.0\n.target sm_90\n.address_size 64\n".to_vec();
    text.resize(12 << 20, b' ');
    for _ in 0..3 {
        let add = payload::LinkAdd {
            state: link,
            kind: 1,
            name: "",
            jit: payload::JitOptions::default(),
        };
        let added = client.call_op(op_id("cuLinkAddData_v2"), &bytes(&add), &text);
        assert_eq!(added.header.status, 0);
    }
    let header = client.header(op_id("cuLinkComplete"), Flags::default());
    client.send(header, &link.to_le_bytes(), &[]).unwrap();
    // Sending has begun, and cannot go on.
    let end = Instant::now() + Duration::from_secs(60);
    while !client.link.rx.ready(HEADER_LEN).unwrap() {
        assert!(Instant::now() < end, "no answer");
        std::thread::sleep(Duration::from_millis(10));
    }
    let mut other = Client::open(&target(server.unix(), "unix"), Some(&client.session)).unwrap();
    other.context = 1;
    let destroyed = other.call("cuLinkDestroy", &link.to_le_bytes());
    assert_eq!(destroyed.header.status, 0);
    let mut image = Vec::new();
    loop {
        let answer = client.answer();
        assert_eq!(answer.header.status, 0);
        image.extend(answer.bulk);
        if !answer.header.flags.has(Flags::MORE) {
            break;
        }
    }
    text.extend(b"\n\0");
    assert!(image.len() > 3 * text.len() && image.ends_with(&text));
    let gone = client.call("cuLinkComplete", &link.to_le_bytes());
    assert_eq!(gone.header.status, 400);
}

/// The tickets of the pieces that come, and the final message.
fn take(client: &mut Client, ticket: u64) -> (Vec<(u64, usize)>, payload::Taken) {
    let header = client.header(payload::COLLECT, Flags::default());
    client.send(header, &ticket.to_le_bytes(), &[]).unwrap();
    let mut pieces = Vec::new();
    loop {
        let answer = client.receive().unwrap();
        let mut reader = Reader::new(&answer.small);
        if !answer.header.flags.has(Flags::MORE) {
            let taken = payload::Taken::read(&mut reader).unwrap();
            return (pieces, taken);
        }
        let piece = payload::Piece::read(&mut reader).unwrap();
        pieces.push((piece.ticket, answer.bulk.len()));
    }
}

#[test]
fn asynchronous_copies_are_bounded_and_checked() {
    let server = Server::start(|_| {});
    let mut client = Client::ready(server.unix(), "unix");
    let all = (payload::BLOCK * payload::BLOCKS) as u64;
    let at = client.alloc(2 * all).unwrap();
    let deferred_copy = |ticket, from, len, stream| {
        bytes(&payload::DeferredCopy {
            ticket,
            from,
            len,
            stream,
        })
    };
    // One that is good, and what is wrong with others.
    let defer_copy = |client: &mut Client, ticket, from, len, stream| {
        let small = deferred_copy(ticket, from, len, stream);
        client
            .call_op(payload::DEFER_COPY, &small, &[])
            .header
            .status
    };
    assert_eq!(defer_copy(&mut client, 1, at, 100_000, 0), 0);
    assert_eq!(defer_copy(&mut client, 1, at, 1, 0), 1, "a ticket in use");
    assert_eq!(defer_copy(&mut client, 0, at, 1, 0), 1);
    assert_eq!(defer_copy(&mut client, 2, at, 0, 0), 1);
    assert_ne!(defer_copy(&mut client, 3, at, 1, 99), 0, "no such stream");
    assert_eq!(defer_copy(&mut client, 4, at, all, 0), 2);
    assert_eq!(defer_copy(&mut client, 5, at, u64::MAX, 0), 2);
    assert_eq!(defer_copy(&mut client, 6, 64, 10, 0), 1, "no such memory");
    let (pieces, taken) = take(&mut client, 1);
    assert_eq!(pieces, [(1, payload::BLOCK), (1, 100_000 - payload::BLOCK)]);
    assert_eq!(taken.failed, [1, 0, 2, 4, 5, 6]);
    assert!(taken.in_flight_on_other_lanes.is_empty());
    // Its room is free again, in whatever pieces.
    for ticket in 10..20 {
        assert_eq!(defer_copy(&mut client, ticket, at, all, 0), 0);
        let (pieces, _) = take(&mut client, ticket);
        assert_eq!(pieces.len(), payload::BLOCKS);
    }
    assert_eq!(
        take(&mut client, 77),
        (Vec::new(), payload::Taken::default())
    );
    // A context that ends with copies under way.
    assert_eq!(defer_copy(&mut client, 30, at, 5, 0), 0);
    assert_eq!(
        client
            .call("cuDevicePrimaryCtxReset_v2", &0i32.to_le_bytes())
            .header
            .status,
        0
    );
    assert_eq!(take(&mut client, 30).0, [(30, 5)]);
    for garbage in [&[][..], &[0xff; 7], &[0xff; 300]] {
        for op in [payload::DEFER_COPY, payload::COLLECT] {
            assert_ne!(client.call_op(op, garbage, &[]).header.status, 0);
        }
    }
    // Gone while it waits, and with copies that it never took.
    drop(client);
    server.wait_for("no sessions", |status| status.sessions.is_empty());
    serves(&server);
}

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
        let address = match link {
            "tcp" => server.tcp(),
            _ => server.unix(),
        };
        let mut client = Client::ready(address, link);
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
        let address = if link == "tcp" {
            server.tcp()
        } else {
            server.unix()
        };
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
fn the_memory_limit_is_the_sessions() {
    let server = Server::start(|options| options.limits.max_memory = Some(64 << 20));
    let mut client = Client::ready(server.unix(), "unix");
    assert_eq!(client.snapshot().devices[0].total_memory, 64 << 20);
    let at = client.alloc(48 << 20).unwrap();
    assert_eq!(client.alloc(17 << 20), Err(2));
    let info = client.call("cuMemGetInfo_v2", &[]).small;
    assert_eq!(info[..8], (16u64 << 20).to_le_bytes());
    assert_eq!(info[8..], (64u64 << 20).to_le_bytes());
    let two = Client::open(&target(server.unix(), "unix"), Some(&client.session));
    let mut two = two.unwrap();
    two.context = 1;
    assert_eq!(two.alloc(17 << 20), Err(2), "another lane");
    assert_eq!(client.free(at), 0);
    assert!(two.alloc(64 << 20).is_ok());
    // Rows that the driver makes longer than they were asked for.
    let mut other = Client::ready(server.unix(), "unix");
    let pitched = |rows: u64| {
        let numbers = [1, rows].map(u64::to_le_bytes);
        [numbers.as_flattened(), &4u32.to_le_bytes()].concat()
    };
    let answer = other.call("cuMemAllocPitch_v2", &pitched(1 << 20));
    assert_eq!((answer.header.status, answer.small.len()), (2, 0));
    let answer = other.call("cuMemAllocPitch_v2", &pitched(1 << 10));
    assert_eq!(answer.header.status, 0);
    drop(other);
    // Another client has its own.
    assert!(Client::ready(server.unix(), "unix").alloc(64 << 20).is_ok());
}

/// Numbers of textures and surfaces are the driver's own: only those that this client was given reach it.
#[test]
fn textures_are_those_that_were_made_and_arrays_count_as_memory() {
    const INVALID_VALUE: u32 = 1;
    const OUT_OF_MEMORY: u32 = 2;
    let server = Server::start(|options| options.limits.max_memory = Some(1 << 20));
    let mut client = Client::ready(server.unix(), "unix");
    let numbers = |values: &[u64]| -> Vec<u8> {
        values
            .iter()
            .flat_map(|value| value.to_le_bytes())
            .collect()
    };
    let array = Kind::Array.handle(1);
    // Width, height, depth, format and channels, flags: numbers of 32 bits that surfaces may write.
    let create = |width: u64| numbers(&[array, width, 64, 0, 1 << 32 | 0x20, 2]);
    let status = |client: &mut Client, op: &str, small: &[u8]| client.call(op, small).header.status;
    assert_eq!(
        status(&mut client, "cuArray3DCreate_v2", &create(8192)),
        OUT_OF_MEMORY
    );
    assert_eq!(
        status(&mut client, "cuArray3DCreate_v2", &create(u64::MAX)),
        OUT_OF_MEMORY
    );
    assert_eq!(status(&mut client, "cuArray3DCreate_v2", &create(2048)), 0);
    assert_eq!(client.alloc(1 << 20), Err(OUT_OF_MEMORY));
    for op in ["cuTexObjectDestroy", "cuSurfObjectDestroy"] {
        for number in [0, 1, array, u64::MAX] {
            assert_eq!(status(&mut client, op, &numbers(&[number])), INVALID_VALUE);
        }
    }
    let surface = client.call(
        "cuSurfObjectCreate",
        &bytes(&payload::Resource::Array(array)),
    );
    assert_eq!(surface.header.status, 0);
    // Of another kind, and then twice.
    assert_eq!(
        status(&mut client, "cuTexObjectDestroy", &surface.small),
        INVALID_VALUE
    );
    assert_eq!(
        status(&mut client, "cuSurfObjectDestroy", &surface.small),
        0
    );
    assert_eq!(
        status(&mut client, "cuSurfObjectDestroy", &surface.small),
        INVALID_VALUE
    );
    assert_eq!(status(&mut client, "cuArrayDestroy", &numbers(&[array])), 0);
    for resource in [
        payload::Resource::Array(array),
        payload::Resource::Mipmapped(Kind::Array.handle(2)),
        payload::Resource::Array(Kind::Stream.handle(1)),
        payload::Resource::Linear {
            address: 0x1000,
            format: 0x20,
            channels: 1,
            bytes: u64::MAX,
        },
    ] {
        let create = payload::TextureCreate {
            resource,
            description: [u32::MAX; payload::TEXTURE_WORDS],
            view: None,
        };
        assert_eq!(
            status(&mut client, "cuTexObjectCreate", &bytes(&create)),
            INVALID_VALUE
        );
        assert_eq!(
            status(&mut client, "cuSurfObjectCreate", &bytes(&resource)),
            INVALID_VALUE
        );
    }
    assert!(
        client.alloc(1 << 20).is_ok(),
        "the array's memory came back"
    );
    serves(&server);
}

#[test]
fn no_more_clients_than_allowed() {
    let server = Server::start(|options| options.max_clients = 2);
    let one = Client::ready(server.unix(), "unix");
    let _two = Client::ready(server.tcp(), "tcp");
    let refused = Client::connect(server.unix(), "unix");
    let Err(LinkError::Refused(Refused { reason, .. })) = refused else {
        panic!("{:?}", refused.map(|client| client.welcome));
    };
    assert!(
        reason.contains("2 clients") && reason.contains("--max-clients"),
        "{reason}"
    );
    counted(&server, "max_clients", 1);
    // Further lanes of a session are no further clients.
    let lane = Client::open(&target(server.unix(), "unix"), Some(&one.session));
    assert!(lane.is_ok());
    drop((one, lane));
    server.wait_for("room", |status| status.sessions.len() == 1);
    drop(Client::ready(server.unix(), "unix"));
}

#[test]
fn lanes_are_limited() {
    let server = Server::start(|options| options.limits.max_lanes = 2);
    let one = Client::ready(server.unix(), "unix");
    let target = target(server.unix(), "unix");
    let two = Client::open(&target, Some(&one.session)).unwrap();
    assert!(Client::open(&target, Some(&one.session)).is_err());
    drop(two);
    let end = Instant::now() + Duration::from_secs(5);
    while Client::open(&target, Some(&one.session)).is_err() {
        assert!(Instant::now() < end, "a lane that has ended makes room");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Between client and server, as far as the client's last word on its link, which does not get through.
fn never_idle(server: &Server) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let to = server.tcp().to_owned();
    std::thread::spawn(move || {
        let (mut client, _) = listener.accept().unwrap();
        let mut server = TcpStream::connect(to).unwrap();
        let (mut answers, mut to) = (server.try_clone().unwrap(), client.try_clone().unwrap());
        std::thread::spawn(move || std::io::copy(&mut answers, &mut to));
        let mut preamble = [0; PREAMBLE_LEN];
        client.read_exact(&mut preamble).unwrap();
        server.write_all(&preamble).unwrap();
        loop {
            let mut frame = vec![0; HEADER_LEN];
            if client.read_exact(&mut frame).is_err() {
                return;
            }
            let header = Header::parse(&frame).unwrap();
            frame.resize(HEADER_LEN + header.payload(), 0);
            client.read_exact(&mut frame[HEADER_LEN..]).unwrap();
            if header.op != control::SWITCH {
                server.write_all(&frame).unwrap();
            }
        }
    });
    address
}

#[test]
fn lanes_count_before_their_link_is_chosen() {
    let server = Server::start(|options| options.limits.max_lanes = 3);
    let one = Client::ready(server.tcp(), "tcp");
    let open = |address: &str| Client::open(&target(address, "tcp"), Some(&one.session));
    // Of another host, and with RDMA to ask for: they choose a link, and say so at the end.
    let choosing = |address: &str| {
        let mut target = target(address, "auto");
        target.rdma_trusted = "127.0.0.1".parse().unwrap();
        let hello = ClientHello {
            boot_id: "another".into(),
            ..gtrace_link::hello(false)
        };
        gtrace_link::connect(&target, &hello, Some(&one.session))
    };
    let _unsettled: Vec<_> = (0..2)
        .map(|_| choosing(&never_idle(&server)).unwrap())
        .collect();
    let refused = open(server.tcp());
    assert!(
        matches!(&refused, Err(LinkError::Refused(reason)) if reason.reason.contains("3 threads")),
        "{:?}",
        refused.map(|client| client.welcome)
    );
    let end = Instant::now() + Duration::from_secs(15);
    while open(server.tcp()).is_err() {
        assert!(Instant::now() < end, "they are given up");
        std::thread::sleep(Duration::from_millis(50));
    }
}

fn exists(pid: u32) -> bool {
    std::path::Path::new(&format!("/proc/{pid}")).exists()
}

#[test]
fn a_client_that_is_gone_takes_its_worker_with_it() {
    let server = Server::start(|_| {});
    let mut other = Client::ready(server.unix(), "unix");
    let at = other.alloc(4096).unwrap();
    for link in ["tcp", "unix", "shm"] {
        let address = if link == "tcp" {
            server.tcp()
        } else {
            server.unix()
        };
        let mut client = Client::ready(address, link);
        client.alloc(256 << 20).unwrap();
        let lane = Client::open(&target(address, link), Some(&client.session)).unwrap();
        let status = server.wait_for("two", |status| {
            status
                .sessions
                .iter()
                .filter(|s| s.client.is_some())
                .count()
                == 2
        });
        let worker = status
            .sessions
            .iter()
            .max_by_key(|s| s.worker)
            .unwrap()
            .worker;
        drop((client, lane));
        let end = Instant::now() + Duration::from_secs(1);
        while exists(worker) {
            assert!(Instant::now() < end, "{link}: worker {worker} lives on");
            std::thread::sleep(Duration::from_millis(5));
        }
    }
    assert_eq!(other.free(at), 0, "other clients are untouched");
    assert_eq!(server.status().counters.workers_failed, 0);
}

#[test]
fn a_client_that_dies_in_an_endless_call_takes_its_worker_with_it() {
    let server = Server::start(|_| {});
    for link in ["tcp", "unix", "shm"] {
        let address = if link == "tcp" {
            server.tcp()
        } else {
            server.unix()
        };
        let mut client = Client::ready(address, link);
        let worker = server.wait_for("one", |s| s.sessions.len() == 1).sessions[0].worker;
        // A stream that waits for a function that nobody ever ends.
        let host = payload::HostFunction {
            stream: 0,
            ticket: 1,
        };
        client.one_way("cuLaunchHostFunc", &bytes(&host), &[]);
        let header = client.header(op_id("cuCtxSynchronize"), Flags::default());
        client.send(header, &[], &[]).unwrap();
        std::thread::sleep(Duration::from_millis(100));
        drop(client);
        let began = Instant::now();
        while exists(worker) {
            assert!(
                began.elapsed() < Duration::from_secs(2),
                "{link}: {worker} lives on"
            );
            std::thread::sleep(Duration::from_millis(5));
        }
        server.wait_for("none", |s| s.sessions.is_empty());
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

#[test]
fn workers_end_with_the_supervisor() {
    let server = Server::start(|_| {});
    let mut client = Client::ready(server.unix(), "unix");
    let worker = server.status().sessions[0].worker;
    drop(server);
    let end = Instant::now() + Duration::from_secs(2);
    while exists(worker) {
        assert!(Instant::now() < end, "worker {worker} lives on");
        std::thread::sleep(Duration::from_millis(5));
    }
    assert!(client.receive().is_err());
    // Handles mean nothing any more, which the client learns at once.
    assert!(client.one_way_fails(Kind::Stream.handle(1)));
}

/// Not a test of its own: the client that the next one kills.
#[test]
#[ignore = "a process of another test"]
fn client_process() {
    let address = std::env::var("GTRACE_TEST_ADDRESS").unwrap();
    let link = std::env::var("GTRACE_TEST_LINK").unwrap();
    let mut client = Client::ready(&address, &link);
    client.alloc(1 << 30).unwrap();
    loop {
        client.call("cuMemGetInfo_v2", &[]);
    }
}

#[test]
fn a_killed_client_leaves_nothing_behind() {
    let server = Server::start(|_| {});
    for link in ["tcp", "unix", "shm"] {
        let address = if link == "tcp" {
            server.tcp()
        } else {
            server.unix()
        };
        let mut child = std::process::Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "client_process", "--ignored"])
            .env("GTRACE_TEST_ADDRESS", address)
            .env("GTRACE_TEST_LINK", link)
            .stdout(std::process::Stdio::null())
            .spawn()
            .unwrap();
        let status = server.wait_for("a busy client", |status| {
            status
                .sessions
                .first()
                .is_some_and(|s| s.stats.memory == 1 << 30)
        });
        let session = &status.sessions[0];
        assert_eq!(session.client.as_ref().unwrap().pid, child.id());
        assert_eq!(session.stats.links, [link]);
        child.kill().unwrap();
        child.wait().unwrap();
        let began = Instant::now();
        while exists(session.worker) {
            assert!(
                began.elapsed() < Duration::from_secs(1),
                "{link}: the worker lives on"
            );
            std::thread::sleep(Duration::from_millis(5));
        }
        server.wait_for("none", |status| status.sessions.is_empty());
    }
    assert_eq!(server.status().counters.workers_failed, 0);
}

/// The status of mapping and of unmapping page-locked memory of the client.
fn mapped(client: &mut Client, address: u64, bytes: u64) -> u32 {
    let range = [bytes, address].map(u64::to_le_bytes).concat();
    let answer = client.call_op(payload::MAP_HOST, &range, &[]);
    answer.header.status
}

fn unmapped(client: &mut Client, address: u64, bytes: u64) -> u32 {
    let range = [address, bytes].map(u64::to_le_bytes).concat();
    let answer = client.call_op(payload::UNMAP_HOST, &range, &[]);
    answer.header.status
}

/// Addresses are the client's choice: nothing is put where its worker has something, nor taken from there, and a client
/// has not all of the machine.
#[test]
fn page_locked_memory_lies_beside_what_a_worker_has() {
    const PAGE: u64 = 4096;
    const BASE: u64 = 0x2222_0000_0000;
    let server = Server::start(|_| {});
    let mut client = Client::ready(server.unix(), "unix");
    let pid = server.status().sessions[0].worker;
    let maps = std::fs::read_to_string(format!("/proc/{pid}/maps")).unwrap();
    let mut tried = 0;
    for line in maps.lines() {
        let (range, _) = line.split_once(' ').unwrap();
        let (from, to) = range.split_once('-').unwrap();
        let [from, to] = [from, to].map(|at| u64::from_str_radix(at, 16).unwrap());
        if to >= 1 << 47 {
            continue;
        }
        // Whole, its ends, and from the page before on.
        for (address, bytes) in [
            (from, to - from),
            (from, PAGE),
            (to - PAGE, PAGE),
            (from - PAGE, 2 * PAGE),
        ] {
            assert_ne!(mapped(&mut client, address, bytes), 0, "{line}");
            assert_eq!(unmapped(&mut client, address, bytes), 1, "{line}");
            tried += 1;
        }
    }
    assert!(tried > 100, "{maps}");
    for (address, bytes) in [
        (0, PAGE),
        (PAGE, PAGE),
        (BASE + 8, PAGE),
        (BASE, 0),
        (BASE, PAGE - 1),
        (BASE, u64::MAX),
        (u64::MAX - PAGE + 1, PAGE),
        (1 << 47, PAGE),
    ] {
        assert_eq!(
            mapped(&mut client, address, bytes),
            1,
            "{address:x}, {bytes:x}"
        );
        assert_eq!(unmapped(&mut client, address, bytes), 1);
    }
    // More than the machine has.
    assert_eq!(mapped(&mut client, BASE, 1 << 46), 2);
    // What is mapped is the device's, overlaps itself, and goes page by page.
    assert_eq!(mapped(&mut client, BASE, 4 * PAGE), 0);
    assert_eq!(mapped(&mut client, BASE + 2 * PAGE, 4 * PAGE), 0);
    client.upload(BASE + PAGE, &[7; 5000]);
    assert_eq!(client.download(BASE + PAGE, 5000, 8192), Ok(vec![7; 5000]));
    // A page of the first that the second has not: both are asked for in whole.
    assert_eq!(unmapped(&mut client, BASE, 4 * PAGE), 0);
    assert_eq!(unmapped(&mut client, BASE + 2 * PAGE, 4 * PAGE), 0);
    assert_eq!(unmapped(&mut client, BASE, 4 * PAGE), 1);
    assert!(client.download(BASE + PAGE, 5000, 8192).is_err());
    for op in [payload::MAP_HOST, payload::UNMAP_HOST] {
        for garbage in [&[][..], &[0xff; 15], &[0xff; 17], &[0xff; 300]] {
            assert_ne!(client.call_op(op, garbage, &[]).header.status, 0);
        }
    }
    serves(&server);
}

/// Memory is exported by who has it, a bounded number of times, and opened by a ticket that nobody guesses.
#[test]
fn tickets_of_memory_open_nothing_else() {
    const MOST: usize = 256;
    let server = Server::start(|_| {});
    let mut client = Client::ready(server.unix(), "unix");
    // CUmemAllocationProp: pinned, of the device, to be had as a file descriptor.
    let create = |client: &mut Client, kinds: u32| {
        let mut prop = [0; 32];
        (prop[0], prop[4], prop[8]) = (1, kinds as u8, 1);
        let mut w = Writer::default();
        w.u64(2 << 20);
        w.raw(&prop);
        w.u64(0);
        let answer = client.call("cuMemCreate", w.as_slice());
        assert_eq!(answer.header.status, 0, "cuMemCreate");
        u64::from_le_bytes(answer.small[..8].try_into().unwrap())
    };
    let export = |client: &mut Client, handle: u64| {
        let answer = client.call_op(payload::EXPORT_MEMORY, &handle.to_le_bytes(), &[]);
        (answer.header.status, answer.small)
    };
    let import = |client: &mut Client, ticket: &[u8]| {
        client
            .call_op(payload::IMPORT_MEMORY, ticket, &[])
            .header
            .status
    };
    let memory = create(&mut client, 1);
    for stranger in [0, 1, memory + 1, u64::MAX, Kind::Stream.handle(1)] {
        assert_ne!(export(&mut client, stranger).0, 0, "{stranger:x}");
    }
    let private = create(&mut client, 0);
    assert_ne!(
        export(&mut client, private).0,
        0,
        "it was not made for others"
    );
    let (status, ticket) = export(&mut client, memory);
    assert_eq!((status, ticket.len()), (0, payload::TICKET));
    assert_eq!(import(&mut client, &ticket), 0);
    let mut other = Client::ready(server.unix(), "unix");
    assert_eq!(import(&mut other, &ticket), 0);
    // Neighbours of a ticket, and what is none.
    for at in 0..payload::TICKET {
        let mut wrong = ticket.clone();
        wrong[at] ^= 1;
        assert_eq!(import(&mut other, &wrong), 1);
    }
    for garbage in [&[][..], &ticket[..31], &[&ticket[..], &[0]].concat()] {
        assert_ne!(import(&mut other, garbage), 0);
    }
    // One client does not take all of the server's descriptors, and hears so.
    let more = (1..MOST).map(|_| export(&mut client, memory).0);
    assert!(more.into_iter().all(|status| status == 0));
    assert_eq!(export(&mut client, memory).0, 304);
    let theirs = create(&mut other, 1);
    assert_eq!(export(&mut other, theirs).0, 0);
    // What a client has shared ends with it.
    drop(client);
    server.wait_for("one client", |status| status.sessions.len() == 1);
    assert_eq!(import(&mut other, &ticket), 1);
    serves(&server);
}
