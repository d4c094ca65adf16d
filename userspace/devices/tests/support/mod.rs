//! The fake NVML library and the fake sysfs tree of the tests.
#![allow(dead_code)]

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use gtrace_devices::{PciWatch, SysRoot};
use gtrace_event::PciAddress;

/// The fake library, compiled once for each test program.
pub(crate) fn fake_nvml() -> &'static Path {
    static LIBRARY: OnceLock<(tempfile::TempDir, PathBuf)> = OnceLock::new();
    let (_, path) = LIBRARY.get_or_init(|| {
        let dir = tempfile::tempdir().unwrap();
        let library = dir.path().join("libnvidia-ml.so.1");
        let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fake-nvml/fake_nvml.c");
        let status = Command::new("cc")
            .args([
                "-shared", "-fPIC", "-O1", "-Wall", "-Wextra", "-Werror", "-o",
            ])
            .args([library.as_path(), Path::new(source)])
            .status()
            .expect("these tests need a C compiler: install cc (Debian: gcc)");
        assert!(status.success(), "cc could not build the fake NVML");
        (dir, library)
    });
    path
}

/// The example program, which has the sub-command `nvml-child`. `cargo test -p gtrace-devices`
/// builds it; with `--test nvml` alone an older one may be used.
pub(crate) fn child_program() -> PathBuf {
    let deps = std::env::current_exe().unwrap();
    let program = deps
        .parent()
        .unwrap()
        .parent()
        .unwrap()
        .join("examples/gpus");
    assert!(
        program.exists(),
        "{} is missing: `cargo build -p gtrace-devices --example gpus` makes it",
        program.display()
    );
    program
}

pub(crate) fn pci(text: &str) -> PciAddress {
    text.parse().unwrap()
}

/// A file that never ends a reading, until it is dropped: whoever opens it waits for a writer.
pub(crate) struct Stuck(PathBuf);

impl Stuck {
    pub(crate) fn at(path: PathBuf) -> Self {
        let _ = fs::remove_file(&path);
        let made = Command::new("mkfifo").arg(&path).status();
        assert!(made.unwrap().success());
        Self(path)
    }
}

impl Drop for Stuck {
    fn drop(&mut self) {
        // Without waiting for a reader: one that waits is let go by opening it.
        let _ = fs::OpenOptions::new().read(true).write(true).open(&self.0);
    }
}

/// A fake sysfs.
pub(crate) struct Sys {
    dir: tempfile::TempDir,
}

impl Sys {
    pub(crate) fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir_all(dir.path().join("bus/pci/devices")).unwrap();
        Self { dir }
    }

    pub(crate) fn root(&self) -> SysRoot {
        SysRoot(self.dir.path().to_owned())
    }

    pub(crate) fn watch(&self) -> PciWatch {
        PciWatch::new(self.root())
    }

    /// A device at the end of a chain of ports, as `/sys/devices/pci0000:3a/PORT/…/DEVICE`.
    pub(crate) fn add(&self, chain: &[&str], vendor: &str, class: &str) {
        let mut dir = self.dir.path().join("devices/pci0000:3a");
        for part in chain {
            dir.push(part);
        }
        fs::create_dir_all(&dir).unwrap();
        let name = chain.last().unwrap();
        let link = self.dir.path().join("bus/pci/devices").join(name);
        if !link.exists() {
            symlink(&dir, link).unwrap();
        }
        self.write(name, "vendor", vendor);
        self.write(name, "device", "0x2330\n");
        self.write(name, "class", class);
        self.write(name, "numa_node", "1\n");
        self.write(name, "config", [0xde, 0x10, 0x30, 0x23]);
    }

    /// Two GPUs below a switch below a root port, an NVSwitch, and things to pass over.
    pub(crate) fn host() -> Self {
        let sys = Self::new();
        let (root, up, down1, down2) = (
            "0000:3a:00.0",
            "0000:3b:00.0",
            "0000:3c:01.0",
            "0000:3c:02.0",
        );
        for chain in [
            &[root][..],
            &[root, up],
            &[root, up, down1],
            &[root, up, down2],
        ] {
            sys.add(chain, "0x8086\n", "0x060400\n");
            sys.link(chain.last().unwrap(), "32.0 GT/s PCIe", "16");
        }
        sys.add(&[root, up, down1, "0000:3d:00.0"], "0x10de\n", "0x030200\n");
        sys.add(&[root, up, down2, "0000:3e:00.0"], "0x10de\n", "0x030200\n");
        sys.add(&["0000:40:00.0"], "0x10de\n", "0x068000\n");
        sys.add(&["0000:3d:00.1"], "0x10de\n", "0x040300\n");
        sys.add(&["0000:41:00.0"], "0x15b3\n", "0x020700\n");
        sys.add(&["0000:42:00.0"], "0x10de\n", "0x030200\n");
        sys.virtual_function("0000:42:00.0", "0000:3d:00.0");
        for gpu in ["0000:3d:00.0", "0000:3e:00.0"] {
            sys.link(gpu, "32.0 GT/s PCIe", "16");
            sys.bind(gpu, "nvidia");
            sys.aer(gpu, 0, 0);
        }
        sys.aer(root, 0, 0);
        sys.write(root, "aer_rootport_total_err_cor", "0\n");
        sys
    }

    pub(crate) fn device(&self, name: &str) -> PathBuf {
        self.dir.path().join("bus/pci/devices").join(name)
    }

    pub(crate) fn write(&self, name: &str, file: &str, content: impl AsRef<[u8]>) {
        let path = self.device(name).join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    pub(crate) fn link(&self, name: &str, speed: &str, width: &str) {
        for kind in ["current", "max"] {
            self.write(name, &format!("{kind}_link_speed"), speed);
            self.write(name, &format!("{kind}_link_width"), width);
        }
    }

    /// Makes `name` a virtual function of `whole`.
    pub(crate) fn virtual_function(&self, name: &str, whole: &str) {
        let target = Path::new("..").join(whole);
        symlink(target, self.device(name).join("physfn")).unwrap();
    }

    pub(crate) fn bind(&self, name: &str, driver: &str) {
        let target = self.dir.path().join("bus/pci/drivers").join(driver);
        fs::create_dir_all(&target).unwrap();
        symlink(target, self.device(name).join("driver")).unwrap();
    }

    pub(crate) fn aer(&self, name: &str, correctable: u64, fatal: u64) {
        let text =
            format!("RxErr {correctable}\nBadTLP 0\nBadDLLP 0\nTOTAL_ERR_COR {correctable}\n");
        self.write(name, "aer_dev_correctable", text);
        let text = format!("Undefined 0\nDLP {fatal}\nTOTAL_ERR_FATAL {fatal}\n");
        self.write(name, "aer_dev_fatal", text);
        self.write(
            name,
            "aer_dev_nonfatal",
            "Undefined 0\nTOTAL_ERR_NONFATAL 0\n",
        );
    }

    pub(crate) fn remove(&self, name: &str) {
        let link = self.device(name);
        let target = link.canonicalize().unwrap();
        fs::remove_file(link).unwrap();
        fs::remove_dir_all(target).unwrap();
    }
}

/// A fake /proc/driver/nvidia with these GPUs.
pub(crate) fn proc_tree(gpus: &[(&str, &str)]) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let nvidia = dir.path().join("driver/nvidia");
    for (gpu, information) in gpus {
        let gpu = nvidia.join("gpus").join(gpu);
        fs::create_dir_all(&gpu).unwrap();
        fs::write(gpu.join("information"), information).unwrap();
    }
    fs::create_dir_all(&nvidia).unwrap();
    let version = "NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.129.03  Thu Oct 19\n";
    fs::write(nvidia.join("version"), version).unwrap();
    dir
}
