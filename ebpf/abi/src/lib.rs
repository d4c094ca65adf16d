//! gtrace-abi
