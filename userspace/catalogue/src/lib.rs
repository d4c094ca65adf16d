//! gtrace-catalogue
