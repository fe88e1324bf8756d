//! A source file: its tokens, and the functions in it.

use std::ops::Range;

use crate::token::{Kind, Token, tokens};

/// A file of C.
#[derive(Debug, Clone)]
pub struct CFile {
    /// Its path from the top of the source
    pub path: String,
    /// Its text
    pub text: String,
    /// Whether the text is what the file has, byte by byte, and no translation of Latin-1
    pub is_utf8: bool,
    pub(crate) tokens: Vec<Token>,
    /// The functions that it defines
    pub functions: Vec<Function>,
}

/// A function that a file defines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Function {
    /// Its name; of a system call, the name in `SYSCALL_DEFINE`
    pub name: String,
    /// Whether it is a system call, whose symbol has a prefix
    pub is_syscall: bool,
    /// Whether it is local to the file
    pub is_static: bool,
    /// Whether its memory is freed after the boot
    pub is_init: bool,
    /// The token of its name
    pub(crate) name_at: usize,
    /// The tokens of its parameters, without the brackets
    pub(crate) parameters: Range<usize>,
    /// The tokens of its body, without the braces
    pub(crate) body: Range<usize>,
}

impl Function {
    /// Returns whether a symbol of a kernel is this function: `__do_sys_eventfd2` is the system call `eventfd2`, and
    /// `f.part.0` a part of `f`.
    #[must_use]
    pub fn is_symbol(&self, symbol: &str) -> bool {
        let symbol = symbol.split('.').next().unwrap_or_default();
        match self.is_syscall {
            true => symbol
                .split_once("_sys_")
                .is_some_and(|(before, name)| before.starts_with("__") && name == self.name),
            false => symbol == self.name,
        }
    }
}

impl CFile {
    /// Reads a text.
    #[must_use]
    pub fn parse(path: &str, text: String) -> Self {
        let mut file = Self {
            path: path.to_owned(),
            tokens: tokens(&text),
            text,
            is_utf8: true,
            functions: Vec::new(),
        };
        file.functions = file.find_functions();
        file
    }

    /// Returns the text of a token; nothing behind the last.
    pub(crate) fn word(&self, at: usize) -> &str {
        self.tokens.get(at).map_or("", |token| &self.text[token.at.clone()])
    }

    pub(crate) fn is_name(&self, at: usize) -> bool {
        self.tokens.get(at).is_some_and(|token| token.kind == Kind::Word)
    }

    /// Returns the text of tokens, as it stands in the file.
    pub(crate) fn source(&self, of: &Range<usize>) -> &str {
        match (self.tokens.get(of.start), of.end.checked_sub(1).and_then(|at| self.tokens.get(at)))
        {
            (Some(first), Some(last)) if !of.is_empty() => &self.text[first.at.start..last.at.end],
            _ => "",
        }
    }

    /// Returns the line of a token, counted from 1.
    pub(crate) fn line(&self, at: usize) -> usize {
        let end = self.tokens.get(at).map_or(self.text.len(), |token| token.at.start);
        1 + memchr::memchr_iter(b'\n', &self.text.as_bytes()[..end]).count()
    }

    /// Returns `FILE:LINE` of a token.
    pub(crate) fn place(&self, at: usize) -> String {
        format!("{}:{}", self.path, self.line(at))
    }

    /// Returns what stands behind the `#` of a preprocessor line, its word first; `None` if the token is none.
    pub(crate) fn directive(&self, at: usize) -> Option<&str> {
        let token = self.tokens.get(at).filter(|token| token.kind == Kind::Directive)?;
        Some(self.text[token.at.clone()].trim_start_matches('#').trim_start())
    }

    /// Returns the number of `#if`s that are open at a token.
    pub(crate) fn conditions(&self, at: usize) -> usize {
        let mut open = 0usize;
        for line in (0..at).filter_map(|at| self.directive(at)) {
            match directive(line) {
                "if" | "ifdef" | "ifndef" => open += 1,
                "endif" => open = open.saturating_sub(1),
                _ => {}
            }
        }
        open
    }

    /// Returns whether these words begin at a token.
    pub(crate) fn follows(&self, at: usize, words: &[&str]) -> bool {
        words.iter().enumerate().all(|(i, word)| self.word(at + i) == *word)
    }

    /// Returns the function in whose body a token is.
    pub(crate) fn function_at(&self, at: usize) -> Option<&Function> {
        self.functions.iter().find(|function| function.body.contains(&at))
    }

    /// Returns the bracket that closes the one at `open`; the end of the tokens if none does.
    pub(crate) fn closing(&self, open: usize) -> usize {
        let (begin, end) = match self.word(open) {
            "(" => ("(", ")"),
            "[" => ("[", "]"),
            _ => ("{", "}"),
        };
        let mut depth = 0usize;
        for at in open..self.tokens.len() {
            let word = self.word(at);
            if word == begin {
                depth += 1;
            } else if word == end {
                depth -= 1;
                if depth == 0 {
                    return at;
                }
            }
        }
        self.tokens.len()
    }

    /// Returns the bracket that opens what the one at `close` closes.
    fn opening(&self, close: usize) -> Option<usize> {
        let mut depth = 0usize;
        for at in (0..=close).rev() {
            match self.word(at) {
                ")" => depth += 1,
                "(" => {
                    depth = depth.checked_sub(1)?;
                    if depth == 0 {
                        return Some(at);
                    }
                }
                "{" | "}" | ";" => return None,
                _ => {}
            }
        }
        None
    }

    /// Finds blocks at the outermost level that stand behind `name(...)`. Braces of `#else` sides begin where those of
    /// their `#if` began, so that a function with two heads has one body.
    fn find_functions(&self) -> Vec<Function> {
        let mut functions: Vec<Function> = Vec::new();
        let (mut depth, mut begins) = (0usize, Vec::new());
        let mut open: Option<usize> = None;
        for (at, token) in self.tokens.iter().enumerate() {
            let word = &self.text[token.at.clone()];
            if token.kind == Kind::Directive {
                match directive(word) {
                    "if" | "ifdef" | "ifndef" => begins.push(depth),
                    "else" | "elif" => depth = begins.last().copied().unwrap_or(depth),
                    "endif" => _ = begins.pop(),
                    _ => {}
                }
                continue;
            }
            match word {
                "{" => {
                    if depth == 0 && open.is_none() {
                        open = Some(at);
                    }
                    depth += 1;
                }
                "}" => {
                    depth = depth.saturating_sub(1);
                    if depth == 0 {
                        let found = open.take().and_then(|open| self.function(open, at));
                        functions.extend(found);
                    }
                }
                _ => {}
            }
        }
        functions
    }

    /// Reads the head of a function whose body is between two braces; `None` if it is a structure or a table.
    fn function(&self, open: usize, close: usize) -> Option<Function> {
        let mut end = open.checked_sub(1)?;
        loop {
            // Annotations such as __must_hold(lock) and __init stand between the head and the body.
            while self.is_name(end) && self.word(end).starts_with("__") {
                end = end.checked_sub(1)?;
            }
            if self.word(end) != ")" {
                return None;
            }
            let begin = self.opening(end)?;
            let name = begin.checked_sub(1)?;
            if !self.is_name(name) {
                return None;
            }
            let word = self.word(name);
            if word.starts_with("__") && self.word(name.checked_sub(1)?) == ")" {
                end = name - 1;
                continue;
            }
            let is_syscall = word.contains("SYSCALL_DEFINE");
            let named = if is_syscall { self.word(begin + 1) } else { word };
            // From the end of what stands before it, the words of its type.
            let is_before = |at: &usize| {
                !matches!(self.word(*at), ";" | "}") && self.tokens[*at].kind != Kind::Directive
            };
            let head = (0..name).rev().take_while(is_before);
            let words: Vec<_> = head.chain(end..open).map(|at| self.word(at)).collect();
            return Some(Function {
                name: named.to_owned(),
                is_syscall,
                is_static: words.contains(&"static"),
                is_init: words.iter().any(|word| matches!(*word, "__init" | "__init_or_module")),
                name_at: name,
                parameters: begin + 1..end,
                body: open + 1..close,
            });
        }
    }
}

/// Returns the word of a preprocessor line.
fn directive(line: &str) -> &str {
    let rest = line.trim_start_matches('#').trim_start();
    rest.split(|c: char| !c.is_ascii_alphabetic()).next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_have_names_and_bodies() {
        let text = "struct a { int x; };\nstatic int f(struct a *p) { return 1; }\n\
            SYSCALL_DEFINE2(eventfd2, unsigned int, count, int, flags)\n{\n\treturn f(0);\n}\n\
            static struct a t = { .x = 1 };\nint g(void)\n\t__acquires(lock) __must_check\n{ g(); }\n";
        let file = CFile::parse("a.c", text.into());
        let names: Vec<_> = file.functions.iter().map(|f| (f.name.as_str(), f.is_static)).collect();
        assert_eq!(names, [("f", true), ("eventfd2", false), ("g", false)]);
        assert!(file.functions[1].is_symbol("__do_sys_eventfd2"));
        assert!(file.functions[0].is_symbol("f.part.0") && !file.functions[0].is_symbol("ff"));
        assert_eq!(file.source(&file.functions[2].body), "g();");
    }

    #[test]
    fn a_function_with_two_heads_has_one_body() {
        let text = "#ifdef A\nint f(int a) {\n#else\nint f(void) {\n#endif\n\tx();\n}\nint g(void) { y(); }\n";
        let file = CFile::parse("a.c", text.into());
        let names: Vec<_> = file.functions.iter().map(|f| f.name.as_str()).collect();
        assert_eq!(names, ["f", "g"]);
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_read(text in r#"(if|f|\(|\)|\{|\}|;|#if\n|#else\n|#endif\n| |__a|static){0,40}"#) {
            let file = CFile::parse("a.c", text);
            for function in &file.functions {
                assert!(function.body.end <= file.tokens.len());
            }
        }
    }
}
