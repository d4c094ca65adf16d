//! What crosses the kernel boundary: ring records, map keys and values, and the histogram's
//! bucket arithmetic. `no_std`, plain `repr(C)` data, sizes asserted, so that a probe and a
//! daemon of different layouts do not compile.
#![no_std]

mod config;
mod counter;
mod hist;
mod record;

pub use config::{Config, DeviceFilter, MAX_DEVICES, Offsets};
pub use counter::Counter;
pub use hist::{BUCKETS, CallHist, CallKey, MAX_NS, MIN_NS, bucket_of, bucket_range, midpoint};
pub use record::{
    AerRecord, CallRecord, ExitRecord, HEADER_LEN, Header, LOG_TEXT_MAX, LogRecord, ModuleRecord,
    OomRecord, RecordType,
};
