//! Arguments, graphs and images that would lead into the server.

use std::time::Duration;

use gtrace_cuda::Kind;
use gtrace_cuda::payload::{self, Extent, NodeCall, NodePlace, NodeWork, Pitched, Side, SideKind};
use gtrace_protocol::{Flags, HEADER_LEN, op_id};
use sha2::{Digest as _, Sha256};

use crate::serves;
use crate::support::{Client, Server, bytes, random, within};

#[test]
fn arguments_that_cannot_be_read_are_answered() {
    let (_server, mut client) = Server::with_client(|_| {});
    for (op, arguments) in [
        ("cuMemAlloc_v2", &[0u8; 3][..]),
        ("cuMemAlloc_v2", &[0; 9]),
        ("cuModuleGetFunction", &[0xff; 40]),
        ("cuModuleLoadData", &[0xff; 100]),
        ("cuLaunchKernel", &[0xff; 200]),
        ("cuMemcpyDtoH_v2", &[]),
        ("gtrace.snapshot", &[9]),
    ] {
        assert_eq!(client.status(op, arguments), 1, "{op}");
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
    let (server, mut client) = Server::with_client(|_| {});
    let graph = Kind::Graph.handle(1);
    client.one_way(
        "cuGraphCreate",
        &[&graph.to_le_bytes()[..], &[0; 4]].concat(),
        &[],
    );
    let at = client.alloc(64).unwrap();
    let copy = |from| Pitched {
        from,
        to: Side::at(SideKind::Device, at),
        extent: Extent::row(64),
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
    let good = memcpy(copy(Side::at(SideKind::Device, at)));
    assert_eq!(add(&mut client, good, Vec::new()), 0);
    let own = Box::new([7u8; 64]);
    let address = own.as_ptr() as u64;
    for kind in [SideKind::Client, SideKind::Device] {
        let status = add(
            &mut client,
            memcpy(copy(Side::at(kind, address))),
            Vec::new(),
        );
        assert_eq!(status, 1, "{kind:?}");
    }
    let array = memcpy(copy(Side::at(SideKind::Array, 5)));
    assert_eq!(add(&mut client, array, Vec::new()), 400);
    let foreign = vec![(Kind::GraphNode.handle(99), [0; 8])];
    assert_eq!(add(&mut client, NodeWork::Empty, foreign), 400);
    let odd_edge = vec![(Kind::GraphNode.handle(1), [9; 8])];
    assert_eq!(add(&mut client, NodeWork::Empty, odd_edge), 1);
    assert_eq!(
        add(
            &mut client,
            NodeWork::Child {
                graph: 7,
                moved: false
            },
            Vec::new()
        ),
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
        assert_eq!(client.status("cuStreamCreate", &create), 0);
        let side = |kind, place| Side {
            pitch: 64,
            ..Side::at(kind, place)
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
            assert_eq!(client.status("cuStreamBeginCapture_v2", &begin), 0);
            let found = statuses(&mut client);
            assert_eq!(found, [CAPTURE_UNSUPPORTED; 9], "{link}, mode {mode}");
            // Nothing of it was put into the capture, which goes on.
            assert_eq!(
                client.status("cuStreamEndCapture", &stream.to_le_bytes()),
                0
            );
            assert_eq!(statuses(&mut client), [0; 9], "{link}, mode {mode}");
        }
    }
    serves(&server);
}

/// Makes a linker.
fn linker(client: &mut Client) -> u64 {
    let handle = Kind::Link.handle(1);
    let create = payload::LinkCreate {
        handle,
        jit: payload::JitOptions::default(),
    };
    assert_eq!(client.status("cuLinkCreate_v2", &bytes(&create)), 0);
    handle
}

/// The status of giving it an image.
fn link_data(client: &mut Client, state: u64, kind: u32, image: &[u8]) -> u32 {
    let add = payload::LinkAdd {
        state,
        kind,
        name: "",
        jit: payload::JitOptions::default(),
    };
    let answer = client.call_op(op_id("cuLinkAddData_v2"), &bytes(&add), image);
    answer.header.status
}

/// A driver is not given the length of an image: it relies on the image's headers.
#[test]
fn images_that_lead_out_of_themselves_are_refused() {
    const INVALID_IMAGE: u32 = 200;
    let (server, mut client) = Server::with_client(|_| {});
    let link = linker(&mut client);
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
            let status = link_data(&mut client, link, kind, image);
            assert_eq!(status, INVALID_IMAGE, "{what}: {kind}");
        }
    }
    serves(&server);
}

/// The image of a linker lies in memory of the driver, which another lane may have freed while it is sent.
#[test]
fn a_linked_image_is_sent_whole_whoever_destroys_the_linker() {
    let (server, mut client) = Server::with_client(|_| {});
    let link = linker(&mut client);
    // More than the driver's allocator keeps when it is freed.
    let mut text = b".version 8.0\n.target sm_90\n.address_size 64\n".to_vec();
    text.resize(12 << 20, b' ');
    for _ in 0..3 {
        assert_eq!(link_data(&mut client, link, 1, &text), 0);
    }
    let header = client.header(op_id("cuLinkComplete"), Flags::default());
    client.send(header, &link.to_le_bytes(), &[]).unwrap();
    // Sending has begun, and cannot go on.
    within(Duration::from_secs(60), "no answer", || {
        client.link.rx.ready(HEADER_LEN).unwrap()
    });
    let mut other = client.lane(&server);
    assert_eq!(other.status("cuLinkDestroy", &link.to_le_bytes()), 0);
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
    assert_eq!(client.status("cuLinkComplete", &link.to_le_bytes()), 400);
}
