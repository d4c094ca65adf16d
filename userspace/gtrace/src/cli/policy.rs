//! What codes and kinds mean to a site.

use std::fs;
use std::path::Path;

use gtrace_catalogue::Catalogue;

use super::shared::Failure;

/// The catalogue, as the site's `policy` has it where one is named.
pub(super) fn catalogue(policy: Option<&Path>) -> Result<Catalogue, Failure> {
    let mut catalogue = Catalogue::builtin();
    if let Some(path) = policy {
        let shown = path.display();
        let unreadable =
            |error| Failure::not_possible(format!("the policy {shown} cannot be read: {error}"));
        let policy = fs::read_to_string(path).map_err(unreadable)?;
        let loaded = catalogue.load_site_policy(&policy);
        loaded.map_err(|error| Failure::usage(format!("{shown}: {error}")))?;
    }
    Ok(catalogue)
}
