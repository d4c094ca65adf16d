//! Modules, libraries, their functions and kernels, and the linker. Images travel by hand, as
//! their length stands in their own headers and the server keeps them by content.

use crate::signatures::DRIVER as SIGNATURES;

crate::describe! {
    /// Modules and their functions.
    pub const MODULE: SIGNATURES;
    // Reads the file and loads what is in it.
    local cuModuleLoad;
    waiting(by_hand, loads_code) cuModuleLoadData(module: mint(Module), image: special);
    // Both travel as cuModuleLoadData, with the options in its payload.
    local cuModuleLoadDataEx;
    local cuModuleLoadFatBinary;
    one_way(client, idle) cuModuleUnload(hmod: destroy(Module));
    local cuModuleGetLoadingMode(mode: out);
    // The layout of the parameters comes back with the function.
    waiting(by_hand) cuModuleGetFunction(
        hfunc: mint(Function), hmod: handle(Module), name: in_string,
    );
    waiting cuModuleGetFunctionCount(count: out, mod_: handle(Module));
    waiting cuModuleEnumerateFunctions(
        functions: out_handles(Function)[numFunctions], numFunctions: value,
        mod_: handle(Module),
    );
    waiting(client) cuModuleGetGlobal_v2(
        dptr: out?, bytes: out?, hmod: handle(Module), name: in_string,
    );

    local cuFuncGetAttribute(pi: out, attrib: value, hfunc: handle(Function));
    waiting(client, creates) cuFuncSetAttribute(
        hfunc: handle(Function), attrib: value, value: value,
    );
    one_way cuFuncSetCacheConfig(hfunc: handle(Function), config: value);
    one_way cuFuncSetSharedMemConfig(hfunc: handle(Function), config: value);
    waiting cuFuncGetModule(hmod: known(Module), hfunc: handle(Function));
    local cuFuncGetName;
    local cuFuncGetParamCount(func: handle(Function), paramCount: out);
    local cuFuncGetParamInfo(
        func: handle(Function), paramIndex: value, paramOffset: out, paramSize: out?,
    );
    waiting cuFuncIsLoaded(state: out, function: handle(Function));
    waiting cuFuncLoad(function: handle(Function));
}

crate::describe! {
    /// Libraries and their kernels.
    pub const LIBRARY: SIGNATURES;
    waiting(by_hand, loads_code) cuLibraryLoadData(
        library: mint(Library), code: special, jitOptions: special?, jitOptionsValues: special?,
        numJitOptions: value, libraryOptions: special?, libraryOptionValues: special?,
        numLibraryOptions: value,
    );
    // Reads the file and loads what is in it.
    local cuLibraryLoadFromFile;
    one_way(client, idle) cuLibraryUnload(library: destroy(Library));
    waiting(by_hand) cuLibraryGetKernel(
        pKernel: mint(Kernel), library: handle(Library), name: in_string,
    );
    waiting cuLibraryGetModule(pMod: known(Module), library: handle(Library));
    waiting(client) cuLibraryGetGlobal(
        dptr: out?, bytes: out?, library: handle(Library), name: in_string,
    );
    waiting(client) cuLibraryGetManaged(
        dptr: out?, bytes: out?, library: handle(Library), name: in_string,
    );
    // Its table of the host's functions, without which there are none, is not supported.
    local cuLibraryGetUnifiedFunction;
    waiting cuLibraryGetKernelCount(count: out, lib: handle(Library));
    waiting cuLibraryEnumerateKernels(
        kernels: out_handles(Kernel)[numKernels], numKernels: value, lib: handle(Library),
    );

    // The function of the current context; the client remembers it.
    waiting(client) cuKernelGetFunction(pFunc: mint(Function), kernel: handle(Kernel));
    waiting cuKernelGetLibrary(pLib: known(Library), kernel: handle(Kernel));
    local cuKernelGetAttribute(pi: out, attrib: value, kernel: handle(Kernel), dev: value);
    waiting(client, creates) cuKernelSetAttribute(
        attrib: value, val: value, kernel: handle(Kernel), dev: value,
    );
    one_way cuKernelSetCacheConfig(kernel: handle(Kernel), config: value, dev: value);
    local cuKernelGetName;
    local cuKernelGetParamCount(kernel: handle(Kernel), paramCount: out);
    local cuKernelGetParamInfo(
        kernel: handle(Kernel), paramIndex: value, paramOffset: out, paramSize: out?,
    );
}

crate::describe! {
    /// The linker. Its options and its result are memory of the client.
    pub const LINK: SIGNATURES;
    waiting(by_hand) cuLinkCreate_v2(
        numOptions: value, options: special?, optionValues: special?, stateOut: mint(Link),
    );
    waiting(by_hand) cuLinkAddData_v2(
        state: handle(Link), type_: value, data: special, size: value, name: special?,
        numOptions: value, options: special?, optionValues: special?,
    );
    // Reads the file and adds what is in it.
    local cuLinkAddFile_v2;
    waiting(by_hand) cuLinkComplete(state: handle(Link), cubinOut: special, sizeOut: special?);
    waiting(by_hand) cuLinkDestroy(state: destroy(Link));
}
