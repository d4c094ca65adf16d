//! What NVML answers, function by function: every function that the description of NVML has
//! (`gtrace_cuda::functions`), which is what `nvidia-smi -q` shows and more, is called with arguments that make
//! sense for it. A line for each call: its name and arguments, the status, and the bytes that it wrote.

mod arguments;
mod call;
pub mod compare;

use std::io::Write as _;

use anyhow::{Context as _, Result, ensure};
use gtrace_cuda::functions::NVML;
use gtrace_cuda::{Class, Function, Hand, Kind, Pass, find, signatures};

use self::arguments::{combinations, is_skipped};
use self::call::{Call, Library};

/// NVML_SUCCESS.
const SUCCESS: i32 = 0;
/// What NVML has of fields: `NVML_FI_MAX` of 2025, and some more.
const FIELDS: std::ops::Range<u32> = 1..300;

/// A device, and what other functions want to know of it.
struct Device {
    handle: usize,
    name: String,
    uuid: String,
    serial: String,
    bus: String,
    memory_clock: u32,
}

/// Prints a line for each call, with the NVML that the dynamic loader finds.
///
/// # Errors
///
/// There is no NVML, or it cannot be initialised.
pub fn print() -> Result<()> {
    let library = Library::open().context("there is no libnvidia-ml.so.1")?;
    let begun = library.call("nvmlInit_v2", &[]);
    ensure!(begun == Some(SUCCESS), "nvmlInit_v2 gave {begun:?}");
    let devices = devices(&library)?;
    let mut out = std::io::stdout().lock();
    for function in NVML.iter().copied().flatten() {
        if !is_asked(function) {
            continue;
        }
        if library.has(function.name) {
            for line in lines(&library, function, &devices) {
                writeln!(out, "{line}")?;
            }
        } else {
            // One and the same through the shim, which has the function always, and without.
            writeln!(out, "{}: absent", function.name)?;
        }
    }
    for device in &devices {
        for field in FIELDS {
            writeln!(out, "{}", call::field(&library, device, field))?;
        }
    }
    ensure!(
        library.call("nvmlShutdown", &[]) == Some(SUCCESS),
        "nvmlShutdown failed"
    );
    Ok(())
}

/// Functions that this program leaves out are in `arguments`, with the reason. Those of other things than devices (instances,
/// samples, sets of events) are left out too: it has none.
fn is_asked(function: &Function) -> bool {
    let mut arguments = function.arguments.iter();
    let of_devices = arguments.all(|argument| match argument.pass {
        Pass::Handle(kind) | Pass::Known(kind) => kind == Kind::NvmlDevice,
        Pass::Mint(_) | Pass::Destroy(_) => false,
        _ => true,
    });
    let generated = matches!(function.hand, Hand::None | Hand::Client);
    let waiting = function.class == Class::Waiting;
    waiting && generated && of_devices && !is_skipped(function.name)
}

fn devices(library: &Library) -> Result<Vec<Device>> {
    let mut count = [0u64; 1];
    let status = library.call("nvmlDeviceGetCount_v2", &[count.as_mut_ptr() as usize]);
    ensure!(
        status == Some(SUCCESS),
        "nvmlDeviceGetCount_v2 gave {status:?}"
    );
    (0..count[0] as u32)
        .map(|index| {
            let mut handle = [0u64; 1];
            let status = library.call(
                "nvmlDeviceGetHandleByIndex_v2",
                &[index as usize, handle.as_mut_ptr() as usize],
            );
            ensure!(
                status == Some(SUCCESS),
                "nvmlDeviceGetHandleByIndex_v2({index}) gave {status:?}"
            );
            let handle = handle[0] as usize;
            Ok(Device {
                handle,
                name: format!("device {index}"),
                uuid: library.text("nvmlDeviceGetUUID", handle),
                serial: library.text("nvmlDeviceGetSerial", handle),
                bus: library.bus(handle),
                memory_clock: library.memory_clock(handle),
            })
        })
        .collect()
}

/// All calls of one function.
fn lines(library: &Library, function: &'static Function, devices: &[Device]) -> Vec<String> {
    let Some(signature) = find(signatures::NVML, function.name) else {
        return Vec::new();
    };
    let of_device = function.arguments.iter().any(|argument| {
        matches!(argument.pass, Pass::Handle(_) | Pass::InString) || argument.name == "index"
    });
    let devices: Vec<Option<&Device>> = match of_device {
        true => devices.iter().map(Some).collect(),
        false => vec![None],
    };
    let mut lines = Vec::new();
    for device in devices {
        for values in combinations(function, device.map_or(0, |d| d.memory_clock)) {
            let call = Call {
                function,
                signature,
                device,
                values: &values,
            };
            lines.push(call.line(library));
        }
    }
    lines
}
