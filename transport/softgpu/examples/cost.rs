//! What launches and copies cost on the CPU emulator: `cargo run --release -p gtrace-softgpu --example cost`.
//! Each figure stands beside what it is measured against in the same run.
#![allow(unsafe_code, clippy::unwrap_used, reason = "a program that measures")]

use std::ffi::CString;
use std::hint::black_box;
use std::time::{Duration, Instant};

use gtrace_softgpu::abi::{In, Name, Out};
use gtrace_softgpu::api::launch::cuLaunchKernel;
use gtrace_softgpu::api::{context, copy, init, memory, module};

const EMPTY: &str =
    ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry empty() { ret; }";
const BYTES: usize = 16 << 20;

fn check(code: u32) {
    assert_eq!(code, 0);
}

/// The least time of several tries, as other work of the machine only adds to it.
fn best(tries: usize, mut run: impl FnMut() -> Duration) -> Duration {
    (0..tries).map(|_| run()).min().unwrap_or_default()
}

fn main() {
    let (text, name) = (CString::new(EMPTY).unwrap(), CString::new("empty").unwrap());
    let (mut current, mut loaded, mut empty, mut device) = (0, 0, 0, 0);
    // SAFETY: pointers of live variables.
    unsafe {
        check(init::cuInit(0));
        check(context::cuCtxCreate_v2(Out::new(&mut current), 0, 0));
        check(module::cuModuleLoadData(
            Out::new(&mut loaded),
            text.as_ptr().cast(),
        ));
        check(module::cuModuleGetFunction(
            Out::new(&mut empty),
            loaded,
            Name::new(name.as_ptr()),
        ));
        check(memory::cuMemAlloc_v2(Out::new(&mut device), BYTES));
    }
    // SAFETY: a kernel without parameters.
    let launch = || unsafe {
        check(cuLaunchKernel(
            empty,
            1,
            1,
            1,
            1,
            1,
            1,
            0,
            0,
            In::NULL,
            In::NULL,
        ));
    };
    // SAFETY: a context is current.
    let wait = || unsafe { check(context::cuCtxSynchronize()) };
    launch();
    wait();
    let count = 1000;
    let issue = best(50, || {
        let begun = Instant::now();
        (0..count).for_each(|_| launch());
        let took = begun.elapsed();
        wait();
        took / count
    });
    let whole = best(50, || {
        let begun = Instant::now();
        (0..count).for_each(|_| launch());
        wait();
        begun.elapsed() / count
    });
    let round = best(1000, || {
        let begun = Instant::now();
        launch();
        wait();
        begun.elapsed()
    });
    println!("empty kernel: {issue:?} to issue, {whole:?} each in a row, {round:?} with waiting");

    let source = vec![1u8; BYTES];
    let mut target = vec![0u8; BYTES];
    let plain = best(20, || {
        let begun = Instant::now();
        target.copy_from_slice(black_box(&source));
        black_box(&target);
        begun.elapsed()
    });
    let copied = best(20, || {
        let begun = Instant::now();
        // SAFETY: both are of this size.
        unsafe { check(copy::cuMemcpyHtoD_v2(device, source.as_ptr().cast(), BYTES)) };
        begun.elapsed()
    });
    let rate = |time: Duration| BYTES as f64 / time.as_secs_f64() / 1e9;
    println!(
        "copy of 16 MiB to the device: {:.1} GB/s, memcpy {:.1} GB/s, ratio {:.2}",
        rate(copied),
        rate(plain),
        plain.as_secs_f64() / copied.as_secs_f64()
    );
}
