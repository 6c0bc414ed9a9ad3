//! How what players do is written.

use super::*;

fn json(body: &str) -> Vec<Piece> {
    match request(&step(&format!("{{ act = 'a', post = '/', json = {body} }}"))).body.clone() {
        Some(Body::Json(template)) => template.pieces,
        other => panic!("not JSON: {other:?}"),
    }
}

#[test]
fn a_json_body_is_compact_and_keeps_its_order_and_types() {
    assert_eq!(
        json("{ z = 1, a = [true, 2.5, 0x10, 1.0], s = \"q\\\"\\n\", d = 2026-01-31 }"),
        [text(r#"{"z":1,"a":[true,2.5,16,1.0],"s":"q\"\n","d":"2026-01-31"}"#)]
    );
}

#[test]
fn a_placeholder_in_a_json_body_stays_inside_its_string() {
    let slot = Piece::Slot(Slot::PlayerId);
    assert_eq!(json("{ id = '{player.id}' }"), [text(r#"{"id":""#), slot.clone(), text(r#""}"#)]);
    assert_eq!(json("{ '{player.id}' = 1 }"), [text(r#"{""#), slot, text(r#"":1}"#)]);
}

#[test]
fn double_braces_are_the_braces_themselves() {
    let step = step("{ act = 'a', get = '/{{{nth}}}?{{}}' }");
    assert_eq!(request(&step).path.pieces, [text("/{"), Piece::Slot(Slot::Nth), text("}?{}")]);
}

#[test]
fn a_captured_value_serves_later_steps_and_the_same_steps_effect() {
    let get = "act = 'a', get = '/', capture = { id = '/id' }";
    let captured = Piece::Slot(Slot::Captured("id".to_owned()));
    let scenario =
        with_steps(&format!("{{ {get}, shows.chat = '{{id}}' }}, {{ act = 'b', get = '/{{id}}' }}")).unwrap();
    let steps = &scenario.journeys[0].steps;
    assert_eq!(steps[0].shows.as_ref().unwrap().chat.pieces, std::slice::from_ref(&captured));
    assert_eq!(request(&steps[1]).path.pieces, [text("/"), captured]);
    let complaints = with_steps("{ act = 'a', get = '/{id}', capture = { id = '/id' } }").unwrap_err();
    assert_eq!(complaints[0].says, "`{id}` is not captured yet");
}

#[test]
fn a_step_says_or_taps_in_the_private_chat_or_the_group() {
    let does =
        |written: &str| match with_steps(&format!("{{ act = 'a', says = '/start' }}, {{ act = 'b', {written} }}"))
            .unwrap()
            .journeys[0]
            .steps[1]
            .does
        {
            Does::Bot(ref to_bot) => to_bot.clone(),
            Does::Request(_) | Does::Page(_) | Does::Converse(_) => panic!("a request"),
        };
    let template = |pieces: &[Piece]| Template { pieces: pieces.to_vec() };
    let said = Gesture::Says(template(&[text("hi "), Piece::Slot(Slot::Marker)]));
    assert_eq!(does("says = 'hi {marker}'"), ToBot { chat: Where::Private, gesture: said.clone() });
    assert_eq!(does("says = 'hi {marker}', in = 'group'"), ToBot { chat: Where::Group, gesture: said });
    let tapped = Gesture::Taps(template(&[text("Play")]));
    assert_eq!(does("taps = 'Play', in = 'private'"), ToBot { chat: Where::Private, gesture: tapped });
}

#[test]
fn every_method_sends_its_own_name() {
    for method in ["get", "post", "put", "patch", "delete"] {
        let step = step(&format!("{{ act = 'a', {method} = '/' }}"));
        assert_eq!(request(&step).method, method.to_ascii_uppercase());
    }
}

#[test]
fn a_page_has_the_assets_that_it_lists_or_those_that_are_found() {
    let assets = |written: &str| match step(&format!("{{ act = 'a', page = '/'{written} }}")).does {
        Does::Page(Page { assets: Assets::Listed(paths), .. }) => Some(paths.len()),
        Does::Page(Page { assets: Assets::Found, .. }) => None,
        Does::Request(_) | Does::Converse(_) | Does::Bot(_) => panic!("a page"),
    };
    assert_eq!([assets(""), assets(", assets = []"), assets(", assets = ['/a.js']")], [None, Some(0), Some(1)]);
}

#[test]
fn what_does_not_go_with_a_page_is_said() {
    for (step, says) in [
        ("page = '/', get = '/'", "this one says `page` as well"),
        ("page = '/', text = 'x'", "without a body"),
        ("page = '/', assets = ['a.js']", "begins with a slash"),
        ("get = '/', assets = []", "only a page has assets"),
        ("page = '/', capture = { a = '/a' }", "no JSON"),
        ("page = '/', check = [{ pointer = '/a', exists = true }]", "no JSON"),
        ("page = '/', shows = { chat = '{chat.id}', version = '/v' }", "no JSON"),
    ] {
        let complaints = with_steps(&format!("{{ act = 'a', {step} }}")).unwrap_err();
        assert!(complaints[0].says.contains(says) && complaints.len() == 1, "{step}: {complaints:?}");
    }
}

#[test]
fn an_effect_is_recognised_by_a_version_a_marker_or_any_call() {
    let sign = |written: &str| {
        step(&format!("{{ act = 'a', get = '/', shows = {{ chat = '{{chat.id}}'{written} }} }}")).shows.unwrap().sign
    };
    assert!(matches!(sign(""), Sign::Any));
    assert!(matches!(sign(", version = '/v'"), Sign::Version(pointer) if pointer == "/v"));
    assert!(
        matches!(sign(", marker = '{marker}'"), Sign::Marker(marker) if marker.pieces == [Piece::Slot(Slot::Marker)])
    );
}

#[test]
fn the_longest_thinking_of_a_day_passes_and_one_second_more_does_not() {
    let thinking = |written: &str| with_steps(&format!("{{ act = 'a', get = '/', think = '{written}' }}"));
    assert!(thinking("23h 59min 59s").is_ok());
    assert!(thinking("24h").is_err());
}

#[test]
fn a_websockets_answer_is_any_or_holds_a_text_or_a_value() {
    let sought = |written: &str| match step(&format!("{{ act = 'a', websocket = '/live', text = 'hi'{written} }}")).does
    {
        Does::Converse(Conversation { answer, .. }) => answer,
        Does::Request(_) | Does::Page(_) | Does::Bot(_) => panic!("a conversation"),
    };
    assert!(sought("").is_none());
    assert!(matches!(sought(", answer = {}"), Some(Sought::Anything)));
    assert!(matches!(sought(", answer.contains = 'x'"), Some(Sought::Containing(_))));
    let equal = sought(", answer = { pointer = '/type', equals = '{player.id}' }");
    assert!(matches!(equal, Some(Sought::Equal { pointer, .. }) if pointer == "/type"));
}

#[test]
fn what_does_not_go_with_a_websocket_is_said() {
    for (steps, says) in [
        ("{ act = 'a', websocket = '/x', get = '/' }", "says `websocket` as well"),
        ("{ act = 'a', websocket = '/x', answer.pointer = '/a' }", "go together"),
        ("{ act = 'a', websocket = '/x', answer = { contains = 'a', pointer = '/a' } }", "in one way"),
        ("{ act = 'a', websocket = '/x', answer = { pointer = 'a', equals = '' } }", "begins with a slash"),
        ("{ act = 'a', websocket = '/x', capture = { a = '/a' } }", "not waited for"),
        ("{ act = 'a', websocket = '/x', check = [{ pointer = '/a', exists = true }] }", "not waited for"),
        ("{ act = 'a', websocket = '/x', answer = {}, capture = { a = { header = 'a' } } }", "has no headers"),
        ("{ act = 'a', websocket = '/x' }, { act = 'b', websocket = '/y' }", "one WebSocket"),
        ("{ act = 'a', get = '/', answer = {} }", "only a WebSocket's answer"),
    ] {
        let complaints = with_steps(steps).unwrap_err();
        assert!(complaints[0].says.contains(says) && complaints.len() == 1, "{steps}: {complaints:?}");
    }
}
