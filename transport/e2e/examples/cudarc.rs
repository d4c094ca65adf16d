//! A program on cudarc, a public Rust binding of the driver that opens it at run time: adds two vectors and
//! multiplies one by a number, with kernels from the checked-in PTX.

use std::error::Error;

use cudarc::driver::{CudaContext, LaunchConfig, PushKernelArg as _};
use cudarc::nvrtc::Ptx;

const N: usize = 4000;

fn main() -> Result<(), Box<dyn Error>> {
    let context = CudaContext::new(0)?;
    println!(
        "{}, {} device(s)",
        context.name()?,
        CudaContext::device_count()?
    );
    let (major, minor) = context.compute_capability()?;
    println!(
        "compute capability {major}.{minor}, {} bytes",
        context.total_mem()?
    );
    let folder = std::env::var("GTRACE_KERNELS")?;
    let module = context.load_module(Ptx::from_file(format!("{folder}/vector_add.ptx")))?;
    let (add, saxpy) = (
        module.load_function("vector_add")?,
        module.load_function("saxpy")?,
    );

    let stream = context.new_stream()?;
    let a: Vec<f32> = (0..N).map(|i| i as f32 * 0.25).collect();
    let b: Vec<f32> = (0..N).map(|i| 1000.0 - i as f32).collect();
    let (on_a, on_b) = (stream.clone_htod(&a)?, stream.clone_htod(&b)?);
    let mut sum = stream.alloc_zeros::<f32>(N)?;
    let n = N as u32;
    let mut launch = stream.launch_builder(&add);
    launch.arg(&on_a).arg(&on_b).arg(&mut sum).arg(&n);
    // SAFETY: the arguments are those of the kernel, and the arrays have n elements.
    #[allow(unsafe_code)]
    unsafe { launch.launch(LaunchConfig::for_num_elems(n)) }?;
    let mut launch = stream.launch_builder(&saxpy);
    launch.arg(&2.0f32).arg(&on_a).arg(&mut sum).arg(&n);
    // SAFETY: as above.
    #[allow(unsafe_code)]
    unsafe { launch.launch(LaunchConfig::for_num_elems(n)) }?;
    let found = stream.clone_dtoh(&sum)?;
    stream.synchronize()?;
    for (i, value) in found.iter().enumerate() {
        let expected = 2.0f32.mul_add(a[i], a[i] + b[i]);
        if *value != expected {
            return Err(format!("element {i} is {value}, not {expected}").into());
        }
    }
    println!("sum {}", found.iter().map(|x| f64::from(*x)).sum::<f64>());
    Ok(())
}
