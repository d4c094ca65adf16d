//! What crosses the kernel boundary: ring records, map keys and values, and the histogram's
//! bucket arithmetic. `no_std`, plain `repr(C)` data, sizes asserted, so that a probe and a
//! daemon of different layouts do not compile.
#![no_std]

mod config;
mod counter;
mod hist;
mod record;

pub use config::{
    Config, Decode, DeviceFilter, MAX_DEVICES, Offsets, PLACES, Place, STATUS_BITS, UNKNOWN,
    UVM_CALLS, uvm_slot,
};
pub use counter::Counter;
pub use hist::{
    BUCKETS, CallHist, CallKey, CallStart, FailureKey, MAX_NS, MIN_NS, OpenFile, bucket_of,
    bucket_range, midpoint,
};
pub use record::{
    AerRecord, CallRecord, ExitRecord, HEADER_LEN, Header, LOG_TEXT_MAX, LogRecord, ModuleChange,
    ModuleRecord, NO_STATUS, OomRecord, RecordType, XidRecord,
};
