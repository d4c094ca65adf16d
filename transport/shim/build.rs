//! Writes the symbols and their calls, and says how the shared library is linked.

use gtrace_codegen::{Api, Error, client, server, write};

fn main() -> Result<(), Error> {
    println!("cargo::rerun-if-changed=build.rs");
    // Programs that are linked with -lcuda then ask for the name that the driver has too.
    println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libcuda.so.1");
    // Threads of the connection run this library's code until the process ends, so that dlclose must
    // not unmap it.
    println!("cargo::rustc-cdylib-link-arg=-Wl,-z,nodelete");
    write("absent.rs", client::absent()?)?;
    write("refused.rs", client::refused()?)?;
    for (api, name) in [(Api::Driver, "driver"), (Api::Nvml, "nvml")] {
        write(&format!("{name}.rs"), client::symbols(api)?)?;
        write(&format!("{name}_calls.rs"), client::calls(api)?)?;
        // What answers the calls in the test of both sides.
        write(&format!("{name}_dispatch.rs"), server::dispatch(api)?)?;
    }
    Ok(())
}
