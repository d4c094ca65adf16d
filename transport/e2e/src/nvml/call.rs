//! A call of any function of NVML by its description.
#![allow(unsafe_code)] // calls into a C library

use std::ffi::{CStr, CString};

use gtrace_cuda::types::nvml::{self as types, nvmlFieldValue_t, nvmlPciInfo_t, nvmlReturn_t};
use gtrace_cuda::{Argument, Function, Length, Pass, Signature};
use gtrace_tables::results;

use super::{Device, SUCCESS};

/// NVML_ERROR_INSUFFICIENT_SIZE: the count is answered all the same.
const INSUFFICIENT_SIZE: i32 = 7;
/// NVML_ERROR_ARGUMENT_VERSION_MISMATCH.
const VERSION_MISMATCH: i32 = 25;
/// Words of room behind each pointer: more than any structure of NVML, and than [`CAPACITY`] elements of any list.
const WORDS: usize = 8192;
/// Elements that a list has room for.
const CAPACITY: u64 = 256;
/// Bytes of a value that are shown; of longer ones a digest.
const SHOWN: usize = 256;

/// Any function of NVML: at most six arguments, all integers or pointers. On the machines that NVIDIA's driver is
/// made for such arguments go into registers of 64 bits, and those behind the last that a function has are ignored.
type Any = unsafe extern "C" fn(usize, usize, usize, usize, usize, usize) -> nvmlReturn_t;
const ARGUMENTS: usize = 6;

/// An opened NVML.
pub(super) struct Library(libloading::Library);

impl Library {
    pub(super) fn open() -> Result<Self, libloading::Error> {
        // SAFETY: opening NVML runs its constructors, as in every program that uses it.
        Ok(Self(unsafe {
            libloading::Library::new("libnvidia-ml.so.1")?
        }))
    }

    fn find(&self, name: &str) -> Option<Any> {
        let name = CString::new(name).ok()?;
        // SAFETY: what the type asks of its caller is said there.
        let symbol = unsafe { self.0.get::<Any>(name.as_bytes_with_nul()) };
        symbol.ok().map(|symbol| *symbol)
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.find(name).is_some()
    }

    /// The status, if there is such a function.
    pub(super) fn call(&self, name: &str, arguments: &[usize]) -> Option<i32> {
        let function = self.find(name)?;
        let mut all = [0; ARGUMENTS];
        for (to, from) in all.iter_mut().zip(arguments) {
            *to = *from;
        }
        let [a, b, c, d, e, f] = all;
        // SAFETY: pointers among the arguments are of live buffers that are larger than what the function writes.
        let status = unsafe { function(a, b, c, d, e, f) };
        Some(status.cast_signed())
    }

    /// What a function with the signature of nvmlDeviceGetUUID answers; empty if it fails.
    pub(super) fn text(&self, name: &str, device: usize) -> String {
        let mut buffer = Buffer::new();
        match self.call(name, &[device, buffer.address(), 96]) {
            Some(SUCCESS) => buffer.text(),
            _ => String::new(),
        }
    }

    /// The device's address as nvmlDeviceGetHandleByPciBusId takes it.
    pub(super) fn bus(&self, device: usize) -> String {
        let mut buffer = Buffer::new();
        match self.call("nvmlDeviceGetPciInfo_v3", &[device, buffer.address()]) {
            Some(SUCCESS) => buffer.text_at(std::mem::offset_of!(nvmlPciInfo_t, busId)),
            _ => String::new(),
        }
    }

    /// The first of the supported clocks of memory, MHz; 0 if none is reported.
    pub(super) fn memory_clock(&self, device: usize) -> u32 {
        let (mut count, mut clocks) = (Buffer::new(), Buffer::new());
        count.0[0] = CAPACITY;
        let arguments = [device, count.address(), clocks.address()];
        match self.call("nvmlDeviceGetSupportedMemoryClocks", &arguments) {
            Some(SUCCESS) => clocks.0[0] as u32,
            _ => 0,
        }
    }
}

/// Room behind a pointer.
struct Buffer(Box<[u64]>);

impl Buffer {
    fn new() -> Self {
        Self(vec![0; WORDS].into_boxed_slice())
    }

    fn address(&mut self) -> usize {
        self.0.as_mut_ptr() as usize
    }

    fn bytes(&self) -> Vec<u8> {
        self.0.iter().flat_map(|word| word.to_le_bytes()).collect()
    }

    fn text(&self) -> String {
        self.text_at(0)
    }

    fn text_at(&self, at: usize) -> String {
        let bytes = self.bytes();
        let text = bytes.get(at..).unwrap_or_default();
        match CStr::from_bytes_until_nul(text) {
            Ok(text) => text.to_string_lossy().into_owned(),
            Err(_) => String::new(),
        }
    }
}

/// A call that is to be made.
pub(super) struct Call<'a> {
    pub(super) function: &'a Function,
    pub(super) signature: &'a Signature,
    pub(super) device: Option<&'a Device>,
    /// Of the arguments that are numbers, in order.
    pub(super) values: &'a [u64],
}

impl Call<'_> {
    /// Makes the call and shows what came of it.
    pub(super) fn line(&self, library: &Library) -> String {
        // Which versions a driver knows of a structure depends on its age; the size is that of the newest.
        let versions = match self.versioned() {
            true => 1..6,
            false => 0..1,
        };
        let mut line = String::new();
        for version in versions {
            let (status, buffers) = self.call(library, version);
            line = self.show(library, status, &buffers);
            if status != VERSION_MISMATCH {
                break;
            }
        }
        line
    }

    fn versioned(&self) -> bool {
        let mut arguments = self.function.arguments.iter();
        arguments.any(|argument| argument.pass == Pass::Versioned)
    }

    fn call(&self, library: &Library, version: u32) -> (i32, Vec<Buffer>) {
        let mut numbers = self.values.iter();
        let mut buffers = Vec::new();
        let mut arguments = Vec::new();
        for argument in self.function.arguments {
            let mut buffer = Buffer::new();
            match argument.pass {
                Pass::Handle(_) => {
                    arguments.push(self.device.map_or(0, |device| device.handle));
                    continue;
                }
                Pass::Value => {
                    arguments.push(numbers.next().copied().unwrap_or(0) as usize);
                    continue;
                }
                Pass::InString => buffer.put(self.string(argument.name)),
                Pass::Versioned => {
                    let size = self.size(argument);
                    buffer.0[0] = u64::from(version << 24 | size);
                }
                Pass::InOut if self.is_count(argument) => buffer.0[0] = CAPACITY,
                // A structure whose version is a plain number.
                Pass::InOut => buffer.0[0] = 1,
                _ => {}
            }
            arguments.push(buffer.address());
            buffers.push(buffer);
        }
        let status = library.call(self.function.name, &arguments);
        (status.unwrap_or(-1), buffers)
    }

    fn string(&self, argument: &str) -> &str {
        let Some(device) = self.device else { return "" };
        match argument {
            "uuid" => &device.uuid,
            "serial" => &device.serial,
            _ => &device.bus,
        }
    }

    fn is_count(&self, argument: &Argument) -> bool {
        let counted = Some(Length::Pointee(argument.name));
        self.function
            .arguments
            .iter()
            .any(|other| other.length == counted)
    }

    /// Bytes of the structure that an argument points to, where the function wants to know.
    fn size(&self, argument: &Argument) -> u32 {
        let parameter = self
            .signature
            .parameters
            .iter()
            .find(|parameter| parameter.name == argument.name);
        let ty = parameter.map_or("", |parameter| parameter.ty);
        size_of_type(ty.trim_start_matches("*mut ")).unwrap_or(0)
    }

    fn show(&self, library: &Library, status: i32, buffers: &[Buffer]) -> String {
        let mut words: Vec<String> = Vec::new();
        words.extend(self.device.map(|device| device.name.clone()));
        words.extend(self.values.iter().map(u64::to_string));
        let mut line = format!(
            "{}({}): {}",
            self.function.name,
            words.join(", "),
            described(status)
        );
        let pointers = self
            .function
            .arguments
            .iter()
            .filter(|argument| !matches!(argument.pass, Pass::Handle(_) | Pass::Value));
        for (argument, buffer) in pointers.zip(buffers) {
            let shown = match argument.pass {
                Pass::InOut if status == INSUFFICIENT_SIZE => value(&buffer.bytes()),
                _ if status != SUCCESS => continue,
                Pass::OutString => format!("{:?}", buffer.text()),
                // The version is what this program asked with.
                Pass::Versioned => value(buffer.bytes().get(4..).unwrap_or_default()),
                Pass::Out | Pass::InOut => value(&buffer.bytes()),
                Pass::Known(_) => self.which(library, buffer.0[0] as usize),
                _ => continue,
            };
            line += &format!(" {}={shown}", argument.name);
        }
        line
    }

    /// Handles are numbers of one process; what is the same is which device they are of.
    fn which(&self, library: &Library, handle: usize) -> String {
        let mut index = Buffer::new();
        match library.call("nvmlDeviceGetIndex", &[handle, index.address()]) {
            Some(SUCCESS) => format!("device {}", index.0[0] as u32),
            _ => "a handle".to_owned(),
        }
    }
}

impl Buffer {
    fn put(&mut self, text: &str) {
        for (word, bytes) in self.0.iter_mut().zip(text.as_bytes().chunks(8)) {
            let mut eight = [0; 8];
            eight[..bytes.len()].copy_from_slice(bytes);
            *word = u64::from_le_bytes(eight);
        }
    }
}

/// One field of a device.
pub(super) fn field(library: &Library, device: &Device, id: u32) -> String {
    let mut buffer = Buffer::new();
    buffer.0[0] = u64::from(id);
    let arguments = [device.handle, 1, buffer.address()];
    let Some(status) = library.call("nvmlDeviceGetFieldValues", &arguments) else {
        return "nvmlDeviceGetFieldValues: absent".to_owned();
    };
    let bytes = buffer.bytes();
    let number = |at: usize| {
        let four = bytes.get(at..at + 4).and_then(|b| b.try_into().ok());
        u32::from_le_bytes(four.unwrap_or_default())
    };
    let own = number(std::mem::offset_of!(nvmlFieldValue_t, nvmlReturn)).cast_signed();
    let mut line = format!(
        "nvmlDeviceGetFieldValues({}, {id}): {}",
        device.name,
        described(if status == SUCCESS { own } else { status })
    );
    if status == SUCCESS && own == SUCCESS {
        let at = std::mem::offset_of!(nvmlFieldValue_t, value);
        let value = value(bytes.get(at..at + 8).unwrap_or_default());
        let kind = number(std::mem::offset_of!(nvmlFieldValue_t, valueType));
        line += &format!(" type={kind} value={value}");
    }
    line
}

fn described(code: i32) -> String {
    let text = results::nvml(code.cast_unsigned());
    format!("{code} {}", text.to_string_lossy())
}

/// Bytes without the zeros at the end: a number if they are few, else in hexadecimal, or their digest.
fn value(bytes: &[u8]) -> String {
    let end = bytes
        .iter()
        .rposition(|byte| *byte != 0)
        .map_or(0, |at| at + 1);
    let bytes = &bytes[..end];
    if bytes.len() <= 8 {
        let mut eight = [0; 8];
        eight[..bytes.len()].copy_from_slice(bytes);
        return u64::from_le_bytes(eight).to_string();
    }
    if bytes.len() <= SHOWN {
        return bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    }
    // FNV-1a.
    let digest = bytes.iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3)
    });
    format!("{} bytes, digest {digest:016x}", bytes.len())
}

macro_rules! sizes {
    ($($name:ident)*) => {
        /// Bytes of a structure that says its version.
        fn size_of_type(name: &str) -> Option<u32> {
            match name {
                $(stringify!($name) => u32::try_from(size_of::<types::$name>()).ok(),)*
                _ => None,
            }
        }
    };
}

sizes! {
    nvmlClockOffset_t nvmlCoolerInfo_t nvmlDeviceAddressingMode_t nvmlDeviceCapabilities_t
    nvmlDeviceCurrentClockFreqs_t nvmlDevicePerfModes_t nvmlDramEncryptionInfo_t
    nvmlGpuInstanceProfileInfo_v2_t nvmlComputeInstanceProfileInfo_v2_t
    nvmlEccSramErrorStatus_t nvmlFanSpeedInfo_t nvmlGpuFabricInfoV_t nvmlMarginTemperature_t
    nvmlMemory_v2_t nvmlNvLinkInfo_t nvmlNvlinkGetBwMode_t nvmlNvlinkSupportedBwModes_t
    nvmlPciInfoExt_t nvmlPdi_t nvmlPlatformInfo_t nvmlRepairStatus_t nvmlTemperature_t
    nvmlVgpuHeterogeneousMode_t nvmlVgpuPlacementId_t nvmlVgpuRuntimeState_t
    nvmlVgpuSchedulerLogInfo_t nvmlVgpuSchedulerStateInfo_t nvmlVgpuTypeBar1Info_t
    nvmlVgpuTypeMaxInstance_t
    nvmlWorkloadPowerProfileCurrentProfiles_t
    nvmlWorkloadPowerProfileProfilesInfo_t nvmlSystemConfComputeSettings_t
    nvmlSystemDriverBranchInfo_t
}

#[cfg(test)]
mod tests {
    use gtrace_cuda::{find, functions, signatures};

    use super::*;

    #[test]
    fn the_size_of_every_versioned_structure_is_known() {
        for function in functions::NVML.iter().copied().flatten() {
            assert!(function.arguments.len() <= ARGUMENTS, "{}", function.name);
            let signature = find(signatures::NVML, function.name).expect("a signature");
            let call = Call {
                function,
                signature,
                device: None,
                values: &[],
            };
            for argument in function.arguments {
                if argument.pass == Pass::Versioned {
                    assert!(
                        call.size(argument) > 4,
                        "{} of {}",
                        argument.name,
                        function.name
                    );
                }
            }
        }
    }

    #[test]
    fn values_are_numbers_text_or_digests() {
        assert_eq!(value(&[0x10, 0x27, 0, 0, 0, 0]), "10000");
        assert_eq!(value(&[1; 9]), "010101010101010101");
        assert!(value(&[7; 1000]).starts_with("1000 bytes, digest "));
        assert_eq!(value(&[0; 1000]), "0");
    }
}
