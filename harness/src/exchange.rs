//! One HTTP exchange and the taxonomy of its failures.
