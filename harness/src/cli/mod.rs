//! The command line: one file per subcommand. Only here is anything printed or exited.

pub mod complaints;
pub mod plan;
pub mod sign;
