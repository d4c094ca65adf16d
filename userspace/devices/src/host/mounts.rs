//! What is mounted. Source: proc_pid_mounts(5): device, mount point, type, options; blank, tab, newline and backslash are
//! written in octal.

use super::part::{HostRoots, Unread, needed};

/// A mounted file system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Mount {
    pub(super) device: String,
    pub(super) at: String,
    pub(super) kind: String,
    pub(super) read_only: bool,
    /// The user who mounted it, if that is one by FUSE.
    pub(super) fuse_user: Option<u32>,
}

/// What process 1 has mounted; where that may not be asked, what this process has.
pub(super) fn mounts(roots: &HostRoots) -> Result<Vec<Mount>, Unread> {
    let text = match needed(&roots.proc.join("1/mounts")) {
        Ok(text) => text,
        Err(_) => needed(&roots.proc.join("mounts"))?,
    };
    Ok(text.lines().filter_map(parse).collect())
}

fn parse(line: &str) -> Option<Mount> {
    let mut words = line.split(' ');
    let (device, at, kind) = (words.next()?, words.next()?, words.next()?);
    let options = words.next()?;
    let read_only = options.split(',').any(|option| option == "ro");
    let user = options
        .split(',')
        .find_map(|option| option.strip_prefix("user_id="));
    Some(Mount {
        device: unescape(device),
        at: unescape(at),
        kind: kind.to_owned(),
        read_only,
        fuse_user: user.and_then(|user| user.parse().ok()),
    })
}

fn unescape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        let (before, escaped) = rest.split_at(at);
        out.push_str(before);
        let code = escaped
            .get(1..4)
            .and_then(|d| u8::from_str_radix(d, 8).ok());
        match code {
            Some(byte) if byte.is_ascii() => {
                out.push(char::from(byte));
                rest = escaped.get(4..).unwrap_or("");
            }
            _ => {
                out.push('\\');
                rest = escaped.get(1..).unwrap_or("");
            }
        }
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_with_blanks_are_read_and_broken_lines_left_out() {
        let mount = parse(r"/dev/sda1 /mnt/my\040data\134x ext4 rw,relatime,errors=remount-ro 0 0")
            .unwrap();
        assert_eq!(
            (mount.at.as_str(), mount.read_only),
            (r"/mnt/my data\x", false)
        );
        let mount = parse("tmpfs /a tmpfs nosuid,ro 0 0").unwrap();
        assert!(mount.read_only);
        for line in ["", "a", "a b", "a b c"] {
            assert_eq!(parse(line), None, "{line}");
        }
        assert_eq!(unescape(r"a\9\04é\\"), r"a\9\04é\\");
    }

    #[test]
    fn a_mount_point_whose_name_is_no_text_hides_no_other() {
        let dir = tempfile::tempdir().unwrap();
        let proc = dir.path().join("proc");
        std::fs::create_dir_all(proc.join("1")).unwrap();
        let text = b"u@h:/ /home/u/\xff fuse.sshfs rw,user_id=1000 0 0\n/dev/sda1 / ext4 rw 0 0\n";
        std::fs::write(proc.join("1/mounts"), text).unwrap();
        let found = mounts(&HostRoots::new(proc, dir.path().join("sys"))).unwrap();
        let at: Vec<_> = found.iter().map(|mount| mount.at.as_str()).collect();
        assert_eq!(at, ["/home/u/\u{fffd}", "/"]);
    }
}
