//! Libraries and kernels, which belong to no context.

use std::ffi::{c_char, c_int, c_uint, c_void};

use crate::abi::{Answer, In, Name, Out, api};
use crate::attributes::since;
use crate::context::{bound, current};
use crate::error::{INVALID_VALUE, NOT_FOUND, fail_if};
use crate::image::{self, Part};
use crate::jit::Logs;
use crate::memory;
use crate::module::{Function, Kernel, Library};
use crate::program::Linked;
use crate::state::state;
use crate::types::{Device, DevicePtr, Handle};

fn register(out: Out<Handle>, modules: Vec<Part>, logs: &Logs) -> Answer {
    fail_if(out.is_null(), INVALID_VALUE)?;
    out.put(Library::load(Linked::build(modules, logs)?).handle)
}

fn variable(address: Out<DevicePtr>, size: Out<usize>, library: Handle, name: Name) -> Answer {
    let module = Library::of(library)?.module(current()?.as_ref())?;
    let (at, length) = module.global(&name.text()?)?;
    address.offer(at);
    size.offer(length as usize);
    Ok(())
}

api! { TABLE:
    /// Loads an image for all contexts.
    fn cuLibraryLoadData(
        library: Out<Handle>, image: *const c_void,
        jit_options: In<u32>, jit_values: Out<u64>, jit_count: c_uint,
        options: In<u32>, values: Out<u64>, count: c_uint,
    ) {
        let _ = (options, values, count);
        state()?;
        fail_if(image.is_null(), INVALID_VALUE)?;
        let logs = Logs::read(jit_count, jit_options, jit_values);
        register(library, image::load(image as u64)?, &logs)
    }

    /// Loads an image from a file for all contexts.
    fn cuLibraryLoadFromFile(
        library: Out<Handle>, path: Name,
        jit_options: In<u32>, jit_values: Out<u64>, jit_count: c_uint,
        options: In<u32>, values: Out<u64>, count: c_uint,
    ) {
        let _ = (options, values, count);
        state()?;
        let logs = Logs::read(jit_count, jit_options, jit_values);
        register(library, image::parse(&super::module::read_file(path)?)?, &logs)
    }

    /// Unloads a library.
    fn cuLibraryUnload(library: Handle) {
        state()?;
        let library = Library::of(library)?;
        if let Ok(context) = bound() {
            context.drain();
        }
        library.unload();
        Ok(())
    }

    /// The kernel of a name.
    fn cuLibraryGetKernel(kernel: Out<Handle>, library: Handle, name: Name) {
        let (library, name) = (Library::of(library)?, name.text()?);
        let found = library.kernels.iter().find(|(other, _)| *other == name);
        kernel.put(found.ok_or(crate::error::NOT_FOUND)?.1)
    }

    /// A function that host and device share: none, as libraries here have no table of the host's.
    fn cuLibraryGetUnifiedFunction(function: Out<*mut c_void>, library: Handle, symbol: Name) {
        Library::of(library)?;
        symbol.text()?;
        fail_if(function.is_null(), INVALID_VALUE)?;
        Err(NOT_FOUND)
    }

    /// Number of kernels.
    fn cuLibraryGetKernelCount(count: Out<c_uint>, library: Handle) {
        since(12_040)?;
        count.put(Library::of(library)?.kernels.len() as c_uint)
    }

    /// The kernels of a library.
    fn cuLibraryEnumerateKernels(kernels: Out<Handle>, count: c_uint, library: Handle) {
        since(12_040)?;
        let library = Library::of(library)?;
        for (index, (_, kernel)) in library.kernels.iter().take(count as usize).enumerate() {
            kernels.put_at(index, *kernel)?;
        }
        Ok(())
    }

    /// The library's module in the current context.
    fn cuLibraryGetModule(module: Out<Handle>, library: Handle) {
        module.put(Library::of(library)?.module(current()?.as_ref())?.handle)
    }

    /// Address and size of a variable in the current context.
    fn cuLibraryGetGlobal(
        address: Out<DevicePtr>, size: Out<usize>, library: Handle, name: Name,
    ) {
        variable(address, size, library, name)
    }

    /// Address and size of a managed variable in the current context.
    fn cuLibraryGetManaged(
        address: Out<DevicePtr>, size: Out<usize>, library: Handle, name: Name,
    ) {
        let module = Library::of(library)?.module(current()?.as_ref())?;
        let (base, _) = module.global(&name.text()?)?;
        if !memory::find(base).is_some_and(|found| found.kind == memory::Kind::Managed) {
            return Err(NOT_FOUND);
        }
        variable(address, size, library, name)
    }

    /// The kernel's function in the current context.
    fn cuKernelGetFunction(function: Out<Handle>, kernel: Handle) {
        function.put(Kernel::of(kernel)?.function(current()?.as_ref())?)
    }

    /// The library of a kernel.
    fn cuKernelGetLibrary(library: Out<Handle>, kernel: Handle) {
        since(12_050)?;
        library.put(Kernel::of(kernel)?.library)
    }

    /// An attribute of a kernel on a device.
    fn cuKernelGetAttribute(value: Out<c_int>, attribute: u32, kernel: Handle, device: Device) {
        state()?.device(device)?;
        let kernel = Kernel::of(kernel)?;
        value.put(kernel.tuning.get(&kernel.entry, attribute)?)
    }

    /// Sets an attribute of a kernel. Devices are alike, so it holds for all.
    fn cuKernelSetAttribute(attribute: u32, value: c_int, kernel: Handle, device: Device) {
        state()?.device(device)?;
        let kernel = Kernel::of(kernel)?;
        kernel.tuning.set(&kernel.entry, attribute, value)
    }

    /// Preferred division of cache and shared memory: without effect.
    fn cuKernelSetCacheConfig(kernel: Handle, config: u32, device: Device) {
        state()?.device(device)?;
        Kernel::of(kernel)?;
        fail_if(config > 3, INVALID_VALUE)
    }

    /// Name of a kernel (or function), valid while it is loaded.
    fn cuKernelGetName(name: Out<*const c_char>, kernel: Handle) {
        since(12_030)?;
        match Kernel::of(kernel) {
            Ok(kernel) => name.put(kernel.name().as_ptr()),
            Err(_) => name.put(Function::of(bound()?.as_ref(), kernel)?.entry().name.as_ptr()),
        }
    }

    /// Number of parameters of a kernel.
    fn cuKernelGetParamCount(kernel: Handle, count: Out<usize>) {
        since(12_040)?;
        count.put(Kernel::of(kernel)?.entry.params.len())
    }

    /// Offset and size of a parameter of a kernel.
    fn cuKernelGetParamInfo(
        kernel: Handle, index: usize, offset: Out<usize>, size: Out<usize>,
    ) {
        since(12_040)?;
        // As driver 580.159.
        current()?;
        let kernel = Kernel::of(kernel)?;
        let param = kernel.entry.params.get(index).ok_or(INVALID_VALUE)?;
        offset.put(param.offset)?;
        size.offer(param.size);
        Ok(())
    }
}
