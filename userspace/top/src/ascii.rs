//! The live view for terminals that show no UTF-8.

use ratatui::buffer::Buffer;

/// Replaces what is not ASCII in a drawn picture by what looks most like it, so that no cell shows the bytes of its encoding.
pub fn to_ascii(buffer: &mut Buffer) {
    for cell in &mut buffer.content {
        if !cell.symbol().is_ascii() {
            let plain = cell.symbol().chars().next().map_or(' ', plain);
            cell.set_char(plain);
        }
    }
}

/// The ASCII character in place of one that is none.
fn plain(c: char) -> char {
    match c {
        c if c.is_ascii() => c,
        '█' | '▉' | '▊' | '▋' | '▇' | '▆' => '#',
        '▌' | '▍' | '▅' | '▄' => '=',
        '▎' | '▏' | '▃' | '▂' => '-',
        '▁' => '_',
        '·' | '…' => '.',
        // Lines of boxes.
        '\u{2500}' | '\u{2501}' | '\u{2550}' => '-',
        '\u{2502}' | '\u{2503}' | '\u{2551}' => '|',
        '\u{2500}'..='\u{257f}' => '+',
        '≥' => '>',
        '≤' => '<',
        '°' => '\'',
        '✓' => 'v',
        '×' => 'x',
        'µ' | 'μ' => 'u',
        '–' | '—' | '−' => '-',
        '‘' | '’' => '\'',
        '“' | '”' => '"',
        '→' | '▶' | '▸' => '>',
        '←' => '<',
        '↑' | '▲' => '^',
        '↓' | '▼' => 'v',
        // Of names of processes, which may be anything.
        _ => '?',
    }
}

/// Whether a terminal with these variables shows UTF-8: the first of LC_ALL, LC_CTYPE and LANG that is set decides, as in
/// setlocale(3).
pub fn shows_utf8(variable: impl Fn(&str) -> Option<String>) -> bool {
    let set = |name: &&str| variable(name).filter(|value| !value.is_empty());
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"].iter().find_map(set);
    let locale = locale.unwrap_or_default().to_ascii_lowercase();
    locale.contains("utf-8") || locale.contains("utf8")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_locale_that_is_set_decides() {
        let shows = |given: &[(&str, &str)]| {
            shows_utf8(|name| {
                let found = given.iter().find(|(known, _)| *known == name);
                found.map(|(_, value)| (*value).to_owned())
            })
        };
        assert!(shows(&[("LANG", "de_DE.UTF-8")]));
        assert!(shows(&[
            ("LC_ALL", ""),
            ("LC_CTYPE", "C.utf8"),
            ("LANG", "C")
        ]));
        assert!(!shows(&[("LC_ALL", "C"), ("LANG", "de_DE.UTF-8")]));
        assert!(!shows(&[("LANG", "de_DE.ISO-8859-1")]));
        assert!(!shows(&[]), "the locale C");
    }
}
