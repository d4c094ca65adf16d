//! The files of a history.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

/// Name of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct SegmentName {
    /// Length of a bucket, ms.
    pub(crate) resolution_ms: u32,
    /// Ascends within a resolution.
    pub(crate) number: u64,
}

impl SegmentName {
    fn parse(name: &str) -> Option<Self> {
        let (resolution, number) = name.strip_suffix(".seg")?.split_once('-')?;
        Some(Self {
            resolution_ms: resolution.parse().ok().filter(|ms| *ms > 0)?,
            number: number.parse().ok()?,
        })
    }

    pub(crate) fn path(self, dir: &Path) -> PathBuf {
        dir.join(format!("{}-{:08}.seg", self.resolution_ms, self.number))
    }
}

/// The segments of `dir`, ascending by resolution and number.
pub(crate) fn segments(dir: &Path) -> io::Result<Vec<SegmentName>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(dir)? {
        let name = entry?.file_name();
        found.extend(name.to_str().and_then(SegmentName::parse));
    }
    found.sort_unstable();
    Ok(found)
}

/// Makes new, renamed and removed names last through a power cut.
pub(crate) fn sync(dir: &Path) -> io::Result<()> {
    File::open(dir)?.sync_all()
}
