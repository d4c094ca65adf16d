//! Tables kept as text: `number TAB name [TAB wording]`, one row a line, sorted by number.
//!
//! Text and not arrays of `&str`: an array costs 16 bytes and a relocation more for each row and
//! takes long to compile; looking a number up in sorted text needs no index.

/// A table of `data/`, `#` lines at its head included.
#[derive(Clone, Copy)]
pub(crate) struct Table(&'static str);

/// One row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Row {
    pub(crate) number: u32,
    pub(crate) name: &'static str,
    pub(crate) wording: Option<&'static str>,
}

impl Table {
    pub(crate) const fn new(text: &'static str) -> Self {
        Self(text)
    }

    /// The row of `number`. About ten comparisons for a thousand rows.
    pub(crate) fn find(self, number: u32) -> Option<Row> {
        let mut rest = self.body();
        while !rest.is_empty() {
            let start = rest[..rest.len() / 2].rfind('\n').map_or(0, |at| at + 1);
            let end = rest[start..]
                .find('\n')
                .map_or(rest.len(), |at| start + at + 1);
            let row = Row::parse(&rest[start..end])?;
            match number.cmp(&row.number) {
                std::cmp::Ordering::Equal => return Some(row),
                std::cmp::Ordering::Less => rest = &rest[..start],
                std::cmp::Ordering::Greater => rest = &rest[end..],
            }
        }
        None
    }

    /// All rows, in order of their numbers.
    pub(crate) fn rows(self) -> impl Iterator<Item = Row> {
        self.body().lines().filter_map(Row::parse)
    }

    /// Number of rows.
    pub(crate) fn len(self) -> usize {
        self.body().lines().count()
    }

    fn body(self) -> &'static str {
        let mut text = self.0;
        while text.starts_with('#') {
            text = text.split_once('\n').map_or("", |(_, rest)| rest);
        }
        text
    }
}

impl Row {
    fn parse(line: &'static str) -> Option<Self> {
        let mut fields = line.trim_end().split('\t');
        Some(Self {
            number: u32::from_str_radix(fields.next()?, 16).ok()?,
            name: fields.next()?,
            wording: fields.next(),
        })
    }
}

/// Checks that a table of `data/` can be searched: every line a row, numbers rising.
#[cfg(test)]
pub(crate) fn check(table: Table) {
    let rows: Vec<Row> = table.rows().collect();
    assert!(!rows.is_empty());
    assert_eq!(rows.len(), table.len(), "a line is no row");
    for pair in rows.windows(2) {
        assert!(
            pair[0].number < pair[1].number,
            "{pair:?} is not in order or twice"
        );
    }
    for row in rows {
        assert_eq!(table.find(row.number), Some(row));
        assert!(
            row.name
                .bytes()
                .all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_'),
            "{row:?}"
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_each_row_and_nothing_between() {
        let table =
            Table::new("# head\n# head\n00000002\tA\n00000005\tB\tsome words\nffffffff\tC\n");
        check(table);
        assert_eq!(table.len(), 3);
        assert_eq!(table.find(5).unwrap().wording, Some("some words"));
        for absent in [0, 1, 3, 4, 6, 0xffff_fffe] {
            assert_eq!(table.find(absent), None);
        }
    }

    #[test]
    fn a_last_line_without_newline_and_empty_tables_are_fine() {
        let table = Table::new("00000001\tA\n00000002\tB");
        assert_eq!(table.find(2).unwrap().name, "B");
        assert_eq!(Table::new("").find(1), None);
        assert_eq!(Table::new("# only a head").find(1), None);
    }
}
