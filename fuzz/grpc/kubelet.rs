//! An answer of the kubelet: refused, or devices of containers.
#![no_main]

use gtrace_grpc::kubelet::{ListPodResourcesResponse, allocations};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    if let Ok(answer) = gtrace_grpc::parse::<ListPodResourcesResponse>(data) {
        let _ = allocations(answer);
    }
});
