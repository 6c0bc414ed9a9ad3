//! Doors that users open and close: they block a bot, remove it from a group, take it in again, and let a group
//! become a supergroup.

use serde_json::{Value, json};

use super::{Scene, shown};
use crate::answer::Json;
use crate::methods::members;
use crate::stub::NotPushed;
use crate::world::{Chat, ChatKind, Content, Message, User};

/// The numbers of supergroups that are made of groups, where today's are.
const NUMBERS: std::ops::RangeInclusive<i64> = 1_000_000_000..=3_999_999_999;

impl Scene<'_> {
    /// A chat with somebody who blocked the bot shows it as thrown out.
    pub(super) fn block(&mut self, user: i64) -> Result<i64, NotPushed> {
        self.telegram.world.standing.block(self.at.bot, user);
        self.stand(user, user, [json!({ "status": "member" }), thrown_out()])
    }

    pub(super) fn unblock(&mut self, user: i64) -> Result<i64, NotPushed> {
        self.telegram.world.standing.unblock(self.at.bot, user);
        self.stand(user, user, [thrown_out(), json!({ "status": "member" })])
    }

    pub(super) fn kick(&mut self, chat: i64, user: i64) -> Result<i64, NotPushed> {
        self.become_in(chat, user, &thrown_out())
    }

    pub(super) fn add(&mut self, chat: i64, user: i64) -> Result<i64, NotPushed> {
        self.become_in(chat, user, &json!({ "status": "member" }))
    }

    fn become_in(&mut self, chat: i64, user: i64, becomes: &Value) -> Result<i64, NotPushed> {
        let (bot, world) = (self.at.bot, &mut self.telegram.world);
        if world.chat(chat).kind == ChatKind::Private {
            return Err(NotPushed::NoGroup(chat));
        }
        let was = members::this_bot(world, bot, chat);
        world.facts.set(chat, &format!("member/{bot}"), becomes);
        self.stand(chat, user, [was, becomes.clone()])
    }

    fn stand(&mut self, chat: i64, user: i64, members: [Value; 2]) -> Result<i64, NotPushed> {
        let chat = self.telegram.world.chat(chat);
        self.stand_by(&chat, User::Person(user), members)
    }

    /// Tells the bot what it was in a chat and what it is now, and who did that.
    pub(super) fn stand_by(&mut self, chat: &Chat, by: User, members: [Value; 2]) -> Result<i64, NotPushed> {
        let [was, becomes] = members.map(|mut member| {
            member["user"] = self.telegram.world.people.show(User::Bot(self.at.bot));
            member
        });
        let update = json!({
            "chat": chat, "from": self.telegram.world.people.named(by), "date": self.at.date,
            "old_chat_member": was, "new_chat_member": becomes,
        });
        self.push("my_chat_member", &update)
    }

    /// Both chats say it, the new one in its first message; the id of that update.
    pub(super) fn migrate(&mut self, group: i64, user: i64) -> Result<i64, NotPushed> {
        let number = self.telegram.chance(NUMBERS);
        let world = &mut self.telegram.world;
        let old = world.chat(group);
        if old.kind != ChatKind::Group || world.standing.supergroup_of(group).is_some() {
            return Err(NotPushed::NoGroup(group));
        }
        let new = Chat::supergroup(number).id;
        world.standing.upgrade(group, new);
        world.meet(new);
        if let Some(title) = old.title() {
            world.set_title(new, title);
        }
        self.service(group, user, "migrate_to_chat_id", &json!(new))?;
        self.first_message(new, user, "migrate_from_chat_id", &json!(group))
    }

    fn first_message(&mut self, chat: i64, user: i64, field: &'static str, value: &Value) -> Result<i64, NotPushed> {
        let content = Content::Fields(Box::new([(field, Json::of(value))]));
        let message = Message::new(1, User::Person(user), self.at.date, content);
        let chat = self.telegram.world.chat(chat);
        let update = shown(&self.telegram.world.people, &chat, &message);
        self.telegram.world.keep(self.at.bot, &chat, message);
        self.push("message", &update)
    }
}

fn thrown_out() -> Value {
    json!({ "status": "kicked", "until_date": 0 })
}
