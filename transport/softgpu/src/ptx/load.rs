//! A module whose variables have addresses and whose kernels are decoded.

use std::collections::HashMap;

use super::ast::{Value, Variable};
use super::error::PtxError;
use super::exec::heap::Heap;
use super::lower::Environment;
use super::module::{Entry, Module};
use super::program::Program;

/// A kernel, ready to run.
#[derive(Debug)]
pub(crate) struct Kernel {
    pub(crate) entry: Entry,
    pub(crate) program: Program,
}

/// A module, ready to run. It does not hold the memory of its variables: the driver allocates it,
/// fills it with [`Loaded::images`] and frees it.
#[derive(Debug)]
pub struct Loaded {
    kernels: HashMap<String, Kernel>,
    images: Vec<Vec<u8>>,
    heap: Heap,
}

impl Loaded {
    /// Decodes every kernel. `addresses`: a device address for each of [`Module::globals`], in order.
    ///
    /// # Errors
    /// An instruction that is not supported, a name that is not declared, an extern that was not
    /// linked.
    pub fn new(module: &Module, addresses: &[u64]) -> Result<Self, PtxError> {
        let globals = module.globals();
        if addresses.len() != globals.len() {
            return Err(PtxError::syntax(
                0,
                format!(
                    "{} addresses for {} variables",
                    addresses.len(),
                    globals.len()
                ),
            ));
        }
        let environment = Environment::new(module, addresses);
        let mut kernels = HashMap::new();
        let entries = module.entries();
        let bodies = module.functions().filter(|f| f.entry && f.body.is_some());
        for (entry, function) in entries.into_iter().zip(bodies) {
            let program = environment.program(function)?;
            kernels.insert(entry.name.clone(), Kernel { entry, program });
        }
        let images = module
            .global_variables()
            .map(|variable| image(variable, &environment))
            .collect::<Result<_, _>>()?;
        Ok(Self {
            kernels,
            images,
            heap: Heap::default(),
        })
    }

    /// The initial bytes of the variables, in the order of [`Module::globals`].
    #[must_use]
    pub fn images(&self) -> &[Vec<u8>] {
        &self.images
    }

    /// The description of a kernel.
    #[must_use]
    pub fn entry(&self, name: &str) -> Option<&Entry> {
        self.kernels.get(name).map(|kernel| &kernel.entry)
    }

    pub(crate) fn heap(&self) -> &Heap {
        &self.heap
    }

    pub(crate) fn kernel(&self, name: &str) -> Option<&Kernel> {
        self.kernels.get(name)
    }
}

/// Bytes of a variable before the first launch.
fn image(variable: &Variable, environment: &Environment<'_>) -> Result<Vec<u8>, PtxError> {
    if variable.size > 1 << 32 {
        return Err(PtxError::syntax(
            variable.line,
            format!(
                "`{}` has {} bytes; 4 GiB are the most",
                variable.name, variable.size
            ),
        ));
    }
    let mut bytes = vec![0; variable.size as usize];
    for init in &variable.init {
        let value = match &init.value {
            Value::Number(value) => *value,
            Value::Symbol {
                name,
                addend,
                shift,
                generic: _,
            } => {
                let address = environment
                    .address(name)
                    .ok_or_else(|| PtxError::Unresolved {
                        symbol: name.clone(),
                    })?;
                address
                    .wrapping_add(*addend as u64)
                    .checked_shr(*shift)
                    .unwrap_or(0)
            }
        };
        let at = init.offset as usize;
        let len = (init.len as usize).min(8);
        if let Some(target) = bytes.get_mut(at..at + len) {
            target.copy_from_slice(&value.to_le_bytes()[..len]);
        }
    }
    Ok(bytes)
}
