//! Runs PTX on the CPU: a CPU emulator for a GPU's execution units.
//!
//! [`Module::parse`] reads PTX text (6.x to 8.x, as clang and nvcc write it), [`link`] joins
//! modules, [`Loaded::new`] decodes the kernels once the variables have addresses, and [`launch()`]
//! runs one. Device addresses are checked through [`Memory`]. What is not supported is refused when
//! a module is loaded, with the instruction and its line.

mod alu;
mod ast;
mod body;
mod error;
mod exec;
mod lexer;
mod link;
mod load;
mod lower;
mod module;
mod parser;
mod program;
mod rename;
mod signature;
mod texture;
mod types;
mod variable;

pub use error::{Fault, PtxError, Site};
pub use exec::{Cancel, Launch, Memory, Region, Sink, Stats, launch};
pub use link::link;
pub use load::Loaded;
pub use module::{Entry, Global, Module, Param, Reference};
pub use texture::{AddressMode, Channel, Image, Plane, Texture};
