import {
  type BBox,
  type Counters,
  centerOf,
  defaultRatio,
  defineElement,
  definePlugin,
  type EventData,
  type Line,
  lines,
  partOf,
  region,
  withinPicture,
  z,
} from '@eyrie/element'
import { withEnds } from './crossing.ts'
import { type Direction, Walk } from './walk.ts'

const args = z.strictObject({
  directions: z
    .array(z.literal([0, 1]).meta({ type: 'integer' }))
    .min(1)
    .default([0, 1])
    .meta({ description: 'Which crossings count: 0 up, 1 down', uniqueItems: true }),
  history: z.int().min(1).default(30).meta({
    description: 'Analysed frames for which the path of an object out of sight is kept and bridged',
  }),
  region: region
    .default('bottom')
    .meta({ description: 'Part of the box that stands for the object; its centre crosses' }),
  ratio: z.number().gt(0).max(1).default(defaultRatio).meta({
    description: "Share of the box's height (left, right: width; center: both) that the part covers",
  }),
})

const lineConfig = z
  .record(
    z.string().regex(/^\d+(, ?\d+)*$/, { error: 'must be a source id or ids joined by commas' }),
    z.strictObject({ lines }),
  )
  .meta({ description: 'Lines by the sources to which they belong' })

const lineCrossing = defineElement({
  args,
  config: lineConfig,

  open({ args: { directions, history, region, ratio }, config = {}, source }) {
    const own = linesOf(config, source.id)
    const coords = own.map(line => withEnds(line.coords))
    const counted = new Set(directions.map(direction => (direction === 0 ? 'up' : 'down')))
    const walks = new Map<number, { walk: Walk; seen: number }>()
    let analysed = 0
    let counters: Counters = Object.fromEntries(own.map(({ name }) => [name, { up: 0, down: 0, total: 0 }]))

    function count(name: string, direction: Direction): void {
      const counter = counters[name]!
      const raised = { [direction]: counter[direction]! + 1, total: counter.total! + 1 }
      counters = { ...counters, [name]: { ...counter, ...raised } }
    }

    /** The lines that an object has crossed with this frame. */
    function follow(track: number, bbox: BBox) {
      const position = centerOf(partOf(withinPicture(bbox), region, ratio))
      const walk = walks.get(track)?.walk ?? new Walk(coords, position)
      walks.set(track, { walk, seen: analysed })
      return walk.step(position, bbox).filter(({ direction }) => counted.has(direction))
    }

    return {
      metadata: { lines: own },

      process({ objects, discontinuity }) {
        analysed += 1
        for (const [track, { seen }] of walks)
          if (discontinuity || analysed - seen > history + 1) walks.delete(track)

        const events: EventData[] = []
        for (const { track, class: label, bbox } of objects) {
          if (track === undefined) continue
          for (const { line, direction } of follow(track, bbox)) {
            const { name } = own[line]!
            count(name, direction)
            events.push({ type: 'line-crossing', name, direction, track, class: label, bbox })
          }
        }
        return { counters, events }
      },
    }
  },
})

/** The lines of a source; its id may stand under several keys. */
function linesOf(config: z.output<typeof lineConfig>, source: number): Line[] {
  const found = Object.entries(config)
    .filter(([sources]) => sources.split(',').map(Number).includes(source))
    .flatMap(([, { lines }]) => lines)
  const names = found.map(({ name }) => name)
  const twice = names.find((name, i) => names.indexOf(name) !== i)
  if (twice !== undefined)
    throw new Error(`config gives source ${source} two lines named "${twice}": rename one of them`)
  return found
}

export default definePlugin({ 'line-crossing': lineCrossing })
