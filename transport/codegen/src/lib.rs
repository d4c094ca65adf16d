//! Writes Rust from the description of the CUDA driver API and NVML in gtrace-cuda: the client's stubs
//! ([`client`]), the server's dispatch ([`server`]), the wrappers of the tracing library and the names of
//! what is recorded ([`trace`]).
//!
//! The crates that use the text have it written by their build scripts and include it from `OUT_DIR`. Lints
//! that it does not heed are allowed at the module that includes it, as an included file has no inner
//! attributes. The text is not formatted: nobody but the compiler reads it as a rule, and rustfmt would
//! have to be installed wherever it is built. To read one: `rustfmt --emit=stdout FILE`, of those in
//! `target/debug/build/gtrace-*/out`.

pub mod client;
mod error;
pub mod server;
pub mod trace;

use std::path::PathBuf;

pub use error::Error;
pub use gtrace_cuda::Api;
use gtrace_cuda::{Function, Signature, find, signatures};

/// Writes a file into the folder of a build script's output.
///
/// # Errors
///
/// [`Error::NoFolder`] outside a build script; [`Error::Write`] if the file cannot be written.
pub fn write(file: &str, text: String) -> Result<(), Error> {
    let folder = std::env::var_os("OUT_DIR").ok_or(Error::NoFolder)?;
    let path = PathBuf::from(folder).join(file);
    std::fs::write(&path, text).map_err(|source| Error::Write { path, source })
}

/// The head of a generated file.
fn head(what: &str) -> String {
    format!("// {what}\n//\n// Written by gtrace-codegen when this crate was built.\n\n")
}

/// The library's name, and the module of its types.
fn subject(api: Api) -> (&'static str, &'static str) {
    match api {
        Api::Driver => ("the CUDA driver API", "driver"),
        Api::Nvml => ("NVML", "nvml"),
    }
}

/// The signature that belongs to a function.
fn signature(api: Api, function: &Function) -> Result<&'static Signature, Error> {
    let table = signatures::table(api);
    find(table, function.name).ok_or(Error::NoSignature(function.name))
}
