import type { Bench } from './bench.ts'
import { measureReloads } from './plugin-reload.ts'

const write = (edition: number) => `from dataclasses import dataclass
from eyrie_element import Context, Element, ElementDefinition, Elements, Event, Frame, NoArgs, Result, View


@dataclass
class State:
    seen: int = 0


@dataclass
class Pulse(Event):
    type = 'pulse'
    edition: int
    seen: int


class PulseElement(Element):
    view = View(format='GRAY8', width=64, height=36, letterbox=False)

    def __init__(self, context: Context[NoArgs, None]) -> None:
        self.state = State()
        self.is_first = True

    def process(self, frame: Frame) -> Result | None:
        self.state.seen += 1
        was_first, self.is_first = self.is_first, False
        return Result(events=[Pulse(${edition}, self.state.seen)]) if was_first else None


elements: Elements = {'pulse': ElementDefinition(PulseElement, args=NoArgs, events=[Pulse])}
`

export const bench: Bench = {
  name: 'time from a save until the first frame is analysed by the new code of an element in Python',
  limit: { max: 1000 },
  unit: ' ms',
  run: () => measureReloads({ entry: 'element.py', write }),
}
