//! gtrace-bench
