import { defineElement, definePlugin, z } from '@eyrie/element'

/**
 * Detects falls from the boxes of tracked people. A person who falls was upright, moves down fast,
 * and then remains wider than high.
 *
 * The proportions of the box and the speed of its fall are the features of V. Vishwakarma, C.
 * Mandal, S. Sural, "Automatic Detection of Human Fall in Video", PReMI 2007. For their limits see
 * J. Willems et al., "How to detect human fall in video? An overview", POCA 2009.
 */

/**
 * Minimum height of the box of a standing person, and maximum height of that of a lying person, as
 * multiples of its width.
 */
const MIN_UPRIGHT_RATIO = 1.3
const MAX_LYING_RATIO = 1
/**
 * During a fall, the centre of the box moves down by at least `MIN_DROP` of the standing person's
 * height within `FALL_S`.
 */
const FALL_S = 1
const MIN_DROP = 0.25
/**
 * With fewer than two frames per second, there may be no frame with the standing person within
 * `FALL_S` before one with the lying person. This is logged after so many slow frames in a row.
 */
const MAX_FRAME_INTERVAL_S = FALL_S / 2
const LOGGED_SLOW_FRAMES = 10
/**
 * A person who is not detected for this long is forgotten. Lying people are detected badly, and a
 * tracker may find them again later.
 */
const TRACK_TIMEOUT_S = 5
const FALLEN_TIMEOUT_S = 60

/** The box of a person in one frame. */
interface Sample {
  seconds: number
  /** Height of the centre above the lower edge of the picture, as a share of the picture. */
  centre: number
  /** Height of the box, as a share of the picture. */
  height: number
  /** Height of the box divided by its width, in pixels. */
  ratio: number
}

interface Person {
  /** The samples of the last second, oldest first. */
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
  state: () => ({
    people: new Map<number, Person>(),
    falls: 0,
    lastFrameAt: undefined as number | undefined,
    /** Number of frames in a row that came too late after the previous one. */
    slowFrames: 0,
  }),

  process({ objects, width, height }, { args, state, clock, log }) {
    const now = clock.seconds
    const intervalS = now - (state.lastFrameAt ?? now)
    state.lastFrameAt = now
    state.slowFrames = intervalS > MAX_FRAME_INTERVAL_S ? state.slowFrames + 1 : 0
    if (state.slowFrames === LOGGED_SLOW_FRAMES) {
      log.warn(
        { intervalS, maxIntervalS: MAX_FRAME_INTERVAL_S },
        'frames are too far apart to detect falls',
      )
    }

    for (const [track, { samples, fellAt }] of state.people) {
      const timeoutS = fellAt === undefined ? TRACK_TIMEOUT_S : FALLEN_TIMEOUT_S
      if (now - samples.at(-1)!.seconds > timeoutS) state.people.delete(track)
    }

    const events = []
    for (const { class: label, track, bbox } of objects) {
      if (label !== 'person' || track === undefined) continue
      const person = state.people.get(track) ?? {
        samples: [],
        fellAt: undefined,
        isReported: false,
      }
      state.people.set(track, person)
      addSample(person, {
        seconds: now,
        centre: 1 - (bbox.y + bbox.h / 2),
        height: bbox.h,
        ratio: (bbox.h * height) / (bbox.w * width),
      })
      if (person.fellAt === undefined || person.isReported) continue
      const lyingSeconds = now - person.fellAt
      if (lyingSeconds < args.lying_s) continue
      person.isReported = true
      events.push({ type: 'fall' as const, track, class: label, bbox, lying_seconds: lyingSeconds })
    }
    state.falls += events.length
    return { counters: { people: { falls: state.falls } }, events }
  },
})

/** Adds a sample, and decides whether the person has fallen or has got up again. */
function addSample(person: Person, sample: Sample): void {
  const recent = person.samples.filter(({ seconds }) => sample.seconds - seconds <= FALL_S)
  person.samples = [...recent, sample]
  if (isUpright(sample)) {
    person.fellAt = undefined
    person.isReported = false
    return
  }
  const hasDropped = recent.some(
    earlier => isUpright(earlier) && earlier.centre - sample.centre >= MIN_DROP * earlier.height,
  )
  if (sample.ratio <= MAX_LYING_RATIO && hasDropped) person.fellAt ??= sample.seconds
}

const isUpright = ({ ratio }: Sample) => ratio >= MIN_UPRIGHT_RATIO

export default definePlugin({ 'fall-detector': fallDetector })
