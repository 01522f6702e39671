import type { DetectedObject, Picture } from '@eyrie/element'
import { type MotionRegion, mergeRegions } from './motion-regions.ts'
import { type BackgroundSubtractor, createBackgroundSubtractor, cv, type Mat } from './opencv.ts'

/** If more of the picture changes at once, the light has changed or the camera has moved. */
const MAX_MOVING_SHARE = 0.5
/** Regions closer than this share of the picture's width are parts of one object. */
const MAX_GAP_SHARE = 0.015

export interface MotionOptions {
  /** Minimum number of moving pixels in an object, as a share of the picture. */
  readonly minArea: number
  /** Number of frames that make up the background model. */
  readonly history: number
  /** Squared distance from the background, in variances, above which a pixel is moving. */
  readonly threshold: number
}

/** Detects moving regions in grey pictures of one size. Holds WebAssembly memory until `close` is called. */
export class MotionDetector {
  readonly width: number
  readonly height: number
  readonly #options: MotionOptions
  readonly #background: BackgroundSubtractor
  readonly #grey: Mat
  readonly #mask: Mat
  readonly #openingKernel: Mat
  readonly #components = { labels: new cv.Mat(), stats: new cv.Mat(), centroids: new cv.Mat() }
  #hasBackground = false

  constructor({ width, height }: { width: number; height: number }, options: MotionOptions) {
    this.width = width
    this.height = height
    this.#options = options
    this.#background = createBackgroundSubtractor(options.history, options.threshold)
    this.#grey = new cv.Mat(height, width, cv.CV_8UC1)
    this.#mask = new cv.Mat(height, width, cv.CV_8UC1)
    this.#openingKernel = cv.getStructuringElement(cv.MORPH_ELLIPSE, new cv.Size(3, 3))
  }

  /** Discards the background model. The next picture becomes the new background. */
  reset(): void {
    this.#hasBackground = false
  }

  detect({ data }: Picture): DetectedObject[] {
    this.#grey.data.set(data)
    cv.GaussianBlur(this.#grey, this.#grey, new cv.Size(5, 5), 0)
    if (this.#hasBackground) this.#background.apply(this.#grey, this.#mask, -1)
    const pixels = this.width * this.height
    if (!this.#hasBackground || cv.countNonZero(this.#mask) > MAX_MOVING_SHARE * pixels) {
      this.#background.apply(this.#grey, this.#mask, 1)
      this.#hasBackground = true
      return []
    }
    cv.morphologyEx(this.#mask, this.#mask, cv.MORPH_OPEN, this.#openingKernel)
    return mergeRegions(this.#findRegions(), MAX_GAP_SHARE * this.width)
      .filter(({ movingPixels }) => movingPixels >= this.#options.minArea * pixels)
      .map(region => this.#toObject(region))
  }

  close(): void {
    const { labels, stats, centroids } = this.#components
    const mats = [this.#grey, this.#mask, this.#openingKernel, labels, stats, centroids]
    for (const resource of [this.#background, ...mats]) resource.delete()
  }

  /** Returns the connected components of the mask. */
  #findRegions(): MotionRegion[] {
    const { labels, stats, centroids } = this.#components
    const count = cv.connectedComponentsWithStats(this.#mask, labels, stats, centroids)
    // Component 0 is the background.
    return Array.from({ length: count - 1 }, (_, i) => {
      const [x, y, w, h, movingPixels] = stats.data32S.subarray(5 * (i + 1))
      return { x: x!, y: y!, w: w!, h: h!, movingPixels: movingPixels! }
    })
  }

  #toObject({ x, y, w, h, movingPixels }: MotionRegion): DetectedObject {
    return {
      class: 'motion',
      score: Math.min(1, movingPixels / (w * h)),
      bbox: { x: x / this.width, y: y / this.height, w: w / this.width, h: h / this.height },
    }
  }
}
