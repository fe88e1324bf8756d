//! The report in a real browser: no requests to the network, nothing on the console, plots with marks and units,
//! tables that sort and filter by mouse and keyboard, at the width of a screen and of a telephone.
//!
//! Screenshots are left in `target/report-screens/`, to be looked at.

#[path = "../../crates/report/tests/common/mod.rs"]
mod sample;

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};
use slablab_tests::{root, stdout};

/// The key Enter, as WebDriver writes it.
const ENTER: &str = "\u{e007}";
/// The key Escape.
const ESCAPE: &str = "\u{e00c}";
/// The name of an element's reference in WebDriver's answers.
const ELEMENT: &str = "element-6066-11e4-a52e-4f735466cecf";

/// A browser with one page, driven over WebDriver.
struct Browser {
    driver: Child,
    session: String,
    _profile: tempfile::TempDir,
}

impl Browser {
    /// Starts a browser whose page is `width` pixels wide; `None` where none can be had, with the reason said.
    fn start(width: u32) -> Option<Self> {
        let need =
            Command::new(root().join("tools/need")).args(["chromium", "chromium-driver"]).status();
        if !need.is_ok_and(|status| status.success()) {
            assert!(std::env::var_os("CI").is_none(), "CI needs chromium and chromium-driver");
            eprintln!("not run: chromium and chromium-driver are not here and cannot be installed");
            return None;
        }
        let mut driver = Command::new("chromedriver")
            .arg("--port=0")
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("chromium-driver is installed");
        let mut lines =
            BufReader::new(driver.stdout.take().expect("a pipe")).lines().map_while(Result::ok);
        let port: u16 = lines
            .find_map(|line| {
                line.split_once("started successfully on port ")?
                    .1
                    .trim_end_matches('.')
                    .parse()
                    .ok()
            })
            .expect("chromedriver says its port");
        // The browser goes on writing, and would die of a pipe that is not read.
        std::thread::spawn(move || lines.for_each(drop));
        let profile = tempfile::tempdir().expect("a folder for the profile");
        let args = [
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-quic",
            "--no-first-run",
            "--disable-sync",
            "--disable-background-networking",
            "--disable-component-update",
            "--hide-scrollbars",
            &format!("--user-data-dir={}", profile.path().display()),
        ];
        let wanted = json!({"capabilities": {"alwaysMatch": {
            "browserName": "chrome",
            "goog:loggingPrefs": {"browser": "ALL", "performance": "ALL"},
            "goog:chromeOptions": {
                "args": args,
                "mobileEmulation": {"deviceMetrics": {"width": width, "height": 900, "pixelRatio": 1.0, "mobile": false}},
            },
        }}});
        let base = format!("http://127.0.0.1:{port}/session");
        let answer = send(&base, &wanted);
        let id = answer["sessionId"].as_str().expect("a session").to_owned();
        Some(Self { driver, session: format!("{base}/{id}"), _profile: profile })
    }

    fn post(&self, what: &str, body: &Value) -> Value {
        send(&format!("{}/{what}", self.session), body)
    }

    fn open(&self, page: &Path) {
        // What the browser fetched for its own first tab is not the page's doing.
        self.post("url", &json!({"url": "about:blank"}));
        let _ = (self.log("performance"), self.log("browser"));
        self.post("url", &json!({"url": format!("file://{}", page.display())}));
    }

    /// Runs a script in the page and returns what it returns.
    fn ask(&self, script: &str) -> Value {
        self.post("execute/sync", &json!({"script": script, "args": []}))
    }

    fn element(&self, css: &str) -> String {
        let found = self.post("element", &json!({"using": "css selector", "value": css}));
        found[ELEMENT].as_str().unwrap_or_else(|| panic!("no {css}: {found}")).to_owned()
    }

    fn click(&self, css: &str) {
        let answer = self.post(&format!("element/{}/click", self.element(css)), &json!({}));
        assert!(answer.is_null(), "{css} cannot be clicked: {answer}");
    }

    fn keys(&self, css: &str, keys: &str) {
        let answer =
            self.post(&format!("element/{}/value", self.element(css)), &json!({"text": keys}));
        assert!(answer.is_null(), "{css} takes no keys: {answer}");
    }

    fn log(&self, kind: &str) -> Vec<Value> {
        self.post("se/log", &json!({"type": kind})).as_array().cloned().unwrap_or_default()
    }

    /// Keeps a picture of the whole page.
    fn picture(&self, name: &str) {
        let shot = self.post(
            "goog/cdp/execute",
            &json!({"cmd": "Page.captureScreenshot", "params": {"captureBeyondViewport": true}}),
        );
        let bytes = from_base64(shot["data"].as_str().expect("a picture"));
        assert!(bytes.starts_with(b"\x89PNG") && bytes.len() > 20_000, "an empty picture");
        let folder = root().join("target/report-screens");
        fs::create_dir_all(&folder).expect("target can be written");
        fs::write(folder.join(name), bytes).expect("target can be written");
    }

    /// Checks that the page requested nothing and complained of nothing.
    #[track_caller]
    fn is_quiet(&self) {
        let complaints = self.log("browser");
        assert!(complaints.is_empty(), "the console says: {complaints:?}");
        for entry in self.log("performance") {
            let message: Value = serde_json::from_str(entry["message"].as_str().unwrap()).unwrap();
            if message["message"]["method"] == "Network.requestWillBeSent" {
                let url =
                    message["message"]["params"]["request"]["url"].as_str().unwrap().to_owned();
                assert!(
                    url.starts_with("file:///") || url.starts_with("data:"),
                    "a request to {url}"
                );
            }
        }
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = ureq::delete(&self.session).call();
        let _ = self.driver.kill();
        let _ = self.driver.wait();
    }
}

/// Posts to the driver and returns the value of its answer, an error as `{"error": ...}`.
fn send(url: &str, body: &Value) -> Value {
    let agent: ureq::Agent =
        ureq::Agent::config_builder().http_status_as_error(false).build().into();
    let mut answer = agent.post(url).send_json(body).expect("chromedriver listens");
    let answer: Value = answer.body_mut().with_config().limit(200 << 20).read_json().expect("JSON");
    answer["value"].clone()
}

fn from_base64(text: &str) -> Vec<u8> {
    let value = |c: u8| match c {
        b'A'..=b'Z' => c - b'A',
        b'a'..=b'z' => c - b'a' + 26,
        b'0'..=b'9' => c - b'0' + 52,
        b'+' => 62,
        _ => 63,
    };
    let digits: Vec<u32> =
        text.bytes().filter(|c| *c != b'=').map(|c| u32::from(value(c))).collect();
    let mut bytes = Vec::with_capacity(digits.len() * 3 / 4);
    for four in digits.chunks(4) {
        let bits = four.iter().fold(0, |bits, digit| bits << 6 | digit) << (6 * (4 - four.len()));
        bytes.extend(&bits.to_be_bytes()[1..four.len()]);
    }
    bytes
}

fn sample_page(folder: &Path, rows: usize) -> PathBuf {
    let page = slablab_report::html(&sample::document(rows)).expect("a page");
    let path = folder.join(format!("sample-{rows}.html"));
    fs::write(&path, page).expect("a page can be written");
    path
}

fn is_number(text: &str) -> bool {
    text.replace(',', "").parse::<f64>().is_ok()
}

/// Checks every plot that is to be seen: marks, words on both axes, a unit.
#[track_caller]
fn plots_are_complete(browser: &Browser, kind: &str, least: u64) {
    let plots = browser.ask(&format!(
        "return Array.from(document.querySelectorAll('figure .{kind} svg')).filter(s => s.getBoundingClientRect().width > 0)
         .map(s => ({{ title: s.parentNode.getAttribute('aria-label'), wide: s.getBoundingClientRect().width,
           marks: s.querySelectorAll('circle, polygon, polyline, rect').length,
           texts: Array.from(s.querySelectorAll('text')).map(t => t.textContent.trim()) }}))"
    ));
    let plots = plots.as_array().unwrap_or_else(|| panic!("{plots}")).clone();
    assert!(plots.len() as u64 >= least, "{} plots are to be seen", plots.len());
    for plot in plots {
        assert!(plot["marks"].as_u64().unwrap() >= 3, "no marks: {plot}");
        assert!(plot["wide"].as_f64().unwrap() > 250.0, "too narrow: {plot}");
        let texts: Vec<&str> =
            plot["texts"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
        let words = texts.iter().filter(|t| !is_number(t)).count();
        assert!(words >= 3, "a title and two labels: {plot}");
        let units = ["(ms)", "(s)", "(KiB)", "(MiB)", "(B)", "(ns)", "(%)", "(µs)", "(GiB)"];
        assert!(texts.iter().any(|t| units.iter().any(|unit| t.contains(unit))), "no unit: {plot}");
        assert!(texts.iter().filter(|t| is_number(t)).count() >= 2, "no ticks: {plot}");
    }
}

#[test]
fn a_page_works_on_a_screen() {
    let folder = tempfile::tempdir().unwrap();
    let Some(browser) = Browser::start(1280) else { return };
    browser.open(&sample_page(folder.path(), 3_000));
    plots_are_complete(&browser, "wide", 6);
    let first = "return document.querySelector('.data tbody tr:not([hidden])').cells[3].dataset.v";
    let number = || browser.ask(first).as_str().unwrap().parse::<f64>().unwrap();
    let order = "return document.querySelectorAll('.data th')[3].getAttribute('aria-sort')";
    let extreme = |which: &str| {
        let script = format!(
            "const rows = Array.from(document.querySelectorAll('.data tbody tr'));
             return Math.{which}(...rows.map(r => Number(r.cells[3].dataset.v)))"
        );
        browser.ask(&script).as_f64().unwrap()
    };
    // By mouse: the greatest first, then the least.
    let head = ".data th:nth-child(4) button";
    browser.click(head);
    assert_eq!((number(), browser.ask(order)), (extreme("max"), "descending".into()));
    browser.click(head);
    assert_eq!((number(), browser.ask(order)), (extreme("min"), "ascending".into()));
    // By keyboard.
    browser.keys(head, ENTER);
    assert_eq!((number(), browser.ask(order)), (extreme("max"), "descending".into()));
    browser.keys(".data input", "kmalloc-64 something_12");
    let visible = "return Array.from(document.querySelectorAll('.data tbody tr:not([hidden])')).map(r => r.textContent)";
    let rows = browser.ask(visible);
    let rows = rows.as_array().unwrap();
    assert!(!rows.is_empty() && rows.len() < 100, "{} rows", rows.len());
    assert!(rows.iter().all(|r| {
        r.as_str().is_some_and(|r| r.contains("kmalloc-64") && r.contains("something_12"))
    }));
    let count = browser.ask("return document.querySelector('.data output').textContent");
    assert!(count.as_str().unwrap().ends_with("with a match, 3000 in all"), "{count}");
    // The flame graph zooms in and out again.
    let wide = "return document.querySelector('.frames button[data-d=\"1\"]').getBoundingClientRect().width";
    let before = browser.ask(wide).as_f64().unwrap();
    browser.keys(".frames button[data-d=\"1\"]", ENTER);
    assert!(browser.ask(wide).as_f64().unwrap() > before * 2.0, "it did not zoom");
    browser.keys(".frames button[data-d=\"1\"]", ESCAPE);
    assert!((browser.ask(wide).as_f64().unwrap() - before).abs() < 1.0, "it did not zoom out");
    browser.picture("sample-1280.png");
    // Dark by a click; the words must change with the paper.
    let colors = "const s = getComputedStyle(document.body); return s.backgroundColor + s.color";
    let light = browser.ask(colors);
    browser.click("#theme");
    assert_ne!(browser.ask(colors), light);
    browser.picture("sample-1280-dark.png");
    browser.is_quiet();
}

#[test]
fn a_page_works_on_a_telephone() {
    let folder = tempfile::tempdir().unwrap();
    let Some(browser) = Browser::start(390) else { return };
    browser.open(&sample_page(folder.path(), 30));
    plots_are_complete(&browser, "narrow", 6);
    let wide = browser.ask("return [document.documentElement.scrollWidth, window.innerWidth]");
    assert!(wide[0].as_u64() <= wide[1].as_u64(), "the page is wider than the screen: {wide}");
    browser.picture("sample-390.png");
    browser.is_quiet();
}

/// The title names the trace, whose path has no place for a line break of its own.
#[test]
fn a_long_path_in_the_title_is_no_wider_than_a_telephone() {
    let folder = tempfile::tempdir().unwrap();
    let trace = folder.path().join(format!("{}.parquet", "recorded_on_the_board".repeat(3)));
    fs::copy("../traces/boot.parquet", &trace).unwrap();
    let page = folder.path().join("page.html");
    let [from, to] = [&trace, &page].map(|path| path.to_str().unwrap());
    let _ = stdout(&["advise", from, "--report", to]);
    let Some(browser) = Browser::start(390) else { return };
    browser.open(&page);
    let wide = browser.ask("return [document.documentElement.scrollWidth, window.innerWidth]");
    assert!(wide[0].as_u64() <= wide[1].as_u64(), "the page is wider than the screen: {wide}");
}

/// The page of `insmod --explain`: bytes, slabs, lives and addresses, on both screens and on dark paper.
#[test]
fn the_page_of_a_modules_memory_opens() {
    let folder = tempfile::tempdir().unwrap();
    for module in ["forty_bytes", "last_freed"] {
        let source = slablab_tests::module::source(module);
        let page = folder.path().join(format!("{module}.html"));
        let _ = stdout(&["insmod", &source, "--explain", page.to_str().unwrap()]);
        assert!(fs::metadata(&page).unwrap().len() < 1_000_000);
        for (width, kind) in [(1300, "wide"), (420, "narrow")] {
            let Some(browser) = Browser::start(width) else { return };
            browser.open(&page);
            plots_are_complete(&browser, kind, 4);
            let wide =
                browser.ask("return [document.documentElement.scrollWidth, window.innerWidth]");
            assert!(wide[0].as_u64() <= wide[1].as_u64(), "wider than the screen: {wide}");
            browser.picture(&format!("{module}-{width}.png"));
            browser.click("#theme");
            browser.picture(&format!("{module}-{width}-dark.png"));
            browser.is_quiet();
        }
    }
}

#[test]
fn the_report_of_a_real_trace_opens() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (result, page) = (at("replay.json"), at("report.html"));
    let _ = stdout(&["replay", "traces/hackbench.parquet", "--format", "json", "-o", &result]);
    let _ = stdout(&["report", &result, "-o", &page]);
    assert!(fs::metadata(&page).unwrap().len() < 2_000_000);
    for (width, kind) in [(1280, "wide"), (390, "narrow")] {
        let Some(browser) = Browser::start(width) else { return };
        browser.open(Path::new(&page));
        plots_are_complete(&browser, kind, 2);
        browser.picture(&format!("replay-{width}.png"));
        browser.is_quiet();
    }
}
