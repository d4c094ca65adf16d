//! Names that stand in the file once and are numbers after that.

use std::collections::HashMap;

use crate::messages::{InternedData, InternedName, InternedString};

/// Names of one kind, and their numbers.
#[derive(Debug, Default)]
struct Names(HashMap<String, u64>);

impl Names {
    /// The number of a name, and whether it is new.
    fn number(&mut self, name: &str) -> (u64, bool) {
        if let Some(number) = self.0.get(name) {
            return (*number, false);
        }
        // 0 is no number.
        let number = self.0.len() as u64 + 1;
        self.0.insert(name.to_owned(), number);
        (number, true)
    }
}

/// All names, and those that the next packet has to report.
#[derive(Debug, Default)]
pub(crate) struct Interned {
    categories: Names,
    events: Names,
    annotations: Names,
    texts: Names,
    fresh: InternedData,
    any: bool,
}

impl Interned {
    pub(crate) fn category(&mut self, name: &str) -> u64 {
        let number = self.categories.number(name);
        intern(
            &mut self.fresh.event_categories,
            &mut self.any,
            name,
            number,
        )
    }

    pub(crate) fn event(&mut self, name: &str) -> u64 {
        let number = self.events.number(name);
        intern(&mut self.fresh.event_names, &mut self.any, name, number)
    }

    pub(crate) fn annotation(&mut self, name: &str) -> u64 {
        let number = self.annotations.number(name);
        intern(
            &mut self.fresh.debug_annotation_names,
            &mut self.any,
            name,
            number,
        )
    }

    pub(crate) fn text(&mut self, text: &str) -> u64 {
        let (number, new) = self.texts.number(text);
        if new {
            self.any = true;
            self.fresh
                .debug_annotation_string_values
                .push(InternedString {
                    iid: Some(number),
                    str: Some(text.as_bytes().to_vec()),
                });
        }
        number
    }

    /// Entries that are still to be written, once.
    pub(crate) fn take(&mut self) -> Option<InternedData> {
        std::mem::take(&mut self.any).then(|| std::mem::take(&mut self.fresh))
    }
}

fn intern(
    list: &mut Vec<InternedName>,
    any: &mut bool,
    name: &str,
    (number, new): (u64, bool),
) -> u64 {
    if new {
        *any = true;
        list.push(InternedName {
            iid: Some(number),
            name: Some(name.to_owned()),
        });
    }
    number
}
