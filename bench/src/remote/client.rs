//! `gtrace-bench remote-client COUNT`: a CUDA program that opens the driver as any other does, measures calls
//! of it, and prints what it found. Run through `gtrace exec`, or directly on the CPU emulator.

pub(crate) use gtrace_e2e::measure::Found;

/// The argument that makes the program a client.
pub(crate) const ARGUMENT: &str = "remote-client";

/// Measures with `count` queries and as many bulk copies as a thousandth of that; prints a line.
pub(crate) fn main(count: &str) -> anyhow::Result<()> {
    println!("{}", gtrace_e2e::measure::run(count.parse()?)?.json());
    Ok(())
}
