//! The JSON Schemas of what `--format json` prints (draft 2020-12), from the types that are printed.
//!
//! # How it works
//! `schemars` makes a schema of a type as `serde` writes it, with the comments of its fields as descriptions.
//! Each family of commands lists its answers beside them; `slablab generate` writes one file for each.

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema};
use serde_json::{Value, json};

use crate::output::Answer;

/// A kind of output and how its schema is made.
#[derive(Clone, Copy)]
pub(crate) struct Published {
    /// The first field of such an output, `slablab.<what>/<version>`
    pub(crate) name: &'static str,
    schema_of_report: fn() -> Schema,
}

impl Published {
    /// Returns that of an answer.
    pub(crate) const fn answer<A: Answer>() -> Self {
        Self::answer_named::<A>(A::SCHEMA)
    }

    /// Returns that of answers of one type that are printed under another name.
    pub(crate) const fn answer_named<A: Answer>(name: &'static str) -> Self {
        Self { name, schema_of_report: schema_of::<A> }
    }

    /// Returns the file of this schema.
    pub(crate) fn file_name(&self) -> String {
        format!("{}.json", self.name.replace('/', "-"))
    }

    /// Returns the schema: that of the report, and the field that names it.
    pub(crate) fn schema(&self) -> Value {
        let mut schema = (self.schema_of_report)().to_value();
        schema["title"] = json!(self.name);
        schema["properties"]["schema"] = json!({ "const": self.name });
        match &mut schema["required"] {
            Value::Array(required) => required.push("schema".into()),
            none => *none = json!(["schema"]),
        }
        schema
    }
}

fn schema_of<R: JsonSchema>() -> Schema {
    SchemaSettings::draft2020_12().for_serialize().into_generator().into_root_schema_for::<R>()
}
