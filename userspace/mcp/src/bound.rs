//! Results that stay small and show what they are made of: long texts and lists are cut, which the result says, and characters that
//! a person would not see are written as escapes.

use gtrace_api::text::clean_lines;
use serde_json::Value;

/// Most bytes of JSON in a result.
pub(crate) const RESULT_MAX: usize = 96 * 1024;
/// Places that are named as cut, at most.
const NAMED_MAX: usize = 20;
/// Characters of a text and entries of a list, from the first try to the last.
///
/// The first has room for all that the arguments of a tool can ask for.
const STEPS: [(usize, usize); 4] = [(16_000, 200), (1_000, 50), (300, 12), (80, 4)];

/// Where a series has its points, the oldest first.
const POINTS: &str = ".points";

/// Makes `value` harmless and small; returns what was cut.
pub(crate) fn bound(value: &mut Value) -> Vec<String> {
    let mut cut = Vec::new();
    for (characters, entries) in STEPS {
        let mut path = String::new();
        shorten(value, characters, entries, &mut path, &mut cut);
        if size(value) <= RESULT_MAX {
            break;
        }
    }
    if size(value) > RESULT_MAX {
        *value = Value::Null;
        cut.push("the whole result is too large: ask for less".to_owned());
    }
    let more = cut.len().saturating_sub(NAMED_MAX);
    cut.truncate(NAMED_MAX);
    if more > 0 {
        cut.push(format!("and {more} more"));
    }
    cut
}

/// Bytes of its JSON.
pub(crate) fn size(value: &Value) -> usize {
    struct Count(usize);
    impl std::io::Write for Count {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0 += bytes.len();
            Ok(bytes.len())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let mut count = Count(0);
    // Neither a Value nor the counter has an error.
    let _ = serde_json::to_writer(&mut count, value);
    count.0
}

fn shorten(
    value: &mut Value,
    characters: usize,
    entries: usize,
    path: &mut String,
    cut: &mut Vec<String>,
) {
    match value {
        Value::String(text) => {
            let length = text.chars().count();
            if length > characters {
                cut.push(format!("{path}: {characters} of {length} characters"));
            }
            *text = clean_lines(&text.chars().take(characters).collect::<String>());
        }
        Value::Array(list) => {
            let length = list.len();
            // Points go by time: of these the last ones say how it is.
            if length > entries && path.ends_with(POINTS) {
                cut.push(format!("{path}: the last {entries} of {length} entries"));
                list.drain(..length - entries);
            } else if length > entries {
                cut.push(format!("{path}: {entries} of {length} entries"));
                list.truncate(entries);
            }
            for (index, entry) in list.iter_mut().enumerate() {
                below(path, &format!("[{index}]"), |path| {
                    shorten(entry, characters, entries, path, cut);
                });
            }
        }
        Value::Object(fields) => {
            for (name, field) in fields.iter_mut() {
                below(path, &format!(".{name}"), |path| {
                    shorten(field, characters, entries, path, cut);
                });
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn below(path: &mut String, part: &str, work: impl FnOnce(&mut String)) {
    let length = path.len();
    path.push_str(part);
    work(path);
    path.truncate(length);
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_cut_is_named_and_what_hides_is_shown() {
        let mut value = json!({
            "text": "a\u{e0041}b\u{202e}\u{1b}[2Jc\nd",
            "list": (0..1000).collect::<Vec<_>>(),
            "deep": { "long": "x".repeat(20_000) },
        });
        let cut = bound(&mut value);
        assert_eq!(value["text"], "a\\u{e0041}b\\u{202e}\\x1b[2Jc\nd");
        assert_eq!(value["list"].as_array().unwrap().len(), 200);
        assert!(
            cut.contains(&".list: 200 of 1000 entries".to_owned()),
            "{cut:?}"
        );
        assert!(cut.contains(&".deep.long: 16000 of 20000 characters".to_owned()));
    }

    #[test]
    fn of_a_series_the_end_is_kept() {
        let points =
            |count: u32| json!({ "series": [{ "points": (0..count).collect::<Vec<_>>() }] });
        let mut value = points(200);
        assert!(bound(&mut value).is_empty());
        let mut value = points(1000);
        let cut = bound(&mut value);
        let kept = value["series"][0]["points"].as_array().unwrap();
        assert_eq!(
            (kept.len(), &kept[0], &kept[199]),
            (200, &json!(800), &json!(999))
        );
        assert_eq!(cut, [".series[0].points: the last 200 of 1000 entries"]);
    }

    #[test]
    fn nothing_is_larger_than_the_limit() {
        let mut value = json!((0..200).map(|_| "y".repeat(9_000)).collect::<Vec<_>>());
        assert!(!bound(&mut value).is_empty());
        assert!(size(&value) <= RESULT_MAX);
        let wide: serde_json::Map<String, Value> =
            (0..20_000).map(|n| (format!("key{n}"), json!(n))).collect();
        let mut value = Value::Object(wide);
        bound(&mut value);
        assert!(size(&value) <= RESULT_MAX);
    }
}
