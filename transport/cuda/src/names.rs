//! Names by which a program finds functions: symbols of the library, and what `cuGetProcAddress`
//! makes of a base name, a CUDA version and flags.

mod versions;

use crate::signatures;

/// Older symbols with the arguments and the meaning of a newer one.
///
/// On 64-bit systems the first versions of these differ from the second in nothing that a program
/// sees, as what changed was the size of `CUdeviceptr`, or what is returned in which error.
pub const ALIASES: &[(&str, &str)] = &[
    ("cuCtxCreate", "cuCtxCreate_v2"),
    ("cuCtxDestroy", "cuCtxDestroy_v2"),
    ("cuCtxPopCurrent", "cuCtxPopCurrent_v2"),
    ("cuCtxPushCurrent", "cuCtxPushCurrent_v2"),
    ("cuDevicePrimaryCtxRelease", "cuDevicePrimaryCtxRelease_v2"),
    ("cuDevicePrimaryCtxReset", "cuDevicePrimaryCtxReset_v2"),
    (
        "cuDevicePrimaryCtxSetFlags",
        "cuDevicePrimaryCtxSetFlags_v2",
    ),
    ("cuEventDestroy", "cuEventDestroy_v2"),
    ("cuLinkAddData", "cuLinkAddData_v2"),
    ("cuLinkAddFile", "cuLinkAddFile_v2"),
    ("cuLinkCreate", "cuLinkCreate_v2"),
    ("cuMemHostRegister", "cuMemHostRegister_v2"),
    ("cuStreamDestroy", "cuStreamDestroy_v2"),
];

/// Names of NVML of before they were changed, without a signature, with the arguments and the meaning of the newer one.
pub const NVML_ALIASES: &[(&str, &str)] = &[
    ("nvmlGetBlacklistDeviceCount", "nvmlGetExcludedDeviceCount"),
    (
        "nvmlGetBlacklistDeviceInfoByIndex",
        "nvmlGetExcludedDeviceInfoByIndex",
    ),
];

/// Suffix of a symbol that uses the thread's default stream where the plain one uses the legacy
/// stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Suffix {
    /// `_ptds`: a function without stream argument.
    Ptds,
    /// `_ptsz`: a null stream argument means the thread's default stream.
    Ptsz,
}

impl Suffix {
    /// As it stands at the end of the symbol.
    pub const fn text(self) -> &'static str {
        match self {
            Self::Ptds => "_ptds",
            Self::Ptsz => "_ptsz",
        }
    }
}

/// Functions without stream argument that have a `_ptds` symbol, and the function that does the same in a stream,
/// if there is one.
const PTDS: &[(&str, Option<&str>)] = &[
    ("cuMemcpy", Some("cuMemcpyAsync")),
    ("cuMemcpy2DUnaligned_v2", Some("cuMemcpy2DAsync_v2")),
    ("cuMemcpy2D_v2", Some("cuMemcpy2DAsync_v2")),
    ("cuMemcpy3DPeer", Some("cuMemcpy3DPeerAsync")),
    ("cuMemcpy3D_v2", Some("cuMemcpy3DAsync_v2")),
    ("cuMemcpyAtoA_v2", None),
    ("cuMemcpyAtoD_v2", None),
    ("cuMemcpyAtoH_v2", Some("cuMemcpyAtoHAsync_v2")),
    ("cuMemcpyDtoA_v2", None),
    ("cuMemcpyDtoD_v2", Some("cuMemcpyDtoDAsync_v2")),
    ("cuMemcpyDtoH_v2", Some("cuMemcpyDtoHAsync_v2")),
    ("cuMemcpyHtoA_v2", Some("cuMemcpyHtoAAsync_v2")),
    ("cuMemcpyHtoD_v2", Some("cuMemcpyHtoDAsync_v2")),
    ("cuMemcpyPeer", Some("cuMemcpyPeerAsync")),
    ("cuMemsetD16_v2", Some("cuMemsetD16Async")),
    ("cuMemsetD2D16_v2", Some("cuMemsetD2D16Async")),
    ("cuMemsetD2D32_v2", Some("cuMemsetD2D32Async")),
    ("cuMemsetD2D8_v2", Some("cuMemsetD2D8Async")),
    ("cuMemsetD32_v2", Some("cuMemsetD32Async")),
    ("cuMemsetD8_v2", Some("cuMemsetD8Async")),
];

/// The function with a stream argument behind its others that does what `name` does, if `name` has a `_ptds`
/// symbol.
pub fn in_stream(name: &str) -> Option<&'static str> {
    let (_, twin) = PTDS.iter().find(|(function, _)| *function == name)?;
    *twin
}

/// Types of arguments that are streams or have one.
const STREAMS: &[&str] = &[
    "CUstream",
    "*const CUlaunchConfig",
    "*mut CUDA_GRAPH_INSTANTIATE_PARAMS",
];

/// Functions with a stream that have no `_ptsz` symbol: a null stream is none of theirs.
const NO_PTSZ: &[&str] = &[
    "cuLaunchGridAsync",
    "cuStreamDestroy_v2",
    "cuStreamGetGreenCtx",
];

/// The suffix of the symbol that uses the thread's default stream, if a function has one.
///
/// `_ptds` is a list; `_ptsz` goes with a stream argument, in a launch configuration and in parameters of an instantiation too.
pub fn per_thread(name: &str) -> Option<Suffix> {
    if PTDS.iter().any(|(function, _)| *function == name) {
        return Some(Suffix::Ptds);
    }
    let signature = crate::find(signatures::DRIVER, name)?;
    let stream = |ty: &str| STREAMS.contains(&ty);
    let launches = !name.starts_with("cuOccupancy");
    let has = signature.parameters.iter().any(|p| stream(p.ty)) && launches;
    (has && !NO_PTSZ.contains(&name)).then_some(Suffix::Ptsz)
}

/// All symbols that stand for the described function `name`, itself included, and whether each
/// uses the thread's default stream.
pub fn symbols(name: &str) -> Vec<(String, Option<Suffix>)> {
    let mut symbols = vec![(name.to_owned(), None)];
    if let Some(suffix) = per_thread(name) {
        symbols.push((format!("{name}{}", suffix.text()), Some(suffix)));
    }
    let older = ALIASES.iter().filter(|(_, newer)| *newer == name);
    symbols.extend(older.map(|(older, _)| ((*older).to_owned(), None)));
    symbols
}

/// Flag of `cuGetProcAddress`: `CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM`.
pub const PER_THREAD_DEFAULT_STREAM: u64 = 2;

/// What `cuGetProcAddress` makes of a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Lookup {
    /// The symbol, which the library exports.
    Symbol(String),
    /// There is one, but only for a newer CUDA version than the one asked for.
    VersionNotSufficient,
    /// There is none.
    NotFound,
}

/// The symbol for a base name (`cuMemAlloc`), a CUDA version (3020 is 3.2) and flags.
pub fn lookup(base: &str, version: u32, flags: u64) -> Lookup {
    let Some(meanings) = versions::meanings(base) else {
        return Lookup::NotFound;
    };
    match meanings
        .iter()
        .rev()
        .find(|meaning| meaning.since <= version)
    {
        None => Lookup::VersionNotSufficient,
        Some(meaning) if !meaning.described => Lookup::NotFound,
        Some(meaning) => {
            let suffix = match flags & PER_THREAD_DEFAULT_STREAM {
                0 => "",
                _ => meaning.suffix,
            };
            Lookup::Symbol(format!("{}{suffix}", meaning.symbol))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Api, functions};

    fn found(base: &str, version: u32, flags: u64) -> String {
        match lookup(base, version, flags) {
            Lookup::Symbol(symbol) => symbol,
            other => panic!("{base} at {version}: {other:?}"),
        }
    }

    #[test]
    fn what_does_the_same_in_a_stream_takes_the_same_and_a_stream() {
        for (name, twin) in PTDS {
            let Some(twin) = twin else { continue };
            let parameters = |name: &str| {
                let signature = crate::find(signatures::DRIVER, name).unwrap();
                signature
                    .parameters
                    .iter()
                    .map(|p| p.ty)
                    .collect::<Vec<_>>()
            };
            let mut wanted = parameters(name);
            wanted.push("CUstream");
            assert_eq!(parameters(twin), wanted, "{name} and {twin}");
        }
    }

    #[test]
    fn a_base_name_means_the_newest_symbol_of_the_version_asked_for() {
        assert_eq!(found("cuMemAlloc", 3020, 0), "cuMemAlloc_v2");
        assert_eq!(found("cuMemAlloc", 13_000, 0), "cuMemAlloc_v2");
        assert_eq!(found("cuGetProcAddress", 11_030, 0), "cuGetProcAddress");
        assert_eq!(found("cuGetProcAddress", 12_000, 0), "cuGetProcAddress_v2");
        assert_eq!(found("cuCtxDestroy", 2000, 0), "cuCtxDestroy");
        assert_eq!(found("cuEventElapsedTime", 12_040, 0), "cuEventElapsedTime");
        assert_eq!(
            found("cuEventElapsedTime", 13_000, 0),
            "cuEventElapsedTime_v2"
        );
        assert_eq!(found("cuLaunchKernel", 4000, 0), "cuLaunchKernel");
    }

    #[test]
    fn the_flag_means_the_threads_default_stream() {
        assert_eq!(found("cuMemcpyHtoD", 7000, 2), "cuMemcpyHtoD_v2_ptds");
        assert_eq!(found("cuLaunchKernel", 7000, 2), "cuLaunchKernel_ptsz");
        assert_eq!(
            found("cuLaunchKernelEx", 11_060, 2),
            "cuLaunchKernelEx_ptsz"
        );
        assert_eq!(
            found("cuGraphInstantiateWithParams", 12_000, 2),
            "cuGraphInstantiateWithParams_ptsz"
        );
        assert_eq!(found("cuMemAlloc", 7000, 2), "cuMemAlloc_v2");
    }

    #[test]
    fn names_that_are_not_there_are_distinguished_from_names_that_are_newer() {
        assert_eq!(lookup("cuNothing", 13_000, 0), Lookup::NotFound);
        assert_eq!(lookup("cuMemAlloc", 2000, 0), Lookup::NotFound);
        assert_eq!(
            lookup("cuLibraryLoadData", 11_080, 0),
            Lookup::VersionNotSufficient
        );
    }

    #[test]
    fn every_described_function_is_found_by_its_base_name() {
        for function in functions::all(Api::Driver) {
            let base = versions::base(function.name);
            let versions = [
                u32::MAX,
                13_000,
                12_080,
                12_020,
                12_000,
                11_060,
                11_040,
                10_020,
            ];
            let reached = versions.iter().any(|version| {
                lookup(base, *version, 0) == Lookup::Symbol(function.name.to_owned())
            });
            assert!(reached, "{} is not reached as {base}", function.name);
        }
    }

    #[test]
    fn aliases_stand_for_described_functions() {
        for (older, newer) in ALIASES {
            assert!(
                functions::all(Api::Driver).any(|f| f.name == *newer),
                "{newer}"
            );
            assert!(
                !functions::all(Api::Driver).any(|f| f.name == *older),
                "{older}"
            );
        }
    }
}
