//! Kernel modules for the guest: decompressed, with what each depends on.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail};
use gtrace_vm_tests::layout::{MODULE_INDEX, MODULES, module_name};

use super::cpio::Archive;
use super::kernel::Kernel;
use crate::shell;

/// What the scenarios and cases load, beside the stub and NVIDIA's driver. Some are built into some kernels.
const WANTED: [&str; 16] = [
    "9p",
    "9pnet_virtio",
    "aer_inject",
    "crc32_generic",
    "crc32c_generic",
    "drm",
    "e1000e",
    "ext4",
    "mce_inject",
    "overlay",
    "rdma_rxe",
    "video",
    "virtio_blk",
    "virtio_net",
    "virtio_pci",
    "virtio_rng",
];

/// A module of a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Module {
    content: Vec<u8>,
    depends: Vec<String>,
}

/// Adds the wanted modules and an index of them.
pub(super) fn add(archive: &mut Archive, kernel: &Kernel) -> Result<()> {
    let dir = kernel.modules()?;
    let builtin = builtin(&dir)?;
    let mut files = BTreeMap::new();
    find(&dir.join("kernel"), &mut files)?;
    let mut modules = BTreeMap::new();
    for wanted in WANTED {
        read_with_depends(wanted, &files, &mut modules, &builtin)?;
    }
    let depends: BTreeMap<_, _> = modules
        .iter()
        .map(|(name, module)| (name.as_str(), module.depends.as_slice()))
        .collect();
    let mut index = String::new();
    for name in modules.keys().map(String::as_str) {
        let mut order = Vec::new();
        load_order(name, &depends, &mut order);
        order.retain(|module| *module != name);
        index.push_str(&[&[name], order.as_slice()].concat().join(" "));
        index.push('\n');
    }
    for name in builtin
        .iter()
        .filter(|name| WANTED.contains(&name.as_str()))
    {
        index.push_str(name);
        index.push('\n');
    }
    archive.file(MODULE_INDEX, index, 0o644);
    for (name, module) in modules {
        archive.file(&format!("{MODULES}/{name}.ko"), module.content, 0o644);
    }
    Ok(())
}

/// Names of what is built in, from the file that `make modules_install` writes.
fn builtin(dir: &Path) -> Result<Vec<String>> {
    let file = dir.join("modules.builtin");
    let text =
        fs::read_to_string(&file).with_context(|| format!("cannot read {}", file.display()))?;
    Ok(text.lines().filter_map(|l| name_of(Path::new(l))).collect())
}

/// `kernel/net/9p/9pnet_virtio.ko.xz` is `9pnet_virtio`.
fn name_of(path: &Path) -> Option<String> {
    let name = path.file_name()?.to_str()?;
    let name = name.strip_suffix(".xz").unwrap_or(name);
    Some(module_name(name.strip_suffix(".ko")?))
}

fn find(dir: &Path, files: &mut BTreeMap<String, PathBuf>) -> Result<()> {
    let entries = fs::read_dir(dir).with_context(|| format!("cannot read {}", dir.display()))?;
    for entry in entries {
        let entry = entry?;
        let path = entry.path();
        if entry.file_type()?.is_dir() {
            find(&path, files)?;
        } else if let Some(name) = name_of(&path) {
            files.insert(name, path);
        }
    }
    Ok(())
}

fn read_with_depends(
    name: &str,
    files: &BTreeMap<String, PathBuf>,
    modules: &mut BTreeMap<String, Module>,
    builtin: &[String],
) -> Result<()> {
    if modules.contains_key(name) || builtin.iter().any(|b| b == name) {
        return Ok(());
    }
    let Some(path) = files.get(name) else {
        bail!("this kernel has no module {name}, neither as a file nor built in");
    };
    let module = read(path)?;
    let depends = module.depends.clone();
    modules.insert(name.to_owned(), module);
    for other in &depends {
        read_with_depends(other, files, modules, builtin)?;
    }
    Ok(())
}

fn read(path: &Path) -> Result<Module> {
    let content = if path.extension().is_some_and(|e| e == "xz") {
        let output = shell::output(Command::new("xz").arg("-dc").arg(path))?;
        if !output.status.success() {
            bail!(
                "{} cannot be decompressed: {}",
                path.display(),
                String::from_utf8_lossy(&output.stderr).trim()
            );
        }
        output.stdout
    } else {
        fs::read(path).with_context(|| format!("cannot read {}", path.display()))?
    };
    Ok(Module {
        depends: depends(&content),
        content,
    })
}

/// The field `depends=` of the section `.modinfo`, whose texts are closed by NUL bytes. There is
/// no modules.dep in a kernel package: depmod makes it at installation.
fn depends(module: &[u8]) -> Vec<String> {
    const FIELD: &[u8] = b"\0depends=";
    let Some(at) = module.windows(FIELD.len()).position(|w| w == FIELD) else {
        return Vec::new();
    };
    let value = module[at + FIELD.len()..].split(|byte| *byte == 0).next();
    String::from_utf8_lossy(value.unwrap_or_default())
        .split(',')
        .filter(|name| !name.is_empty())
        .map(module_name)
        .collect()
}

/// `name` and all that it depends on, each after what it depends on itself.
fn load_order<'a>(
    name: &'a str,
    depends: &BTreeMap<&'a str, &'a [String]>,
    order: &mut Vec<&'a str>,
) {
    if order.contains(&name) {
        return;
    }
    let Some(names) = depends.get(name) else {
        // Built in.
        return;
    };
    for other in *names {
        load_order(other, depends, order);
    }
    order.push(name);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_is_the_kernels_and_not_the_files() {
        let name = |path: &str| name_of(Path::new(path));
        assert_eq!(name("kernel/a/virtio-rng.ko.xz").unwrap(), "virtio_rng");
        assert_eq!(name("kernel/fs/9p/9p.ko").unwrap(), "9p");
        assert_eq!(name("modules.dep"), None);
    }

    #[test]
    fn dependencies_are_read_out_of_the_module() {
        let module = b"\x7fELF...\0license=GPL\0depends=9pnet,fs-cache,netfs\0name=9p\0";
        assert_eq!(depends(module), ["9pnet", "fs_cache", "netfs"]);
        assert!(depends(b"license=GPL\0depends=\0name=x\0").is_empty());
        assert!(depends(b"").is_empty());
    }

    #[test]
    fn a_module_comes_after_all_that_it_needs() {
        let net = ["failover".to_owned(), "net_failover".to_owned()];
        let net_failover = ["failover".to_owned(), "built_in".to_owned()];
        let depends = BTreeMap::from([
            ("virtio_net", &net[..]),
            ("net_failover", &net_failover[..]),
            ("failover", &[][..]),
        ]);
        let mut order = Vec::new();
        load_order("virtio_net", &depends, &mut order);
        assert_eq!(order, ["failover", "net_failover", "virtio_net"]);
    }
}
