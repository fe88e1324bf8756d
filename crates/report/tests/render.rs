//! The output of every renderer for a document: a first screen that fits, the same cells everywhere, and no text
//! that a terminal, a browser or Markdown would obey.

use proptest::collection::vec;
use proptest::prelude::*;
use slablab_report::{
    Cell, Column, Document, Error, Fact, Item, Section, Shown, Style, Table, Terminal, csv, html,
    markdown, terminal,
};

fn view(shown: Shown, columns: Option<usize>) -> Terminal {
    Terminal { columns, style: Style::Plain, shown, rows: None }
}

fn first_screen(document: &Document) -> String {
    terminal(document, &view(Shown::First, Some(80))).unwrap()
}

fn table(columns: &[Column], rows: Vec<Vec<Cell>>) -> Table {
    let mut table = Table::new(columns);
    rows.into_iter().for_each(|row| table.row(row));
    table
}

/// Returns any cell: a name, of up to 200 characters, or a number, of up to 20 digits.
fn any_cell() -> impl Strategy<Value = Cell> {
    prop_oneof![
        "[a-z_+0-9]{0,200}".prop_map(Cell::Text),
        any::<u64>().prop_map(Cell::Count),
        any::<u64>().prop_map(Cell::Bytes),
        any::<(u64, u64)>().prop_map(|(from, to)| Cell::BytesChange(from, to)),
        any::<(u64, u64)>().prop_map(|(from, to)| Cell::CountChange(from, to)),
        (0.0..1.0).prop_map(Cell::Share),
        Just(Cell::Missing),
    ]
}

/// Returns any table: of up to 12 columns and 60 rows.
fn any_table() -> impl Strategy<Value = Table> {
    (1..12usize).prop_flat_map(|columns| {
        let column = ("[a-z, ]{0,40}", any::<bool>()).prop_map(|(head, has_numbers)| {
            if has_numbers { Column::number(head, "n") } else { Column::name(head, "t") }
        });
        let rows = vec(vec(any_cell(), columns), 0..60);
        (vec(column, columns), rows).prop_map(|(columns, rows)| table(&columns, rows))
    })
}

fn any_section() -> impl Strategy<Value = Section> {
    let item = prop_oneof![
        "[a-z ]{0,600}".prop_map(Item::Text),
        ("[a-z ]{0,120}", any_table()).prop_map(|(title, table)| Item::table(title, "", table)),
    ];
    let made = |(name, title, items, place): (String, String, Vec<Item>, u8)| match place {
        0 => Section::named(&name, title, items),
        1 => Section::page(&name, title, items),
        _ => Section::first(&name, title, items),
    };
    ("[a-z]{1,12}", "[a-zA-Z ]{0,120}", vec(item, 0..5), 0..5u8).prop_map(made)
}

fn any_document() -> impl Strategy<Value = Document> {
    let sentences = || vec("([a-z]{1,12} ){1,60}|[a-z]{90,300}", 0..10);
    (sentences(), vec(any_section(), 0..10), sentences(), "[a-z ]{0,300}").prop_map(
        |(answers, sections, notes, source)| Document {
            answers,
            sections,
            notes,
            source,
            ..Document::default()
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn the_first_screen_has_at_most_40_lines_of_80_columns(document in any_document()) {
        let text = first_screen(&document);
        prop_assert!(text.lines().count() <= 40, "{} lines:\n{text}", text.lines().count());
        let longest = text.lines().map(|line| line.chars().count()).max().unwrap_or(0);
        prop_assert!(longest <= 80, "{longest} columns:\n{text}");
        // Sections that are left out are named, so that they can be requested.
        let all = terminal(&document, &view(Shown::All, None)).unwrap();
        prop_assert!(text.contains("--show") || all.lines().count() <= 60 || text.contains("..."));
    }

    #[test]
    fn a_table_fits_any_width(table in any_table(), columns in 1..200usize) {
        let section = Section::first("t", "", vec![Item::table("", "", table)]);
        let document = Document { sections: vec![section], ..Document::default() };
        let text = terminal(&document, &view(Shown::First, Some(columns))).unwrap();
        let rows = text.lines().filter(|line| !line.starts_with("... ") && !line.starts_with("More"));
        for line in rows {
            prop_assert!(line.chars().count() <= columns, "{columns}: {line}");
        }
    }
}

/// Returns a document with one table.
fn of_table(table: Table) -> Document {
    let section = Section::first("sites", "", vec![Item::table("Call sites", "", table)]);
    Document { title: "a title".into(), sections: vec![section], ..Document::default() }
}

#[test]
fn names_are_cut_in_their_middle_and_numbers_are_not() {
    let name = format!("{}+0x1c/0x200 [module]", "a_function_with_a_long_name_".repeat(4));
    let columns = [Column::name("call site", "site"), Column::number("held, peak", "held_bytes")];
    let rows = vec![vec![Cell::text(&name), Cell::Bytes(12_897_484)]];
    let text = first_screen(&of_table(table(&columns, rows)));
    let row = text.lines().find(|line| line.starts_with("a_function")).unwrap();
    assert_eq!(row.chars().count(), 80, "{row}");
    assert!(row.contains('\u{2026}') && row.contains("+0x1c/0x200 [module]  "), "{row}");
    assert!(row.ends_with("  12.3 MiB"), "{row}");
}

#[test]
fn columns_that_are_there_where_room_is_go_before_a_name_is_cut() {
    let fields = || {
        use slablab_report::field;
        [
            field::name("call site", "site", |name: &String| name),
            field::count("allocs", "allocs", |_| 7),
            field::count("freed on another CPU", "frees", |_: &String| 8).where_room(),
            field::count("on pages", "pages", |_: &String| 9).on_page(),
        ]
    };
    let short = Table::of(&["kmalloc".to_owned()], fields());
    let long = Table::of(&["f".repeat(60)], fields());
    let (short, long) = (first_screen(&of_table(short)), first_screen(&of_table(long)));
    assert!(short.contains("freed on another CPU") && !short.contains("on pages"), "{short}");
    assert!(!long.contains("freed on another CPU") && long.contains(&"f".repeat(60)), "{long}");
}

#[test]
fn an_unknown_name_is_answered_by_the_known_ones() {
    let one = || vec![Item::Text("one".into())];
    let document = Document {
        sections: vec![
            Section::first("memory", "", one()),
            Section::named("paths", "", one()),
            Section::named("empty", "", Vec::new()),
            Section::page("plots", "", one()),
        ],
        ..Document::default()
    };
    let asked = Shown::Named(vec!["paths".into(), "sites".into()]);
    let said = "--show sites: this answer has no such table; it has memory, paths";
    let errors = [
        terminal(&document, &view(asked.clone(), None)),
        markdown(&document, &asked, None),
        csv(&document, &Shown::Named(vec!["sites".into()])),
    ];
    for error in errors {
        assert_eq!(error.unwrap_err().to_string(), said);
    }
    assert!(matches!(csv(&document, &asked), Err(Error::SeveralTables { .. })));
    assert!(first_screen(&document).ends_with("More: --show paths; or --all\n"));
}

#[test]
fn lines_to_type_stay_whole_wherever_they_are_shown() {
    let lines: Vec<String> = (0..60).map(|at| format!("+{at} {}", "x".repeat(100))).collect();
    let section = Section::first("patch", "", vec![Item::Lines(lines.clone())]);
    let document = Document { sections: vec![section], ..Document::default() };
    let (text, page) = (first_screen(&document), html(&document).unwrap());
    let fenced = markdown(&document, &Shown::First, None).unwrap();
    for line in lines {
        assert!(text.contains(&line) && page.contains(&line) && fenced.contains(&line), "{line}");
    }
}

const HOSTILE: &str =
    "a|b `rm` <script>alert(1)</script> \u{1b}[31mred\u{1b}[0m *b* _i_ [l](u) \"q\" & \u{9b}2J";

/// Returns a document with hostile text in every place that shows text of a trace.
fn hostile() -> Document {
    let text = || HOSTILE.to_owned();
    let columns = [Column::name(HOSTILE, "name"), Column::number("n", "n")];
    let rows = table(&columns, vec![vec![Cell::text(HOSTILE), Cell::Count(1)]]);
    let items = vec![
        Item::Text(text()),
        Item::Lines(vec![text(), "```".into(), "~~~~".into(), "# not a heading".into()]),
        Item::table(HOSTILE, HOSTILE, rows),
    ];
    Document {
        title: text(),
        question: text(),
        answers: vec![text()],
        sections: vec![Section::first("s", text(), items).with_method(text())],
        source: text(),
        notes: vec![text()],
        facts: vec![Fact::new(text(), text())],
        ..Document::default()
    }
}

#[test]
fn a_terminal_obeys_nothing_of_a_document() {
    for shown in [Shown::First, Shown::All] {
        let text = terminal(&hostile(), &view(shown, None)).unwrap();
        let moves = |c: char| c.is_control() && c != '\n';
        assert!(!text.contains(moves), "{text:?}");
        assert!(text.contains("a|b `rm` <script>"), "{text}");
    }
}

#[test]
fn a_browser_runs_nothing_of_a_document() {
    let page = html(&hostile()).unwrap();
    assert!(!page.contains("<script>alert") && page.contains("alert(1)"), "a script in the page");
    // The page has one script, its own.
    assert_eq!(page.matches("<script").count(), 1);
    assert!(!page.contains("\"q\" &"), "an attribute could end");
}

#[test]
fn markdown_shows_hostile_text_as_it_is() {
    let text = markdown(&hostile(), &Shown::All, None).unwrap();
    let moves = |c: char| c.is_control() && c != '\n';
    assert!(!text.contains(moves), "{text:?}");
    let (fenced, prose): (Vec<_>, Vec<_>) = parts(&text);
    assert!(fenced.iter().any(|line| line.starts_with("a|b `rm` <script>")), "{text}");
    assert!(fenced.contains(&"```") && fenced.contains(&"~~~~"), "the fence ends early: {text}");
    for line in prose {
        assert!(!line.contains("<script"), "{line}");
        assert!(!line.replace("\\`", "").contains('`'), "{line}");
        assert!(!line.replace("\\*", "").trim_start_matches("* ").contains('*'), "{line}");
        assert!(!line.replace("\\[", "").contains('['), "{line}");
    }
    let rows: Vec<_> = text.lines().filter(|line| line.starts_with("| ")).collect();
    assert_eq!(rows.len(), 3, "{text}");
    for row in rows {
        // There are two columns, whatever stands in them.
        assert_eq!(row.replace("\\|", "").matches('|').count(), 3, "{row}");
    }
}

/// Returns the lines of a Markdown text within fences, and the others.
fn parts(text: &str) -> (Vec<&str>, Vec<&str>) {
    let (mut fence, mut fenced, mut prose) = (None, Vec::new(), Vec::new());
    for line in text.lines() {
        let is_fence =
            line.len() >= 3 && (line.bytes().all(|b| b == b'`') || line.bytes().all(|b| b == b'~'));
        match fence {
            None if is_fence => fence = Some(line),
            Some(open) if open == line => fence = None,
            Some(_) => fenced.push(line),
            None => prose.push(line),
        }
    }
    assert!(fence.is_none(), "a fence stays open: {text}");
    (fenced, prose)
}

/// Cells of every kind.
fn cells() -> Vec<Cell> {
    vec![
        Cell::text("kmalloc, of course"),
        Cell::Count(1_234_567),
        Cell::Bytes(12_897_484),
        Cell::SignedBytes(-5_242_880),
        Cell::BytesChange(4096, 2048),
        Cell::CountChange(10, 15),
        Cell::Points(-1.5),
        Cell::Share(0.125),
        Cell::Change(-0.25),
        Cell::Ns(1_234_567),
        Cell::Number(3.25, 2),
        Cell::Quantity(31.5, "cycles".into()),
        Cell::Missing,
    ]
}

/// Each renderer may round for its readers, but none may show another value.
#[test]
fn every_renderer_shows_the_same_cells() {
    let cells = cells();
    let columns: Vec<Column> = (0..cells.len())
        .map(|at| match at {
            0 => Column::name("c0", "k0"),
            at => Column::number(format!("c{at}"), format!("k{at}")),
        })
        .collect();
    let other = cells.iter().map(|cell| match cell {
        Cell::Text(_) => Cell::text("b"),
        _ => Cell::Missing,
    });
    let document = of_table(table(&columns, vec![cells.clone(), other.collect()]));

    let text = terminal(&document, &view(Shown::All, None)).unwrap();
    let by_terminal = of_terminal(&text);
    let by_markdown = of_markdown(&markdown(&document, &Shown::All, None).unwrap());
    let by_csv = of_csv(&csv(&document, &Shown::All).unwrap());
    let by_html = of_html(&html(&document).unwrap());

    assert_eq!(by_terminal, by_markdown);
    let heads: Vec<String> = (0..cells.len()).map(|at| format!("c{at}")).collect();
    assert_eq!((&by_terminal[0], &by_html[0]), (&heads, &heads));
    let keys: Vec<String> = (0..cells.len()).map(|at| format!("k{at}")).collect();
    assert_eq!(by_csv[0], keys);
    for rows in [&by_terminal, &by_html, &by_csv] {
        assert_eq!(rows.len(), 3, "{rows:?}");
    }
    for (at, cell) in cells.iter().enumerate() {
        let [shown, on_page, machine] =
            [&by_terminal, &by_html, &by_csv].map(|rows| rows[1][at].as_str());
        match cell {
            Cell::Text(name) => {
                assert_eq!([shown, on_page, machine], [name.as_str(); 3]);
            }
            Cell::Missing => assert_eq!([shown, on_page, machine], ["-", "-", ""]),
            _ => {
                let (shown, on_page) = (value(shown), value(on_page));
                let machine: f64 = machine.parse().unwrap();
                let scale =
                    if matches!(cell, Cell::Share(_) | Cell::Change(_)) { 100.0 } else { 1.0 };
                assert!(near(shown, machine * scale), "{cell:?}: {shown} {machine}");
                assert!(near(on_page, machine * scale), "{cell:?}: {on_page} {machine}");
            }
        }
        if at > 0 {
            assert_eq!((by_terminal[2][at].as_str(), by_html[2][at].as_str()), ("-", "-"));
        }
    }
}

fn near(a: f64, b: f64) -> bool {
    (a - b).abs() <= b.abs() * 0.005
}

/// Returns the number that a person reads, in bytes or nanoseconds where it has such a unit.
fn value(shown: &str) -> f64 {
    let shown = shown.split(" (").next().unwrap();
    let (number, unit) = shown.split_once(' ').unwrap_or((shown, ""));
    let scale = match unit {
        "KiB" => 1024.0,
        "MiB" => 1_048_576.0,
        "\u{b5}s" => 1e3,
        "ms" => 1e6,
        _ => 1.0,
    };
    number.replace(',', "").parse::<f64>().unwrap() * scale
}

/// Reads a table of aligned columns: no cell has two blanks in it.
fn of_terminal(text: &str) -> Vec<Vec<String>> {
    let rows = text.lines().skip_while(|line| !line.contains("c0")).take_while(|l| !l.is_empty());
    rows.map(|row| {
        row.split("  ").map(str::trim).filter(|c| !c.is_empty()).map(Into::into).collect()
    })
    .collect()
}

fn of_markdown(text: &str) -> Vec<Vec<String>> {
    let rows = text.lines().filter(|line| line.starts_with("| ") && !line.starts_with("| -"));
    rows.map(|row| row.trim_matches('|').split('|').map(|cell| cell.trim().to_owned()).collect())
        .collect()
}

/// Reads a CSV whose only comma within a cell is that of the first name.
fn of_csv(text: &str) -> Vec<Vec<String>> {
    let rows = text.lines().map(|line| match line.strip_prefix('"') {
        Some(quoted) => {
            let (first, rest) = quoted.split_once("\",").unwrap();
            [first].into_iter().chain(rest.split(',')).map(str::to_owned).collect()
        }
        None => line.split(',').map(str::to_owned).collect(),
    });
    rows.collect()
}

fn of_html(page: &str) -> Vec<Vec<String>> {
    let table = page.split("<table>").nth(1).unwrap().split("</table>").next().unwrap();
    let cells = |row: &str, tag: &str| -> Vec<String> {
        let parts = row.split(tag).skip(1).map(|part| part.split_once('>').unwrap().1);
        let bare = |part: &str| part.split("<button type=\"button\">").last().unwrap().to_owned();
        parts.map(|part| bare(part).split('<').next().unwrap().trim().to_owned()).collect()
    };
    let (head, body) = table.split_once("<tbody>").unwrap();
    let rows = body.split("<tr>").skip(1).map(|row| cells(row, "<td"));
    [cells(head, "<th ")].into_iter().chain(rows).collect()
}
