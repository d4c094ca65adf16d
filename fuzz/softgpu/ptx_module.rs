//! PTX text: parsing, decoding and linking never panic, and what they report holds together. The
//! seeds are the kernels of transport/softgpu/kernels.
#![no_main]

use gtrace_softgpu::ptx::{Loaded, Module, link};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    let Ok(module) = Module::parse(text) else {
        return;
    };
    for entry in module.entries() {
        let end = entry
            .params
            .iter()
            .map(|param| param.offset + param.size)
            .max();
        assert!(end.unwrap_or(0) <= entry.param_size);
        assert!(
            entry
                .params
                .iter()
                .all(|param| param.offset % param.align == 0)
        );
    }
    let globals = module.globals();
    let size = globals
        .iter()
        .fold(0_usize, |sum, global| sum.saturating_add(global.size));
    if size > 1 << 24 {
        return;
    }
    let addresses = vec![4096; globals.len()];
    if let Ok(loaded) = Loaded::new(&module, &addresses) {
        let sizes = loaded.images().iter().map(Vec::len);
        assert!(sizes.eq(globals.iter().map(|global| global.size)));
        // One module alone links to itself.
        if let Ok(linked) = link(std::slice::from_ref(&module)) {
            assert_eq!(linked.entries(), module.entries());
        }
    }
});
