//! Sizes, as people write them.

/// Bytes from `512`, `16M`, `8GiB`: K, M, G and T are powers of 1024.
///
/// # Errors
///
/// What is wrong with it.
pub fn parse_size(text: &str) -> Result<u64, String> {
    let wrong = || format!("`{text}` is no size: use a number with K, M, G or T, such as 8G");
    let end = text
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(text.len());
    let (digits, unit) = text.split_at(end);
    let unit = unit.trim().trim_end_matches("iB").trim_end_matches('B');
    let shift = match unit {
        "" => 0,
        "k" | "K" => 10,
        "M" => 20,
        "G" => 30,
        "T" => 40,
        _ => return Err(wrong()),
    };
    let number: u64 = digits.parse().map_err(|_| wrong())?;
    number.checked_mul(1 << shift).ok_or_else(wrong)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read() {
        assert_eq!(parse_size("512"), Ok(512));
        assert_eq!(parse_size("8G"), Ok(8 << 30));
        assert_eq!(parse_size("8GiB"), Ok(8 << 30));
        assert_eq!(parse_size("64MB"), Ok(64 << 20));
        assert!(parse_size("many").is_err());
        assert!(parse_size("99999999999T").is_err());
    }
}
