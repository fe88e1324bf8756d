//! What tells in which memory cgroup a thread is: the events of its beginning, and of its going to another.
//!
//! Linux counterpart: `include/trace/events/task.h` and `cgroup.h` @ 6.1 and 6.18.

use super::bytes::text;
use super::format::{EventFormat, Form, Place};
use crate::cgroups::CgroupChange;

/// The event of a thread that goes to another cgroup; that of its beginning is among those that name it.
pub(crate) const EVENT: &str = "cgroup/cgroup_attach_task";

/// Where a record says so.
#[derive(Debug, Clone, Copy)]
pub(crate) enum CgroupEvent {
    Fork { parent: Place, child: Place, flags: Place },
    Attach { thread: Place, hierarchy: Place, path: (Place, Form) },
}

impl CgroupEvent {
    /// Returns where an event says it; `None` of one that does not.
    pub(super) fn new(format: &EventFormat) -> Option<CgroupEvent> {
        let place = |name| format.field(name).map(|field| field.place);
        match format.name.as_str() {
            "task_newtask" => Some(CgroupEvent::Fork {
                parent: place("common_pid")?,
                child: place("pid")?,
                flags: place("clone_flags")?,
            }),
            "cgroup_attach_task" => {
                let path = format.field("dst_path")?;
                Some(CgroupEvent::Attach {
                    thread: place("pid")?,
                    hierarchy: place("dst_root")?,
                    path: (path.place, path.form),
                })
            }
            _ => None,
        }
    }

    /// Returns what a record says.
    pub(super) fn read(self, record: &[u8]) -> Option<CgroupChange> {
        let number = |place: Place| Some(place.unsigned(record)? as u32);
        Some(match self {
            CgroupEvent::Fork { parent, child, flags } => CgroupChange::Fork {
                parent: number(parent)?,
                child: number(child)?,
                flags: flags.unsigned(record)?,
            },
            CgroupEvent::Attach { thread, hierarchy, path: (place, form) } => {
                CgroupChange::Attach {
                    thread: number(thread)?,
                    hierarchy: hierarchy.signed(record)? as i32,
                    path: text(place.located(record, form)?),
                }
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_that_is_attached_names_its_cgroup() {
        let format = EventFormat::parse(
            "name: cgroup_attach_task\nID: 538\n\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\
             \tfield:int dst_root;\toffset:8;\tsize:4;\tsigned:1;\n\tfield:int pid;\toffset:24;\tsize:4;\tsigned:1;\n\
             \tfield:__data_loc char[] dst_path;\toffset:28;\tsize:4;\tsigned:0;\n",
        );
        let event = CgroupEvent::new(&format.unwrap()).unwrap();
        let mut record = vec![0; 37];
        (record[8], record[24]) = (4, 77);
        // Five bytes from byte 32 on.
        record[28..32].copy_from_slice(&(5u32 << 16 | 32).to_le_bytes());
        record[32..36].copy_from_slice(b"/job");
        let path = "/job".to_owned();
        assert_eq!(
            event.read(&record),
            Some(CgroupChange::Attach { thread: 77, hierarchy: 4, path })
        );
        assert_eq!(event.read(&record[..34]), None);
    }
}
