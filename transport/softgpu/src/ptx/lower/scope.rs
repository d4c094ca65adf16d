//! Names of registers, variables and labels within the braces of a function.

use std::collections::{HashMap, HashSet};

use super::super::ast::{Function, Statement, Variable};
use super::super::error::PtxError;
use super::super::types::{Class, Space, Type};

/// More registers than any kernel has; guards against absurd texts.
const MAX_FRAME: u64 = 1 << 24;

/// What a name stands for.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Declared {
    Register(u32, Class),
    /// Offset in the frame's local memory.
    Local(u32),
}

#[derive(Debug, Default)]
struct Scope {
    parent: usize,
    registers: HashMap<String, (Option<u32>, Class)>,
    slots: HashMap<String, (u32, Class)>,
    /// Offsets and sizes in local memory.
    locals: HashMap<String, (u32, u32)>,
    labels: HashSet<String>,
    targets: HashMap<String, Vec<String>>,
}

/// The scopes of a function in the order of their opening braces; number 0 is the function's own.
#[derive(Debug)]
pub(crate) struct Scopes {
    scopes: Vec<Scope>,
    current: usize,
    opened: usize,
    /// Units of registers handed out.
    pub(crate) slots: u32,
    /// Bytes of local memory.
    pub(crate) frame: u32,
}

impl Scopes {
    /// Collects the declarations of all scopes, so that a jump may go forward.
    pub(crate) fn new(function: &Function) -> Result<Self, PtxError> {
        let mut out = Self {
            scopes: vec![Scope::default()],
            current: 0,
            opened: 0,
            slots: 0,
            frame: 0,
        };
        let mut statements = Vec::new();
        for statement in function.body.iter().flatten() {
            match statement {
                Statement::Open => {
                    let parent = out.current;
                    out.current = out.scopes.len();
                    out.scopes.push(Scope {
                        parent,
                        ..Scope::default()
                    });
                }
                Statement::Close => out.close(),
                other => statements.push((out.current, other)),
            }
        }
        for (scope, statement) in statements {
            out.current = scope;
            match statement {
                Statement::Label { name, line } => {
                    let scope = &mut out.scopes[scope];
                    if scope.labels.contains(name) {
                        return Err(PtxError::syntax(
                            *line,
                            format!("label `{name}` stands twice"),
                        ));
                    }
                    scope.labels.insert(name.clone());
                }
                Statement::Register { name, count, ty } => {
                    let declared = (*count, ty.class());
                    out.scopes[scope].registers.insert(name.clone(), declared);
                }
                Statement::Variable(variable)
                    if matches!(variable.space, Space::Local | Space::Param) =>
                {
                    out.variable(variable)?;
                }
                Statement::Targets { name, labels } => {
                    out.scopes[scope]
                        .targets
                        .insert(name.clone(), labels.clone());
                }
                _ => {}
            }
        }
        out.current = 0;
        Ok(out)
    }

    pub(crate) fn open(&mut self) {
        self.opened += 1;
        self.current = self.opened;
    }

    pub(crate) fn close(&mut self) {
        self.current = self
            .scopes
            .get(self.current)
            .map_or(0, |scope| scope.parent);
    }

    pub(crate) fn current(&self) -> usize {
        self.current
    }

    /// A fresh slot.
    pub(crate) fn slot(&mut self, class: Class) -> u32 {
        self.slots += class.units();
        self.slots - class.units()
    }

    /// Declares a register in the current scope.
    pub(crate) fn register(&mut self, name: &str, ty: Type) -> u32 {
        let slot = self.slot(ty.class());
        if let Some(scope) = self.scopes.get_mut(self.current) {
            scope.slots.insert(name.to_owned(), (slot, ty.class()));
        }
        slot
    }

    /// Places a variable of the current scope in local memory.
    pub(crate) fn variable(&mut self, variable: &Variable) -> Result<u32, PtxError> {
        let offset = u64::from(self.frame).next_multiple_of(variable.align.max(1));
        let end = offset.saturating_add(variable.size);
        if end > MAX_FRAME {
            return Err(PtxError::syntax(
                variable.line,
                format!(
                    "`{}` makes local memory larger than {MAX_FRAME} bytes",
                    variable.name
                ),
            ));
        }
        self.frame = end as u32;
        if let Some(scope) = self.scopes.get_mut(self.current) {
            scope
                .locals
                .insert(variable.name.clone(), (offset as u32, variable.size as u32));
        }
        Ok(offset as u32)
    }

    /// What a name stands for here.
    pub(crate) fn find(&mut self, name: &str) -> Option<Declared> {
        let mut at = self.current;
        loop {
            let scope = self.scopes.get(at)?;
            if let Some(&(slot, class)) = scope.slots.get(name) {
                return Some(Declared::Register(slot, class));
            }
            if let Some(class) = scope.declares_register(name) {
                let slot = self.slot(class);
                let slots = &mut self.scopes.get_mut(at)?.slots;
                slots.insert(name.to_owned(), (slot, class));
                return Some(Declared::Register(slot, class));
            }
            if let Some(&(offset, _)) = scope.locals.get(name) {
                return Some(Declared::Local(offset));
            }
            if at == 0 {
                return None;
            }
            at = scope.parent;
        }
    }

    /// Bytes of a variable in local memory.
    pub(crate) fn size(&self, name: &str) -> u32 {
        self.walk(self.current, |scope| {
            scope.locals.get(name).map(|(_, size)| *size)
        })
        .map_or(0, |(_, size)| size)
    }

    /// The scope that has a label, seen from `from`.
    pub(crate) fn label(&self, from: usize, name: &str) -> Option<usize> {
        self.walk(from, |scope| scope.labels.contains(name).then_some(()))
            .map(|(at, ())| at)
    }

    /// The labels of a `.branchtargets`.
    pub(crate) fn targets(&self, name: &str) -> Option<Vec<String>> {
        self.walk(self.current, |scope| scope.targets.get(name).cloned())
            .map(|(_, labels)| labels)
    }

    fn walk<T>(&self, from: usize, found: impl Fn(&Scope) -> Option<T>) -> Option<(usize, T)> {
        let mut at = from;
        loop {
            let scope = self.scopes.get(at)?;
            if let Some(value) = found(scope) {
                return Some((at, value));
            }
            if at == 0 {
                return None;
            }
            at = scope.parent;
        }
    }
}

impl Scope {
    /// The class of a register: `%r12` is declared by `%r12` itself, or by `%r<20>`.
    fn declares_register(&self, name: &str) -> Option<Class> {
        if let Some((None, class)) = self.registers.get(name) {
            return Some(*class);
        }
        let digits = name.bytes().rev().take_while(u8::is_ascii_digit).count();
        (1..=digits).find_map(|taken| {
            let (prefix, number) = name.split_at(name.len() - taken);
            let canonical = number == "0" || !number.starts_with('0');
            match (self.registers.get(prefix), number.parse::<u32>()) {
                (Some((Some(count), class)), Ok(number)) if canonical && number < *count => {
                    Some(*class)
                }
                _ => None,
            }
        })
    }
}
