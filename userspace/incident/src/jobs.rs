//! The job of a scheduler that a control group belongs to.

/// The job of the control group `path`: `slurm:4711` or `pod:UID`; `None` if it is none of a job.
///
/// Slurm names groups `.../slurmstepd.scope/job_4711/step_0/...` (v2; 22.05 has the node's name before: `gpu1_slurmstepd.scope`) or
/// `/slurm/uid_0/job_4711/...` (v1);
/// kubelet `.../kubepods-burstable-pod1234_5678.slice/...` (systemd) or `/kubepods/burstable/pod1234-5678/...`.
pub fn job_of(path: &str) -> Option<String> {
    let parts = || path.split('/').filter(|part| !part.is_empty());
    let is_slurm = |part: &str| part.starts_with("slurm") || part.ends_with("_slurmstepd.scope");
    let under_slurm = parts().any(is_slurm);
    if let Some(job) = parts()
        .filter_map(|part| part.strip_prefix("job_"))
        .find(|job| under_slurm && is_number(job))
    {
        return Some(format!("slurm:{job}"));
    }
    let under_kubepods = parts().any(|part| part.starts_with("kubepods"));
    let pod = parts().rev().find_map(|part| {
        let part = part.strip_suffix(".slice").unwrap_or(part);
        let from = part
            .rfind("pod")
            .filter(|at| !part[..*at].ends_with("kube"))?;
        let uid = part[from + "pod".len()..].replace('_', "-");
        let plausible = uid.len() >= 8 && uid.bytes().all(|b| b.is_ascii_hexdigit() || b == b'-');
        plausible.then(|| format!("pod:{uid}"))
    });
    pod.filter(|_| under_kubepods)
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jobs_of_slurm_and_pods_are_found_and_other_groups_are_none() {
        let uid = "12345678-9abc-def0-1234-56789abcdef0";
        let underscored = uid.replace('-', "_");
        for (path, want) in [
            (
                "/system.slice/slurmstepd.scope/job_4711/step_0/user/task_0".to_owned(),
                Some("slurm:4711".to_owned()),
            ),
            (
                "/system.slice/gpu1_slurmstepd.scope/job_13/step_0/user/task_0".to_owned(),
                Some("slurm:13".to_owned()),
            ),
            (
                "/slurm/uid_1000/job_12/step_batch".to_owned(),
                Some("slurm:12".to_owned()),
            ),
            (
                format!(
                    "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod{underscored}.slice/cri-containerd-ab.scope"
                ),
                Some(format!("pod:{uid}")),
            ),
            (
                format!("/kubepods/besteffort/pod{uid}/0123"),
                Some(format!("pod:{uid}")),
            ),
            ("/kubepods.slice".to_owned(), None),
            ("/user.slice/user-0.slice/session-1.scope".to_owned(), None),
            ("/system.slice/job_12".to_owned(), None),
            ("/".to_owned(), None),
        ] {
            assert_eq!(job_of(&path), want, "{path}");
        }
    }
}
