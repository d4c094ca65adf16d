//! The schema in docs/ is that of the code.
#![allow(clippy::unwrap_used, clippy::expect_used)]

#[test]
fn the_published_schema_is_current() {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../docs/profile.schema.json"
    );
    let mut wanted = serde_json::to_string_pretty(&gtrace_profile::json::schema()).unwrap();
    wanted.push('\n');
    if std::env::var_os("GTRACE_BLESS").is_some() {
        std::fs::write(path, &wanted).unwrap();
    }
    let published = std::fs::read_to_string(path).unwrap_or_default();
    assert_eq!(
        published, wanted,
        "run this test with GTRACE_BLESS=1 to write docs/profile.schema.json"
    );
}
