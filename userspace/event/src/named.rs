//! Enums whose variants have names.

/// An enum with one name for each variant: the same in JSON, in `name()` and in `Display`. It needs to derive serde's `Serialize`
/// and `Deserialize`. `ALL` has the variants in the order of their declaration.
#[macro_export]
macro_rules! named_enum {
    (
        $(#[$meta:meta])*
        $visibility:vis enum $type:ident {
            $($(#[$attribute:meta])* $variant:ident = $name:literal,)+
        }
    ) => {
        $(#[$meta])*
        $visibility enum $type {
            $($(#[$attribute])* #[serde(rename = $name)] $variant,)+
        }

        $crate::enum_names! { $visibility $type { $($variant = $name,)+ } }
    };
}

/// As [`named_enum!`], of an enum that is only shown.
#[macro_export]
macro_rules! shown_enum {
    (
        $(#[$meta:meta])*
        $visibility:vis enum $type:ident {
            $($(#[$attribute:meta])* $variant:ident = $name:literal,)+
        }
    ) => {
        $(#[$meta])*
        $visibility enum $type {
            $($(#[$attribute])* $variant,)+
        }

        $crate::enum_names! { $visibility $type { $($variant = $name,)+ } }
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! enum_names {
    ($visibility:vis $type:ident { $($variant:ident = $name:literal,)+ }) => {
        #[allow(dead_code, reason = "not every enum is listed")]
        impl $type {
            /// All of them, in the order of their declaration.
            $visibility const ALL: [Self; [$($name),+].len()] = [$(Self::$variant),+];

            /// The name, as people and programs are shown it.
            $visibility const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)+
                }
            }
        }

        impl ::std::fmt::Display for $type {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                f.pad(self.name())
            }
        }
    };
}

#[cfg(test)]
mod tests {
    use crate::{SlotChange, WitnessName};

    #[test]
    fn the_name_is_the_same_in_json_and_as_text() {
        let witness = WitnessName::OomVictim;
        assert_eq!(serde_json::to_value(witness).unwrap(), "oom:mark_victim");
        assert_eq!(
            format!("{witness:<16}|{witness}"),
            "oom:mark_victim |oom:mark_victim"
        );
        for change in SlotChange::ALL {
            let json = serde_json::to_value(change).unwrap();
            assert_eq!(json, change.name());
            assert_eq!(serde_json::from_value::<SlotChange>(json).unwrap(), change);
        }
    }
}
