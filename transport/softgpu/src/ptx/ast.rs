//! A parsed module: declarations and statements, names not yet resolved.

use super::module::Reference;
use super::types::{Space, Type};

/// Who sees a symbol.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Linkage {
    #[default]
    Module,
    Visible,
    Weak,
    Extern,
}

/// A variable: global, const, shared, local, or a parameter.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Variable {
    pub(crate) name: String,
    pub(crate) space: Space,
    pub(crate) align: u64,
    /// Bytes; 0 for an array without bounds.
    pub(crate) size: u64,
    pub(crate) init: Vec<Init>,
    /// What kernels read or write through it, if it is a reference.
    pub(crate) reference: Option<Reference>,
    pub(crate) linkage: Linkage,
    /// `.attribute(.managed)`: the host uses it too.
    pub(crate) managed: bool,
    pub(crate) line: u32,
}

/// A piece of an initialiser: `len` bytes at `offset`; what no piece covers is zero.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Init {
    pub(crate) offset: u64,
    pub(crate) len: u32,
    pub(crate) value: Value,
}

/// What a piece of an initialiser holds.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value {
    /// Little-endian number.
    Number(u64),
    /// Address of a symbol plus `addend`, shifted right by `shift` bits (the form `0xFF00(symbol)`).
    Symbol {
        name: String,
        addend: i64,
        shift: u32,
        generic: bool,
    },
}

/// A formal parameter or return value: in memory, or (old calling form) a register.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Formal {
    pub(crate) variable: Variable,
    pub(crate) register: Option<Type>,
}

/// A function or kernel.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Function {
    pub(crate) name: String,
    pub(crate) entry: bool,
    pub(crate) linkage: Linkage,
    pub(crate) returns: Vec<Formal>,
    pub(crate) params: Vec<Formal>,
    pub(crate) max_threads: Option<u32>,
    pub(crate) required_threads: Option<[u32; 3]>,
    /// None: a declaration.
    pub(crate) body: Option<Vec<Statement>>,
    pub(crate) line: u32,
}

/// A statement of a body, in order; scopes are flattened into Open and Close.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Statement {
    Open,
    Close,
    Label {
        name: String,
        line: u32,
    },
    /// `.reg .b32 %r<10>` (count) or `.reg .b32 a` (no count).
    Register {
        name: String,
        count: Option<u32>,
        ty: Type,
    },
    Variable(Variable),
    /// `name: .branchtargets a, b;`
    Targets {
        name: String,
        labels: Vec<String>,
    },
    Instruction(Instruction),
}

/// An instruction as written.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Instruction {
    pub(crate) line: u32,
    /// Register of the predicate, and whether it is negated.
    pub(crate) guard: Option<(String, bool)>,
    pub(crate) opcode: String,
    pub(crate) modifiers: Vec<String>,
    pub(crate) operands: Vec<Operand>,
}

impl Instruction {
    /// `add.s32`, for messages.
    pub(crate) fn mnemonic(&self) -> String {
        let mut text = self.opcode.clone();
        for modifier in &self.modifiers {
            text.push('.');
            text.push_str(modifier);
        }
        text
    }
}

/// An operand as written.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Operand {
    /// Register, special register, symbol, label or `_`.
    Name(String),
    /// `!%p`.
    Not(String),
    /// `symbol+8`.
    Sum(String, i64),
    Int(u64),
    F32(u32),
    F64(u64),
    /// `[base+offset]`.
    Memory {
        base: Base,
        offset: i64,
    },
    /// `[base, {x, y}]`.
    Texture {
        base: Base,
        coordinates: Vec<Operand>,
    },
    /// `{a, b}`.
    Vector(Vec<Operand>),
    /// `(a, b)` of a call.
    List(Vec<Operand>),
    /// `%p|%q`.
    Pair(String, String),
}

/// What an address starts from.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Base {
    Name(String),
    Absolute,
}
