#![doc = include_str!("../README.md")]
#![recursion_limit = "1024"]

pub mod abi;
mod advice;
pub mod api;
mod arena;
mod array;
mod attributes;
mod calls;
mod cluster;
mod command;
mod config;
mod context;
mod cubin;
mod device;
pub mod error;
mod event;
mod exported;
mod faults;
mod graph;
mod health;
mod image;
mod ipc;
mod jit;
mod lane;
mod launch;
mod memory;
mod mig;
mod module;
pub mod nvml;
mod occupancy;
mod pages;
mod pool;
mod print;
mod program;
mod progress;
pub mod ptx;
mod reference;
mod registry;
mod reported;
mod startup;
mod state;

mod stream;
mod tables;
mod texture;
pub mod types;
mod virtual_memory;
