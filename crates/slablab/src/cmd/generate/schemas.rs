//! The schemas of what all commands print as JSON, a file for each.

use std::path::Path;

use anyhow::Result;

use super::super::{doctor, insmod, kernel, lab, replay, written};
use crate::answers::advise::AdviseAnswer;
use crate::answers::census::CensusAnswer;
use crate::answers::classes::ClassesAnswer;
use crate::answers::export::ExportAnswer;
use crate::answers::fit::FitAnswer;
use crate::answers::free::FreeAnswer;
use crate::answers::groups::GroupsAnswer;
use crate::answers::holding::HoldingAnswer;
use crate::answers::info::InfoAnswer;
use crate::answers::leaks::LeaksAnswer;
use crate::answers::order::OrderAnswer;
use crate::answers::pages::PagesAnswer;
use crate::answers::partition::PartitionAnswer;
use crate::answers::patch::PatchAnswer;
use crate::answers::perf_pages::PerfPagesAnswer;
use crate::answers::pins::PinsAnswer;
use crate::answers::stat::StatAnswer;
use crate::answers::top::TopAnswer;
use crate::answers::tune::TuneAnswer;
use crate::answers::typed::TypedAnswer;
use crate::answers::whatif::WhatIfAnswer;
use crate::output::write_whole;
use crate::schema::Published;

/// Writes the files into `folder`.
pub(super) fn write(folder: &Path) -> Result<()> {
    for published in all() {
        let text = serde_json::to_string_pretty(&published.schema())? + "\n";
        write_whole(&folder.join(published.file_name()), text.as_bytes())?;
    }
    Ok(())
}

/// Returns what all commands print as JSON.
fn all() -> Vec<Published> {
    let here = [
        Published::answer::<doctor::DoctorAnswer>(),
        Published::answer::<InfoAnswer>(),
        Published::answer::<CensusAnswer>(),
        Published::answer::<StatAnswer>(),
        Published::answer::<GroupsAnswer>(),
        Published::answer::<PinsAnswer>(),
        Published::answer::<PagesAnswer>(),
        Published::answer::<PerfPagesAnswer>(),
        Published::answer::<AdviseAnswer>(),
        Published::answer::<TuneAnswer>(),
        Published::answer::<FitAnswer>(),
        Published::answer::<OrderAnswer>(),
        Published::answer::<ClassesAnswer>(),
        Published::answer::<PatchAnswer>(),
        Published::answer::<WhatIfAnswer>(),
        Published::answer::<PartitionAnswer>(),
        Published::answer::<TypedAnswer>(),
        Published::answer::<FreeAnswer>(),
        Published::answer::<HoldingAnswer>(),
        Published::answer::<ExportAnswer>(),
        Published::answer::<TopAnswer>(),
        Published::answer::<LeaksAnswer>(),
        Published::answer::<written::Written>(),
        Published::answer_named::<written::Written>("slablab.import/1"),
    ];
    let families = [insmod::SCHEMAS, kernel::SCHEMAS, lab::SCHEMAS, replay::SCHEMAS];
    here.into_iter().chain(families.into_iter().flatten().copied()).collect()
}
