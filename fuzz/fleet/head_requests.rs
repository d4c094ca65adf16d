//! A hostile head: of what it asks an agent for, only the closed list is known, and no more of it than an agent takes.
#![no_main]

use gtrace_event::PciAddress;
use gtrace_fleet::{Ask, HostRequest, MeasureAnswer, REQUESTS_MAX, is_readable, known_requests};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Ok(answer) = serde_json::from_slice::<MeasureAnswer>(data) else {
        return;
    };
    for read in answer.reads.iter().filter(|read| is_readable(&read.path)) {
        // It becomes a line of a request to the daemon.
        assert!(read.path.bytes().all(|b| b.is_ascii_graphic()));
        let route = read.path.split('?').next().expect("a first part");
        assert!(route.starts_with("/api/v1/") || route == "/page/routes.json");
        assert!(!route.contains("..") && !route.ends_with("/stream"));
    }
    let known = known_requests(&answer.requests);
    assert!(known.len() <= REQUESTS_MAX);
    for request in known {
        if let Ask::ResetGpu { pci } = &request.ask {
            // It becomes an argument of nvidia-smi.
            let text = pci.to_string();
            assert!(
                text.bytes()
                    .all(|b| b.is_ascii_hexdigit() || b == b':' || b == b'.')
            );
            assert_eq!(PciAddress::parse(&text), Some(*pci));
        }
        if request.ask != Ask::Other {
            let text = serde_json::to_vec(&request).expect("JSON");
            let again: HostRequest = serde_json::from_slice(&text).expect("its own form");
            assert_eq!(again, request);
        }
    }
});
