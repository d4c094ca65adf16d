//! gtrace-decoder
