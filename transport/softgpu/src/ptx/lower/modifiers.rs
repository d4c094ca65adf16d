//! The modifiers of an instruction: `.rn`, `.global`, `.f32` and the like.

use super::super::types::{Space, Type};

/// The modifiers of an instruction, taken one by one; what is left at the end is not supported.
pub(crate) struct Modifiers<'i>(pub(crate) Vec<&'i str>);

impl<'i> Modifiers<'i> {
    pub(crate) fn take(&mut self, word: &str) -> bool {
        match self.0.iter().position(|found| *found == word) {
            Some(at) => {
                self.0.remove(at);
                true
            }
            None => false,
        }
    }

    pub(crate) fn any(&mut self, words: &[&str]) -> Option<&'i str> {
        let at = self.0.iter().position(|found| words.contains(found))?;
        Some(self.0.remove(at))
    }

    /// The next type.
    pub(crate) fn ty(&mut self) -> Option<Type> {
        let at = self
            .0
            .iter()
            .position(|found| Type::parse(found).is_some())?;
        Type::parse(self.0.remove(at))
    }

    pub(crate) fn space(&mut self) -> Option<Space> {
        let at = self
            .0
            .iter()
            .position(|found| Space::parse(found).is_some())?;
        Space::parse(self.0.remove(at))
    }

    /// Removes what only advises the hardware.
    pub(crate) fn drop_hints(&mut self) {
        self.0.retain(|word| {
            !(word.starts_with("L1::")
                || word.starts_with("L2::")
                || matches!(
                    *word,
                    "ca" | "cg" | "cs" | "lu" | "cv" | "wb" | "wt" | "nc" | "noftz" | "weak"
                ))
        });
    }
}
