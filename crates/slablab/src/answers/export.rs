//! Tables that were written for SQL engines, and profiles of stacks.

use serde::Serialize;
use slablab_report::{Document, Item, Section, Table, counted, field};

use crate::output::Answer;

/// What `slablab export` answers.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "manual", derive(schemars::JsonSchema))]
pub(crate) struct ExportAnswer {
    pub(crate) traces: usize,
    pub(crate) tables: Vec<ExportedTable>,
    /// Traces that are damaged, with what is wrong
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) left_out: Vec<String>,
}

/// A table or a profile that was written.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "manual", derive(schemars::JsonSchema))]
pub(crate) struct ExportedTable {
    /// Its file
    pub(crate) table: String,
}

impl Answer for ExportAnswer {
    const SCHEMA: &'static str = "slablab.export/1";

    fn document(&self) -> Document {
        let fields = [field::name("table", "table", |table: &ExportedTable| &table.table)];
        let tables = Item::table("", "", Table::of(&self.tables, fields));
        Document {
            title: "Tables of traces".to_owned(),
            question: "What do these traces say of themselves?".to_owned(),
            answers: vec![format!(
                "What {} is in {}.",
                match self.traces {
                    1 => "1 trace says".to_owned(),
                    traces => format!("{traces} traces say of themselves"),
                },
                counted(self.tables.len() as u64, "file")
            )],
            sections: vec![Section::first("tables", "", vec![tables])],
            notes: self.left_out.clone(),
            ..Document::default()
        }
    }
}
