//! Text inside HTML, SVG and Markdown.

use slablab_host::printable;

/// Replaces the characters that mean something in HTML and XML, and those that neither may hold.
pub(crate) fn escape(text: &str) -> String {
    printable(text)
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}

/// Returns text whose characters mean nothing to Markdown, nor to the HTML in it.
pub(crate) fn markdown_words(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    for c in printable(text).chars() {
        match c {
            '<' => plain.push_str("&lt;"),
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
        ] {
            assert_eq!(markdown_words(text), want);
        }
        assert_eq!(escape("<a href=\"x\">\u{1b}&"), "&lt;a href=&quot;x&quot;&gt;?&amp;");
    }
}
