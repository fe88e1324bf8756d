//! Takes a CPU, or all of them, into a thread's hands.

use super::cpu::Cpu;
use super::cpuset::CpuSet;
use crate::backend::Backend;
use crate::cpu::Hooks;
use crate::error::Error;
use crate::ids::CpuId;
use crate::machine::Machine;

impl<B: Backend> Machine<B> {
    /// Takes a CPU into the caller's hands; dropping the handle gives it back.
    ///
    /// # Errors
    /// Returns [`Error::CpuBusy`] if another thread holds it or it does not exist.
    pub fn cpu(&self, id: CpuId) -> Result<Cpu<'_, B>, Error> {
        if !self.claim(id.0) {
            return Err(Error::CpuBusy { cpu: id.0, cpus: self.core.setup.cpus });
        }
        Ok(Cpu::new(self, id.0, Hooks::NONE))
    }

    /// Takes all CPUs into the caller's hands.
    ///
    /// # Errors
    /// Returns [`Error::CpuBusy`] if another thread holds one.
    pub fn cpus(&self) -> Result<CpuSet<'_, B>, Error> {
        let cpus = self.core.setup.cpus;
        for cpu in 0..cpus {
            if !self.claim(cpu) {
                (0..cpu).for_each(|taken| self.release(taken));
                return Err(Error::CpuBusy { cpu, cpus });
            }
        }
        Ok(CpuSet::new(self))
    }
}
