//! gtrace-nvml
