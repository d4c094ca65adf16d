//! The site's policy: what it may say, what wins, and that no text breaks anything.
// clippy sees only the functions marked #[test] as tests, not their helpers.
#![allow(clippy::unwrap_used)]

use gtrace_catalogue::Catalogue;
use gtrace_event::{Action, Gpu, Kind, Occurrence, Provenance, Severity};
use proptest::prelude::*;

fn xid(code: u32) -> Occurrence {
    let mut occ = Occurrence::new(Kind::Xid, Severity::Info, "");
    occ.provenance = Provenance::Kernel;
    occ.detail.xid.xid = Some(code);
    occ
}

fn with(policy: &str) -> Catalogue {
    let mut catalogue = Catalogue::builtin();
    catalogue.load_site_policy(policy).unwrap();
    catalogue
}

fn refusal(policy: &str) -> String {
    Catalogue::builtin()
        .load_site_policy(policy)
        .unwrap_err()
        .to_string()
}

const EXAMPLE: &str = include_str!("../../../packaging/site-policy.example.toml");

#[test]
fn the_example_is_valid_as_it_is_and_with_its_comments_taken_away() {
    assert!(with(EXAMPLE).site_rules().is_some());
    let open: String = EXAMPLE
        .lines()
        .map(|l| l.strip_prefix("#: ").unwrap_or(l))
        .map(|l| format!("{l}\n"))
        .collect();
    assert!(with(&open).site_rules().unwrap() >= 5);
}

#[test]
fn a_rule_decides_severity_action_steps_and_note() {
    let catalogue = with(
        "[[rule]]\nxid = [13, 31]\nseverity = \"critical\"\naction = \"page\"\n\
         steps = [\"Call team A\", \"Restart\"]\nnote = \"because\"\n",
    );
    let mut occ = xid(31);
    let advice = catalogue.assess(&mut occ);
    assert_eq!(occ.severity, Severity::Critical);
    assert_eq!(advice.action, Some(Action::Page));
    assert_eq!(advice.site, ["Call team A", "Restart", "Note: because"]);
    assert_eq!(advice.rule.as_deref(), Some("site:xid:31"));
    let mut other = xid(43);
    assert_eq!(catalogue.assess(&mut other).rule.as_deref(), Some("xid:43"));
}

#[test]
fn what_a_rule_leaves_open_the_default_decides() {
    let catalogue = with("[[rule]]\nxid = 79\nnote = \"rack 7 has bad risers\"\n");
    let advice = catalogue.assess(&mut xid(79));
    assert_eq!(advice.action.map(Action::name), Some("page"));
    assert!(advice.site.len() > 1, "the default steps stay: {advice:?}");
    assert_eq!(
        advice.site.last().map(String::as_str),
        Some("Note: rack 7 has bad risers")
    );
}

#[test]
fn a_severity_without_action_brings_the_action_of_that_severity() {
    let catalogue = with("[[rule]]\nxid = 13\nseverity = \"critical\"\n");
    assert_eq!(catalogue.action(&xid(13)), Action::Page);
    let catalogue =
        with("[default]\ncritical = \"ticket\"\n[[rule]]\nxid = 13\nseverity = \"critical\"\n");
    assert_eq!(catalogue.action(&xid(13)), Action::Ticket);
    assert_eq!(catalogue.action(&xid(48)), Action::Ticket);
    assert_eq!(catalogue.action(&xid(79)), Action::Page);
}

#[test]
fn the_first_rule_that_fits_decides() {
    let catalogue = with(
        "[[rule]]\nxid = 149\nsub_code = [2, 4]\naction = \"ticket\"\n\
         [[rule]]\nxid = 149\naction = \"log\"\n",
    );
    let mut occ = xid(149);
    assert_eq!(catalogue.action(&occ), Action::Log);
    occ.detail.xid.sub_code = Some(4);
    assert_eq!(catalogue.action(&occ), Action::Ticket);
    let rule = catalogue.assess(&mut occ).rule;
    assert_eq!(rule.as_deref(), Some("site:xid:149:sub_code:4"));
}

#[test]
fn rules_can_name_kinds_gpus_and_provenance() {
    let catalogue = with(
        "[[rule]]\ngpu = \"0000:3B:00.0\"\naction = \"log\"\n\
         [[rule]]\nkind = \"aer\"\ngpu = \"GPU-7\"\naction = \"page\"\n\
         [[rule]]\nkind = [\"ecc\", \"aer\"]\naction = \"log\"\n",
    );
    let mut occ = xid(79);
    occ.gpu = Some(Gpu::at("0000:3b:00.0".parse().unwrap()));
    let rule = catalogue.assess(&mut occ).rule;
    assert_eq!(rule.as_deref(), Some("site:gpu:0000:3b:00.0"));
    assert_eq!(catalogue.action(&occ), Action::Log);
    occ.gpu = Some(Gpu::at("0000:3c:00.0".parse().unwrap()));
    assert_eq!(catalogue.action(&occ), Action::Page);
    let mut aer = Occurrence::new(Kind::Aer, Severity::Info, "");
    assert_eq!(catalogue.action(&aer), Action::Log);
    aer.gpu = Some(Gpu {
        uuid: Some("GPU-7".to_owned()),
        ..Gpu::default()
    });
    assert_eq!(catalogue.action(&aer), Action::Page);
}

#[test]
fn a_drill_never_pages() {
    let page_all = "[default]\ninfo = \"page\"\n[[rule]]\nxid = 79\naction = \"page\"\n\
                    [[rule]]\nprovenance = \"injected\"\naction = \"page\"\n";
    for catalogue in [Catalogue::builtin(), with(page_all)] {
        for code in [13, 79] {
            let mut occ = xid(code);
            occ.provenance = Provenance::Injected;
            let advice = catalogue.assess(&mut occ);
            assert_eq!(advice.action.map(Action::name), Some("drill"), "{code}");
        }
    }
}

#[test]
fn a_line_that_a_process_wrote_pages_only_where_the_site_says_so() {
    let mut occ = xid(79);
    occ.provenance = Provenance::Userspace;
    assert_eq!(Catalogue::builtin().action(&occ), Action::Ticket);
    let any = with("[[rule]]\nxid = 79\naction = \"page\"\n");
    assert_eq!(any.action(&occ), Action::Ticket);
    let named = with("[[rule]]\nxid = 79\nprovenance = \"userspace\"\naction = \"page\"\n");
    assert_eq!(named.action(&occ), Action::Page);
}

#[test]
fn a_refused_policy_leaves_the_old_one_in_force() {
    let mut catalogue = with("[[rule]]\nxid = 79\naction = \"ticket\"\n");
    assert!(
        catalogue
            .load_site_policy("[[rule]]\nxid = 79\naction = \"shout\"\n")
            .is_err()
    );
    assert_eq!(catalogue.action(&xid(79)), Action::Ticket);
    assert_eq!(catalogue.site_rules(), Some(1));
}

/// Lines of a policy, and what its refusal says.
const REFUSED: &str = r#"
[[rule]]; xids = 79 => line 2 | `xids = 79` | unknown field | spelling
[[rule]]; xid = 79; action = "shout" => line 3 | shout | `page` | listed
[[rule]]; xid = 79; action = "drill" => line 3 | drill | `page`
[[rule]]; xid = "x"; action = "log" => line 2 | `xid = "x"` | type
[[rule]]; xid = -1; action = "log" => line 2 | xid = -1
[[rule]]; xid = []; action = "log" => line 2 | empty list
[[rule]]; kind = "xidd"; action = "log" => line 2 | xidd | `sxid`
; [[rule]]; xid = 79 => line 2 | changes nothing | add `action`
[[rule]]; action = "log" => line 1 | matches nothing | [default]
[[rule]]; xid = 13; action = "log"; ; [[rule]]; xid = 1; sxid = 2; action = "log" => line 5 | never matches | two rules
[[rule]]; kind = "xid"; sub_code = 1; action = "log" => line 1 | sub_code
[[rule]]; kind = "aer"; xid = 1; action = "log" => line 1 | `aer` | leave `kind` out
[[rule]]; gpu = "three"; action = "log" => line 1 | three | 0000:3b:00.0
[default]; warn = "log" => line 2 | warn | `warning`
[[rule] => line 1 | TOML
rule = 3 => line 1 | `rule = 3`
"#;

#[test]
fn a_refusal_names_line_cause_and_remedy() {
    for row in REFUSED.lines().filter(|row| !row.is_empty()) {
        let (policy, parts) = row.split_once(" => ").unwrap();
        let text = refusal(&(policy.replace("; ", "\n") + "\n"));
        for part in parts.split(" | ") {
            assert!(text.contains(part), "`{part}` is missing in: {text}");
        }
    }
}

#[test]
fn a_text_without_end_is_refused() {
    assert!(refusal(&"#\n".repeat(200_000)).contains("the whole file"));
    let nested = format!("a = {}{}", "[".repeat(50_000), "]".repeat(50_000));
    assert!(!refusal(&nested).is_empty());
}

proptest! {
    #[test]
    fn no_text_breaks_the_loader(text in any::<String>()) {
        let _ = Catalogue::builtin().load_site_policy(&text).map_err(|e| e.to_string());
    }

    #[test]
    fn no_text_that_looks_like_a_policy_breaks_the_loader(
        parts in prop::collection::vec(
            prop::sample::select(vec![
                "[[rule]]", "[default]", "\n", "xid", "sxid", "kind", "gpu", "steps", "action",
                " = ", "[", "]", ",", "79", "-1", "1e9", "\"page\"", "\"aer\"", "'x'", "\"ä\"",
                "\"", "#", "{", "}", ".", "\u{0}", "ü", "severity", "\"fatal\"", "\"\"\"",
            ]),
            0..40,
        ),
        code in any::<u32>(),
    ) {
        let mut catalogue = Catalogue::builtin();
        let _ = catalogue.load_site_policy(&parts.concat()).map_err(|e| e.to_string());
        prop_assert!(catalogue.assess(&mut xid(code)).action.is_some());
    }
}
