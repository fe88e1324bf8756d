//! `slablab insmod`: what drivers of networks and users of netlink met, each with the module that showed it.

use slablab_tests::module::prints;

/// The dump's entry, which has no policy, used to take the command's: `info->attrs` was NULL.
#[test]
fn a_command_and_its_dump_have_a_policy_each() {
    let steps = ["genl kv 1 1=5 2=7", "genl kv 1 1=5 2=1001", "genl kv 2 1=5", "genl kv dump 2"];
    let printed = [
        "do: genl kv 1 1=5 2=7 = 36",
        "do: genl kv 1 1=5 2=1001 = 36: error -34: integer out of range",
        "do: genl kv 2 1=5 = 28: command 2 1=5 2=7",
        "do: genl kv dump 2 = 20: command 2 1=5 2=7; done",
    ];
    for version in ["6.12", "7.3"] {
        let words = ["--check", "2", "--kernel-version", version];
        let words: Vec<_> =
            words.into_iter().chain(steps.iter().flat_map(|step| ["--do", step])).collect();
        prints("genl_split", &words, &printed);
    }
}
