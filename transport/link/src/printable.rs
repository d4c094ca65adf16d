//! Text of the other side, for a terminal or a log.

/// Longest text that is shown, characters.
const MOST: usize = 400;

/// A text of the other side without what a terminal would obey or show otherwise than it is written: control
/// characters, and marks that change the direction of writing. At most 400 characters.
pub fn printable(text: &str) -> String {
    let harmless = |c: char| {
        !c.is_control()
            && !matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
    };
    text.chars()
        .map(|c| if harmless(c) { c } else { '?' })
        .take(MOST)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_would_obey_is_not_shown() {
        assert_eq!(printable("a\u{1b}[2Jb\r\nc\u{202e}d"), "a?[2Jb??c?d");
        assert_eq!(printable("Grüße, 世界"), "Grüße, 世界");
        assert_eq!(printable(&"x".repeat(1000)).len(), 400);
    }
}
