from viser._messages import SetOrientationMessage, SetPositionMessage

from nutmeg.view.stage.stage import Shift, Turn


def test_messages_that_move_things_are_those_that_viser_would_send() -> None:
    place, turn = (1.0, 0.5, -0.25), (0.5, 0.5, -0.5, 0.5)
    assert Shift("/a", place).as_serializable_dict() == SetPositionMessage("/a", place).as_serializable_dict()
    assert Turn("/a", turn).as_serializable_dict() == SetOrientationMessage("/a", turn).as_serializable_dict()
