//! Text inside HTML, SVG and Markdown.

use slablab_host::printable;

/// Replaces the characters that mean something in HTML and XML, and those that neither may contain.
pub(crate) fn escape(text: &str) -> String {
    printable(text)
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}

/// Returns text whose characters mean nothing to Markdown, nor to the HTML in it. A `<` before a blank or a digit does
/// not begin a tag, and stays: p is `< 0.0001`.
pub(crate) fn markdown_words(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let text = printable(text);
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        let is_tag = !rest.as_str().starts_with(|next: char| next == ' ' || next.is_ascii_digit());
        match c {
            '<' if is_tag => plain.push_str("&lt;"),
            '*' | '_' | '`' | '[' | ']' | '\\' => plain.extend(['\\', c]),
            c => plain.push(c),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_make_nothing_of_markdown_or_html() {
        for (text, want) in [
            ("<img src=x>\nb", "&lt;img src=x>?b"),
            ("![x](http://y)", "!\\[x\\](http://y)"),
            ("`a\\", "\\`a\\\\"),
            ("a_b*", "a\\_b\\*"),
            ("< 0.0001", "< 0.0001"),
        ] {
            assert_eq!(markdown_words(text), want);
        }
        assert_eq!(escape("<a href=\"x\">\u{1b}&"), "&lt;a href=&quot;x&quot;&gt;?&amp;");
    }
}
