//! Deliveries: which effects of acts became visible in the chats, and when. Pure.
