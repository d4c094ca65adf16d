//! The client's side: the symbols that programs call, and the calls behind them.
//!
//! The symbols use of the crate:
//! * `entry::guard(&mut || ..) -> u32`, `guard_nvml(&mut || ..) -> u32`, `guard_text(|| ..) -> *const c_char`: no panic
//!   leaves them.
//! * `entry::Outcome`, of which `.code()` makes the u32 that the program gets.
//! * `entry::absent(name, why) -> u32`: answers NOT_SUPPORTED, and reports it once.
//! * `entry::per_thread(CUstream) -> CUstream`: the thread's default stream for null.
//! * `observe::call(name, || arguments, || stream, |code| details, || ..) -> u32`: reports the call to whoever observes the process.
//! * `managed::ended(bool, CUstream, CUresult) -> CUresult`: the answer of a fill or a copy on the device that is
//!   not asynchronous, sent in this stream with this result, and whether it is to be waited for.
//! * `managed::contains(CUdeviceptr) -> bool`, `managed::is_mapped(CUdeviceptr) -> bool`: whether the memory there
//!   is the host's too, the latter whether it is page-locked.
//! * `copy::synchronous(CUstream, || ..) -> CUresult`: a copy that returns when the program may use its memory.
//! * `local::NAME`, `special::NAME` for what is written by hand, the latter for what travels: those of the driver API give an
//!   `Outcome`. They may use `remote::NAME`, the [`calls`], which are to be included as the module `remote` of the symbols.
//!
//! The calls use of the crate:
//! * `entry::waiting(op, &mut |w| -> Result<(), u32>, &mut |r| -> Result<(), DecodeError>) -> u32`: sends what
//!   the first closure writes, waits, has the second read the reply's arguments if it has any, and answers
//!   the status. `entry::nvml` is the same for NVML, whose reply has arguments also with
//!   NVML_ERROR_INSUFFICIENT_SIZE.
//! * `entry::one_way(Operation, &mut |w| -> Result<(), u32>) -> u32`.
//! * `entry::mint(Kind) -> u64`: a new handle's number.

mod call;

use std::collections::HashSet;
use std::fmt::Write as _;

use gtrace_cuda::names::{self, Suffix};
use gtrace_cuda::{Api, Class, Function, Hand, Kind, Pass, Signature, functions, signatures};

pub use call::calls;

use crate::{Error, signature, subject, trace};

/// What the text uses of others.
fn uses(types: &str) -> String {
    format!("use core::ffi::*;\n\nuse gtrace_cuda::types::{types}::*;\n")
}

/// The file of one library's symbols, and of their addresses: `SYMBOLS`, by name.
///
/// # Errors
///
/// [`Error::NoSignature`].
pub fn symbols(api: Api) -> Result<String, Error> {
    let (what, types) = subject(api);
    let mut out = crate::head(&format!("The symbols of {what}."));
    out.push_str(&uses(types));
    if api == Api::Driver {
        out.push_str("\nuse gtrace_recording::details;\n\nuse crate::entry::Outcome;\n");
    }
    out.push_str("\nuse crate::{entry, local, observe, special};\n\n");
    let mut exported = Vec::new();
    for function in functions::all(api) {
        let symbols = match api {
            Api::Driver => names::symbols(function.name),
            Api::Nvml => {
                let older = names::NVML_ALIASES.iter();
                let older = older.filter(|(_, newer)| *newer == function.name);
                let older = older.map(|(older, _)| ((*older).to_owned(), None));
                older.chain([(function.name.to_owned(), None)]).collect()
            }
        };
        for (symbol, suffix) in symbols {
            export(&mut out, api, function, &symbol, suffix)?;
            exported.push(symbol);
        }
    }
    table(&mut out, exported)?;
    Ok(out)
}

/// Symbols without a signature, older than those that have one, that a library looks up in libcuda.so.1
/// by itself and without which it does not start: cublasLt of CUDA 13.
const REQUIRED: &[&str] = &["cuGraphInstantiate"];

/// The file of the symbols that are not described. A program that is linked with `-lcuda` starts only if every
/// symbol that it names exists, called or not. `cuGetProcAddress` does not find these.
///
/// # Errors
///
/// [`Error::NoReason`].
pub fn absent() -> Result<String, Error> {
    let (what, types) = subject(Api::Driver);
    let mut out = crate::head(&format!("Symbols of {what} that are not supported."));
    out.push_str(&uses(types));
    out.push_str("\nuse crate::entry;\n\n");
    let described: HashSet<&str> = functions::all(Api::Driver).map(|f| f.name).collect();
    let exported = functions::all(Api::Driver).flat_map(|f| names::symbols(f.name));
    let exported: HashSet<String> = exported.map(|(symbol, _)| symbol).collect();
    for name in REQUIRED.iter().filter(|name| !exported.contains(**name)) {
        writeln!(
            out,
            "#[unsafe(no_mangle)]
            pub unsafe extern \"C\" fn {name}() -> CUresult {{ entry::absent({name:?}, \"it is older than CUDA 10\") }}
"
        )?;
    }
    for &name in functions::WITHOUT_SIGNATURE {
        let why = functions::why_absent(name).ok_or(Error::NoReason(name))?;
        writeln!(
            out,
            "#[unsafe(no_mangle)]
            pub unsafe extern \"C\" fn {name}() -> CUresult {{ entry::absent({name:?}, {why:?}) }}
"
        )?;
    }
    for signature in signatures::DRIVER {
        let name = signature.name;
        if !described.contains(name) {
            let why = functions::why_absent(name).ok_or(Error::NoReason(name))?;
            // That of the thread's default stream too.
            for (symbol, _) in names::symbols(name) {
                writeln!(
                    out,
                    "#[unsafe(no_mangle)]
                    pub unsafe extern \"C\" fn {symbol}({}) -> {} {{ entry::absent({name:?}, {why:?}) }}
",
                    parameters(signature),
                    signature.returns
                )?;
            }
        }
    }
    Ok(out)
}

/// The file of NVML's symbols that do not travel: each answers what a driver answers where it refuses. A program that finds no such
/// name takes the library for an old one.
///
/// # Errors
///
/// [`Error::NoReason`].
pub fn refused() -> Result<String, Error> {
    let (what, types) = subject(Api::Nvml);
    let mut out = crate::head(&format!("Symbols of {what} that are refused."));
    out.push_str(&uses(types));
    out.push_str("use gtrace_cuda::Kind;\n\nuse crate::{entry, local};\n\n");
    let described: HashSet<&str> = functions::all(Api::Nvml).map(|f| f.name).collect();
    for signature in signatures::NVML {
        let name = signature.name;
        if described.contains(name) {
            continue;
        }
        let (refusal, _) = functions::refusal(name).ok_or(Error::NoReason(name))?;
        let of = signature.parameters.first().and_then(|parameter| {
            let kind = match parameter.ty {
                "nvmlDevice_t" => Kind::NvmlDevice,
                "nvmlUnit_t" => Kind::NvmlUnit,
                _ => return None,
            };
            Some(format!("Some((Kind::{kind:?}, {}.addr()))", parameter.name))
        });
        let of = of.unwrap_or_else(|| "None".to_owned());
        writeln!(
            out,
            "#[unsafe(no_mangle)]
            pub unsafe extern \"C\" fn {name}({}) -> {} {{
                entry::guard_nvml(&mut || local::refused({of}, {}))
            }}
",
            parameters(signature),
            signature.returns,
            refusal.name()
        )?;
    }
    Ok(out)
}

fn parameters(signature: &Signature) -> String {
    let each = signature.parameters.iter();
    let each = each.map(|p| format!("{}: {}", p.name, p.ty));
    each.collect::<Vec<_>>().join(", ")
}

fn export(
    out: &mut String,
    api: Api,
    function: &Function,
    symbol: &str,
    suffix: Option<Suffix>,
) -> Result<(), Error> {
    let signature = signature(api, function)?;
    writeln!(
        out,
        "#[unsafe(no_mangle)]\npub unsafe extern \"C\" fn {symbol}({}) -> {} {{",
        parameters(signature),
        signature.returns
    )?;
    if api == Api::Driver {
        observed(out, symbol, signature)?;
    }
    if suffix == Some(Suffix::Ptsz) {
        for parameter in signature.parameters {
            let name = parameter.name;
            match parameter.ty {
                "CUstream" => writeln!(out, "let {name} = entry::per_thread({name});")?,
                "*const CUlaunchConfig" => writeln!(
                    out,
                    "let mut copy = match unsafe {{ {name}.as_ref() }} {{
                        Some({name}) => *{name},
                        None => return {},
                    }};
                    copy.hStream = entry::per_thread(copy.hStream);
                    let {name} = &raw const copy;",
                    invalid(api)
                )?,
                // It takes answers too, so that it is no copy.
                "*mut CUDA_GRAPH_INSTANTIATE_PARAMS" => writeln!(
                    out,
                    "if let Some({name}) = unsafe {{ {name}.as_mut() }} {{
                        {name}.hUploadStream = entry::per_thread({name}.hUploadStream);
                    }}"
                )?,
                _ => {}
            }
        }
    }
    let mut arguments: Vec<_> = signature.parameters.iter().map(|p| p.name).collect();
    let mut function = function;
    let hosts = shared(function);
    // The same in the thread's stream.
    let mut in_stream = None;
    let twin = names::in_stream(function.name).filter(|_| suffix == Some(Suffix::Ptds));
    if let Some(twin) = twin.and_then(|twin| functions::all(api).find(|f| f.name == twin)) {
        const STREAM: &str = "entry::per_thread(core::ptr::null_mut())";
        function = twin;
        arguments.push(STREAM);
        in_stream = Some(STREAM);
    }
    let arguments = arguments.join(", ");
    let guard = match (api, signature.returns) {
        (Api::Driver, _) => "guard",
        (Api::Nvml, "nvmlReturn_t") => "guard_nvml",
        // nvmlErrorString
        (Api::Nvml, _) => "guard_text",
    };
    let code = match api {
        Api::Driver => ".code()",
        Api::Nvml => "",
    };
    let name = function.name;
    let home = match function.class {
        Class::Local => "local",
        _ => "special",
    };
    match (function.class, function.hand, hosts) {
        (Class::Local, ..) | (_, Hand::Client | Hand::Both, _) => match in_stream {
            // It returns when the program may use its memory, which its twin does not promise.
            Some(stream) => writeln!(
                out,
                "entry::{guard}(&mut || crate::copy::synchronous({stream}, || unsafe {{
                    {home}::{name}({arguments})
                }}{code}))"
            )?,
            None => writeln!(
                out,
                "entry::{guard}(&mut || unsafe {{ {home}::{name}({arguments}) }}{code})"
            )?,
        },
        (_, Hand::None | Hand::Server, Some(hosts)) => writeln!(
            out,
            "entry::{guard}(&mut || {{
                let code = unsafe {{ remote::{name}({arguments}) }};
                crate::managed::ended({hosts}, {}, code)
            }})",
            in_stream.unwrap_or("core::ptr::null_mut()")
        )?,
        (_, Hand::None | Hand::Server, None) => writeln!(
            out,
            "entry::{guard}(&mut || unsafe {{ remote::{name}({arguments}) }})"
        )?,
    }
    out.push_str(match api {
        Api::Driver => "})\n}\n\n",
        Api::Nvml => "}\n\n",
    });
    Ok(())
}

/// Of a fill or a copy on the device without a stream, whether the memory that it uses is the host's too, so that it has ended when
/// it returns (CUDA driver API, "API synchronization behavior"): of a fill managed memory too, of a copy page-locked memory only.
fn shared(function: &Function) -> Option<String> {
    if !function.attributes.uses_memory || function.attributes.stream.is_some() {
        return None;
    }
    let addresses = function
        .arguments
        .iter()
        .filter(|argument| argument.pass == Pass::Address);
    let ask = if addresses.clone().count() == 1 {
        "contains"
    } else {
        "is_mapped"
    };
    let each = addresses.map(|argument| format!("crate::managed::{ask}({})", argument.name));
    Some(each.collect::<Vec<_>>().join(" || "))
}

/// The beginning of a call that is reported to whoever observes the process; what follows is the call.
fn observed(out: &mut String, symbol: &str, signature: &Signature) -> Result<(), Error> {
    let arguments: Vec<_> = signature.parameters.iter().map(|p| p.name).collect();
    let stream = match trace::work(symbol, signature) {
        Some(stream) => format!("Some({stream})"),
        None => "None".to_owned(),
    };
    // As the macros of C have it: a struct of the parameters.
    writeln!(
        out,
        "#[repr(C)]
        struct Arguments_ {{ {} }}
        observe::call(c{symbol:?}, || Arguments_ {{ {} }}, || {stream}, |code_| {}, || {{",
        parameters(signature),
        arguments.join(", "),
        trace::details(signature),
    )?;
    Ok(())
}

/// The table by which `cuGetProcAddress` and `dlsym`-like lookups find an address.
fn table(out: &mut String, mut symbols: Vec<String>) -> Result<(), Error> {
    symbols.sort();
    writeln!(
        out,
        "/// A symbol and its address.
pub(crate) struct Symbol(pub(crate) &'static str, pub(crate) *const c_void);

// SAFETY: the addresses of functions.
unsafe impl Sync for Symbol {{}}

/// All symbols, sorted by name.
pub(crate) static SYMBOLS: &[Symbol] = &["
    )?;
    for symbol in symbols {
        writeln!(out, "Symbol({symbol:?}, {symbol} as *const c_void),")?;
    }
    out.push_str("];\n");
    Ok(())
}

fn invalid(api: Api) -> &'static str {
    match api {
        Api::Driver => "CUDA_ERROR_INVALID_VALUE",
        Api::Nvml => "NVML_ERROR_INVALID_ARGUMENT",
    }
}
