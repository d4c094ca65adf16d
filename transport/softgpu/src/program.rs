//! From PTX texts to a program in device memory, and its execution by [`crate::ptx`]. Machine code
//! comes only as far as its variables.
#![allow(unsafe_code)]

use std::ffi::CString;
use std::sync::Arc;

use crate::abi::Answer;
use crate::attributes::ARCH;
use crate::command::Copy;
use crate::config::{verbose, warn};
use crate::context::Context;
use crate::cubin::Variable;
use crate::error::{
    ASSERT, CuError, HARDWARE_STACK_ERROR, ILLEGAL_ADDRESS, ILLEGAL_INSTRUCTION, INVALID_PC,
    INVALID_PTX, LAUNCH_FAILED, LAUNCH_TIMEOUT, MISALIGNED_ADDRESS, NOT_SUPPORTED,
    UNSUPPORTED_PTX_VERSION,
};
use crate::health::Health;
use crate::image::Part;
use crate::jit::Logs;
use crate::launch::Launch;
use crate::memory::{self, Kind};
use crate::print::Printer;
use crate::ptx::{self, Fault, Image, Loaded, Memory, Param, PtxError, Reference, Region, Texture};
use crate::state::shared;
use crate::texture::{SURFACES, TEXTURES};

/// `CU_LIMIT_STACK_SIZE`.
const STACK_LIMIT: u32 = 0;
/// `CU_LIMIT_PRINTF_FIFO_SIZE`.
const PRINTF_LIMIT: u32 = 1;
/// `CU_LIMIT_MALLOC_HEAP_SIZE`.
const HEAP_LIMIT: u32 = 2;

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
    source: Source,
    pub(crate) entries: Vec<Entry>,
}

enum Source {
    Text(ptx::Module),
    /// The variables of machine code.
    Code(Vec<Variable>),
}

impl Entry {
    /// A line about what the kernel takes.
    fn described(&self) -> String {
        format!(
            "{}: {} registers, {} bytes of parameters, {} of shared, {} of local, {} of constant memory\n",
            self.text, self.registers, self.param_size, self.shared, self.local, self.constant
        )
    }
}

impl Linked {
    /// Parses and links. What is wrong goes to the error log.
    ///
    /// # Errors
    /// `CUDA_ERROR_INVALID_PTX` and `CUDA_ERROR_UNSUPPORTED_PTX_VERSION`; `CUDA_ERROR_NOT_SUPPORTED`
    /// for machine code that is to be linked with something else.
    pub(crate) fn build(parts: Vec<Part>, logs: &Logs) -> Answer<Self> {
        let mut texts = Vec::new();
        let alone = parts.len() == 1;
        for part in parts {
            match part {
                Part::Text(text) => texts.push(text),
                Part::Code(code) if alone => {
                    logs.write("", "");
                    return Ok(Self {
                        source: Source::Code(code.variables),
                        entries: code.entries,
                    });
                }
                Part::Code(_) => {
                    logs.write("", "machine code cannot be linked here");
                    return Err(NOT_SUPPORTED);
                }
            }
        }
        Self::build_texts(&texts, logs)
    }

    /// As [`Self::build`], of PTX.
    pub(crate) fn build_texts(texts: &[String], logs: &Logs) -> Answer<Self> {
        let parsed: Result<Vec<_>, _> = texts.iter().map(|text| ptx::Module::parse(text)).collect();
        let modules = parsed.map_err(|error| complain(&error, logs))?;
        for module in &modules {
            check_target(module, logs)?;
        }
        let linked = Self::link(&modules).map_err(|error| complain(&error, logs))?;
        let described = match logs.is_verbose() {
            true => linked.entries.iter().map(Entry::described).collect(),
            false => String::new(),
        };
        logs.write(&described, "");
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
        Ok(Self {
            source: Source::Text(module),
            entries,
        })
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
    /// `None` for machine code.
    loaded: Option<Loaded>,
    /// Name, address and size of the variables.
    globals: Vec<(String, u64, u64)>,
    /// Names of those that are references.
    references: Vec<(String, Reference)>,
}

impl Program {
    /// Allocates the variables and decodes the kernels for their addresses.
    pub(crate) fn place(context: &Context, linked: &Linked) -> Answer<Self> {
        let mut globals = Globals(Vec::new());
        let mut add = |name: &str, size: u64, managed: bool| -> Answer<u64> {
            let size = size.max(1);
            let kind = match managed {
                true => Kind::Managed,
                false => Kind::Device,
            };
            let base = memory::allocate(context.device, size, kind, context.handle)?;
            globals.0.push((name.to_owned(), base, size));
            Ok(base)
        };
        let fill = |base: u64, bytes: &[u8]| {
            Copy::plain(base, bytes.as_ptr() as u64, bytes.len()).run();
        };
        let mut references = Vec::new();
        let loaded = match &linked.source {
            Source::Text(module) => {
                let named = module.globals().into_iter();
                let named = named.filter_map(|global| Some((global.name, global.reference?)));
                references.extend(named);
                let addresses = module.globals().into_iter();
                let addresses =
                    addresses.map(|global| add(&global.name, global.size as u64, global.managed));
                let addresses = addresses.collect::<Answer<Vec<_>>>()?;
                let loaded = Loaded::new(module, &addresses)
                    .map_err(|error| complain(&error, &Logs::default()))?;
                for (bytes, base) in loaded.images().iter().zip(&addresses) {
                    fill(*base, bytes);
                }
                Some(loaded)
            }
            Source::Code(variables) => {
                for variable in variables {
                    let base = add(&variable.name, variable.size, false)?;
                    let mut bytes = variable.initial.clone();
                    bytes.resize(variable.size as usize, 0);
                    fill(base, &bytes);
                }
                None
            }
        };
        let globals = std::mem::take(&mut globals.0);
        Ok(Self {
            references,
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

    /// Address of the variable that is a reference of this kind.
    pub(crate) fn reference(&self, name: &str, kind: Reference) -> Option<u64> {
        let mut references = self.references.iter();
        references.find(|(other, of)| other == name && *of == kind)?;
        Some(self.global(name)?.0)
    }

    /// Runs a kernel to its end. The error comes with the address, if one was the cause.
    pub(crate) fn run(
        &self,
        launch: &Launch,
        health: &Health,
    ) -> Result<(), (CuError, Option<u64>)> {
        // Machine code is taken only where no launch comes this far.
        let Some(loaded) = &self.loaded else {
            return Err((LAUNCH_FAILED, None));
        };
        let kernel = &launch.kernel;
        let entry = &self.entries[kernel.function.entry];
        let shape = kernel.shape;
        let printer = Printer {
            fifo: &kernel.context.printed,
            limit: kernel.context.limit(PRINTF_LIMIT).unwrap_or(0),
        };
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
            sink: Some(&printer),
        };
        let heap = kernel.context.limit(HEAP_LIMIT).unwrap_or(0) as u64;
        loaded.heap().want(heap.min(kernel.context.device.memory));
        match ptx::launch(loaded, &entry.text, &how, &Mapped, &health.cancel) {
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
            let _ = memory::free(&state.devices, *base, |found| {
                matches!(found.kind, Kind::Device | Kind::Managed)
            });
        }
    }
}

fn translate(fault: &Fault) -> (CuError, Option<u64>) {
    if let Fault::Assert {
        place,
        expression,
        site,
    } = fault
    {
        // Word for word as the driver has it.
        let ([x, y, z], [a, b, c]) = (site.block, site.thread);
        eprintln!(
            "{place}: block: [{x},{y},{z}], thread: [{a},{b},{c}] Assertion `{expression}` failed."
        );
    } else if verbose() {
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
            writable: found.kind != (Kind::Mapped { writable: false }),
        })
    }

    fn texture(&self, handle: u64) -> Option<Arc<Texture>> {
        Some(Arc::clone(&TEXTURES.get(handle)?.texture))
    }

    fn surface(&self, handle: u64) -> Option<Arc<Image>> {
        Some(Arc::clone(&SURFACES.get(handle)?.image))
    }
}
