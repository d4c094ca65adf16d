//! p-values of many tests.

/// Holm's correction: the probability that a test is called real by chance is at most the level over
/// all tests together, however they depend on each other.
pub(super) fn corrected(p: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p.len()).collect();
    order.sort_by(|a, b| p[*a].total_cmp(&p[*b]));
    let mut corrected = vec![1.0; p.len()];
    let mut least = 0.0f64;
    for (rank, at) in order.into_iter().enumerate() {
        least = least.max(p[at] * (p.len() - rank) as f64).min(1.0);
        corrected[at] = least;
    }
    corrected
}

#[cfg(test)]
mod tests {
    #[test]
    fn known_values() {
        // R: p.adjust(c(0.01, 0.04, 0.03, 0.005), "holm")
        let corrected = super::corrected(&[0.01, 0.04, 0.03, 0.005]);
        for (got, wanted) in corrected.iter().zip([0.03, 0.06, 0.06, 0.02]) {
            assert!((got - wanted).abs() < 1e-12, "{got} for {wanted}");
        }
        assert_eq!(super::corrected(&[]), Vec::<f64>::new());
    }
}
