//! Rules of health of the site: read from their file.

use std::io;
use std::path::{Path, PathBuf};

use gtrace_health::{RuleError, Rules, SITE_RULES_MAX};

use crate::site_file;

/// Why the file is refused.
#[derive(Debug, thiserror::Error)]
pub enum HealthRulesError {
    /// It cannot be read.
    #[error("rules of health {path} cannot be read: {cause}\nremedy: correct that, or remove the file", path = path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system said.
        cause: io::Error,
    },
    /// It is no TOML, or a rule of it makes no sense.
    #[error(
        "rules of health are refused: {cause}\nremedy: correct that line; docs/health.md explains the keys"
    )]
    Refused {
        /// File, line and reason.
        cause: Box<RuleError>,
    },
}

/// The text of the file, which was understood; `None` where there is none.
///
/// # Errors
///
/// A file that is there and cannot be read or understood.
pub fn load(path: &Path) -> Result<Option<String>, HealthRulesError> {
    let most = u64::try_from(SITE_RULES_MAX).unwrap_or(u64::MAX);
    let read = site_file::read(path, most).map_err(|cause| HealthRulesError::Read {
        path: path.to_owned(),
        cause,
    })?;
    if let Some(text) = &read {
        parse(path, text)?;
    }
    Ok(read)
}

/// The rules in force with the file at `path`.
///
/// # Errors
///
/// As [`load`].
pub fn rules(path: &Path) -> Result<Rules, HealthRulesError> {
    match load(path)? {
        Some(text) => parse(path, &text),
        None => Rules::builtin().map_err(refuse),
    }
}

fn parse(path: &Path, text: &str) -> Result<Rules, HealthRulesError> {
    Rules::with_site(&path.display().to_string(), text).map_err(refuse)
}

fn refuse(cause: RuleError) -> HealthRulesError {
    HealthRulesError::Refused {
        cause: Box::new(cause),
    }
}
