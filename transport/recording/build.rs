//! Writes the names of the functions whose calls are recorded.

use gtrace_codegen::{Error, trace, write};

fn main() -> Result<(), Error> {
    println!("cargo::rerun-if-changed=build.rs");
    write("names.rs", trace::names()?)
}
