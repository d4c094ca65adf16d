//! tracefs: which tracepoints this kernel has, and where their fields are.

use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::{fs, io};

use rustix::mount::{MountFlags, mount};

/// Where tracefs may be mounted.
const MOUNTS: [&str; 2] = ["/sys/kernel/tracing", "/sys/kernel/debug/tracing"];

/// A mounted tracefs.
#[derive(Clone, Debug)]
pub struct Tracefs {
    root: PathBuf,
}

/// Why there is no tracefs.
#[derive(Debug, thiserror::Error)]
pub enum TracefsError {
    /// Nothing is mounted.
    #[error("tracefs is not mounted at /sys/kernel/tracing")]
    NotMounted,
    /// It is there and this process may not read it.
    #[error("tracefs at {0} is not readable by this user")]
    NotReadable(PathBuf),
}

impl TracefsError {
    /// How to get it.
    pub fn remedy(&self) -> &'static str {
        match self {
            Self::NotMounted => {
                "mount -t tracefs tracefs /sys/kernel/tracing (as root); `gtrace run` does so itself where it may"
            }
            Self::NotReadable(_) => "run as root",
        }
    }
}

impl Tracefs {
    /// Finds tracefs.
    pub fn find() -> Result<Self, TracefsError> {
        let mut denied = None;
        for mount in MOUNTS {
            let root = PathBuf::from(mount);
            match fs::metadata(root.join("events")) {
                Ok(_) => return Ok(Self { root }),
                Err(e) if e.kind() == std::io::ErrorKind::PermissionDenied => denied = Some(root),
                Err(_) => {}
            }
        }
        Err(denied.map_or(TracefsError::NotMounted, TracefsError::NotReadable))
    }

    /// Mounts tracefs at /sys/kernel/tracing if it is mounted nowhere, as systemd and `mount -a` do where they run.
    /// Returns whether it did. A process without CAP_SYS_ADMIN may not, nor one that a container confines.
    pub fn mount_if_missing() -> io::Result<bool> {
        if !matches!(Self::find(), Err(TracefsError::NotMounted)) {
            return Ok(false);
        }
        mount_at(Path::new(MOUNTS[0]))?;
        Ok(true)
    }

    /// Where it is mounted.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Whether the kernel has the tracepoint `category:name`.
    pub fn has(&self, category: &str, name: &str) -> bool {
        self.root.join("events").join(category).join(name).exists()
    }

    /// Byte offset of `field` in the record of `category:name`.
    pub fn field_offset(&self, category: &str, name: &str, field: &str) -> Option<u32> {
        let path = self
            .root
            .join("events")
            .join(category)
            .join(name)
            .join("format");
        field_offset(&fs::read_to_string(path).ok()?, field)
    }
}

fn mount_at(place: &Path) -> io::Result<()> {
    // Where something else is mounted, it stays: another mount would hide it.
    if !place.is_dir() || fs::read_dir(place)?.next().is_some() || is_mount_point(place)? {
        return Err(io::ErrorKind::NotFound.into());
    }
    let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
    Ok(mount("tracefs", place, "tracefs", flags, None)?)
}

/// Whether another file system begins at `place`.
fn is_mount_point(place: &Path) -> io::Result<bool> {
    let above = place.parent().unwrap_or(place);
    Ok(fs::metadata(place)?.dev() != fs::metadata(above)?.dev())
}

/// Reads the offset of `field` from a `format` file
/// (`field:__data_loc char[] msg;\toffset:8;\tsize:4;\tsigned:0;`).
fn field_offset(format: &str, field: &str) -> Option<u32> {
    format.lines().find_map(|line| {
        let rest = line.trim_start().strip_prefix("field:")?;
        let (declaration, rest) = rest.split_once(';')?;
        let name = declaration.rsplit([' ', '*']).next()?;
        let name = name.split('[').next()?;
        if name != field {
            return None;
        }
        let offset = rest.trim_start().strip_prefix("offset:")?;
        offset.split(';').next()?.parse().ok()
    })
}

#[cfg(test)]
mod tests {
    use super::field_offset;

    const FORMAT: &str = "name: aer_event\nformat:\n\
        \tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\n\
        \tfield:__data_loc char[] dev_name;\toffset:8;\tsize:4;\tsigned:0;\n\
        \tfield:u32 tlp_header[4];\toffset:20;\tsize:16;\tsigned:0;\n\
        \tfield:const char *filename;\toffset:40;\tsize:8;\tsigned:0;\n";

    /// As Linux 6.18 has them on x86-64.
    const MC_EVENT: &str = "name: mc_event\nformat:\n\
        \tfield:unsigned int error_type;\toffset:8;\tsize:4;\tsigned:0;\n\
        \tfield:__data_loc char[] msg;\toffset:12;\tsize:4;\tsigned:0;\n\
        \tfield:__data_loc char[] label;\toffset:16;\tsize:4;\tsigned:0;\n\
        \tfield:u16 error_count;\toffset:20;\tsize:2;\tsigned:0;\n\
        \tfield:u8 mc_index;\toffset:22;\tsize:1;\tsigned:0;\n\
        \tfield:long address;\toffset:32;\tsize:8;\tsigned:1;\n";
    const SECTION: &str = "field:char sec_type[16];\toffset:8;\tsize:16;\tsigned:0;\n\
        \tfield:char fru_id[16];\toffset:24;\tsize:16;\tsigned:0;\n\
        \tfield:u8 sev;\toffset:44;\tsize:1;\tsigned:0;\n";

    #[test]
    fn reads_the_fields_of_hardware_errors() {
        for (field, offset) in [
            ("error_type", 8),
            ("msg", 12),
            ("label", 16),
            ("error_count", 20),
            ("mc_index", 22),
            ("address", 32),
        ] {
            assert_eq!(field_offset(MC_EVENT, field), Some(offset), "{field}");
        }
        assert_eq!(field_offset(SECTION, "sec_type"), Some(8));
        assert_eq!(field_offset(SECTION, "sev"), Some(44));
    }

    #[test]
    fn reads_plain_array_and_pointer_fields() {
        assert_eq!(field_offset(FORMAT, "dev_name"), Some(8));
        assert_eq!(field_offset(FORMAT, "tlp_header"), Some(20));
        assert_eq!(field_offset(FORMAT, "filename"), Some(40));
        assert_eq!(field_offset(FORMAT, "name"), None);
        assert_eq!(field_offset("field:x", "x"), None);
    }
}
