//! The calls: what is checked, what is sent, what comes back.

use std::fmt::Write as _;

use gtrace_cuda::{Api, Argument, Class, Function, Length, Parameter, Pass, Shape, functions};

use super::{invalid, parameters};
use crate::{Error, signature, subject};

/// The file of one library's calls that travel as they are described, named as what they call.
///
/// # Errors
///
/// [`Error::NoSignature`], [`Error::NoLength`].
pub fn calls(api: Api) -> Result<String, Error> {
    let (what, types) = subject(api);
    let mut out = crate::head(&format!(
        "Calls of {what} that travel as they are described."
    ));
    out.push_str(&super::uses(types));
    out.push_str(
        "use gtrace_cuda::{Kind, Operation, wire};
        use gtrace_protocol::{Reader, Writer, op_id};

        use crate::entry;

",
    );
    for function in functions::all(api).filter(|function| function.called_by_generated()) {
        call(&mut out, api, function)?;
    }
    Ok(out)
}

/// `remote::NAME`: null checks, what is sent, what comes back.
fn call(out: &mut String, api: Api, function: &Function) -> Result<(), Error> {
    let signature = signature(api, function)?;
    let mut writing = String::new();
    let mut reading = String::new();
    writeln!(
        out,
        "pub(crate) unsafe fn {}({}) -> {} {{",
        function.name,
        parameters(signature),
        signature.returns
    )?;
    let mut minted = Vec::new();
    for (argument, parameter) in function.arguments.iter().zip(signature.parameters) {
        let at = At {
            api,
            argument,
            parameter,
        };
        at.checks(out)?;
        at.writes(&mut writing)?;
        at.reads(&mut reading)?;
        if let Pass::Mint(kind) = argument.pass {
            let name = argument.name;
            writeln!(out, "let minted_{name} = entry::mint(Kind::{kind:?});")?;
            minted.push(name);
        }
    }
    let name = function.name;
    let write = if writing.trim().is_empty() {
        "&mut |_w: &mut Writer| Ok(())".to_owned()
    } else {
        format!("&mut |w: &mut Writer| {{ {writing} Ok(()) }}")
    };
    let sent = match (api, function.class) {
        (Api::Driver, Class::OneWay) => {
            format!("entry::one_way(const {{ Operation::named({name:?}) }}, {write})")
        }
        (api, _) => {
            let waiting = if api == Api::Driver {
                "waiting"
            } else {
                "nvml"
            };
            let read = if reading.is_empty() {
                "&mut |_r: &mut Reader<'_>| Ok(())".to_owned()
            } else {
                format!("&mut |r: &mut Reader<'_>| {{ {reading} Ok(()) }}")
            };
            format!("entry::{waiting}(const {{ op_id({name:?}) }}, {write}, {read})")
        }
    };
    if minted.is_empty() {
        writeln!(out, "{sent}")?;
    } else {
        writeln!(out, "let status = {sent};\nif status == 0 {{")?;
        for name in minted {
            let write = format!(
                "unsafe {{ {name}.write(core::ptr::with_exposed_provenance_mut(minted_{name} as usize)) }};"
            );
            writeln!(out, "{write}")?;
        }
        out.push_str("}\nstatus\n");
    }
    out.push_str("}\n\n");
    Ok(())
}

struct At<'a> {
    api: Api,
    argument: &'a Argument,
    parameter: &'a Parameter,
}

impl At<'_> {
    fn name(&self) -> &'static str {
        self.argument.name
    }

    /// Whether its elements are bytes.
    fn void(&self) -> bool {
        let bytes = matches!(self.argument.length, Some(Length::Bytes(_)));
        bytes || self.parameter.ty.ends_with(" c_void")
    }

    /// The pointer, to bytes if it points to `void`.
    fn pointer(&self) -> String {
        let name = self.name();
        match self.void() {
            true => format!("{name}.cast::<u8>()"),
            false => name.to_owned(),
        }
    }

    /// The number of elements in an expression, if it is not one.
    fn count(&self) -> Option<String> {
        Some(match self.argument.length? {
            Length::Fixed(fixed) => fixed.to_string(),
            Length::Argument(argument) | Length::Bytes(argument) => {
                format!("wire::Scalar::as_len({argument})")
            }
            Length::Less(argument, less) => {
                format!("wire::Scalar::as_len({argument}).saturating_sub({less})")
            }
            Length::Pointee(_) => format!("capacity_{}", self.name()),
        })
    }

    /// Before anything is sent.
    fn checks(&self, out: &mut String) -> Result<(), Error> {
        let (name, invalid) = (self.name(), invalid(self.api));
        if let Some(Length::Pointee(pointee)) = self.argument.length {
            writeln!(
                out,
                "let capacity_{name} = if {name}.is_null() {{ 0 }} else {{
                    match unsafe {{ {pointee}.as_ref() }} {{
                        Some(count) => wire::Scalar::as_len(*count),
                        None => return {invalid},
                    }}
                }};"
            )?;
        }
        let pointer = self.parameter.shape == Shape::Pointer
            && !matches!(self.argument.pass, Pass::Unsent | Pass::Address);
        if pointer && !self.argument.nullable {
            match (self.argument.length, self.count()) {
                (Some(Length::Argument(_) | Length::Less(..) | Length::Bytes(_)), Some(count)) => {
                    writeln!(
                        out,
                        "if {name}.is_null() && {count} != 0 {{ return {invalid}; }}"
                    )?;
                }
                _ => writeln!(out, "if {name}.is_null() {{ return {invalid}; }}")?,
            }
        }
        if let (Pass::In | Pass::InOut, Some(Length::Argument(_) | Length::Less(..)), Some(count)) =
            (self.argument.pass, self.argument.length, self.count())
        {
            let pointer = self.pointer();
            writeln!(
                out,
                "if !wire::fits({pointer}, {count}) {{ return {invalid}; }}"
            )?;
        }
        Ok(())
    }

    /// What goes into the request.
    fn writes(&self, out: &mut String) -> Result<(), Error> {
        let (name, pointer) = (self.name(), self.pointer());
        let scalar = self.parameter.shape == Shape::Scalar;
        let body = match self.argument.pass {
            Pass::Value if scalar => format!("wire::Scalar::put({name}, w);"),
            Pass::Value => format!("unsafe {{ wire::put(w, &raw const {name}, 1) }};"),
            Pass::Address if scalar => format!("w.u64({name});"),
            Pass::Address => format!("w.u64({name}.addr() as u64);"),
            Pass::Handle(_) | Pass::Destroy(_) => format!("w.u64({name}.addr() as u64);"),
            Pass::Mint(_) => format!("w.u64(minted_{name});"),
            Pass::In | Pass::InOut => match (self.argument.length, self.count()) {
                (Some(Length::Fixed(_)), Some(count)) => {
                    format!("unsafe {{ wire::put(w, {pointer}, {count}) }};")
                }
                (_, Some(count)) => {
                    format!("w.u64({count} as u64); unsafe {{ wire::put(w, {pointer}, {count}) }};")
                }
                (_, None) => format!("unsafe {{ wire::put(w, {pointer}, 1) }};"),
            },
            Pass::Handles(_) => {
                let count = self.count().ok_or(Error::NoLength(name))?;
                format!(
                    "w.u64({count} as u64);
                    for at in 0..{count} {{ w.u64(unsafe {{ {name}.add(at).read() }}.addr() as u64); }}"
                )
            }
            Pass::Versioned => format!(
                "if !unsafe {{ wire::put_versioned(w, {name}) }} {{
                    return Err(NVML_ERROR_ARGUMENT_VERSION_MISMATCH);
                }}"
            ),
            Pass::InString => format!("unsafe {{ wire::put_string(w, {name}) }};"),
            Pass::Out | Pass::OutString | Pass::OutHandles(_) => String::new(),
            Pass::Known(_) if self.argument.nullable => String::new(),
            Pass::Known(_) | Pass::Unsent => return Ok(()),
            Pass::HostIn | Pass::HostOut | Pass::Special => return Ok(()),
        };
        let flagged = self.argument.nullable && !matches!(self.argument.pass, Pass::Handle(_));
        match (flagged, body.is_empty()) {
            (false, true) => {}
            (false, false) => writeln!(out, "{body}")?,
            (true, true) => writeln!(out, "w.u8(u8::from(!{name}.is_null()));")?,
            (true, false) => writeln!(
                out,
                "w.u8(u8::from(!{name}.is_null())); if !{name}.is_null() {{ {body} }}"
            )?,
        }
        Ok(())
    }

    /// What is taken from the reply.
    fn reads(&self, out: &mut String) -> Result<(), Error> {
        let (name, pointer) = (self.name(), self.pointer());
        let body = match self.argument.pass {
            Pass::Known(_) => format!(
                "let known = r.u64()? as usize;
                unsafe {{ {name}.write(core::ptr::with_exposed_provenance_mut(known)) }};"
            ),
            Pass::Versioned => format!("unsafe {{ wire::take_versioned(r, {name}) }}?;"),
            Pass::Out | Pass::InOut => match (self.argument.length, self.count()) {
                (Some(Length::Fixed(_)), Some(count)) => {
                    format!("unsafe {{ wire::take(r, {pointer}, {count}) }}?;")
                }
                (_, Some(count)) => format!(
                    "let len_{name} = r.len({count})?;
                    unsafe {{ wire::take(r, {pointer}, len_{name}) }}?;"
                ),
                (_, None) => format!("unsafe {{ wire::take(r, {pointer}, 1) }}?;"),
            },
            Pass::OutString => {
                let count = self.count().ok_or(Error::NoLength(name))?;
                format!("unsafe {{ wire::take_room(r, {name}, {count}) }}?;")
            }
            Pass::OutHandles(_) => {
                let count = self.count().ok_or(Error::NoLength(name))?;
                // The driver writes null where there is room for more than there are.
                let rest = match self.argument.length {
                    Some(Length::Pointee(_)) => format!(
                        "for at in len_{name}..{count} {{
                            unsafe {{ {name}.add(at).write(core::ptr::null_mut()) }};
                        }}"
                    ),
                    _ => String::new(),
                };
                format!(
                    "let len_{name} = r.len({count})?;
                    for at in 0..len_{name} {{
                        let known = r.u64()? as usize;
                        unsafe {{ {name}.add(at).write(core::ptr::with_exposed_provenance_mut(known)) }};
                    }}
                    {rest}"
                )
            }
            _ => return Ok(()),
        };
        match self.argument.nullable {
            false => writeln!(out, "{body}")?,
            // The server sends nothing for what was null.
            true => writeln!(out, "if !{name}.is_null() {{ {body} }}")?,
        }
        Ok(())
    }
}
