use std::borrow::Cow;

/// Begins a control sequence.
pub(super) const ESC: u8 = 0x1b;

/// Takes out colours and other terminal control sequences (`dmesg --color=always`).
pub(crate) fn strip(line: &[u8]) -> Cow<'_, [u8]> {
    if memchr::memchr(ESC, line).is_none() {
        return Cow::Borrowed(line);
    }
    let mut out = Vec::with_capacity(line.len());
    let mut rest = line;
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        if byte != ESC {
            out.push(byte);
            continue;
        }
        rest = match after.split_first() {
            // CSI: parameters, then one byte from `@` to `~`.
            Some((b'[', params)) => {
                let end = params.iter().position(|b| (0x40..=0x7e).contains(b));
                end.and_then(|at| params.get(at + 1..)).unwrap_or_default()
            }
            // OSC, as in hyperlinks: ends with BEL or ESC backslash.
            Some((b']', text)) => {
                let end = text.iter().position(|b| matches!(*b, 0x07 | ESC));
                match end.and_then(|at| text.get(at..)) {
                    Some([0x07, after @ ..] | [ESC, b'\\', after @ ..]) => after,
                    Some([ESC, after @ ..]) => after,
                    _ => &[],
                }
            }
            Some((_, after)) => after,
            None => &[],
        };
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_go() {
        for (line, want) in [
            (
                "\x1b[32m[    1.5] \x1b[0m\x1b[33mNVRM: \x1b[0mXid",
                "[    1.5] NVRM: Xid",
            ),
            ("\x1b[0;1;38;5;185mred\x1b[0m", "red"),
            ("\x1b]8;;http://x\x1b\\link\x1b]8;;\x07", "link"),
            ("plain", "plain"),
            ("cut \x1b[3", "cut "),
            ("cut \x1b", "cut "),
            ("x\x1b(By", "xBy"),
        ] {
            assert_eq!(&*strip(line.as_bytes()), want.as_bytes(), "{line:?}");
        }
    }
}
