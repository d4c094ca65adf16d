//! `cuGetProcAddress`: from the name that the header of a CUDA version gives a function to the
//! function exported for that version.

use std::collections::HashMap;
use std::ffi::{c_int, c_void};
use std::sync::OnceLock;

use crate::abi::{Answer, Name, Out, api};
use crate::error::{INVALID_VALUE, NOT_FOUND, fail_if};

/// `CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM`; bit 0 asks for the legacy one.
const PER_THREAD: u64 = 2;
const FLAGS: u64 = 3;

/// What `symbolStatus` reports.
const FOUND: u32 = 0;
const UNKNOWN_NAME: u32 = 1;
const TOO_OLD: u32 = 2;

/// Version of CUDA that brought a name with `_v2` or higher; those not named here came with 3.2.
/// From the mapping of names in the public headers of CUDA 11 to 13.
#[rustfmt::skip]
static SINCE: &[(&str, i32)] = &[
    ("cuCtxCreate_v3", 11_040), ("cuCtxCreate_v4", 12_050), ("cuCtxDestroy_v2", 4_000),
    ("cuCtxGetDevice_v2", 13_000), ("cuCtxPopCurrent", 2_000), ("cuCtxPopCurrent_v2", 4_000),
    ("cuCtxPushCurrent", 2_000), ("cuCtxPushCurrent_v2", 4_000), ("cuCtxSynchronize_v2", 13_000),
    ("cuDeviceGetUuid_v2", 11_040), ("cuDevicePrimaryCtxRelease_v2", 11_000),
    ("cuDevicePrimaryCtxReset_v2", 11_000), ("cuDevicePrimaryCtxSetFlags_v2", 11_000),
    ("cuEventDestroy_v2", 4_000), ("cuEventElapsedTime_v2", 12_080),
    ("cuGetProcAddress_v2", 12_000), ("cuLinkAddData_v2", 6_050), ("cuLinkAddFile_v2", 6_050),
    ("cuLinkCreate_v2", 6_050), ("cuMemAdvise_v2", 12_020), ("cuMemcpyBatchAsync_v2", 13_000),
    ("cuStreamBatchMemOp_v2", 11_070), ("cuMemHostRegister_v2", 6_050),
    ("cuMemPrefetchAsync_v2", 12_020), ("cuGraphAddDependencies_v2", 12_030),
    ("cuGraphAddKernelNode_v2", 12_000), ("cuGraphAddNode_v2", 12_030),
    ("cuGraphExecKernelNodeSetParams_v2", 12_000), ("cuGraphExecUpdate_v2", 12_000),
    ("cuGraphGetEdges_v2", 12_030), ("cuGraphInstantiate", 10_000),
    ("cuGraphInstantiate_v2", 11_000), ("cuGraphKernelNodeGetParams_v2", 12_000),
    ("cuGraphKernelNodeSetParams_v2", 12_000), ("cuGraphNodeGetDependencies_v2", 12_030),
    ("cuGraphNodeGetDependentNodes_v2", 12_030), ("cuGraphRemoveDependencies_v2", 12_030),
    ("cuStreamBeginCapture_v2", 10_010), ("cuStreamDestroy_v2", 4_000),
    ("cuStreamGetCaptureInfo_v2", 11_030), ("cuStreamGetCaptureInfo_v3", 12_030),
    ("cuStreamGetCtx_v2", 12_050), ("cuStreamUpdateCaptureDependencies_v2", 12_030),
    ("cuStreamWaitValue32_v2", 12_000), ("cuStreamWaitValue64_v2", 12_000),
    ("cuStreamWriteValue32_v2", 12_000), ("cuStreamWriteValue64_v2", 12_000),
];

fn exported() -> &'static HashMap<&'static str, usize> {
    static MAP: OnceLock<HashMap<&'static str, usize>> = OnceLock::new();
    MAP.get_or_init(|| {
        let symbols = super::TABLES.iter().copied().flatten();
        symbols
            .map(|symbol| (symbol.name, symbol.address as usize))
            .collect()
    })
}

fn since(name: &str) -> i32 {
    let named = SINCE
        .iter()
        .find(|(other, _)| *other == name)
        .map(|(_, since)| *since);
    named.unwrap_or(if name.contains("_v") { 3_020 } else { 0 })
}

/// The newest form of `base` that `version` knows, and whether there are only newer ones.
fn find(base: &str, version: c_int, per_thread: bool) -> Result<usize, u32> {
    let map = exported();
    // The one name that came to mean a function of another name.
    if base == "cuGraphInstantiate" && version >= 12_000 {
        return Ok(map["cuGraphInstantiateWithFlags"]);
    }
    let mut newer = false;
    for form in (1..=4).rev() {
        let name = if form == 1 {
            base.to_owned()
        } else {
            format!("{base}_v{form}")
        };
        let Some(&plain) = map.get(name.as_str()) else {
            continue;
        };
        if since(&name) > version {
            newer = true;
            continue;
        }
        let twin = ["_ptsz", "_ptds"]
            .iter()
            .find_map(|end| map.get(format!("{name}{end}").as_str()));
        return Ok(twin.copied().filter(|_| per_thread).unwrap_or(plain));
    }
    Err(if newer { TOO_OLD } else { UNKNOWN_NAME })
}

fn look_up(symbol: Name, function: Out<*mut c_void>, version: c_int, flags: u64) -> Answer<u32> {
    let name = symbol.text()?;
    fail_if(function.is_null() || flags & !FLAGS != 0, INVALID_VALUE)?;
    match find(&name, version, flags & PER_THREAD != 0) {
        Ok(address) => {
            function.put(address as *mut c_void)?;
            Ok(FOUND)
        }
        Err(status) => {
            function.put(std::ptr::null_mut())?;
            Ok(status)
        }
    }
}

api! { TABLE:
    /// Address of a function by its name without `_vN`, as of a CUDA version.
    fn cuGetProcAddress(symbol: Name, function: Out<*mut c_void>, version: c_int, flags: u64) {
        fail_if(look_up(symbol, function, version, flags)? != FOUND, NOT_FOUND)
    }

    /// As [`cuGetProcAddress`]; a name that is not found is no error: the address is null then, and
    /// `status` says why (as documented since CUDA 12).
    fn cuGetProcAddress_v2(
        symbol: Name, function: Out<*mut c_void>, version: c_int, flags: u64, status: Out<u32>,
    ) {
        let found = look_up(symbol, function, version, flags)?;
        status.offer(found);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_form_of_a_version_is_found() {
        let at = |name: &str| exported()[name];
        assert_eq!(find("cuMemAlloc", 3_020, false), Ok(at("cuMemAlloc_v2")));
        assert_eq!(find("cuMemAlloc", 2_000, false), Err(TOO_OLD));
        assert_eq!(find("cuNoSuchThing", 13_000, false), Err(UNKNOWN_NAME));
        assert_eq!(
            find("cuGetProcAddress", 11_030, false),
            Ok(at("cuGetProcAddress"))
        );
        assert_eq!(
            find("cuGetProcAddress", 12_000, false),
            Ok(at("cuGetProcAddress_v2"))
        );
        assert_eq!(
            find("cuCtxGetDevice", 12_080, false),
            Ok(at("cuCtxGetDevice"))
        );
        assert_eq!(
            find("cuLaunchKernel", 7_000, true),
            Ok(at("cuLaunchKernel_ptsz"))
        );
        assert_eq!(
            find("cuMemcpyHtoD", 7_000, true),
            Ok(at("cuMemcpyHtoD_v2_ptds"))
        );
        assert_eq!(find("cuInit", 2_000, true), Ok(at("cuInit")));
    }

    #[test]
    fn every_exception_names_an_exported_function() {
        for (name, _) in SINCE {
            assert!(exported().contains_key(name), "{name}");
        }
    }
}
