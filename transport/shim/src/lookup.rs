//! Finding functions by name, and tables by UUID.

// Reads names and writes addresses through pointers of the program.
#![allow(unsafe_code)]

use std::ffi::{CStr, c_char, c_int, c_void};

use gtrace_cuda::names::{Lookup, lookup};
use gtrace_cuda::types::driver::{
    self as cuda, CUdriverProcAddressQueryResult, CUuuid, cuuint64_t,
};

use crate::context::{put, put_wanted};
use crate::entry::Answer;
use crate::generated::driver::SYMBOLS;
use crate::stats::local;
use crate::status::fail_if;
use crate::{log, tables};

/// The address of a symbol.
fn address(symbol: &str) -> Option<*const c_void> {
    let at = SYMBOLS.binary_search_by(|entry| entry.0.cmp(symbol)).ok()?;
    SYMBOLS.get(at).map(|entry| entry.1)
}

/// The address, null for a name that is not found, and why.
///
/// # Safety
///
/// A string, and a place for the address.
unsafe fn find(
    symbol: *const c_char,
    pfn: *mut *mut c_void,
    version: c_int,
    flags: cuuint64_t,
) -> Answer<CUdriverProcAddressQueryResult> {
    fail_if(
        symbol.is_null() || pfn.is_null(),
        cuda::CUDA_ERROR_INVALID_VALUE,
    )?;
    // SAFETY: the caller's promise.
    let name = unsafe { CStr::from_ptr(symbol) }.to_string_lossy();
    let version = u32::try_from(version).unwrap_or_default();
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
    // SAFETY: the caller's promise.
    unsafe { put(pfn, address) }?;
    Ok(status)
}

/// A name that is not found is a success with a null address (CUDA driver API, "Driver Entry Point
/// Access").
pub(crate) unsafe fn cuGetProcAddress_v2(
    symbol: *const c_char,
    pfn: *mut *mut c_void,
    cudaVersion: c_int,
    flags: cuuint64_t,
    symbolStatus: *mut CUdriverProcAddressQueryResult,
) -> Answer {
    local!("cuGetProcAddress_v2");
    // SAFETY: pointers of the program.
    unsafe {
        let status = find(symbol, pfn, cudaVersion, flags)?;
        put_wanted(symbolStatus, status);
    }
    Ok(())
}

/// That of CUDA 11, which has no other way to say that a name is not found than an error.
pub(crate) unsafe fn cuGetProcAddress(
    symbol: *const c_char,
    pfn: *mut *mut c_void,
    cudaVersion: c_int,
    flags: cuuint64_t,
) -> Answer {
    local!("cuGetProcAddress");
    // SAFETY: pointers of the program.
    match unsafe { find(symbol, pfn, cudaVersion, flags) }? {
        cuda::CU_GET_PROC_ADDRESS_SUCCESS => Ok(()),
        _ => Err(cuda::CUDA_ERROR_NOT_FOUND),
    }
}

/// A table that is not known is refused, as the driver does: a dummy makes programs crash that take
/// it for the real one.
pub(crate) unsafe fn cuGetExportTable(
    ppExportTable: *mut *const c_void,
    pExportTableId: *const CUuuid,
) -> Answer {
    local!("cuGetExportTable");
    fail_if(pExportTableId.is_null(), cuda::CUDA_ERROR_INVALID_VALUE)?;
    // SAFETY: a pointer of the program.
    let name: [u8; 16] = unsafe { pExportTableId.cast::<[u8; 16]>().read() };
    let table = tables::find(&name);
    // SAFETY: a pointer of the program.
    unsafe { put(ppExportTable, table.unwrap_or(std::ptr::null())) }?;
    table.map(|_| ()).ok_or_else(|| {
        if let Some(why) = gtrace_tables::refusal(&name) {
            log::once(&why, &why);
        }
        cuda::CUDA_ERROR_INVALID_VALUE
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
            (Ok(()), address("cuMemAlloc_v2").unwrap())
        );
        assert_eq!(
            get(c"cuNoSuchFunction", 12_000),
            (
                Ok(()),
                std::ptr::null_mut(),
                cuda::CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND
            )
        );
        assert_eq!(
            get(c"cuLibraryLoadData", 11_000).2,
            cuda::CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT
        );
        // SAFETY: as above.
        let old =
            unsafe { cuGetProcAddress(c"cuNoSuchFunction".as_ptr(), &raw mut found, 11_030, 0) };
        assert_eq!(
            (old, found.is_null()),
            (Err(cuda::CUDA_ERROR_NOT_FOUND), true)
        );
    }

    #[test]
    fn the_table_of_symbols_can_be_searched() {
        assert!(SYMBOLS.is_sorted_by_key(|entry| entry.0));
        assert!(address("cuInit").is_some());
    }
}
