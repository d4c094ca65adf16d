//! What travels, value by value; structures and enumerations by their members.

use crate::codec::{DecodeError, Reader, Writer};

/// A payload or a part of one, to and from bytes.
pub trait Payload<'a>: Sized {
    /// Bytes that it has at least.
    const LEAST: usize = 1;

    /// Appends it.
    fn write(&self, w: &mut Writer);

    /// It alone.
    fn to_bytes(&self) -> Vec<u8> {
        let mut w = Writer::default();
        self.write(&mut w);
        w.into_inner()
    }

    /// Reads it.
    ///
    /// # Errors
    ///
    /// [`DecodeError`]: the bytes are something else.
    fn read(r: &mut Reader<'a>) -> Result<Self, DecodeError>;

    /// Reads it where nothing may follow.
    ///
    /// # Errors
    ///
    /// As [`Payload::read`], and [`DecodeError::LeftOver`].
    fn whole(r: &mut Reader<'a>) -> Result<Self, DecodeError> {
        let whole = Self::read(r)?;
        r.end()?;
        Ok(whole)
    }

    /// Appends each of a list.
    fn write_each(list: &[Self], w: &mut Writer) {
        list.iter().for_each(|each| each.write(w));
    }

    /// Reads a list of `len`, which the bytes that are left can hold.
    ///
    /// # Errors
    ///
    /// As [`Payload::read`].
    fn read_each(r: &mut Reader<'a>, len: usize) -> Result<Vec<Self>, DecodeError> {
        (0..len).map(|_| Self::read(r)).collect()
    }
}

/// A number, a list or a text, or what has some.
pub trait Bounded<'a>: Payload<'a> {
    /// Reads it. A number is at most `most`; a list has at most as many elements, and a text bytes.
    ///
    /// # Errors
    ///
    /// As [`Payload::read`], and [`DecodeError::TooLong`].
    fn at_most(r: &mut Reader<'a>, most: usize) -> Result<Self, DecodeError>;
}

/// [`Payload`] of a structure whose members travel one behind the other, each of at most as much as it says in brackets
/// ([`Bounded`]).
#[macro_export]
macro_rules! members {
    (@read $r:ident) => { $crate::Payload::read($r)? };
    (@read $r:ident $most:expr) => { $crate::Bounded::at_most($r, $most)? };
    (@ $life:lifetime $($member:tt $([$most:expr])?),*) => {
        fn write(&self, w: &mut $crate::Writer) {
            $($crate::Payload::write(&self.$member, w);)*
        }

        fn read(r: &mut $crate::Reader<$life>) -> Result<Self, $crate::DecodeError> {
            Ok(Self { $($member: $crate::members!(@read r $($most)?)),* })
        }
    };
    ($name:ident<$life:lifetime>: $($members:tt)*) => {
        impl<$life> $crate::Payload<$life> for $name<$life> {
            $crate::members!(@ $life $($members)*);
        }
    };
    ($name:ident: $($members:tt)*) => {
        impl $crate::Payload<'_> for $name {
            $crate::members!(@ '_ $($members)*);
        }
    };
}

/// [`Payload`] of an enumeration: a byte for the kind, then its members one behind the other. A byte may stand for the value
/// of a member too.
#[macro_export]
macro_rules! kinds {
    ($name:ident<$life:lifetime>, $what:literal: $($kinds:tt)*) => {
        impl<$life> $crate::Payload<$life> for $name<$life> {
            $crate::kinds!(@ $life $what: $($kinds)*);
        }
    };
    ($name:ident, $what:literal: $($kinds:tt)*) => {
        impl $crate::Payload<'_> for $name {
            $crate::kinds!(@ '_ $what: $($kinds)*);
        }
    };
    (@ $life:lifetime $what:literal: $(
        $byte:literal => $kind:ident $({ $($member:ident $(: $value:literal)?),* })? $(($only:ident))?
    ),* $(,)?) => {
        fn write(&self, w: &mut $crate::Writer) {
            match self {
                $(Self::$kind $({ $($member $(: $value)?),* })? $(($only))? => {
                    w.u8($byte);
                    $($($crate::kinds!(@write w $member $($value)?);)*)?
                    $($crate::Payload::write($only, w);)?
                })*
            }
        }

        fn read(r: &mut $crate::Reader<$life>) -> Result<Self, $crate::DecodeError> {
            Ok(match r.u8()? {
                $($byte => Self::$kind
                    $({ $($member: $crate::kinds!(@read r $member $($value)?)),* })?
                    $(($crate::kinds!(@read r $only)))?,)*
                value => {
                    return Err($crate::DecodeError::BadValue { what: $what, value: value.into() });
                }
            })
        }
    };
    (@write $w:ident $member:ident) => { $crate::Payload::write($member, $w) };
    (@write $w:ident $member:ident $value:literal) => {};
    (@read $r:ident $member:ident) => { $crate::Payload::read($r)? };
    (@read $r:ident $member:ident $value:literal) => { $value };
}

macro_rules! numbers {
    ($($ty:ident),*) => {$(
        impl Payload<'_> for $ty {
            const LEAST: usize = size_of::<Self>();

            #[inline]
            fn write(&self, w: &mut Writer) {
                w.raw(&self.to_le_bytes());
            }

            #[inline]
            fn read(r: &mut Reader<'_>) -> Result<Self, DecodeError> {
                r.array().map(Self::from_le_bytes)
            }
        }
    )*};
}

numbers!(i8, u16, i16, u32, i32, u64, i64, f32, f64);

/// Many at once.
impl Payload<'_> for u8 {
    #[inline]
    fn write(&self, w: &mut Writer) {
        w.u8(*self);
    }

    #[inline]
    fn read(r: &mut Reader<'_>) -> Result<Self, DecodeError> {
        r.u8()
    }

    fn write_each(list: &[Self], w: &mut Writer) {
        w.raw(list);
    }

    fn read_each(r: &mut Reader<'_>, len: usize) -> Result<Vec<Self>, DecodeError> {
        r.raw(len).map(<[Self]>::to_vec)
    }
}

/// As a u64.
impl Payload<'_> for usize {
    #[inline]
    fn write(&self, w: &mut Writer) {
        w.u64(*self as u64);
    }

    #[inline]
    fn read(r: &mut Reader<'_>) -> Result<Self, DecodeError> {
        r.len(Self::MAX)
    }
}

impl Payload<'_> for bool {
    fn write(&self, w: &mut Writer) {
        w.u8((*self).into());
    }

    fn read(r: &mut Reader<'_>) -> Result<Self, DecodeError> {
        r.flag("whether something is so")
    }
}

impl Bounded<'_> for u64 {
    fn at_most(r: &mut Reader<'_>, most: usize) -> Result<Self, DecodeError> {
        r.len(most).map(|number| number as Self)
    }
}

/// With a byte before it that says whether it is there.
impl<'a, T: Payload<'a>> Payload<'a> for Option<T> {
    fn write(&self, w: &mut Writer) {
        self.is_some().write(w);
        if let Some(there) = self {
            there.write(w);
        }
    }

    fn read(r: &mut Reader<'a>) -> Result<Self, DecodeError> {
        bool::read(r)?.then(|| T::read(r)).transpose()
    }
}

impl<'a, T: Bounded<'a>> Bounded<'a> for Option<T> {
    fn at_most(r: &mut Reader<'a>, most: usize) -> Result<Self, DecodeError> {
        bool::read(r)?.then(|| T::at_most(r, most)).transpose()
    }
}

impl<'a, T: Payload<'a> + Copy + Default, const N: usize> Payload<'a> for [T; N] {
    const LEAST: usize = T::LEAST * N;

    fn write(&self, w: &mut Writer) {
        T::write_each(self, w);
    }

    fn read(r: &mut Reader<'a>) -> Result<Self, DecodeError> {
        let mut all = [T::default(); N];
        for each in &mut all {
            *each = T::read(r)?;
        }
        Ok(all)
    }
}

impl<'a, A: Payload<'a>, B: Payload<'a>> Payload<'a> for (A, B) {
    const LEAST: usize = A::LEAST + B::LEAST;

    fn write(&self, w: &mut Writer) {
        self.0.write(w);
        self.1.write(w);
    }

    fn read(r: &mut Reader<'a>) -> Result<Self, DecodeError> {
        Ok((A::read(r)?, B::read(r)?))
    }
}

/// As many as the bytes left can hold: memory taken for them is bounded by what was sent.
impl<'a, T: Payload<'a>> Payload<'a> for Vec<T> {
    fn write(&self, w: &mut Writer) {
        w.u64(self.len() as u64);
        T::write_each(self, w);
    }

    fn read(r: &mut Reader<'a>) -> Result<Self, DecodeError> {
        Self::at_most(r, usize::MAX)
    }
}

impl<'a, T: Payload<'a>> Bounded<'a> for Vec<T> {
    fn at_most(r: &mut Reader<'a>, most: usize) -> Result<Self, DecodeError> {
        let cap = most.min(r.left() / T::LEAST.max(1));
        let len = r.len(cap)?;
        T::read_each(r, len)
    }
}

impl<'a> Payload<'a> for &'a str {
    fn write(&self, w: &mut Writer) {
        w.str(self);
    }

    fn read(r: &mut Reader<'a>) -> Result<Self, DecodeError> {
        Self::at_most(r, usize::MAX)
    }
}

impl<'a> Bounded<'a> for &'a str {
    fn at_most(r: &mut Reader<'a>, most: usize) -> Result<Self, DecodeError> {
        r.str(most)
    }
}

impl Payload<'_> for String {
    fn write(&self, w: &mut Writer) {
        w.str(self);
    }

    fn read(r: &mut Reader<'_>) -> Result<Self, DecodeError> {
        Self::at_most(r, usize::MAX)
    }
}

impl Bounded<'_> for String {
    fn at_most(r: &mut Reader<'_>, most: usize) -> Result<Self, DecodeError> {
        r.str(most).map(str::to_owned)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// As the values travel one by one.
        #[test]
        fn bytes_travel_at_once(bytes: Vec<u8>, most in 0..64usize) {
            let signed: Vec<i8> = bytes.iter().map(|byte| byte.cast_signed()).collect();
            let sent = bytes.to_bytes();
            prop_assert_eq!(&sent, &signed.to_bytes());
            prop_assert_eq!(Vec::<u8>::whole(&mut Reader::new(&sent)), Ok(bytes.clone()));
            let at_most = |sent: &[u8]| Vec::<u8>::at_most(&mut Reader::new(sent), most).ok();
            prop_assert_eq!(at_most(&sent), Some(bytes).filter(|bytes| bytes.len() <= most));
            prop_assert_eq!(at_most(&sent[..sent.len() - 1]), None);
        }
    }
}
