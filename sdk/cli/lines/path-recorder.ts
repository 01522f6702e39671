import { type DetectedObject, type Point, TICKS_PER_SECOND } from '@eyrie/contract'
import {
  clipToPicture,
  cropToRegion,
  DEFAULT_REGION_RATIO,
  getCenter,
  region,
} from '@eyrie/element'
import { z } from 'zod'

/** Positions that are closer to the last one are not stored. The unit is the picture. */
const MIN_STEP = 0.01
/** An object that was not detected for longer starts a new path. */
const MAX_GAP_TICKS = 5 * TICKS_PER_SECOND
/** A path with more positions is thinned out. */
const MAX_POSITIONS = 200
/** The oldest paths are deleted, so that a camera can be watched for days. */
const MAX_PATHS = 500

/** The path of a tracked object: its positions in the picture from 0 to 1, oldest first. */
export type Path = readonly Point[]

/** The arguments of `line-crossing` that determine which part of an object crosses a line. */
const positionArgs = z.object({
  region: region.default('bottom'),
  ratio: z.number().default(DEFAULT_REGION_RATIO),
})

interface OpenPath {
  track: number
  points: Point[]
  /** Stream time of the last detection. */
  lastDetected: number
}

/** Records the paths of the tracked objects of one channel, frame by frame. */
export class PathRecorder {
  readonly #position: z.output<typeof positionArgs>
  readonly #paths: OpenPath[] = []
  readonly #open = new Map<number, OpenPath>()
  #frames = 0
  #hasUntracked = false

  /**
   * `args` are the arguments of the element `line-crossing`, so that it counts exactly these paths.
   */
  constructor(args: unknown = {}) {
    this.#position = positionArgs.parse(args)
  }

  /** Number of recorded frames. */
  get frames(): number {
    return this.#frames
  }

  /** The recorded paths, including those of objects that did not move. */
  get paths(): Path[] {
    return this.#paths.map(({ points }) => points)
  }

  /** Whether objects were detected but none of them was tracked. */
  get isUntracked(): boolean {
    return this.#hasUntracked && this.#paths.length === 0
  }

  /** Records the objects of a frame at stream time `pts`. */
  addFrame(pts: number, objects: readonly DetectedObject[]): void {
    this.#frames += 1
    const { region, ratio } = this.#position
    for (const { track, bbox } of objects) {
      if (track === undefined) {
        this.#hasUntracked = true
      } else {
        this.#addPosition(track, pts, getCenter(cropToRegion(clipToPicture(bbox), region, ratio)))
      }
    }
  }

  /** Ends all paths, because the tracker may use its ids again for other objects. */
  interrupt(): void {
    this.#open.clear()
  }

  #addPosition(track: number, pts: number, position: Point): void {
    const open = this.#open.get(track)
    const gap = open ? pts - open.lastDetected : 0
    if (!open || gap < 0 || gap > MAX_GAP_TICKS) {
      this.#startPath({ track, points: [position], lastDetected: pts })
      return
    }
    open.lastDetected = pts
    const last = open.points.at(-1)!
    if (Math.hypot(position.x - last.x, position.y - last.y) < MIN_STEP) return
    open.points.push(position)
    if (open.points.length > MAX_POSITIONS) {
      open.points = open.points.filter((_, index) => index % 2 === 0)
    }
  }

  #startPath(path: OpenPath): void {
    this.#open.set(path.track, path)
    this.#paths.push(path)
    if (this.#paths.length <= MAX_PATHS) return
    const oldest = this.#paths.shift()!
    if (this.#open.get(oldest.track) === oldest) this.#open.delete(oldest.track)
  }
}
