import type { Bench } from './bench.ts'
import { measureReloads } from './plugin-reload.ts'

const write = (edition: number) => `import { defineElement, definePlugin, z } from '@eyrie/element'

let isFirst = true

const pulse = defineElement({
  args: z.strictObject({}),
  events: { pulse: z.object({ edition: z.int(), seen: z.int() }) },
  view: { format: 'GRAY8', width: 64, height: 36, multiple_of: 1, letterbox: false, fill: 0 },
  state: () => ({ seen: 0 }),

  process(_, { state }) {
    state.seen += 1
    if (!isFirst) return {}
    isFirst = false
    return { events: [{ type: 'pulse', edition: ${edition}, seen: state.seen }] }
  },
})

export default definePlugin({ pulse })
`

export const bench: Bench = {
  name: 'time from a save until the first frame is analysed by the new code of an element',
  limit: { max: 1000 },
  unit: ' ms',
  run: () => measureReloads({ entry: 'element.ts', write }),
}
