//! NVIDIA's own driver on a PCI function that is made of memory.

use std::fs::{self, File};
use std::io;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use gtrace_vm_tests::layout::{
    REAL_LAYOUT, REAL_MODULES, REAL_OTHER, REAL_OTHER_VERSION, REAL_VERSION,
};
use rustix::fs::{FileType, Mode, makedev, mknodat};

use super::{Guest, modules};
use crate::skip;

/// Where the GPU that is none lies.
pub(crate) const GPU: &str = "0001:01:00.0";
/// Where a second one lies.
pub(crate) const SECOND_GPU: &str = "0001:01:01.0";

/// Takes commands of the module fakegpu, one a line.
const CONTROL: &str = "/sys/kernel/debug/fakegpu/control";

/// Nodes of the driver, which makes none by itself: the major number, the minor one of the control node.
const MAJOR: u32 = 195;
const CONTROL_MINOR: u32 = 255;
const CONTROL_NODE: &str = "/dev/nvidiactl";
const MODESET_MINOR: u32 = 254;
const MODESET_NODE: &str = "/dev/nvidia-modeset";
const GPU_NODES: [&str; 2] = ["/dev/nvidia0", "/dev/nvidia1"];
const UVM_NODE: &str = "/dev/nvidia-uvm";

/// What the driver is to do without where a GPU is answered for, of which no engine works: the first has it start the
/// GPU's system processor by registers, which the others keep from copying and from waiting for a channel.
const WITHOUT_ENGINES: &str = "NVreg_RegistryDwords=RmDisableCotCmd=0x15;RMDisableScrubOnFree=1;RMDisableFastScrubber=1;RmRcWatchdog=0";

/// From 545 on the driver tries whether it reaches the GPU's memory by its registers, unless it keeps in the host's what it
/// else keeps there; before, one whose GPU does not say that its buses can be trusted asks the GPU's system processor.
const IN_THE_HOST: &str = ";RMInstLoc=0x55555555;RMInstLoc2=0x55555555;RMInstLoc3=0x55555555";

/// How long the last users of a module may take to be gone: opening the GPU fails after five seconds.
const UNLOAD: Duration = Duration::from_secs(20);

impl Guest {
    /// Makes the GPU that is none.
    pub(crate) fn load_gpu(&self) -> Result<()> {
        self.insmod(Path::new(REAL_MODULES).join("fakegpu.ko"), "")
    }

    /// Loads the driver's two modules and makes its nodes.
    pub(crate) fn load_driver(&self) -> Result<()> {
        self.load_driver_with("")
    }

    /// The same of the second series that the image has.
    pub(crate) fn load_other_driver(&self) -> Result<()> {
        self.load_driver_of(REAL_OTHER, "")
    }

    fn load_driver_with(&self, parameters: &str) -> Result<()> {
        self.load_driver_of(REAL_MODULES, parameters)
    }

    fn load_driver_of(&self, folder: &str, parameters: &str) -> Result<()> {
        self.insmod(Path::new(folder).join("nvidia.ko"), parameters)?;
        self.insmod(Path::new(folder).join("nvidia-uvm.ko"), "")?;
        make_node(CONTROL_NODE, MAJOR, CONTROL_MINOR)?;
        make_node(GPU_NODES[0], MAJOR, 0)?;
        let devices = fs::read_to_string("/proc/devices").context("cannot read /proc/devices")?;
        let uvm = devices
            .lines()
            .find_map(|line| line.trim().strip_suffix(" nvidia-uvm")?.parse().ok())
            .with_context(|| format!("no nvidia-uvm is among the devices:\n{devices}"))?;
        make_node(UVM_NODE, uvm, 0)
    }

    /// Loads what displays need of the driver, beside its other modules.
    pub(crate) fn load_modeset(&self) -> Result<()> {
        // It asks for the way to set a display's brightness.
        self.modprobe("video")?;
        self.insmod(Path::new(REAL_MODULES).join("nvidia-modeset.ko"), "")?;
        make_node(MODESET_NODE, MAJOR, MODESET_MINOR)
    }

    /// Both.
    pub(crate) fn load_real(&self) -> Result<()> {
        self.load_gpu()?;
        self.load_driver()
    }

    /// Both, and the driver is answered: its GPU opens. The GPU is in use while what is returned is kept, so that not
    /// each program that asks for it starts it anew.
    pub(crate) fn load_answering(&self) -> Result<File> {
        self.load_answering_with("")
    }

    /// The same with parameters of the GPU's module.
    pub(crate) fn load_answering_with(&self, parameters: &str) -> Result<File> {
        skip_unless_answered()?;
        self.insmod(
            Path::new(REAL_MODULES).join("fakegpu.ko"),
            &format!("gsp=1 {parameters}"),
        )?;
        self.load_driver_with(&answered_parameters()?)?;
        File::open(GPU_NODES[0]).context("the GPU does not open")
    }

    /// The same with two GPUs.
    pub(crate) fn load_two_answering(&self) -> Result<[File; 2]> {
        skip_unless_answered()?;
        self.insmod(Path::new(REAL_MODULES).join("fakegpu.ko"), "gsp=1 gpus=2")?;
        self.load_driver_with(&answered_parameters()?)?;
        make_node(GPU_NODES[1], MAJOR, 1)?;
        let first = File::open(GPU_NODES[0]).context("the first GPU does not open")?;
        let second = File::open(GPU_NODES[1]).context("the second GPU does not open")?;
        Ok([first, second])
    }

    /// Takes the driver out of the kernel.
    pub(crate) fn unload_driver(&self) -> Result<()> {
        modules::remove_within("nvidia_uvm", UNLOAD)?;
        if modules::is_loaded("nvidia_modeset") {
            modules::remove_within("nvidia_modeset", UNLOAD)?;
        }
        modules::remove_within("nvidia", UNLOAD)?;
        remove_nodes()
    }

    /// Changes what the GPU that is none reads as: `poke OFFSET VALUE`, `fill BYTE`, … (vm-tests/fakegpu/README.md).
    pub(crate) fn gpu(&self, line: &str) -> Result<()> {
        fs::write(CONTROL, format!("{line}\n"))
            .with_context(|| format!("fakegpu does not take `{line}`; the log says why"))
    }
}

/// The version of the driver.
pub(crate) fn version() -> Result<String> {
    fs::read_to_string(REAL_VERSION).with_context(|| format!("cannot read {REAL_VERSION}"))
}

/// The version of a second series of it; nothing where the image has one series.
pub(crate) fn other_version() -> Option<String> {
    fs::read_to_string(REAL_OTHER_VERSION).ok()
}

/// Skips the case where no GPU answers this driver.
fn skip_unless_answered() -> Result<()> {
    let driver = version()?;
    let answered =
        fs::read_to_string(REAL_LAYOUT).with_context(|| format!("cannot read {REAL_LAYOUT}"))?;
    if answered != driver {
        skip!(
            "the GPU made of memory answers driver {answered} and not {driver}, whose sources could not be fetched"
        );
    }
    Ok(())
}

/// The parameters of the driver where a GPU is answered for.
fn answered_parameters() -> Result<String> {
    let more = match is_before_545(&version()?)? {
        true => "",
        false => IN_THE_HOST,
    };
    Ok(format!("{WITHOUT_ENGINES}{more}"))
}

/// Whether a version of the driver is of the older of two kinds: of which programs enter all modules by functions of the
/// first, and which names the program of a channel in an Xid whatever thread logs it. Of the newer, 555.58.02 was run.
pub(crate) fn is_before_545(version: &str) -> Result<bool> {
    let series = version.split('.').next().unwrap_or_default();
    Ok(series.parse::<u32>()? < 545)
}

fn make_node(path: &str, major: u32, minor: u32) -> Result<()> {
    let mode = Mode::from_raw_mode(0o666);
    let made = mknodat(
        rustix::fs::CWD,
        path,
        FileType::CharacterDevice,
        mode,
        makedev(major, minor),
    );
    ensure!(made.is_ok(), "cannot make {path}: {made:?}");
    Ok(())
}

/// Removes the nodes that were made, if any were.
pub(crate) fn remove_nodes() -> Result<()> {
    for path in GPU_NODES
        .into_iter()
        .chain([CONTROL_NODE, MODESET_NODE, UVM_NODE])
    {
        match fs::remove_file(path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(error).with_context(|| format!("cannot remove {path}"));
            }
            _ => {}
        }
    }
    Ok(())
}
