//! Memory beyond the limits, or of others.

use gtrace_cuda::Kind;
use gtrace_cuda::payload::{self, Payload as _};
use gtrace_protocol::{Flags, Reader, Writer};

use crate::serves;
use crate::support::{Answer, Client, Server, bytes, numbers};

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

/// Has the server keep a copy; the status.
fn defer_copy(client: &mut Client, ticket: u64, from: u64, len: u64, stream: u64) -> u32 {
    let small = bytes(&payload::DeferredCopy {
        ticket,
        from,
        len,
        stream,
    });
    let answer = client.call_op(payload::DEFER_COPY, &small, &[]);
    answer.header.status
}

#[test]
fn asynchronous_copies_are_bounded_and_checked() {
    let (server, mut client) = Server::with_client(|_| {});
    let all = (payload::BLOCK * payload::BLOCKS) as u64;
    let at = client.alloc(2 * all).unwrap();
    // One that is good, and what is wrong with others.
    assert_eq!(defer_copy(&mut client, 1, at, 100_000, 0), 0);
    assert_eq!(defer_copy(&mut client, 1, at, 1, 0), 1, "a ticket in use");
    assert_eq!(defer_copy(&mut client, 0, at, 1, 0), 1);
    assert_eq!(defer_copy(&mut client, 2, at, 0, 0), 1);
    assert_ne!(defer_copy(&mut client, 3, at, 1, 99), 0, "no such stream");
    assert_eq!(defer_copy(&mut client, 4, at, all, 0), 2);
    assert_eq!(defer_copy(&mut client, 5, at, u64::MAX, 0), 2);
    assert_eq!(defer_copy(&mut client, 6, 64, 10, 0), 1, "no such memory");
    let (pieces, taken) = take(&mut client, 1);
    assert_eq!(pieces, [(1, 100_000)]);
    assert_eq!(taken.failed, [1, 0, 2, 3, 4, 5, 6]);
    assert!(taken.in_flight_on_other_lanes.is_empty());
    // Its room is free again, in whatever order.
    for ticket in 10..20 {
        assert_eq!(defer_copy(&mut client, ticket, at, all, 0), 0);
        let (pieces, _) = take(&mut client, ticket);
        let four = (ticket, 4 * payload::BLOCK);
        assert_eq!(pieces, [four; payload::BLOCKS / 4]);
    }
    assert_eq!(
        take(&mut client, 77),
        (Vec::new(), payload::Taken::default())
    );
    // A context that ends with copies under way.
    assert_eq!(defer_copy(&mut client, 30, at, 5, 0), 0);
    assert_eq!(
        client.status("cuDevicePrimaryCtxReset_v2", &0i32.to_le_bytes()),
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

/// A client that reads an answer with two copies, and stops in the second: it uses the room of the first by another lane.
#[test]
fn room_of_an_asynchronous_copy_is_free_once_it_is_read() {
    let (server, mut client) = Server::with_client(|_| {});
    let half = (payload::BLOCK * payload::BLOCKS / 2) as u64;
    let at = client.alloc(half).unwrap();
    let mut two = client.lane(&server);
    for ticket in [1, 2] {
        assert_eq!(defer_copy(&mut client, ticket, at, half, 0), 0);
    }
    let header = client.header(payload::COLLECT, Flags::default());
    client.send(header, &2u64.to_le_bytes(), &[]).unwrap();
    let mut read = 0;
    while read < half + half / 2 {
        read += client.receive().unwrap().bulk.len() as u64;
    }
    assert_eq!(defer_copy(&mut two, 3, at, half, 0), 0);
    while client.receive().unwrap().header.flags.has(Flags::MORE) {}
}

#[test]
fn the_memory_limit_is_the_sessions() {
    let (server, mut client) =
        Server::with_client(|options| options.limits.max_memory = Some(64 << 20));
    assert_eq!(client.snapshot().devices[0].total_memory, 64 << 20);
    let at = client.alloc(48 << 20).unwrap();
    assert_eq!(client.alloc(17 << 20), Err(2));
    let info = client.call("cuMemGetInfo_v2", &[]).small;
    assert_eq!(info[..8], (16u64 << 20).to_le_bytes());
    assert_eq!(info[8..], (64u64 << 20).to_le_bytes());
    let mut two = client.lane(&server);
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
    assert_eq!(other.status("cuMemAllocPitch_v2", &pitched(1 << 10)), 0);
    drop(other);
    // Another client has its own.
    assert!(Client::ready(server.unix(), "unix").alloc(64 << 20).is_ok());
}

/// Surfaces end with their context, and with no other.
#[test]
fn surfaces_end_with_their_context() {
    let two = vec![("GTRACE_SOFTGPU_DEVICES".to_owned(), "2".to_owned())];
    let (_server, mut client) = Server::with_client(|options| options.environment = two);
    let array = Kind::Array.handle(1);
    // Width, height, depth, format and channels, flags: numbers of 32 bits that surfaces may write.
    let create = numbers(&[array, 64, 64, 0, 1 << 32 | 0x20, 2]);
    assert_eq!(client.status("cuArray3DCreate_v2", &create), 0);
    let resource = bytes(&payload::Resource::Array(array));
    let make = |client: &mut Client| {
        let surface = client.call("cuSurfObjectCreate", &resource);
        assert_eq!(surface.header.status, 0);
        surface.small
    };
    let (first, second) = (make(&mut client), make(&mut client));
    let device = |number: i32| number.to_le_bytes();
    client.call("cuDevicePrimaryCtxReset_v2", &device(1));
    assert_eq!(client.status("cuSurfObjectDestroy", &first), 0);
    assert_eq!(client.status("cuDevicePrimaryCtxRelease_v2", &device(0)), 0);
    client.context = 0;
    assert_eq!(client.status("cuSurfObjectDestroy", &second), 1);
}

/// Numbers of textures and surfaces are the driver's own: only those that this client was given reach it.
#[test]
fn textures_are_those_that_were_made_and_arrays_count_as_memory() {
    const INVALID_VALUE: u32 = 1;
    const INVALID_CONTEXT: u32 = 201;
    let (server, mut client) =
        Server::with_client(|options| options.limits.max_memory = Some(1 << 20));
    let array = Kind::Array.handle(1);
    // Width, height, depth, format and channels, flags: numbers of 32 bits that surfaces may write.
    let create = |width: u64| numbers(&[array, width, 64, 0, 1 << 32 | 0x20, 2]);
    assert_eq!(
        client.status("cuArray3DCreate_v2", &create(8192)),
        OUT_OF_MEMORY
    );
    assert_eq!(
        client.status("cuArray3DCreate_v2", &create(u64::MAX)),
        OUT_OF_MEMORY
    );
    assert_eq!(client.status("cuArray3DCreate_v2", &create(2048)), 0);
    assert_eq!(client.alloc(1 << 20), Err(OUT_OF_MEMORY));
    for op in ["cuTexObjectDestroy", "cuSurfObjectDestroy"] {
        for number in [0, 1, array, u64::MAX] {
            assert_eq!(client.status(op, &numbers(&[number])), INVALID_VALUE);
        }
    }
    let resource = bytes(&payload::Resource::Array(array));
    let surface = client.call("cuSurfObjectCreate", &resource);
    assert_eq!(surface.header.status, 0);
    // The driver destroys none without a context.
    client.context = 0;
    assert_eq!(
        client.status("cuSurfObjectDestroy", &surface.small),
        INVALID_CONTEXT
    );
    client.context = 1;
    // Of another kind, and then twice.
    assert_eq!(
        client.status("cuTexObjectDestroy", &surface.small),
        INVALID_VALUE
    );
    assert_eq!(client.status("cuSurfObjectDestroy", &surface.small), 0);
    assert_eq!(
        client.status("cuSurfObjectDestroy", &surface.small),
        INVALID_VALUE
    );
    assert_eq!(client.status("cuArrayDestroy", &numbers(&[array])), 0);
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
            client.status("cuTexObjectCreate", &bytes(&create)),
            INVALID_VALUE
        );
        assert_eq!(
            client.status("cuSurfObjectCreate", &bytes(&resource)),
            INVALID_VALUE
        );
    }
    assert!(
        client.alloc(1 << 20).is_ok(),
        "the array's memory came back"
    );
    serves(&server);
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
    /// A program has no addresses from here on.
    const END: u64 = match cfg!(target_arch = "aarch64") {
        true => 1 << 48,
        false => 1 << 47,
    };
    let (server, mut client) = Server::with_client(|_| {});
    let pid = server.status().sessions[0].worker;
    let maps = std::fs::read_to_string(format!("/proc/{pid}/maps")).unwrap();
    let mut tried = 0;
    for line in maps.lines() {
        let (range, _) = line.split_once(' ').unwrap();
        let (from, to) = range.split_once('-').unwrap();
        let [from, to] = [from, to].map(|at| u64::from_str_radix(at, 16).unwrap());
        if to >= END {
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
        (BASE, 0),
        (BASE, u64::MAX),
        (u64::MAX - PAGE + 1, PAGE),
        (END, PAGE),
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
    // What is mapped is the device's, one registration each, and may share pages with what is mapped beside it.
    let (first, second) = (BASE + 8, BASE + 4 * PAGE + 8);
    assert_eq!(mapped(&mut client, first, 4 * PAGE), 0);
    assert_eq!(mapped(&mut client, second, 2 * PAGE), 0);
    assert_ne!(mapped(&mut client, BASE + PAGE, PAGE), 0);
    client.upload(second, &[7; 5000]);
    assert_eq!(client.download(second, 5000, 8192), Ok(vec![7; 5000]));
    assert_eq!(unmapped(&mut client, first, 2 * PAGE), 1);
    assert_eq!(unmapped(&mut client, first, 4 * PAGE), 0);
    assert_eq!(client.download(second, 5000, 8192), Ok(vec![7; 5000]));
    assert_eq!(unmapped(&mut client, second, 2 * PAGE), 0);
    assert_eq!(unmapped(&mut client, second, 2 * PAGE), 1);
    assert!(client.download(second, 5000, 8192).is_err());
    for op in [payload::MAP_HOST, payload::UNMAP_HOST] {
        for garbage in [&[][..], &[0xff; 15], &[0xff; 17], &[0xff; 300]] {
            assert_ne!(client.call_op(op, garbage, &[]).header.status, 0);
        }
    }
    serves(&server);
}

/// Ranges of a program's memory may have pages in common: these count once, and while one of the ranges is there.
#[test]
fn pages_that_ranges_share_count_once() {
    const PAGE: u64 = 4096;
    const BASE: u64 = 0x2222_0000_0000;
    const MOST: u64 = 64 * PAGE;
    let (_server, mut client) =
        Server::with_client(|options| options.limits.max_memory = Some(MOST));
    for _ in 0..MOST / PAGE {
        assert_eq!(mapped(&mut client, BASE, PAGE - 8), 0);
        assert_eq!(mapped(&mut client, BASE + PAGE - 8, PAGE), 0);
        assert_eq!(unmapped(&mut client, BASE, PAGE - 8), 0);
        assert_eq!(unmapped(&mut client, BASE + PAGE - 8, PAGE), 0);
    }
    // Once a large one has gone, only the page counts still that the next one has too.
    assert_eq!(mapped(&mut client, BASE + 8, 40 * PAGE), 0);
    assert_eq!(mapped(&mut client, BASE + 40 * PAGE + 8, PAGE), 0);
    assert_eq!(unmapped(&mut client, BASE + 8, 40 * PAGE), 0);
    let at = client.alloc(MOST / 2).unwrap();
    assert_eq!(client.free(at), 0);
    assert_eq!(unmapped(&mut client, BASE + 40 * PAGE + 8, PAGE), 0);
    let at = client.alloc(MOST).unwrap();
    assert_eq!(mapped(&mut client, BASE, PAGE), OUT_OF_MEMORY);
    assert_eq!(client.free(at), 0);
    assert_eq!(mapped(&mut client, BASE, MOST), 0);
    assert_eq!(client.alloc(1), Err(OUT_OF_MEMORY));
}

const OUT_OF_MEMORY: u32 = 2;
/// What physical memory is a multiple of.
const UNIT: u64 = 2 << 20;

/// The handle of physical memory, or the status.
fn create(client: &mut Client, units: u64, kinds: u8) -> Result<u64, u32> {
    // CUmemAllocationProp: pinned, of the device, to be had in these ways.
    let mut prop = [0; 32];
    (prop[0], prop[4], prop[8]) = (1, kinds, 1);
    let mut w = Writer::default();
    w.u64(units * UNIT);
    w.raw(&prop);
    w.u64(0);
    given(&client.call("cuMemCreate", w.as_slice()))
}

/// The number that comes back, or the status.
fn given(answer: &Answer) -> Result<u64, u32> {
    match answer.header.status {
        0 => Ok(u64::from_le_bytes(answer.small[..8].try_into().unwrap())),
        status => Err(status),
    }
}

fn export(client: &mut Client, handle: u64) -> (u32, Vec<u8>) {
    let answer = client.call_op(payload::EXPORT_MEMORY, &handle.to_le_bytes(), &[]);
    (answer.header.status, answer.small)
}

fn call(client: &mut Client, op: &str, values: &[u64]) -> Answer {
    client.call(op, &numbers(values))
}

fn done(client: &mut Client, op: &str, values: &[u64]) {
    assert_eq!(call(client, op, values).header.status, 0, "{op}");
}

/// Whatever order handles and mappings end in, a client never has more than its limit.
#[test]
fn physical_memory_counts_while_the_client_has_a_handle_or_a_mapping() {
    let (server, mut client) =
        Server::with_client(|options| options.limits.max_memory = Some(4 * UNIT));
    let at = given(&call(
        &mut client,
        "cuMemAddressReserve",
        &[8 * UNIT, 0, 0, 0],
    ))
    .unwrap();
    let one = create(&mut client, 2, 0).unwrap();
    let two = create(&mut client, 2, 0).unwrap();
    assert_eq!(create(&mut client, 1, 0), Err(OUT_OF_MEMORY));
    done(&mut client, "cuMemMap", &[at, 2 * UNIT, 0, one, 0]);
    done(
        &mut client,
        "cuMemMap",
        &[at + 2 * UNIT, 2 * UNIT, 0, two, 0],
    );
    done(&mut client, "cuMemRelease", &[one]);
    done(&mut client, "cuMemRelease", &[two]);
    assert_eq!(create(&mut client, 1, 0), Err(OUT_OF_MEMORY), "mapped");
    assert_eq!(client.alloc(1), Err(OUT_OF_MEMORY));
    let answer = call(&mut client, "cuMemRetainAllocationHandle", &[at + 5]);
    let again = given(&answer).unwrap();
    // Refused, and then both of them.
    assert_ne!(
        call(&mut client, "cuMemUnmap", &[at, UNIT]).header.status,
        0
    );
    assert_eq!(create(&mut client, 1, 0), Err(OUT_OF_MEMORY));
    done(&mut client, "cuMemUnmap", &[at, 4 * UNIT]);
    let three = create(&mut client, 2, 0).unwrap();
    assert_eq!(create(&mut client, 1, 0), Err(OUT_OF_MEMORY), "retained");
    done(&mut client, "cuMemRelease", &[again]);
    assert!(client.alloc(2 * UNIT).is_ok());
    // It is of no context.
    assert_eq!(
        client.status("cuDevicePrimaryCtxReset_v2", &0i32.to_le_bytes()),
        0
    );
    client.context = 0;
    assert!(create(&mut client, 2, 0).is_ok());
    assert_eq!(create(&mut client, 1, 0), Err(OUT_OF_MEMORY), "of before");
    done(&mut client, "cuMemRelease", &[three]);
    assert!(create(&mut client, 2, 0).is_ok());
    serves(&server);
}

/// Memory that clients share counts for each that keeps it there.
#[test]
fn memory_that_is_shared_counts_for_all_that_have_it() {
    let (server, mut client) =
        Server::with_client(|options| options.limits.max_memory = Some(4 * UNIT));
    let mut other = Client::ready(server.unix(), "unix");
    let memory = create(&mut client, 3, 1).unwrap();
    let (status, ticket) = export(&mut client, memory);
    assert_eq!(status, 0);
    // The server keeps it for others.
    done(&mut client, "cuMemRelease", &[memory]);
    assert_eq!(create(&mut client, 2, 0), Err(OUT_OF_MEMORY));
    let import = |other: &mut Client| given(&other.call_op(payload::IMPORT_MEMORY, &ticket, &[]));
    let theirs = import(&mut other).unwrap();
    assert_eq!(create(&mut other, 2, 0), Err(OUT_OF_MEMORY));
    assert_eq!(import(&mut other), Err(OUT_OF_MEMORY));
    done(&mut other, "cuMemRelease", &[theirs]);
    assert!(create(&mut other, 2, 0).is_ok());
    assert_eq!(import(&mut other), Err(OUT_OF_MEMORY));
    drop(client);
    server.wait_for("one client", |status| status.sessions.len() == 1);
    serves(&server);
}

/// Memory is exported by who has it, a bounded number of times, and opened by a ticket that nobody guesses.
#[test]
fn tickets_of_memory_open_nothing_else() {
    const MOST: usize = 256;
    let (server, mut client) = Server::with_client(|_| {});
    let import = |client: &mut Client, ticket: &[u8]| {
        client
            .call_op(payload::IMPORT_MEMORY, ticket, &[])
            .header
            .status
    };
    let memory = create(&mut client, 1, 1).unwrap();
    for foreign in [0, 1, memory + 1, u64::MAX, Kind::Stream.handle(1)] {
        assert_ne!(export(&mut client, foreign).0, 0, "{foreign:x}");
    }
    let private = create(&mut client, 1, 0).unwrap();
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
    // One client does not take all of the server's descriptors, and gets an error.
    let more = (1..MOST).map(|_| export(&mut client, memory).0);
    assert!(more.into_iter().all(|status| status == 0));
    assert_eq!(export(&mut client, memory).0, 304);
    let theirs = create(&mut other, 1, 1).unwrap();
    assert_eq!(export(&mut other, theirs).0, 0);
    // What a client has shared ends with it.
    drop(client);
    server.wait_for("one client", |status| status.sessions.len() == 1);
    assert_eq!(import(&mut other, &ticket), 1);
    serves(&server);
}
