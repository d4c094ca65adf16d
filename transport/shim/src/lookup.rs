//! Finding functions by name, and tables by UUID.

// Reads names and writes addresses through pointers of the program.
#![allow(unsafe_code)]

use std::ffi::{CStr, c_char, c_int, c_void};

use gtrace_cuda::names::{Lookup, lookup};
use gtrace_cuda::types::driver::{
    self as cuda, CUdriverProcAddressQueryResult, CUresult, CUuuid, cuuint64_t,
};

use crate::context::{put, put_wanted};
use crate::entry::done;
use crate::generated::driver::SYMBOLS;
use crate::log;
use crate::stats::local;

/// The address of a symbol.
fn address(symbol: &str) -> Option<*const c_void> {
    let at = SYMBOLS.binary_search_by(|entry| entry.0.cmp(symbol)).ok()?;
    SYMBOLS.get(at).map(|entry| entry.1)
}

pub(crate) unsafe fn cuGetProcAddress_v2(
    symbol: *const c_char,
    pfn: *mut *mut c_void,
    cudaVersion: c_int,
    flags: cuuint64_t,
    symbolStatus: *mut CUdriverProcAddressQueryResult,
) -> CUresult {
    done(|| {
        local!("cuGetProcAddress_v2");
        if symbol.is_null() || pfn.is_null() {
            return Err(cuda::CUDA_ERROR_INVALID_VALUE);
        }
        // SAFETY: a string of the program.
        let name = unsafe { CStr::from_ptr(symbol) }.to_string_lossy();
        let version = u32::try_from(cudaVersion).unwrap_or_default();
        let found = match lookup(&name, version, flags) {
            Lookup::Symbol(symbol) => address(&symbol).ok_or_else(|| {
                log::once(&symbol, &format!("{symbol} is described and not exported"));
                cuda::CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND
            }),
            Lookup::VersionNotSufficient => Err(cuda::CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT),
            Lookup::NotFound => Err(cuda::CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND),
        };
        let (address, status) = match found {
            Ok(address) => (address.cast_mut(), cuda::CU_GET_PROC_ADDRESS_SUCCESS),
            Err(status) => (std::ptr::null_mut(), status),
        };
        // SAFETY: pointers of the program.
        unsafe {
            put(pfn, address)?;
            put_wanted(symbolStatus, status);
        }
        match address.is_null() {
            true => Err(cuda::CUDA_ERROR_NOT_FOUND),
            false => Ok(()),
        }
    })
}

pub(crate) unsafe fn cuGetProcAddress(
    symbol: *const c_char,
    pfn: *mut *mut c_void,
    cudaVersion: c_int,
    flags: cuuint64_t,
) -> CUresult {
    // SAFETY: the program's pointers.
    unsafe { cuGetProcAddress_v2(symbol, pfn, cudaVersion, flags, std::ptr::null_mut()) }
}

/// No table is handed out: an unknown one is refused by the driver too, and a dummy makes programs
/// crash that take it for the real one.
pub(crate) unsafe fn cuGetExportTable(
    ppExportTable: *mut *const c_void,
    pExportTableId: *const CUuuid,
) -> CUresult {
    done(|| {
        local!("cuGetExportTable");
        if pExportTableId.is_null() {
            return Err(cuda::CUDA_ERROR_INVALID_VALUE);
        }
        // SAFETY: a pointer of the program.
        unsafe { put(ppExportTable, std::ptr::null()) }?;
        Err(cuda::CUDA_ERROR_INVALID_VALUE)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_are_found_by_base_name_and_version() {
        let mut found = std::ptr::null_mut();
        let mut status = 0;
        let mut get = |name: &CStr, version| {
            // SAFETY: a string, and two places for the answer.
            let code = unsafe {
                cuGetProcAddress_v2(name.as_ptr(), &raw mut found, version, 0, &raw mut status)
            };
            (code, found, status)
        };
        let (code, pointer, _) = get(c"cuMemAlloc", 12_000);
        assert_eq!(
            (code, pointer.cast_const()),
            (0, address("cuMemAlloc_v2").unwrap())
        );
        assert_eq!(
            get(c"cuNoSuchFunction", 12_000).0,
            cuda::CUDA_ERROR_NOT_FOUND
        );
        assert_eq!(
            get(c"cuLibraryLoadData", 11_000).2,
            cuda::CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT
        );
    }

    #[test]
    fn the_table_of_symbols_can_be_searched() {
        assert!(SYMBOLS.is_sorted_by_key(|entry| entry.0));
        assert!(address("cuInit").is_some());
    }
}
