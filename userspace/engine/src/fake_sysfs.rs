//! A fake sysfs with one GPU below one port, for tests. What the kernel would show of hardware
//! that no test machine has.

use std::path::{Path, PathBuf};

use gtrace_devices::SysRoot;

pub(crate) const PORT: &str = "0000:3a:00.0";
pub(crate) const GPU: &str = "0000:3b:00.0";

pub(crate) struct FakeSysfs {
    dir: tempfile::TempDir,
}

impl FakeSysfs {
    /// The port alone.
    pub(crate) fn port() -> Self {
        let sys = Self {
            dir: tempfile::tempdir().unwrap(),
        };
        std::fs::create_dir_all(sys.list()).unwrap();
        sys.add(PORT, &sys.dir.path().join("devices/pci0000:3a").join(PORT));
        sys.write(PORT, "vendor", "0x8086\n");
        sys.write(PORT, "class", "0x060400\n");
        sys
    }

    /// The port with the GPU.
    pub(crate) fn with_gpu() -> Self {
        let sys = Self::port();
        sys.add_gpu();
        sys
    }

    pub(crate) fn add_gpu(&self) {
        let path = self.dir.path().join("devices/pci0000:3a").join(PORT);
        self.add(GPU, &path.join(GPU));
        self.write(GPU, "vendor", "0x10de\n");
        self.write(GPU, "class", "0x030200\n");
    }

    /// Takes the GPU away, as a surprise removal does.
    pub(crate) fn remove_gpu(&self) {
        let link = self.list().join(GPU);
        let target = link.canonicalize().unwrap();
        std::fs::remove_file(link).unwrap();
        std::fs::remove_dir_all(target).unwrap();
    }

    /// Corrected errors that the device has counted.
    pub(crate) fn corrected(&self, device: &str, count: u64) {
        let text = format!("RxErr {count}\nBadTLP 0\nTOTAL_ERR_COR {count}\n");
        self.write(device, "aer_dev_correctable", &text);
    }

    pub(crate) fn root(&self) -> SysRoot {
        SysRoot(self.dir.path().to_owned())
    }

    fn list(&self) -> PathBuf {
        self.dir.path().join("bus/pci/devices")
    }

    fn add(&self, name: &str, path: &Path) {
        std::fs::create_dir_all(path).unwrap();
        std::os::unix::fs::symlink(path, self.list().join(name)).unwrap();
    }

    fn write(&self, device: &str, file: &str, text: &str) {
        std::fs::write(self.list().join(device).join(file), text).unwrap();
    }
}
