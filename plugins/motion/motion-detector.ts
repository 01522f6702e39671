import type { DetectedObject, Picture } from '@eyrie/element'
import { merge, type Region } from './merge.ts'
import { type BackgroundSubtractor, createBackgroundSubtractor, cv, type Mat } from './opencv.ts'

/** Where more of the picture changes at once, it is the light or the camera. */
const mostOfPicture = 0.5
/** Parts of one object that are nearer to each other than this share of the picture's width belong together. */
const gapShare = 0.015

export interface MotionOptions {
  /** Share of the picture that a region's moving pixels must make up. */
  readonly minArea: number
  /** Frames that make up the background. */
  readonly history: number
  /** Squared distance from the background, in variances, from which on a pixel moves. */
  readonly threshold: number
}

/** Finds what moves in grey pictures of one size. Holds memory outside JavaScript until `close`. */
export class MotionDetector {
  readonly width: number
  readonly height: number
  readonly #options: MotionOptions
  readonly #background: BackgroundSubtractor
  readonly #grey: Mat
  readonly #mask: Mat
  readonly #speck: Mat
  readonly #components = { labels: new cv.Mat(), stats: new cv.Mat(), centroids: new cv.Mat() }
  #isNew = true

  constructor({ width, height }: { width: number; height: number }, options: MotionOptions) {
    this.width = width
    this.height = height
    this.#options = options
    this.#background = createBackgroundSubtractor(options.history, options.threshold)
    this.#grey = new cv.Mat(height, width, cv.CV_8UC1)
    this.#mask = new cv.Mat(height, width, cv.CV_8UC1)
    this.#speck = cv.getStructuringElement(cv.MORPH_ELLIPSE, new cv.Size(3, 3))
  }

  /** Takes the next picture as all the background there is. */
  forget(): void {
    this.#isNew = true
  }

  detect({ data }: Picture): DetectedObject[] {
    this.#grey.data.set(data)
    cv.GaussianBlur(this.#grey, this.#grey, new cv.Size(5, 5), 0)
    if (!this.#isNew) this.#background.apply(this.#grey, this.#mask, -1)
    const pixels = this.width * this.height
    if (this.#isNew || cv.countNonZero(this.#mask) > mostOfPicture * pixels) {
      this.#background.apply(this.#grey, this.#mask, 1)
      this.#isNew = false
      return []
    }
    cv.morphologyEx(this.#mask, this.#mask, cv.MORPH_OPEN, this.#speck)
    return merge(this.#regions(), gapShare * this.width)
      .filter(({ moving }) => moving >= this.#options.minArea * pixels)
      .map(region => this.#toObject(region))
  }

  close(): void {
    const { labels, stats, centroids } = this.#components
    const mats = [this.#grey, this.#mask, this.#speck, labels, stats, centroids]
    for (const owned of [this.#background, ...mats]) owned.delete()
  }

  /** Connected regions of the mask. */
  #regions(): Region[] {
    const { labels, stats, centroids } = this.#components
    const count = cv.connectedComponentsWithStats(this.#mask, labels, stats, centroids)
    // The first is what does not move.
    return Array.from({ length: count - 1 }, (_, i) => {
      const [x, y, w, h, moving] = stats.data32S.subarray(5 * (i + 1))
      return { x: x!, y: y!, w: w!, h: h!, moving: moving! }
    })
  }

  #toObject({ x, y, w, h, moving }: Region): DetectedObject {
    return {
      class: 'motion',
      score: Math.min(1, moving / (w * h)),
      bbox: { x: x / this.width, y: y / this.height, w: w / this.width, h: h / this.height },
    }
  }
}
