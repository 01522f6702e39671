import { type DetectedObject, defineElement, definePlugin, z } from '@eyrie/element'

/**
 * Detects falls from the boxes of tracked people, without pictures and without sound: a person who was upright moves down
 * fast, is wider than high afterwards, and stays so. The proportions of the box and the speed of its fall are the features of
 * V. Vishwakarma, C. Mandal, S. Sural, "Automatic Detection of Human Fall in Video", PReMI 2007; for their limits see
 * J. Willems et al., "How to detect human fall in video? An overview", POCA 2009.
 */

/** Height of the box divided by its width, in pixels: of people who stand, and of people who lie. */
const MIN_UPRIGHT_RATIO = 1.3
const MAX_LYING_RATIO = 1
/** Time within which the centre of the box falls, and by how much of the height of the standing person at least. */
const FALL_S = 1
const MIN_DROP = 0.25
/** A track that is not detected for this long has ended. */
const FORGOTTEN_AFTER_S = 5

interface Sample {
  seconds: number
  /** Height of the centre above the lower edge of the picture, and height of the box, in 0..1 of the picture. */
  centre: number
  height: number
  isUpright: boolean
}

interface Person {
  /** The last second, oldest first. */
  samples: Sample[]
  /** When the person fell; undefined while the person has not fallen. */
  fellAt: number | undefined
  isReported: boolean
}

const fallDetector = defineElement({
  args: z.strictObject({
    lying_s: z.number().min(0).default(3).meta({
      description: 'Seconds for which a person must lie before the fall is reported',
    }),
  }),
  events: {
    fall: z.object({ lying_seconds: z.number() }),
  },
  state: () => ({ people: new Map<number, Person>(), falls: 0 }),

  process({ objects, width, height }, { args, state, clock }) {
    const now = clock.seconds
    for (const [track, { samples }] of state.people)
      if (now - samples.at(-1)!.seconds > FORGOTTEN_AFTER_S) state.people.delete(track)

    const fallen = objects.filter(object => {
      if (object.class !== 'person' || object.track === undefined) return false
      const person = state.people.get(object.track) ?? { samples: [], fellAt: undefined, isReported: false }
      state.people.set(object.track, person)
      const ratio = (object.bbox.h * height) / (object.bbox.w * width)
      update(person, toSample(object, ratio, now), ratio)
      if (person.fellAt === undefined || person.isReported || now - person.fellAt < args.lying_s) return false
      person.isReported = true
      return true
    })
    state.falls += fallen.length
    return {
      counters: { people: { falls: state.falls } },
      events: fallen.map(({ track, class: label, bbox }) => {
        const lying_seconds = now - state.people.get(track!)!.fellAt!
        return { type: 'fall' as const, track, class: label, bbox, lying_seconds }
      }),
    }
  },
})

const toSample = ({ bbox: { y, h } }: DetectedObject, ratio: number, seconds: number): Sample => ({
  seconds,
  centre: 1 - (y + h / 2),
  height: h,
  isUpright: ratio >= MIN_UPRIGHT_RATIO,
})

function update(person: Person, sample: Sample, ratio: number): void {
  const recent = person.samples.filter(({ seconds }) => sample.seconds - seconds <= FALL_S)
  person.samples = [...recent, sample]
  if (sample.isUpright) {
    person.fellAt = undefined
    person.isReported = false
    return
  }
  const hasDropped = recent.some(
    ({ isUpright, centre, height }) => isUpright && centre - sample.centre >= MIN_DROP * height,
  )
  if (ratio <= MAX_LYING_RATIO && hasDropped) person.fellAt ??= sample.seconds
}

export default definePlugin({ 'fall-detector': fallDetector })
