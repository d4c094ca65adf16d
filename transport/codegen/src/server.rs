//! The server's side: the driver's functions by their symbols, and the dispatch to them.
//!
//! It uses of the crate:
//! * `exec::{Exec, CallError, Code}`: `Code` is i32; `CallError` is made from a `DecodeError` and closes the lane.
//! * `exec.driver: Driver`, `exec.nvml: Nvml` of these files.
//! * `exec.handles.real(Kind, u64) -> Result<*mut c_void, Code>`, `check_minted(Kind, u64) -> Result<(), Code>`,
//!   `insert(Kind, u64, *mut c_void)`, `known(Kind, *mut c_void) -> u64`, `insert_child` and `known_child` for
//!   what ends with a parent, `remove(Kind, u64)`. For NVML the code of a wrong handle is replaced by
//!   INVALID_ARGUMENT.
//! * `special::NAME(exec, r, w) -> Result<Code, CallError>` for what is written by hand.

mod argument;

use std::fmt::Write as _;

use gtrace_cuda::{Api, Argument, Function, Kind, Pass, functions};

use crate::{Error, signature, subject};
use argument::At;

/// The file of one library's functions, and of the dispatch to them.
///
/// # Errors
///
/// [`Error::NoSignature`], [`Error::NoLength`], [`Error::Unsupported`].
pub fn dispatch(api: Api) -> Result<String, Error> {
    let (what, types) = subject(api);
    let library = match api {
        Api::Driver => "Driver",
        Api::Nvml => "Nvml",
    };
    let mut out = crate::head(&format!("The server's side of {what}."));
    write!(
        out,
        "use core::ffi::*;
use std::path::Path;

use gtrace_cuda::types::{types}::*;
use gtrace_cuda::wire::{{self, Scalar, Versioned}};
use gtrace_cuda::{{Kind, wire::mismatch}};
use gtrace_protocol::{{Reader, Writer, op_id}};

use crate::exec::{{CallError, Code, Exec}};
use crate::special;

"
    )?;
    symbols(&mut out, api, library)?;
    operations(&mut out, api)?;
    for function in functions::all(api).filter(|function| function.served_by_generated()) {
        served(&mut out, api, function)?;
    }
    Ok(out)
}

/// The structure of function pointers.
fn symbols(out: &mut String, api: Api, library: &str) -> Result<(), Error> {
    writeln!(
        out,
        "/// The library's functions; those that it does not have are absent.
#[derive(Debug)]
pub struct {library} {{
    _library: libloading::Library,"
    )?;
    let mut loads = String::new();
    for function in functions::all(api) {
        let signature = signature(api, function)?;
        let name = function.name;
        let types = signature.parameters.iter().map(|parameter| parameter.ty);
        let types = types.collect::<Vec<_>>().join(", ");
        writeln!(
            out,
            "/// `{name}`\npub {name}: Option<unsafe extern \"C\" fn({types}) -> {}>,",
            signature.returns
        )?;
        writeln!(
            loads,
            "{name}: unsafe {{ library.get(c\"{name}\".to_bytes_with_nul()) }}.ok().map(|symbol| *symbol),"
        )?;
    }
    writeln!(
        out,
        "}}

impl {library} {{
    /// Loads the library at `path`, and finds its functions.
    ///
    /// # Errors
    ///
    /// What the dynamic linker says.
    pub fn load(path: &Path) -> Result<Self, libloading::Error> {{
        let library = unsafe {{ libloading::Library::new(path) }}?;
        Ok(Self {{ {loads} _library: library }})
    }}
}}
"
    )?;
    Ok(())
}

fn operations(out: &mut String, api: Api) -> Result<(), Error> {
    let not_supported = match api {
        Api::Driver => "CUDA_ERROR_NOT_SUPPORTED",
        Api::Nvml => "NVML_ERROR_NOT_SUPPORTED",
    };
    let mut consts = String::new();
    let mut arms = String::new();
    for function in functions::all(api).filter(|function| function.served()) {
        let name = function.name;
        writeln!(consts, "const OP_{name}: u32 = op_id({name:?});")?;
        match function.served_by_generated() {
            true => writeln!(arms, "OP_{name} => {name}(exec, r, w),")?,
            false => writeln!(arms, "OP_{name} => special::{name}(exec, r, w),")?,
        }
    }
    writeln!(
        out,
        "{consts}
/// Executes the operation `op`: its arguments are read from `r`, its results written to `w`.
/// An operation that is not known is answered with NOT_SUPPORTED.
///
/// # Errors
///
/// [`CallError`] if the arguments are no such operation's.
pub fn dispatch(
    op: u32,
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, CallError> {{
    match op {{ {arms} _ => Ok({not_supported}.cast_signed()) }}
}}
"
    )?;
    Ok(())
}

/// The argument with whose object that of `argument` ends, if there is one.
fn parent(function: &Function, argument: &Argument) -> Option<&'static str> {
    let (Pass::Mint(kind) | Pass::Known(kind) | Pass::OutHandles(kind)) = argument.pass else {
        return None;
    };
    let owners: &[Kind] = match kind {
        Kind::Function => &[Kind::Module, Kind::Kernel],
        Kind::Kernel => &[Kind::Library],
        Kind::Module => &[Kind::Library, Kind::Function],
        Kind::GraphNode => &[Kind::Graph, Kind::GraphNode],
        Kind::TexRef | Kind::SurfRef => &[Kind::Module],
        Kind::Array => &[Kind::MipmappedArray, Kind::Array],
        _ => return None,
    };
    owners.iter().find_map(|owner| {
        let is = |it: &&Argument| matches!(it.pass, Pass::Handle(kind) if kind == *owner);
        function.arguments.iter().find(is).map(|it| it.name)
    })
}

/// One function's arguments, call, results.
fn served(out: &mut String, api: Api, function: &Function) -> Result<(), Error> {
    let signature = signature(api, function)?;
    let mut takes = String::new();
    let mut checks = String::new();
    let mut passes = Vec::new();
    let mut after = String::new();
    let mut puts = String::new();
    for (argument, parameter) in function.arguments.iter().zip(signature.parameters) {
        let at = At {
            api,
            argument,
            parameter,
            parent: parent(function, argument),
        };
        at.takes(&mut takes)?;
        at.checks(&mut checks)?;
        passes.push(at.passes());
        at.after(&mut after)?;
        at.puts(&mut puts)?;
    }
    // Room for results is made once all lengths are known.
    let mut rooms = String::new();
    for (argument, parameter) in function.arguments.iter().zip(signature.parameters) {
        At {
            api,
            argument,
            parameter,
            parent: None,
        }
        .rooms(&mut rooms)?;
    }
    let (library, not_supported) = match api {
        Api::Driver => ("driver", "CUDA_ERROR_NOT_SUPPORTED"),
        Api::Nvml => ("nvml", "NVML_ERROR_NOT_SUPPORTED"),
    };
    let answered = match api {
        Api::Driver => "answered == CUDA_SUCCESS",
        Api::Nvml => "answered == NVML_SUCCESS || answered == NVML_ERROR_INSUFFICIENT_SIZE",
    };
    let name = function.name;
    let passes = passes.join(", ");
    writeln!(
        out,
        "fn {name}(exec: &mut Exec, r: &mut Reader<'_>, w: &mut Writer) -> Result<Code, CallError> {{
            {takes} r.end()?; {checks} {rooms}
            let Some(call) = exec.{library}.{name} else {{
                return Ok({not_supported}.cast_signed());
            }};
            let answered = unsafe {{ call({passes}) }};"
    )?;
    if !after.is_empty() {
        writeln!(out, "if answered == 0 {{ {after} }}")?;
    }
    if !puts.is_empty() {
        writeln!(out, "if {answered} {{ {puts} }}")?;
    }
    out.push_str("Ok(answered.cast_signed())\n}\n\n");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the generated functions call their own values, on either side.
    const OWN: [&str; 6] = ["answered", "call", "exec", "known", "r", "w"];

    #[test]
    fn no_argument_hides_a_value_of_the_generated_code() {
        for function in functions::DRIVER
            .iter()
            .chain(functions::NVML)
            .copied()
            .flatten()
        {
            for argument in function.arguments {
                let (name, own) = (argument.name, OWN.contains(&argument.name));
                assert!(!own, "{name} of {}", function.name);
            }
        }
    }
}
