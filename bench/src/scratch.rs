//! A directory that is removed however the program ends.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use anyhow::Context as _;

use crate::bench::Context;
use crate::cleanup::{self, Deferred};

#[derive(Debug)]
pub(crate) struct Scratch {
    path: PathBuf,
    _remove: Deferred,
}

impl Scratch {
    pub(crate) fn new(context: &Context) -> anyhow::Result<Self> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let n = NEXT.fetch_add(1, Ordering::Relaxed);
        let path = context
            .scratch
            .join(format!("gtrace-bench-{}-{n}", std::process::id()));
        fs::create_dir(&path)
            .with_context(|| format!("{} cannot be made; try --scratch", path.display()))?;
        let remove = {
            let path = path.clone();
            cleanup::defer(move || {
                if let Err(error) = fs::remove_dir_all(&path) {
                    eprintln!("gtrace-bench: {} is left behind: {error}", path.display());
                }
            })
        };
        Ok(Self {
            path,
            _remove: remove,
        })
    }

    pub(crate) fn join(&self, name: impl AsRef<Path>) -> PathBuf {
        self.path.join(name)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}
