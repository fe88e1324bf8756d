//! What threads are called: the events of a thread's beginning and of its new name, at an `exec` or by itself.
//!
//! Linux counterpart: `include/trace/events/task.h` @ 6.1 and 6.18.

use super::bytes::text;
use super::format::{EventFormat, Place};

/// The events, as they are found in `events`; a kernel without them leaves threads unnamed that live shortly.
pub(crate) const EVENTS: [&str; 2] = ["task/task_newtask", "task/task_rename"];

/// Where a record names a thread.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TaskName {
    pid: Place,
    name: Place,
}

impl TaskName {
    /// Returns where an event names a thread; `None` of one that does not.
    pub(super) fn new(format: &EventFormat) -> Option<TaskName> {
        let name = match format.name.as_str() {
            "task_newtask" => "comm",
            "task_rename" => "newcomm",
            _ => return None,
        };
        let place = |name| format.field(name).map(|field| field.place);
        // From 6.16 on a renamed thread is the one that runs.
        let pid = place("pid").or_else(|| place("common_pid"))?;
        Some(TaskName { pid, name: place(name)? })
    }

    /// Returns a thread and its name.
    pub(super) fn read(self, record: &[u8]) -> Option<(u32, String)> {
        let Place { offset, bytes } = self.name;
        let name = text(record.get(offset..offset.checked_add(bytes)?)?);
        Some((self.pid.unsigned(record)? as u32, name)).filter(|(_, name)| !name.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_name_is_that_of_its_thread() {
        let format = EventFormat::parse(
            "name: task_rename\nID: 9\n\tfield:pid_t pid;\toffset:8;\tsize:4;\tsigned:1;\n\
             \tfield:char oldcomm[16];\toffset:12;\tsize:16;\tsigned:0;\n\
             \tfield:char newcomm[16];\toffset:28;\tsize:16;\tsigned:0;\n",
        );
        let task = TaskName::new(&format.unwrap()).unwrap();
        let mut record = vec![0; 44];
        record[8] = 77;
        record[12..14].copy_from_slice(b"sh");
        record[28..32].copy_from_slice(b"make");
        assert_eq!(task.read(&record), Some((77, "make".to_owned())));
        assert_eq!(task.read(&record[..40]), None);
    }
}
