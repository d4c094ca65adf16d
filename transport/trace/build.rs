//! Link arguments of the shared library.

fn main() {
    // Programs that are linked with -lcuda then ask for the name that the driver has too.
    println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libcuda.so.1");
    // Threads that have called the driver run this library's code when they end, so that dlclose must
    // not unmap it.
    println!("cargo::rustc-cdylib-link-arg=-Wl,-z,nodelete");
    println!("cargo::rerun-if-changed=build.rs");
}
