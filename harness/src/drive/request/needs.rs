//! What a step cannot be sent without: the captured values that its templates use.

use crate::scenario::{Assets, Body, Does, Gesture, Piece, Slot, Sought, Step, Template};

/// The names of captured values that a step's templates use.
pub(super) fn captured_by(step: &Step) -> Vec<String> {
    let slots =
        templates(&step.does).into_iter().flat_map(|template| &template.pieces).filter_map(|piece| match piece {
            Piece::Slot(Slot::Captured(name)) => Some(name.clone()),
            Piece::Slot(_) | Piece::Text(_) => None,
        });
    slots.collect()
}

/// The templates of everything that is sent or looked for.
fn templates(does: &Does) -> Vec<&Template> {
    let (path, headers, rest): (_, _, Vec<&Template>) = match does {
        Does::Bot(to_bot) => match &to_bot.gesture {
            Gesture::Says(template) | Gesture::Taps(template) => return vec![template],
        },
        Does::Request(request) => match &request.body {
            Some(Body::Json(body) | Body::Text(body)) => (&request.path, &request.headers, vec![body]),
            None => (&request.path, &request.headers, Vec::new()),
        },
        Does::Page(page) => match &page.assets {
            Assets::Listed(paths) => (&page.path, &page.headers, paths.iter().collect()),
            Assets::Found => (&page.path, &page.headers, Vec::new()),
        },
        Does::Converse(conversation) => {
            let message = conversation.message.iter().map(|body| match body {
                Body::Json(template) | Body::Text(template) => template,
            });
            let sought = conversation.answer.iter().filter_map(|sought| match sought {
                Sought::Anything => None,
                Sought::Containing(template) | Sought::Equal { value: template, .. } => Some(template),
            });
            (&conversation.path, &conversation.headers, message.chain(sought).collect())
        }
    };
    headers.iter().map(|(_, template)| template).chain(rest).chain([path]).collect()
}
