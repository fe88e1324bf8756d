//! The area on which every plot is drawn: title, legend, two axes, and marks at values.
//!
//! # How it works
//! Plotters lays out the axes; marks are drawn in its pixels. It counts in whole pixels, so the drawing
//! is made [`FINE`] times as large as it is shown.

use plotters::chart::ChartContext;
use plotters::coord::Shift;
use plotters::drawing::DrawingAreaErrorKind;
use plotters::element::{Circle, PathElement, Polygon, Rectangle, Text};
use plotters::prelude::{Cartesian2d, ChartBuilder, DrawingArea, IntoDrawingArea, SVGBackend};
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{Color as _, IntoFont, RGBColor, ShapeStyle, TextStyle};

use super::axis::Axis;
use super::width::Width;
use crate::color::{Color, Palette};

/// How many drawn pixels make up one that is shown.
pub(crate) const FINE: i32 = 2;

/// The colour of words and axes; `assets/report.css` replaces it on a dark page.
const INK: RGBColor = RGBColor(0x1B, 0x1F, 0x24);
/// The colour of the grid; replaced likewise.
const GRID: RGBColor = RGBColor(0xD9, 0xDE, 0xE4);

/// The result of drawing, which fails only in the drawing crate.
pub(crate) type Drawn<T = ()> = Result<T, DrawingAreaErrorKind<std::io::Error>>;

/// The interface of each kind of plot.
pub trait Draw: std::fmt::Debug {
    /// Returns the names that are told apart by colour; none where they stand on an axis.
    fn names(&self) -> Vec<&str> {
        Vec::new()
    }
    /// Returns whether there is no value at all.
    fn is_empty(&self) -> bool;
    /// Returns the height in shown pixels.
    fn height(&self, width: Width) -> u32;
    /// Draws it below the title and the legend.
    fn draw(&self, area: &Area<'_>, palette: &mut Palette) -> Drawn;
}

/// The shapes of marks, by number.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Mark {
    /// Colour and shape
    pub(crate) color: Color,
    /// Half its width, in shown pixels
    pub(crate) radius: f64,
    /// Whether it is filled, or an outline only
    pub(crate) fill: Fill,
}

/// Whether a mark is filled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fill {
    /// An ordinary value
    Full,
    /// A value that stands out
    Hollow,
}

/// The area on which a plot is drawn.
#[expect(missing_debug_implementations)]
pub struct Area<'a> {
    root: DrawingArea<SVGBackend<'a>, Shift>,
    width: Width,
}

type Chart<'r, 'a> = ChartContext<'r, SVGBackend<'a>, Cartesian2d<Axis, Axis>>;

/// Two axes, with values to be drawn between them.
pub(crate) struct Axes<'r, 'a> {
    area: &'r Area<'a>,
    chart: Chart<'r, 'a>,
    x: Axis,
    y: Axis,
}

impl<'a> Area<'a> {
    pub(crate) fn new(backend: SVGBackend<'a>, width: Width) -> Self {
        Self { root: backend.into_drawing_area(), width }
    }

    pub(crate) fn root(&self) -> &DrawingArea<SVGBackend<'a>, Shift> {
        &self.root
    }

    /// Returns the size of words in drawn pixels.
    fn font(&self) -> i32 {
        FINE * if self.width == Width::Wide { 13 } else { 12 }
    }

    fn text(&self, size: i32, anchor: Pos) -> TextStyle<'static> {
        TextStyle::from(("sans-serif", size).into_font()).color(&INK).pos(anchor)
    }

    /// Draws title and legend over the whole plot and returns the area below them.
    pub(crate) fn below_head(
        &self,
        title: &str,
        names: &[&str],
        palette: &mut Palette,
    ) -> Drawn<Self> {
        // One name needs no legend: the title says it.
        let names = if names.len() > 1 { names } else { &[] };
        let wide = self.root.dim_in_pixel().0 as i32;
        let (font, mut top) = (self.font(), 4 * FINE);
        let style = self.text(font * 15 / 13, Pos::new(HPos::Left, VPos::Top));
        for line in wrap(title, (wide - 16 * FINE) as f64 / (f64::from(font) * 0.60)) {
            self.root.draw(&Text::new(line, (8 * FINE, top), style.clone()))?;
            top += font * 4 / 3;
        }
        let mut left = 8 * FINE;
        let style = self.text(font, Pos::new(HPos::Left, VPos::Center));
        for name in names {
            let needs = 2 * font + (name.chars().count() as f64 * f64::from(font) * 0.58) as i32;
            if left > 8 * FINE && left + needs > wide {
                left = 8 * FINE;
                top += font * 4 / 3;
            }
            let middle = top + font * 3 / 4;
            let mark = Mark { color: palette.color(name), radius: 4.5, fill: Fill::Full };
            draw_mark(&self.root, (left + font / 2, middle), mark)?;
            let label = Text::new((*name).to_owned(), (left + font * 5 / 4, middle), style.clone());
            self.root.draw(&label)?;
            left += needs;
        }
        if !names.is_empty() {
            top += font * 4 / 3;
        }
        let below = self.root.clone().split_vertically(top + 4 * FINE).1;
        Ok(Self { root: below, width: self.width })
    }

    /// Cuts it into `parts` of equal height, top to bottom.
    pub(crate) fn stack(&self, parts: usize) -> Vec<Self> {
        let areas = self.root.split_evenly((parts, 1));
        areas.into_iter().map(|root| Self { root, width: self.width }).collect()
    }

    /// Draws two axes and returns the space between them.
    pub(crate) fn axes<'r>(&'r self, x: &Axis, y: &Axis) -> Drawn<Axes<'r, 'a>> {
        let font = self.font();
        let (wide, _) = self.root.dim_in_pixel();
        let widest = (y.label_chars() as f64 * f64::from(font) * 0.62) as i32 + font * 2;
        let left = widest.clamp(3 * font, wide as i32 * 45 / 100);
        let mut chart = ChartBuilder::on(&self.root)
            .margin(6 * FINE)
            .margin_right(14 * FINE)
            .x_label_area_size(font * 5 / 2)
            .y_label_area_size(left)
            .build_cartesian_2d(x.clone(), y.clone())?;
        let most = if self.width == Width::Wide { 7 } else { 4 };
        chart
            .configure_mesh()
            .bold_line_style(GRID.stroke_width(FINE as u32))
            .light_line_style(GRID.mix(0.0))
            .max_light_lines(1)
            .axis_style(INK.mix(0.5).stroke_width(FINE as u32))
            .x_labels(most)
            .y_labels(7)
            .x_desc(x.label())
            .y_desc(y.label())
            .label_style(self.text(font, Pos::default()))
            .axis_desc_style(self.text(font, Pos::default()))
            .draw()?;
        Ok(Axes { area: self, chart, x: x.clone(), y: y.clone() })
    }
}

impl Axes<'_, '_> {
    /// Draws a mark at a value.
    pub(crate) fn mark(&self, at: (f64, f64), mark: Mark) -> Drawn {
        draw_mark(&self.area.root, self.local(at), mark)
    }

    /// Draws a line through values, `width` shown pixels thick.
    pub(crate) fn line(&self, points: &[(f64, f64)], color: Color, width: f64) -> Drawn {
        let style = rgb(color).stroke_width((width * f64::from(FINE)).round() as u32);
        let path: Vec<_> = points.iter().map(|p| self.local(*p)).collect();
        self.area.root.draw(&PathElement::new(path, style))
    }

    /// Draws a line in the colour of the axes.
    pub(crate) fn rule(&self, from: (f64, f64), to: (f64, f64)) -> Drawn {
        let style = INK.mix(0.6).stroke_width(FINE as u32);
        self.area.root.draw(&PathElement::new(vec![self.local(from), self.local(to)], style))
    }

    /// Draws a box between two values, filled so faintly that marks show on it, or fully.
    pub(crate) fn area(
        &self,
        from: (f64, f64),
        to: (f64, f64),
        color: Color,
        opacity: f64,
    ) -> Drawn {
        self.fill(from, to, color, opacity)?;
        let outline = rgb(color).stroke_width(FINE as u32);
        self.area.root.draw(&Rectangle::new([self.local(from), self.local(to)], outline))
    }

    /// Fills a box between two values, without an outline.
    pub(crate) fn fill(
        &self,
        from: (f64, f64),
        to: (f64, f64),
        color: Color,
        opacity: f64,
    ) -> Drawn {
        let style = rgb(color).mix(opacity).filled();
        self.area.root.draw(&Rectangle::new([self.local(from), self.local(to)], style))
    }

    /// Draws the outline of a box between two values in the colour of the grid.
    pub(crate) fn frame(&self, from: (f64, f64), to: (f64, f64)) -> Drawn {
        let style = GRID.stroke_width(FINE as u32);
        self.area.root.draw(&Rectangle::new([self.local(from), self.local(to)], style))
    }

    /// Writes `text` to the right of a value.
    pub(crate) fn note(&self, text: &str, at: (f64, f64)) -> Drawn {
        let style = self.area.text(self.area.font(), Pos::new(HPos::Left, VPos::Center));
        let (x, y) = self.local(at);
        self.area.root.draw(&Text::new(text.to_owned(), (x + 4 * FINE, y), style))
    }

    /// Returns the drawn pixel of a value within the area that the axes stand in: areas count from their own corner.
    fn local(&self, (x, y): (f64, f64)) -> (i32, i32) {
        let (x, y) = self.chart.backend_coord(&(self.x.place(x), self.y.place(y)));
        let (left, top) = self.area.root.get_base_pixel();
        (x - left, y - top)
    }
}

fn rgb(color: Color) -> RGBColor {
    RGBColor(color.rgb.0, color.rgb.1, color.rgb.2)
}

fn draw_mark(root: &DrawingArea<SVGBackend<'_>, Shift>, (x, y): (i32, i32), mark: Mark) -> Drawn {
    let r = (mark.radius * f64::from(FINE)).round() as i32;
    let style: ShapeStyle = match mark.fill {
        Fill::Full => rgb(mark.color).mix(0.8).filled(),
        Fill::Hollow => rgb(mark.color).stroke_width(FINE as u32),
    };
    let around = |offsets: &[(i32, i32)]| -> Vec<(i32, i32)> {
        offsets.iter().map(|(dx, dy)| (x + dx, y + dy)).collect()
    };
    let corners = match mark.color.shape % 6 {
        0 => return root.draw(&Circle::new((x, y), r, style)),
        1 => around(&[(0, -r), (r, r), (-r, r)]),
        2 => around(&[(-r, -r), (r, -r), (r, r), (-r, r)]),
        3 => around(&[(0, -r * 5 / 4), (r * 5 / 4, 0), (0, r * 5 / 4), (-r * 5 / 4, 0)]),
        4 => around(&[(0, r), (r, -r), (-r, -r)]),
        _ => around(&[(-r, -r / 3), (r, -r / 3), (r, r / 3), (-r, r / 3)]),
    };
    match mark.fill {
        Fill::Full => root.draw(&Polygon::new(corners, style)),
        Fill::Hollow => {
            let closed: Vec<_> = corners.iter().chain(corners.first()).copied().collect();
            root.draw(&PathElement::new(closed, style))
        }
    }
}

/// Breaks `text` at blanks into lines of at most `width` characters, a longer word alone.
fn wrap(text: &str, width: f64) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let line = lines.last_mut().expect("there is always a line");
        let needs = line.chars().count() + 1 + word.chars().count();
        if line.is_empty() {
            line.push_str(word);
        } else if needs as f64 <= width {
            line.push(' ');
            line.push_str(word);
        } else {
            lines.push(word.to_owned());
        }
    }
    lines
}
