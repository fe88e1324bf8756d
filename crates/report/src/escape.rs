//! Text inside HTML and SVG.

/// Replaces the characters that mean something in HTML and XML.
pub(crate) fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
