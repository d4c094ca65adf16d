//! Any bytes as a kernel image: no panic, no more kernels than bytes, and parameters that follow each
//! other. The seeds are images of NVIDIA's tools.
#![no_main]

use gtrace_image::{Layouts, PARAMETERS_MAX};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let layouts = Layouts::read(data);
    for name in layouts.names() {
        let parameters = layouts.get(name).expect("a name that it returned");
        assert!(parameters.len() <= PARAMETERS_MAX);
        let mut end = 0;
        for parameter in parameters {
            assert!(parameter.offset >= end);
            end = parameter
                .offset
                .checked_add(parameter.size)
                .expect("an end");
        }
    }
});
