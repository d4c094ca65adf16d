//! PTX text: the parameters in the declarations of its kernels (PTX ISA, "Kernel and Function
//! Directives" and "Parameter State Space").
//!
//! ```text
//! .visible .entry name(
//!     .param .u64 .ptr .global .align 16 name_param_0,
//!     .param .align 8 .b8 name_param_1[24]
//! )
//! ```

use std::str;

use crate::{Layouts, PARAMETERS_MAX, Parameter, in_order};

/// Reads the kernels that a text declares.
pub(crate) fn read(image: &[u8], layouts: &mut Layouts) {
    let end = image.iter().position(|byte| *byte == 0);
    let text = &image[..end.unwrap_or(image.len())];
    // No image, of which a name somewhere would have to be found.
    if !text.windows(8).any(|word| word == b".version") {
        return;
    }
    let mut tokens = Tokens { text };
    while let Some(token) = tokens.next() {
        if token == b".entry"
            && let Some(name) = tokens.next()
            && let Ok(name) = str::from_utf8(name)
        {
            layouts.add(name, parameters(&mut tokens));
        }
    }
}

/// The tokens of a text: words with their leading dot, numbers, and single characters. Comments and
/// strings are none.
#[derive(Clone)]
struct Tokens<'a> {
    text: &'a [u8],
}

impl<'a> Tokens<'a> {
    fn skip(&mut self, len: usize) -> &'a [u8] {
        let (head, rest) = self.text.split_at(len.min(self.text.len()));
        self.text = rest;
        head
    }

    /// Skips what ends with `end`.
    fn skip_behind(&mut self, end: &[u8]) {
        let found = self.text.windows(end.len()).position(|part| part == end);
        self.skip(found.map_or(self.text.len(), |at| at + end.len()));
    }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | b'%')
}

impl<'a> Iterator for Tokens<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        loop {
            match self.text {
                [] => return None,
                [b'/', b'/', ..] => self.skip_behind(b"\n"),
                [b'/', b'*', ..] => {
                    self.skip(2);
                    self.skip_behind(b"*/");
                }
                [b'"', ..] => {
                    self.skip(1);
                    self.skip_behind(b"\"");
                }
                [space, ..] if space.is_ascii_whitespace() => drop(self.skip(1)),
                [first, rest @ ..] => {
                    let word = rest.iter().take_while(|byte| is_word(**byte)).count();
                    return Some(match is_word(*first) || *first == b'.' {
                        true => self.skip(1 + word),
                        false => self.skip(1),
                    });
                }
            }
        }
    }
}

/// The list behind the name of a kernel, of which one without parameters needs none.
fn parameters(tokens: &mut Tokens<'_>) -> Option<Vec<Parameter>> {
    let mut ahead = tokens.clone();
    match ahead.next()? {
        b"(" => {}
        b"{" | b";" | [b'.', ..] => return Some(Vec::new()),
        _ => return None,
    }
    *tokens = ahead;
    let mut parameters = Vec::new();
    let mut end: u32 = 0;
    loop {
        let (declared, last) = parameter(tokens)?;
        if let Some((size, align)) = declared {
            let offset = end.checked_next_multiple_of(align)?;
            end = offset.checked_add(size)?;
            if parameters.len() == PARAMETERS_MAX {
                return None;
            }
            parameters.push(Parameter { offset, size });
        }
        if last {
            return in_order(&parameters).then_some(parameters);
        }
    }
}

/// One declaration up to its comma or to the end of the list: size and alignment, or nothing if it
/// is empty, and whether the list ends. `None` for anything that is not understood.
#[allow(clippy::type_complexity, reason = "a pair in a pair")]
fn parameter(tokens: &mut Tokens<'_>) -> Option<(Option<(u32, u32)>, bool)> {
    let mut element: Option<u32> = None;
    let mut vector = 1;
    let mut align = None;
    let mut count: u32 = 1;
    let mut points = false;
    let mut empty = true;
    let last = loop {
        let token = tokens.next()?;
        match token {
            b"," => break false,
            b")" => break true,
            b".align" => {
                let value = number(tokens.next()?)?;
                // Behind .ptr it is that of what the pointer points to.
                if !points {
                    align = Some(value).filter(|value| value.is_power_of_two());
                    align?;
                }
            }
            b".ptr" => points = true,
            b".param" | b".const" | b".global" | b".local" | b".shared" | b".generic" => {}
            b".v2" => vector = 2,
            b".v4" => vector = 4,
            b".v8" => vector = 8,
            b"[" => {
                count = count.checked_mul(number(tokens.next()?)?)?;
                if tokens.next()? != b"]" {
                    return None;
                }
            }
            [b'.', kind @ ..] => element = Some(size_of(kind)?),
            // Its name.
            [first, ..] if is_word(*first) && !first.is_ascii_digit() => {}
            _ => return None,
        }
        empty = false;
    };
    if empty {
        return Some((None, last));
    }
    let natural = element?.checked_mul(vector)?;
    let size = natural.checked_mul(count)?;
    Some((Some((size, align.unwrap_or(natural))), last))
}

/// Bytes of a fundamental type, without its dot; those of opaque types are handles.
fn size_of(kind: &[u8]) -> Option<u32> {
    Some(match kind {
        b"b8" | b"u8" | b"s8" => 1,
        b"b16" | b"u16" | b"s16" | b"f16" | b"bf16" => 2,
        b"b32" | b"u32" | b"s32" | b"f32" | b"f16x2" | b"bf16x2" => 4,
        b"b64" | b"u64" | b"s64" | b"f64" | b"texref" | b"samplerref" | b"surfref" => 8,
        b"b128" => 16,
        _ => return None,
    })
}

/// A constant: decimal, hexadecimal, octal or binary, perhaps with `U`.
fn number(token: &[u8]) -> Option<u32> {
    let text = str::from_utf8(token).ok()?.trim_end_matches('U');
    let (digits, radix) = match text.as_bytes() {
        [b'0', b'x' | b'X', ..] => (&text[2..], 16),
        [b'0', b'b' | b'B', ..] => (&text[2..], 2),
        [b'0', _, ..] => (&text[1..], 8),
        _ => (text, 10),
    };
    u32::from_str_radix(digits, radix).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layout(text: &str, name: &str) -> Option<Vec<(u32, u32)>> {
        let layouts = Layouts::read(format!(".version 8.0\n{text}\0junk .entry no").as_bytes());
        let pair = |p: &Parameter| (p.offset, p.size);
        Some(layouts.get(name)?.iter().map(pair).collect())
    }

    #[test]
    fn parameters_lie_where_their_alignment_puts_them() {
        let text = ".visible .entry _Z3fooILi3EEvPf( // .entry no(\n\
            .param .u64 .ptr .global .align 256 a,\n\
            .param .u8 b, /* .param .u64 gone, */\n\
            .param .align 4 .b8 c[0x0c],\n\
            .param .v4 .f32 d,\n\
            .param .f64 e,\n\
            .param .align 16 .b8 f[2][010],\n\
            .param .b32 g[3]\n) .maxntid 256 { }";
        assert_eq!(
            layout(text, "_Z3fooILi3EEvPf").unwrap(),
            [
                (0, 8),
                (8, 1),
                (12, 12),
                (32, 16),
                (48, 8),
                (64, 16),
                (80, 12)
            ]
        );
        assert_eq!(layout(text, "no"), None);
    }

    #[test]
    fn a_kernel_without_parameters_has_none() {
        assert_eq!(layout(".entry a { ret; }", "a"), Some(Vec::new()));
        assert_eq!(layout(".entry a() { ret; }", "a"), Some(Vec::new()));
        assert_eq!(layout(".file 1 \".entry a()\"\n", "a"), None);
    }

    #[test]
    fn what_is_not_understood_is_not_known() {
        for list in [
            ".param .what a",
            ".param .u32 a[n]",
            ".param .u32 a",
            ".param a)",
        ] {
            assert_eq!(layout(&format!(".entry a({list}"), "a"), None, "{list}");
        }
        assert_eq!(layout(".entry a(.param .align 3 .b8 p[4])", "a"), None);
        assert_eq!(layout(".entry a(.param .b64 p[0x20000000])", "a"), None);
        let two = ".entry a(.param .u32 x) {} .entry a(.param .u64 x) {}";
        assert_eq!(layout(two, "a"), None);
    }
}
