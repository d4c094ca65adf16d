//! Writes the dispatch to the driver's functions.

use gtrace_codegen::{Api, Error, server, write};

fn main() -> Result<(), Error> {
    println!("cargo::rerun-if-changed=build.rs");
    write("driver.rs", server::dispatch(Api::Driver)?)?;
    write("nvml.rs", server::dispatch(Api::Nvml)?)
}
