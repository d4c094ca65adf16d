//! What this host has for RDMA, for `gtrace doctor`.

use std::fmt;
use std::net::Ipv6Addr;

use gtrace_verbs::{Context, VerbsError, devices, gids};

/// An RDMA device of this host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RdmaDevice {
    /// Its name, as in /sys/class/infiniband.
    pub name: String,
    /// Addresses at which connections can have it.
    pub addresses: Vec<String>,
    /// Whether this process can use it, or what is in the way, with the remedy.
    pub state: Result<(), String>,
}

/// The RDMA devices of this host.
///
/// # Errors
///
/// [`VerbsError::NoLibrary`], [`VerbsError::OldLibrary`], [`VerbsError::NoDevice`].
pub fn rdma_devices() -> Result<Vec<RdmaDevice>, VerbsError> {
    gtrace_verbs::available()?;
    let names = devices();
    if names.is_empty() {
        return Err(VerbsError::NoDevice);
    }
    let gids = gids();
    let found = names.into_iter().map(|name| {
        let of_it: Vec<_> = gids.iter().filter(|gid| gid.device == name).collect();
        let mut addresses: Vec<String> = of_it
            .iter()
            .map(|gid| Ipv6Addr::from(gid.gid).to_canonical().to_string())
            .collect();
        addresses.sort();
        addresses.dedup();
        let state = Context::open(&name).and_then(|context| {
            let mut ports: Vec<u8> = of_it.iter().map(|gid| gid.port).collect();
            ports.dedup();
            ports
                .iter()
                .try_for_each(|port| context.port(*port).map(|_| ()))
        });
        RdmaDevice {
            name,
            addresses,
            state: state.map_err(|error| error.to_string()),
        }
    });
    Ok(found.collect())
}

/// Whether the error says that there is no RDMA here at all, rather than that it does not work.
pub fn has_no_rdma(error: &VerbsError) -> bool {
    matches!(error, VerbsError::NoDevice) || devices().is_empty()
}

impl fmt::Display for RdmaDevice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.name)?;
        if !self.addresses.is_empty() {
            write!(f, " at {}", self.addresses.join(", "))?;
        }
        match &self.state {
            Ok(()) => Ok(()),
            Err(reason) => write!(f, ": {reason}"),
        }
    }
}
