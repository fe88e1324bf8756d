//! Names with `*` and `?` in them, as a shell has them for files.

/// A pattern: `*` stands for any characters, also none, and `?` for any one.
#[derive(Debug, Clone)]
pub struct Pattern(Vec<char>);

impl Pattern {
    /// Reads a pattern; every text is one.
    #[must_use]
    pub fn new(pattern: &str) -> Pattern {
        Pattern(pattern.chars().collect())
    }

    /// Returns whether the whole of `name` is what the pattern stands for.
    #[must_use]
    pub fn matches(&self, name: &str) -> bool {
        let (pattern, name) = (&self.0, name.chars().collect::<Vec<_>>());
        let (mut at, mut in_name) = (0, 0);
        // Behind the last `*`, and where in the name what it stands for ends so far.
        let mut star = None;
        while in_name < name.len() {
            match pattern.get(at) {
                Some('*') => {
                    at += 1;
                    star = Some((at, in_name));
                }
                Some(c) if *c == '?' || *c == name[in_name] => {
                    at += 1;
                    in_name += 1;
                }
                _ => {
                    // The last `*` stands for one character more; an earlier one never has to.
                    let Some((behind, end)) = star else { return false };
                    star = Some((behind, end + 1));
                    (at, in_name) = (behind, end + 1);
                }
            }
        }
        pattern[at..].iter().all(|c| *c == '*')
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_is_any_characters_and_a_question_mark_is_one() {
        let cases = [
            ("", "", true),
            ("", "a", false),
            ("*", "", true),
            ("?", "", false),
            ("?", "ß", true),
            ("kmalloc-*", "kmalloc-64", true),
            ("kmalloc-*", "kmalloc", false),
            ("*-cg-*", "kmalloc-cg-1k", true),
            ("a*b*c", "a-b-b-c-c", true),
            ("a*b*c", "a-b-b-c-d", false),
            ("**a??", "xaayz", true),
            ("*aab", "aaaaab", true),
            ("a*", "ba", false),
            ("a?c", "ac", false),
            ("[a]", "a", false),
        ];
        for (pattern, name, expected) in cases {
            assert_eq!(Pattern::new(pattern).matches(name), expected, "{pattern} {name}");
        }
    }

    /// Says the same by trying every length of each `*`.
    fn fits(pattern: &[char], name: &[char]) -> bool {
        match pattern.split_first() {
            None => name.is_empty(),
            Some(('*', rest)) => (0..=name.len()).any(|at| fits(rest, &name[at..])),
            Some((c, rest)) => {
                let same = |first: &char| *c == '?' || c == first;
                name.split_first().is_some_and(|(first, left)| same(first) && fits(rest, left))
            }
        }
    }

    #[test]
    fn every_short_pattern_matches_as_a_slow_search_says() {
        let texts = |letters: &[char], length: u32| -> Vec<Vec<char>> {
            let count = letters.len();
            let text = |mut number: usize| {
                let mut letter = || {
                    let letter = letters[number % count];
                    number /= count;
                    letter
                };
                (0..length).map(|_| letter()).collect()
            };
            (0..count.pow(length)).map(text).collect()
        };
        let patterns = (0..6).flat_map(|length| texts(&['a', 'b', '*', '?'], length));
        let names: Vec<_> = (0..6).flat_map(|length| texts(&['a', 'b'], length)).collect();
        for pattern in patterns {
            let own = Pattern::new(&pattern.iter().collect::<String>());
            for name in &names {
                let found = own.matches(&name.iter().collect::<String>());
                assert_eq!(found, fits(&pattern, name), "{pattern:?} {name:?}");
            }
        }
    }
}
