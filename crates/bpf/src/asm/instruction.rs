//! One instruction: eight bytes.

/// An instruction as the standard divides it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Instruction {
    pub(super) code: u8,
    pub(super) target: u8,
    pub(super) source: u8,
    pub(super) offset: i16,
    pub(super) immediate: i32,
}

impl Instruction {
    /// Returns one that names no registers.
    pub(super) const fn new(code: u8, immediate: i32) -> Self {
        Self { code, target: 0, source: 0, offset: 0, immediate }
    }

    pub(super) const fn registers(self, target: u8, source: u8) -> Self {
        Self { target, source, ..self }
    }

    pub(super) const fn offset(self, offset: i16) -> Self {
        Self { offset, ..self }
    }

    /// Returns the bytes that the kernel takes, in the order of its machine.
    pub(super) fn bytes(self) -> [u8; 8] {
        let registers = if cfg!(target_endian = "little") {
            self.source << 4 | self.target
        } else {
            self.target << 4 | self.source
        };
        let mut bytes = [self.code, registers, 0, 0, 0, 0, 0, 0];
        bytes[2..4].copy_from_slice(&self.offset.to_ne_bytes());
        bytes[4..].copy_from_slice(&self.immediate.to_ne_bytes());
        bytes
    }
}

/// Classes of instructions.
pub(super) mod class {
    pub(crate) const LOAD_IMMEDIATE: u8 = 0x18;
    pub(crate) const LOAD: u8 = 0x61;
    pub(crate) const STORE_IMMEDIATE: u8 = 0x62;
    pub(crate) const STORE: u8 = 0x63;
    pub(crate) const ATOMIC: u8 = 0xc3;
    pub(crate) const ALU32: u8 = 0x04;
    pub(crate) const JUMP: u8 = 0x05;
    pub(crate) const JUMP32: u8 = 0x06;
    pub(crate) const ALU64: u8 = 0x07;
    /// The bytes of a register in the order of big-endian machines
    pub(crate) const TO_BIG_ENDIAN: u8 = 0xdc;
    /// The operand is a register.
    pub(crate) const REGISTER: u8 = 0x08;
    pub(crate) const CALL: u8 = 0x85;
    pub(crate) const EXIT: u8 = 0x95;
}

/// What `r1 = map NAME` and `r1 = value NAME` have as their source.
pub(super) const MAP: u8 = 1;
pub(super) const MAP_VALUE: u8 = 2;
/// What a call of one of the kernel's own functions has as its source.
pub(super) const KERNEL_FUNCTION: u8 = 2;

/// Returns the code of an assignment's operator.
pub(super) fn arithmetic(operator: &str) -> Option<u8> {
    Some(match operator {
        "+=" => 0x00,
        "-=" => 0x10,
        "*=" => 0x20,
        "/=" => 0x30,
        "|=" => 0x40,
        "&=" => 0x50,
        "<<=" => 0x60,
        ">>=" => 0x70,
        "%=" => 0x90,
        "^=" => 0xa0,
        "=" => 0xb0,
        "s>>=" => 0xc0,
        _ => return None,
    })
}

/// Returns the code of a comparison.
pub(super) fn comparison(operator: &str) -> Option<u8> {
    Some(match operator {
        "==" => 0x10,
        ">" => 0x20,
        ">=" => 0x30,
        "&" => 0x40,
        "!=" => 0x50,
        "s>" => 0x60,
        "s>=" => 0x70,
        "<" => 0xa0,
        "<=" => 0xb0,
        "s<" => 0xc0,
        "s<=" => 0xd0,
        _ => return None,
    })
}

/// Returns the bits of a memory access's width.
pub(super) fn width(name: &str) -> Option<u8> {
    Some(match name {
        "u32" => 0x00,
        "u16" => 0x08,
        "u8" => 0x10,
        "u64" => 0x18,
        _ => return None,
    })
}

/// Returns the number of a function that the kernel offers.
pub(super) fn helper(name: &str) -> Option<i32> {
    Some(match name {
        "map_lookup_elem" => 1,
        "map_update_elem" => 2,
        "map_delete_elem" => 3,
        "ktime_get_ns" => 5,
        "get_prandom_u32" => 7,
        "get_smp_processor_id" => 8,
        "get_current_pid_tgid" => 14,
        "get_current_comm" => 16,
        "get_stack" => 67,
        "get_current_cgroup_id" => 80,
        "ringbuf_output" => 130,
        "probe_read_kernel" => 113,
        "probe_read_kernel_str" => 115,
        "seq_write" => 127,
        "get_task_stack" => 141,
        "get_current_task_btf" => 158,
        "task_pt_regs" => 175,
        "map_lookup_percpu_elem" => 195,
        _ => return None,
    })
}
