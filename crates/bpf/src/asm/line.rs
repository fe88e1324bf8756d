//! One line: an instruction, a jump to a label, or a label.

use std::collections::HashMap;

use super::instruction::{
    Instruction, KERNEL_FUNCTION, MAP, MAP_VALUE, arithmetic, class, comparison, helper, width,
};
use super::words::{Words, number};

/// What a line is.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Piece<'a> {
    Label(&'a str),
    Instruction(Instruction),
    /// An instruction that takes the room of two
    Wide(Instruction, Instruction),
    /// An instruction whose offset leads to a label
    Jump(Instruction, &'a str),
}

/// What names stand for.
pub(super) struct Scope<'a> {
    pub(super) numbers: &'a HashMap<String, i64>,
    pub(super) maps: &'a HashMap<&'static str, u32>,
    pub(super) values: &'a HashMap<&'static str, u32>,
    pub(super) parts: &'a HashMap<&'static str, &'static str>,
}

/// A register, and whether only its lower half is meant.
#[derive(Clone, Copy)]
struct Register {
    number: u8,
    is_half: bool,
}

/// What stands right of an operator.
enum Operand {
    Register(Register),
    Number(i64),
}

/// A place in memory: `*(u32 *)(r6 + 8)`.
struct Place {
    width: u8,
    base: u8,
    offset: i16,
}

/// Reads a line that is not empty.
pub(super) fn parse<'a>(line: &'a str, scope: &Scope<'_>) -> Result<Piece<'a>, String> {
    let mut words = Words::new(line);
    let piece = match words.next() {
        "exit" => Piece::Instruction(Instruction::new(class::EXIT, 0)),
        "goto" => Piece::Jump(Instruction::new(class::JUMP, 0), words.some()?),
        "call" if words.peek() == "kernel" => {
            words.next();
            let id = constant(words.some()?, scope)?;
            let id = i32::try_from(id).map_err(|_| "the number does not fit into 32 bits")?;
            Piece::Instruction(Instruction::new(class::CALL, id).registers(0, KERNEL_FUNCTION))
        }
        "call" => {
            let helper = helper(words.some()?).ok_or("no such helper")?;
            Piece::Instruction(Instruction::new(class::CALL, helper))
        }
        "if" => branch(&mut words, scope)?,
        "lock" => {
            words.expect("*")?;
            Piece::Instruction(atomic(&mut words, scope)?)
        }
        "*" => Piece::Instruction(store(&mut words, scope)?),
        label if words.peek() == ":" => {
            words.expect(":")?;
            Piece::Label(label)
        }
        word => {
            let target = register(word).ok_or_else(|| unknown(word))?;
            assignment(target, &mut words, scope)?
        }
    };
    words.end()?;
    Ok(piece)
}

fn unknown(word: &str) -> String {
    format!("neither a register nor a number: {word}")
}

fn register(word: &str) -> Option<Register> {
    let (is_half, number) = match word.strip_prefix('w') {
        Some(number) => (true, number),
        None => (false, word.strip_prefix('r')?),
    };
    let number = number.parse().ok().filter(|number| *number <= 10)?;
    Some(Register { number, is_half })
}

/// Reads `if r1 == 0 goto label` behind its first word.
fn branch<'a>(words: &mut Words<'a>, scope: &Scope<'_>) -> Result<Piece<'a>, String> {
    let word = words.some()?;
    let left = register(word).ok_or_else(|| unknown(word))?;
    let compare = comparison(words.some()?).ok_or("no such comparison")?;
    let class = if left.is_half { class::JUMP32 } else { class::JUMP };
    let right = operand(words, scope)?;
    let instruction = with_operand(class | compare, left, &right)?;
    words.expect("goto")?;
    Ok(Piece::Jump(instruction, words.some()?))
}

/// Reads what follows the register that is set.
fn assignment<'a>(
    target: Register,
    words: &mut Words<'a>,
    scope: &Scope<'_>,
) -> Result<Piece<'a>, String> {
    let operator = words.some()?;
    let code = arithmetic(operator).ok_or("no such operator")?;
    if operator == "=" {
        match words.peek() {
            "*" => {
                words.next();
                let Place { width, base, offset } = place(words, scope)?;
                let load = Instruction::new(class::LOAD | width, 0);
                return Ok(Piece::Instruction(load.registers(target.number, base).offset(offset)));
            }
            kind @ ("map" | "value") => {
                words.next();
                let (maps, source) =
                    if kind == "map" { (scope.maps, MAP) } else { (scope.values, MAP_VALUE) };
                let fd = maps.get(words.some()?).ok_or_else(|| format!("no such {kind}"))?;
                return Ok(wide(target.number, source, i64::from(*fd)));
            }
            "be64" => {
                words.next();
                let word = words.some()?;
                let source = register(word).ok_or_else(|| unknown(word))?;
                if source.number != target.number || source.is_half || target.is_half {
                    return Err("be64 turns the register that it sets".to_owned());
                }
                let turn = Instruction::new(class::TO_BIG_ENDIAN, 64);
                return Ok(Piece::Instruction(turn.registers(target.number, 0)));
            }
            name @ ("atomic_fetch_add" | "atomic64_fetch_add") => {
                words.next();
                return Ok(Piece::Instruction(fetch(target, name, words, scope)?));
            }
            _ => {}
        }
    }
    let right = operand(words, scope)?;
    if let Operand::Number(number) = right
        && operator == "="
        && !target.is_half
        && i32::try_from(number).is_err()
    {
        return Ok(wide(target.number, 0, number));
    }
    let class = if target.is_half { class::ALU32 } else { class::ALU64 };
    Ok(Piece::Instruction(with_operand(class | code, target, &right)?))
}

/// Loads 64 bits.
fn wide<'a>(target: u8, source: u8, number: i64) -> Piece<'a> {
    // Each half has its own bits of the number.
    let (low, high) = (number as i32, (number >> 32) as i32);
    let first = Instruction::new(class::LOAD_IMMEDIATE, low).registers(target, source);
    Piece::Wide(first, Instruction::new(0, high))
}

fn with_operand(code: u8, left: Register, right: &Operand) -> Result<Instruction, String> {
    match *right {
        Operand::Register(right) if right.is_half != left.is_half => {
            Err("both registers have to be as wide as each other".to_owned())
        }
        Operand::Register(right) => {
            Ok(Instruction::new(code | class::REGISTER, 0).registers(left.number, right.number))
        }
        Operand::Number(number) => {
            // A number of 32 bits without a sign is meant as its bits where only those count.
            let bits = u32::try_from(number).ok().filter(|_| left.is_half).map(u32::cast_signed);
            let immediate = i32::try_from(number).ok().or(bits);
            let immediate = immediate.ok_or("the number does not fit into 32 bits")?;
            Ok(Instruction::new(code, immediate).registers(left.number, 0))
        }
    }
}

/// Reads `*(u64 *)(r10 - 8) = r7` behind its first word.
fn store(words: &mut Words<'_>, scope: &Scope<'_>) -> Result<Instruction, String> {
    let Place { width, base, offset } = place(words, scope)?;
    words.expect("=")?;
    let instruction = match operand(words, scope)? {
        Operand::Register(source) => {
            Instruction::new(class::STORE | width, 0).registers(base, source.number)
        }
        Operand::Number(number) => {
            let number =
                i32::try_from(number).map_err(|_| "the number does not fit into 32 bits")?;
            Instruction::new(class::STORE_IMMEDIATE | width, number).registers(base, 0)
        }
    };
    Ok(instruction.offset(offset))
}

/// Reads `lock *(u32 *)(r0 + 0) += r1` behind its star.
fn atomic(words: &mut Words<'_>, scope: &Scope<'_>) -> Result<Instruction, String> {
    let Place { width: bits, base, offset } = place(words, scope)?;
    if ![width("u32"), width("u64")].contains(&Some(bits)) {
        return Err("an atomic addition is of u32 or u64".to_owned());
    }
    words.expect("+=")?;
    let word = words.some()?;
    let source = register(word).ok_or_else(|| unknown(word))?;
    Ok(Instruction::new(class::ATOMIC | bits, 0).registers(base, source.number).offset(offset))
}

/// Reads `atomic64_fetch_add((u64 *)(r1 + 8), r2)` behind its name: `r2` takes the old value, and is the register that is set.
fn fetch(
    target: Register,
    name: &str,
    words: &mut Words<'_>,
    scope: &Scope<'_>,
) -> Result<Instruction, String> {
    const FETCH: i32 = 1;
    words.expect("(")?;
    let Place { width: bits, base, offset } = place(words, scope)?;
    words.expect(",")?;
    let word = words.some()?;
    let source = register(word).ok_or_else(|| unknown(word))?;
    words.expect(")")?;
    let wanted = if name == "atomic_fetch_add" { "u32" } else { "u64" };
    if width(wanted) != Some(bits) || source.number != target.number {
        return Err(format!("{name} is of {wanted}, and sets the register that it adds"));
    }
    let add = Instruction::new(class::ATOMIC | bits, FETCH);
    Ok(add.registers(base, source.number).offset(offset))
}

/// Reads a place behind its star.
fn place(words: &mut Words<'_>, scope: &Scope<'_>) -> Result<Place, String> {
    words.expect("(")?;
    let width = width(words.some()?).ok_or("a place is u8, u16, u32 or u64 wide")?;
    words.expect("*")?;
    words.expect(")")?;
    words.expect("(")?;
    let word = words.some()?;
    let base = register(word).ok_or_else(|| unknown(word))?.number;
    let sign = match words.some()? {
        "+" => 1,
        "-" => -1,
        other => return Err(format!("+ or - is expected, not {other}")),
    };
    let word = words.some()?;
    let number = constant(word, scope)?.checked_mul(sign);
    let offset = number.and_then(|number| i16::try_from(number).ok());
    let offset = offset.ok_or("the offset does not fit into 16 bits")?;
    words.expect(")")?;
    Ok(Place { width, base, offset })
}

fn operand(words: &mut Words<'_>, scope: &Scope<'_>) -> Result<Operand, String> {
    let word = words.some()?;
    if let Some(register) = register(word) {
        return Ok(Operand::Register(register));
    }
    let (word, sign) = if word == "-" { (words.some()?, -1) } else { (word, 1) };
    let number = constant(word, scope)?.checked_mul(sign);
    Ok(Operand::Number(number.ok_or("the number is too small")?))
}

fn constant(word: &str, scope: &Scope<'_>) -> Result<i64, String> {
    number(word).or_else(|| scope.numbers.get(word).copied()).ok_or_else(|| unknown(word))
}
