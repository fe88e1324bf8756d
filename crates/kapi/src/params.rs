//! Parameters: `name=value` into the module's variables, checked before anything runs.
//!
//! # How it works
//! [`plan`] finds each parameter among those that the module declares and turns its text into bytes
//! for the variable; only when all are right does anything get written. Numbers are read as
//! `kstrtol(value, 0, ..)` does: decimal, `0x`, or octal with a leading 0.
//!
//! Linux counterpart: `kernel/params.c` @ 6.1; `MODULE_PARM` specs as up to 2.6.16.

/// A parameter that the module declares.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Declared {
    pub(crate) name: String,
    /// `int`, `charp`, ...; the element's for an array; `string`; `cb`; `parm:SPEC`.
    pub(crate) kind: String,
    /// Elements of an array, 0 for a single value; bytes of a `string`.
    pub(crate) elements_max: u32,
    /// Bytes of one element.
    pub(crate) element_bytes: u64,
}

/// What is to be done with one parameter's variable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Write {
    /// These bytes go to the variable, and this count to where elements are counted.
    Bytes { bytes: Vec<u8>, elements: u32 },
    /// A copy of each text, and pointers to them, go to the variable.
    Texts(Vec<String>),
    /// The module's own function gets the text.
    Callback(String),
}

/// Reads all the values; returns the index of each parameter and what to write, or what is wrong.
pub(crate) fn plan(
    declared: &[Declared],
    values: &[String],
) -> Result<Vec<(usize, Write)>, String> {
    values
        .iter()
        .map(|setting| {
            let (name, value) = match setting.split_once('=') {
                Some((name, value)) => (name, Some(value)),
                None => (setting.as_str(), None),
            };
            // The kernel takes dashes for underscores.
            let plain = |name: &str| name.replace('-', "_");
            let index = declared
                .iter()
                .position(|p| plain(&p.name) == plain(name))
                .ok_or_else(|| unknown(declared, name))?;
            let write = read(&declared[index], value)
                .map_err(|expected| wrong(name, value.unwrap_or(""), &expected))?;
            Ok((index, write))
        })
        .collect()
}

fn unknown(declared: &[Declared], name: &str) -> String {
    if declared.is_empty() {
        return format!("unknown parameter `{name}`: the module has none");
    }
    let mut names: Vec<_> = declared.iter().map(|p| p.name.as_str()).collect();
    names.sort_unstable();
    format!("unknown parameter `{name}`: the module has {}", names.join(", "))
}

fn wrong(name: &str, value: &str, expected: &str) -> String {
    format!("parameter `{name}`: `{value}` is not {expected}")
}

fn read(param: &Declared, value: Option<&str>) -> Result<Write, String> {
    if let Some(spec) = param.kind.strip_prefix("parm:") {
        return read_old(spec, param, value.ok_or("given: write name=value")?);
    }
    let value = match value {
        Some(value) => value,
        None if param.kind == "bool" => "1",
        None => return Err("given: write name=value".into()),
    };
    match param.kind.as_str() {
        "cb" => Ok(Write::Callback(value.into())),
        "string" if value.len() as u64 >= u64::from(param.elements_max) => {
            Err(format!("shorter than {} characters", param.elements_max))
        }
        "string" => Ok(Write::Bytes { bytes: zero_ended(value), elements: 0 }),
        kind if param.elements_max == 0 => elements(kind, &[value], param.element_bytes),
        kind => {
            let values: Vec<_> = value.split(',').collect();
            if values.len() > param.elements_max as usize {
                return Err(format!("at most {} values", param.elements_max));
            }
            elements(kind, &values, param.element_bytes)
        }
    }
}

fn zero_ended(text: &str) -> Vec<u8> {
    text.bytes().chain([0]).collect()
}

/// `MODULE_PARM` specs: `[min-max]` and one of b, h, i, l, s, or cN for an array of characters.
fn read_old(spec: &str, param: &Declared, value: &str) -> Result<Write, String> {
    let letters = spec.trim_start_matches(|c: char| c.is_ascii_digit() || c == '-');
    let range = &spec[..spec.len() - letters.len()];
    let max: usize = range.rsplit('-').next().and_then(|n| n.parse().ok()).unwrap_or(1);
    let (kind, bytes) = match letters.bytes().next() {
        Some(b'b') => ("byte", 1),
        Some(b'h') => ("short", 2),
        Some(b'i') => ("int", 4),
        Some(b'l') => ("long", 8),
        Some(b's') => ("charp", 8),
        Some(b'c') if value.len() as u64 >= param.element_bytes => {
            return Err(format!("shorter than {} characters", param.element_bytes));
        }
        Some(b'c') => return Ok(Write::Bytes { bytes: zero_ended(value), elements: 0 }),
        _ => return Err(format!("readable: the module's MODULE_PARM says `{spec}`")),
    };
    let values: Vec<_> = value.split(',').collect();
    if values.len() > max || (values.len() * bytes) as u64 > param.element_bytes {
        return Err(format!("at most {max} values"));
    }
    elements(kind, &values, bytes as u64)
}

fn elements(kind: &str, values: &[&str], element_bytes: u64) -> Result<Write, String> {
    if kind == "charp" {
        return Ok(Write::Texts(values.iter().map(ToString::to_string).collect()));
    }
    let mut bytes = Vec::new();
    for value in values {
        let value = element(kind, value)?;
        // A bool's variable was an int up to 3.0: the variable tells how wide it is.
        let width = if matches!(kind, "bool" | "invbool") { element_bytes } else { width(kind) };
        bytes.extend_from_slice(&value.to_le_bytes()[..width.min(8) as usize]);
    }
    Ok(Write::Bytes { bytes, elements: values.len() as u32 })
}

fn width(kind: &str) -> u64 {
    match kind {
        "byte" => 1,
        "short" | "ushort" => 2,
        "int" | "uint" | "hexint" | "bint" => 4,
        _ => 8,
    }
}

/// Reads one value; the error says what was expected.
fn element(kind: &str, text: &str) -> Result<i64, String> {
    let range = |low: i128, high: i128| {
        let expected = || format!("a number from {low} to {high}");
        let value = number(text).filter(|v| (low..=high).contains(v)).ok_or_else(expected)?;
        Ok(value as i64)
    };
    let truth = || match text {
        "y" | "Y" | "1" | "on" | "yes" | "true" => Ok(1),
        "n" | "N" | "0" | "off" | "no" | "false" => Ok(0),
        _ => Err("y or n".to_string()),
    };
    match kind {
        "byte" => range(0, 0xff),
        "short" => range(i16::MIN.into(), i16::MAX.into()),
        "ushort" => range(0, u16::MAX.into()),
        "int" => range(i32::MIN.into(), i32::MAX.into()),
        "uint" | "hexint" => range(0, u32::MAX.into()),
        "long" => range(i64::MIN.into(), i64::MAX.into()),
        "ulong" | "ullong" => range(0, u64::MAX.into()),
        "bool" | "bint" => truth(),
        "invbool" => truth().map(|value| 1 - value),
        _ => Err(format!("settable: parameters of type {kind} are not known here")),
    }
}

fn number(text: &str) -> Option<i128> {
    let (minus, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let (radix, digits) = match digits {
        _ if digits.starts_with("0x") || digits.starts_with("0X") => (16, &digits[2..]),
        _ if digits.len() > 1 && digits.starts_with('0') => (8, &digits[1..]),
        _ => (10, digits),
    };
    if digits.starts_with(['+', '-']) {
        return None;
    }
    let value = i128::from_str_radix(digits, radix).ok()?;
    Some(if minus { -value } else { value })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn declared(kind: &str, elements_max: u32, element_bytes: u64) -> Vec<Declared> {
        vec![Declared { name: "size".into(), kind: kind.into(), elements_max, element_bytes }]
    }

    fn read_one(kind: &str, max: u32, width: u64, setting: &str) -> Result<Write, String> {
        plan(&declared(kind, max, width), &[setting.into()]).map(|mut w| w.remove(0).1)
    }

    #[test]
    fn numbers_are_checked_against_their_type() {
        let bytes = |bytes: &[u8]| Ok(Write::Bytes { bytes: bytes.into(), elements: 1 });
        assert_eq!(read_one("int", 0, 4, "size=-2"), bytes(&[0xfe, 0xff, 0xff, 0xff]));
        assert_eq!(read_one("ushort", 0, 2, "size=0x1234"), bytes(&[0x34, 0x12]));
        assert_eq!(read_one("byte", 0, 1, "size=017"), bytes(&[15]));
        assert_eq!(read_one("ulong", 0, 8, "size=18446744073709551615"), bytes(&[0xff; 8]));
        for wrong in ["size=2147483648", "size=", "size=1k", "size=--1", "size=0x", "size"] {
            assert!(read_one("int", 0, 4, wrong).is_err(), "{wrong}");
        }
        assert!(read_one("uint", 0, 4, "size=-1").is_err());
    }

    #[test]
    fn bools_fill_their_variable() {
        let bytes = |bytes: &[u8]| Ok(Write::Bytes { bytes: bytes.into(), elements: 1 });
        assert_eq!(read_one("bool", 0, 1, "size"), bytes(&[1]));
        assert_eq!(read_one("bool", 0, 4, "size=N"), bytes(&[0, 0, 0, 0]));
        assert_eq!(read_one("invbool", 0, 1, "size=y"), bytes(&[0]));
        assert!(read_one("bool", 0, 1, "size=maybe").is_err());
    }

    #[test]
    fn arrays_strings_and_old_specs() {
        let three = Write::Bytes { bytes: vec![1, 0, 2, 0, 3, 0], elements: 3 };
        assert_eq!(read_one("short", 4, 2, "size=1,2,3"), Ok(three.clone()));
        assert_eq!(read_one("parm:1-4h", 0, 8, "size=1,2,3"), Ok(three));
        assert!(read_one("short", 2, 2, "size=1,2,3").is_err());
        assert_eq!(read_one("charp", 0, 8, "size=a b"), Ok(Write::Texts(vec!["a b".into()])));
        assert_eq!(
            read_one("string", 4, 1, "size=abc"),
            Ok(Write::Bytes { bytes: b"abc\0".to_vec(), elements: 0 })
        );
        assert!(read_one("string", 4, 1, "size=abcd").is_err());
    }

    #[test]
    fn an_unknown_name_lists_the_known_ones() {
        let error = read_one("int", 0, 4, "sice=1").unwrap_err();
        assert_eq!(error, "unknown parameter `sice`: the module has size");
        assert!(plan(&[], &["x=1".into()]).unwrap_err().ends_with("has none"));
    }
}
