//! Maps whose keys are ids: of bots, chats, messages, files.
//!
//! They are hashed fast and always alike, not guarded against keys that were chosen to collide: every key comes from
//! a bot under test on this machine or from the rig itself, and whoever aims ids at the stub slows nobody but
//! themselves. On the path of every message the guarded hash of the standard library was about a tenth of its cost.

use std::collections::HashMap;

use foldhash::fast::FixedState;

/// A map by ids; [`Default`] makes an empty one.
pub(crate) type ById<Id, Value> = HashMap<Id, Value, FixedState>;
