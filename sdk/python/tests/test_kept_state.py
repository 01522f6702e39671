from dataclasses import dataclass, field
from unittest import TestCase

from eyrie_element import Element, Frame
from eyrie_element.context import Clock
from eyrie_element.kept_state import MAX_STATE_BYTES, restore_state, save_state


@dataclass
class Track:
    frames: int
    label: str | None = None


@dataclass
class State:
    total: int = 0
    tracks: dict[int, Track] = field(default_factory=dict)


@dataclass
class LongerState(State):
    left: float = 0


@dataclass
class OtherState:
    total: str = ''


class Probe(Element):
    def __init__(self, state: object) -> None:
        self.state = state

    def process(self, frame: Frame) -> None:
        return None


def save(state: object) -> dict[str, str]:
    return save_state(Probe(state), Clock())


def restore(element: Element, encoded: str) -> dict[str, str]:
    return restore_state(element, Clock(), encoded)


def report_replacement(state: object, initial: object) -> dict[str, str]:
    """Returns what new code reports that begins with `initial`."""
    return restore(Probe(initial), save(state)['state'])


class KeptState(TestCase):
    def test_new_code_continues_with_the_state(self) -> None:
        state = State(3, {7: Track(2, 'van')})
        element = Probe(State())
        self.assertEqual(restore(element, save(state)['state']), {})
        self.assertEqual(element.state, state)

    def test_new_fields_have_their_defaults(self) -> None:
        element = Probe(LongerState())
        restore(element, save(State(3))['state'])
        self.assertEqual(element.state, LongerState(3))

    def test_a_state_that_does_not_fit_is_not_kept_and_the_reason_names_the_field(self) -> None:
        element = Probe(State())
        self.assertEqual(
            restore(element, save(OtherState('many'))['state']),
            {'problem': "state/total should be integer, not 'many' in the new code"},
        )
        self.assertEqual(element.state, State())
        self.assertEqual(
            report_replacement(LongerState(), State()),
            {'problem': 'state/left is not known in the new code'},
        )
        self.assertEqual(
            report_replacement(State(), None),
            {'problem': 'the new code has no state that is a dataclass'},
        )

    def test_what_json_cannot_express_is_not_kept(self) -> None:
        self.assertEqual(save(None), {})
        self.assertIn('only dataclasses', save({1, 2})['problem'])
        self.assertIn('set cannot', save(State(tracks={1: {2}}))['problem'])  # type: ignore[dict-item]
        self.assertIn('differ from the types', save(State(tracks={'1': Track(1)}))['problem'])  # type: ignore[dict-item]
        self.assertIn(
            f'more than {MAX_STATE_BYTES}',
            save(OtherState('x' * MAX_STATE_BYTES))['problem'],
        )

    def test_a_state_of_another_language_is_not_kept(self) -> None:
        self.assertEqual(
            restore(Probe(State()), '/w8B'), {'problem': 'it is of code in another language'}
        )
