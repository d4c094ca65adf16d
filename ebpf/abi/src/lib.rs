//! What crosses the kernel boundary: ring records, map keys and values, and the histogram's
//! bucket arithmetic. `no_std`, plain `repr(C)` data, sizes asserted, so that a probe and a
//! daemon of different layouts do not compile.
#![no_std]

mod api;
mod config;
mod counter;
mod hist;
mod record;

pub use api::{
    API_FUNCTIONS, API_LIBRARIES, API_TEXT, API_WORDS, ApiCall, ApiConfig, ApiFailureKey,
    ApiFunction, ApiHist, ApiKey, ApiKind, ApiRecord, ApiStart, ApiStartKey, ApiWords, CALIBRATION,
    Ledger, Memory, MemoryKey, Space, why,
};
pub use config::{
    Config, Decode, DeviceFilter, MAX_DEVICES, Offsets, PLACES, Place, RasOffsets, STATUS_BITS,
    UNKNOWN, UVM_CALLS, makes_object, object_word, uvm_slot,
};
pub use counter::{ApiCounter, Counter};
pub use hist::{
    BUCKETS, CMD_CLOSE, CMD_MMAP, CMD_OPEN, CODE_UNREADABLE, CallHist, CallKey, CallStart,
    FailureKey, MAX_NS, MIN_NS, OpenFile, bucket_at_rank, bucket_of, bucket_range, midpoint,
};
#[cfg(not(target_arch = "bpf"))]
pub use hist::{quantile, rank_of};
pub use record::{
    AerRecord, CallRecord, ExitRecord, FirmwareErrorRecord, HEADER_LEN, Header, LOG_TEXT_MAX,
    LogRecord, MachineCheckRecord, MemoryRecord, ModuleChange, ModuleRecord, NO_STATUS, OomRecord,
    RecordType, XidRecord,
};
