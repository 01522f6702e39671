import {
  type BBox,
  type DetectedObject,
  defineElement,
  definePlugin,
  detectedObject,
  type EventData,
  eventData,
  point,
  quadrilateral,
  z,
} from '@eyrie/element'
import { createDistanceEstimator } from './distance-estimator.ts'
import { ViolationTracker } from './violation-tracker.ts'

/** Key of the element's counters in a frame. */
const COUNTER_NAME = 'social-distancing'
const floorPoint = z.strictObject({ x: z.number(), y: z.number() })

const socialDistancing = defineElement({
  args: z.strictObject({
    threshold: z
      .number()
      .positive()
      .default(2)
      .meta({ description: 'Minimum distance between two people in metres' }),
  }),
  config: z.strictObject({
    calibration: z
      .strictObject({
        image: quadrilateral(
          point,
          'Four points of the floor in the picture, in clockwise or counterclockwise order',
        ),
        world: quadrilateral(floorPoint, 'The same four points on the floor, in metres'),
      })
      .optional(),
  }),
  input: z.object({ objects: z.array(detectedObject) }),
  output: z.object({
    objects: z.array(
      detectedObject.extend({
        attributes: z
          .looseObject({ violation: z.boolean().optional(), distance: z.number().optional() })
          .optional(),
      }),
    ),
    counters: z.object({
      [COUNTER_NAME]: z.strictObject({ violation: z.int().min(0), non_violation: z.int().min(0) }),
    }),
    events: z.array(
      eventData.extend({ type: z.literal('violation'), with: z.int().min(1), distance: z.number() }),
    ),
  }),

  open({ args: { threshold }, config }) {
    const calibration = config?.calibration
    const estimateDistance = createDistanceEstimator(calibration)
    const violations = new ViolationTracker(threshold)

    return {
      metadata: {
        threshold,
        ...(calibration && {
          calibration: { name: 'calibration', coords: calibration.image, world: calibration.world },
        }),
      },

      process(frame) {
        const { objects, pts, discontinuity } = frame
        const people = objects.filter(object => object.class === 'person')
        const tracks = people.flatMap(({ track }) => track ?? [])
        violations.startFrame(tracks, pts, discontinuity)

        const events: EventData[] = []
        const violators = new Set<DetectedObject>()
        const minDistances = new Map<DetectedObject, number>()
        for (const [a, b] of toPairs(people)) {
          const distance = estimateDistance(a.bbox, b.bbox, frame)
          if (distance === undefined) continue
          for (const person of [a, b])
            minDistances.set(person, Math.min(distance, minDistances.get(person) ?? Number.POSITIVE_INFINITY))
          const { isViolating, isNew } =
            a.track === undefined || b.track === undefined
              ? { isViolating: distance < threshold, isNew: false }
              : violations.update(a.track, b.track, distance, pts)
          if (isViolating) violators.add(a).add(b)
          if (isNew) events.push(createEvent(a, b, distance))
        }

        return {
          objects: objects.map(object => {
            if (object.class !== 'person') return object
            const distance = minDistances.get(object)
            const added = {
              violation: violators.has(object),
              ...(distance !== undefined && { distance: roundToCentimetres(distance) }),
            }
            return { ...object, attributes: { ...object.attributes, ...added } }
          }),
          counters: { [COUNTER_NAME]: violations.getCounter() },
          events,
        }
      },
    }
  },
})

/** Returns every unordered pair of items. */
function toPairs<Item>(items: readonly Item[]): [Item, Item][] {
  return items.flatMap((a, i) => items.slice(i + 1).map((b): [Item, Item] => [a, b]))
}

function createEvent(a: DetectedObject, b: DetectedObject, distance: number): EventData {
  return {
    type: 'violation',
    track: a.track,
    with: b.track,
    class: a.class,
    distance: roundToCentimetres(distance),
    bbox: getBoundingBox(a.bbox, b.bbox),
  }
}

function getBoundingBox(a: BBox, b: BBox): BBox {
  const [x, y] = [Math.min(a.x, b.x), Math.min(a.y, b.y)]
  return { x, y, w: Math.max(a.x + a.w, b.x + b.w) - x, h: Math.max(a.y + a.h, b.y + b.h) - y }
}

function roundToCentimetres(metres: number): number {
  return Math.round(metres * 100) / 100
}

export default definePlugin({ 'social-distancing': socialDistancing })
