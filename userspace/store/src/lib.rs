//! gtrace-store
