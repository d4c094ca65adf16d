//! CUDA_VISIBLE_DEVICES of a client, within what the server permits.

/// A device that a session may see.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Permitted {
    /// As CUDA_VISIBLE_DEVICES takes it: `GPU-` and the UUID in lower case.
    pub uuid: String,
}

/// The value of CUDA_VISIBLE_DEVICES for the server's process: UUIDs of `permitted` devices that
/// the client's `wanted` names, in its order. All of them if `wanted` is `None`.
///
/// As the CUDA C++ Programming Guide says (environment variables): names are indexes or UUIDs, which
/// may be shortened as long as they are unambiguous; the list ends at the first name that is none,
/// and a device that comes twice makes it empty. An empty result hides every device.
pub fn visible(permitted: &[Permitted], wanted: Option<&str>) -> String {
    let Some(wanted) = wanted else {
        let all: Vec<&str> = permitted.iter().map(|p| p.uuid.as_str()).collect();
        return all.join(",");
    };
    let mut chosen: Vec<&str> = Vec::new();
    for name in wanted.split(',') {
        let Some(device) = find(permitted, name.trim()) else {
            break;
        };
        if chosen.contains(&device.uuid.as_str()) {
            return String::new();
        }
        chosen.push(&device.uuid);
    }
    chosen.join(",")
}

fn find<'a>(permitted: &'a [Permitted], name: &str) -> Option<&'a Permitted> {
    if let Ok(index) = name.parse::<usize>() {
        return permitted.get(index);
    }
    let name = name.to_ascii_lowercase();
    if !name.starts_with("gpu-") || name.len() <= 4 {
        return None;
    }
    let mut fits = permitted
        .iter()
        .filter(|p| p.uuid.to_ascii_lowercase().starts_with(&name));
    match (fits.next(), fits.next()) {
        (Some(one), None) => Some(one),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn three() -> Vec<Permitted> {
        let uuid = |n: u8| Permitted {
            uuid: format!("GPU-{n}a00-{n}"),
        };
        vec![uuid(1), uuid(2), uuid(3)]
    }

    #[test]
    fn names_are_indexes_or_the_start_of_a_uuid() {
        let three = three();
        assert_eq!(visible(&three, Some("2,0")), "GPU-3a00-3,GPU-1a00-1");
        assert_eq!(visible(&three, Some("GPU-2a, 0")), "GPU-2a00-2,GPU-1a00-1");
        assert_eq!(visible(&three, None).split(',').count(), 3);
    }

    #[test]
    fn the_list_ends_at_the_first_name_that_is_none() {
        let three = three();
        assert_eq!(visible(&three, Some("1,7,0")), "GPU-2a00-2");
        assert_eq!(visible(&three, Some("-1,0")), "");
        assert_eq!(visible(&three, Some("")), "");
        assert_eq!(visible(&three, Some("GPU-,0")), "");
        assert_eq!(visible(&three, Some("1,1")), "");
    }
}
