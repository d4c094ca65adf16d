//! The tracing library's side: wrappers of the driver's symbols, and the names of what is recorded.
//!
//! A wrapper calls the driver's own function with the arguments it got. It uses of the crate:
//! * `target::target(number)`: the driver's function; one that answers NOT_SUPPORTED where it has none.
//! * `call::begin(number)`, `end(call, number, code, details)`: record.
//! * `gpu::begin(stream)`, `call::end_work(work, call, number, code, details)`: the same where the GPU is given work.
//! * `gpu::waited()`, `gpu::leave(context, device)`: work has ended, a context will.
//! * `details::NAME(..)`, `hooks::NAME(.., code)`: what is recorded of a call, what is done after it.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use gtrace_cuda::traced::{Bytes, Traced, traced};
use gtrace_cuda::{Signature, find, functions, names, signatures};

use crate::Error;

/// Symbols without a signature that programs may be linked with, besides the older versions of those that
/// have one and [`functions::WITHOUT_SIGNATURE`]: what CUDA shares with OpenGL, EGL and VDPAU (cudaGL.h, cudaEGL.h,
/// cudaVDPAU.h).
#[rustfmt::skip]
const UNTOUCHED: &[&str] = &[
    "cuEGLStreamConsumerAcquireFrame", "cuEGLStreamConsumerConnect",
    "cuEGLStreamConsumerConnectWithFlags", "cuEGLStreamConsumerDisconnect",
    "cuEGLStreamConsumerReleaseFrame", "cuEGLStreamProducerConnect",
    "cuEGLStreamProducerDisconnect", "cuEGLStreamProducerPresentFrame",
    "cuEGLStreamProducerReturnFrame", "cuEventCreateFromEGLSync", "cuGLCtxCreate",
    "cuGLCtxCreate_v2", "cuGLGetDevices", "cuGLGetDevices_v2", "cuGLInit", "cuGLMapBufferObject",
    "cuGLMapBufferObjectAsync", "cuGLMapBufferObjectAsync_v2", "cuGLMapBufferObjectAsync_v2_ptsz",
    "cuGLMapBufferObject_v2", "cuGLMapBufferObject_v2_ptds", "cuGLRegisterBufferObject",
    "cuGLSetBufferObjectMapFlags", "cuGLUnmapBufferObject", "cuGLUnmapBufferObjectAsync",
    "cuGLUnregisterBufferObject", "cuGraphInstantiate", "cuGraphInstantiate_v2",
    "cuGraphicsEGLRegisterImage", "cuGraphicsGLRegisterBuffer", "cuGraphicsGLRegisterImage",
    "cuGraphicsResourceGetMappedEglFrame", "cuGraphicsVDPAURegisterOutputSurface",
    "cuGraphicsVDPAURegisterVideoSurface", "cuVDPAUCtxCreate", "cuVDPAUCtxCreate_v2",
    "cuVDPAUGetDevice",
];

/// Functions after whose calls something is done by hand.
const HOOKED: &[&str] = &[
    "cuGetExportTable",
    "cuGetProcAddress",
    "cuGetProcAddress_v2",
    "cuKernelGetFunction",
    "cuLibraryEnumerateKernels",
    "cuLibraryGetKernel",
    "cuModuleEnumerateFunctions",
    "cuModuleGetFunction",
];

/// Functions that answer success once work of the GPU has ended, besides those that copy and name no stream.
const WAITING: &[&str] = &[
    "cuCtxSynchronize",
    "cuCtxSynchronize_v2",
    "cuEventQuery",
    "cuEventSynchronize",
    "cuStreamQuery",
    "cuStreamSynchronize",
];

/// Functions that may end contexts, without their version: the context, or the device whose contexts they are.
const ENDING: &[(&str, &str)] = &[
    ("cuCtxDestroy", "Some(ctx as u64), None"),
    ("cuDevicePrimaryCtxRelease", "None, Some(dev)"),
    ("cuDevicePrimaryCtxReset", "None, Some(dev)"),
];

/// Symbols with a signature, sorted.
fn symbols() -> Vec<(String, &'static Signature)> {
    let mut symbols: Vec<_> = signatures::DRIVER
        .iter()
        .flat_map(|signature| {
            let all = names::symbols(signature.name);
            all.into_iter().map(move |(symbol, _)| (symbol, signature))
        })
        // An older symbol may have a signature of its own.
        .filter(|(symbol, signature)| {
            symbol == signature.name || find(signatures::DRIVER, symbol).is_none()
        })
        .collect();
    symbols.sort_by(|a, b| a.0.cmp(&b.0));
    symbols.dedup_by(|a, b| a.0 == b.0);
    symbols
}

/// The file of the names of all symbols with a signature: `NAMES`, a constant.
///
/// # Errors
///
/// None that comes of the description.
pub fn names() -> Result<String, Error> {
    let mut out = crate::head("The functions whose calls are recorded, sorted.");
    out.push_str("/// Their names, by the number that stands for each in a recording.\npub const NAMES: &[&str] = &[\n");
    for (symbol, _) in symbols() {
        writeln!(out, "{symbol:?},")?;
    }
    out.push_str("];\n");
    Ok(out)
}

/// The file of the wrappers, and of their addresses: `WRAPPERS`, by number.
///
/// # Errors
///
/// None that comes of the description.
pub fn wrappers() -> Result<String, Error> {
    let mut out = crate::head("The symbols of the CUDA driver API whose calls are recorded.");
    out.push_str(
        "use core::ffi::*;
use core::mem::transmute;

use gtrace_cuda::types::driver::*;

use crate::call::{begin, end, end_work};
use gtrace_recording::details;

use crate::{gpu, hooks, target};

",
    );
    let symbols = symbols();
    for (number, (symbol, signature)) in symbols.iter().enumerate() {
        wrapper(&mut out, number, symbol, signature)?;
    }
    out.push_str(
        "/// Addresses of the wrappers, by number.
pub(crate) static WRAPPERS: &[crate::target::Address] = &[
",
    );
    for (symbol, _) in &symbols {
        writeln!(
            out,
            "crate::target::Address({symbol} as *const () as *const c_void),"
        )?;
    }
    out.push_str("];\n");
    Ok(out)
}

fn wrapper(
    out: &mut String,
    number: usize,
    symbol: &str,
    signature: &Signature,
) -> Result<(), Error> {
    let list = |each: &dyn Fn(&gtrace_cuda::Parameter) -> String| {
        let each: Vec<_> = signature.parameters.iter().map(each).collect();
        each.join(", ")
    };
    let declared = list(&|p| format!("{}: {}", p.name, p.ty));
    let types = list(&|p| p.ty.to_owned());
    let arguments = list(&|p| p.name.to_owned());
    let ending = ENDING
        .iter()
        .find(|(name, _)| *name == symbol.trim_end_matches("_v2"));
    let leave = ending.map_or(String::new(), |(_, of)| format!("gpu::leave({of});"));
    let (work, end) = match work(symbol, signature) {
        Some(stream) => (
            format!("let work_ = gpu::begin({stream});"),
            "end_work(work_, call_",
        ),
        None => (String::new(), "end(call_"),
    };
    writeln!(
        out,
        "#[unsafe(no_mangle)]
        pub unsafe extern \"C\" fn {symbol}({declared}) -> CUresult {{
            let target_: unsafe extern \"C\" fn({types}) -> CUresult = unsafe {{ transmute(target::target({number})) }};
            {leave}{work}
            let call_ = begin({number});
            let code_ = unsafe {{ target_({arguments}) }};
            {end}, {number}, code_, {});",
        match details(signature).as_str() {
            // The function itself.
            "details::plain()" => "details::plain".to_owned(),
            details => format!("|| {details}"),
        }
    )?;
    let copied = matches!(traced(signature), Traced::Copy { stream: None, .. });
    if copied || WAITING.contains(&signature.name) {
        out.push_str("if code_ == 0 { gpu::waited(); }\n");
    }
    if HOOKED.contains(&signature.name) {
        let arguments = match arguments.is_empty() {
            true => String::new(),
            false => format!("{arguments}, "),
        };
        writeln!(
            out,
            "unsafe {{ hooks::{}({arguments}code_) }};",
            signature.name
        )?;
    }
    out.push_str("code_\n}\n\n");
    Ok(())
}

/// The stream that a call gives work whose time is of interest; `None` if it gives none.
pub(crate) fn work(symbol: &str, signature: &Signature) -> Option<String> {
    // CU_STREAM_PER_THREAD and CU_STREAM_LEGACY.
    let default = match symbol.ends_with("_ptsz") || symbol.ends_with("_ptds") {
        true => 2,
        false => 1,
    };
    let word = |place: usize| format!("{} as u64", signature.parameters[place].name);
    let stream = match traced(signature) {
        // Those that name no stream wait: an event behind one would leave its stream with something to do.
        Traced::Copy { stream, .. }
        | Traced::Set { stream, .. }
        | Traced::Launch { stream, .. } => word(stream?),
        Traced::LaunchEx { config, .. } => format!(
            "unsafe {{ details::launch_stream({}) }}",
            signature.parameters[config].name
        ),
        Traced::Stream(stream) if signature.name == "cuGraphLaunch" => word(stream),
        _ => return None,
    };
    Some(format!("details::in_stream({stream}, {default})"))
}

/// What a call's event reports.
pub(crate) fn details(signature: &Signature) -> String {
    let name = |place: usize| signature.parameters[place].name;
    let word = |place: usize| format!("{} as u64", name(place));
    let stream = |stream: Option<usize>| stream.map_or_else(|| "details::none()".to_owned(), word);
    let bytes = |bytes: Bytes| match bytes {
        Bytes::Unknown => "0".to_owned(),
        Bytes::Count(count) => word(count),
        Bytes::Elements(count, size) => format!("({}).wrapping_mul({size})", word(count)),
        Bytes::Area([width, height], 1) => {
            format!("({}).wrapping_mul({})", word(width), word(height))
        }
        Bytes::Area([width, height], size) => format!(
            "(({}).wrapping_mul({})).wrapping_mul({size})",
            word(width),
            word(height)
        ),
        Bytes::Copy2d(copy) => format!("unsafe {{ details::area({}) }}", name(copy)),
        Bytes::Copy3d(copy) => format!("unsafe {{ details::volume({}) }}", name(copy)),
        Bytes::Copy3dPeer(copy) => format!("unsafe {{ details::volume_peer({}) }}", name(copy)),
    };
    let side = |side: Option<usize>| side.map_or_else(|| "0".to_owned(), word);
    match traced(signature) {
        Traced::Plain => "details::plain()".to_owned(),
        Traced::Stream(of) => format!("details::stream({})", stream(Some(of))),
        Traced::Copy {
            bytes: count,
            stream: of,
            to,
            from,
        } => format!(
            "details::copy({}, {}, {}, {})",
            bytes(count),
            stream(of),
            side(to),
            side(from)
        ),
        Traced::Set {
            bytes: count,
            stream: of,
            to,
        } => format!(
            "details::set({}, {}, {})",
            bytes(count),
            stream(of),
            word(to)
        ),
        Traced::Allocate {
            bytes: count,
            stream: of,
            given,
        } => format!(
            "details::allocation({}, {}, unsafe {{ details::given({}.cast(), code_) }})",
            bytes(count),
            stream(of),
            name(given)
        ),
        Traced::Free { stream: of, freed } => {
            format!("details::free({}, {})", stream(of), word(freed))
        }
        Traced::Launch {
            function,
            stream: of,
            grid,
            block,
            shared,
        } => format!(
            "details::launch({}, {}, [{}], [{}], {})",
            word(function),
            stream(of),
            grid.map(name).join(", "),
            block.map(name).join(", "),
            name(shared)
        ),
        Traced::LaunchEx { config, function } => format!(
            "unsafe {{ details::launch_ex({}, {}) }}",
            name(config),
            word(function)
        ),
    }
}

/// The file of the symbols whose arguments are not known: a call of the macro `crate::untouched::untouched`.
///
/// # Errors
///
/// None that comes of the description.
pub fn untouched() -> Result<String, Error> {
    let mut out = crate::head("Symbols of the driver without a signature.");
    out.push_str("crate::untouched::untouched! {\n");
    let known: BTreeSet<String> = symbols().into_iter().map(|(symbol, _)| symbol).collect();
    let unknown = UNTOUCHED.iter().chain(functions::WITHOUT_SIGNATURE);
    let mut list: BTreeSet<String> = unknown.map(|name| (*name).to_owned()).collect();
    for signature in signatures::DRIVER {
        // `cuMemAlloc_v2` had a `cuMemAlloc` before it.
        let Some((base, version)) = signature.name.rsplit_once("_v") else {
            continue;
        };
        let Ok(version) = version.parse::<u32>() else {
            continue;
        };
        list.insert(base.to_owned());
        list.extend((2..version).map(|older| format!("{base}_v{older}")));
    }
    for (number, symbol) in list
        .iter()
        .filter(|name| !known.contains(*name))
        .enumerate()
    {
        writeln!(out, "{number} {symbol},")?;
    }
    out.push_str("}\n");
    Ok(out)
}
