import {
  type Counters,
  DEFAULT_REGION_RATIO,
  defineElement,
  definePlugin,
  type EventData,
  type Line,
  lines,
  region,
  z,
} from '@eyrie/element'
import type { Direction } from './crossing-detector.ts'
import { CrossingTracks } from './crossing-tracks.ts'
import { extendEnds } from './polyline-geometry.ts'

/** Ids of sources, joined by commas: `1` or `1,2`. */
const SOURCE_IDS = /^\d+(, ?\d+)*$/

const args = z.strictObject({
  directions: z
    .array(z.literal([0, 1]).meta({ type: 'integer' }))
    .min(1)
    .default([0, 1])
    .meta({ description: 'Directions to count: 0 up, 1 down', uniqueItems: true }),
  history: z.int().min(1).default(30).meta({
    description:
      'Maximum number of analysed frames over which the path of a lost object is continued',
  }),
  region: region.default('bottom').meta({
    description: 'Part of the box that represents the object; its center crosses the line',
  }),
  ratio: z
    .number()
    .gt(0)
    .max(1)
    .default(DEFAULT_REGION_RATIO)
    .meta({
      description:
        'Share of the box that the region covers: of its height for top and bottom, ' +
        'of its width for left and right, of both for center',
    }),
})

const lineConfig = z
  .record(
    z.string().regex(SOURCE_IDS, { error: 'must be a source id or ids joined by commas' }),
    z.strictObject({ lines }),
  )
  .meta({ description: 'Lines by source id; one key may list several ids' })

/**
 * A pipeline element that counts the tracked objects that cross lines in the picture, and reports
 * each crossing as an event.
 */
const lineCrossing = defineElement({
  args,
  config: lineConfig,

  open({ args: { directions, history, region, ratio }, config = {}, source }) {
    const sourceLines = selectLines(config, source.id)
    const countedDirections = new Set(
      directions.map(direction => (direction === 0 ? 'up' : 'down')),
    )
    const tracks = new CrossingTracks({
      lines: sourceLines.map(line => extendEnds(line.coords)),
      region,
      ratio,
      history,
    })
    let counters: Counters = Object.fromEntries(
      sourceLines.map(({ name }) => [name, { up: 0, down: 0, total: 0 }]),
    )

    return {
      metadata: { lines: sourceLines },

      process(frame) {
        const events: EventData[] = []
        for (const { line, direction, track, object } of tracks.advance(frame)) {
          if (!countedDirections.has(direction)) continue
          const { name } = sourceLines[line]!
          counters = countCrossing(counters, name, direction)
          const { class: label, bbox } = object
          events.push({ type: 'line-crossing', name, direction, track, class: label, bbox })
        }
        return { counters, events }
      },
    }
  },
})

/**
 * Returns the counters after a crossing of the line `name`. They are copied, because the counters
 * of earlier frames may still be in use.
 */
function countCrossing(counters: Counters, name: string, direction: Direction): Counters {
  const counter = counters[name]!
  const { [direction]: crossings = 0, total = 0 } = counter
  return { ...counters, [name]: { ...counter, [direction]: crossings + 1, total: total + 1 } }
}

/** Returns the lines of all keys that list the source. Throws if two of them have the same name. */
function selectLines(config: z.output<typeof lineConfig>, source: number): Line[] {
  const selected = Object.entries(config)
    .filter(([sources]) => sources.split(',').map(Number).includes(source))
    .flatMap(([, { lines }]) => lines)
  const names = selected.map(({ name }) => name)
  const duplicate = names.find((name, i) => names.indexOf(name) !== i)
  if (duplicate !== undefined) {
    throw new Error(
      `config has two lines named "${duplicate}" for source ${source}: rename one of them`,
    )
  }
  return selected
}

export default definePlugin({ 'line-crossing': lineCrossing })
