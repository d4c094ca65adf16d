//! Link arguments of the shared library.

fn main() {
    // Worker threads of streams run this library's code until the process ends, so that dlclose
    // must not unmap it.
    println!("cargo::rustc-cdylib-link-arg=-Wl,-z,nodelete");
    // As the driver, it calls its own functions, not those of a library that was loaded before it under
    // the same name.
    println!("cargo::rustc-cdylib-link-arg=-Wl,-Bsymbolic");
    println!("cargo::rerun-if-changed=build.rs");
}
