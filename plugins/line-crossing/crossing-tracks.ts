import {
  clipToPicture,
  cropToRegion,
  type DetectedObject,
  type Frame,
  getCenter,
  type Point,
  point,
  type Region,
  z,
} from '@eyrie/element'
import { CrossingDetector, type LineCrossing } from './crossing-detector.ts'

export interface CrossingTracksOptions {
  lines: readonly (readonly Point[])[]
  /** The part of the box that represents an object. Its center crosses the lines. */
  region: Region
  /** Share of the box that the region covers. */
  ratio: number
  /** Maximum number of frames over which the path of a lost object is continued. */
  history: number
}

/** The crossing of a line by a tracked object. */
export interface TrackCrossing extends LineCrossing {
  track: number
  object: DetectedObject
}

/** A tracked object, with the number of the frame in which it was last detected. */
interface Track {
  detector: CrossingDetector
  lastFrame: number
}

/** Follows the tracked objects of a video from frame to frame, and detects their crossings. */
export class CrossingTracks {
  readonly #options: CrossingTracksOptions
  readonly #tracks = new Map<number, Track>()
  #frameCount = 0
  /**
   * The greatest track id so far. Undefined before the first frame, and before the first one
   * after an interruption, when ids start again: its tracks may have crossed lines already, and
   * must not be counted again.
   */
  #lastTrack: number | undefined

  constructor(options: CrossingTracksOptions) {
    this.#options = options
  }

  /** Moves all tracks to their positions in the next frame. Returns their crossings. */
  advance({ objects, discontinuity }: Frame): TrackCrossing[] {
    this.#frameCount += 1
    // All tracks are lost when the video is interrupted.
    if (discontinuity) {
      this.#tracks.clear()
      this.#lastTrack = undefined
    }
    this.#deleteLost()

    const crossings: TrackCrossing[] = []
    for (const object of objects) {
      const { track } = object
      if (track === undefined) continue
      for (const crossing of this.#move(track, object)) {
        crossings.push({ ...crossing, track, object })
      }
    }
    this.#lastTrack = Math.max(this.#lastTrack ?? 0, ...objects.map(({ track }) => track ?? 0))
    return crossings
  }

  #deleteLost(): void {
    for (const [track, { lastFrame }] of this.#tracks) {
      if (this.#frameCount - lastFrame > this.#options.history + 1) this.#tracks.delete(track)
    }
  }

  #move(track: number, { bbox, attributes }: DetectedObject): LineCrossing[] {
    const { lines, region, ratio } = this.#options
    const position = getCenter(cropToRegion(clipToPicture(bbox), region, ratio))
    const isNew = this.#lastTrack !== undefined && track > this.#lastTrack
    const path = isNew ? alignTrail(attributes?.trail, position) : [position]
    const [start = position] = path
    const detector = this.#tracks.get(track)?.detector ?? new CrossingDetector(lines, start)
    this.#tracks.set(track, { detector, lastFrame: this.#frameCount })
    return path.flatMap(point => detector.move(point, bbox))
  }
}

const trail = z.array(point).min(1)

/**
 * Returns the path of a new track up to its current position. Trackers follow an object for some
 * frames before it becomes a track, and return its positions in these frames as the trail. The
 * trail is shifted to end at `position`, because it may follow another point of the box. Without a
 * trail, the path is only the position.
 */
function alignTrail(attribute: unknown, position: Point): Point[] {
  const { data: points = [] } = trail.safeParse(attribute)
  const end = points.at(-1)
  if (!end) return [position]
  return points.map(({ x, y }) => ({ x: x + position.x - end.x, y: y + position.y - end.y }))
}
