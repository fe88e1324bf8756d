//! One table for a spreadsheet or a data frame, with every column and row.

use crate::document::{Document, Place, Section, Shown};
use crate::error::Error;

/// Returns the table of the named section, or else the first table of the document, in the format of RFC 4180.
///
/// # Errors
///
/// If a name belongs to no section, or several are named.
pub fn csv(document: &Document, shown: &Shown) -> Result<String, Error> {
    let sections: Vec<&Section> = match shown {
        Shown::Named(names) if names.len() > 1 => {
            return Err(Error::SeveralTables { names: names.join(", ") });
        }
        Shown::Named(_) => document.shown(shown)?,
        Shown::First | Shown::All => {
            document.sections.iter().filter(|section| section.place != Place::Page).collect()
        }
    };
    let table = sections.into_iter().flat_map(Section::tables).next();
    Ok(table.unwrap_or_default().csv())
}
