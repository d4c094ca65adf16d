//! The scripts for Slurm, with substitutes for Slurm's programs and for gtrace.
#![allow(missing_docs, clippy::unwrap_used)]

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

/// What a script has Slurm change. `programs` are names and shell scripts; those of Slurm write what they are asked to $ASKED.
fn changes(script: &str, programs: &[(&str, &str)]) -> String {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in programs {
        let file = folder.path().join(name);
        fs::write(&file, format!("#!/bin/sh\n{text}\n")).unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
    }
    let asked = folder.path().join("asked");
    let scripts = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../packaging/slurm");
    let ended = Command::new("sh")
        .arg(scripts.join(script))
        .env("PATH", format!("{}:/usr/bin:/bin", folder.path().display()))
        .env("SLURM_JOB_ID", "7")
        .env("SLURMD_NODENAME", "n1")
        .env("ASKED", &asked)
        .status()
        .unwrap();
    assert!(ended.success(), "{ended}");
    fs::read_to_string(asked).unwrap_or_default()
}

/// One test, so that no other thread of this process has a program open for writing while one is started.
#[test]
fn names_that_users_choose_are_taken_for_no_field_of_slurm() {
    let gtrace = r#"case "$1 $2" in
"health --json") echo '{"host":"n1","state":"healthy","parts":[]}' ;;
"incidents --json") echo '{"id":"01A","jobs":["slurm:7"],"title":"a fault"}' ;;
esac"#;
    let of_job = |fields: &str| {
        format!(
            r#"case "$*" in
*"show config"*) echo "AccountingStorageType = accounting_storage/slurmdbd" ;;
*"show job"*) echo "{fields} UserId=x(1000) StdOut=/dev/null " ;;
esac"#
        )
    };
    let sacctmgr = r#"printf '%s\n' "$*" >>"$ASKED""#;
    for (fields, job) in [
        ("JobId=7 JobName=a ArrayJobId=55 ArrayTaskId=3 b", "7"),
        ("JobId=7 ArrayJobId=5 ArrayTaskId=2 JobName=a", "5_2"),
        // Of a later release.
        (
            "JobId=7 Other=x ArrayJobId=5 ArrayTaskId=2 JobName=a",
            "5_2",
        ),
    ] {
        let scontrol = of_job(fields);
        let programs = [
            ("gtrace", gtrace),
            ("scontrol", scontrol.as_str()),
            ("sacctmgr", sacctmgr),
        ];
        let changed = changes("gtrace-epilog.sh", &programs);
        let comment = "gtrace: incidents 01A on n1: a fault";
        assert_eq!(
            changed,
            format!(
                "--immediate --quiet modify job where jobid={job} set admincomment={comment}\n"
            )
        );
    }

    for reason in [
        "gtrace: a State=IDLE b [root@2026]",
        "gtrace: a Reason=b [root@2026]",
    ] {
        let scontrol = format!(
            r#"case "$*" in
*"show node"*) echo "NodeName=n1 State=IDLE+DRAIN ThreadsPerCore=1 Reason={reason}" ;;
update*) printf '%s\n' "$*" >>"$ASKED" ;;
esac"#
        );
        let programs = [
            ("gtrace", gtrace),
            ("scontrol", scontrol.as_str()),
            ("squeue", ":"),
        ];
        let changed = changes("gtrace-healthcheck.sh", &programs);
        assert_eq!(changed, "update nodename=n1 state=resume\n", "{reason}");
    }
}
