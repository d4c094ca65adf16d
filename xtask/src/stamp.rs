//! Detects whether a build's inputs are the same as last time.

use std::fs;
use std::hash::{DefaultHasher, Hasher as _};
use std::io;
use std::path::Path;

/// A hash of texts and files. It guards against changes, not against malice.
pub(crate) struct Hash(DefaultHasher);

impl Hash {
    /// Of nothing yet.
    pub(crate) fn new() -> Self {
        Self(DefaultHasher::new())
    }

    /// Adds a text; its length goes in as well, so that neighbours cannot be confused.
    pub(crate) fn text(self, text: &str) -> Self {
        self.bytes(text.as_bytes())
    }

    /// Adds bytes.
    pub(crate) fn bytes(mut self, bytes: &[u8]) -> Self {
        self.0.write_usize(bytes.len());
        self.0.write(bytes);
        self
    }

    /// Adds a file, or every file below a directory in the order of their names, each with its
    /// path below `base`. Directories named `target` are outputs and are left out.
    pub(crate) fn tree(self, base: &Path, path: &Path) -> io::Result<Self> {
        if !path.is_dir() {
            let name = path.strip_prefix(base).unwrap_or(path);
            return Ok(self.text(&name.to_string_lossy()).bytes(&fs::read(path)?));
        }
        let mut entries = fs::read_dir(path)?
            .map(|entry| Ok(entry?.path()))
            .collect::<io::Result<Vec<_>>>()?;
        entries.sort();
        entries
            .iter()
            .filter(|entry| !entry.ends_with("target"))
            .try_fold(self, |hash, entry| hash.tree(base, entry))
    }

    /// Sixteen hex digits.
    pub(crate) fn finish(self) -> String {
        format!("{:016x}", self.0.finish())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hash(dir: &Path) -> String {
        Hash::new().tree(dir, dir).unwrap().finish()
    }

    #[test]
    fn changes_with_content_and_with_names_and_with_nothing_else() {
        let dir = tempfile::tempdir().unwrap();
        let dir = dir.path();
        fs::create_dir_all(dir.join("src")).unwrap();
        fs::write(dir.join("src/main.rs"), "a").unwrap();
        let first = hash(dir);
        assert_eq!(hash(dir), first);
        fs::write(dir.join("src/main.rs"), "b").unwrap();
        let second = hash(dir);
        assert_ne!(second, first);
        fs::rename(dir.join("src/main.rs"), dir.join("src/lib.rs")).unwrap();
        assert_ne!(hash(dir), second);
    }

    #[test]
    fn build_outputs_are_left_out() {
        let dir = tempfile::tempdir().unwrap();
        let dir = dir.path();
        fs::write(dir.join("a"), "a").unwrap();
        let before = hash(dir);
        fs::create_dir_all(dir.join("target")).unwrap();
        fs::write(dir.join("target/out"), "x").unwrap();
        assert_eq!(hash(dir), before);
    }

    #[test]
    fn texts_do_not_run_into_each_other() {
        let two = Hash::new().text("ab").text("c").finish();
        let other = Hash::new().text("a").text("bc").finish();
        assert_ne!(two, other);
    }
}
