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
import { type Calibration, createDistanceEstimator } from './distance-estimator.ts'
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

    /**
     * A violation of people without a track is marked, but it is not counted and causes no event.
     */
    function updateViolation(a: Person, b: Person, distance: number, pts: number) {
      const trackA = a.object.track
      const trackB = b.object.track
      if (trackA === undefined || trackB === undefined) {
        return { isViolating: distance < threshold, isNew: false }
      }
      return violations.update(trackA, trackB, distance, pts)
    }

    return {
      metadata: createMetadata(threshold, calibration),

      process(frame) {
        const people = frame.objects.filter(isPerson).map(createPerson)
        const tracks = people.map(({ object }) => object.track).filter(track => track !== undefined)
        violations.startFrame(tracks, frame.pts, frame.discontinuity)

        const events: EventData[] = []
        for (const [i, a] of people.entries()) {
          for (const b of people.slice(i + 1)) {
            const distance = estimateDistance(a.object.bbox, b.object.bbox, frame)
            if (distance === undefined) continue
            a.minDistance = Math.min(a.minDistance, distance)
            b.minDistance = Math.min(b.minDistance, distance)

            const { isViolating, isNew } = updateViolation(a, b, distance, frame.pts)
            if (isViolating) a.isViolating = b.isViolating = true
            if (isNew) events.push(createEvent(a.object, b.object, distance))
          }
        }

        const results = new Map(people.map(person => [person.object, addAttributes(person)]))
        const objects = frame.objects.map(object => results.get(object) ?? object)
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

/** A person in a frame, and what the comparison with all other people has found. */
interface Person {
  object: DetectedObject
  isViolating: boolean
  /** Distance to the nearest other person in metres, infinite if it is unknown. */
  minDistance: number
}

function createPerson(object: DetectedObject): Person {
  return { object, isViolating: false, minDistance: Number.POSITIVE_INFINITY }
}

function addAttributes({ object, isViolating, minDistance }: Person): DetectedObject {
  const attributes = { ...object.attributes, violation: isViolating }
  if (minDistance === Number.POSITIVE_INFINITY) return { ...object, attributes }
  return { ...object, attributes: { ...attributes, distance: roundToCentimetres(minDistance) } }
}

/** Creates the event of a new violation. Both people have a track. */
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
