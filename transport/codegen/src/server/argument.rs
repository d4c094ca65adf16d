//! An argument on the server's side: how it is read, checked, passed, and what of it goes back.

use std::fmt::Write as _;

use gtrace_cuda::{Api, Argument, Kind, Length, Parameter, Pass, Shape};

use crate::Error;

/// An argument at work.
pub(super) struct At<'a> {
    pub(super) api: Api,
    pub(super) argument: &'a Argument,
    pub(super) parameter: &'a Parameter,
    /// The argument with whose object the one that this one gives ends.
    pub(super) parent: Option<&'static str>,
}

impl At<'_> {
    fn name(&self) -> &'static str {
        self.argument.name
    }

    /// What the pointer points to; words for bytes, so that any value is aligned.
    fn element(&self) -> &'static str {
        if self.void() {
            return "u64";
        }
        let ty = self.parameter.ty;
        let pointee = ty
            .strip_prefix("*mut ")
            .or_else(|| ty.strip_prefix("*const "));
        match pointee {
            Some(pointee) => pointee,
            None => ty,
        }
    }

    /// Whether its elements are bytes.
    fn void(&self) -> bool {
        let bytes = matches!(self.argument.length, Some(Length::Bytes(_)));
        bytes || self.parameter.ty.ends_with(" c_void")
    }

    fn scalar(&self) -> bool {
        self.parameter.shape == Shape::Scalar
    }

    /// The array's elements: bytes for `void`.
    fn count(&self) -> Option<String> {
        Some(match self.argument.length? {
            Length::Fixed(fixed) => format!("{fixed}usize"),
            Length::Argument(argument) | Length::Bytes(argument) | Length::Pointee(argument) => {
                format!("Scalar::as_len({argument})")
            }
            Length::Less(argument, less) => {
                format!("Scalar::as_len({argument}).saturating_sub({less})")
            }
        })
    }

    /// Elements of the Vec that holds them.
    fn held(&self) -> Option<String> {
        let count = self.count()?;
        Some(match self.void() {
            true => format!("({count}).div_ceil(8)"),
            false => count,
        })
    }

    /// The code for a handle that is not known.
    fn wrong(&self) -> &'static str {
        match self.api {
            Api::Driver => "Err(code) => return Ok(code),",
            Api::Nvml => "Err(_) => return Ok(NVML_ERROR_INVALID_ARGUMENT.cast_signed()),",
        }
    }

    /// Reads the request's part.
    pub(super) fn takes(&self, out: &mut String) -> Result<(), Error> {
        let (name, element, nullable) = (self.name(), self.element(), self.argument.nullable);
        let there = format!("let there_{name} = r.flag(\"whether a pointer is there\")?;");
        match self.argument.pass {
            Pass::Value if self.scalar() => {
                writeln!(out, "let {name}: {} = Scalar::take(r)?;", self.parameter.ty)?;
            }
            Pass::Value => writeln!(
                out,
                "let mut {name}: {} = unsafe {{ wire::zeroed() }};
                unsafe {{ wire::take(r, &raw mut {name}, 1) }}?;",
                self.parameter.ty
            )?,
            Pass::Address | Pass::Handle(_) | Pass::Destroy(_) | Pass::Mint(_) => {
                writeln!(out, "let {name} = r.u64()?;")?;
            }
            Pass::In | Pass::InOut if self.argument.length.is_none() => {
                let take = format!("unsafe {{ wire::take(r, &raw mut {name}, 1) }}?;");
                let take = match nullable {
                    true => format!("{there} if there_{name} {{ {take} }}"),
                    false => take,
                };
                writeln!(
                    out,
                    "let mut {name}: {element} = unsafe {{ wire::zeroed() }};{take}"
                )?;
            }
            Pass::In | Pass::InOut => self.takes_array(out, &there)?,
            Pass::Versioned if nullable => writeln!(
                out,
                "{there} let mut {name} = match there_{name} {{
                    true => Some(Versioned::take(r)?), false => None,
                }};"
            )?,
            Pass::Versioned => writeln!(out, "let mut {name} = Versioned::take(r)?;")?,
            Pass::InString if nullable => writeln!(
                out,
                "{there} let {name} = match there_{name} {{
                    true => Some(wire::take_string(r)?), false => None,
                }};"
            )?,
            Pass::InString => writeln!(out, "let {name} = wire::take_string(r)?;")?,
            Pass::Handles(_) if nullable => {
                return Err(self.unsupported("handles that may be null"));
            }
            Pass::Handles(_) => {
                writeln!(
                    out,
                    "let {name}: Vec<u64> = unsafe {{ wire::take_vec(r) }}?;"
                )?;
            }
            Pass::Out | Pass::OutString | Pass::OutHandles(_) | Pass::Known(_) if nullable => {
                writeln!(out, "{there}")?;
            }
            Pass::Out | Pass::OutString | Pass::OutHandles(_) | Pass::Known(_) | Pass::Unsent => {}
            Pass::HostIn | Pass::HostOut | Pass::Special => {
                return Err(
                    self.unsupported("travels by hand in a function that is not served by hand")
                );
            }
        }
        Ok(())
    }

    fn unsupported(&self, reason: &'static str) -> Error {
        Error::Unsupported {
            argument: self.argument.name,
            reason,
        }
    }

    fn takes_array(&self, out: &mut String, there: &str) -> Result<(), Error> {
        let (name, element) = (self.name(), self.element());
        let count = self.count().ok_or(Error::NoLength(name))?;
        let take = match (self.argument.length, self.void()) {
            (Some(Length::Fixed(_)), true) => format!(
                "{{ let mut words = [0u64; ({count}).div_ceil(8)];
                unsafe {{ wire::take(r, words.as_mut_ptr().cast::<u8>(), {count}) }}?;
                words.to_vec() }}"
            ),
            (Some(Length::Fixed(_)), false) => format!(
                "{{ let mut all = unsafe {{ wire::room::<{element}>({count}) }}?;
                unsafe {{ wire::take(r, all.as_mut_ptr(), {count}) }}?; all }}"
            ),
            (_, true) => "wire::take_words(r)?".to_owned(),
            (_, false) => format!("unsafe {{ wire::take_vec::<{element}>(r) }}?"),
        };
        match self.argument.nullable {
            true => writeln!(
                out,
                "{there}
                let mut {name} = match there_{name} {{ true => {take}, false => Vec::new() }};"
            )?,
            false => writeln!(out, "let mut {name} = {take};")?,
        }
        Ok(())
    }

    /// Handles and lengths.
    pub(super) fn checks(&self, out: &mut String) -> Result<(), Error> {
        let (name, wrong) = (self.name(), self.wrong());
        if let Some(Length::Argument(length) | Length::Bytes(length) | Length::Less(length, _)) =
            self.argument.length
        {
            // There would be no room for what the driver may write for it.
            writeln!(
                out,
                "if Scalar::is_negative({length}) {{ return Err(mismatch({length:?}, 0).into()); }}"
            )?;
        }
        match self.argument.pass {
            Pass::Handle(kind) | Pass::Destroy(kind) => {
                let real = format!(
                    "match exec.handles.real(Kind::{kind:?}, {name}) {{
                        Ok(real) => real.cast(), {wrong}
                    }}"
                );
                let real = match self.argument.nullable {
                    true => format!("if {name} == 0 {{ core::ptr::null_mut() }} else {{ {real} }}"),
                    false => real,
                };
                writeln!(out, "let real_{name} = {real};")?;
            }
            Pass::Mint(kind) => writeln!(
                out,
                "match exec.handles.check_minted(Kind::{kind:?}, {name}) {{ Ok(()) => {{}} {wrong} }}"
            )?,
            Pass::Handles(kind) => {
                let count = self.count().ok_or(Error::NoLength(name))?;
                writeln!(
                    out,
                    "if {name}.len() != {count} {{ return Err(mismatch({name:?}, {name}.len()).into()); }}
                    let mut real_{name} = Vec::with_capacity({name}.len());
                    for handle in {name} {{
                        match exec.handles.real(Kind::{kind:?}, handle) {{
                            Ok(real) => real_{name}.push(real.cast()), {wrong}
                        }}
                    }}"
                )?;
            }
            Pass::In | Pass::InOut
                if matches!(
                    self.argument.length,
                    Some(Length::Argument(_) | Length::Less(..) | Length::Bytes(_))
                ) =>
            {
                let held = self.held().ok_or(Error::NoLength(name))?;
                let there = match self.argument.nullable {
                    true => format!("there_{name} && "),
                    false => String::new(),
                };
                writeln!(
                    out,
                    "if {there}{name}.len() != {held} {{ return Err(mismatch({name:?}, {name}.len()).into()); }}"
                )?;
            }
            _ => {}
        }
        Ok(())
    }

    /// Room for what comes back.
    pub(super) fn rooms(&self, out: &mut String) -> Result<(), Error> {
        let (name, element) = (self.name(), self.element());
        match self.argument.pass {
            Pass::Mint(_) => {
                writeln!(
                    out,
                    "let mut made_{name}: {element} = core::ptr::null_mut();"
                )?;
            }
            Pass::Known(_) => {
                writeln!(out, "let mut {name}: {element} = core::ptr::null_mut();")?;
            }
            Pass::Out if self.argument.length.is_none() => {
                writeln!(
                    out,
                    "let mut {name}: {element} = unsafe {{ wire::zeroed() }};"
                )?;
            }
            Pass::Out | Pass::OutString | Pass::OutHandles(_) => {
                let held = self.held().ok_or(Error::NoLength(name))?;
                let held = match self.argument.nullable {
                    true => format!("if there_{name} {{ {held} }} else {{ 0 }}"),
                    false => held,
                };
                let room = match self.argument.pass {
                    Pass::OutHandles(_) => format!("wire::room_for_handles({held})?"),
                    _ => format!("unsafe {{ wire::room::<{element}>({held}) }}?"),
                };
                writeln!(out, "let mut {name}: Vec<{element}> = {room};")?;
                if matches!(self.argument.length, Some(Length::Pointee(_))) {
                    writeln!(out, "let room_{name} = {name}.len();")?;
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// The argument in the call.
    pub(super) fn passes(&self) -> String {
        let name = self.name();
        let some = |pointer: String| match self.argument.nullable {
            true => format!("if there_{name} {{ {pointer} }} else {{ core::ptr::null_mut() }}"),
            false => pointer,
        };
        match self.argument.pass {
            Pass::Value => name.to_owned(),
            Pass::Address if self.scalar() => name.to_owned(),
            Pass::Address => format!("core::ptr::with_exposed_provenance_mut({name} as usize)"),
            Pass::Handle(_) | Pass::Destroy(_) => format!("real_{name}"),
            Pass::Mint(_) => format!("&raw mut made_{name}"),
            Pass::Handles(_) => format!("real_{name}.as_mut_ptr()"),
            Pass::Known(_) => some(format!("&raw mut {name}")),
            Pass::In | Pass::InOut | Pass::Out if self.argument.length.is_none() => {
                some(format!("&raw mut {name}"))
            }
            Pass::In if self.void() => some(format!("{name}.as_ptr().cast_mut().cast()")),
            Pass::In => some(format!("{name}.as_ptr().cast_mut()")),
            Pass::InOut | Pass::Out if self.void() => some(format!("{name}.as_mut_ptr().cast()")),
            Pass::InOut | Pass::Out | Pass::OutString | Pass::OutHandles(_) => {
                some(format!("{name}.as_mut_ptr()"))
            }
            Pass::Versioned if self.argument.nullable => {
                format!("{name}.as_mut().map_or(core::ptr::null_mut(), Versioned::pointer)")
            }
            Pass::Versioned => format!("{name}.pointer()"),
            Pass::InString if self.argument.nullable => {
                format!("{name}.as_ref().map_or(core::ptr::null(), |text| text.as_ptr())")
            }
            Pass::InString => format!("{name}.as_ptr()"),
            Pass::Unsent | Pass::HostIn | Pass::HostOut | Pass::Special => {
                "core::ptr::null_mut()".to_owned()
            }
        }
    }

    /// The number of what the driver calls `real`.
    fn known(&self, kind: Kind, real: &str) -> String {
        match self.parent {
            Some(parent) => {
                format!("exec.handles.known_child(Kind::{kind:?}, {real}.cast(), {parent})")
            }
            None => format!("exec.handles.known(Kind::{kind:?}, {real}.cast())"),
        }
    }

    /// What a success changes in the table of handles.
    pub(super) fn after(&self, out: &mut String) -> Result<(), Error> {
        let name = self.name();
        match self.argument.pass {
            Pass::Mint(kind) => match self.parent {
                Some(parent) => writeln!(
                    out,
                    "exec.handles.insert_child(Kind::{kind:?}, {name}, made_{name}.cast(), {parent});"
                )?,
                None => writeln!(
                    out,
                    "exec.handles.insert(Kind::{kind:?}, {name}, made_{name}.cast());"
                )?,
            },
            Pass::Destroy(kind) => writeln!(out, "exec.handles.remove(Kind::{kind:?}, {name});")?,
            _ => {}
        }
        Ok(())
    }

    /// Writes the reply's part.
    pub(super) fn puts(&self, out: &mut String) -> Result<(), Error> {
        let name = self.name();
        let put = match (self.argument.pass, self.argument.length) {
            (Pass::Known(kind), _) => {
                format!("w.u64({});", self.known(kind, name))
            }
            (Pass::InOut | Pass::Out, None) => {
                format!("unsafe {{ wire::put(w, &raw const {name}, 1) }};")
            }
            (Pass::Versioned, _) if self.argument.nullable => {
                writeln!(out, "if let Some({name}) = &{name} {{ {name}.put(w); }}")?;
                return Ok(());
            }
            (Pass::Versioned, _) => format!("{name}.put(w);"),
            (Pass::InOut | Pass::Out, Some(Length::Fixed(count))) => {
                format!("unsafe {{ wire::put(w, {name}.as_ptr().cast::<{}>(), {count}) }};", self.unit())
            }
            (
                Pass::InOut | Pass::Out,
                Some(Length::Argument(_) | Length::Less(..) | Length::Bytes(_)),
            ) => {
                let count = self.count().ok_or(Error::NoLength(name))?;
                format!(
                    "let count = {count}; w.u64(count as u64);
                    unsafe {{ wire::put(w, {name}.as_ptr().cast::<{}>(), count) }};",
                    self.unit()
                )
            }
            // What the driver filled; nothing if there was too little room.
            (Pass::Out, Some(Length::Pointee(argument))) => format!(
                "let count = if answered == 0 {{ Scalar::as_len({argument}).min(room_{name}) }} else {{ 0 }};
                w.u64(count as u64);
                unsafe {{ wire::put(w, {name}.as_ptr(), count) }};"
            ),
            (Pass::OutString, _) => format!("wire::put_room(w, &{name});"),
            (Pass::OutHandles(kind), Some(length)) => {
                let count = match length {
                    Length::Pointee(argument) => format!(
                        "if answered == 0 {{ Scalar::as_len({argument}).min({name}.len()) }} else {{ 0 }}"
                    ),
                    _ => format!("{name}.len()"),
                };
                format!(
                    "let count = {count}; w.u64(count as u64);
                    for real in {name}.iter().take(count) {{
                        w.u64({});
                    }}",
                    self.known(kind, "real")
                )
            }
            _ => return Ok(()),
        };
        match self.argument.nullable {
            true => writeln!(out, "if there_{name} {{ {put} }}")?,
            false if put.contains("let ") => writeln!(out, "{{ {put} }}")?,
            false => writeln!(out, "{put}")?,
        }
        Ok(())
    }

    /// The element as the wire has it.
    fn unit(&self) -> &'static str {
        match self.void() {
            true => "u8",
            false => self.element(),
        }
    }
}
