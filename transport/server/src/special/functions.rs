//! Functions of modules and kernels of libraries, with all that a client must know to launch them.

#![allow(non_snake_case, reason = "the driver's names")]
#![allow(unsafe_code)]

use std::ffi::{CStr, CString, c_char, c_int, c_uint, c_void};
use std::ptr;
use std::sync::{Arc, OnceLock};

use gtrace_cuda::Kind;
use gtrace_cuda::payload::{
    FUNCTIONS_BYTES_MAX, FUNCTIONS_MAX, FunctionInfo, GetFunction, PARAMETERS_MAX, Parameter,
    Payload as _,
};
use gtrace_cuda::types::driver::{CUdevice, CUfunction, CUkernel};
use gtrace_image::Layouts;
use gtrace_protocol::{Flags, Reader, Writer};

use super::{INVALID_VALUE, NOT_SUPPORTED, SUCCESS, checked};
use crate::exec::{Called, Code, Exec};
use crate::generated::driver::Driver;

/// `CU_FUNC_ATTRIBUTE_MAX` of CUDA 13.
const FUNCTION_ATTRIBUTES: c_int = 16;
/// Functions of a module that are loaded with it, at most.
const LOADED_MAX: usize = 4;
/// The version that brought `cuFuncGetParamInfo`, and `cuModuleEnumerateFunctions` and its like.
const TELLS_PARAMETERS: c_int = 12_040;

/// Whether the driver reports functions and their parameters.
fn reports_functions(driver: &Driver) -> bool {
    static REPORTED: OnceLock<bool> = OnceLock::new();
    *REPORTED.get_or_init(|| {
        let mut version = 0;
        let asked = driver
            .cuDriverGetVersion
            // SAFETY: an int to write to.
            .map(|call| unsafe { call(&raw mut version) });
        asked == Some(0) && version >= TELLS_PARAMETERS && driver.cuFuncGetParamInfo.is_some()
    })
}

/// (offset, size) of each parameter, as `ask` returns for its number until there is none.
fn parameters(
    ask: Option<impl Fn(usize, *mut usize, *mut usize) -> u32>,
) -> Option<Vec<Parameter>> {
    let ask = ask?;
    let mut parameters = Vec::new();
    for number in 0..PARAMETERS_MAX {
        let (mut offset, mut size) = (0, 0);
        match ask(number, &raw mut offset, &raw mut size) {
            0 => parameters.push(Parameter {
                offset: u32::try_from(offset).ok()?,
                size: u32::try_from(size).ok()?,
            }),
            // INVALID_VALUE: no parameter of this number.
            1 => return Some(parameters),
            _ => return None,
        }
    }
    None
}

/// As [`parameters`], from the image.
fn of_layouts(layouts: Option<&Layouts>, name: &str) -> Option<Vec<Parameter>> {
    let parameters = layouts?.get(name)?.iter();
    let parameters = parameters.map(|it| Parameter {
        offset: it.offset,
        size: it.size,
    });
    Some(parameters.collect())
}

fn attributes(ask: Option<impl Fn(*mut c_int, c_int) -> u32>) -> Vec<(i32, i32)> {
    let mut attributes = Vec::new();
    for attribute in 0..FUNCTION_ATTRIBUTES {
        let mut value = 0;
        if ask.as_ref().map(|ask| ask(&raw mut value, attribute)) == Some(0) {
            attributes.push((attribute, value));
        }
    }
    attributes
}

fn function_info(driver: &Driver, function: CUfunction) -> FunctionInfo {
    FunctionInfo {
        parameters: parameters(driver.cuFuncGetParamInfo.map(|call| {
            move |number, offset, size| {
                // SAFETY: a function of the driver, and two sizes to write to.
                unsafe { call(function, number, offset, size) }
            }
        })),
        attributes: attributes(driver.cuFuncGetAttribute.map(|call| {
            move |value, attribute: c_int| {
                // SAFETY: a function of the driver, and an int to write to.
                unsafe { call(value, attribute.cast_unsigned(), function) }
            }
        })),
    }
}

/// Where the parameters of a function or kernel of the driver lie, if the driver reports it.
pub(super) fn parameters_of(
    driver: &Driver,
    what: Kind,
    real: *mut c_void,
) -> Option<Vec<Parameter>> {
    match what {
        Kind::Kernel => kernel_info(driver, real.cast()).parameters,
        _ => function_info(driver, real.cast()).parameters,
    }
}

/// The device of the current context, else the first.
fn current_device(driver: &Driver) -> CUdevice {
    let mut device: CUdevice = 0;
    let status = driver
        .cuCtxGetDevice
        // SAFETY: an int to write to.
        .map(|call| unsafe { call(&raw mut device) });
    match status {
        Some(0) => device,
        _ => 0,
    }
}

fn kernel_info(driver: &Driver, kernel: CUkernel) -> FunctionInfo {
    let device = current_device(driver);
    FunctionInfo {
        parameters: parameters(driver.cuKernelGetParamInfo.map(|call| {
            move |number, offset, size| {
                // SAFETY: a kernel of the driver, and two sizes to write to.
                unsafe { call(kernel, number, offset, size) }
            }
        })),
        attributes: attributes(driver.cuKernelGetAttribute.map(|call| {
            move |value, attribute: c_int| {
                // SAFETY: a kernel of the driver, and an int to write to.
                unsafe { call(value, attribute.cast_unsigned(), kernel, device) }
            }
        })),
    }
}

/// What a client must know of the function or kernel `real`.
fn info(
    driver: &Driver,
    what: Kind,
    real: *mut c_void,
    layouts: Option<&Layouts>,
    name: &str,
) -> FunctionInfo {
    let mut info = match what {
        Kind::Kernel => kernel_info(driver, real.cast()),
        _ => function_info(driver, real.cast()),
    };
    if info.parameters.is_none() {
        info.parameters = of_layouts(layouts, name);
    }
    info
}

/// The driver's function or kernel of this name.
fn look_up(
    driver: &Driver,
    what: Kind,
    parent: *mut c_void,
    name: &CStr,
) -> Result<*mut c_void, Code> {
    if what == Kind::Kernel {
        let call = driver.cuLibraryGetKernel.ok_or(NOT_SUPPORTED)?;
        let mut kernel: CUkernel = ptr::null_mut();
        // SAFETY: a library of the driver, a C string, and a handle to write to.
        checked(unsafe { call(&raw mut kernel, parent.cast(), name.as_ptr()) })?;
        return Ok(kernel.cast());
    }
    let call = driver.cuModuleGetFunction.ok_or(NOT_SUPPORTED)?;
    let mut function: CUfunction = ptr::null_mut();
    // SAFETY: a module of the driver, a C string, and a handle to write to.
    checked(unsafe { call(&raw mut function, parent.cast(), name.as_ptr()) })?;
    Ok(function.cast())
}

/// The functions of a module or kernels of a library with their names, as the driver reports them;
/// none if there are more than [`FUNCTIONS_MAX`].
fn enumerate(
    driver: &Driver,
    what: Kind,
    parent: *mut c_void,
) -> Option<Vec<(String, *mut c_void)>> {
    let mut count: c_uint = 0;
    let mut reals = [ptr::null_mut::<c_void>(); FUNCTIONS_MAX];
    let room = reals.as_mut_ptr();
    // SAFETY: a module or library of the driver, a number to write to, and room for `count` handles.
    unsafe {
        match what {
            Kind::Kernel => {
                checked(driver.cuLibraryGetKernelCount?(
                    &raw mut count,
                    parent.cast(),
                ))
                .ok()?;
                let all = (count as usize <= FUNCTIONS_MAX).then_some(count)?;
                let call = driver.cuLibraryEnumerateKernels?;
                checked(call(room.cast(), all, parent.cast())).ok()?;
            }
            _ => {
                checked(driver.cuModuleGetFunctionCount?(
                    &raw mut count,
                    parent.cast(),
                ))
                .ok()?;
                let all = (count as usize <= FUNCTIONS_MAX).then_some(count)?;
                let call = driver.cuModuleEnumerateFunctions?;
                checked(call(room.cast(), all, parent.cast())).ok()?;
            }
        }
    }
    let mut named = Vec::new();
    for real in reals.into_iter().take(count as usize) {
        let mut name: *const c_char = ptr::null();
        // SAFETY: a function or kernel of the driver, and a pointer to write to.
        let status = unsafe {
            match what {
                Kind::Kernel => driver.cuKernelGetName?(&raw mut name, real.cast()),
                _ => driver.cuFuncGetName?(&raw mut name, real.cast()),
            }
        };
        if status == 0 && !name.is_null() {
            // SAFETY: a C string that lives as long as the module or library.
            let name = unsafe { CStr::from_ptr(name) };
            named.push((name.to_str().ok()?.to_owned(), real));
        }
    }
    Some(named)
}

/// Loads the functions of a small module, which the driver would do when it is first asked for one. Of a function that
/// is not loaded it reports neither how many threads a block may have nor how much shared memory.
fn load(driver: &Driver, named: &[(String, *mut c_void)]) {
    let Some(call) = driver.cuFuncLoad else {
        return;
    };
    if named.len() <= LOADED_MAX {
        for (_, real) in named {
            // What is not loaded now is loaded later, or the launch reports why not.
            // SAFETY: a function of the driver.
            let _ = unsafe { call(real.cast()) };
        }
    }
}

/// As [`enumerate`], for a driver that does not: functions named in the image that the driver finds.
fn named_in_image(
    driver: &Driver,
    what: Kind,
    parent: *mut c_void,
    layouts: &Layouts,
) -> Option<Vec<(String, *mut c_void)>> {
    let few = layouts.len() <= FUNCTIONS_MAX;
    let found = layouts.names().take(if few { FUNCTIONS_MAX } else { 0 });
    let found = found.filter_map(|name| {
        let real = look_up(driver, what, parent, &CString::new(name).ok()?).ok()?;
        Some((name.to_owned(), real))
    });
    Some(found.collect())
}

/// What [`gtrace_cuda::payload::Loaded`] reports about the functions of a module or library that was made
/// from `image`, whose layouts are kept where the driver does not report them.
pub(super) fn of_image(
    exec: &Exec,
    kind: Kind,
    handle: u64,
    image: &[u8],
) -> Vec<(String, FunctionInfo)> {
    let what = match kind {
        Kind::Library => Kind::Kernel,
        _ => Kind::Function,
    };
    let Ok(parent) = exec.handles.real(kind, handle) else {
        return Vec::new();
    };
    let (layouts, named) = if reports_functions(exec.driver) {
        let named = enumerate(exec.driver, what, parent);
        if let (Kind::Function, Some(named)) = (what, &named) {
            load(exec.driver, named);
        }
        (None, named)
    } else {
        let layouts = Arc::new(Layouts::read(image));
        exec.handles.keep_layouts(handle, Arc::clone(&layouts));
        let named = named_in_image(exec.driver, what, parent, &layouts);
        (Some(layouts), named)
    };
    let mut functions = Vec::new();
    let mut bytes = 0;
    for (name, real) in named.unwrap_or_default() {
        let info = info(exec.driver, what, real, layouts.as_deref(), &name);
        // Each number has a length before it, and each pair eight bytes.
        let pairs = info.parameters.as_ref().map_or(0, Vec::len) + info.attributes.len();
        bytes += name.len() + 8 * pairs + 32;
        if bytes > FUNCTIONS_BYTES_MAX {
            break;
        }
        functions.push((name, info));
    }
    functions
}

/// A function or kernel by its name. Answered with [`FunctionInfo`] if the client waits for it.
fn get(exec: &mut Exec, r: &mut Reader<'_>, w: &mut Writer, (of, what): (Kind, Kind)) -> Called {
    let get = GetFunction::whole(r)?;
    exec.handles.check_minted(what, get.handle)?;
    let parent = exec.handles.real(of, get.of)?;
    let name = CString::new(get.name).map_err(|_| INVALID_VALUE)?;
    let real = look_up(exec.driver, what, parent, &name)?;
    exec.handles.insert_child(what, get.handle, real, get.of);
    if !exec.request.flags.has(Flags::ONE_WAY) {
        let layouts = exec.handles.layouts(get.of);
        info(exec.driver, what, real, layouts.as_deref(), get.name).write(w);
    }
    Ok(SUCCESS)
}

/// A function of a module, with all that a launch of it needs.
pub(crate) fn cuModuleGetFunction(exec: &mut Exec, r: &mut Reader<'_>, w: &mut Writer) -> Called {
    get(exec, r, w, (Kind::Module, Kind::Function))
}

/// A kernel of a library, with all that a launch of it needs.
pub(crate) fn cuLibraryGetKernel(exec: &mut Exec, r: &mut Reader<'_>, w: &mut Writer) -> Called {
    get(exec, r, w, (Kind::Library, Kind::Kernel))
}
