import {
  type BBox,
  clipToPicture,
  type DetectedObject,
  defineElement,
  definePlugin,
  findLargest,
  getOutput,
  z,
} from '@eyrie/element'
import { PlateVotes } from './plate-votes.ts'

/** The model that finds plates in the picture of a vehicle, and the model that reads a plate. */
const DETECTOR = 'plate-detector'
const READER = 'plate-reader'
/** The characters that the reader knows, in the order of its scores. */
const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_'
/** The character for a place without a character. */
const EMPTY = '_'
/** The engine permits 32 inferences for a frame. A vehicle takes two; others wait for the next. */
const MAX_VEHICLES_PER_FRAME = 16

/**
 * Reads the licence plate of each tracked vehicle in several frames, and reports the plate when
 * enough readings are equal.
 */
const licencePlates = defineElement({
  args: z.strictObject({
    classes: z
      .array(z.string())
      .default(['car', 'truck', 'bus'])
      .meta({ description: 'Classes of vehicles' }),
    min_height: z.number().min(0).max(1).default(0.15).meta({
      description: 'Smaller vehicles are not read: height of the box as a share of the picture',
    }),
    interval_s: z
      .number()
      .min(0)
      .default(0.5)
      .meta({ description: 'Seconds between two readings of a vehicle' }),
    votes: z
      .int()
      .min(1)
      .default(3)
      .meta({ description: 'Equal readings after which a plate is reported' }),
  }),
  events: {
    'licence-plate': z.object({ plate: z.string() }),
  },
  state: () => new PlateVotes(),

  async process({ objects }, { args, state, clock, infer }) {
    const now = clock.seconds

    /** Returns what the plate of a vehicle shows; undefined if none is legible. */
    async function readPlate(vehicle: DetectedObject): Promise<string | undefined> {
      const { objects: plates } = await infer!(DETECTOR, { region: vehicle.bbox })
      const plate = plates.find(({ bbox }) => isVisible(bbox))
      if (!plate) return undefined
      const { dims, data } = getOutput(await infer!(READER, { region: plate.bbox }))
      return decode(data, dims.at(-1)!)
    }

    const events = []
    let readCount = 0
    for (const vehicle of objects) {
      const { track, class: label, bbox } = vehicle
      if (track !== undefined) state.keep(track)
      if (track === undefined || !args.classes.includes(label) || bbox.h < args.min_height) continue
      if (!isVisible(bbox)) continue
      if (!state.isDue(track, now, args.interval_s) || readCount >= MAX_VEHICLES_PER_FRAME) continue
      readCount += 1
      const plate = await readPlate(vehicle)
      if (state.add(track, now, plate, args.votes)) {
        events.push({ type: 'licence-plate' as const, track, class: label, bbox, plate: plate! })
      }
    }
    const named = objects.map(object => {
      const plate = object.track === undefined ? undefined : state.find(object.track)
      return plate === undefined
        ? object
        : { ...object, attributes: { ...object.attributes, plate } }
    })
    return { objects: named, events }
  },
})

/**
 * Whether a part of a box is in the picture. Trackers and detectors can place a box outside, where
 * a model has nothing to read.
 */
function isVisible(bbox: BBox): boolean {
  const { w, h } = clipToPicture(bbox)
  return w > 0 && h > 0
}

/**
 * Returns the text with the best character at each place; undefined if all places are empty. The
 * scores of a place follow each other, one for each of `characterCount` characters.
 */
function decode(scores: ArrayLike<number>, characterCount: number): string | undefined {
  let text = ''
  for (let start = 0; start + characterCount <= scores.length; start += characterCount) {
    const placeScores = Float32Array.from({ length: characterCount }, (_, i) => scores[start + i]!)
    text += ALPHABET[findLargest(placeScores)] ?? EMPTY
  }
  return text.replaceAll(EMPTY, '') || undefined
}

export default definePlugin({ 'licence-plates': licencePlates })
