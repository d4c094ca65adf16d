//! Merging of details, field by field.

/// Something that takes over what it lacks.
pub(super) trait Fill {
    fn fill(&mut self, observed: &Self);
}

impl<T: Clone> Fill for Option<T> {
    fn fill(&mut self, observed: &Self) {
        if self.is_none() {
            self.clone_from(observed);
        }
    }
}

impl<T: Clone> Fill for Vec<T> {
    fn fill(&mut self, observed: &Self) {
        if self.is_empty() {
            self.clone_from(observed);
        }
    }
}

/// `Fill` for a struct, by its fields. A field that is not listed does not compile.
macro_rules! fill_fields {
    ($section:ident { $($field:ident),* }) => {
        impl crate::detail::fill::Fill for $section {
            fn fill(&mut self, observed: &Self) {
                let Self { $($field),* } = observed;
                $(crate::detail::fill::Fill::fill(&mut self.$field, $field);)*
            }
        }
    };
}
