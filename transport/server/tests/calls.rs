//! What a client gets for its calls.

#![allow(clippy::unwrap_used)]

mod support;

use gtrace_cuda::Kind;
use gtrace_cuda::payload::{self, GetFunction, Load, LoadKind, Loaded, Payload as _};
use gtrace_protocol::{After, Flags, Reader, op_id};
use sha2::{Digest as _, Sha256};
use support::{Client, Server, bytes, random};

const PTX: &str = "
.version 7.0
.target sm_70
.address_size 64
.visible .entry store(.param .u64 at, .param .u32 value) {
    .reg .u64 %rd<5>;
    .reg .u32 %r<3>;
    ld.param.u64 %rd1, [at];
    ld.param.u32 %r1, [value];
    cvta.to.global.u64 %rd2, %rd1;
    mov.u32 %r2, %tid.x;
    mul.wide.u32 %rd3, %r2, 4;
    add.u64 %rd4, %rd2, %rd3;
    st.global.u32 [%rd4], %r1;
    ret;
}
";

fn load(client: &mut Client, handle: u64, image: &[u8], with_image: bool) -> (u32, Loaded) {
    load_as(client, LoadKind::Module, handle, image, with_image)
}

fn load_as(
    client: &mut Client,
    kind: LoadKind,
    handle: u64,
    image: &[u8],
    with_image: bool,
) -> (u32, Loaded) {
    let load = Load {
        kind,
        handle,
        hash: Sha256::digest(image).into(),
        size: image.len() as u64,
        jit: payload::JitOptions::default(),
        library: Vec::new(),
    };
    let bulk = if with_image { image } else { &[] };
    let op = match kind {
        LoadKind::Module => op_id("cuModuleLoadData"),
        LoadKind::Library => op_id("cuLibraryLoadData"),
    };
    let answer = client.call_op(op, &bytes(&load), bulk);
    let loaded = Loaded::read(&mut Reader::new(&answer.small)).unwrap();
    (answer.header.status, loaded)
}

#[test]
fn a_kernel_runs_over_each_link() {
    let server = Server::start(|_| {});
    for (address, link) in [
        (server.tcp(), "tcp"),
        (server.unix(), "unix"),
        (server.unix(), "shm"),
    ] {
        let mut client = Client::connect(address, link).unwrap();
        let snapshot = client.snapshot();
        assert!(snapshot.devices[0].name.contains("softgpu"));
        client.retain();
        let at = client.alloc(1 << 20).unwrap();
        let data = random(1 << 20, 7);
        client.upload(at, &data);
        assert_eq!(client.download(at, 1 << 20, 64 << 10).unwrap(), data);

        let image = format!("{PTX}\0").into_bytes();
        let module = Kind::Module.handle(10);
        let (_, first) = load(&mut client, module, &image, false);
        if first.wanted {
            let (status, loaded) = load(&mut client, module, &image, true);
            assert_eq!((status, loaded.wanted), (0, false));
        }
        let get = GetFunction {
            handle: Kind::Function.handle(11),
            of: module,
            name: "store",
        };
        let answer = client.call("cuModuleGetFunction", &bytes(&get));
        assert_eq!(answer.header.status, 0);
        let info = payload::FunctionInfo::read(&mut Reader::new(&answer.small)).unwrap();
        let sizes: Vec<u32> = info.parameters.unwrap().iter().map(|p| p.size).collect();
        assert_eq!(sizes, [8, 4]);

        let mut parameters = at.to_le_bytes().to_vec();
        parameters.extend(0x1234_5678u32.to_le_bytes());
        let launch = payload::Launch {
            function: get.handle,
            grid: [1; 3],
            block: [64, 1, 1],
            shared_bytes: 0,
            stream: 0,
            parameters: &parameters,
            attributes: payload::Attributes::default(),
        };
        client.one_way("cuLaunchKernel", &bytes(&launch), &[]);
        let answer = client.call("cuCtxSynchronize", &[]);
        assert_eq!(
            (answer.header.status, answer.header.context),
            (0, 0),
            "{link}"
        );
        let mut wanted = 0x1234_5678u32.to_le_bytes().repeat(64);
        wanted.extend(&data[256..300]);
        assert_eq!(client.download(at, 300, 4096).unwrap(), wanted, "{link}");
        assert_eq!(client.free(at), 0);
    }
}

#[test]
fn the_second_client_need_not_send_an_image() {
    let server = Server::start(|_| {});
    let image = format!("{PTX}\0").into_bytes();
    let mut one = Client::ready(server.unix(), "unix");
    let (_, loaded) = load(&mut one, Kind::Module.handle(1), &image, false);
    assert!(loaded.wanted);
    let (status, _) = load(&mut one, Kind::Module.handle(1), &image, true);
    assert_eq!(status, 0);
    let mut two = Client::ready(server.unix(), "unix");
    let (status, loaded) = load(&mut two, Kind::Module.handle(1), &image, false);
    assert_eq!((status, loaded.wanted), (0, false));
}

#[test]
fn handles_are_checked_on_every_use() {
    let (server, mut one) = Server::with_client(|_| {});
    let mut two = Client::ready(server.unix(), "unix");
    let stream = Kind::Stream.handle(5);
    let create = [stream.to_le_bytes().as_slice(), &0u32.to_le_bytes()].concat();
    one.one_way("cuStreamCreate", &create, &[]);
    let query =
        |client: &mut Client, handle: u64| client.status("cuStreamQuery", &handle.to_le_bytes());
    assert_eq!(query(&mut one, stream), 0);
    assert_eq!(query(&mut two, stream), 400, "another client's");
    assert_eq!(query(&mut one, Kind::Event.handle(5)), 400, "another kind");
    assert_eq!(query(&mut one, 0xdead_beef), 400, "no handle at all");
    one.one_way("cuStreamDestroy_v2", &stream.to_le_bytes(), &[]);
    assert_eq!(query(&mut one, stream), 400, "destroyed");
    // Memory of one client is none of the other.
    let at = one.alloc(4096).unwrap();
    assert_ne!(two.free(at), 0);
    assert_eq!(one.free(at), 0);
    // A context that is not there: clients name those that were.
    one.context = 77;
    assert_eq!(one.status("cuCtxSynchronize", &[]), 709);
}

#[test]
fn an_error_of_a_one_way_call_is_reported_once() {
    let (_server, mut client) = Server::with_client(|_| {});
    client.one_way(
        "cuStreamDestroy_v2",
        &Kind::Stream.handle(9).to_le_bytes(),
        &[],
    );
    let answer = client.call("cuCtxSynchronize", &[]);
    assert_eq!((answer.header.status, answer.header.context), (0, 400));
    let answer = client.call("cuCtxSynchronize", &[]);
    assert_eq!((answer.header.status, answer.header.context), (0, 0));
    // Asked for, it is answered like any other.
    let header = client.header(
        op_id("cuStreamDestroy_v2"),
        Flags::ONE_WAY.with(Flags::STRICT),
    );
    client
        .send(header, &Kind::Stream.handle(9).to_le_bytes(), &[])
        .unwrap();
    assert_eq!(client.answer().header.status, 400);
}

#[test]
fn a_lane_waits_for_the_frame_of_another_that_it_names() {
    let (server, mut one) = Server::with_client(|_| {});
    let at = one.alloc(8).unwrap();
    let mut two = one.lane(&server);
    assert_eq!((one.welcome.lane, two.welcome.lane), (1, 2));
    for round in 1..=200u64 {
        // The reader asks before the writer has sent.
        let mut ask = two.header(op_id("cuMemcpyDtoH_v2"), Flags::default());
        ask.after = After::new(one.welcome.lane, one.seq + 1).0;
        let download = payload::Download {
            from: at,
            len: 8,
            chunk: 4096,
            stream: payload::SYNCHRONOUS,
        };
        two.send(ask, &bytes(&download), &[]).unwrap();
        one.upload(at, &round.to_le_bytes());
        assert_eq!(two.answer().bulk, round.to_le_bytes());
    }
}

#[test]
fn credits_come_back_without_an_answer() {
    let (_server, mut client) = Server::with_client(|options| options.limits.credits = 8);
    assert_eq!(client.welcome.credits, 8);
    for _ in 0..100 {
        let before = client.credit;
        client.one_way("cuProfilerStart", &[], &[]);
        client.credit -= 1;
        while client.credit <= 2 {
            client.receive().unwrap();
        }
        assert!(client.credit <= before + 8);
    }
}

#[test]
fn times_and_counts_are_reported() {
    let (server, mut client) = Server::with_client(|_| {});
    let at = client.alloc(3 << 20).unwrap();
    client.upload(at, &vec![1; 1 << 20]);
    let answer = client.call("cuMemGetInfo_v2", &[]);
    assert!(answer.header.exec_ns > 0);
    assert_eq!(client.status("cuNoSuchCall", &[]), 801);
    let status = server.wait_for("statistics", |status| {
        status
            .sessions
            .first()
            .is_some_and(|s| s.stats.unknown == 1)
    });
    let session = &status.sessions[0];
    assert_eq!(session.client.as_ref().unwrap().pid, std::process::id());
    assert_eq!(session.stats.memory, 3 << 20);
    assert_eq!(session.stats.links, ["unix"]);
    let op = |name: &str| session.stats.ops.iter().find(|op| op.name == name).unwrap();
    assert_eq!(op("cuMemcpyHtoD_v2").bytes, 1 << 20);
    assert_eq!(op("cuMemGetInfo_v2").driver.count, 1);
    assert_eq!(op("unknown").errors, 1);
    assert_eq!(status.counters.sessions, 1);
}

#[test]
fn only_permitted_devices_are_seen_by_cuda_and_nvml() {
    let environment = vec![("GTRACE_SOFTGPU_DEVICES".to_owned(), "3".to_owned())];
    let all = Server::start(|options| options.environment = environment.clone());
    let uuids: Vec<String> = all
        .status()
        .driver
        .devices
        .into_iter()
        .map(|d| d.uuid)
        .collect();
    assert_eq!(uuids.len(), 3);
    let nvml = |client: &mut Client, op: &str, small: &[u8]| {
        let header = client.header(op_id(op), Flags::NVML);
        client.send(header, small, &[]).unwrap();
        let answer = client.answer();
        (answer.header.status, answer.small)
    };
    let string = |text: &str| {
        let mut w = gtrace_protocol::Writer::default();
        w.str(text);
        w.into_inner()
    };
    let count = |client: &mut Client| {
        assert_eq!(nvml(client, "nvmlInit_v2", &[]).0, 0);
        nvml(client, "nvmlDeviceGetCount_v2", &[]).1
    };
    let mut client = Client::connect(all.unix(), "unix").unwrap();
    assert_eq!(client.snapshot().devices.len(), 3);
    assert_eq!(count(&mut client), 3u32.to_le_bytes());
    let set = Kind::NvmlSystemEventSet.handle(1).to_le_bytes();
    let create = "nvmlSystemEventSetCreate";
    assert_eq!(nvml(&mut client, create, &set).0, 0);
    assert_eq!(nvml(&mut client, create, &set).0, 2, "there is one");
    assert_eq!(nvml(&mut client, "nvmlSystemEventSetFree", &set).0, 0);
    assert_eq!(nvml(&mut client, "nvmlSystemEventSetFree", &set).0, 2);

    let server = Server::start(|options| {
        options.environment = environment;
        options.limits.gpus = Some("2,0".into());
    });
    let mut client = Client::connect(server.unix(), "unix").unwrap();
    let snapshot = client.snapshot();
    assert_eq!(snapshot.devices.len(), 2);
    assert!(
        snapshot.devices[0].name.ends_with('2'),
        "{}",
        snapshot.devices[0].name
    );
    // Until NVML is initialised it is not known which they are.
    assert_eq!(nvml(&mut client, "nvmlDeviceGetCount_v2", &[]).0, 1);
    assert_eq!(count(&mut client), 2u32.to_le_bytes());
    assert_eq!(
        nvml(
            &mut client,
            "nvmlDeviceGetHandleByIndex_v2",
            &2u32.to_le_bytes()
        )
        .0,
        2
    );
    let (status, device) = nvml(
        &mut client,
        "nvmlDeviceGetHandleByIndex_v2",
        &1u32.to_le_bytes(),
    );
    assert_eq!(status, 0);
    assert_eq!(
        nvml(&mut client, "nvmlDeviceGetIndex", &device).1,
        1u32.to_le_bytes()
    );
    assert_eq!(
        nvml(&mut client, "nvmlDeviceGetHandleByUUID", &string(&uuids[1])).0,
        6
    );
    let (status, same) = nvml(&mut client, "nvmlDeviceGetHandleByUUID", &string(&uuids[2]));
    assert_eq!((status, same), (0, device));
    // Events of the system are of all devices; this virtual GPU runs on none of these.
    assert_eq!(nvml(&mut client, create, &set).0, 3);
    let vgpu = 1u32.to_le_bytes();
    assert_eq!(nvml(&mut client, "nvmlVgpuInstanceGetType", &vgpu).0, 6);
    // Numbers of devices that were not given cannot be guessed either.
    for counter in 1..100 {
        let guess = Kind::NvmlDevice.server_handle(counter).to_le_bytes();
        let (status, index) = nvml(&mut client, "nvmlDeviceGetIndex", &guess);
        assert!(status != 0 || index[0] < 2);
    }
}

#[test]
fn a_client_chooses_among_the_permitted_devices() {
    let server = Server::start(|options| {
        options.environment = vec![("GTRACE_SOFTGPU_DEVICES".into(), "3".into())];
        options.limits.gpus = Some("1,2".into());
    });
    let mut client = Client::connect(server.unix(), "unix").unwrap();
    let request = payload::SnapshotRequest {
        visible_devices: Some("1".into()),
        device_order: None,
    };
    let answer = client.call_op(payload::SNAPSHOT, &bytes(&request), &[]);
    let snapshot = payload::Snapshot::read(&mut Reader::new(&answer.small)).unwrap();
    assert_eq!(snapshot.devices.len(), 1);
    assert!(
        snapshot.devices[0].name.ends_with('2'),
        "{}",
        snapshot.devices[0].name
    );
}

/// Kernels of a module, `count` of them.
fn many(count: usize) -> Vec<u8> {
    let head = ".version 7.0\n.target sm_70\n.address_size 64\n".to_owned();
    let kernel = |n: usize| format!(".visible .entry k{n}(.param .u32 a) {{ ret; }}\n");
    let text: String = (0..count).map(kernel).collect();
    (head + &text + "\0").into_bytes()
}

#[test]
fn a_load_reports_its_functions_unless_they_are_many() {
    let (_server, mut client) = Server::with_client(|_| {});
    for (handle, count) in [(1, 3), (2, payload::FUNCTIONS_MAX), (3, 1000)] {
        let (status, loaded) = load(&mut client, Kind::Module.handle(handle), &many(count), true);
        assert_eq!(status, 0);
        let reported = loaded.functions.len();
        assert_eq!(reported, if count == 1000 { 0 } else { count });
        for (_, info) in &loaded.functions {
            let parameters = info.parameters.as_ref().unwrap();
            assert_eq!(parameters.len(), 1);
            assert!(!info.attributes.is_empty());
        }
    }
    // What was reported about is asked for without waiting; its errors are reported later.
    let get = |name, function| GetFunction {
        handle: Kind::Function.handle(function),
        of: Kind::Module.handle(1),
        name,
    };
    client.one_way("cuModuleGetFunction", &bytes(&get("k1", 7)), &[]);
    assert_eq!(attribute(&mut client, Kind::Function.handle(7)), 0);
    client.one_way("cuModuleGetFunction", &bytes(&get("none", 8)), &[]);
    let answer = client.call("cuCtxSynchronize", &[]);
    assert_eq!(answer.header.context, 500);
    let (status, _) = load_as(
        &mut client,
        LoadKind::Library,
        Kind::Library.handle(1),
        &many(3),
        true,
    );
    assert_eq!(status, 0);
}

/// Asks for an attribute of a function.
fn attribute(client: &mut Client, function: u64) -> u32 {
    let mut arguments = 0u32.to_le_bytes().to_vec();
    arguments.extend(function.to_le_bytes());
    let answer = client.call("cuFuncGetAttribute", &arguments);
    assert_eq!(answer.header.context, 0);
    answer.header.status
}

/// The second of both numbers in an answer.
fn second(small: &[u8]) -> u64 {
    u64::from_le_bytes(*small[8..].first_chunk().unwrap())
}

#[test]
fn functions_end_with_their_module_or_library_however_they_were_found() {
    const INVALID_HANDLE: u32 = 400;
    let (_server, mut client) = Server::with_client(|_| {});
    let module = Kind::Module.handle(1);
    assert_eq!(load(&mut client, module, &many(1), true).0, 0);
    let mut arguments = 1u32.to_le_bytes().to_vec();
    arguments.extend(module.to_le_bytes());
    let answer = client.call("cuModuleEnumerateFunctions", &arguments);
    let function = second(&answer.small);
    assert_eq!(attribute(&mut client, function), 0);
    client.one_way("cuModuleUnload", &module.to_le_bytes(), &[]);
    assert_eq!(attribute(&mut client, function), INVALID_HANDLE);

    let library = Kind::Library.handle(2);
    let loaded = load_as(&mut client, LoadKind::Library, library, &many(1), true);
    assert_eq!((loaded.0, loaded.1.functions.len()), (0, 1));
    arguments.truncate(4);
    arguments.extend(library.to_le_bytes());
    let answer = client.call("cuLibraryEnumerateKernels", &arguments);
    let kernel = second(&answer.small);
    let function = Kind::Function.handle(3);
    let mut arguments = function.to_le_bytes().to_vec();
    arguments.extend(kernel.to_le_bytes());
    assert_eq!(client.status("cuKernelGetFunction", &arguments), 0);
    for handle in [kernel, function] {
        assert_eq!(attribute(&mut client, handle), 0);
    }
    client.one_way("cuLibraryUnload", &library.to_le_bytes(), &[]);
    for handle in [kernel, function] {
        assert_eq!(attribute(&mut client, handle), INVALID_HANDLE);
    }
}
