//! A client of `gtrace mcp`: whatever it sends, each line gets one line of JSON that is not too long, or none.
#![no_main]

use gtrace_mcp::testing::Known;
use gtrace_mcp::{LINE_MAX, Server};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let source = Known::with_events(30, "NVRM: Xid (PCI:0000:3b:00): 79");
    let mut server = Server::new(&source);
    for line in data.split(|byte| *byte == b'\n') {
        if let Some(answer) = server.answer(line) {
            assert!(!answer.contains('\n') && answer.len() < 2 * LINE_MAX);
            let value: serde_json::Value = serde_json::from_str(&answer).expect("JSON");
            assert_eq!(value["jsonrpc"], "2.0");
            assert_ne!(value.get("result").is_some(), value.get("error").is_some());
        }
    }
});
