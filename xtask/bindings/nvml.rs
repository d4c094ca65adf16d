// What NVML has had since the bindings were written, in their form: functions that the library of driver 580.178 exports,
// as nvml.h of CUDA 13.5 declares them. `cargo xtask codegen` reads this file; nothing compiles it.

pub struct nvmlHostname_v1_t {
    pub value: [::std::os::raw::c_char; 64usize],
}

pub struct nvmlPRMCounterInput_v1_t {
    pub localPort: ::std::os::raw::c_uint,
}

pub struct nvmlPRMCounterList_v1_t {
    pub numCounters: ::std::os::raw::c_uint,
    pub counters: *mut nvmlPRMCounter_v1_t,
}

pub struct nvmlPRMCounterValue_v1_t {
    pub status: nvmlReturn_t,
    pub outputType: nvmlValueType_t,
    pub outputValue: nvmlValue_t,
}

pub struct nvmlPRMCounter_v1_t {
    pub counterId: ::std::os::raw::c_uint,
    pub inData: nvmlPRMCounterInput_v1_t,
    pub counterValue: nvmlPRMCounterValue_v1_t,
}

pub struct nvmlRemappedRowsInfo_v2_t {
    pub corrActiveRemaps: ::std::os::raw::c_uint,
    pub corrInactiveRemaps: ::std::os::raw::c_uint,
    pub uncActiveRemaps: ::std::os::raw::c_uint,
    pub uncInactiveRemaps: ::std::os::raw::c_uint,
    pub bPending: ::std::os::raw::c_uint,
    pub bFailureOccurred: ::std::os::raw::c_uint,
}

pub struct nvmlUnrepairableMemoryStatus_v1_t {
    pub bUnrepairableMemory: ::std::os::raw::c_uint,
}

pub struct NvmlLib {
    pub nvmlDeviceGetHostname_v1: Result<
        unsafe extern "C" fn(device: nvmlDevice_t, hostname: *mut nvmlHostname_v1_t) -> nvmlReturn_t,
        ::libloading::Error,
    >,
    pub nvmlDeviceGetRemappedRows_v2: Result<
        unsafe extern "C" fn(
            device: nvmlDevice_t,
            info: *mut nvmlRemappedRowsInfo_v2_t,
        ) -> nvmlReturn_t,
        ::libloading::Error,
    >,
    pub nvmlDeviceGetUnrepairableMemoryFlag_v1: Result<
        unsafe extern "C" fn(
            device: nvmlDevice_t,
            unrepairableMemoryStatus: *mut nvmlUnrepairableMemoryStatus_v1_t,
        ) -> nvmlReturn_t,
        ::libloading::Error,
    >,
    pub nvmlDeviceReadPRMCounters_v1: Result<
        unsafe extern "C" fn(
            device: nvmlDevice_t,
            counterList: *mut nvmlPRMCounterList_v1_t,
        ) -> nvmlReturn_t,
        ::libloading::Error,
    >,
    pub nvmlDeviceSetHostname_v1: Result<
        unsafe extern "C" fn(device: nvmlDevice_t, hostname: *mut nvmlHostname_v1_t) -> nvmlReturn_t,
        ::libloading::Error,
    >,
}
