//! Kernel modules, without modprobe.

use std::ffi::CString;
use std::fs::{self, File};
use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use gtrace_vm_tests::layout::{MODULE_INDEX, MODULES, module_name};

/// Loads a module of the distribution's kernel and, before it, what it depends on. One that is
/// built in or loaded already is no error.
pub(crate) fn load(name: &str) -> Result<()> {
    let index = fs::read_to_string(MODULE_INDEX)
        .with_context(|| format!("cannot read {MODULE_INDEX}: the image is not whole"))?;
    let name = module_name(name);
    if Path::new("/sys/module").join(&name).is_dir() {
        return Ok(());
    }
    let line = index
        .lines()
        .map(|line| line.split(' ').collect::<Vec<_>>())
        .find(|words| words.first() == Some(&name.as_str()));
    let Some(words) = line else {
        bail!("{name} is not in the image: enter it in what xtask puts there (vm/modules.rs)");
    };
    // The index has the built-in ones without a file.
    for module in words.iter().skip(1).chain(words.first()) {
        let path = Path::new(MODULES).join(format!("{module}.ko"));
        if path.exists() && !is_loaded(module) {
            insert(&path, "")?;
        }
    }
    Ok(())
}

/// insmod(8).
///
/// # Errors
///
/// The kernel's errno, with the last lines of its log, which say why.
pub(crate) fn insert(path: &Path, parameters: &str) -> Result<()> {
    let file = File::open(path).with_context(|| format!("cannot open {}", path.display()))?;
    let parameters = CString::new(parameters)?;
    rustix::system::finit_module(file, &parameters, 0).map_err(|error| {
        let log = super::kmsg::last(5).join("\n");
        anyhow::anyhow!("cannot load {}: {error}\n{log}", path.display())
    })
}

/// rmmod(8): delete_module(2) with O_NONBLOCK.
///
/// # Errors
///
/// The kernel's errno: EAGAIN or EBUSY for a module that is in use, EWOULDBLOCK being the first.
pub(crate) fn remove(name: &str) -> io::Result<()> {
    let name = CString::new(name)?;
    let flags = rustix::fs::OFlags::NONBLOCK.bits() as i32;
    rustix::system::delete_module(&name, flags).map_err(io::Error::from)
}

/// Tries [`remove`] until it works, for at most `limit`.
pub(crate) fn remove_within(name: &str, limit: Duration) -> Result<()> {
    let deadline = Instant::now() + limit;
    loop {
        match remove(name) {
            Ok(()) => return Ok(()),
            Err(error) if Instant::now() > deadline => {
                let used = fs::read_to_string(format!("/sys/module/{name}/refcnt"));
                let used = used.unwrap_or_default();
                return Err(error).with_context(|| {
                    format!(
                        "{name} cannot be unloaded; its use count is {}",
                        used.trim()
                    )
                });
            }
            Err(_) => std::thread::sleep(Duration::from_millis(50)),
        }
    }
}

/// Whether /proc/modules has it.
pub(crate) fn is_loaded(name: &str) -> bool {
    let modules = fs::read_to_string("/proc/modules").unwrap_or_default();
    modules
        .lines()
        .any(|line| line.split(' ').next() == Some(name))
}
