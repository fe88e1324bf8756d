//! The document of an answer: its content, without its appearance.
//!
//! # How it works
//! A command makes one [`Document`] from its result. Sentences come first, then sections with the tables and plots
//! that prove them. The [`Place`] of each section and the [`Seen`](crate::Seen) of each column tell who sees it.
//! [`terminal`](crate::terminal()), [`markdown`](crate::markdown()), [`mail`](crate::mail()), [`csv`](crate::csv()) and
//! [`html`](crate::html()) render the same document, so that a table has one heading and one unit everywhere.

use crate::error::Error;
use crate::flame::Flame;
use crate::plot::Plot;
use crate::table::{Comparisons, Table};

/// An answer.
#[derive(Debug, Clone, Default)]
pub struct Document {
    /// Its subject: the title of the page
    pub title: String,
    /// The question in a sentence
    pub question: String,
    /// The answers, a sentence each; they stand first
    pub answers: Vec<String>,
    /// The parts, in order
    pub sections: Vec<Section>,
    /// The origin of the numbers, in a sentence: a terminal shows it below the proof, a page has it among the facts
    pub source: String,
    /// What a reader has to know beside the tables, a sentence each
    pub notes: Vec<String>,
    /// Where and how it was measured: machine, kernel, command
    pub facts: Vec<Fact>,
    /// The commands that make the same answer again
    pub repeat: Vec<String>,
}

/// One fact about how the numbers were obtained.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fact {
    /// Its name
    pub name: String,
    /// Its value
    pub value: String,
}

impl Fact {
    /// Makes a fact.
    pub fn new(name: impl Into<String>, value: impl Into<String>) -> Self {
        Self { name: name.into(), value: value.into() }
    }
}

/// Who sees a section.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Place {
    /// All readers: it is on the first screen
    First,
    /// Terminals on request, and readers of a page
    #[default]
    Named,
    /// Readers of a page only
    Page,
    /// Programs only
    Data,
}

/// A part of an answer.
#[derive(Debug, Clone, Default)]
pub struct Section {
    /// The word that one types to see it, in lower case
    pub name: String,
    /// Its heading
    pub title: String,
    /// How its numbers were obtained; empty where its items tell that
    pub method: String,
    /// Who sees it
    pub place: Place,
    /// What it shows, in order
    pub items: Vec<Item>,
}

impl Section {
    /// Makes a section of the first screen.
    pub fn first(name: &str, title: impl Into<String>, items: Vec<Item>) -> Self {
        Self::at(Place::First, name, title, items)
    }

    /// Makes a section that terminals show on request, and pages always.
    pub fn named(name: &str, title: impl Into<String>, items: Vec<Item>) -> Self {
        Self::at(Place::Named, name, title, items)
    }

    /// Makes a section of pages.
    pub fn page(name: &str, title: impl Into<String>, items: Vec<Item>) -> Self {
        Self::at(Place::Page, name, title, items)
    }

    /// Makes a section of data: a table that programs read.
    pub fn data(name: &str, title: impl Into<String>, table: Table) -> Self {
        Self::at(Place::Data, name, title, vec![Item::table("", "", table)])
    }

    /// Makes a section of a page alone; `method` is empty where its items tell how their numbers were
    /// obtained.
    pub fn new(title: impl Into<String>, method: impl Into<String>, items: Vec<Item>) -> Self {
        Self::at(Place::Page, "", title, items).with_method(method)
    }

    /// Sets how the numbers of the section were obtained.
    #[must_use]
    pub fn with_method(self, method: impl Into<String>) -> Self {
        Self { method: method.into(), ..self }
    }

    fn at(place: Place, name: &str, title: impl Into<String>, items: Vec<Item>) -> Self {
        let (name, title) = (name.to_owned(), title.into());
        Self { name, title, place, items, ..Self::default() }
    }

    /// Returns whether there is nothing to show.
    pub fn is_empty(&self) -> bool {
        self.items.iter().all(Item::is_empty)
    }

    /// Returns the tables, those of comparisons among them.
    pub(crate) fn tables(&self) -> impl Iterator<Item = Table> {
        self.items.iter().filter_map(|item| match item {
            Item::Table(.., table) => Some(table.clone()),
            Item::Comparisons(all) => Some(Comparisons::table(all)),
            _ => None,
        })
    }
}

/// One thing in a section.
#[derive(Debug, Clone)]
pub enum Item {
    /// A paragraph
    Text(String),
    /// Lines to be read, or typed, unchanged: commands, a patch, a log
    Lines(Vec<String>),
    /// Effects, intervals and verdicts
    Comparisons(Vec<Comparisons>),
    /// A plot, which pages have
    Plot(Plot),
    /// A table that sorts and filters: its title, how its numbers were obtained, and the table
    Table(String, String, Table),
    /// A flame graph, which pages have
    Flame(Flame),
}

impl Item {
    /// Makes a table.
    pub fn table(title: impl Into<String>, how: impl Into<String>, table: Table) -> Self {
        Self::Table(title.into(), how.into(), table)
    }

    pub(crate) fn is_empty(&self) -> bool {
        match self {
            Self::Text(text) => text.is_empty(),
            Self::Lines(lines) => lines.is_empty(),
            Self::Comparisons(all) => all.iter().all(|of| of.rows.is_empty()),
            Self::Table(.., table) => table.is_empty(),
            Self::Plot(plot) => plot.is_empty(),
            Self::Flame(_) => false,
        }
    }
}

impl From<Plot> for Item {
    fn from(plot: Plot) -> Self {
        Self::Plot(plot)
    }
}

/// The sections that a reader wants to see.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Shown {
    /// Those of the first screen
    #[default]
    First,
    /// All except those for pages and programs
    All,
    /// Those of these names
    Named(Vec<String>),
}

impl Document {
    /// Returns the sections that are `shown`, in their order.
    ///
    /// # Errors
    ///
    /// If a name belongs to no section.
    pub fn shown(&self, shown: &Shown) -> Result<Vec<&Section>, Error> {
        let names = match shown {
            Shown::First => return Ok(self.placed(|place| place == Place::First)),
            Shown::All => {
                return Ok(self.placed(|place| matches!(place, Place::First | Place::Named)));
            }
            Shown::Named(names) => names,
        };
        let has_name = |section: &&Section, name: &String| {
            section.name == *name && section.place != Place::Page && !section.is_empty()
        };
        if let Some(name) = names.iter().find(|n| !self.sections.iter().any(|s| has_name(&s, n))) {
            let known = self.placed(|place| place != Place::Page);
            let known: Vec<_> = known.iter().map(|section| section.name.as_str()).collect();
            return Err(Error::Section { name: name.clone(), known: known.join(", ") });
        }
        let is_named = |section: &&Section| names.iter().any(|name| has_name(section, name));
        Ok(self.sections.iter().filter(is_named).collect())
    }

    /// Returns whether there is anything in the section of that name.
    #[must_use]
    pub fn has_content(&self, name: &str) -> bool {
        self.sections.iter().any(|section| section.name == name && !section.is_empty())
    }

    /// Returns the names of the sections that a terminal does not show at first.
    pub(crate) fn hidden(&self) -> Vec<&str> {
        let hidden = self.placed(|place| place == Place::Named);
        hidden.iter().map(|section| section.name.as_str()).collect()
    }

    fn placed(&self, is_wanted: impl Fn(Place) -> bool) -> Vec<&Section> {
        let sections = self.sections.iter().filter(|section| !section.is_empty());
        sections.filter(|section| is_wanted(section.place)).collect()
    }
}
