// Shared by the build scripts that build something else beside.

/// A folder in the target directory that this build writes to.
fn beside(name: &str) -> PathBuf {
    // OUT_DIR is TARGET[/TRIPLE]/PROFILE/build/PACKAGE-HASH/out.
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default());
    let target = out
        .ancestors()
        .nth(4)
        .map(Path::to_path_buf)
        .unwrap_or_default();
    match env::var("CARGO_BUILD_TARGET") {
        Ok(_) => target
            .parent()
            .map(Path::to_path_buf)
            .unwrap_or(target)
            .join(name),
        Err(_) => target.join(name),
    }
}
