//! A parsed module, what a driver asks about it, and linking.

use std::collections::{HashMap, HashSet};

use super::ast::{Function, Linkage, Statement, Value, Variable};
use super::error::PtxError;
use super::parser::{self, Declarations};
use super::types::{Space, Type};

/// PTX text, parsed.
#[derive(Clone, Debug)]
pub struct Module {
    pub(crate) declarations: Declarations,
}

/// A parameter of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Param {
    /// Bytes from the start of the parameters.
    pub offset: usize,
    /// Bytes.
    pub size: usize,
    /// Bytes; a power of two.
    pub align: usize,
}

/// A kernel, as `cuFuncGetAttribute` and `cuFuncGetParamInfo` describe it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its name.
    pub name: String,
    /// Its parameters in order.
    pub params: Vec<Param>,
    /// Bytes of all parameters.
    pub param_size: usize,
    /// Bytes of static shared memory, of the functions it calls included.
    pub shared_size: usize,
    /// Bytes of local memory of a thread that the kernel itself declares.
    pub local_size: usize,
    /// Registers a thread, an estimate: PTX has as many as a compiler likes, and a device's
    /// assembler would find out which live at the same time.
    pub registers: u32,
    /// The largest block that `.maxntid` or `.reqntid` admits, or 1024.
    pub max_threads: u32,
    /// The block that `.reqntid` requires.
    pub required_block: Option<[u32; 3]>,
}

/// A variable in device memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Global {
    /// Its name.
    pub name: String,
    /// Bytes.
    pub size: usize,
    /// Bytes; a power of two.
    pub align: usize,
    /// Kernels only read it (`.const`).
    pub constant: bool,
    /// Seen by other modules and by `cuModuleGetGlobal`.
    pub visible: bool,
    /// The host uses it too (`.attribute(.managed)`).
    pub managed: bool,
    /// What `cuModuleGetTexRef` and `cuModuleGetSurfRef` find.
    pub reference: Option<Reference>,
}

/// What a variable refers to: it holds the handle of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reference {
    /// `.texref`
    Texture,
    /// `.surfref`
    Surface,
}

impl Module {
    /// Parses PTX text; a final zero byte is allowed.
    ///
    /// # Errors
    /// Text that is not PTX, or a directive that is not supported. Instructions are looked at by
    /// [`super::Loaded::new`].
    pub fn parse(text: &str) -> Result<Self, PtxError> {
        let declarations = parser::parse(text)?;
        let module = Self { declarations };
        module.check_duplicates()?;
        Ok(module)
    }

    /// PTX version of the text: major and minor.
    #[must_use]
    pub fn version(&self) -> (u32, u32) {
        self.declarations.version
    }

    /// `sm_70` and the like.
    #[must_use]
    pub fn target(&self) -> &str {
        &self.declarations.target
    }

    pub(crate) fn check_duplicates(&self) -> Result<(), PtxError> {
        let mut seen = HashSet::new();
        let functions = self
            .functions()
            .filter(|f| f.body.is_some())
            .map(|f| &f.name);
        let variables = self
            .declarations
            .variables
            .iter()
            .filter(|v| v.linkage != Linkage::Extern);
        for name in functions.chain(variables.map(|v| &v.name)) {
            if !seen.insert(name) {
                return Err(PtxError::Duplicate {
                    symbol: name.clone(),
                });
            }
        }
        Ok(())
    }

    pub(crate) fn functions(&self) -> impl Iterator<Item = &Function> {
        self.declarations.functions.iter()
    }

    /// Variables that live in device memory, in order of [`Module::globals`].
    pub(crate) fn global_variables(&self) -> impl Iterator<Item = &Variable> {
        let at_module = self.declarations.variables.iter();
        let in_bodies = self.functions().flat_map(|function| {
            function
                .body
                .iter()
                .flatten()
                .filter_map(|statement| match statement {
                    Statement::Variable(variable) => Some(variable),
                    _ => None,
                })
        });
        at_module.chain(in_bodies).filter(|variable| {
            matches!(variable.space, Space::Global | Space::Const)
                && variable.linkage != Linkage::Extern
        })
    }

    /// The variables in device memory. The driver gives each an address ([`super::Loaded::new`]).
    #[must_use]
    pub fn globals(&self) -> Vec<Global> {
        self.global_variables()
            .map(|variable| Global {
                name: variable.name.clone(),
                size: variable.size as usize,
                align: variable.align.max(1) as usize,
                constant: variable.space == Space::Const,
                visible: variable.linkage != Linkage::Module,
                managed: variable.managed,
                reference: variable.reference,
            })
            .collect()
    }

    /// The kernels.
    #[must_use]
    pub fn entries(&self) -> Vec<Entry> {
        self.functions()
            .filter(|function| function.entry && function.body.is_some())
            .map(|function| self.entry(function))
            .collect()
    }

    fn entry(&self, function: &Function) -> Entry {
        let (params, param_size) = layout(function);
        let (mut registers, mut local_size) = (0_u32, 0);
        for statement in function.body.iter().flatten() {
            match statement {
                Statement::Register { count, ty, .. } if *ty != Type::Pred => {
                    let words = ty.size().div_ceil(4);
                    registers = registers.saturating_add(count.unwrap_or(1).saturating_mul(words));
                }
                Statement::Variable(variable) if variable.space == Space::Local => {
                    local_size += variable.size;
                }
                _ => {}
            }
        }
        Entry {
            name: function.name.clone(),
            params,
            param_size,
            shared_size: self.shared_size(function) as usize,
            local_size: local_size as usize,
            // 64 registers are what a block of 1024 threads leaves each thread of a device.
            registers: (registers / 3).next_multiple_of(8).clamp(16, 64),
            max_threads: function.max_threads.unwrap_or(1024).min(1024),
            required_block: function.required_threads,
        }
    }

    fn shared_size(&self, entry: &Function) -> u64 {
        let order = self.reachable(entry);
        shared_layout(self, &order).1
    }

    /// The functions that a kernel can reach: numbers in the order of the declarations, the kernel
    /// first. Whatever has its address taken counts as reached.
    pub(crate) fn reachable(&self, entry: &Function) -> Vec<usize> {
        let mut bodies = HashMap::new();
        for (number, function) in self.functions().enumerate() {
            if function.body.is_some() {
                bodies.insert(function.name.as_str(), number);
            }
        }
        let tables: HashMap<&str, &Variable> = self
            .global_variables()
            .map(|variable| (variable.name.as_str(), variable))
            .collect();
        let mut order = Vec::new();
        let mut seen: HashSet<&str> = HashSet::new();
        let mut todo: Vec<&str> = vec![&entry.name];
        while let Some(name) = todo.pop() {
            if !seen.insert(name) {
                continue;
            }
            if let Some(variable) = tables.get(name) {
                todo.extend(variable.init.iter().filter_map(|init| match &init.value {
                    Value::Symbol { name, .. } => Some(name.as_str()),
                    Value::Number(_) => None,
                }));
            }
            if let Some(&number) = bodies.get(name) {
                order.push(number);
                if let Some(function) = self.declarations.functions.get(number) {
                    for statement in function.body.iter().flatten() {
                        if let Statement::Instruction(instruction) = statement {
                            instruction
                                .operands
                                .iter()
                                .for_each(|o| names(o, &mut todo));
                        }
                    }
                }
            }
        }
        order
    }
}

/// The symbols that an operand names.
fn names<'m>(operand: &'m super::ast::Operand, out: &mut Vec<&'m str>) {
    use super::ast::{Base, Operand};
    match operand {
        Operand::Name(name) | Operand::Sum(name, _) => out.push(name),
        Operand::Memory {
            base: Base::Name(name),
            ..
        }
        | Operand::Texture {
            base: Base::Name(name),
            ..
        } => out.push(name),
        Operand::Vector(list) | Operand::List(list) => {
            list.iter().for_each(|operand| names(operand, out));
        }
        _ => {}
    }
}

/// Offsets of a kernel's parameters and the bytes of all of them.
pub(crate) fn layout(function: &Function) -> (Vec<Param>, usize) {
    let mut end = 0_u64;
    let params = function
        .params
        .iter()
        .map(|formal| {
            let align = formal.variable.align.max(1);
            let offset = end.next_multiple_of(align);
            end = offset + formal.variable.size;
            Param {
                offset: offset as usize,
                size: formal.variable.size as usize,
                align: align as usize,
            }
        })
        .collect();
    (params, end as usize)
}

/// Offsets of the shared variables that these functions name, by name (for variables of a function
/// `function/name`), and the bytes of all of them. Arrays without bounds get the offset behind.
pub(crate) fn shared_layout(module: &Module, functions: &[usize]) -> (HashMap<String, u64>, u64) {
    let at_module: HashMap<&str, &Variable> = module
        .declarations
        .variables
        .iter()
        .filter(|variable| variable.space == Space::Shared)
        .map(|variable| (variable.name.as_str(), variable))
        .collect();
    let mut offsets = HashMap::new();
    let mut end = 0_u64;
    let mut dynamic: Vec<(String, u64)> = Vec::new();
    let mut place = |key: String, variable: &Variable, offsets: &mut HashMap<String, u64>| {
        if offsets.contains_key(&key) {
            return;
        }
        if variable.size == 0 {
            dynamic.push((key.clone(), variable.align));
            offsets.insert(key, 0);
        } else {
            let offset = end.next_multiple_of(variable.align.max(1));
            end = offset.saturating_add(variable.size);
            offsets.insert(key, offset);
        }
    };
    for &number in functions {
        let Some(function) = module.declarations.functions.get(number) else {
            continue;
        };
        for statement in function.body.iter().flatten() {
            match statement {
                Statement::Variable(variable) if variable.space == Space::Shared => {
                    place(
                        format!("{}/{}", function.name, variable.name),
                        variable,
                        &mut offsets,
                    );
                }
                Statement::Instruction(instruction) => {
                    let mut used = Vec::new();
                    instruction
                        .operands
                        .iter()
                        .for_each(|o| names(o, &mut used));
                    for name in used {
                        if let Some(variable) = at_module.get(name) {
                            place(name.to_owned(), variable, &mut offsets);
                        }
                    }
                }
                _ => {}
            }
        }
    }
    let align = dynamic.iter().map(|(_, align)| *align).max().unwrap_or(1);
    let behind = end.next_multiple_of(align.max(1));
    for (key, _) in &dynamic {
        offsets.insert(key.clone(), behind);
    }
    // All dynamic arrays start at the same place, as CUDA has it.
    (offsets, if dynamic.is_empty() { end } else { behind })
}
