//! What can go wrong.

use std::io;
use std::net::IpAddr;

use thiserror::Error;

/// Why RDMA cannot be used, or a queue pair cannot go on. Each says what helps.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum VerbsError {
    /// The library is not there, or is none.
    #[error(
        "no RDMA: libibverbs.so.1 not found ({0}); install rdma-core (Debian: libibverbs1 and \
         ibverbs-providers)"
    )]
    NoLibrary(String),
    /// It is there and lacks a function that every release since 2010 has.
    #[error("no RDMA: libibverbs.so.1 has no {0}; install a newer rdma-core")]
    OldLibrary(&'static str),
    /// The kernel has no RDMA device.
    #[error(
        "no RDMA: this host has no RDMA device (/sys/class/infiniband is empty); is the card's \
         driver loaded?"
    )]
    NoDevice,
    /// No device has this address.
    #[error(
        "no RDMA device has the address {0} of the connection among its GIDs; connect by the address \
         of the interface that the RDMA device belongs to"
    )]
    NoGid(IpAddr),
    /// The library does not know a device that the kernel has.
    #[error(
        "libibverbs.so.1 does not know the RDMA device {0}: its provider is missing; install \
         ibverbs-providers"
    )]
    NoProvider(String),
    /// The kernel has the device, and no file for programs to use it by.
    #[error(
        "programs cannot use the RDMA device {0}: it is being taken away, or the module ib_uverbs is \
         not loaded"
    )]
    NoFile(String),
    /// It was there when it was opened.
    #[error("the RDMA device {0} is being taken away")]
    Gone(String),
    /// A device cannot be opened.
    #[error("cannot open the RDMA device {device}: {source}{}", open_remedy(.source))]
    Open {
        /// Its name.
        device: String,
        /// The system's error.
        source: io::Error,
    },
    /// A port that carries nothing.
    #[error(
        "port {port} of the RDMA device {device} is down; is its cable in and its interface up?"
    )]
    PortDown {
        /// The device's name.
        device: String,
        /// Number of the port.
        port: u8,
    },
    /// Memory cannot be registered.
    #[error("cannot register {bytes} bytes of memory for RDMA: {source}{limit}")]
    Register {
        /// How many.
        bytes: usize,
        /// The limit of what this process may lock, and the remedy, in words; empty where there is none.
        limit: String,
        /// The system's error.
        source: io::Error,
    },
    /// Another call failed.
    #[error("{call}: {source}")]
    Call {
        /// Which.
        call: &'static str,
        /// The system's error.
        source: io::Error,
    },
    /// A work request failed, and with it the queue pair.
    #[error("an RDMA work request failed: {0}")]
    Work(&'static str),
    /// A piece that does not lie in its memory region.
    #[error("{len} bytes at {at} do not lie in a memory region of {region} bytes")]
    Outside {
        /// Offset.
        at: usize,
        /// Length.
        len: usize,
        /// Bytes of the region.
        region: usize,
    },
}

fn open_remedy(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::PermissionDenied => {
            "; this user may not use /dev/infiniband: add it to the group that the device files \
             belong to"
        }
        io::ErrorKind::NotFound => "; /dev/infiniband has no file for it: is ib_uverbs loaded?",
        _ => "",
    }
}

impl VerbsError {
    /// The system's last error, at that call.
    pub(crate) fn last(call: &'static str) -> Self {
        Self::Call {
            call,
            source: io::Error::last_os_error(),
        }
    }

    /// As [`Self::returned`], unless the call succeeded.
    pub(crate) fn check(call: &'static str, errno: i32) -> Result<(), Self> {
        match errno {
            0 => Ok(()),
            errno => Err(Self::returned(call, errno)),
        }
    }

    /// From a return value that is an errno, as most of the library's are.
    pub(crate) fn returned(call: &'static str, errno: i32) -> Self {
        Self::Call {
            call,
            source: match errno {
                -1 => io::Error::last_os_error(),
                errno => io::Error::from_raw_os_error(errno.saturating_abs()),
            },
        }
    }
}
