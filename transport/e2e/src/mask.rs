//! Hiding what may differ between two runs of a tool that shows a GPU's state.

/// Each line of `text` without what changes: lines that begin with `~` are left out, and every number
/// becomes `#`, so that what is left is the form and the names.
pub fn changing(text: &str) -> String {
    let kept = text.lines().filter(|line| !line.starts_with('~'));
    kept.map(|line| line.to_owned() + "\n").collect()
}

/// `text` with every run of digits, and spaces that may pad it, as one `#`, without colours, and with
/// bars of any length as one character.
pub fn numbers(text: &str) -> String {
    let mut masked = String::new();
    let mut letters = without_colours(text)
        .chars()
        .collect::<Vec<_>>()
        .into_iter()
        .peekable();
    while let Some(letter) = letters.next() {
        let class = |c: char| match c {
            '0'..='9' => Some('#'),
            '\u{2580}'..='\u{259f}' => Some('='),
            ' ' => Some(' '),
            '─' | '═' | '━' | '-' => Some('-'),
            _ => None,
        };
        let Some(sign) = class(letter) else {
            masked.push(letter);
            continue;
        };
        while letters
            .peek()
            .is_some_and(|next| class(*next) == Some(sign))
        {
            letters.next();
        }
        masked.push(sign);
    }
    masked
}

fn without_colours(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text;
    while let Some(at) = rest.find("\u{1b}[") {
        plain += &rest[..at];
        let sequence = &rest[at + 2..];
        let end = sequence.find(|c: char| c.is_ascii_alphabetic());
        rest = end.map_or("", |end| &sequence[end + 1..]);
    }
    plain + rest
}

/// The lines that name a device, without numbers.
pub fn of_devices(text: &str) -> String {
    let text = numbers(text);
    let of_device = ["CPU emulator", "Driver", "MiB |"];
    let lines = text
        .lines()
        .filter(|line| of_device.iter().any(|word| line.contains(word)));
    lines.map(|line| line.to_owned() + "\n").collect()
}

/// All lines but those with the time of day.
pub fn without_times(text: &str) -> String {
    const DAYS: [&str; 7] = ["Mon ", "Tue ", "Wed ", "Thu ", "Fri ", "Sat ", "Sun "];
    let timed = |line: &str| {
        let marked = ["Timestamp", "<timestamp>"]
            .iter()
            .any(|mark| line.contains(mark));
        marked || DAYS.iter().any(|day| line.starts_with(day))
    };
    let lines = text.lines().filter(|line| !timed(line));
    lines.map(|line| line.to_owned() + "\n").collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_changes_is_hidden_and_the_rest_is_not() {
        assert_eq!(changing("  name: A\n~ free 3\n  x\n"), "  name: A\n  x\n");
        assert_eq!(
            numbers("\u{1b}[1m12 MiB / 4096 MiB\u{1b}[0m"),
            "# MiB / # MiB"
        );
        assert_eq!(numbers("a ████▌  7%"), "a = #%");
        assert_ne!(numbers("name A"), numbers("name B"));
    }
}
