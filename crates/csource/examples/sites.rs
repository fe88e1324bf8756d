//! Makes the patch of many functions of a source, and checks with git that each applies.
//!
//! `sites LINUX COUNT SEED OUT FOLDER...` writes each patch into the folder OUT, and a line for each function: what became
//! of it, where it is, and why there is no patch.
#![allow(missing_docs)]

use std::path::Path;
use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};
use std::{env, fs};

use slablab_csource::{CachePatch, Letter, Site, Tree, Wanted};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let words: Vec<_> = env::args().skip(1).collect();
    let [root, count, seed, out, folders @ ..] = &words[..] else {
        return Err("sites LINUX COUNT SEED OUT FOLDER...".into());
    };
    let (count, mut state): (usize, u64) = (count.parse()?, seed.parse()?);
    fs::create_dir_all(out)?;
    let tree = Tree::open(Path::new(root))?;
    let mut functions = Vec::new();
    for path in tree.files().filter(|path| path.ends_with(".c")) {
        if folders.iter().any(|folder| path.starts_with(&format!("{folder}/"))) {
            let text = fs::read(Path::new(root).join(path))?;
            if String::from_utf8_lossy(&text).contains("alloc(sizeof(") {
                let file = tree.file(path)?;
                functions
                    .extend(file.functions.iter().map(|one| (path.to_owned(), one.name.clone())));
            }
        }
    }
    let (mut tried, mut patches, mut broken) = (0, 0, 0);
    while tried < count && !functions.is_empty() {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        let (path, function) = functions.swap_remove((state >> 33) as usize % functions.len());
        let place = Some((path.as_str(), function.as_str(), None));
        let wanted = Wanted { symbol: &function, place, is_size: &|_| None };
        let site = match Site::find(&tree, &wanted) {
            Ok(site) if site.inlined_into.is_none() => site,
            Ok(_) => continue,
            Err(error) if error.to_string().contains("allocates nothing") => continue,
            Err(error) => {
                tried += 1;
                println!("no site\t{path}\t{function}\t{error}");
                continue;
            }
        };
        tried += 1;
        match CachePatch::new(&tree, site, "SLAB_PANIC") {
            Err(error) => println!("refused\t{path}\t{function}\t{error}"),
            Ok(patch) => {
                patches += 1;
                let name = format!("{out}/{patches:03}.patch");
                let letter = Letter {
                    author: "A <a@example.org>".into(),
                    seconds: SystemTime::now().duration_since(UNIX_EPOCH)?.as_secs(),
                    subject: format!("{path}: struct {}", patch.site.structure),
                    message: vec![format!("{:#?}", patch.uses)],
                    remarks: Vec::new(),
                };
                fs::write(&name, letter.text(&patch.diff))?;
                let name = fs::canonicalize(&name)?;
                let git = Command::new("git")
                    .args(["apply", "--check"])
                    .arg(&name)
                    .current_dir(root)
                    .output()?;
                let said = String::from_utf8_lossy(&git.stderr).replace('\n', " ");
                let is_whole = git.status.success();
                broken += usize::from(!is_whole);
                let converted = patch.uses.frees.iter().filter(|free| free.is_converted).count();
                println!(
                    "{}\t{path}\t{function}\t{}: {} frees, {converted} converted, {} not told; {said}",
                    if is_whole { "patch" } else { "BROKEN" },
                    name.display(),
                    patch.uses.frees.len(),
                    patch.uses.not_told.len()
                );
            }
        }
    }
    println!("{tried} functions, {patches} patches, {broken} do not apply");
    Ok(())
}
