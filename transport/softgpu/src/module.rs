//! Modules and their functions, libraries and their kernels.
//!
//! A module belongs to a context. A library is loaded once for all contexts; in each it becomes a
//! module when something of it is first used there.

use std::collections::HashMap;
use std::ffi::CString;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::sync::{Arc, Mutex};

use crate::abi::Answer;
use crate::attributes::{ARCH, MAX_THREADS, SHARED_OPTIN, SHARED_PER_BLOCK};
use crate::context::Context;
use crate::error::{FUNCTION_NOT_LOADED, INVALID_HANDLE, INVALID_VALUE, NOT_FOUND, fail_if};
use crate::program::{Entry, Linked, Program};
use crate::ptx::Reference;
use crate::reference::{self, SurfaceReference, TextureReference};
use crate::registry::{Registry, mint};
use crate::state::State;
use crate::sync::lock;

const MODULE: u8 = 4;
const FUNCTION: u8 = 5;
const LIBRARY: u8 = 6;
const KERNEL: u8 = 7;

pub(crate) static MODULES: Registry<Module> = Registry::new();
pub(crate) static FUNCTIONS: Registry<Function> = Registry::new();
pub(crate) static LIBRARIES: Registry<Library> = Registry::new();
pub(crate) static KERNELS: Registry<Kernel> = Registry::new();

/// One loaded module of a context.
pub(crate) struct Module {
    pub(crate) handle: u64,
    pub(crate) context: u64,
    pub(crate) program: Arc<Program>,
    /// Handles of its functions, by position of the entry; made with the module.
    pub(crate) functions: Vec<u64>,
    /// Handles of its references by their names; made when they are asked for.
    references: Mutex<HashMap<String, u64>>,
}

/// One kernel in a context.
pub(crate) struct Function {
    pub(crate) context: u64,
    pub(crate) module: u64,
    pub(crate) program: Arc<Program>,
    pub(crate) entry: usize,
    pub(crate) tuning: Arc<Tuning>,
    loaded: AtomicBool,
}

/// Attributes of a function that a program may set.
#[derive(Default)]
pub(crate) struct Tuning {
    max_dynamic_shared: AtomicI32,
    is_set: AtomicBool,
    carveout: AtomicI32,
    /// Required sides of clusters, whether they may have more blocks than every device takes, and how
    /// they are scheduled: from [`CLUSTERS`] on.
    clusters: [AtomicI32; 5],
}

/// `CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH`, and after four others
/// `CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE`.
const CLUSTERS: u32 = 11;
const LAST_OF_CLUSTERS: u32 = 15;
/// `CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED` among them.
const NON_PORTABLE: usize = 3;

impl Module {
    /// Loads a linked image into a context.
    pub(crate) fn load(context: &Context, linked: &Linked) -> Answer<Arc<Self>> {
        let program = Arc::new(Program::place(context, linked)?);
        context.printed.flush();
        let handle = mint(MODULE);
        let functions = (0..program.entries.len()).map(|entry| {
            let object = Function {
                context: context.handle,
                module: handle,
                program: Arc::clone(&program),
                entry,
                tuning: Arc::default(),
                loaded: AtomicBool::new(is_eager()),
            };
            FUNCTIONS.add(FUNCTION, object)
        });
        let functions = functions.collect();
        let module = Arc::new(Self {
            handle,
            context: context.handle,
            program,
            functions,
            references: Mutex::default(),
        });
        MODULES.insert(handle, Arc::clone(&module));
        Ok(module)
    }

    /// The live module of a handle.
    pub(crate) fn of(handle: u64) -> Answer<Arc<Self>> {
        MODULES.get(handle).ok_or(INVALID_HANDLE)
    }

    /// Handle of the function of this name.
    pub(crate) fn function(&self, name: &str) -> Answer<u64> {
        let at = self
            .program
            .entries
            .iter()
            .position(|entry| entry.text == name);
        let found = at.and_then(|at| self.functions.get(at).copied());
        let found = found.ok_or(NOT_FOUND)?;
        if let Some(function) = FUNCTIONS.get(found) {
            function.load();
        }
        Ok(found)
    }

    /// Address and size of a variable.
    pub(crate) fn global(&self, name: &str) -> Answer<(u64, u64)> {
        self.program.global(name).ok_or(NOT_FOUND)
    }

    /// Handle of the texture reference of this name.
    pub(crate) fn texture_reference(&self, name: &str) -> Answer<u64> {
        self.reference(name, Reference::Texture, TextureReference::create)
    }

    /// Handle of the surface reference of this name.
    pub(crate) fn surface_reference(&self, name: &str) -> Answer<u64> {
        self.reference(name, Reference::Surface, SurfaceReference::create)
    }

    fn reference(
        &self,
        name: &str,
        kind: Reference,
        create: impl FnOnce(u64, u64, u64) -> u64,
    ) -> Answer<u64> {
        let variable = self.program.reference(name, kind).ok_or(NOT_FOUND)?;
        let mut references = lock(&self.references);
        let handle = references.entry(name.to_owned());
        Ok(*handle.or_insert_with(|| create(self.context, self.handle, variable)))
    }

    /// Ends the module; its variables are freed once no launch uses them.
    pub(crate) fn unload(&self) {
        MODULES.remove(self.handle);
        reference::unload_module(self.handle);
        if let Ok(context) = Context::of(self.context) {
            context.printed.flush();
        }
        for function in &self.functions {
            FUNCTIONS.remove(*function);
        }
    }
}

/// Whether functions are loaded with their module, and not when they are first asked for.
pub(crate) fn is_eager() -> bool {
    std::env::var_os("CUDA_MODULE_LOADING").is_some_and(|asked| asked == "EAGER")
}

impl Function {
    /// Whether it was asked for or launched.
    pub(crate) fn is_loaded(&self) -> bool {
        self.loaded.load(Ordering::Relaxed)
    }

    /// It is asked for or launched.
    pub(crate) fn load(&self) {
        self.loaded.store(true, Ordering::Relaxed);
    }

    /// `cuFuncGetAttribute`.
    ///
    /// # Errors
    /// `CUDA_ERROR_FUNCTION_NOT_LOADED` for what is known of a loaded function only: threads of a block, constants,
    /// dynamic shared memory.
    pub(crate) fn attribute(&self, id: u32) -> Answer<i32> {
        match id {
            0 | 2 | 8 if !self.is_loaded() => Err(FUNCTION_NOT_LOADED),
            id => self.tuning.get(self.entry(), id),
        }
    }

    /// The function of a handle, which may also be that of a kernel: then it is the kernel's
    /// function in `context`.
    pub(crate) fn of(context: &Context, handle: u64) -> Answer<Arc<Self>> {
        if let Some(function) = FUNCTIONS.get(handle) {
            return Ok(function);
        }
        let kernel = KERNELS.get(handle).ok_or(INVALID_HANDLE)?;
        FUNCTIONS
            .get(kernel.function(context)?)
            .ok_or(INVALID_HANDLE)
    }

    /// What the image says of the kernel.
    pub(crate) fn entry(&self) -> &Entry {
        &self.program.entries[self.entry]
    }
}

impl Tuning {
    /// Dynamic shared memory that a launch may ask for, bytes.
    pub(crate) fn dynamic_shared(&self, entry: &Entry) -> u32 {
        if self.is_set.load(Ordering::Relaxed) {
            self.max_dynamic_shared.load(Ordering::Relaxed) as u32
        } else {
            SHARED_PER_BLOCK.saturating_sub(entry.shared)
        }
    }

    /// Whether clusters may have more blocks than every device takes.
    pub(crate) fn takes_any_cluster(&self) -> bool {
        self.clusters[NON_PORTABLE].load(Ordering::Relaxed) != 0
    }

    /// `cuFuncGetAttribute`.
    pub(crate) fn get(&self, entry: &Entry, id: u32) -> Answer<i32> {
        Ok(match id {
            0 => entry
                .max_threads
                .map_or(MAX_THREADS, |most| most.min(MAX_THREADS)) as i32,
            1 => entry.shared as i32,
            2 => entry.constant as i32,
            3 => entry.local as i32,
            4 => entry.registers as i32,
            5 => entry.ptx_version as i32,
            6 => ARCH as i32,
            7 => 0,
            8 => self.dynamic_shared(entry) as i32,
            9 => {
                let carveout = self.carveout.load(Ordering::Relaxed);
                if self.is_set.load(Ordering::Relaxed) || carveout != 0 {
                    carveout
                } else {
                    -1
                }
            }
            CLUSTERS..=LAST_OF_CLUSTERS => {
                self.clusters[(id - CLUSTERS) as usize].load(Ordering::Relaxed)
            }
            10 | 16 | 17 => 0,
            _ => return Err(INVALID_VALUE),
        })
    }

    /// `cuFuncSetAttribute`.
    pub(crate) fn set(&self, entry: &Entry, id: u32, value: i32) -> Answer {
        match id {
            8 => {
                let most = SHARED_OPTIN.saturating_sub(entry.shared) as i32;
                fail_if(!(0..=most).contains(&value), INVALID_VALUE)?;
                self.max_dynamic_shared.store(value, Ordering::Relaxed);
                self.is_set.store(true, Ordering::Relaxed);
            }
            9 if (-1..=100).contains(&value) => self.carveout.store(value, Ordering::Relaxed),
            CLUSTERS..=LAST_OF_CLUSTERS if value >= 0 => {
                self.clusters[(id - CLUSTERS) as usize].store(value, Ordering::Relaxed);
            }
            _ => return Err(INVALID_VALUE),
        }
        Ok(())
    }
}

/// One loaded library.
pub(crate) struct Library {
    pub(crate) handle: u64,
    linked: Arc<Linked>,
    /// Handles of its kernels with their names, in the image's order.
    pub(crate) kernels: Vec<(String, u64)>,
    /// Its module in each context, by handle of the context.
    modules: Mutex<HashMap<u64, Arc<Module>>>,
}

/// One kernel of a library.
pub(crate) struct Kernel {
    pub(crate) library: u64,
    pub(crate) entry: Entry,
    pub(crate) tuning: Arc<Tuning>,
}

impl Library {
    /// Registers a library; nothing is placed in any context yet.
    pub(crate) fn load(linked: Linked) -> Arc<Self> {
        let handle = mint(LIBRARY);
        let kernels = linked.entries.iter().map(|entry| {
            let object = Kernel {
                library: handle,
                entry: entry.clone(),
                tuning: Arc::default(),
            };
            (entry.text.clone(), KERNELS.add(KERNEL, object))
        });
        let kernels = kernels.collect();
        let library = Arc::new(Self {
            handle,
            linked: Arc::new(linked),
            kernels,
            modules: Mutex::default(),
        });
        LIBRARIES.insert(handle, Arc::clone(&library));
        library
    }

    /// The live library of a handle.
    pub(crate) fn of(handle: u64) -> Answer<Arc<Self>> {
        LIBRARIES.get(handle).ok_or(INVALID_HANDLE)
    }

    /// Its module in a context, loaded on first use.
    pub(crate) fn module(&self, context: &Context) -> Answer<Arc<Module>> {
        let mut modules = lock(&self.modules);
        if let Some(module) = modules.get(&context.handle) {
            return Ok(Arc::clone(module));
        }
        let module = Module::load(context, &self.linked)?;
        // What was set for the kernel holds in every context.
        for ((_, kernel), function) in self.kernels.iter().zip(&module.functions) {
            if let (Some(kernel), Some(function)) = (KERNELS.get(*kernel), FUNCTIONS.get(*function))
            {
                let shared = Function {
                    context: function.context,
                    module: function.module,
                    program: Arc::clone(&function.program),
                    entry: function.entry,
                    tuning: Arc::clone(&kernel.tuning),
                    loaded: AtomicBool::new(is_eager()),
                };
                FUNCTIONS.insert(module.functions[function.entry], Arc::new(shared));
            }
        }
        modules.insert(context.handle, Arc::clone(&module));
        Ok(module)
    }

    /// Ends the library and its modules.
    pub(crate) fn unload(&self) {
        LIBRARIES.remove(self.handle);
        for (_, kernel) in &self.kernels {
            KERNELS.remove(*kernel);
        }
        for (_, module) in lock(&self.modules).drain() {
            module.unload();
        }
    }
}

impl Kernel {
    /// The live kernel of a handle.
    pub(crate) fn of(handle: u64) -> Answer<Arc<Self>> {
        KERNELS.get(handle).ok_or(INVALID_HANDLE)
    }

    /// Handle of the kernel's function in a context.
    pub(crate) fn function(&self, context: &Context) -> Answer<u64> {
        Library::of(self.library)?
            .module(context)?
            .function(&self.entry.text)
    }

    /// Its name as a C string.
    pub(crate) fn name(&self) -> &CString {
        &self.entry.name
    }
}

/// A context is destroyed: its modules end, and libraries forget it.
pub(crate) fn unload_context(_state: &State, context: u64) {
    crate::array::unload_context(context);
    crate::texture::unload_context(context);
    reference::unload_context(context);
    MODULES.remove_where(|module| module.context == context);
    FUNCTIONS.remove_where(|function| function.context == context);
    for library in LIBRARIES.all() {
        lock(&library.modules).remove(&context);
    }
}
