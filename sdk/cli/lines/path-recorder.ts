import { type DetectedObject, type Point, TICKS_PER_SECOND } from '@eyrie/contract'
import {
  clipToPicture,
  cropToRegion,
  DEFAULT_REGION_RATIO,
  getCenter,
  region,
} from '@eyrie/element'
import { z } from 'zod'

/** Minimum distance of two stored positions, as a share of the picture. */
const MIN_STEP = 0.01
/** An object that was not detected for longer starts a new path. */
const MAX_GAP_TICKS = 5 * TICKS_PER_SECOND
/** If a path has more positions, every second one is deleted. */
const MAX_POSITIONS = 200
/** If there are more paths, the oldest is deleted, so that a camera can be watched for days. */
const MAX_PATHS = 500

/** The path of a tracked object: its positions in normalized coordinates, oldest first. */
export type Path = readonly Point[]

/** The arguments of `line-crossing` that determine which part of an object crosses a line. */
const regionArgs = z.object({
  region: region.default('bottom'),
  ratio: z.number().default(DEFAULT_REGION_RATIO),
})

/** A path that is being recorded. */
interface OpenPath {
  /** Id of the track. */
  track: number
  points: Point[]
  /** Stream time of the last detection, in ticks. */
  lastDetected: number
}

/** Records the paths of the tracked objects of one channel, frame by frame. */
export class PathRecorder {
  readonly #regionArgs: z.output<typeof regionArgs>
  /** All recorded paths, oldest first. */
  readonly #paths: OpenPath[] = []
  /** The paths that can be continued, by id of the track. */
  readonly #open = new Map<number, OpenPath>()
  #frames = 0
  #hasUntracked = false

  /**
   * `args` are the arguments of the element `line-crossing`. The paths then consist of the same
   * points of objects that the element observes.
   */
  constructor(args: unknown = {}) {
    this.#regionArgs = regionArgs.parse(args)
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
    const { region, ratio } = this.#regionArgs
    for (const { track, bbox } of objects) {
      if (track === undefined) {
        this.#hasUntracked = true
        continue
      }
      const visibleBox = clipToPicture(bbox)
      this.#addPosition(track, pts, getCenter(cropToRegion(visibleBox, region, ratio)))
    }
  }

  /**
   * Ends all paths. Must be called after an interruption, because the tracker may use the same ids
   * for other objects.
   */
  interrupt(): void {
    this.#open.clear()
  }

  #addPosition(track: number, pts: number, position: Point): void {
    const path = this.#open.get(track)
    const gap = path ? pts - path.lastDetected : 0
    if (!path || gap < 0 || gap > MAX_GAP_TICKS) {
      this.#startPath({ track, points: [position], lastDetected: pts })
      return
    }

    path.lastDetected = pts
    const last = path.points.at(-1)!
    if (Math.hypot(position.x - last.x, position.y - last.y) < MIN_STEP) return
    path.points.push(position)
    if (path.points.length > MAX_POSITIONS) {
      path.points = path.points.filter((_, index) => index % 2 === 0)
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
