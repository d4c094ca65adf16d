//! What a kubelet asks of a device plugin: refused, or answered with devices of one server.
#![no_main]

use gtrace_device_plugin::Plugin;
use gtrace_grpc::device_plugin::{ALLOCATE, PREFERRED};
use gtrace_grpc::server::{Reply, Service as _};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let plugin = Plugin::with_gpus(
        &[("a:7471", &["GPU-0", "GPU-1"]), ("b:7471", &["GPU-2"])],
        2,
    );
    for method in [PREFERRED, ALLOCATE] {
        match plugin.call(method, data) {
            Reply::Message(_) | Reply::Refusal { .. } => {}
            Reply::Stream(_) => panic!("{method} answered with a stream"),
        }
    }
});
