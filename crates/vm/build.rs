//! Embeds `kernel/`: configuration, patches, modules and the guest's scripts.

#[path = "../../tools/embed.rs"]
mod embed;

fn main() {
    embed::embed(&[("kernel", "../../kernel")]);
}
