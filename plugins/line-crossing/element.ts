import {
  type Counters,
  clipToPicture,
  cropToRegion,
  DEFAULT_REGION_RATIO,
  type DetectedObject,
  defineElement,
  definePlugin,
  type EventData,
  getCenter,
  type Line,
  lines,
  type Point,
  point,
  region,
  z,
} from '@eyrie/element'
import { CrossingDetector, type Direction } from './crossing-detector.ts'
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
  ratio: z.number().gt(0).max(1).default(DEFAULT_REGION_RATIO).meta({
    description:
      "Share of the box's height (left, right: width; center: both) that the region covers",
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
    const polylines = sourceLines.map(line => extendEnds(line.coords))
    const countedDirections = new Set(
      directions.map(direction => (direction === 0 ? 'up' : 'down')),
    )
    /** The tracked objects, with the number of the frame in which each was last detected. */
    const tracks = new Map<number, { detector: CrossingDetector; lastFrame: number }>()
    let frameCount = 0
    /**
     * The greatest track id so far. Undefined before the first frame: after a restart, the tracks
     * of this frame may have crossed lines already, and must not be counted again.
     */
    let lastTrack: number | undefined
    let counters: Counters = Object.fromEntries(
      sourceLines.map(({ name }) => [name, { up: 0, down: 0, total: 0 }]),
    )

    function count(name: string, direction: Direction): void {
      const { up = 0, down = 0, total = 0 } = counters[name]!
      const counter = direction === 'up' ? { up: up + 1, down } : { up, down: down + 1 }
      // The counters are copied, because those of earlier frames may still be in use.
      counters = { ...counters, [name]: { ...counter, total: total + 1 } }
    }

    /**
     * Moves a track to its position in this frame. Returns the crossings in the
     * configured directions.
     */
    function moveTrack(track: number, { bbox, attributes }: DetectedObject) {
      const position = getCenter(cropToRegion(clipToPicture(bbox), region, ratio))
      const isNew = lastTrack !== undefined && track > lastTrack
      const path = isNew ? alignTrail(attributes?.trail, position) : [position]
      const detector = tracks.get(track)?.detector ?? new CrossingDetector(polylines, path[0]!)
      tracks.set(track, { detector, lastFrame: frameCount })
      return path
        .flatMap(point => detector.move(point, bbox))
        .filter(({ direction }) => countedDirections.has(direction))
    }

    function deleteLostTracks(): void {
      for (const [track, { lastFrame }] of tracks) {
        if (frameCount - lastFrame > history + 1) tracks.delete(track)
      }
    }

    return {
      metadata: { lines: sourceLines },

      process({ objects, discontinuity }) {
        frameCount += 1
        // All tracks are lost when the video is interrupted.
        if (discontinuity) tracks.clear()
        deleteLostTracks()

        const events: EventData[] = []
        for (const object of objects) {
          const { track, class: label, bbox } = object
          if (track === undefined) continue
          for (const { line, direction } of moveTrack(track, object)) {
            const { name } = sourceLines[line]!
            count(name, direction)
            events.push({ type: 'line-crossing', name, direction, track, class: label, bbox })
          }
        }
        lastTrack = Math.max(lastTrack ?? 0, ...objects.map(({ track }) => track ?? 0))
        return { counters, events }
      },
    }
  },
})

const trail = z.array(point).min(1)

/**
 * Returns the path of a new track up to its current position. Trackers follow an object for some
 * frames before it becomes a track, and return its positions in these frames as the trail. The
 * trail is shifted to end at `position`, because it may follow another point of the box. Without a
 * trail, the path is only the position.
 */
function alignTrail(attribute: unknown, position: Point): Point[] {
  const { data: points } = trail.safeParse(attribute)
  if (!points) return [position]
  const end = points.at(-1)!
  return points.map(({ x, y }) => ({ x: x + position.x - end.x, y: y + position.y - end.y }))
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
