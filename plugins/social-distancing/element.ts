import {
  type BBox,
  type DetectedObject,
  defineElement,
  definePlugin,
  detectedObject,
  type EventData,
  eventData,
  type Frame,
  point,
  quadrilateral,
  z,
} from '@eyrie/element'
import {
  type Calibration,
  createDistanceEstimator,
  type DistanceEstimator,
} from './distance-estimator.ts'
import { ViolationTracker } from './violation-tracker.ts'

/** Key of the element's counters in a frame. */
const COUNTER_NAME = 'social-distancing'

/** A point on the floor, in metres. */
const floorPoint = z.strictObject({ x: z.number(), y: z.number() })

/**
 * The pipeline element `social-distancing`. It measures the distances between the people in a
 * frame, marks people who are too close to each other, counts them and reports each new
 * violation as an event.
 */
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
      eventData.extend({
        type: z.literal('violation'),
        with: z.int().min(1),
        distance: z.number(),
      }),
    ),
  }),

  open({ args: { threshold }, config }) {
    const calibration = config?.calibration
    const estimateDistance = createDistanceEstimator(calibration)
    const violations = new ViolationTracker(threshold)

    return {
      metadata: createMetadata(threshold, calibration),

      process(frame) {
        const people = frame.objects.filter(isPerson)
        const tracks = people.map(({ track }) => track).filter(track => track !== undefined)
        violations.startFrame(tracks, frame.pts, frame.discontinuity)

        const pairs = measurePairs(people, frame, estimateDistance)
        const minDistances = findMinDistances(pairs)
        const violators = new Set<DetectedObject>()
        const events: EventData[] = []
        for (const pair of pairs) {
          const { a, b, distance } = pair
          if (a.track === undefined || b.track === undefined) {
            // A violation of people without a track is marked, but it is not counted
            // and causes no event.
            if (distance < threshold) violators.add(a).add(b)
            continue
          }
          const { isViolating, isNew } = violations.update(a.track, b.track, distance, frame.pts)
          if (isViolating) violators.add(a).add(b)
          if (isNew) events.push(createEvent(pair))
        }

        const objects = frame.objects.map(object =>
          isPerson(object)
            ? addAttributes(object, violators.has(object), minDistances.get(object))
            : object,
        )
        return {
          objects,
          counters: { [COUNTER_NAME]: violations.getCounter() },
          events,
        }
      },
    }
  },
})

/** Describes the settings for clients that draw them on the picture. */
function createMetadata(threshold: number, calibration: Calibration | undefined) {
  if (!calibration) return { threshold }
  const { image, world } = calibration
  return { threshold, calibration: { name: 'calibration', coords: image, world } }
}

function isPerson(object: DetectedObject): boolean {
  return object.class === 'person'
}

/** Two people in a frame, and their distance in metres. */
interface MeasuredPair {
  a: DetectedObject
  b: DetectedObject
  distance: number
}

/** Returns every pair of people whose distance can be estimated. */
function measurePairs(
  people: readonly DetectedObject[],
  frame: Frame,
  estimateDistance: DistanceEstimator,
): MeasuredPair[] {
  const pairs: MeasuredPair[] = []
  for (const [index, a] of people.entries()) {
    for (const b of people.slice(index + 1)) {
      const distance = estimateDistance(a.bbox, b.bbox, frame)
      if (distance !== undefined) pairs.push({ a, b, distance })
    }
  }
  return pairs
}

/** Returns the distance of each person to the nearest other person. */
function findMinDistances(pairs: readonly MeasuredPair[]): Map<DetectedObject, number> {
  const minDistances = new Map<DetectedObject, number>()
  for (const { a, b, distance } of pairs) {
    for (const person of [a, b]) {
      const previous = minDistances.get(person) ?? Number.POSITIVE_INFINITY
      minDistances.set(person, Math.min(previous, distance))
    }
  }
  return minDistances
}

function addAttributes(
  person: DetectedObject,
  isViolating: boolean,
  distance: number | undefined,
): DetectedObject {
  const attributes = { ...person.attributes, violation: isViolating }
  if (distance === undefined) return { ...person, attributes }
  return { ...person, attributes: { ...attributes, distance: roundToCentimetres(distance) } }
}

/** Creates the event of a new violation. Both people have a track. */
function createEvent({ a, b, distance }: MeasuredPair): EventData {
  return {
    type: 'violation',
    track: a.track,
    with: b.track,
    class: a.class,
    distance: roundToCentimetres(distance),
    bbox: getBoundingBox(a.bbox, b.bbox),
  }
}

/** Returns the smallest box that contains both boxes. */
function getBoundingBox(a: BBox, b: BBox): BBox {
  const left = Math.min(a.x, b.x)
  const top = Math.min(a.y, b.y)
  const right = Math.max(a.x + a.w, b.x + b.w)
  const bottom = Math.max(a.y + a.h, b.y + b.h)
  return { x: left, y: top, w: right - left, h: bottom - top }
}

function roundToCentimetres(metres: number): number {
  return Math.round(metres * 100) / 100
}

export default definePlugin({ 'social-distancing': socialDistancing })
