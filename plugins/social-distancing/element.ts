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
import { Distancing } from './distancing.ts'
import { rulerFor } from './ruler.ts'

/** Name of the counter. */
const counted = 'social-distancing'
const metres = z.strictObject({ x: z.number(), y: z.number() })

const socialDistancing = defineElement({
  args: z.strictObject({
    threshold: z
      .number()
      .positive()
      .default(2)
      .meta({ description: 'Metres; who is nearer to another violates' }),
  }),
  config: z.strictObject({
    calibration: z
      .strictObject({
        image: quadrilateral(point, 'Four points of the floor in the picture, going round'),
        world: quadrilateral(metres, 'The same four on the floor, in metres'),
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
      [counted]: z.strictObject({ violation: z.int().min(0), non_violation: z.int().min(0) }),
    }),
    events: z.array(
      eventData.extend({ type: z.literal('violation'), with: z.int().min(1), distance: z.number() }),
    ),
  }),

  open({ args: { threshold }, config }) {
    const calibration = config?.calibration
    const metresBetween = rulerFor(calibration)
    const distancing = new Distancing(threshold)

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
        distancing.begin(tracks, pts, discontinuity)

        const events: EventData[] = []
        const violating = new Set<DetectedObject>()
        const nearest = new Map<DetectedObject, number>()
        for (const [a, b] of pairsOf(people)) {
          const distance = metresBetween(a.bbox, b.bbox, frame)
          if (distance === undefined) continue
          for (const person of [a, b])
            nearest.set(person, Math.min(distance, nearest.get(person) ?? Number.POSITIVE_INFINITY))
          const { violates, began } =
            a.track === undefined || b.track === undefined
              ? { violates: distance < threshold, began: false }
              : distancing.see(a.track, b.track, distance, pts)
          if (violates) violating.add(a).add(b)
          if (began) events.push(violation(a, b, distance))
        }

        return {
          objects: objects.map(object => {
            if (object.class !== 'person') return object
            const distance = nearest.get(object)
            const found = {
              violation: violating.has(object),
              ...(distance !== undefined && { distance: toCentimetres(distance) }),
            }
            return { ...object, attributes: { ...object.attributes, ...found } }
          }),
          counters: { [counted]: distancing.counter() },
          events,
        }
      },
    }
  },
})

function pairsOf<Item>(items: readonly Item[]): [Item, Item][] {
  return items.flatMap((a, i) => items.slice(i + 1).map((b): [Item, Item] => [a, b]))
}

function violation(a: DetectedObject, b: DetectedObject, distance: number): EventData {
  const bbox = around(a.bbox, b.bbox)
  const distanceShown = toCentimetres(distance)
  return { type: 'violation', track: a.track, with: b.track, class: a.class, distance: distanceShown, bbox }
}

function around(a: BBox, b: BBox): BBox {
  const [x, y] = [Math.min(a.x, b.x), Math.min(a.y, b.y)]
  return { x, y, w: Math.max(a.x + a.w, b.x + b.w) - x, h: Math.max(a.y + a.h, b.y + b.h) - y }
}

function toCentimetres(metres: number): number {
  return Math.round(metres * 100) / 100
}

export default definePlugin({ 'social-distancing': socialDistancing })
