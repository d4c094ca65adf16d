//! Arithmetic on the 32 lanes of a warp: one function for each operation and type, chosen when a
//! module is loaded, so that nothing is decided while it runs.

pub(crate) mod bits;
pub(crate) mod compare;
pub(crate) mod convert;
pub(crate) mod float;
pub(crate) mod fused;
pub(crate) mod half;
pub(crate) mod integer;
pub(crate) mod round;

/// Threads of a warp.
pub(crate) const WARP: usize = 32;

/// A register of a warp: a value for each lane. Values narrower than 64 bits lie in the low bits;
/// signed ones are sign-extended, so that they can be read through a wider register.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub(crate) struct Lanes(pub(crate) [u64; WARP]);

impl Lanes {
    pub(crate) const ZERO: Self = Self([0; WARP]);

    /// The lanes whose value is true, as a mask.
    #[inline]
    pub(crate) fn truth(&self) -> u32 {
        let mut mask = 0;
        for (lane, value) in self.0.iter().enumerate() {
            mask |= ((value & 1) as u32) << lane;
        }
        mask
    }
}

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
pub(crate) type Exec = fn(&mut [Lanes], &Operands, u32);

/// A value of one lane.
pub(crate) trait Lane: Copy {
    fn of(bits: u64) -> Self;
    fn bits(self) -> u64;
}

macro_rules! lane_of_integer {
    ($($ty:ty),*) => {$(
        impl Lane for $ty {
            #[inline(always)]
            fn of(bits: u64) -> Self { bits as Self }
            // Sign-extends signed types.
            #[inline(always)]
            fn bits(self) -> u64 { self as i64 as u64 }
        }
    )*};
}
lane_of_integer!(u8, u16, u32, u64, i8, i16, i32, i64);

impl Lane for bool {
    #[inline(always)]
    fn of(bits: u64) -> Self {
        bits & 1 != 0
    }
    #[inline(always)]
    fn bits(self) -> u64 {
        u64::from(self)
    }
}

impl Lane for f32 {
    #[inline(always)]
    fn of(bits: u64) -> Self {
        Self::from_bits(bits as u32)
    }
    #[inline(always)]
    fn bits(self) -> u64 {
        u64::from(self.to_bits())
    }
}

impl Lane for f64 {
    #[inline(always)]
    fn of(bits: u64) -> Self {
        Self::from_bits(bits)
    }
    #[inline(always)]
    fn bits(self) -> u64 {
        self.to_bits()
    }
}

/// Calls `f` with the number of each lane of the mask.
#[inline(always)]
pub(crate) fn each(mask: u32, mut f: impl FnMut(usize)) {
    let mut rest = mask;
    while rest != 0 {
        f(rest.trailing_zeros() as usize);
        rest &= rest - 1;
    }
}

// With all lanes active the result goes to an array of its own first: it cannot overlap the
// sources, so the loop becomes vector instructions.

#[inline(always)]
pub(crate) fn map1<A: Lane, R: Lane>(
    regs: &mut [Lanes],
    o: &Operands,
    mask: u32,
    f: impl Fn(A) -> R,
) {
    let (d, a) = (o.d as usize, o.a as usize);
    if mask == u32::MAX {
        let mut out = Lanes::ZERO;
        for (out, a) in out.0.iter_mut().zip(&regs[a].0) {
            *out = f(A::of(*a)).bits();
        }
        regs[d] = out;
    } else {
        each(mask, |i| regs[d].0[i] = f(A::of(regs[a].0[i])).bits());
    }
}

#[inline(always)]
pub(crate) fn map2<A: Lane, B: Lane, R: Lane>(
    regs: &mut [Lanes],
    o: &Operands,
    mask: u32,
    f: impl Fn(A, B) -> R,
) {
    let (d, a, b) = (o.d as usize, o.a as usize, o.b as usize);
    if mask == u32::MAX {
        let mut out = Lanes::ZERO;
        for ((out, a), b) in out.0.iter_mut().zip(&regs[a].0).zip(&regs[b].0) {
            *out = f(A::of(*a), B::of(*b)).bits();
        }
        regs[d] = out;
    } else {
        each(mask, |i| {
            regs[d].0[i] = f(A::of(regs[a].0[i]), B::of(regs[b].0[i])).bits();
        });
    }
}

#[inline(always)]
pub(crate) fn map3<A: Lane, B: Lane, C: Lane, R: Lane>(
    regs: &mut [Lanes],
    o: &Operands,
    mask: u32,
    f: impl Fn(A, B, C) -> R,
) {
    let (d, a, b, c) = (o.d as usize, o.a as usize, o.b as usize, o.c as usize);
    if mask == u32::MAX {
        let mut out = Lanes::ZERO;
        let (a, b, c) = (&regs[a].0, &regs[b].0, &regs[c].0);
        for (((out, a), b), c) in out.0.iter_mut().zip(a).zip(b).zip(c) {
            *out = f(A::of(*a), B::of(*b), C::of(*c)).bits();
        }
        regs[d] = out;
    } else {
        each(mask, |i| {
            let (a, b, c) = (regs[a].0[i], regs[b].0[i], regs[c].0[i]);
            regs[d].0[i] = f(A::of(a), B::of(b), C::of(c)).bits();
        });
    }
}

#[inline(always)]
pub(crate) fn map4<A: Lane, B: Lane, C: Lane, X: Lane, R: Lane>(
    regs: &mut [Lanes],
    o: &Operands,
    mask: u32,
    f: impl Fn(A, B, C, X) -> R,
) {
    let (d, a, b, c, x) = (
        o.d as usize,
        o.a as usize,
        o.b as usize,
        o.c as usize,
        o.x as usize,
    );
    each(mask, |i| {
        let (a, b, c, x) = (regs[a].0[i], regs[b].0[i], regs[c].0[i], regs[x].0[i]);
        regs[d].0[i] = f(A::of(a), B::of(b), C::of(c), X::of(x)).bits();
    });
}

/// The function of an operation with one to four sources, from the function of a lane.
macro_rules! lanes {
    (|$a:ident: $A:ty| $body:expr) => {{
        fn run(regs: &mut [$crate::ptx::alu::Lanes], o: &$crate::ptx::alu::Operands, mask: u32) {
            $crate::ptx::alu::map1(regs, o, mask, |$a: $A| $body);
        }
        run as $crate::ptx::alu::Exec
    }};
    (|$a:ident: $A:ty, $b:ident: $B:ty| $body:expr) => {{
        fn run(regs: &mut [$crate::ptx::alu::Lanes], o: &$crate::ptx::alu::Operands, mask: u32) {
            $crate::ptx::alu::map2(regs, o, mask, |$a: $A, $b: $B| $body);
        }
        run as $crate::ptx::alu::Exec
    }};
    (|$a:ident: $A:ty, $b:ident: $B:ty, $c:ident: $C:ty| $body:expr) => {{
        fn run(regs: &mut [$crate::ptx::alu::Lanes], o: &$crate::ptx::alu::Operands, mask: u32) {
            $crate::ptx::alu::map3(regs, o, mask, |$a: $A, $b: $B, $c: $C| $body);
        }
        run as $crate::ptx::alu::Exec
    }};
    (|$a:ident: $A:ty, $b:ident: $B:ty, $c:ident: $C:ty, $x:ident: $X:ty| $body:expr) => {{
        fn run(regs: &mut [$crate::ptx::alu::Lanes], o: &$crate::ptx::alu::Operands, mask: u32) {
            $crate::ptx::alu::map4(regs, o, mask, |$a: $A, $b: $B, $c: $C, $x: $X| $body);
        }
        run as $crate::ptx::alu::Exec
    }};
}
pub(crate) use lanes;

/// The expression with `$T` as the Rust type of an integer type of 16 to 64 bits; else None.
macro_rules! for_integer {
    ($ty:expr, $T:ident => $body:expr) => {
        match $ty.unsigned() {
            Type::U16 => Some({
                type $T = u16;
                $body
            }),
            Type::U32 => Some({
                type $T = u32;
                $body
            }),
            Type::U64 => Some({
                type $T = u64;
                $body
            }),
            Type::S16 => Some({
                type $T = i16;
                $body
            }),
            Type::S32 => Some({
                type $T = i32;
                $body
            }),
            Type::S64 => Some({
                type $T = i64;
                $body
            }),
            _ => None,
        }
    };
}
pub(crate) use for_integer;
