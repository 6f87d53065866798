from nutmeg.view.pages.page import describe_event


def test_an_event_with_a_text_shows_the_text() -> None:
    assert describe_event({"time": 1.0, "kind": "note", "text": "that was close"}) == "that was close"


def test_another_event_shows_its_kind_and_short_fields() -> None:
    assert describe_event({"time": 1.0, "kind": "push", "robot": "a", "force": [1, 2, 3]}) == "push a"


def test_a_long_event_is_cut_and_shows_that_it_is() -> None:
    shown = describe_event({"time": 1.0, "kind": "note", "text": "x" * 90})
    assert len(shown) == 34
    assert shown.endswith("…")
