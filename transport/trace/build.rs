//! Writes the wrappers of the driver's functions, and says how the shared library is linked.

use gtrace_codegen::{Error, trace, write};

fn main() -> Result<(), Error> {
    println!("cargo::rerun-if-changed=build.rs");
    // Programs that are linked with -lcuda then ask for the name that the driver has too.
    println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libcuda.so.1");
    // Threads that have called the driver run this library's code when they end, so that dlclose must
    // not unmap it.
    println!("cargo::rustc-cdylib-link-arg=-Wl,-z,nodelete");
    write("driver.rs", trace::wrappers()?)?;
    write("untouched.rs", trace::untouched()?)
}
