//! Textures and surfaces: PTX ISA 9.0, sections 9.7.10 and 9.7.11. A texture and its sampler are one object
//! (unified mode).

use super::super::ast::{Base, Instruction, Operand};
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
    pub(super) fn texture(
        &mut self,
        instruction: &'m Instruction,
        modifiers: &mut Modifiers<'_>,
    ) -> Result<bool, PtxError> {
        match instruction.opcode.as_str() {
            "tex" | "tld4" => self.sample(instruction, modifiers)?,
            "suld" => self.surface(instruction, modifiers, false)?,
            "sust" => self.surface(instruction, modifiers, true)?,
            "txq" | "suq" => self.query(instruction, modifiers)?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// The slot that holds a texture's or surface's handle, and the coordinates.
    fn object(
        &mut self,
        instruction: &'m Instruction,
        at: usize,
    ) -> Result<(u32, &'m [Operand]), PtxError> {
        let (base, coordinates): (_, &'m [Operand]) = match self.operand(instruction, at)? {
            Operand::Texture { base, coordinates } => (base, coordinates),
            Operand::Memory { base, offset: 0 } => (base, &[]),
            _ => return Err(self.unsupported(instruction, "this operand for a texture")),
        };
        let Base::Name(name) = base else {
            return Err(self.unsupported(instruction, "a number for a texture"));
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
        instruction: &'m Instruction,
        given: &'m [Operand],
        (axes, layered): (u32, bool),
        ty: Type,
    ) -> Result<([u32; 3], u32), PtxError> {
        let few = || self.unsupported(instruction, "so few coordinates");
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

    fn sample(
        &mut self,
        instruction: &'m Instruction,
        modifiers: &mut Modifiers<'_>,
    ) -> Result<(), PtxError> {
        let gather = match instruction.opcode == "tld4" {
            true => modifiers.any(&["r", "g", "b", "a"]),
            false => None,
        };
        let mode = modifiers.any(&["base", "level", "grad"]);
        let shape = geometry(modifiers)
            .ok_or_else(|| self.unsupported(instruction, "this geometry of a texture"))?;
        let (result, coordinate) = (modifiers.ty(), modifiers.ty());
        let result = result.filter(|ty| matches!(ty, Type::U32 | Type::S32 | Type::F32));
        let (Some(result), Some(coordinate), true) = (result, coordinate, modifiers.take("v4"))
        else {
            return Err(self.unsupported(instruction, "these types of a texture"));
        };
        let whole = match coordinate {
            Type::S32 => true,
            Type::F32 => false,
            _ => return Err(self.unsupported(instruction, "this type of coordinates")),
        };
        let (handle, given) = self.object(instruction, 1)?;
        let (coordinates, layer) = self.coordinates(instruction, given, shape, coordinate)?;
        let mut operands = 2;
        let reading = match (mode, gather) {
            (None, Some(component)) => {
                let component = ["r", "g", "b", "a"].iter().position(|c| *c == component);
                Reading::Gather(component.unwrap_or(0))
            }
            (Some("level"), None) => {
                operands = 3;
                Reading::Level(self.source(instruction, 2, coordinate)?)
            }
            (Some("grad"), None) => {
                operands = 4;
                let plain = (shape.0, false);
                let mut gradients = [[NONE; 3]; 2];
                for (at, gradient) in gradients.iter_mut().enumerate() {
                    let given = self.parts_of(instruction, 2 + at)?;
                    (*gradient, _) = self.coordinates(instruction, given, plain, Type::F32)?;
                }
                Reading::Gradient(gradients)
            }
            _ => Reading::Base,
        };
        if instruction.operands.len() > operands {
            return Err(self.unsupported(instruction, "an offset or a comparison of depth"));
        }
        let mut out = [NONE; 4];
        self.parts(instruction, 0, &mut out, result, false)?;
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
        instruction: &'m Instruction,
        at: usize,
        slots: &mut [u32],
        ty: Type,
        read: bool,
    ) -> Result<u32, PtxError> {
        let parts = self.parts_of(instruction, at)?;
        if parts.len() > slots.len() {
            return Err(self.unsupported(instruction, "so many registers"));
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

    fn surface(
        &mut self,
        instruction: &'m Instruction,
        modifiers: &mut Modifiers<'_>,
        write: bool,
    ) -> Result<(), PtxError> {
        if !modifiers.take("b") {
            return Err(self.unsupported(instruction, "surfaces with formats"));
        }
        modifiers.drop_hints();
        let (axes, layered) = geometry(modifiers)
            .ok_or_else(|| self.unsupported(instruction, "this geometry of a surface"))?;
        let count = match modifiers.any(&["v2", "v4"]) {
            Some("v2") => 2,
            Some(_) => 4,
            None => 1,
        };
        let ty = match modifiers.ty() {
            Some(ty @ (Type::B8 | Type::B16 | Type::B32 | Type::B64)) => ty,
            _ => return Err(self.unsupported(instruction, "this type of a surface")),
        };
        let beyond = match modifiers.any(&["trap", "clamp", "zero"]) {
            Some("clamp") => Beyond::Clamp,
            Some("zero") => Beyond::Zero,
            _ => Beyond::Trap,
        };
        let (handle, given) = self.object(instruction, usize::from(!write))?;
        let (mut coordinates, layer) =
            self.coordinates(instruction, given, (axes, layered), Type::S32)?;
        if layered {
            coordinates[2] = layer;
        }
        let mut slots = [NONE; 4];
        if self.parts(instruction, usize::from(write), &mut slots, ty, write)? != count {
            return Err(self.unsupported(instruction, "as many registers as elements are needed"));
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

    fn query(
        &mut self,
        instruction: &'m Instruction,
        modifiers: &mut Modifiers<'_>,
    ) -> Result<(), PtxError> {
        let query = match modifiers.any(&["width", "height", "depth", "num_mipmap_levels"]) {
            Some("width") => Query::Width,
            Some("height") => Query::Height,
            Some("depth") => Query::Depth,
            Some(_) => Query::Levels,
            None => return Err(self.unsupported(instruction, "this question")),
        };
        modifiers.ty();
        let d = self.destination(instruction, 0, Type::B32)?;
        let (a, _) = self.object(instruction, 1)?;
        self.emit(Op::Query(query), [d, a, 0, 0, 0]);
        Ok(())
    }
}
