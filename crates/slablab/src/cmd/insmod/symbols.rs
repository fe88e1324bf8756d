//! `--list-symbols` and `--modinfo`.

use std::path::Path;

use serde::Serialize;
use slablab_kapi::ModuleInfo;
use slablab_kapi::toolchain::{Built, header_items};
use slablab_report::{Document, Item, Section};

use crate::output::{Answer, Table, field};

/// What there is for modules.
#[derive(Serialize)]
#[cfg_attr(feature = "manual", derive(schemars::JsonSchema))]
pub(super) struct Symbols {
    symbols: Vec<Symbol>,
}

#[derive(Serialize)]
#[cfg_attr(feature = "manual", derive(schemars::JsonSchema))]
struct Symbol {
    name: String,
    kind: &'static str,
    header: &'static str,
}

impl Symbols {
    pub(super) fn new() -> Self {
        let item = |i: slablab_kapi::toolchain::HeaderItem| Symbol {
            name: i.name,
            kind: i.kind,
            header: i.header,
        };
        Self { symbols: header_items().into_iter().map(item).collect() }
    }
}

impl Answer for Symbols {
    const SCHEMA: &'static str = "slablab.symbols/1";

    fn document(&self) -> Document {
        let fields = [
            field::name("name", "name", |item: &Symbol| &item.name),
            field::name("kind", "kind", |item| item.kind),
            field::name("header", "header", |item| item.header),
        ];
        let symbols = Item::table("", "", Table::of(&self.symbols, fields));
        Document {
            title: "What modules can use".to_owned(),
            sections: vec![Section::first("symbols", "", vec![symbols])],
            ..Document::default()
        }
    }
}

/// What a module says of itself.
#[derive(Serialize)]
#[cfg_attr(feature = "manual", derive(schemars::JsonSchema))]
pub(super) struct Modinfo {
    fields: Vec<(String, String)>,
}

impl Modinfo {
    pub(super) fn new(source: &Path, built: &Built, info: &ModuleInfo) -> Self {
        let mut fields = vec![("filename".to_string(), source.display().to_string())];
        for tag in ["version", "description", "author", "license", "alias"] {
            let same = info.tags.iter().filter(|(t, _)| t == tag);
            fields.extend(same.cloned());
        }
        fields.push(("name".into(), built.name.clone()));
        fields.push(("vermagic".into(), format!("{} SMP mod_unload", built.version)));
        fields.extend(params(info));
        Self { fields }
    }
}

/// One field for each parameter, `name:description (type)`, as modinfo prints it.
fn params(info: &ModuleInfo) -> Vec<(String, String)> {
    let split = |tag: &'static str| {
        let same = info.tags.iter().filter(move |(t, _)| t == tag);
        same.filter_map(|(_, value)| value.split_once(':'))
    };
    let described = |name: &str| split("parm").find(|(n, _)| *n == name).map(|(_, text)| text);
    split("parmtype")
        .map(|(name, kind)| {
            let text = described(name).unwrap_or_default();
            let space = if text.is_empty() { "" } else { " " };
            ("parm".into(), format!("{name}:{text}{space}({kind})"))
        })
        .collect()
}

impl Answer for Modinfo {
    const SCHEMA: &'static str = "slablab.modinfo/1";

    fn document(&self) -> Document {
        let fields = [
            field::name("tag", "tag", |(tag, _): &(String, String)| tag),
            field::name("value", "value", |(_, value)| value),
        ];
        let fields = Item::table("", "", Table::of(&self.fields, fields));
        Document {
            title: "What a module says of itself".to_owned(),
            sections: vec![Section::first("fields", "", vec![fields])],
            ..Document::default()
        }
    }
}
