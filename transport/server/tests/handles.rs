//! No number that a client invented reaches the driver as a handle, of whatever kind.

#![allow(clippy::unwrap_used)]

mod support;

use std::mem::size_of;

use gtrace_cuda::payload::{self, NodeCall, NodePlace, NodeWork};
use gtrace_cuda::types::driver as cuda;
use gtrace_cuda::{Api, Argument, Function, Kind, Pass, functions};
use gtrace_protocol::{Flags, HEADER_LEN, Header, control};
use support::{Client, Server, bytes, numbers};

/// INVALID_VALUE, INVALID_CONTEXT and INVALID_HANDLE.
const REFUSED: [u32; 3] = [1, 201, 400];

/// Bytes of a value of this type in a request; `None` for one that this test does not know.
fn size_of_value(ty: &str) -> Option<usize> {
    Some(match ty {
        "c_int" | "c_uint" | "f32" | "c_float" | "u32" | "i32" => 4,
        "usize"
        | "CUdeviceptr"
        | "c_ulonglong"
        | "cuuint64_t"
        | "u64"
        | "CUmemGenericAllocationHandle"
        | "CUgraphConditionalHandle"
        | "CUtexObject"
        | "CUsurfObject" => 8,
        "c_ushort" | "u16" => 2,
        "c_uchar" | "u8" => 1,
        "CUmemLocation" => size_of::<cuda::CUmemLocation>(),
        "CUDA_ARRAY_DESCRIPTOR" => size_of::<cuda::CUDA_ARRAY_DESCRIPTOR>(),
        "CUDA_ARRAY3D_DESCRIPTOR" => size_of::<cuda::CUDA_ARRAY3D_DESCRIPTOR>(),
        "CUmemPoolProps" => size_of::<cuda::CUmemPoolProps>(),
        "CUmemAllocationProp" => size_of::<cuda::CUmemAllocationProp>(),
        "CUipcMemHandle" => size_of::<cuda::CUipcMemHandle>(),
        "CUipcEventHandle" => size_of::<cuda::CUipcEventHandle>(),
        "CUlaunchAttributeValue" => size_of::<cuda::CUlaunchAttributeValue>(),
        "CUDA_MEMSET_NODE_PARAMS" => size_of::<cuda::CUDA_MEMSET_NODE_PARAMS>(),
        // Enumerations.
        ty if ty.starts_with("CU") => 4,
        _ => return None,
    })
}

/// Appends an argument that is readable and says nothing. False if this test does not know how.
fn write(argument: &Argument, ty: &str, handle: u64, bytes: &mut Vec<u8>) -> bool {
    let pointee = ty.trim_start_matches("*mut ").trim_start_matches("*const ");
    if argument.nullable && !matches!(argument.pass, Pass::Handle(_)) {
        // Null.
        bytes.push(0);
        return true;
    }
    match argument.pass {
        Pass::Handle(_) | Pass::Destroy(_) | Pass::Mint(_) => bytes.extend(handle.to_le_bytes()),
        Pass::Address => bytes.extend([0; 8]),
        Pass::Value => match size_of_value(ty) {
            Some(size) => bytes.extend(std::iter::repeat_n(0, size)),
            None => return false,
        },
        Pass::In | Pass::InOut => match argument.length {
            None => match size_of_value(pointee) {
                Some(size) => bytes.extend(std::iter::repeat_n(0, size)),
                None => return false,
            },
            Some(gtrace_cuda::Length::Fixed(count)) if pointee == "c_void" => {
                bytes.extend(std::iter::repeat_n(0, count));
            }
            Some(gtrace_cuda::Length::Fixed(_)) => return false,
            Some(_) => bytes.extend([0; 8]),
        },
        Pass::Handles(_) | Pass::InString => bytes.extend([0; 8]),
        Pass::Out | Pass::OutString | Pass::OutHandles(_) | Pass::Known(_) | Pass::Unsent => {}
        _ => return false,
    }
    true
}

/// The arguments of `function`, where the one at `wrong` is `handle` and all other handles are zero.
fn arguments(function: &Function, wrong: usize, handle: u64) -> Option<Vec<u8>> {
    let signature = gtrace_cuda::signatures::DRIVER
        .iter()
        .find(|signature| signature.name == function.name)?;
    let mut bytes = Vec::new();
    for (at, (argument, parameter)) in function
        .arguments
        .iter()
        .zip(signature.parameters)
        .enumerate()
    {
        let value = if at == wrong { handle } else { 0 };
        if !write(argument, parameter.ty, value, &mut bytes) {
            return None;
        }
    }
    Some(bytes)
}

#[test]
fn every_handle_of_the_description_is_looked_up() {
    let (_server, mut client) = Server::with_client(|_| {});
    let (mut tried, mut unknown) = (0, Vec::new());
    for function in functions::all(Api::Driver).filter(|f| f.served_by_generated()) {
        for (at, argument) in function.arguments.iter().enumerate() {
            let (Pass::Handle(kind) | Pass::Destroy(kind)) = argument.pass else {
                continue;
            };
            let other = match kind {
                Kind::Event => Kind::Graph,
                _ => Kind::Event,
            };
            // Never given, of another kind, the server's own, and what a pointer looks like.
            let wrong = [
                kind.handle(0xbad_cafe),
                other.handle(1),
                kind.server_handle(0xbad_cafe),
                0x7f00_dead_b000,
                u64::MAX,
            ];
            for handle in wrong {
                let Some(small) = arguments(function, at, handle) else {
                    unknown.push(function.name);
                    break;
                };
                let header = client.header(function.id(), Flags::default());
                client.send(header, &small, &[]).unwrap();
                let answer = client.answer();
                assert!(
                    REFUSED.contains(&answer.header.status),
                    "{}({} = {handle:#x}): {}",
                    function.name,
                    argument.name,
                    answer.header.status
                );
                tried += 1;
            }
        }
    }
    unknown.dedup();
    assert!(tried > 500, "{tried}");
    assert!(unknown.len() <= 5, "{unknown:?}");
    // Whoever dereferenced one of them would not be here.
    assert!(client.alloc(4096).is_ok());
}

/// A number of the driver's that the client was not given.
fn status(client: &mut Client, op: &str, words: &[u64]) -> u32 {
    client.status(op, &numbers(words))
}

#[test]
fn numbers_of_the_driver_are_those_that_the_client_was_given() {
    let (server, mut client) = Server::with_client(|_| {});
    let mut properties: cuda::CUmemAllocationProp = unsafe_zeroed();
    properties.type_ = cuda::CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.location.type_ = cuda::CU_MEM_LOCATION_TYPE_DEVICE;
    let create = |client: &mut Client| {
        let mut small = (2u64 << 20).to_le_bytes().to_vec();
        small.extend(bytes_of(&properties));
        small.extend([0; 8]);
        let answer = client.call("cuMemCreate", &small);
        assert_eq!(answer.header.status, 0);
        u64::from_le_bytes(answer.small.try_into().unwrap())
    };
    let mine = create(&mut client);
    for forged in [0, 1, mine + 1, mine ^ 0xff00, 0x7f00_dead_b000, u64::MAX] {
        assert_ne!(forged, mine);
        assert_eq!(status(&mut client, "cuMemRelease", &[forged]), 1);
        let map = [0x7000_0000_0000, 2 << 20, 0, forged, 0];
        assert_eq!(status(&mut client, "cuMemMap", &map), 1);
        let properties = "cuMemGetAllocationPropertiesFromHandle";
        assert_eq!(status(&mut client, properties, &[forged]), 1);
    }
    assert_eq!(status(&mut client, "cuMemRelease", &[mine]), 0);
    assert_eq!(
        status(&mut client, "cuMemRelease", &[mine]),
        1,
        "released already"
    );
    // Another client's are none of this one's.
    let mut other = Client::ready(server.unix(), "unix");
    let theirs = create(&mut other);
    let again = create(&mut client);
    if theirs != again {
        assert_eq!(status(&mut client, "cuMemRelease", &[theirs]), 1);
    }
}

#[test]
fn a_context_that_is_not_retained_again_keeps_its_handle() {
    const INVALID_DEVICE: u32 = 101;
    let (_server, mut client) = Server::with_client(|_| {});
    let retain = |client: &mut Client, device: &[u8]| {
        let small = [&Kind::Context.handle(1).to_le_bytes(), device].concat();
        client.status("cuDevicePrimaryCtxRetain", &small)
    };
    assert_eq!(retain(&mut client, &99i32.to_le_bytes()), INVALID_DEVICE);
    assert!(client.alloc(4096).is_ok());
    assert_eq!(retain(&mut client, &0i32.to_le_bytes()), 0);
    assert_eq!(retain(&mut client, &[0xff; 3]), 1, "arguments cut short");
    assert_eq!(retain(&mut client, &[0; 5]), 1, "and too long");
    assert!(client.alloc(4096).is_ok());
}

/// Else the driver would be asked about a graph that it has not any more, and a client that makes and ends such nodes for ever
/// would have handles no more at some time.
#[test]
fn a_graph_within_a_node_ends_with_the_node() {
    const ROUNDS: u64 = 100;
    let (server, mut client) = Server::with_client(|_| {});
    let (outer, inner) = (Kind::Graph.handle(1), Kind::Graph.handle(2));
    for graph in [outer, inner] {
        let small = [&graph.to_le_bytes()[..], &[0; 4]].concat();
        assert_eq!(client.status("cuGraphCreate", &small), 0);
    }
    for round in 1..=ROUNDS {
        let node = Kind::GraphNode.handle(round);
        let call = NodeCall {
            place: NodePlace::Add {
                node,
                graph: outer,
                after: Vec::new(),
            },
            work: NodeWork::Child {
                graph: inner,
                moved: false,
            },
        };
        let added = client.call_op(payload::GRAPH_NODE, &bytes(&call), &[]);
        assert_eq!(added.header.status, 0);
        for _ in 0..2 {
            assert_eq!(
                status(&mut client, "cuGraphChildGraphNodeGetGraph", &[node]),
                0
            );
        }
        assert_eq!(status(&mut client, "cuGraphDestroyNode", &[node]), 0);
    }
    client.call("cuNoSuchCall", &[]);
    let reported = server.wait_for("statistics", |status| {
        let session = status.sessions.first();
        session.is_some_and(|session| session.stats.unknown == 1)
    });
    let handles = reported.sessions[0].stats.handles;
    assert!(handles < ROUNDS, "{handles} handles");
}

#[allow(unsafe_code)]
fn unsafe_zeroed<T: Copy>() -> T {
    // SAFETY: plain data, for which zeros are a value.
    unsafe { std::mem::zeroed() }
}

#[allow(unsafe_code)]
fn bytes_of<T: Copy>(value: &T) -> Vec<u8> {
    let at: *const T = value;
    // SAFETY: the bytes of plain data that was zeroed, so that its padding is written too.
    unsafe { std::slice::from_raw_parts(at.cast::<u8>(), size_of::<T>()) }.to_vec()
}

/// A frame's own header is checked before its arguments are.
#[test]
fn a_control_frame_of_a_server_is_no_call() {
    let (_server, mut client) = Server::with_client(|_| {});
    let header = Header {
        op: control::WELCOME,
        ..client.header(0, Flags::default())
    };
    client.send(header, &[], &[]).unwrap();
    let answer = client.receive().unwrap();
    assert_eq!(answer.header.op, control::GOODBYE);
    assert_eq!(
        HEADER_LEN + answer.small.len(),
        answer.header.length as usize
    );
}
