//! The keeper: a small process between the rig and what it starts, so that nothing survives the rig.
