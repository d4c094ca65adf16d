//! What scontrol prints, or another program in its place: nodes within bounds, whose drain is a plan's only by its reason.
#![no_main]

use gtrace_fleet::remedy::Effect;
use gtrace_fleet::remedy::scontrol::{NODES_MAX, parse};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let text = String::from_utf8_lossy(data);
    let nodes = parse(&text);
    assert!(nodes.len() <= NODES_MAX.min(text.lines().count()));
    for (name, node) in &nodes {
        assert!(!name.contains([' ', '\n']));
        let effect = node.effect(7);
        assert_eq!(node.is_drained(), effect != Effect::Absent);
        assert!(effect != Effect::Ours || text.contains("Reason=gtrace plan 7:"));
        assert!(node.effect(70) != Effect::Ours || effect != Effect::Ours);
        assert!(node.is_out() || !node.is_drained());
        let _ = node.busy();
    }
});
