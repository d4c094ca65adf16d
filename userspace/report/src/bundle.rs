//! The bundle: a `.tar.zst` in which each file is a frame of its own, so that a damaged byte spoils one file only.

use crate::part::{self, MANIFEST, Manifest};
use crate::seal::Sealed;
use crate::{Material, ReportError};

/// The end of an archive of tar: two blocks of zeros.
const END: [u8; 1024] = [0; 1024];

/// Makes the bundle.
pub(crate) fn write(material: &Material, redacted: bool) -> Result<Vec<u8>, ReportError> {
    let directory = material.file_stem();
    let entry = |name: &str, bytes: &[u8]| -> Result<Vec<u8>, ReportError> {
        let entry = tar_entry(&format!("{directory}/{name}"), bytes, material)?;
        Ok(part::compress(&entry)?)
    };
    let parts = part::each(material, |part| {
        Ok((part.plain(), entry(part.name, &part.bytes)?))
    })?;
    let mut manifest: Manifest = part::manifest(material, redacted);
    manifest.parts = parts.iter().map(|(plain, _)| plain.clone()).collect();
    let mut sealed = Sealed::default();
    sealed.push(MANIFEST, &entry(MANIFEST, &manifest.json()?)?);
    for (plain, packed) in &parts {
        sealed.push(&plain.name, packed);
    }
    sealed.push("end", &part::compress(&END)?);
    Ok(sealed.zstd())
}

/// A file in an archive of tar: header, bytes, padding.
fn tar_entry(path: &str, bytes: &[u8], material: &Material) -> Result<Vec<u8>, ReportError> {
    let mut header = tar::Header::new_ustar();
    header.set_path(path)?;
    header.set_mode(0o644);
    header.set_size(bytes.len() as u64);
    header.set_mtime(u64::try_from(material.made.as_second()).unwrap_or(0));
    header.set_entry_type(tar::EntryType::Regular);
    header.set_cksum();
    let mut out = header.as_bytes().to_vec();
    out.extend_from_slice(bytes);
    out.resize(out.len().next_multiple_of(512), 0);
    Ok(out)
}
