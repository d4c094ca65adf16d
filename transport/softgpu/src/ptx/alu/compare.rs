//! Comparisons. PTX ISA 8.x, section 9.7.5.

use super::super::types::Type;
use super::float::flush;
use super::{Exec, lanes};

/// a compared with b; true or false in the destination.
pub(crate) fn compare(op: &str, ty: Type, ftz: bool) -> Option<Exec> {
    match ty {
        Type::F32 if ftz => f32_flushed(op),
        Type::F32 => f32_plain(op),
        Type::F64 => f64_plain(op),
        _ => integer(op, ty),
    }
}

fn integer(op: &str, ty: Type) -> Option<Exec> {
    use Type::{S16, S32, S64, U16, U32, U64};
    macro_rules! by_type {
        (|$a:ident, $b:ident| $body:expr) => {
            match ty.unsigned() {
                U16 => lanes!(|$a: u16, $b: u16| $body),
                U32 => lanes!(|$a: u32, $b: u32| $body),
                U64 => lanes!(|$a: u64, $b: u64| $body),
                S16 => lanes!(|$a: i16, $b: i16| $body),
                S32 => lanes!(|$a: i32, $b: i32| $body),
                S64 => lanes!(|$a: i64, $b: i64| $body),
                _ => return None,
            }
        };
    }
    Some(match op {
        "eq" => by_type!(|a, b| a == b),
        "ne" => by_type!(|a, b| a != b),
        "lt" | "lo" => by_type!(|a, b| a < b),
        "le" | "ls" => by_type!(|a, b| a <= b),
        "gt" | "hi" => by_type!(|a, b| a > b),
        "ge" | "hs" => by_type!(|a, b| a >= b),
        _ => return None,
    })
}

macro_rules! floats {
    ($name:ident, $ty:ty, |$x:ident| $read:expr) => {
        // The negated forms are the comparisons that hold for NaN too.
        #[allow(
            clippy::neg_cmp_op_on_partial_ord,
            clippy::nonminimal_bool,
            clippy::double_comparisons
        )]
        fn $name(op: &str) -> Option<Exec> {
            macro_rules! with {
                (|$a:ident, $b:ident| $body:expr) => {
                    lanes!(|p: $ty, q: $ty| {
                        let ($a, $b) = (
                            {
                                let $x = p;
                                $read
                            },
                            {
                                let $x = q;
                                $read
                            },
                        );
                        $body
                    })
                };
            }
            Some(match op {
                "eq" => with!(|a, b| a == b),
                "ne" => with!(|a, b| a < b || a > b),
                "lt" => with!(|a, b| a < b),
                "le" => with!(|a, b| a <= b),
                "gt" => with!(|a, b| a > b),
                "ge" => with!(|a, b| a >= b),
                "equ" => with!(|a, b| !(a < b || a > b)),
                "neu" => with!(|a, b| !(a == b)),
                "ltu" => with!(|a, b| !(a >= b)),
                "leu" => with!(|a, b| !(a > b)),
                "gtu" => with!(|a, b| !(a <= b)),
                "geu" => with!(|a, b| !(a < b)),
                "num" => with!(|a, b| !a.is_nan() && !b.is_nan()),
                "nan" => with!(|a, b| a.is_nan() || b.is_nan()),
                _ => return None,
            })
        }
    };
}
floats!(f32_plain, f32, |x| x);
floats!(f32_flushed, f32, |x| flush::<true>(x));
floats!(f64_plain, f64, |x| x);

/// The destination of set: all ones or 1.0 for true.
pub(crate) fn spread(ty: Type) -> Option<Exec> {
    Some(match ty {
        Type::U32 | Type::S32 | Type::B32 => lanes!(|a: bool| if a { u32::MAX } else { 0 }),
        Type::F32 => lanes!(|a: bool| if a { 1.0_f32 } else { 0.0 }),
        _ => return None,
    })
}
