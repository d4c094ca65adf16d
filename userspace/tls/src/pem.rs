//! Certificates, keys and lists of revoked certificates as PEM (RFC 7468).

use std::io::Read as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::{fs, io};

use rustls::RootCertStore;
use rustls::pki_types::pem::{self, PemObject as _};
use rustls::pki_types::{CertificateDer, CertificateRevocationListDer, PrivateKeyDer};

use super::FileError;

/// Largest file that is read, bytes. All authorities of a system are 230 KiB.
const FILE_MAX: u64 = 4 << 20;

/// A file as it was read.
#[derive(Clone)]
pub(super) struct Contents {
    pub(super) path: PathBuf,
    pub(super) bytes: Vec<u8>,
}

impl Contents {
    /// Reads `path`, which nobody but its owner and its group may write, and, where it is `secret`, read.
    ///
    /// # Errors
    ///
    /// [`FileError`] with the file's name.
    pub(super) fn read(path: &Path, secret: bool) -> Result<Self, FileError> {
        let failed = |cause| FileError::Read {
            path: path.to_owned(),
            cause,
        };
        let file = fs::File::open(path).map_err(failed)?;
        let metadata = file.metadata().map_err(failed)?;
        let contents = |bytes| Self {
            path: path.to_owned(),
            bytes,
        };
        let mode = metadata.permissions().mode();
        if !metadata.is_file() {
            return Err(failed(io::Error::other("it is no regular file")));
        }
        if mode & 0o002 != 0 {
            return Err(contents(Vec::new())
                .refused("every user may write it; take that away with `chmod o-w`"));
        }
        if secret && mode & 0o004 != 0 {
            return Err(contents(Vec::new()).refused(
                "every user may read it, and it is secret; take that away with `chmod o-r`",
            ));
        }
        let mut bytes = Vec::new();
        file.take(FILE_MAX + 1)
            .read_to_end(&mut bytes)
            .map_err(failed)?;
        let contents = contents(bytes);
        match contents.bytes.len() as u64 > FILE_MAX {
            true => Err(contents.refused(format!("it is larger than {FILE_MAX} bytes"))),
            false => Ok(contents),
        }
    }

    pub(super) fn refused(&self, reason: impl Into<String>) -> FileError {
        FileError::Content {
            path: self.path.clone(),
            reason: reason.into(),
        }
    }

    /// All certificates; at least one.
    pub(super) fn certificates(&self) -> Result<Vec<CertificateDer<'static>>, FileError> {
        let certificates: Vec<_> = CertificateDer::pem_slice_iter(&self.bytes)
            .collect::<Result<_, _>>()
            .map_err(|error| self.refused(format!("cannot read certificates: {error}")))?;
        match certificates.is_empty() {
            true => Err(self.refused(
                "there is no certificate in it; it must be PEM, beginning with -----BEGIN CERTIFICATE",
            )),
            false => Ok(certificates),
        }
    }

    /// All certificates, as authorities that are trusted.
    pub(super) fn authorities(&self) -> Result<RootCertStore, FileError> {
        let mut roots = RootCertStore::empty();
        for certificate in self.certificates()? {
            roots
                .add(certificate)
                .map_err(|error| self.refused(format!("no authority: {error}")))?;
        }
        Ok(roots)
    }

    /// The first private key.
    pub(super) fn key(&self) -> Result<PrivateKeyDer<'static>, FileError> {
        PrivateKeyDer::from_pem_slice(&self.bytes).map_err(|error| match error {
            pem::Error::NoItemsFound => self.refused(
                "there is no private key in it; it must be PEM, unencrypted, beginning with -----BEGIN PRIVATE KEY",
            ),
            error => self.refused(format!("cannot read a private key: {error}")),
        })
    }

    /// All lists of revoked certificates; at least one.
    pub(super) fn revocations(
        &self,
    ) -> Result<Vec<CertificateRevocationListDer<'static>>, FileError> {
        let lists: Vec<_> = CertificateRevocationListDer::pem_slice_iter(&self.bytes)
            .collect::<Result<_, _>>()
            .map_err(|error| self.refused(format!("cannot read revocations: {error}")))?;
        match lists.is_empty() {
            true => Err(self.refused(
                "there is no list of revoked certificates in it; it must be PEM, beginning with -----BEGIN X509 CRL",
            )),
            false => Ok(lists),
        }
    }
}
