//! What people paste out of the source of a page: tags, and characters by name or number.

use std::borrow::Cow;

/// Tags that stand between words, and those that stand inside one. `<active_objs>` of a heading is none of them.
const APART: [&str; 14] = [
    "br",
    "pre",
    "p",
    "div",
    "table",
    "thead",
    "tbody",
    "tr",
    "td",
    "th",
    "ul",
    "ol",
    "li",
    "blockquote",
];
const INSIDE: [&str; 12] =
    ["b", "i", "u", "em", "strong", "span", "font", "a", "tt", "code", "kbd", "samp"];
/// Tags at which a line ends.
const ENDS: [&str; 6] = ["br", "p", "div", "tr", "li", "pre"];

/// Returns the lines that tags make of one line; nothing if it stays one.
pub(crate) fn lines(line: &str) -> Option<Vec<&str>> {
    if !line.contains('<') {
        return None;
    }
    let (mut lines, mut start, mut at) = (Vec::new(), 0, 0);
    while let Some((tag, name)) = next_tag(line, at) {
        if ENDS.contains(&name.to_ascii_lowercase().as_str()) {
            lines.push(&line[start..tag.end]);
            start = tag.end;
        }
        at = tag.end;
    }
    lines.push(&line[start..]);
    let are_several = lines.iter().filter(|line| !line.trim().is_empty()).count() > 1;
    are_several.then_some(lines)
}

/// Returns `line` without tags, and with the characters that HTML writes by name or number.
pub(crate) fn without(line: &str) -> Cow<'_, str> {
    if !line.contains('&') && !line.contains('<') {
        return Cow::Borrowed(line);
    }
    let (mut text, mut at) = (String::with_capacity(line.len()), 0);
    while let Some((tag, name)) = next_tag(line, at) {
        text.push_str(&line[at..tag.start]);
        let name = name.to_ascii_lowercase();
        match () {
            () if APART.contains(&name.as_str()) => text.push(' '),
            () if INSIDE.contains(&name.as_str()) => {}
            () => text.push_str(&line[tag.clone()]),
        }
        at = tag.end;
    }
    text.push_str(&line[at..]);
    Cow::Owned(with_characters(&text))
}

/// Returns where the next tag lies from `from` on, and its name.
fn next_tag(line: &str, from: usize) -> Option<(std::ops::Range<usize>, &str)> {
    let mut from = from;
    loop {
        let start = from + line[from..].find('<')?;
        let body = line[start + 1..].trim_start_matches('/');
        let name_end = body.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(body.len());
        let end = body.find('>').filter(|_| name_end > 0);
        // A sign between two numbers begins none.
        match end.filter(|end| !body[..*end].contains('<')) {
            Some(end) => {
                let before = line.len() - body.len();
                return Some((start..before + end + 1, &body[..name_end]));
            }
            None => from = start + 1,
        }
    }
}

fn with_characters(text: &str) -> String {
    const NAMED: [(&str, char); 6] =
        [("lt", '<'), ("gt", '>'), ("quot", '"'), ("apos", '\''), ("nbsp", ' '), ("amp", '&')];
    /// Characters of a name or number at most.
    const LENGTH_MAX: usize = 8;
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('&') {
        kept.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        let name = rest.split_once(';').map(|(name, _)| name).filter(|n| n.len() <= LENGTH_MAX);
        let number = |digits: &str| match digits.strip_prefix(['x', 'X']) {
            Some(digits) => u32::from_str_radix(digits, 16).ok(),
            None => digits.parse().ok(),
        };
        let sign = name.and_then(|name| match name.strip_prefix('#') {
            Some(digits) => number(digits).and_then(char::from_u32),
            None => NAMED.iter().find(|(known, _)| *known == name).map(|(_, sign)| *sign),
        });
        match (sign, name) {
            (Some(sign), Some(name)) => {
                kept.push(if sign == '\u{a0}' { ' ' } else { sign });
                rest = &rest[name.len() + 1..];
            }
            _ => kept.push('&'),
        }
    }
    kept.push_str(rest);
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_go_and_the_brackets_of_a_heading_stay() {
        assert_eq!(without("<td class=\"n\">dentry</td><td>12</td>"), " dentry  12 ");
        assert_eq!(without("<span class=k>kmalloc</span>-64 1 < 2"), "kmalloc-64 1 < 2");
        assert_eq!(without("# name <active_objs> <B>1</B>"), "# name <active_objs> 1");
        assert_eq!(without("&lt;a&gt; &#x41;&#66;&nbsp;&amp;lt; &x; & 1"), "<a> AB &lt; &x; & 1");
    }

    #[test]
    fn a_tag_that_ends_a_line_makes_two() {
        assert_eq!(lines("a 1<br/>b 2<br>"), Some(vec!["a 1<br/>", "b 2<br>", ""]));
        assert_eq!(lines("<td>a</td><b>c</b>"), None);
        assert_eq!(lines("a <active_objs>"), None);
    }
}
