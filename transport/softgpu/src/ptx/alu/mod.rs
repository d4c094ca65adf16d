//! Arithmetic on the 32 lanes of a warp: one function for each operation and type, chosen when a
//! module is loaded, so that nothing is decided while it runs. On x86-64 each is compiled twice, for any
//! processor and for those with AVX2, whose vectors hold 8 lanes.

pub(crate) mod bits;
pub(crate) mod compare;
pub(crate) mod convert;
pub(crate) mod float;
pub(crate) mod half;
pub(crate) mod integer;
pub(crate) mod lane;
pub(crate) mod regs;
pub(crate) mod round;
#[cfg(target_arch = "x86_64")]
pub(crate) mod x86;

use lane::{Read, Write};
pub(crate) use regs::Regs;

/// Threads of a warp.
pub(crate) const WARP: usize = 32;

/// Register slots of an instruction; what each is for depends on the operation.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Operands {
    /// Destination.
    pub(crate) d: u32,
    /// Sources.
    pub(crate) a: u32,
    pub(crate) b: u32,
    pub(crate) c: u32,
    /// Fourth source, second destination, or the carry.
    pub(crate) x: u32,
}

/// Carries out an operation for the lanes of a mask.
///
/// # Safety
/// The processor has what the function was compiled for: those who choose it ask [`vectors`] first.
pub(crate) type Exec = unsafe fn(&mut Regs, &Operands, u32);

/// Whether functions compiled for AVX2 and what comes with it can run here.
pub(crate) fn vectors() -> bool {
    #[cfg(target_arch = "x86_64")]
    {
        x86::available()
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        false
    }
}

/// Calls `f` with the number of each lane of the mask.
#[inline(always)]
pub(crate) fn each(mask: u32, mut f: impl FnMut(usize)) {
    for lane in lanes_of(mask) {
        f(lane);
    }
}

/// The number of each lane of the mask.
#[inline(always)]
pub(crate) fn lanes_of(mask: u32) -> impl Iterator<Item = usize> {
    let mut rest = mask;
    std::iter::from_fn(move || {
        let lane = (rest != 0).then(|| rest.trailing_zeros() as usize);
        rest &= rest.wrapping_sub(1);
        lane
    })
}

/// The lanes whose word has its highest bit set, as a mask.
#[inline(always)]
pub(crate) fn pack(lanes: &[u32; WARP]) -> u32 {
    let mut mask = 0;
    for (lane, value) in lanes.iter().enumerate() {
        mask |= (value >> 31) << lane;
    }
    mask
}

// The result goes to an array of its own first: it cannot overlap the sources, so the loop becomes vector
// instructions. It is computed for all lanes, and kept for those of the mask.

#[inline(always)]
pub(crate) fn map1<A: Read, R: Write>(
    regs: &mut Regs,
    o: &Operands,
    mask: u32,
    pack: impl Fn(&[u32; WARP]) -> u32,
    f: impl Fn(A) -> R,
) {
    let mut out = R::ZERO;
    let a = A::lanes(regs, o.a);
    for i in 0..WARP {
        f(A::lane(a, i)).put(&mut out, i);
    }
    R::write(&out, regs, o.d, mask, pack);
}

#[inline(always)]
pub(crate) fn map2<A: Read, B: Read, R: Write>(
    regs: &mut Regs,
    o: &Operands,
    mask: u32,
    pack: impl Fn(&[u32; WARP]) -> u32,
    f: impl Fn(A, B) -> R,
) {
    let mut out = R::ZERO;
    let (a, b) = (A::lanes(regs, o.a), B::lanes(regs, o.b));
    for i in 0..WARP {
        f(A::lane(a, i), B::lane(b, i)).put(&mut out, i);
    }
    R::write(&out, regs, o.d, mask, pack);
}

#[inline(always)]
pub(crate) fn map3<A: Read, B: Read, C: Read, R: Write>(
    regs: &mut Regs,
    o: &Operands,
    mask: u32,
    pack: impl Fn(&[u32; WARP]) -> u32,
    f: impl Fn(A, B, C) -> R,
) {
    let mut out = R::ZERO;
    let (a, b) = (A::lanes(regs, o.a), B::lanes(regs, o.b));
    let c = C::lanes(regs, o.c);
    for i in 0..WARP {
        f(A::lane(a, i), B::lane(b, i), C::lane(c, i)).put(&mut out, i);
    }
    R::write(&out, regs, o.d, mask, pack);
}

#[inline(always)]
pub(crate) fn map4<A: Read, B: Read, C: Read, X: Read, R: Write>(
    regs: &mut Regs,
    o: &Operands,
    mask: u32,
    pack: impl Fn(&[u32; WARP]) -> u32,
    f: impl Fn(A, B, C, X) -> R,
) {
    let mut out = R::ZERO;
    let (a, b) = (A::lanes(regs, o.a), B::lanes(regs, o.b));
    let (c, x) = (C::lanes(regs, o.c), X::lanes(regs, o.x));
    for i in 0..WARP {
        f(A::lane(a, i), B::lane(b, i), C::lane(c, i), X::lane(x, i)).put(&mut out, i);
    }
    R::write(&out, regs, o.d, mask, pack);
}

// What is expensive for a lane, or may not be computed for lanes that are not there, is done for one after the
// other.

#[inline(always)]
pub(crate) fn each1<A: Read, R: Write>(
    regs: &mut Regs,
    o: &Operands,
    mask: u32,
    _: impl Fn(&[u32; WARP]) -> u32,
    f: impl Fn(A) -> R,
) {
    each(mask, |i| {
        let value = f(A::lane(A::lanes(regs, o.a), i));
        value.set(regs, o.d, i);
    });
}

#[inline(always)]
pub(crate) fn each2<A: Read, B: Read, R: Write>(
    regs: &mut Regs,
    o: &Operands,
    mask: u32,
    _: impl Fn(&[u32; WARP]) -> u32,
    f: impl Fn(A, B) -> R,
) {
    each(mask, |i| {
        let (a, b) = (A::lanes(regs, o.a), B::lanes(regs, o.b));
        f(A::lane(a, i), B::lane(b, i)).set(regs, o.d, i);
    });
}

#[inline(always)]
pub(crate) fn each3<A: Read, B: Read, C: Read, R: Write>(
    regs: &mut Regs,
    o: &Operands,
    mask: u32,
    _: impl Fn(&[u32; WARP]) -> u32,
    f: impl Fn(A, B, C) -> R,
) {
    each(mask, |i| {
        let (a, b) = (A::lanes(regs, o.a), B::lanes(regs, o.b));
        let c = C::lanes(regs, o.c);
        f(A::lane(a, i), B::lane(b, i), C::lane(c, i)).set(regs, o.d, i);
    });
}

/// A function of an operation, for the processor at hand.
macro_rules! compiled {
    ($map:ident, |$($name:ident: $ty:ty),+| $body:expr) => {{
        fn plain(
            regs: &mut $crate::ptx::alu::Regs,
            o: &$crate::ptx::alu::Operands,
            mask: u32,
        ) {
            $crate::ptx::alu::$map(regs, o, mask, $crate::ptx::alu::pack, |$($name: $ty),+| $body);
        }
        #[cfg(target_arch = "x86_64")]
        #[target_feature(enable = "avx2,fma,f16c,bmi1,bmi2,lzcnt,popcnt")]
        fn vectors(
            regs: &mut $crate::ptx::alu::Regs,
            o: &$crate::ptx::alu::Operands,
            mask: u32,
        ) {
            $crate::ptx::alu::$map(
                regs,
                o,
                mask,
                |lanes| $crate::ptx::alu::x86::pack(lanes),
                |$($name: $ty),+| $body,
            );
        }
        #[cfg(target_arch = "x86_64")]
        let chosen = if $crate::ptx::alu::vectors() {
            vectors as $crate::ptx::alu::Exec
        } else {
            plain as $crate::ptx::alu::Exec
        };
        #[cfg(not(target_arch = "x86_64"))]
        let chosen = plain as $crate::ptx::alu::Exec;
        chosen
    }};
}
pub(crate) use compiled;

/// The function of an operation with one to four sources, from the function of a lane.
macro_rules! lanes {
    (|$a:ident: $A:ty| $body:expr) => {
        $crate::ptx::alu::compiled!(map1, |$a: $A| $body)
    };
    (|$a:ident: $A:ty, $b:ident: $B:ty| $body:expr) => {
        $crate::ptx::alu::compiled!(map2, |$a: $A, $b: $B| $body)
    };
    (|$a:ident: $A:ty, $b:ident: $B:ty, $c:ident: $C:ty| $body:expr) => {
        $crate::ptx::alu::compiled!(map3, |$a: $A, $b: $B, $c: $C| $body)
    };
    (|$a:ident: $A:ty, $b:ident: $B:ty, $c:ident: $C:ty, $x:ident: $X:ty| $body:expr) => {
        $crate::ptx::alu::compiled!(map4, |$a: $A, $b: $B, $c: $C, $x: $X| $body)
    };
}
pub(crate) use lanes;

/// The same for what is done for one lane after the other.
macro_rules! singly {
    (|$a:ident: $A:ty| $body:expr) => {
        $crate::ptx::alu::compiled!(each1, |$a: $A| $body)
    };
    (|$a:ident: $A:ty, $b:ident: $B:ty| $body:expr) => {
        $crate::ptx::alu::compiled!(each2, |$a: $A, $b: $B| $body)
    };
    (|$a:ident: $A:ty, $b:ident: $B:ty, $c:ident: $C:ty| $body:expr) => {
        $crate::ptx::alu::compiled!(each3, |$a: $A, $b: $B, $c: $C| $body)
    };
}
pub(crate) use singly;

/// The same for predicates, of which all lanes are in one word.
macro_rules! masks {
    (|$a:ident| $body:expr) => {{
        fn run(regs: &mut $crate::ptx::alu::Regs, o: &$crate::ptx::alu::Operands, mask: u32) {
            let $a = regs.mask(o.a);
            regs.set_mask(o.d, mask, $body);
        }
        run as $crate::ptx::alu::Exec
    }};
    (|$a:ident, $b:ident| $body:expr) => {{
        fn run(regs: &mut $crate::ptx::alu::Regs, o: &$crate::ptx::alu::Operands, mask: u32) {
            let ($a, $b) = (regs.mask(o.a), regs.mask(o.b));
            regs.set_mask(o.d, mask, $body);
        }
        run as $crate::ptx::alu::Exec
    }};
}
pub(crate) use masks;

/// The expression with `$T` as the Rust type of an integer type of 16 to 64 bits; else None.
macro_rules! for_integer {
    (@ $ty:expr, $T:ident => $body:expr; $($variant:ident is $rust:ty),*) => {
        match $ty.unsigned() {
            $(Type::$variant => Some({
                type $T = $rust;
                $body
            }),)*
            _ => None,
        }
    };
    ($ty:expr, $T:ident => $body:expr) => {
        $crate::ptx::alu::for_integer!(
            @ $ty, $T => $body;
            U16 is u16, U32 is u32, U64 is u64, S16 is i16, S32 is i32, S64 is i64
        )
    };
}
pub(crate) use for_integer;
