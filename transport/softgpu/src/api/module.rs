//! Modules and functions.

use std::ffi::{c_char, c_int, c_uint, c_void};

use crate::abi::{Answer, In, Name, Out, api};
use crate::attributes::since;
use crate::calls::wait_with_lock;
use crate::context::{bound, current};
use crate::error::{FILE_NOT_FOUND, INVALID_VALUE, fail_if};
use crate::graph::capture;
use crate::image::{self, Part};
use crate::jit::Logs;
use crate::module::{Function, Module, is_eager};
use crate::program::Linked;
use crate::types::{DevicePtr, Handle};

fn load(out: Out<Handle>, parts: impl FnOnce() -> Answer<Vec<Part>>, logs: &Logs) -> Answer {
    let context = current()?;
    fail_if(out.is_null(), INVALID_VALUE)?;
    capture::refuse_unsafe()?;
    let linked = Linked::build(parts()?, logs)?;
    let _waiting = wait_with_lock();
    context.drain();
    out.put(Module::load(&context, &linked)?.handle)
}

fn load_image(out: Out<Handle>, image: *const c_void, logs: &Logs) -> Answer {
    current()?;
    match image.is_null() {
        true => Err(INVALID_VALUE),
        false => load(out, || image::load(image as u64), logs),
    }
}

/// The contents of a file of the program.
pub(crate) fn read_file(path: Name) -> Answer<Vec<u8>> {
    std::fs::read(path.text()?).map_err(|_| FILE_NOT_FOUND)
}

/// The function (or kernel) of a handle.
fn function(handle: Handle) -> Answer<std::sync::Arc<Function>> {
    Function::of(bound()?.as_ref(), handle)
}

api! { TABLE:
    /// Loads an image: PTX, or a fat binary that has PTX.
    fn cuModuleLoadData(module: Out<Handle>, image: *const c_void) {
        load_image(module, image, &Logs::default())
    }

    /// Loads an image; messages go to the logs among the options.
    fn cuModuleLoadDataEx(
        module: Out<Handle>, image: *const c_void, count: c_uint, options: In<u32>,
        values: Out<u64>,
    ) {
        load_image(module, image, &Logs::read(count, options, values))
    }

    /// Loads a fat binary.
    fn cuModuleLoadFatBinary(module: Out<Handle>, image: *const c_void) {
        load_image(module, image, &Logs::default())
    }

    /// Loads an image from a file.
    fn cuModuleLoad(module: Out<Handle>, path: Name) {
        load(module, || image::parse(&read_file(path)?), &Logs::default())
    }

    /// Unloads a module.
    fn cuModuleUnload(module: Handle) {
        let context = current()?;
        let module = Module::of(module)?;
        let _waiting = wait_with_lock();
        context.drain();
        module.unload();
        Ok(())
    }

    /// When functions are loaded: lazily, as drivers say since CUDA 12.2, unless the environment asks for the
    /// other. With it a runtime loads an image only when something of it is used, so that a program may carry
    /// images that cannot run here.
    fn cuModuleGetLoadingMode(mode: Out<u32>) {
        const EAGER: u32 = 1;
        const LAZY: u32 = 2;
        crate::state::state()?;
        mode.put(if is_eager() { EAGER } else { LAZY })
    }

    /// The function of a name.
    fn cuModuleGetFunction(function: Out<Handle>, module: Handle, name: Name) {
        current()?;
        let found = Module::of(module)?.function(&name.text()?)?;
        function.put(found)
    }

    /// Number of functions.
    fn cuModuleGetFunctionCount(count: Out<c_uint>, module: Handle) {
        since(12_040)?;
        count.put(Module::of(module)?.functions.len() as c_uint)
    }

    /// The functions of a module.
    fn cuModuleEnumerateFunctions(functions: Out<Handle>, count: c_uint, module: Handle) {
        since(12_040)?;
        let module = Module::of(module)?;
        for (index, function) in module.functions.iter().take(count as usize).enumerate() {
            functions.put_at(index, *function)?;
        }
        Ok(())
    }

    /// Address and size of a variable.
    fn cuModuleGetGlobal_v2(
        address: Out<DevicePtr>, size: Out<usize>, module: Handle, name: Name,
    ) {
        current()?;
        let (at, length) = Module::of(module)?.global(&name.text()?)?;
        fail_if(address.is_null() && size.is_null(), INVALID_VALUE)?;
        address.offer(at);
        size.offer(length as usize);
        Ok(())
    }

    /// An attribute of a function.
    fn cuFuncGetAttribute(value: Out<c_int>, attribute: u32, function: Handle) {
        value.put(self::function(function)?.attribute(attribute)?)
    }

    /// Sets an attribute of a function.
    fn cuFuncSetAttribute(function: Handle, attribute: u32, value: c_int) {
        let found = self::function(function)?;
        found.tuning.set(found.entry(), attribute, value)
    }

    /// Preferred division of cache and shared memory: without effect.
    fn cuFuncSetCacheConfig(function: Handle, config: u32) {
        self::function(function)?;
        fail_if(config > 3, INVALID_VALUE)
    }

    /// Width of the banks of shared memory: without effect.
    fn cuFuncSetSharedMemConfig(function: Handle, config: u32) {
        self::function(function)?;
        fail_if(config > 2, INVALID_VALUE)
    }

    /// Module of a function.
    fn cuFuncGetModule(module: Out<Handle>, function: Handle) {
        module.put(self::function(function)?.module)
    }

    /// Name of a function, valid while it is loaded.
    fn cuFuncGetName(name: Out<*const c_char>, function: Handle) {
        since(12_030)?;
        name.put(self::function(function)?.entry().name.as_ptr())
    }

    /// Number of parameters of a function.
    fn cuFuncGetParamCount(function: Handle, count: Out<usize>) {
        since(12_040)?;
        count.put(self::function(function)?.entry().params.len())
    }

    /// Offset and size of a parameter.
    fn cuFuncGetParamInfo(
        function: Handle, index: usize, offset: Out<usize>, size: Out<usize>,
    ) {
        since(12_040)?;
        let found = self::function(function)?;
        let param = found.entry().params.get(index).ok_or(INVALID_VALUE)?;
        offset.put(param.offset)?;
        size.offer(param.size);
        Ok(())
    }

    /// Whether a function is loaded.
    fn cuFuncIsLoaded(loaded: Out<u32>, function: Handle) {
        since(12_040)?;
        loaded.put(self::function(function)?.is_loaded().into())
    }

    /// Loads a function.
    fn cuFuncLoad(function: Handle) {
        since(12_040)?;
        self::function(function)?.load();
        Ok(())
    }
}
