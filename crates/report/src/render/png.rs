//! SVG to PNG, for mails and slides.
//!
//! resvg draws it, in Rust and without system libraries; a subset of DejaVu Sans is built in, so that a machine without
//! fonts gives the same picture. (plotters' own bitmap backend is smaller, but does not smooth lines and needs fontconfig.)

use resvg::tiny_skia::{Color, Pixmap, Transform};
use resvg::usvg::{Options, Tree, fontdb};

use crate::error::Error;

/// DejaVu Sans, cut down to Latin, Greek mu and the punctuation that plots use: `assets/README.md`.
const FONT: &[u8] = include_bytes!("../../assets/DejaVuSans-subset.ttf");

/// Returns `svg` as the bytes of a PNG on white.
///
/// # Errors
///
/// If it is not an SVG, or is too large to be drawn.
pub fn png(svg: &str) -> Result<Vec<u8>, Error> {
    let mut fonts = fontdb::Database::new();
    fonts.load_font_data(FONT.to_vec());
    fonts.set_sans_serif_family("DejaVu Sans");
    let options = Options {
        fontdb: std::sync::Arc::new(fonts),
        font_family: "DejaVu Sans".to_owned(),
        ..Options::default()
    };
    let tree = Tree::from_str(svg, &options).map_err(|e| Error::Png(e.to_string()))?;
    let size = tree.size().to_int_size();
    let mut pixmap = Pixmap::new(size.width(), size.height())
        .ok_or_else(|| Error::Png(format!("{} x {} pixels", size.width(), size.height())))?;
    pixmap.fill(Color::WHITE);
    resvg::render(&tree, Transform::identity(), &mut pixmap.as_mut());
    pixmap.encode_png().map_err(|e| Error::Png(e.to_string()))
}
