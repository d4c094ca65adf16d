//! Textures and surfaces: PTX ISA 9.0, sections 9.7.10 and 9.7.11. A texture and its sampler are one object
//! (unified mode).

use super::super::ast::{Base, Operand};
use super::super::error::PtxError;
use super::super::program::{
    Access, Beyond, Element, NONE, Op, Place, Query, Reading, Sampling, SurfaceAccess,
};
use super::super::types::{Class, Type};
use super::{Lower, Modifiers};

/// Axes of a geometry, and whether it has layers.
fn geometry(modifiers: &mut Modifiers<'_>) -> Option<(u32, bool)> {
    Some(match modifiers.any(&["1d", "2d", "3d", "a1d", "a2d"])? {
        "1d" => (1, false),
        "2d" => (2, false),
        "3d" => (3, false),
        "a1d" => (1, true),
        _ => (2, true),
    })
}

impl<'m> Lower<'m> {
    pub(super) fn texture(&mut self) -> Result<bool, PtxError> {
        match self.instruction.opcode.as_str() {
            "tex" | "tld4" => self.sample()?,
            "suld" => self.surface(false)?,
            "sust" => self.surface(true)?,
            "txq" | "suq" => self.query()?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// The slot that holds a texture's or surface's handle, and the coordinates.
    fn object(&mut self, at: usize) -> Result<(u32, &'m [Operand]), PtxError> {
        let (base, coordinates): (_, &'m [Operand]) = match self.operand(at)? {
            Operand::Texture { base, coordinates } => (base, coordinates),
            Operand::Memory { base, offset: 0 } => (base, &[]),
            _ => return Err(self.unsupported("this operand for a texture")),
        };
        let Base::Name(name) = base else {
            return Err(self.unsupported("a number for a texture"));
        };
        if let Ok((slot, class)) = self.register_named(name) {
            return Ok((self.fit(slot, (class, Class::Wide), false)?, coordinates));
        }
        // A texture reference: its variable holds the handle of what the program has bound to it.
        let offset = self.symbol(name).ok_or_else(|| self.undeclared(name))?;
        let slot = self.temporary(Class::Wide);
        let mut slots = [NONE; 8];
        slots[0] = slot;
        let access = Access {
            place: Place::Global,
            element: Element::U64,
            count: 1,
            slots,
            offset,
            base: Class::Wide,
            fixed: true,
            ordered: false,
        };
        let operands = [0, self.constant(0, Class::Wide), 0, 0, 0];
        self.emit(Op::Load(Box::new(access)), operands);
        Ok((slot, coordinates))
    }

    /// The slots of as many coordinates as a geometry has, and of the layer before them.
    fn coordinates(
        &mut self,
        given: &'m [Operand],
        (axes, layered): (u32, bool),
        ty: Type,
    ) -> Result<([u32; 3], u32), PtxError> {
        let few = || self.unsupported("so few coordinates");
        let (layer, given) = match (layered, given) {
            (true, [layer, rest @ ..]) => (Some(layer), rest),
            (true, []) => return Err(few()),
            (false, given) => (None, given),
        };
        let mut slots = [NONE; 3];
        if given.len() < axes as usize {
            return Err(few());
        }
        for (slot, operand) in slots.iter_mut().zip(given).take(axes as usize) {
            *slot = self.source_of(operand, ty)?;
        }
        let layer = match layer {
            Some(layer) => self.source_of(layer, Type::U32)?,
            None => NONE,
        };
        Ok((slots, layer))
    }

    fn sample(&mut self) -> Result<(), PtxError> {
        let gather = match self.instruction.opcode == "tld4" {
            true => self.modifiers.any(&["r", "g", "b", "a"]),
            false => None,
        };
        let mode = self.modifiers.any(&["base", "level", "grad"]);
        let shape = geometry(&mut self.modifiers)
            .ok_or_else(|| self.unsupported("this geometry of a texture"))?;
        let (result, coordinate) = (self.modifiers.ty(), self.modifiers.ty());
        let result = result.filter(|ty| matches!(ty, Type::U32 | Type::S32 | Type::F32));
        let (Some(result), Some(coordinate), true) =
            (result, coordinate, self.modifiers.take("v4"))
        else {
            return Err(self.unsupported("these types of a texture"));
        };
        let whole = match coordinate {
            Type::S32 => true,
            Type::F32 => false,
            _ => return Err(self.unsupported("this type of coordinates")),
        };
        let (handle, given) = self.object(1)?;
        let (coordinates, layer) = self.coordinates(given, shape, coordinate)?;
        let mut operands = 2;
        let reading = match (mode, gather) {
            (None, Some(component)) => {
                let component = ["r", "g", "b", "a"].iter().position(|c| *c == component);
                Reading::Gather(component.unwrap_or(0))
            }
            (Some("level"), None) => {
                operands = 3;
                Reading::Level(self.source(2, coordinate)?)
            }
            (Some("grad"), None) => {
                operands = 4;
                let plain = (shape.0, false);
                let mut gradients = [[NONE; 3]; 2];
                for (at, gradient) in gradients.iter_mut().enumerate() {
                    let given = self.parts_of(2 + at)?;
                    (*gradient, _) = self.coordinates(given, plain, Type::F32)?;
                }
                Reading::Gradient(gradients)
            }
            _ => Reading::Base,
        };
        if self.instruction.operands.len() > operands {
            return Err(self.unsupported("an offset or a comparison of depth"));
        }
        let mut out = [NONE; 4];
        self.parts(0, &mut out, result, false)?;
        let sampling = Sampling {
            reading,
            axes: shape.0,
            whole,
            coordinates,
            layer,
            out,
        };
        self.emit(Op::Sample(Box::new(sampling)), [0, handle, 0, 0, 0]);
        Ok(())
    }

    /// The slots of a vector, or of a single register; how many there are.
    fn parts(
        &mut self,
        at: usize,
        slots: &mut [u32],
        ty: Type,
        read: bool,
    ) -> Result<u32, PtxError> {
        let parts = self.parts_of(at)?;
        if parts.len() > slots.len() {
            return Err(self.unsupported("so many registers"));
        }
        for (slot, part) in slots.iter_mut().zip(parts) {
            if read {
                *slot = self.source_of(part, ty)?;
            } else if !matches!(part, Operand::Name(name) if name == "_") {
                *slot = self.destination_of(part, ty)?;
            }
        }
        Ok(parts.len() as u32)
    }

    fn surface(&mut self, write: bool) -> Result<(), PtxError> {
        if !self.modifiers.take("b") {
            return Err(self.unsupported("surfaces with formats"));
        }
        self.modifiers.drop_hints();
        let (axes, layered) = geometry(&mut self.modifiers)
            .ok_or_else(|| self.unsupported("this geometry of a surface"))?;
        let count = match self.modifiers.any(&["v2", "v4"]) {
            Some("v2") => 2,
            Some(_) => 4,
            None => 1,
        };
        let ty = match self.modifiers.ty() {
            Some(ty @ (Type::B8 | Type::B16 | Type::B32 | Type::B64)) => ty,
            _ => return Err(self.unsupported("this type of a surface")),
        };
        let beyond = match self.modifiers.any(&["trap", "clamp", "zero"]) {
            Some("clamp") => Beyond::Clamp,
            Some("zero") => Beyond::Zero,
            _ => Beyond::Trap,
        };
        let (handle, given) = self.object(usize::from(!write))?;
        let (mut coordinates, layer) = self.coordinates(given, (axes, layered), Type::S32)?;
        if layered {
            coordinates[2] = layer;
        }
        let mut slots = [NONE; 4];
        if self.parts(usize::from(write), &mut slots, ty, write)? != count {
            return Err(self.unsupported("as many registers as elements are needed"));
        }
        let access = SurfaceAccess {
            write,
            coordinates,
            size: ty.size(),
            count,
            slots,
            beyond,
        };
        self.emit(Op::Surface(Box::new(access)), [0, handle, 0, 0, 0]);
        Ok(())
    }

    fn query(&mut self) -> Result<(), PtxError> {
        let query = match self
            .modifiers
            .any(&["width", "height", "depth", "num_mipmap_levels"])
        {
            Some("width") => Query::Width,
            Some("height") => Query::Height,
            Some("depth") => Query::Depth,
            Some(_) => Query::Levels,
            None => return Err(self.unsupported("this question")),
        };
        self.modifiers.ty();
        let d = self.destination(0, Type::B32)?;
        let (a, _) = self.object(1)?;
        self.emit(Op::Query(query), [d, a, 0, 0, 0]);
        Ok(())
    }
}
