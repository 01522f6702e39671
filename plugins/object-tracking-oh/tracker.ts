import { type DetectedObject, type Frame, TICKS_PER_SECOND } from '@eyrie/element'
import { anyClass, firstStep, isStrong, pair } from '@eyrie/element/tracking'
import { isNearer, sightOf } from './occlusion.ts'
import type { PathOptions } from './path.ts'
import { asSeen, whereItWas, withinDoubt } from './similarity.ts'
import { Track } from './track.ts'

export interface TrackerOptions extends PathOptions {
  /** Analysed frames that a track lives without a match. */
  readonly maxAge: number
  /** Matches before a track is shown. */
  readonly minHits: number
}

/** Of whom no more than this should be seen is detected weakly, or not at all. */
const hiddenShare = 0.5

/**
 * Follows objects that hide each other. As in OC-SORT (Cao et al. 2023, "Observation-Centric SORT: Rethinking SORT for
 * Robust Multi-Object Tracking") a track out of sight is predicted, found again by where it should be, by its direction
 * or by where it was last, and led along the way between once it is. Ours is that it is worked out beforehand from the
 * other tracks what of each should be seen: a detection goes to who stands in front, and a part is taken for the part
 * that it is.
 */
export class Tracker {
  readonly #options: TrackerOptions
  #tracks: Track[] = []
  #numbered = 0
  #pts = 0

  constructor(options: TrackerOptions) {
    this.#options = options
  }

  /** The tracked objects in sight at the next frame. */
  next({ objects, pts, discontinuity }: Frame): DetectedObject[] {
    if (discontinuity) this.#tracks = []
    for (const track of this.#tracks) track.predict((pts - this.#pts) / TICKS_PER_SECOND)
    this.#pts = pts
    this.#lookBehind()
    this.#associate(objects)
    const shown = this.#tracks.filter(track => this.#isEstablished(track) && track.missed === 0)
    for (const track of shown) track.number ??= ++this.#numbered
    return shown.map(track => track.toObject())
  }

  #isEstablished({ hits }: Track): boolean {
    return hits >= this.#options.minHits
  }

  /** Works out what of each track should be seen behind those who were there in the frame before. */
  #lookBehind(): void {
    const boxes = this.#tracks.map(({ expected }) => expected)
    const present = boxes.filter((_, i) => this.#tracks[i]!.missed === 0)
    for (const [i, track] of this.#tracks.entries()) {
      const own = boxes[i]!
      track.sight = sightOf(
        own,
        present.filter(other => isNearer(other, own)),
      )
    }
  }

  #associate(detections: readonly DetectedObject[]): void {
    const strong = detections.filter(isStrong)
    const weak = detections.filter(detection => !isStrong(detection))
    const isFresh = ({ hits, missed }: Track) => hits === 1 && missed === 0
    const fresh = this.#tracks.filter(isFresh)
    const known = this.#tracks.filter(track => !isFresh(track))
    const present = new Set(known.filter(({ missed }) => missed === 0))
    for (const track of this.#tracks) track.missed += 1

    const first = pair(known, strong, asSeen(0.3))
    const mayBeWeak = (track: Track) => present.has(track) || track.sight.share < hiddenShare
    const second = pair(first.tracks.filter(mayBeWeak), weak, asSeen(0.3))
    const still = pair(first.tracks.filter(isMissed), first.detections, whereItWas(0.3))
    const lost = still.tracks.filter(track => !present.has(track))
    const again = pair(lost, still.detections, withinDoubt)
    const renamed = pair(still.tracks.filter(isMissed), again.detections, anyClass(0.6))
    const begun = pair(fresh, renamed.detections, firstStep(0.3))
    pair(begun.tracks, second.detections, asSeen(0.5))

    const { maxAge } = this.#options
    this.#tracks = [
      ...this.#tracks.filter(track => track.missed <= (this.#isEstablished(track) ? maxAge : 0)),
      ...begun.detections.map(detection => new Track(detection, this.#options)),
    ]
  }
}

const isMissed = ({ missed }: Track) => missed > 0
