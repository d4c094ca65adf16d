//! What a description is made of.

use gtrace_protocol::{OpId, op_id};

use crate::{Attributes, Kind};

/// Which library a function belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Api {
    /// libcuda.so.1
    Driver,
    /// libnvidia-ml.so.1
    Nvml,
}

/// Who answers a call, and whether the program waits for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Class {
    /// The client answers, from its snapshot, its caches or its own state.
    Local,
    /// Sent and not awaited; an error is reported by a later call.
    OneWay,
    /// Sent and awaited.
    Waiting,
}

/// Which sides are written by hand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Hand {
    /// Both sides are generated.
    None,
    /// The client's side is written by hand and may use the generated call; the server's side is
    /// generated.
    Client,
    /// The server's side is written by hand; the client's is generated.
    Server,
    /// Both sides are written by hand, payload included.
    Both,
}

/// How an argument travels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pass {
    /// A scalar, in its own size; `usize` as u64.
    Value,
    /// An address in the device's memory: u64.
    Address,
    /// A handle: u64.
    Handle(Kind),
    /// A handle that is gone when the call succeeded: u64.
    Destroy(Kind),
    /// Where the client writes a handle's number that it minted and sends with the request: u64.
    Mint(Kind),
    /// Where a handle goes that the server knows or mints: u64 in the reply.
    Known(Kind),
    /// A pointer to one value or, with a length, to an array: read.
    In,
    /// A pointer to one value or, with a length, to an array: read and written.
    InOut,
    /// A pointer to a structure of NVML whose first member, `version`, has its size in the low 24
    /// bits: read and written, in the size that the program says.
    Versioned,
    /// A pointer to one value or, with a length, to an array: written.
    Out,
    /// An array of handles with a length: read.
    Handles(Kind),
    /// An array of handles with a length: written, by numbers that the server knows or mints.
    OutHandles(Kind),
    /// A C string: its bytes without the NUL.
    InString,
    /// Room for a C string with a length: its bytes up to the NUL.
    OutString,
    /// Memory of the client that is read; its bytes are the frame's bulk part. By hand.
    HostIn,
    /// Memory of the client that is written from the reply's bulk part. By hand.
    HostOut,
    /// Of no use to the other side, and not sent.
    Unsent,
    /// By hand.
    Special,
}

/// Where the length of an array stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Length {
    /// In another argument.
    Argument(&'static str),
    /// In another argument, less this number.
    Less(&'static str, usize),
    /// In another argument, in bytes.
    Bytes(&'static str),
    /// Where another argument, an [`Pass::InOut`], points: capacity before, length after the call.
    Pointee(&'static str),
    /// It is this number.
    Fixed(usize),
}

/// An argument and how it travels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Argument {
    /// The parameter's name.
    pub name: &'static str,
    /// How it travels.
    pub pass: Pass,
    /// How many elements it points to, if that is not one; bytes for `void`.
    pub length: Option<Length>,
    /// Whether null is allowed. A null pointer that is not allowed is answered by the client with
    /// INVALID_VALUE (NVML: INVALID_ARGUMENT).
    pub nullable: bool,
}

/// A function and how it travels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Function {
    /// The symbol's name.
    pub name: &'static str,
    /// Who answers, and whether it is awaited.
    pub class: Class,
    /// Which sides are written by hand.
    pub hand: Hand,
    /// What it does that its arguments do not show.
    pub attributes: Attributes,
    /// Arguments, in the signature's order; none where hand-written code alone knows them.
    pub arguments: &'static [Argument],
}

impl Function {
    /// Its id on the wire.
    pub const fn id(&self) -> OpId {
        op_id(self.name)
    }

    /// Whether the generators know how all its arguments travel. What is local and has none has
    /// no reason to.
    pub fn travels(&self) -> bool {
        let local = self.class == Class::Local;
        let mut arguments = self.arguments.iter();
        let by_hand = arguments.any(|argument| argument.pass.by_hand());
        !(by_hand || self.arguments.is_empty() && (local || self.hand == Hand::Both))
    }

    /// Whether the server has an operation for it.
    pub fn served(&self) -> bool {
        match self.class {
            Class::Local => self.travels(),
            Class::OneWay | Class::Waiting => true,
        }
    }

    /// Whether the generated dispatch makes the call, not a hand-written function.
    pub fn served_by_generated(&self) -> bool {
        self.travels() && matches!(self.hand, Hand::None | Hand::Client)
    }

    /// Whether the client has a generated function that makes the call: the exported stub itself,
    /// or one for the hand-written stub to use.
    pub fn called_by_generated(&self) -> bool {
        self.travels() && self.hand != Hand::Both
    }
}

impl Pass {
    /// Whether only hand-written code knows how it travels.
    pub const fn by_hand(self) -> bool {
        matches!(self, Self::HostIn | Self::HostOut | Self::Special)
    }

    /// Whether something comes back.
    pub const fn comes_back(self) -> bool {
        matches!(
            self,
            Self::Known(_)
                | Self::InOut
                | Self::Versioned
                | Self::Out
                | Self::OutHandles(_)
                | Self::OutString
                | Self::HostOut
        )
    }
}
