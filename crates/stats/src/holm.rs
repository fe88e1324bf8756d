//! Many comparisons at once: Holm's step-down correction.
//!
//! Source: Holm: A Simple Sequentially Rejective Multiple Test Procedure, Scand. J. Stat. 6, 1979.

/// Returns the adjusted p values, in the order of `p`: reject those below alpha and the chance of one wrong
/// rejection among all stays below alpha.
#[must_use]
pub fn holm(p: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p.len()).collect();
    order.sort_by(|&i, &j| p[i].total_cmp(&p[j]));
    let mut adjusted = vec![0.0; p.len()];
    let mut least = 0.0f64;
    for (step, &i) in order.iter().enumerate() {
        least = least.max((p.len() - step) as f64 * p[i]).min(1.0);
        adjusted[i] = least;
    }
    adjusted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn adjusted_values_are_those_of_r() {
        // p.adjust(c(0.01, 0.04, 0.03, 0.005), "holm")
        let got = holm(&[0.01, 0.04, 0.03, 0.005]);
        let want = [0.03, 0.06, 0.06, 0.02];
        assert!(got.iter().zip(want).all(|(g, w)| (g - w).abs() < 1e-15), "{got:?}");
        assert!(holm(&[]).is_empty());
    }
}
