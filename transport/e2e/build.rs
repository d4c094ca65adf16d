//! What runs on a machine that has little installed finds the compiler's runtime beside it, where the archive of
//! `cargo xtask gpu-check` has it.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-link-arg-bins=-Wl,-rpath,$ORIGIN/lib");
    println!("cargo::rustc-link-arg-examples=-Wl,-rpath,$ORIGIN/../lib");
}
