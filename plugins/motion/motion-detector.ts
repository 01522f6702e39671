import type { DetectedObject, Picture } from '@eyrie/element'
import { type MotionRegion, mergeRegions } from './motion-regions.ts'
import { type BackgroundSubtractor, createBackgroundSubtractor, cv, type Mat } from './opencv.ts'

/**
 * If a larger share of the picture changes at once, the light has changed or the camera has moved.
 */
const MAX_MOVING_SHARE = 0.5
/** Regions that are closer than this share of the picture width are parts of one object. */
const MAX_GAP_SHARE = 0.015

/** Learning rate of OpenCV's background model: it adapts as fast as `history` says. */
const ADAPT_TO_HISTORY = -1
/** Learning rate of OpenCV's background model: the picture becomes the background. */
const RESET_TO_PICTURE = 1

/**
 * Columns of the statistics that OpenCV returns for a component: left, top, width, height, area.
 */
const STATS_COLUMNS = 5

/** Size in pixels of the blur that reduces noise. */
const BLUR_SIZE = 5
/** Size in pixels of the specks that are removed from the mask of moving pixels. */
const SPECK_SIZE = 3

export interface MotionOptions {
  /** Minimum number of moving pixels in an object, as a share of the picture. */
  readonly minArea: number
  /** Number of frames that make up the background model. */
  readonly history: number
  /** Squared distance from the background, in variances, above which a pixel is moving. */
  readonly threshold: number
}

/**
 * Detects moving regions in grey pictures of one size. Holds WebAssembly memory
 * until `close` is called.
 */
export class MotionDetector {
  readonly width: number
  readonly height: number
  readonly #options: MotionOptions
  readonly #background: BackgroundSubtractor
  readonly #grey: Mat
  /** 255 for each moving pixel, otherwise 0. */
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
    this.#openingKernel = cv.getStructuringElement(
      cv.MORPH_ELLIPSE,
      new cv.Size(SPECK_SIZE, SPECK_SIZE),
    )
  }

  /** Discards the background model. The next picture becomes the new background. */
  reset(): void {
    this.#hasBackground = false
  }

  /**
   * Returns the moving objects in the next picture. Returns none if the picture
   * becomes the new background.
   */
  detect({ data }: Picture): DetectedObject[] {
    this.#grey.data.set(data)
    cv.GaussianBlur(this.#grey, this.#grey, new cv.Size(BLUR_SIZE, BLUR_SIZE), 0)
    if (!this.#subtractBackground()) return []

    // Opening removes specks that are smaller than the kernel.
    cv.morphologyEx(this.#mask, this.#mask, cv.MORPH_OPEN, this.#openingKernel)
    const regions = mergeRegions(this.#findRegions(), MAX_GAP_SHARE * this.width)
    const minPixels = this.#options.minArea * this.width * this.height
    return regions
      .filter(({ movingPixels }) => movingPixels >= minPixels)
      .map(region => this.#toObject(region))
  }

  /** Frees the WebAssembly memory. */
  close(): void {
    const { labels, stats, centroids } = this.#components
    const mats = [this.#grey, this.#mask, this.#openingKernel, labels, stats, centroids]
    for (const resource of [this.#background, ...mats]) resource.delete()
  }

  /**
   * Writes the moving pixels of the picture to the mask, and adapts the background model. If there
   * is no usable model, the picture becomes the new background, and the result is false.
   */
  #subtractBackground(): boolean {
    const maxMovingPixels = MAX_MOVING_SHARE * this.width * this.height
    if (this.#hasBackground) {
      this.#background.apply(this.#grey, this.#mask, ADAPT_TO_HISTORY)
      if (cv.countNonZero(this.#mask) <= maxMovingPixels) return true
    }

    this.#background.apply(this.#grey, this.#mask, RESET_TO_PICTURE)
    this.#hasBackground = true
    return false
  }

  /** Returns the connected components of the mask. */
  #findRegions(): MotionRegion[] {
    const { labels, stats, centroids } = this.#components
    const count = cv.connectedComponentsWithStats(this.#mask, labels, stats, centroids)
    // Component 0 is the background.
    return Array.from({ length: count - 1 }, (_, i) => {
      const [x, y, w, h, movingPixels] = stats.data32S.subarray(STATS_COLUMNS * (i + 1))
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
