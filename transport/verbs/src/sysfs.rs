//! RDMA devices and their GIDs, as the kernel lists them in /sys/class/infiniband (since Linux 4.5
//! with the kind of each GID).

use std::fs::{self, File};
use std::net::{IpAddr, Ipv6Addr};
use std::path::Path;

use crate::error::VerbsError;

const CLASS: &str = "/sys/class/infiniband";
/// What programs can use devices by: a folder each, with the device's name in it.
const FILES: &str = "/sys/class/infiniband_verbs";
/// The file with the name.
const NAME: &str = "ibdev";

/// What packets with a GID look like.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum GidKind {
    /// UDP over IP: RoCE v2.
    RoceV2,
    /// Ethernet frames, or InfiniBand.
    Link,
}

/// An address of a port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gid {
    /// Name of the device.
    pub device: String,
    /// Number of the port, from 1.
    pub port: u8,
    /// Place in the port's table.
    pub index: u8,
    /// The address; an IPv4 address as `::ffff:a.b.c.d`.
    pub gid: [u8; 16],
    /// What packets look like.
    pub kind: GidKind,
}

/// Names of the RDMA devices of this host.
pub fn devices() -> Vec<String> {
    names(Path::new(CLASS))
}

/// What the kernel shows of a device for as long as programs can open it.
///
/// A device that is taken away may notify those that have it open, and end what they do with it; or, where
/// its driver cannot, as SoftRoCE's, wait until all of them have closed it and notify nobody. In either
/// case this is gone first.
pub(crate) struct Shown(File);

impl Shown {
    /// Of the device of that name; none if programs cannot open it.
    pub(crate) fn of(device: &str) -> Option<Self> {
        Self::below(Path::new(FILES), device)
    }

    fn below(class: &Path, device: &str) -> Option<Self> {
        names(class).into_iter().find_map(|name| {
            let folder = class.join(name);
            let found = fs::read_to_string(folder.join(NAME)).ok()?;
            (found.trim() == device).then(|| File::open(folder).ok().map(Self))?
        })
    }

    /// Whether it is there; a device that came later under the same name is another one.
    pub(crate) fn is_there(&self) -> bool {
        let found = rustix::fs::statat(&self.0, NAME, rustix::fs::AtFlags::empty());
        !matches!(found, Err(rustix::io::Errno::NOENT))
    }
}

/// All GIDs of this host that are set.
pub fn gids() -> Vec<Gid> {
    gids_below(Path::new(CLASS))
}

/// The GID that is the address `ip` of this host; RoCE v2 rather than others.
///
/// # Errors
///
/// [`VerbsError::NoDevice`], [`VerbsError::NoGid`].
pub fn gid_of(ip: IpAddr) -> Result<Gid, VerbsError> {
    gid_below(Path::new(CLASS), ip)
}

fn gid_below(class: &Path, ip: IpAddr) -> Result<Gid, VerbsError> {
    if names(class).is_empty() {
        return Err(VerbsError::NoDevice);
    }
    let wanted = match ip {
        IpAddr::V4(ip) => ip.to_ipv6_mapped(),
        IpAddr::V6(ip) => ip,
    };
    gids_below(class)
        .into_iter()
        .filter(|gid| gid.gid == wanted.octets())
        .min_by_key(|gid| gid.kind)
        .ok_or(VerbsError::NoGid(ip.to_canonical()))
}

/// Names in a folder, sorted; none if there is no such folder.
fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names: Vec<_> = entries
        .filter_map(|entry| entry.file_name().into_string().ok())
        .collect();
    names.sort();
    names
}

fn gids_below(class: &Path) -> Vec<Gid> {
    let mut found = Vec::new();
    for device in names(class) {
        let ports = class.join(&device).join("ports");
        for port in names(&ports) {
            let Ok(number) = port.parse() else { continue };
            let folder = ports.join(&port);
            for index in names(&folder.join("gids")) {
                let read = |path: &str| fs::read_to_string(folder.join(path).join(&index));
                let (Ok(at), Ok(text)) = (index.parse(), read("gids")) else {
                    continue;
                };
                let Ok(gid) = text.trim().parse::<Ipv6Addr>() else {
                    continue;
                };
                if gid.is_unspecified() {
                    continue;
                }
                // Reading the kind of an entry that is not set fails.
                let kind = match read("gid_attrs/types") {
                    Ok(kind) if kind.trim() == "RoCE v2" => GidKind::RoceV2,
                    Ok(_) => GidKind::Link,
                    Err(_) => continue,
                };
                found.push(Gid {
                    device: device.clone(),
                    port: number,
                    index: at,
                    gid: gid.octets(),
                    kind,
                });
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn class(entries: &[(&str, &str, &str, &str)]) -> tempfile::TempDir {
        let class = tempfile::tempdir().unwrap();
        for (device, index, gid, kind) in entries {
            let port = class.path().join(device).join("ports/1");
            fs::create_dir_all(port.join("gids")).unwrap();
            fs::create_dir_all(port.join("gid_attrs/types")).unwrap();
            fs::write(port.join("gids").join(index), format!("{gid}\n")).unwrap();
            fs::write(
                port.join("gid_attrs/types").join(index),
                format!("{kind}\n"),
            )
            .unwrap();
        }
        class
    }

    #[test]
    fn the_gid_of_an_address_is_found_and_roce_v2_is_preferred() {
        let v4 = "0000:0000:0000:0000:0000:ffff:0a00:020f";
        let class = class(&[
            (
                "mlx5_0",
                "0",
                "fe80:0000:0000:0000:0000:0000:0000:0001",
                "RoCE v2",
            ),
            (
                "mlx5_0",
                "1",
                "0000:0000:0000:0000:0000:0000:0000:0000",
                "RoCE v2",
            ),
            ("mlx5_1", "2", v4, "IB/RoCE v1"),
            ("mlx5_1", "3", v4, "RoCE v2"),
        ]);
        let found = gid_below(class.path(), "10.0.2.15".parse().unwrap()).unwrap();
        assert_eq!(
            (found.device.as_str(), found.port, found.index),
            ("mlx5_1", 1, 3)
        );
        assert_eq!(found.kind, GidKind::RoceV2);
        let mapped = gid_below(class.path(), "::ffff:10.0.2.15".parse().unwrap()).unwrap();
        assert_eq!(mapped, found);
        let found = gid_below(class.path(), "fe80::1".parse().unwrap()).unwrap();
        assert_eq!((found.device.as_str(), found.index), ("mlx5_0", 0));
        assert_eq!(gids_below(class.path()).len(), 3);
    }

    #[test]
    fn a_device_that_is_taken_away_is_not_there() {
        let class = tempfile::tempdir().unwrap();
        fs::write(class.path().join("abi_version"), "6\n").unwrap();
        let make = |name: &str, device: &str| {
            let folder = class.path().join(name);
            fs::create_dir(&folder).unwrap();
            fs::write(folder.join("ibdev"), format!("{device}\n")).unwrap();
        };
        make("uverbs0", "mlx5_0");
        make("uverbs1", "rxe0");
        let shown = Shown::below(class.path(), "rxe0").unwrap();
        assert!(shown.is_there());
        assert!(Shown::below(class.path(), "rxe").is_none());
        fs::remove_dir_all(class.path().join("uverbs1")).unwrap();
        assert!(!shown.is_there());
        make("uverbs1", "rxe0");
        assert!(!shown.is_there());
        assert!(Shown::below(class.path(), "rxe0").unwrap().is_there());
    }

    #[test]
    fn what_is_missing_is_named() {
        let error = gid_below(Path::new("/no/such/folder"), "10.0.0.1".parse().unwrap());
        assert!(matches!(error, Err(VerbsError::NoDevice)));
        let class = class(&[("rxe0", "0", "fe80::1", "RoCE v2")]);
        let error = gid_below(class.path(), "10.0.0.1".parse().unwrap()).unwrap_err();
        assert!(
            error.to_string().contains("the address 10.0.0.1"),
            "{error}"
        );
    }
}
