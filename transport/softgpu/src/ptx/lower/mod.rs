//! Declarations into programs: names become slots and addresses, instructions functions.

mod arithmetic;
mod control;
mod conversion;
mod floating;
mod memory;
mod modifiers;
mod movement;
mod operand;
mod scope;
mod texture;
mod warp;

use std::collections::HashMap;

use super::alu::{Exec, Operands};
use super::ast::{Function, Instruction, Statement};
use super::error::PtxError;
use super::module::{Module, layout, shared_layout};
use super::program::{Code, Inst, NONE, Op, Passed, Program, RESERVED_SHARED, Reading, Special};
use super::types::{Class, Type, window};
use modifiers::Modifiers;
use scope::Scopes;

/// Functions that every device has.
pub(crate) fn is_builtin(name: &str) -> bool {
    matches!(
        name,
        "vprintf" | "__assertfail" | "malloc" | "free" | "cudaGraphSetConditional"
    )
}

/// What is the same for all kernels of a module.
pub(crate) struct Environment<'m> {
    pub(crate) module: &'m Module,
    /// Addresses of the variables in device memory.
    pub(crate) globals: HashMap<String, u64>,
    /// Numbers of the functions within the module.
    pub(crate) numbers: HashMap<String, usize>,
}

impl<'m> Environment<'m> {
    /// `addresses` in the order of [`Module::globals`].
    pub(crate) fn new(module: &'m Module, addresses: &[u64]) -> Self {
        let globals = module
            .global_variables()
            .zip(addresses)
            .map(|(variable, address)| (variable.name.clone(), *address))
            .collect();
        let mut numbers = HashMap::new();
        for (number, function) in module.functions().enumerate() {
            // The definition counts, not the declaration before it.
            if function.body.is_some() || !numbers.contains_key(&function.name) {
                numbers.insert(function.name.clone(), number);
            }
        }
        Self {
            module,
            globals,
            numbers,
        }
    }

    /// The generic address of a variable or function; None if nothing of this name has one.
    pub(crate) fn address(&self, name: &str) -> Option<u64> {
        self.globals.get(name).copied().or_else(|| {
            self.numbers
                .get(name)
                .map(|&number| window::CODE | ((number as u64 + 1) << 4))
        })
    }

    /// Decodes a kernel and what it reaches.
    pub(crate) fn program(&self, entry: &Function) -> Result<Program, PtxError> {
        let order = self.module.reachable(entry);
        let (shared, size) = shared_layout(self.module, &order);
        let mut by_address = vec![NONE; self.module.functions().count()];
        for (number, &index) in order.iter().enumerate() {
            if let Some(entry) = by_address.get_mut(index) {
                *entry = number as u32;
            }
        }
        let mut program = Program {
            by_address,
            shared: too_large(size, entry)?,
            ..Program::default()
        };
        for &index in &order {
            let Some(function) = self.module.declarations.functions.get(index) else {
                continue;
            };
            let code = Lower::new(self, function, &shared, &program.by_address)?.finish()?;
            program.functions.push(code);
        }
        let mut specials = program.functions.iter().flat_map(|code| &code.specials);
        if specials.any(|(_, _, special)| matches!(special, Special::ReservedShared(_))) {
            program.reserved = u32::from(RESERVED_SHARED);
        }
        control::stack(&mut program);
        Ok(program)
    }
}

fn too_large(bytes: u64, function: &Function) -> Result<u32, PtxError> {
    u32::try_from(bytes)
        .ok()
        .filter(|&bytes| bytes <= 1 << 28)
        .ok_or_else(|| {
            PtxError::syntax(
                function.line,
                format!(
                    "`{}` needs {bytes} bytes of shared or local memory",
                    function.name
                ),
            )
        })
}

/// One function being decoded.
pub(crate) struct Lower<'m> {
    env: &'m Environment<'m>,
    function: &'m Function,
    shared: &'m HashMap<String, u64>,
    by_address: &'m [u32],
    scopes: Scopes,
    code: Code,
    /// Constants and specials are numbered behind the registers in `finish`.
    constants: HashMap<(u64, Class), u32>,
    constant_units: u32,
    specials: HashMap<(Special, Class), u32>,
    special_units: u32,
    unsettled: Vec<Unsettled>,
    fixups: Vec<(usize, String, usize)>,
    label_pcs: HashMap<(usize, String), u32>,
    /// What is being decoded, with those of its modifiers that were not taken yet.
    instruction: &'m Instruction,
    modifiers: Modifiers<'m>,
    guard: (u32, u32),
    line: u32,
    carry: Option<u32>,
    entry_params: HashMap<String, u64>,
}

/// A result that must be brought into a register of another class.
struct Unsettled {
    from: (u32, Class),
    to: (u32, Class),
    signed: bool,
}

/// Slots from here on are constants, from `SPECIAL` on special registers, until `finish`.
const CONSTANT: u32 = 1 << 29;
const SPECIAL: u32 = 1 << 30;

static BEFORE_THE_FIRST: Instruction = Instruction {
    line: 0,
    guard: None,
    opcode: String::new(),
    modifiers: Vec::new(),
    operands: Vec::new(),
};

impl<'m> Lower<'m> {
    fn new(
        env: &'m Environment<'m>,
        function: &'m Function,
        shared: &'m HashMap<String, u64>,
        by_address: &'m [u32],
    ) -> Result<Self, PtxError> {
        let mut scopes = Scopes::new(function)?;
        let mut code = Code {
            name: function.name.clone(),
            ..Code::default()
        };
        let mut entry_params = HashMap::new();
        if function.entry {
            let (params, _) = layout(function);
            for (formal, param) in function.params.iter().zip(params) {
                entry_params.insert(formal.variable.name.clone(), param.offset as u64);
            }
        } else {
            for (formals, passed) in [
                (&function.params, &mut code.params),
                (&function.returns, &mut code.returns),
            ] {
                for formal in formals {
                    passed.push(match formal.register {
                        Some(ty) => {
                            let slot = scopes.register(&formal.variable.name, ty);
                            Passed::Slot(slot, ty.class())
                        }
                        None => Passed::Memory {
                            offset: scopes.variable(&formal.variable)?,
                            size: too_large(formal.variable.size, function)?,
                        },
                    });
                }
            }
        }
        Ok(Self {
            env,
            function,
            shared,
            by_address,
            scopes,
            code,
            constants: HashMap::new(),
            constant_units: 0,
            specials: HashMap::new(),
            special_units: 0,
            unsettled: Vec::new(),
            fixups: Vec::new(),
            label_pcs: HashMap::new(),
            instruction: &BEFORE_THE_FIRST,
            modifiers: Modifiers(Vec::new()),
            guard: (NONE, 0),
            line: function.line,
            carry: None,
            entry_params,
        })
    }

    fn finish(mut self) -> Result<Code, PtxError> {
        let body: &'m [Statement] = self.function.body.as_deref().unwrap_or_default();
        for statement in body {
            match statement {
                Statement::Open => self.scopes.open(),
                Statement::Close => self.scopes.close(),
                Statement::Label { name, .. } => {
                    let key = (self.scopes.current(), name.clone());
                    self.label_pcs
                        .insert(key, self.code.instructions.len() as u32);
                }
                Statement::Instruction(instruction) => self.instruction(instruction)?,
                _ => {}
            }
        }
        // Control that runs off the end returns.
        self.guard = (NONE, 0);
        self.emit(Op::Return, [0; 5]);
        self.resolve_jumps()?;
        self.number_slots();
        self.code.frame = self.scopes.frame.next_multiple_of(16);
        Ok(self.code)
    }

    fn number_slots(&mut self) {
        let registers = self.scopes.slots;
        let constants = self.constant_units;
        let renumber = |slot: &mut u32| {
            if *slot == NONE {
            } else if *slot >= SPECIAL {
                *slot = registers + constants + (*slot - SPECIAL);
            } else if *slot >= CONSTANT {
                *slot = registers + (*slot - CONSTANT);
            }
        };
        for inst in &mut self.code.instructions {
            renumber(&mut inst.guard);
            for slot in [
                &mut inst.o.d,
                &mut inst.o.a,
                &mut inst.o.b,
                &mut inst.o.c,
                &mut inst.o.x,
            ] {
                renumber(slot);
            }
            match &mut inst.kind {
                Op::Load(access) | Op::Store(access) => {
                    access.slots.iter_mut().for_each(renumber);
                }
                Op::Sample(sampling) => {
                    sampling.coordinates.iter_mut().for_each(renumber);
                    sampling.out.iter_mut().for_each(renumber);
                    renumber(&mut sampling.layer);
                    match &mut sampling.reading {
                        Reading::Level(slot) => renumber(slot),
                        Reading::Gradient(slots) => slots.iter_mut().flatten().for_each(renumber),
                        Reading::Base | Reading::Gather(_) => {}
                    }
                }
                Op::Surface(access) => {
                    access.coordinates.iter_mut().for_each(renumber);
                    access.slots.iter_mut().for_each(renumber);
                }
                Op::Call(site) => {
                    // Nothing else holds the site yet.
                    if let Some(site) = std::sync::Arc::get_mut(site) {
                        for passed in site.params.iter_mut().chain(&mut site.returns) {
                            if let Passed::Slot(slot, _) = passed {
                                renumber(slot);
                            }
                        }
                        if let super::program::Target::Address(slot) = &mut site.target {
                            renumber(slot);
                        }
                    }
                }
                _ => {}
            }
        }
        let code = &mut self.code;
        code.registers = registers;
        code.constants = self
            .constants
            .iter()
            .map(|((value, class), slot)| (registers + slot - CONSTANT, *class, *value))
            .collect();
        code.specials = self
            .specials
            .iter()
            .map(|((special, class), slot)| {
                let slot = registers + constants + slot - SPECIAL;
                (slot, *class, *special)
            })
            .collect();
        // Slot 0 exists even in a function without registers, for unused operands of any class.
        code.slots = registers + constants + self.special_units;
        code.slots = code.slots.max(2);
    }

    /// An instruction with its slots d, a, b, c and x.
    pub(crate) fn emit(&mut self, kind: Op, [d, a, b, c, x]: [u32; 5]) {
        self.code.instructions.push(Inst {
            kind,
            guard: self.guard.0,
            flip: self.guard.1,
            o: Operands { d, a, b, c, x },
            line: self.line,
        });
    }

    pub(crate) fn alu(&mut self, exec: Exec, d: u32, sources: &[u32]) {
        let at = |i: usize| sources.get(i).copied().unwrap_or(0);
        self.emit(Op::Alu(exec), [d, at(0), at(1), at(2), at(3)]);
    }

    fn instruction(&mut self, instruction: &'m Instruction) -> Result<(), PtxError> {
        (self.instruction, self.line) = (instruction, instruction.line);
        self.guard = (NONE, 0);
        if let Some((name, negated)) = &instruction.guard {
            let slot = self.predicate_named(name)?;
            self.guard = (slot, if *negated { u32::MAX } else { 0 });
        }
        self.modifiers = Modifiers(instruction.modifiers.iter().map(String::as_str).collect());
        let done = self.arithmetic()?
            || self.floating()?
            || self.movement()?
            || self.conversion()?
            || self.memory()?
            || self.control()?
            || self.texture()?
            || self.warp()?;
        if !done {
            return Err(self.unsupported("the instruction"));
        }
        self.settle()?;
        if let Some(left) = self.modifiers.0.first() {
            return Err(self.unsupported(&format!("modifier .{left}")));
        }
        Ok(())
    }

    /// The next type, which has to be there.
    fn typed(&mut self) -> Result<Type, PtxError> {
        let ty = self.modifiers.ty();
        ty.ok_or_else(|| self.unsupported("no type"))
    }

    /// What makes the instruction no PTX.
    pub(super) fn wrong(&self, message: impl Into<String>) -> PtxError {
        PtxError::syntax(self.line, message)
    }

    pub(crate) fn unsupported(&self, what: &str) -> PtxError {
        PtxError::Unsupported {
            line: self.line,
            instruction: self.instruction.mnemonic(),
            reason: what.to_owned(),
        }
    }

    pub(super) fn undeclared(&self, name: &str) -> PtxError {
        PtxError::Undeclared {
            line: self.line,
            symbol: name.to_owned(),
        }
    }
}
