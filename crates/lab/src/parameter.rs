//! Parameters: what a request may set in an experiment. The experiment that has a parameter declares it once.
//!
//! # How it works
//! A declaration gives the possible values, the default, and the engine in which the parameter means anything. The plan
//! refuses a value that does not fit; the experiment reads it by its declaration; lists and helps show it.

use crate::error::{Error, Result};
use crate::request::{Engine, Request, Scale};

/// A parameter of an experiment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Parameter {
    /// Its name in `--set NAME=VALUE`
    pub name: &'static str,
    /// Its values
    pub kind: Kind,
    /// The default value; "" for none
    pub default: &'static str,
    /// The value of a smoke run; "" where it is the same
    pub smoke: &'static str,
    /// What it means
    pub help: &'static str,
    /// The engine that has it; `None` for all
    pub engine: Option<Engine>,
}

/// The values that a parameter takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Any text
    Text,
    /// Names, separated by commas
    Names,
    /// A path
    File,
    /// A number from the first to the second
    Number(u64, u64),
    /// Such numbers, separated by commas
    Numbers(u64, u64),
    /// One of these words
    Word(&'static [&'static str]),
    /// Some of these words, separated by commas
    Words(&'static [&'static str]),
}

impl Kind {
    /// Returns how a value is written: `N,...`.
    #[must_use]
    pub fn form(self) -> String {
        match self {
            Self::Text => "TEXT".to_owned(),
            Self::Names => "NAME,...".to_owned(),
            Self::File => "FILE".to_owned(),
            Self::Number(..) => "N".to_owned(),
            Self::Numbers(..) => "N,...".to_owned(),
            Self::Word(words) => words.join("|"),
            Self::Words(words) => words.join(","),
        }
    }
}

impl Parameter {
    /// Declares a parameter that has no default and applies to all engines.
    pub(crate) const fn new(name: &'static str, kind: Kind, help: &'static str) -> Self {
        Self { name, kind, default: "", smoke: "", help, engine: None }
    }

    /// Sets the default value.
    pub(crate) const fn or(self, default: &'static str) -> Self {
        Self { default, ..self }
    }

    /// Sets the default value of a smoke run.
    pub(crate) const fn in_smoke(self, smoke: &'static str) -> Self {
        Self { smoke, ..self }
    }

    /// Restricts it to `engine`.
    #[must_use]
    pub const fn of_engine(self, engine: Engine) -> Self {
        Self { engine: Some(engine), ..self }
    }

    /// Returns its value in `request`; "" where it has none.
    pub(crate) fn text<'a>(&self, request: &'a Request) -> &'a str {
        let usual = if request.scale == Scale::Smoke && !self.smoke.is_empty() {
            self.smoke
        } else {
            self.default
        };
        request.params.get(self.name).map_or(usual, String::as_str)
    }

    /// Returns its value in `request`, where it has one.
    pub(crate) fn given<'a>(&self, request: &'a Request) -> Option<&'a str> {
        Some(self.text(request)).filter(|text| !text.is_empty())
    }

    /// Returns the parts of its value that stand between commas.
    pub(crate) fn list(&self, request: &Request) -> Vec<String> {
        parts(self.text(request)).map(str::to_owned).collect()
    }

    /// Returns its value as a number.
    ///
    /// # Errors
    ///
    /// If it is not one of the possible values.
    pub(crate) fn number(&self, request: &Request) -> Result<u64> {
        self.read(self.text(request))
    }

    /// Returns the numbers of its value.
    ///
    /// # Errors
    ///
    /// If one of them is not a possible value.
    pub(crate) fn numbers(&self, request: &Request) -> Result<Vec<u64>> {
        parts(self.text(request)).map(|text| self.read(text)).collect()
    }

    /// Returns the number that `text` is.
    ///
    /// # Errors
    ///
    /// If it is not a number, or not one of the possible values.
    pub(crate) fn read(&self, text: &str) -> Result<u64> {
        let (Kind::Number(least, most) | Kind::Numbers(least, most)) = self.kind else {
            return Err(self.refuse(text, "it is not a number"));
        };
        let number = text.parse().ok().filter(|number| (least..=most).contains(number));
        number
            .ok_or_else(|| self.refuse(text, &format!("numbers from {least} to {most} are needed")))
    }

    /// Checks a value that was set.
    ///
    /// # Errors
    ///
    /// If it is not one of the possible values.
    pub(crate) fn check(&self, text: &str) -> Result<()> {
        let one_of = |word: &str, words: &[&str]| match words.contains(&word) {
            true => Ok(()),
            false => Err(self.refuse(word, &format!("there are {}", words.join(", ")))),
        };
        match self.kind {
            Kind::Text | Kind::Names | Kind::File => Ok(()),
            Kind::Number(..) => self.read(text).map(|_| ()),
            Kind::Numbers(..) => parts(text).try_for_each(|part| self.read(part).map(|_| ())),
            Kind::Word(words) => one_of(text, words),
            Kind::Words(words) => parts(text).try_for_each(|part| one_of(part, words)),
        }
    }

    fn refuse(&self, text: &str, why: &str) -> Error {
        Error::Request(format!("{}={text}: {why}", self.name))
    }
}

fn parts(text: &str) -> impl Iterator<Item = &str> {
    text.split(',').map(str::trim).filter(|part| !part.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZES: Parameter =
        Parameter::new("sizes", Kind::Numbers(1, 4096), "bytes").or("32,64").in_smoke("64");

    fn request(scale: Scale, sizes: Option<&str>) -> Request {
        let params = sizes.map(|text| ("sizes".to_owned(), text.to_owned()));
        Request {
            engine: Engine::User,
            scale,
            params: params.into_iter().collect(),
            input: None,
            rounds: None,
            seed: 1,
        }
    }

    #[test]
    fn what_is_not_set_has_the_default_of_the_scale() {
        let of = |scale, sizes| SIZES.numbers(&request(scale, sizes)).unwrap();
        assert_eq!(of(Scale::Full, None), [32, 64]);
        assert_eq!(of(Scale::Smoke, None), [64]);
        assert_eq!(of(Scale::Smoke, Some(" 8, 16,")), [8, 16]);
    }

    #[test]
    fn a_value_that_a_parameter_cannot_have_is_refused_with_those_it_can() {
        let refused =
            |parameter: Parameter, text: &str| parameter.check(text).unwrap_err().to_string();
        assert_eq!(refused(SIZES, "8,0"), "sizes=0: numbers from 1 to 4096 are needed");
        let accel = Parameter::new("accel", Kind::Word(&["auto", "kvm"]), "");
        assert_eq!(refused(accel, "xen"), "accel=xen: there are auto, kvm");
        assert!(accel.check("kvm").is_ok());
        assert_eq!((accel.kind.form(), SIZES.kind.form()), ("auto|kvm".into(), "N,...".into()));
    }
}
