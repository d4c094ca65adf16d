//! The functions of every device: vprintf, __assertfail, malloc, free, cudaGraphSetConditional.

use std::iter::Peekable;
use std::sync::Arc;

use super::super::alu::{Regs, lanes_of};
use super::super::program::{CallSite, Passed, Target};
use super::Trouble;
use super::block::Block;
use super::bytes::{get, put};
use super::fragment::Warp;
use super::grid::Worker;
use super::memory::View;
use crate::graph::conditional;

/// Longer strings are cut.
const MAX_TEXT: usize = 64 << 10;

/// Carries out a call of such a function for all lanes of fragment `at`.
pub(super) fn builtin(
    warp: &mut Warp,
    block: &mut Block,
    worker: &mut Worker<'_>,
    at: usize,
    site: &Arc<CallSite>,
    regs: &mut Regs,
) -> Result<(), Trouble> {
    let fragment = warp.fragments[at];
    let base = warp.frame(fragment.frame).map_or(0, |frame| frame.local);
    let sink = worker.launch.sink;
    let heap = worker.heap;
    worker.reach.hint = fragment.pc;
    for lane in lanes_of(fragment.mask) {
        let stride = warp.stride;
        let place = |offset: u32| lane * stride as usize + (base + offset) as usize;
        let mut arguments = [0; 4];
        for (value, passed) in arguments.iter_mut().zip(&site.params) {
            *value = match passed {
                Passed::Slot(slot, class) => regs.get(*slot, *class, lane),
                Passed::Memory { offset, size } => get(&warp.local, place(*offset), (*size).min(8)),
            };
        }
        let mut view = View {
            reach: &mut worker.reach,
            shared: &mut block.shared,
            local: &mut warp.local,
            stride,
            params: worker.launch.params,
        };
        let mut reader = Reader {
            view: &mut view,
            lane,
        };
        let [first, second, third, fourth] = arguments;
        let value = match site.target {
            Target::AssertFail => {
                return Err(reader.assertion([first, second, fourth], third as u32));
            }
            Target::Malloc => heap.allocate(first),
            Target::SetConditional => {
                conditional::set(first, second as u32);
                0
            }
            Target::Free if heap.release(first) => 0,
            Target::Free => return Err(Trouble::illegal(first, 1, true)),
            _ => {
                let (text, count) = reader.format(first, second)?;
                if let Some(sink) = sink {
                    sink.print(&text);
                }
                u64::from(count)
            }
        };
        match site.returns.first() {
            Some(Passed::Slot(slot, class)) => regs.put(*slot, *class, lane, value),
            Some(Passed::Memory { offset, size }) => {
                put(&mut warp.local, place(*offset), (*size).min(8), value);
            }
            None => {}
        }
    }
    Ok(())
}

struct Reader<'r, 'v, 'm> {
    view: &'r mut View<'v, 'm>,
    lane: usize,
}

/// A conversion of a format string.
#[derive(Default)]
struct Spec {
    left: bool,
    plus: bool,
    space: bool,
    alternate: bool,
    zero: bool,
    width: usize,
    precision: Option<usize>,
    wide: bool,
    /// How often `h` is there: the argument is an int, of which half of the bits or a quarter count.
    halvings: u32,
}

impl Reader<'_, '_, '_> {
    /// __assertfail(expression, file, line, function, character size).
    fn assertion(&mut self, texts: [u64; 3], line: u32) -> Trouble {
        let texts = texts.map(|address| self.text(address));
        let mut out = [String::new(), String::new(), String::new()];
        for (out, text) in out.iter_mut().zip(texts) {
            match text {
                Ok(text) => *out = String::from_utf8_lossy(&text).into_owned(),
                Err(trouble) => return trouble,
            }
        }
        let [expression, file, function] = out;
        Trouble::Assert {
            place: format!("{file}:{line}: {function}"),
            expression,
        }
    }

    fn text(&mut self, address: u64) -> Result<Vec<u8>, Trouble> {
        let mut out = Vec::new();
        while out.len() < MAX_TEXT {
            let at = address.wrapping_add(out.len() as u64);
            match self.view.byte(self.lane, at)? {
                0 => break,
                byte => out.push(byte),
            }
        }
        Ok(out)
    }

    /// A value of the argument buffer, which is laid out like a structure.
    fn value(&mut self, at: &mut u64, size: u32) -> Result<u64, Trouble> {
        *at = at.next_multiple_of(u64::from(size));
        let value = self.view.read(self.lane, *at, size)?;
        *at += u64::from(size);
        Ok(value)
    }

    /// The argument of a conversion to an integer, without the bits that do not count.
    fn number_of(&mut self, at: &mut u64, spec: &Spec) -> Result<u64, Trouble> {
        let value = self.value(at, if spec.wide { 8 } else { 4 })?;
        Ok(value & u64::MAX >> (64 - spec.bits()))
    }

    /// A width or precision: a number of the format, or `*` for the next argument.
    fn number(
        &mut self,
        format: &mut Peekable<impl Iterator<Item = u8>>,
        at: &mut u64,
    ) -> Result<usize, Trouble> {
        if format.next_if_eq(&b'*').is_some() {
            return Ok(self.value(at, 4)? as usize & 0xffff);
        }
        let mut value = 0_usize;
        while let Some(digit) = format.next_if(u8::is_ascii_digit) {
            value = (value * 10 + usize::from(digit - b'0')) & 0xffff;
        }
        Ok(value)
    }

    fn format(&mut self, format: u64, values: u64) -> Result<(Vec<u8>, u32), Trouble> {
        let format = self.text(format)?;
        let (mut out, mut at, mut count) = (Vec::new(), values, 0);
        let mut bytes = format.iter().copied().peekable();
        while let Some(byte) = bytes.next() {
            if byte != b'%' {
                out.push(byte);
                continue;
            }
            let mut spec = Spec::default();
            while let Some(flag) = bytes.next_if(|byte| b"-+ #0".contains(byte)) {
                match flag {
                    b'-' => spec.left = true,
                    b'+' => spec.plus = true,
                    b' ' => spec.space = true,
                    b'#' => spec.alternate = true,
                    _ => spec.zero = true,
                }
            }
            spec.width = self.number(&mut bytes, &mut at)?;
            if bytes.next_if_eq(&b'.').is_some() {
                spec.precision = Some(self.number(&mut bytes, &mut at)?);
            }
            while let Some(length) = bytes.next_if(|byte| b"hlqjzt".contains(byte)) {
                match length {
                    b'h' => spec.halvings += 1,
                    _ => spec.wide = true,
                }
            }
            let Some(conversion) = bytes.next() else {
                break;
            };
            count += u32::from(conversion != b'%');
            let text = match conversion {
                b'%' => vec![b'%'],
                b'd' | b'i' => {
                    let unused = 64 - spec.bits();
                    let value = (self.number_of(&mut at, &spec)? << unused) as i64 >> unused;
                    spec.integer(spec.sign(value < 0), &value.unsigned_abs().to_string(), "")
                }
                b'u' => spec.integer("", &self.number_of(&mut at, &spec)?.to_string(), ""),
                b'x' => {
                    let digits = format!("{:x}", self.number_of(&mut at, &spec)?);
                    spec.integer("", &digits, "0x")
                }
                b'X' => {
                    let digits = format!("{:X}", self.number_of(&mut at, &spec)?);
                    spec.integer("", &digits, "0X")
                }
                b'o' => {
                    let digits = format!("{:o}", self.number_of(&mut at, &spec)?);
                    spec.integer("", &digits, "0")
                }
                b'p' => {
                    spec.alternate = true;
                    spec.integer("", &format!("{:x}", self.value(&mut at, 8)?), "0x")
                }
                b'c' => spec.pad(vec![self.value(&mut at, 4)? as u8], false),
                b's' => {
                    let address = self.value(&mut at, 8)?;
                    let mut text = self.text(address)?;
                    text.truncate(spec.precision.unwrap_or(usize::MAX));
                    spec.pad(text, false)
                }
                b'f' | b'F' | b'e' | b'E' | b'g' | b'G' | b'a' | b'A' => {
                    spec.float(conversion, f64::from_bits(self.value(&mut at, 8)?))
                }
                // An unknown conversion is printed as it stands, as CUDA does.
                other => vec![b'%', other],
            };
            out.extend(text);
        }
        Ok((out, count))
    }
}

impl Spec {
    /// Bits of an integer.
    fn bits(&self) -> u32 {
        match (self.wide, self.halvings) {
            (true, _) => 64,
            (_, 0) => 32,
            (_, 1) => 16,
            _ => 8,
        }
    }

    fn pad(&self, text: Vec<u8>, numeric: bool) -> Vec<u8> {
        let missing = self.width.saturating_sub(text.len());
        if missing == 0 {
            return text;
        }
        if self.left {
            return [text, vec![b' '; missing]].concat();
        }
        if self.zero && numeric {
            // Zeros go between sign or prefix and digits.
            let lead = match text.as_slice() {
                [b'0', b'x' | b'X', ..] => 2,
                [b'-' | b'+' | b' ', ..] => 1,
                _ => 0,
            };
            let (head, tail) = text.split_at(lead);
            return [head, &vec![b'0'; missing], tail].concat();
        }
        [vec![b' '; missing], text].concat()
    }

    fn sign(&self, negative: bool) -> &'static str {
        match (negative, self.plus, self.space) {
            (true, ..) => "-",
            (_, true, _) => "+",
            (_, _, true) => " ",
            _ => "",
        }
    }

    fn integer(&self, sign: &str, digits: &str, prefix: &str) -> Vec<u8> {
        let prefix = if self.alternate && digits != "0" {
            prefix
        } else {
            ""
        };
        let zeros = "0".repeat(self.precision.unwrap_or(0).saturating_sub(digits.len()));
        let text = format!("{sign}{prefix}{zeros}{digits}");
        self.pad(text.into_bytes(), self.precision.is_none())
    }

    fn float(&self, conversion: u8, value: f64) -> Vec<u8> {
        let precision = self.precision.unwrap_or(6);
        let magnitude = value.abs();
        let upper = conversion.is_ascii_uppercase();
        let digits = if value.is_nan() {
            "nan".to_owned()
        } else if value.is_infinite() {
            "inf".to_owned()
        } else {
            match conversion.to_ascii_lowercase() {
                b'f' => format!("{magnitude:.precision$}"),
                b'e' => exponent(magnitude, precision),
                b'g' => general(magnitude, precision.max(1), self.alternate),
                _ => hexadecimal(magnitude),
            }
        };
        let digits = if upper { digits.to_uppercase() } else { digits };
        let text = format!("{}{digits}", self.sign(value.is_sign_negative()));
        self.pad(text.into_bytes(), value.is_finite())
    }
}

/// `1.5e+03`, as C writes it.
fn exponent(value: f64, precision: usize) -> String {
    let text = format!("{value:.precision$e}");
    let (digits, power) = text.split_once('e').unwrap_or((&text, "0"));
    let power: i32 = power.parse().unwrap_or(0);
    let sign = if power < 0 { '-' } else { '+' };
    format!("{digits}e{sign}{:02}", power.abs())
}

fn general(value: f64, precision: usize, keep_zeros: bool) -> String {
    let scientific = exponent(value, precision - 1);
    let power: i32 = scientific
        .split_once('e')
        .and_then(|(_, power)| power.parse().ok())
        .unwrap_or(0);
    let trim = |text: &str| {
        if keep_zeros || !text.contains('.') {
            text.to_owned()
        } else {
            text.trim_end_matches('0').trim_end_matches('.').to_owned()
        }
    };
    if power < -4 || power >= precision as i32 {
        let (digits, power) = scientific.split_once('e').unwrap_or((&scientific, "+00"));
        format!("{}e{power}", trim(digits))
    } else {
        let digits = (precision as i32 - 1 - power).max(0) as usize;
        trim(&format!("{value:.digits$}"))
    }
}

fn hexadecimal(value: f64) -> String {
    if value == 0.0 {
        return "0x0p+0".to_owned();
    }
    let bits = value.to_bits();
    let (exponent, mantissa) = (bits >> 52 & 0x7ff, bits & ((1 << 52) - 1));
    let (lead, power) = if exponent == 0 {
        (0, -1022)
    } else {
        (1, exponent as i64 - 1023)
    };
    let digits = format!("{mantissa:013x}");
    let digits = digits.trim_end_matches('0');
    let point = if digits.is_empty() { "" } else { "." };
    format!("0x{lead}{point}{digits}p{power:+}")
}
