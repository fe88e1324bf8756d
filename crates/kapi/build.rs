//! Embeds the headers of `include/` and the C runtime.

#[path = "../../tools/embed.rs"]
mod embed;

fn main() {
    embed::embed(&[("include", "../../include"), ("runtime", "runtime")]);
}
