//! What NVML has that the driver has not: counts that say how much would have been there,
//! structures that say their own size, numbers of devices that stay the same.

use core::ffi::{CStr, c_char, c_int, c_uint};
use std::ptr::null_mut;

use gtrace_cuda::types::nvml::*;

use crate::client::nvml as client;
use crate::entry::with_server;

const REAL: usize = 0x8800;

unsafe extern "C" fn by_index(index: c_uint, device: *mut nvmlDevice_t) -> nvmlReturn_t {
    match index {
        0 => {
            unsafe { device.write(REAL as nvmlDevice_t) };
            NVML_SUCCESS
        }
        _ => NVML_ERROR_INVALID_ARGUMENT,
    }
}

fn device() -> nvmlDevice_t {
    with_server(|exec| exec.nvml.nvmlDeviceGetHandleByIndex_v2 = Some(by_index));
    let mut device = null_mut();
    assert_eq!(
        unsafe { client::nvmlDeviceGetHandleByIndex_v2(0, &mut device) },
        0
    );
    device
}

#[test]
fn a_device_has_one_number_however_often_it_is_asked_for() {
    assert_eq!(device(), device());
    assert_ne!(device() as usize, REAL);
    let mut none = null_mut();
    let status = unsafe { client::nvmlDeviceGetHandleByIndex_v2(1, &mut none) };
    assert_eq!(status, NVML_ERROR_INVALID_ARGUMENT);
    assert!(none.is_null());
}

#[test]
fn a_wrong_device_is_an_invalid_argument() {
    let mut index = 0;
    let status = unsafe { client::nvmlDeviceGetIndex(REAL as nvmlDevice_t, &mut index) };
    assert_eq!(status, NVML_ERROR_INVALID_ARGUMENT);
}

#[test]
fn too_little_room_is_answered_with_how_much_is_needed() {
    unsafe extern "C" fn processes(
        device: nvmlDevice_t,
        count: *mut c_uint,
        infos: *mut nvmlProcessInfo_t,
    ) -> nvmlReturn_t {
        assert_eq!(device as usize, REAL);
        let room = unsafe { count.replace(2) };
        if room < 2 || infos.is_null() {
            return NVML_ERROR_INSUFFICIENT_SIZE;
        }
        unsafe { (*infos.add(1)).pid = 4711 };
        NVML_SUCCESS
    }
    let device = device();
    with_server(|exec| exec.nvml.nvmlDeviceGetComputeRunningProcesses_v3 = Some(processes));
    let get = |count: &mut c_uint, infos| unsafe {
        client::nvmlDeviceGetComputeRunningProcesses_v3(device, count, infos)
    };
    let mut count = 0;
    assert_eq!(get(&mut count, null_mut()), NVML_ERROR_INSUFFICIENT_SIZE);
    assert_eq!(count, 2);
    let mut infos: [nvmlProcessInfo_t; 3] = unsafe { std::mem::zeroed() };
    infos[2].pid = 1;
    count = 3;
    assert_eq!(get(&mut count, infos.as_mut_ptr()), NVML_SUCCESS);
    assert_eq!((count, infos[1].pid, infos[2].pid), (2, 4711, 1));
}

#[test]
fn a_unit_has_a_number_and_its_devices_have_theirs() {
    unsafe extern "C" fn unit(index: c_uint, unit: *mut nvmlUnit_t) -> nvmlReturn_t {
        assert_eq!(index, 0);
        unsafe { unit.write(0x7700 as nvmlUnit_t) };
        NVML_SUCCESS
    }
    unsafe extern "C" fn devices(
        unit: nvmlUnit_t,
        count: *mut c_uint,
        devices: *mut nvmlDevice_t,
    ) -> nvmlReturn_t {
        assert_eq!(unit as usize, 0x7700);
        let room = unsafe { count.replace(1) };
        if room < 1 || devices.is_null() {
            return NVML_ERROR_INSUFFICIENT_SIZE;
        }
        unsafe { devices.write(REAL as nvmlDevice_t) };
        NVML_SUCCESS
    }
    let device = device();
    with_server(|exec| {
        exec.nvml.nvmlUnitGetHandleByIndex = Some(unit);
        exec.nvml.nvmlUnitGetDevices = Some(devices);
    });
    let (mut unit, mut count) = (null_mut(), 0);
    let mut list = [null_mut(); 2];
    let to = list.as_mut_ptr();
    unsafe {
        assert_eq!(client::nvmlUnitGetHandleByIndex(0, &mut unit), NVML_SUCCESS);
        let asked = client::nvmlUnitGetDevices(unit, &mut count, null_mut());
        assert_eq!((asked, count), (NVML_ERROR_INSUFFICIENT_SIZE, 1));
        count = 2;
        assert_eq!(
            client::nvmlUnitGetDevices(unit, &mut count, to),
            NVML_SUCCESS
        );
        // A device is no unit.
        let wrong = client::nvmlUnitGetDevices(device.cast(), &mut count, to);
        assert_eq!(wrong, NVML_ERROR_INVALID_ARGUMENT);
    }
    assert_eq!((count, list), (1, [device, null_mut()]));
}

#[test]
fn a_text_says_how_long_it_is() {
    unsafe extern "C" fn name(
        id: nvmlVgpuTypeId_t,
        name: *mut c_char,
        size: *mut c_uint,
    ) -> nvmlReturn_t {
        assert_eq!(id, 7);
        let room = unsafe { size.replace(6) };
        if room < 6 || name.is_null() {
            return NVML_ERROR_INSUFFICIENT_SIZE;
        }
        unsafe { name.copy_from_nonoverlapping(c"L4-1Q".as_ptr(), 6) };
        NVML_SUCCESS
    }
    with_server(|exec| exec.nvml.nvmlVgpuTypeGetName = Some(name));
    let get = |size: &mut c_uint, name| unsafe { client::nvmlVgpuTypeGetName(7, name, size) };
    let mut size = 3;
    let mut room = [1 as c_char; 8];
    let small = get(&mut size, room.as_mut_ptr());
    assert_eq!(
        (small, size, room),
        (NVML_ERROR_INSUFFICIENT_SIZE, 6, [1; 8])
    );
    size = 8;
    assert_eq!(get(&mut size, room.as_mut_ptr()), NVML_SUCCESS);
    assert_eq!((size, room[6]), (6, 1));
    assert_eq!(unsafe { CStr::from_ptr(room.as_ptr()) }, c"L4-1Q");
}

#[test]
fn a_structure_travels_in_the_size_that_the_program_knows() {
    unsafe extern "C" fn memory(_: nvmlDevice_t, memory: *mut nvmlMemory_v2_t) -> nvmlReturn_t {
        unsafe { (*memory).used = 5 };
        NVML_SUCCESS
    }
    let device = device();
    with_server(|exec| exec.nvml.nvmlDeviceGetMemoryInfo_v2 = Some(memory));
    let mut memory: nvmlMemory_v2_t = unsafe { std::mem::zeroed() };
    memory.version = size_of::<nvmlMemory_v2_t>() as u32 | 2 << 24;
    let status = unsafe { client::nvmlDeviceGetMemoryInfo_v2(device, &mut memory) };
    assert_eq!((status, memory.used), (NVML_SUCCESS, 5));
    memory.version = 2 << 24;
    let status = unsafe { client::nvmlDeviceGetMemoryInfo_v2(device, &mut memory) };
    assert_eq!(status, NVML_ERROR_ARGUMENT_VERSION_MISMATCH);
}

#[test]
fn an_array_that_is_asked_and_answered_in_one_goes_both_ways() {
    unsafe extern "C" fn fields(
        _: nvmlDevice_t,
        count: c_int,
        values: *mut nvmlFieldValue_t,
    ) -> nvmlReturn_t {
        for at in 0..usize::try_from(count).unwrap() {
            let value = unsafe { &mut *values.add(at) };
            value.timestamp = i64::from(value.fieldId) * 2;
        }
        NVML_SUCCESS
    }
    let device = device();
    with_server(|exec| exec.nvml.nvmlDeviceGetFieldValues = Some(fields));
    let mut values: [nvmlFieldValue_t; 2] = unsafe { std::mem::zeroed() };
    (values[0].fieldId, values[1].fieldId) = (3, 4);
    let to = values.as_mut_ptr();
    assert_eq!(
        unsafe { client::nvmlDeviceGetFieldValues(device, 2, to) },
        0
    );
    assert_eq!((values[0].timestamp, values[1].timestamp), (6, 8));
}

#[test]
fn a_length_in_bytes_is_one() {
    unsafe extern "C" fn states(
        _: nvmlDevice_t,
        states: *mut nvmlPstates_t,
        size: c_uint,
    ) -> nvmlReturn_t {
        assert_eq!(size, 8);
        unsafe { states.add(1).write(15) };
        NVML_SUCCESS
    }
    let device = device();
    with_server(|exec| exec.nvml.nvmlDeviceGetSupportedPerformanceStates = Some(states));
    let mut found = [7u32; 3];
    let to = found.as_mut_ptr();
    let status = unsafe { client::nvmlDeviceGetSupportedPerformanceStates(device, to, 8) };
    assert_eq!((status, found), (NVML_SUCCESS, [0, 15, 7]));
}

#[test]
fn a_string_whose_room_has_a_fixed_size_fits_it() {
    unsafe extern "C" fn version(_: nvmlDevice_t, version: *mut c_char) -> nvmlReturn_t {
        unsafe { version.copy_from_nonoverlapping(c"580.1".as_ptr(), 6) };
        NVML_SUCCESS
    }
    let device = device();
    with_server(|exec| exec.nvml.nvmlDeviceGetGspFirmwareVersion = Some(version));
    let mut room = [1 as c_char; 64];
    let to = room.as_mut_ptr();
    assert_eq!(
        unsafe { client::nvmlDeviceGetGspFirmwareVersion(device, to) },
        0
    );
    assert_eq!(unsafe { CStr::from_ptr(room.as_ptr()) }, c"580.1");
}
