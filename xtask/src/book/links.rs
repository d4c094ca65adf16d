//! Links of the documents: whether each leads to a file, and to a heading of it, that is there.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};

/// A link in a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Link {
    /// Where it leads, as it stands there.
    pub(super) to: String,
    /// The line, from 1.
    line: usize,
}

/// The links of a page within the repository: not those to other sites, and none in code.
pub(super) fn links(text: &str) -> Vec<Link> {
    let mut found = Vec::new();
    for (line, content) in prose(text) {
        let mut rest = content.as_str();
        while let Some((_, after)) = rest.split_once("](") {
            let Some((to, behind)) = after.split_once(')') else {
                break;
            };
            // A title may follow the address.
            let to = to.split(' ').next().unwrap_or_default();
            let is_elsewhere = to.contains("://") || to.starts_with("mailto:");
            if !is_elsewhere && !to.is_empty() {
                found.push(Link {
                    to: to.to_owned(),
                    line,
                });
            }
            rest = behind;
        }
    }
    found
}

/// Lines that are no code, with their number; code within them is left out.
fn prose(text: &str) -> Vec<(usize, String)> {
    let mut in_block = false;
    let mut lines = Vec::new();
    for (number, line) in text.lines().enumerate() {
        if line.trim_start().starts_with("```") {
            in_block = !in_block;
            continue;
        }
        if !in_block {
            let parts = line.split('`').enumerate();
            let plain = parts.filter(|(n, _)| n % 2 == 0).map(|(_, part)| part);
            lines.push((number + 1, plain.collect::<Vec<_>>().join("`")));
        }
    }
    lines
}

/// The names by which headings of a page are linked to.
fn anchors(text: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut in_block = false;
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            in_block = !in_block;
        }
        let title = line.trim_start_matches('#');
        if in_block || title.len() == line.len() || !title.starts_with(' ') {
            continue;
        }
        let name = anchor(title.trim());
        let nth = (1..).map(|n| format!("{name}-{n}"));
        let mut names = std::iter::once(name.clone()).chain(nth);
        if let Some(free) = names.find(|name| !found.contains(name)) {
            found.insert(free);
        }
    }
    found
}

/// The name of a heading: small letters, digits, `-` and `_`, and blanks as `-`.
fn anchor(title: &str) -> String {
    // Of a link only its text counts.
    let mut text = String::new();
    let mut rest = title;
    while let Some((before, after)) = rest.split_once("](") {
        text.push_str(before);
        rest = after.split_once(')').map_or("", |(_, behind)| behind);
    }
    text.push_str(rest);
    text.to_lowercase()
        .chars()
        .filter_map(|c| match c {
            ' ' => Some('-'),
            c if c.is_alphanumeric() || c == '-' || c == '_' => Some(c),
            _ => None,
        })
        .collect()
}

/// Links that lead nowhere, of `pages` by their path in the repository; `exists` says of any other path whether it is there.
pub(super) fn broken(
    pages: &BTreeMap<PathBuf, String>,
    exists: impl Fn(&Path) -> bool,
) -> Vec<String> {
    let mut wrong = Vec::new();
    for (page, text) in pages {
        for link in links(text) {
            let (path, heading) = link.to.split_once('#').unwrap_or((&link.to, ""));
            let to = match path {
                "" => page.clone(),
                path => resolve(page, path),
            };
            let place = format!("{}:{}", page.display(), link.line);
            if !pages.contains_key(&to) && !exists(&to) {
                wrong.push(format!("{place}: there is no {}", to.display()));
            } else if !heading.is_empty()
                && let Some(text) = pages.get(&to)
                && !anchors(text).contains(heading)
            {
                wrong.push(format!(
                    "{place}: {} has no heading #{heading}",
                    to.display()
                ));
            }
        }
    }
    wrong
}

/// The path in the repository that `path` in `page` means.
pub(super) fn resolve(page: &Path, path: &str) -> PathBuf {
    let mut out = page.parent().map(Path::to_path_buf).unwrap_or_default();
    for part in Path::new(path).components() {
        match part {
            Component::ParentDir => drop(out.pop()),
            Component::Normal(name) => out.push(name),
            _ => {}
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_that_lead_nowhere_are_found() {
        let page = |text: &str| text.to_owned();
        let pages = BTreeMap::from([
            (
                "docs/a.md".into(),
                page(
                    "# A page: `x`, [b](b.md)\n[good](b.md#two-words) [self](#a-page-x-b) `[no](link)`\n\
                     ```\n[code](nowhere.md)\n```\n[bad](c.md) [heading](b.md#three) [up](../README.md)\n\
                     [file](../deny.toml) [site](https://example.com)\n",
                ),
            ),
            ("docs/b.md".into(), page("## Two words\n")),
            ("README.md".into(), page("x")),
        ]);
        let found = broken(&pages, |path| path == Path::new("deny.toml"));
        assert_eq!(
            found,
            [
                "docs/a.md:6: there is no docs/c.md",
                "docs/a.md:6: docs/b.md has no heading #three",
            ]
        );
    }

    #[test]
    fn headings_of_the_same_words_are_numbered() {
        let found = anchors("# One\n## One\n```\n# no heading\n```\n#no heading\n");
        assert_eq!(
            found,
            BTreeSet::from(["one".to_owned(), "one-1".to_owned()])
        );
    }
}
