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
    let load = Load {
        kind: LoadKind::Module,
        handle,
        hash: Sha256::digest(image).into(),
        size: image.len() as u64,
        jit: payload::JitOptions::default(),
        library: Vec::new(),
    };
    let bulk = if with_image { image } else { &[] };
    let answer = client.call_op(op_id("cuModuleLoadData"), &bytes(&load), bulk);
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
    let server = Server::start(|_| {});
    let mut one = Client::ready(server.unix(), "unix");
    let mut two = Client::ready(server.unix(), "unix");
    let stream = Kind::Stream.handle(5);
    let create = [stream.to_le_bytes().as_slice(), &0u32.to_le_bytes()].concat();
    one.one_way("cuStreamCreate", &create, &[]);
    let query = |client: &mut Client, handle: u64| {
        client
            .call("cuStreamQuery", &handle.to_le_bytes())
            .header
            .status
    };
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
    // A context that is not there.
    one.context = 77;
    assert_eq!(one.call("cuCtxSynchronize", &[]).header.status, 201);
}

#[test]
fn an_error_of_a_one_way_call_is_told_once() {
    let server = Server::start(|_| {});
    let mut client = Client::ready(server.unix(), "unix");
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
    let server = Server::start(|_| {});
    let mut one = Client::ready(server.unix(), "unix");
    let at = one.alloc(8).unwrap();
    let target = support::target(server.unix(), "unix");
    let mut two = Client::open(&target, Some(&one.session)).unwrap();
    two.context = 1;
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
    let server = Server::start(|options| options.limits.credits = 8);
    let mut client = Client::ready(server.unix(), "unix");
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
fn times_and_counts_are_told() {
    let server = Server::start(|_| {});
    let mut client = Client::ready(server.unix(), "unix");
    let at = client.alloc(3 << 20).unwrap();
    client.upload(at, &vec![1; 1 << 20]);
    let answer = client.call("cuMemGetInfo_v2", &[]);
    assert!(answer.header.exec_ns > 0);
    assert_eq!(client.call("cuNoSuchCall", &[]).header.status, 801);
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
    // Numbers of devices that were not told cannot be guessed either.
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
