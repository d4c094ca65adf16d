//! What a function's signature is made of.

/// A function as the bindings declare it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Signature {
    /// The symbol's name.
    pub name: &'static str,
    /// The oldest CUDA version (12040 is 12.4) of the bindings that has it; 0 if their oldest,
    /// 11.4, has it already, and for NVML.
    pub since: u32,
    /// Parameters in order.
    pub parameters: &'static [Parameter],
    /// The return type in Rust.
    pub returns: &'static str,
}

/// A parameter of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// Its name in the header.
    pub name: &'static str,
    /// Its type in Rust, with the names of [`crate::types`].
    pub ty: &'static str,
    /// What the type is once its aliases are resolved.
    pub shape: Shape,
}

/// What a type is once its aliases are resolved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// Integer, enumeration or floating point.
    Scalar,
    /// An alias of a pointer to an opaque structure.
    Handle,
    /// A pointer that the signature itself shows.
    Pointer,
    /// A structure or union passed by value.
    Aggregate,
    /// A function pointer.
    Callback,
}

/// `TABLE`, of declarations `name(parameter: Type = Shape, ..) -> Type, since VERSION;`. Without a shape a parameter
/// is a pointer if its type shows one, else a scalar; without a version the function is in all of them.
macro_rules! table {
    ($($name:ident($($parameter:ident: $ty:ty $(= $shape:ident)?),*) -> $returns:ty $(, since $since:literal)?;)*) => {
        pub(super) const TABLE: &[$crate::Signature] = &[$($crate::Signature {
            name: stringify!($name),
            since: 0 $(+ $since)?,
            parameters: &[$($crate::signature::parameter(
                stringify!($parameter),
                stringify!($ty),
                &[$($crate::Shape::$shape)?],
            )),*],
            returns: stringify!($returns),
        }),*];
    };
}
pub(crate) use table;

/// A parameter of a table, with the stated shape if one is.
pub(crate) const fn parameter(name: &'static str, ty: &'static str, stated: &[Shape]) -> Parameter {
    let shape = match stated {
        [shape, ..] => *shape,
        [] if ty.as_bytes()[0] == b'*' => Shape::Pointer,
        [] => Shape::Scalar,
    };
    Parameter { name, ty, shape }
}

/// The signature of `name` in a table sorted by name.
pub const fn find<'a>(table: &'a [Signature], name: &str) -> Option<&'a Signature> {
    let (mut low, mut high) = (0, table.len());
    while low < high {
        let middle = low + (high - low) / 2;
        match compare(table[middle].name, name) {
            0 => return Some(&table[middle]),
            less if less < 0 => low = middle + 1,
            _ => high = middle,
        }
    }
    None
}

/// Compares by bytes: below zero, zero, above zero. `str::cmp` is no const fn.
pub(crate) const fn compare(a: &str, b: &str) -> i32 {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    let mut at = 0;
    while at < a.len() && at < b.len() {
        if a[at] != b[at] {
            return a[at] as i32 - b[at] as i32;
        }
        at += 1;
    }
    a.len() as i32 - b.len() as i32
}

/// Whether `text` begins with `start`.
pub(crate) const fn starts_with(text: &str, start: &str) -> bool {
    let (text, start) = (text.as_bytes(), start.as_bytes());
    let mut at = 0;
    while at < start.len() {
        if at >= text.len() || text[at] != start[at] {
            return false;
        }
        at += 1;
    }
    true
}
