//! The assembler: from text in the notation of the kernel's verifier to instructions.
//!
//! # How it works
//! A text has programs (`.program NAME` to `.end`) and parts that several of them take over (`.part NAME`, `.use NAME`), and
//! gives numbers names (`.set NAME 24`). What only the running kernel knows, or who loads it, has a name too: see [`Names`].
//! One of the kernel's own functions is called by the number of its type. [`line`] makes instructions of each line; then jumps
//! get the distance to their labels.
//!
//! ```text
//! r7 = *(u64 *)(r6 + arg.size)        lock *(u32 *)(r0 + 0) += r1
//! r1 = map live                       if r0 == 0 goto out
//! r2 = value counts                   call map_lookup_elem
//!                                     call kernel bpf_rdonly_cast
//! ```
//!
//! # Invariants
//! A jump goes to a label of its own program, which stands there once, and not further than its 16 bits reach. A number fits
//! where it is put. Anything else is an error with its line; a text is never partly assembled.
//!
//! Linux counterpart: `Documentation/bpf/standardization/instruction-set.rst` @ 6.18.

mod instruction;
mod line;
mod words;

use std::collections::{BTreeMap, HashMap};

use self::instruction::Instruction;
use self::line::Piece;
use crate::error::Error;
use crate::map::{Map, Shared};
use crate::ring::Ring;

/// Parts within parts that are followed: one that takes itself over ends here.
const PARTS_DEEP: usize = 4;

/// What the names in a text stand for.
#[derive(Debug, Default)]
pub struct Names {
    numbers: HashMap<String, i64>,
    maps: HashMap<&'static str, u32>,
    values: HashMap<&'static str, u32>,
    parts: HashMap<&'static str, &'static str>,
}

impl Names {
    /// Gives a number a name.
    pub fn number(&mut self, name: impl Into<String>, number: i64) {
        self.numbers.insert(name.into(), number);
    }

    /// Gives a map a name, for `r1 = map NAME`.
    pub fn map(&mut self, name: &'static str, map: &Map) {
        self.maps.insert(name, map.raw_fd());
    }

    /// Gives a ring a name, for `r1 = map NAME`.
    pub fn ring(&mut self, name: &'static str, ring: &Ring) {
        self.maps.insert(name, ring.raw_fd());
    }

    /// Gives a shared value a name, for `r1 = value NAME`.
    pub fn value(&mut self, name: &'static str, value: &Shared) {
        self.values.insert(name, value.raw_fd());
    }

    /// Says which part of the text `.use NAME` takes over, where there are several for one thing.
    pub fn part(&mut self, name: &'static str, part: &'static str) {
        self.parts.insert(name, part);
    }
}

/// A text, cut into its programs and parts.
#[derive(Debug)]
pub struct Assembly<'a> {
    programs: BTreeMap<&'a str, Vec<Line<'a>>>,
    parts: BTreeMap<&'a str, Vec<Line<'a>>>,
    numbers: Vec<(Line<'a>, &'a str, i64)>,
}

/// A line without its comment, and its number.
#[derive(Debug, Clone, Copy)]
struct Line<'a> {
    number: usize,
    text: &'a str,
}

impl Line<'_> {
    fn error(self, what: impl Into<String>) -> Error {
        Error::Text { line: self.number, what: what.into(), text: self.text.to_owned() }
    }
}

impl<'a> Assembly<'a> {
    /// Cuts a text into programs and parts.
    ///
    /// # Errors
    /// When a line stands in neither, or one of them has no end.
    pub fn parse(text: &'a str) -> Result<Self, Error> {
        let mut all =
            Self { programs: BTreeMap::new(), parts: BTreeMap::new(), numbers: Vec::new() };
        let mut open: Option<(Line<'a>, bool, &'a str, Vec<Line<'a>>)> = None;
        for (at, text) in text.lines().enumerate() {
            let text = text.split(';').next().unwrap_or_default().trim();
            let line = Line { number: at + 1, text };
            let words: Vec<&str> = text.split_whitespace().collect();
            match (&words[..], &mut open) {
                ([], _) => {}
                ([".program", name], None) => open = Some((line, true, name, Vec::new())),
                ([".part", name], None) => open = Some((line, false, name, Vec::new())),
                ([".set", name, number], None) => {
                    let number = words::number(number).ok_or_else(|| line.error("no number"))?;
                    all.numbers.push((line, name, number));
                }
                ([".end"], Some(_)) => {
                    let (line, is_program, name, lines) = open.take().expect("it is open");
                    let of = if is_program { &mut all.programs } else { &mut all.parts };
                    if of.insert(name, lines).is_some() {
                        return Err(line.error("this name is taken"));
                    }
                }
                (_, Some((_, _, _, lines))) => lines.push(line),
                (_, None) => return Err(line.error("this stands in no program")),
            }
        }
        match open {
            Some((line, ..)) => Err(line.error("this has no .end")),
            None => Ok(all),
        }
    }

    /// Returns the names of the programs.
    pub fn programs(&self) -> impl Iterator<Item = &'a str> {
        self.programs.keys().copied()
    }

    /// Makes the instructions of a program, as bytes.
    ///
    /// # Errors
    /// When the text is wrong, or a name stands for nothing.
    pub fn program(&self, name: &str, names: &Names) -> Result<Vec<u8>, Error> {
        let missing = || Error::Missing(format!("BPF program {name}"));
        let lines = self.programs.get(name).ok_or_else(missing)?;
        let mut names_of_all = HashMap::new();
        for (line, name, number) in &self.numbers {
            if names.numbers.contains_key(*name)
                || names_of_all.insert((*name).to_owned(), *number).is_some()
            {
                return Err(line.error("this name is taken"));
            }
        }
        names_of_all.extend(names.numbers.iter().map(|(name, number)| (name.clone(), *number)));
        let scope = line::Scope {
            numbers: &names_of_all,
            maps: &names.maps,
            values: &names.values,
            parts: &names.parts,
        };
        let mut code = Code::default();
        self.add(lines, PARTS_DEEP, &mut code, &scope)?;
        code.linked()
    }
}

impl<'a> Assembly<'a> {
    /// Adds lines, and those of the parts that they take over.
    fn add(
        &self,
        lines: &[Line<'a>],
        deep: usize,
        code: &mut Code<'a>,
        scope: &line::Scope<'_>,
    ) -> Result<(), Error> {
        for line in lines {
            let Some(part) = line.text.strip_prefix(".use ") else {
                code.add(*line, scope)?;
                continue;
            };
            let part = scope.parts.get(part.trim()).copied().unwrap_or(part.trim());
            let part = self.parts.get(part).ok_or_else(|| line.error("no such part"))?;
            let deep =
                deep.checked_sub(1).ok_or_else(|| line.error("parts are too deep in parts"))?;
            self.add(part, deep, code, scope)?;
        }
        Ok(())
    }
}

/// Instructions whose jumps do not yet know where their labels are.
#[derive(Default)]
struct Code<'a> {
    instructions: Vec<Instruction>,
    labels: HashMap<&'a str, usize>,
    jumps: Vec<(Line<'a>, usize, &'a str)>,
}

impl<'a> Code<'a> {
    fn add(&mut self, line: Line<'a>, scope: &line::Scope<'_>) -> Result<(), Error> {
        let here = self.instructions.len();
        match line::parse(line.text, scope).map_err(|what| line.error(what))? {
            Piece::Label(name) => {
                if self.labels.insert(name, here).is_some() {
                    return Err(line.error("this label stands here twice"));
                }
            }
            Piece::Jump(instruction, to) => {
                self.jumps.push((line, here, to));
                self.instructions.push(instruction);
            }
            Piece::Instruction(instruction) => self.instructions.push(instruction),
            Piece::Wide(first, second) => self.instructions.extend([first, second]),
        }
        Ok(())
    }

    fn linked(mut self) -> Result<Vec<u8>, Error> {
        for (line, at, to) in self.jumps {
            let to = self.labels.get(to).ok_or_else(|| line.error("no such label"))?;
            // Labels and jumps are places in a list: both are far below what i64 holds.
            let distance = *to as i64 - at as i64 - 1;
            self.instructions[at].offset =
                i16::try_from(distance).map_err(|_| line.error("the label is too far away"))?;
        }
        Ok(self.instructions.iter().flat_map(|instruction| instruction.bytes()).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Assembles a program of these lines; returns its instructions as numbers.
    fn assembled(lines: &str) -> Result<Vec<u64>, Error> {
        let text = format!(".set eight 8\n.program p\n{lines}\n.end\n");
        let mut names = Names::default();
        names.number("arg.ptr", 16);
        names.maps.insert("live", 5);
        names.values.insert("counts", 6);
        let bytes = Assembly::parse(&text)?.program("p", &names)?;
        let word = |bytes: &[u8]| u64::from_le_bytes(bytes.try_into().unwrap());
        Ok(bytes.chunks_exact(8).map(word).collect())
    }

    /// Puts an instruction together as the standard draws it.
    fn word(code: u8, registers: u8, offset: i16, immediate: i32) -> u64 {
        let offset = u64::from(offset.cast_unsigned()) << 16;
        u64::from(code)
            | u64::from(registers) << 8
            | offset
            | u64::from(immediate.cast_unsigned()) << 32
    }

    #[test]
    fn each_form_has_the_bytes_of_the_standard() {
        let forms = [
            ("r6 = r1", word(0xbf, 0x16, 0, 0)),
            ("w6 = w1", word(0xbc, 0x16, 0, 0)),
            ("r2 = -8", word(0xb7, 0x02, 0, -8)),
            ("r2 += eight", word(0x07, 0x02, 0, 8)),
            ("r2 += r3", word(0x0f, 0x32, 0, 0)),
            ("w3 *= 7", word(0x24, 0x03, 0, 7)),
            ("r1 >>= 12", word(0x77, 0x01, 0, 12)),
            ("r1 <<= r4", word(0x6f, 0x41, 0, 0)),
            ("r1 &= 0xff", word(0x57, 0x01, 0, 255)),
            ("r3 = be64 r3", word(0xdc, 0x03, 0, 64)),
            ("r7 = *(u64 *)(r6 + arg.ptr)", word(0x79, 0x67, 16, 0)),
            ("r7 = *(u8 *)(r6 + 0)", word(0x71, 0x67, 0, 0)),
            ("*(u64 *)(r10 - 8) = r7", word(0x7b, 0x7a, -8, 0)),
            ("*(u32 *)(r10 - eight) = 3", word(0x62, 0x0a, -8, 3)),
            ("lock *(u32 *)(r0 + 0) += r1", word(0xc3, 0x10, 0, 0)),
            ("lock *(u64 *)(r0 + 8) += r1", word(0xdb, 0x10, 8, 0)),
            ("r2 = atomic64_fetch_add((u64 *)(r1 + 8), r2)", word(0xdb, 0x21, 8, 1)),
            ("call map_lookup_elem", word(0x85, 0, 0, 1)),
            ("call kernel eight", word(0x85, 0x20, 0, 8)),
            ("exit", word(0x95, 0, 0, 0)),
        ];
        for (text, bytes) in forms {
            assert_eq!(assembled(text).unwrap(), [bytes], "{text}");
        }
        let wide = assembled("r1 = map live\nr2 = value counts\nr3 = 0x123456789").unwrap();
        let of = |registers, low, high| [word(0x18, registers, 0, low), word(0, 0, 0, high)];
        let (map, value, number) = (of(0x11, 5, 0), of(0x22, 6, 0), of(0x03, 0x2345_6789, 1));
        assert_eq!(wide, [map, value, number].concat());
    }

    #[test]
    fn a_jump_goes_to_its_label_both_ways() {
        let code = assembled(
            "again:\nif r0 == 0 goto out\nr1 = map live\nif w1 > w2 goto again\ngoto out\nout:\nexit",
        );
        let code = code.unwrap();
        assert_eq!(code[0], word(0x15, 0, 4, 0));
        assert_eq!(code[3], word(0x2e, 0x21, -4, 0));
        assert_eq!(code[4], word(0x05, 0, 0, 0));
    }

    #[test]
    fn a_part_is_taken_over_and_its_labels_are_those_of_the_program() {
        let text =
            ".part p\nr0 = 0 ; nothing\nout:\n.end\n.program a\ngoto out\n.use p\nexit\n.end";
        let code = Assembly::parse(text).unwrap().program("a", &Names::default()).unwrap();
        assert_eq!(code.len(), 3 * 8);
    }

    #[test]
    fn a_name_says_which_of_several_parts_is_taken_over() {
        let text =
            ".part short\nexit\n.end\n.part long\nr0 = 0\nexit\n.end\n.program a\n.use p\n.end";
        let assembly = Assembly::parse(text).unwrap();
        let mut names = Names::default();
        for (part, length) in [("short", 1), ("long", 2)] {
            names.part("p", part);
            assert_eq!(assembly.program("a", &names).unwrap().len(), length * 8);
        }
        let error = assembly.program("a", &Names::default()).unwrap_err().to_string();
        assert!(error.contains("no such part"), "{error}");
    }

    #[test]
    fn a_wrong_text_is_refused_with_its_line() {
        for (text, what) in [
            ("goto nowhere", "no such label"),
            ("a:\na:", "twice"),
            ("r11 = 1", "neither a register nor a number"),
            ("r1 = many", "neither a register nor a number"),
            ("w1 = r2", "as wide"),
            ("r1 = w2", "as wide"),
            ("r1 = be64 r2", "the register that it sets"),
            ("r1 ~= 2", "no such operator"),
            ("r1 += 0x123456789", "32 bits"),
            ("r1 = *(u64 *)(r6 + 70000)", "16 bits"),
            ("r1 = *(u24 *)(r6 + 0)", "u8, u16, u32 or u64"),
            ("call make_coffee", "no such helper"),
            ("call kernel nothing", "neither a register nor a number"),
            ("r1 = map dead", "no such map"),
            ("*(u64 *)(r10 - 8)", "more is expected"),
            ("exit now", "no more is expected"),
            (".use nothing", "no such part"),
            ("if r1 = 0 goto a", "no such comparison"),
            ("r1 = atomic64_fetch_add((u64 *)(r1 + 8), r2)", "sets the register"),
            ("lock *(u16 *)(r0 + 0) += r1", "u32 or u64"),
        ] {
            let error = assembled(text).expect_err(text).to_string();
            assert!(error.contains(what), "{text}: {error}");
            assert!(error.starts_with("line 3 ") || text.contains('\n'), "{text}: {error}");
        }
        for text in
            ["r0 = 0", ".program a", ".end", ".set a b", ".program a\n.end\n.program a\n.end"]
        {
            Assembly::parse(text).expect_err(text);
        }
    }

    #[test]
    fn a_label_beyond_16_bits_is_refused() {
        let text = format!("goto out\n{}out:\nexit", "r0 = 0\n".repeat(40_000));
        assert!(assembled(&text).unwrap_err().to_string().contains("too far"));
    }

    #[test]
    fn any_text_is_an_answer_or_an_error() {
        let good = "if r0 == 0 goto out\nlock *(u32 *)(r0 + 0) += r1\nout:\nexit";
        for at in 0..good.len() {
            for with in ["", "(", "*", "9999999999999999999999", "-", "é"] {
                let text = format!("{}{with}{}", &good[..at], &good[at + 1..]);
                _ = assembled(&text);
            }
        }
    }
}
