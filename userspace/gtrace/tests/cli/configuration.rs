//! `gtrace config check`.

use std::path::Path;

use gtrace_tls::testing::Authority;

use crate::bare;

#[test]
fn files_for_nats_servers_are_refused_where_there_are_none() {
    let database = ["--database", "/nonexistent/fleet.db"];
    let head = [&["head", "--nats-ca", "ca.pem"][..], &database].concat();
    let agent = ["agent", "run", "--nats-credentials", "host.creds"];
    for (args, needed) in [
        (&head[..], "--nats nats://HOST"),
        (&agent, "--head nats://HOST"),
    ] {
        let (code, _, err) = bare(args, &[]);
        assert_eq!(code, Some(2), "{err}");
        assert!(err.contains(needed), "{err}");
    }
}

#[test]
fn labels_that_no_head_takes_are_refused_before_anything_is_shipped() {
    let many: Vec<String> = (0..33).map(|n| format!("name-{n}=x")).collect();
    let twice = ["rack=a".to_owned(), "rack=b".to_owned()];
    for (labels, why) in [
        (&many[..], "the most is 32"),
        (&twice, "rack is given twice"),
    ] {
        let labels = labels.iter().flat_map(|label| ["--label", label.as_str()]);
        let args: Vec<&str> = ["agent", "run"].into_iter().chain(labels).collect();
        let (code, _, err) = bare(&args, &[]);
        assert_eq!(code, Some(2), "{err}");
        assert!(err.contains(why), "{err}");
    }
}

#[test]
fn config_check_refuses_what_run_refuses() {
    let dir = tempfile::tempdir().unwrap();
    let policy = dir.path().join("policy.toml");
    std::fs::write(&policy, "[[rule]]\nkind = \"xid\"\nactoin = \"page\"\n").unwrap();
    for path in [policy.as_path(), Path::new("/nonexistent/policy.toml")] {
        let path = path.to_str().unwrap();
        for what in ["check", "show"] {
            let (code, out, err) = bare(&["config", what, "--site-policy", path], &[]);
            assert_eq!((code, out.as_str()), (Some(1), ""), "{err}");
            assert!(err.contains(path), "{err}");
        }
    }
    let example = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../packaging/site-policy.example.toml"
    );
    let (code, _, err) = bare(&["config", "check", "--site-policy", example], &[]);
    assert_eq!(code, Some(0), "{err}");
    let rules = dir.path().join("health-rules.toml");
    let check = || {
        let path = rules.to_str().unwrap();
        bare(&["config", "check", "--health-rules", path], &[])
    };
    let (code, _, err) = check();
    assert_eq!(code, Some(0), "there need be none: {err}");
    std::fs::write(
        &rules,
        "[[rule]]\nname = \"off-the-bus\"\naction = \"drain\"\nclears = []\n",
    )
    .unwrap();
    let (code, _, err) = check();
    assert_eq!(code, Some(1), "{err}");
    for part in [
        "health-rules.toml: line 2: rule `off-the-bus`",
        "`clears` is empty",
        "remedy: ",
    ] {
        assert!(err.contains(part), "{err}");
    }
}

#[test]
fn config_check_reads_the_files_of_https() {
    let dir = tempfile::tempdir().unwrap();
    let access = Authority::new(dir.path()).server("");
    let check = |certificate: &Path| {
        let mut args = vec!["config", "check", "--listen", "https://127.0.0.1:0"];
        for (key, file) in [
            ("--tls-cert", certificate),
            ("--tls-key", &access.key),
            ("--credentials", &access.credentials),
        ] {
            args.extend([key, file.to_str().unwrap()]);
        }
        bare(&args, &[])
    };
    let (code, _, err) = check(&access.certificate);
    assert_eq!(code, Some(0), "{err}");
    let (code, out, err) = check(&dir.path().join("gone.pem"));
    assert_eq!((code, out.as_str()), (Some(1), ""), "{err}");
    assert!(err.contains("tls_cert"), "{err}");
    assert_eq!(err.matches("gone.pem").count(), 1, "{err}");
}

#[test]
fn a_variable_for_a_path_that_is_set_to_nothing_is_none() {
    let nothing = Path::new("");
    let variables = [
        ("GTRACE_CONFIG", nothing),
        ("GTRACE_SOCKET", nothing),
        ("GTRACE_STATE_DIR", nothing),
    ];
    let (code, out, err) = bare(&["config", "show"], &variables);
    assert_eq!(code, Some(0), "{err}");
    assert!(out.contains("state_dir = \"/var/lib/gtrace\""), "{out}");
    // Typed it is a mistake.
    let (code, _, err) = bare(&["config", "show", "--state-dir", ""], &[]);
    assert!(code == Some(2) && err.contains("needs a value"), "{err}");
    let here = tempfile::tempdir().unwrap();
    let variables = [
        ("GTRACE_SERVE_STATUS", nothing),
        ("XDG_RUNTIME_DIR", here.path()),
    ];
    let (_, out, err) = bare(&["status", "--remote"], &variables);
    assert!(
        !out.is_empty() || err.contains("serve-status.sock"),
        "{err}"
    );
}

#[test]
fn a_head_that_others_could_read_along_with_is_wrong_usage() {
    let database = ["--database", "/nonexistent/fleet.db"];
    let (code, _, err) = bare(
        &[&["head", "--listen", "0.0.0.0:1"][..], &database].concat(),
        &[],
    );
    assert_eq!(code, Some(2), "{err}");
    assert!(err.contains("--listen-https"), "{err}");
}

#[test]
fn a_list_without_tokens_names_the_file_that_has_none() {
    let file = "/nonexistent/credentials.toml";
    let (code, out, err) = bare(&["token", "list", "--credentials", file], &[]);
    assert_eq!(code, Some(0), "{err}");
    assert!(out.contains(file), "{out}");
}

#[test]
fn a_policy_that_cannot_be_used_is_named_as_one() {
    let dir = tempfile::tempdir().unwrap();
    let wrong = dir.path().join("wrong.toml");
    std::fs::write(&wrong, "[[rule]]\nkind = \"xid\"\nactoin = \"page\"\n").unwrap();
    let wrong = wrong.to_str().unwrap();
    for command in [&["decode", "/dev/null"][..], &["explain", "79"], &["mcp"]] {
        for (policy, status) in [("/nonexistent/policy.toml", 3), (wrong, 2)] {
            let (code, _, err) = bare(&[command, &["--site-policy", policy]].concat(), &[]);
            assert_eq!(code, Some(status), "{command:?}: {err}");
            assert!(err.contains(policy) && !err.contains("saved log"), "{err}");
        }
    }
}

#[test]
fn config_check_says_what_is_wrong_with_an_alertmanager_and_what_to_do() {
    let cases = [
        (
            &["--alertmanager-url", "127.0.0.1:9093"][..],
            "http://127.0.0.1:9093",
        ),
        (
            &[
                "--alertmanager-url",
                "https://am.example.com",
                "--alertmanager-token-file",
                "/nonexistent/token",
            ],
            "/nonexistent/token",
        ),
        (
            &[
                "--alertmanager-url",
                "https://am.example.com",
                "--alertmanager-ca-file",
                "/dev/null",
            ],
            "PEM",
        ),
    ];
    for (keys, remedy) in cases {
        let args = [&["config", "check"], keys].concat();
        let (code, _, err) = bare(&args, &[]);
        assert_eq!(code, Some(1), "{err}");
        assert!(
            err.contains("alertmanager_") && err.contains(remedy),
            "{err}"
        );
    }
    let fine = [
        "config",
        "check",
        "--alertmanager-url",
        "http://localhost:9093",
    ];
    assert_eq!(bare(&fine, &[]).0, Some(0));
}
