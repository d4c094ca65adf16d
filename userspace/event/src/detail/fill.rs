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

/// Whether JSON leaves it out.
pub(super) fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
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

/// A section of the detail: each field is an `Option` or a `Vec`, and JSON leaves it out where nothing says it.
macro_rules! section {
    ($(#[$meta:meta])* $section:ident { $($(#[$doc:meta])* $field:ident: $type:ty,)* }) => {
        $(#[$meta])*
        #[derive(
            Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize,
            schemars::JsonSchema,
        )]
        pub struct $section {
            $(
                $(#[$doc])*
                #[serde(skip_serializing_if = "crate::detail::fill::is_default", default)]
                pub $field: $type,
            )*
        }

        fill_fields!($section { $($field),* });
    };
}
