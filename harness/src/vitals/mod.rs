//! What the kernel and the probes say of the system.
