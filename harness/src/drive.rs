//! Open loop: every arrival is fired when it is due, however slow the last one was.
