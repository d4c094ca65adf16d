//! From PTX texts to a program in device memory, and its execution by [`crate::ptx`].
#![allow(unsafe_code)]

use std::ffi::CString;

use crate::abi::Answer;
use crate::attributes::ARCH;
use crate::command::Copy;
use crate::config::{verbose, warn};
use crate::context::Context;
use crate::error::{
    ASSERT, CuError, HARDWARE_STACK_ERROR, ILLEGAL_ADDRESS, ILLEGAL_INSTRUCTION, INVALID_PC,
    INVALID_PTX, LAUNCH_FAILED, LAUNCH_TIMEOUT, MISALIGNED_ADDRESS, UNSUPPORTED_PTX_VERSION,
};
use crate::health::Health;
use crate::jit::Logs;
use crate::launch::Launch;
use crate::memory::{self, Kind};
use crate::print::Stdout;
use crate::ptx::{self, Fault, Loaded, Memory, Param, PtxError, Region};
use crate::state::shared;

/// `CU_LIMIT_STACK_SIZE`.
const STACK_LIMIT: u32 = 0;

/// A kernel as the image describes it; sizes in bytes.
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    pub(crate) text: String,
    pub(crate) name: CString,
    pub(crate) params: Vec<Param>,
    pub(crate) param_size: usize,
    pub(crate) shared: u32,
    pub(crate) local: u32,
    pub(crate) constant: u32,
    pub(crate) registers: u32,
    /// Only if the image limits it below what the device takes.
    pub(crate) max_threads: Option<u32>,
    pub(crate) required_block: Option<[u32; 3]>,
    /// As 10 times major plus minor.
    pub(crate) ptx_version: u32,
}

/// Modules, parsed and linked, in no context yet.
pub(crate) struct Linked {
    module: ptx::Module,
    pub(crate) entries: Vec<Entry>,
}

impl Linked {
    /// Parses and links. What is wrong goes to the error log.
    ///
    /// # Errors
    /// `CUDA_ERROR_INVALID_PTX` and `CUDA_ERROR_UNSUPPORTED_PTX_VERSION`.
    pub(crate) fn build(texts: &[String], logs: &Logs) -> Answer<Self> {
        let parsed: Result<Vec<_>, _> = texts.iter().map(|text| ptx::Module::parse(text)).collect();
        let modules = parsed.map_err(|error| complain(&error, logs))?;
        for module in &modules {
            check_target(module, logs)?;
        }
        let linked = Self::link(&modules).map_err(|error| complain(&error, logs))?;
        logs.write("", "");
        Ok(linked)
    }

    fn link(modules: &[ptx::Module]) -> Result<Self, PtxError> {
        let module = ptx::link(modules)?;
        // A trial at no real addresses: instructions are looked at when the module is loaded.
        let addresses: Vec<u64> = module.globals().iter().map(|_| 0).collect();
        Loaded::new(&module, &addresses)?;
        let (major, minor) = module.version();
        let constant: usize = module
            .globals()
            .iter()
            .filter(|global| global.constant)
            .map(|global| global.size)
            .sum();
        let entries = module.entries().into_iter().map(|entry| Entry {
            name: CString::new(entry.name.as_str()).unwrap_or_default(),
            text: entry.name,
            params: entry.params,
            param_size: entry.param_size,
            shared: entry.shared_size as u32,
            local: entry.local_size as u32,
            constant: constant as u32,
            registers: entry.registers,
            max_threads: (entry.max_threads < crate::attributes::MAX_THREADS)
                .then_some(entry.max_threads),
            required_block: entry.required_block,
            ptx_version: major * 10 + minor,
        });
        let entries = entries.collect();
        Ok(Self { module, entries })
    }
}

/// Whether the device takes a module's target.
fn check_target(module: &ptx::Module, logs: &Logs) -> Answer {
    let target = module.target();
    let digits: String = target
        .chars()
        .skip_while(|c| !c.is_ascii_digit())
        .take_while(char::is_ascii_digit)
        .collect();
    if digits.parse::<u32>().is_ok_and(|arch| arch > ARCH) {
        logs.write(
            "",
            &format!("target {target} is newer than the device's sm_{ARCH}"),
        );
        return Err(INVALID_PTX);
    }
    Ok(())
}

fn complain(error: &PtxError, logs: &Logs) -> CuError {
    logs.write("", &error.to_string());
    if verbose() {
        warn(&error.to_string());
    }
    match error {
        PtxError::Unsupported { instruction, .. } if instruction == ".version" => {
            UNSUPPORTED_PTX_VERSION
        }
        _ => INVALID_PTX,
    }
}

/// A linked module in the memory of a context.
pub(crate) struct Program {
    pub(crate) entries: Vec<Entry>,
    loaded: Loaded,
    /// Name, address and size of the variables.
    globals: Vec<(String, u64, u64)>,
}

impl Program {
    /// Allocates the variables and decodes the kernels for their addresses.
    pub(crate) fn place(context: &Context, linked: &Linked) -> Answer<Self> {
        let mut globals = Globals(Vec::new());
        for global in linked.module.globals() {
            let size = global.size.max(1) as u64;
            let base = memory::allocate(context.device, size, Kind::Device, context.handle)?;
            globals.0.push((global.name, base, size));
        }
        let addresses: Vec<u64> = globals.0.iter().map(|(_, base, _)| *base).collect();
        let loaded = Loaded::new(&linked.module, &addresses)
            .map_err(|error| complain(&error, &Logs::default()))?;
        for (bytes, base) in loaded.images().iter().zip(&addresses) {
            Copy::plain(*base, bytes.as_ptr() as u64, bytes.len()).run();
        }
        let globals = std::mem::take(&mut globals.0);
        Ok(Self {
            entries: linked.entries.clone(),
            loaded,
            globals,
        })
    }

    /// Address and size of a variable.
    pub(crate) fn global(&self, name: &str) -> Option<(u64, u64)> {
        let found = self.globals.iter().find(|(other, _, _)| other == name);
        found.map(|(_, base, size)| (*base, *size))
    }

    /// Runs a kernel to its end. The error comes with the address, if one was the cause.
    pub(crate) fn run(
        &self,
        launch: &Launch,
        health: &Health,
    ) -> Result<(), (CuError, Option<u64>)> {
        let kernel = &launch.kernel;
        let entry = &self.entries[kernel.function.entry];
        let shape = kernel.shape;
        let how = ptx::Launch {
            grid: shape.grid,
            block: shape.block,
            shared_bytes: shape.shared,
            params: &kernel.params,
            workers: launch.state.config.threads,
            stack: kernel
                .context
                .limit(STACK_LIMIT)
                .map_or(0, |bytes| bytes as u32),
            cooperative: kernel.cooperative,
            sink: Some(&Stdout),
        };
        match ptx::launch(&self.loaded, &entry.text, &how, &Mapped, &health.cancel) {
            Ok(_) => Ok(()),
            Err(fault) => Err(translate(&fault)),
        }
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        drop(Globals(std::mem::take(&mut self.globals)));
    }
}

/// Variables that are freed with their holder.
struct Globals(Vec<(String, u64, u64)>);

impl Drop for Globals {
    fn drop(&mut self) {
        let Some(state) = shared() else { return };
        for (_, base, _) in &self.0 {
            // Those of a destroyed context are gone already.
            let _ = memory::free(&state.devices, *base, |found| found.kind == Kind::Device);
        }
    }
}

fn translate(fault: &Fault) -> (CuError, Option<u64>) {
    if verbose() || matches!(fault, Fault::Assert { .. }) {
        warn(&fault.to_string());
    }
    match fault {
        Fault::IllegalAddress { address, .. } => (ILLEGAL_ADDRESS, Some(*address)),
        Fault::Misaligned { .. } => (MISALIGNED_ADDRESS, None),
        Fault::Assert { .. } => (ASSERT, None),
        Fault::IllegalInstruction { .. } => (ILLEGAL_INSTRUCTION, None),
        Fault::InvalidProgramCounter { .. } => (INVALID_PC, None),
        Fault::Deadlock { .. } => (LAUNCH_TIMEOUT, None),
        Fault::StackOverflow { .. } => (HARDWARE_STACK_ERROR, None),
        Fault::Trap { .. } | Fault::Cancelled | Fault::InvalidLaunch(_) => (LAUNCH_FAILED, None),
    }
}

/// The allocation map as the executor sees it.
struct Mapped;

// SAFETY: device addresses are host addresses. An allocation stays mapped until it is freed, which
// waits for the context's work (cuMemFree) or comes after it in the stream (cuMemFreeAsync); device
// memory stays mapped even then (`pages`). Device ranges are aligned to 512 bytes, host mappings to
// pages; registered host memory is used at its own addresses.
unsafe impl Memory for Mapped {
    fn region(&self, address: u64) -> Option<Region> {
        let found = memory::find(address)?;
        let host = found.base as *mut u8;
        Some(Region {
            start: found.base,
            len: found.size,
            host,
            writable: true,
        })
    }
}
