import { createRequire } from 'node:module'
import type { Mat } from '@techstark/opencv-js'

export type { Mat }

/**
 * OpenCV. It must never be awaited, returned by a promise or imported dynamically: it has a `then` of its own that resolves
 * with itself again, for ever. So it is required, and what is awaited here holds nothing.
 */
export const cv: typeof import('@techstark/opencv-js') = createRequire(import.meta.url)(
  '@techstark/opencv-js',
)

await new Promise<void>(compiled => {
  if (cv.Mat) compiled()
  else cv.onRuntimeInitialized = compiled
})

/** Gaussian mixture of every pixel's past (Zivkovic 2004); the package's types do not have it. */
export interface BackgroundSubtractor {
  /** Marks in `mask` what does not belong to the background: 255. A learning rate of 1 begins anew, −1 is automatic. */
  apply(image: Mat, mask: Mat, learningRate: number): void
  delete(): void
}

export function createBackgroundSubtractor(history: number, threshold: number): BackgroundSubtractor {
  const { BackgroundSubtractorMOG2 } = cv as unknown as {
    BackgroundSubtractorMOG2: new (
      history: number,
      varianceThreshold: number,
      detectShadows: boolean,
    ) => BackgroundSubtractor
  }
  // In a grey picture everything that is darker than the background would be taken for a shadow.
  return new BackgroundSubtractorMOG2(history, threshold, false)
}
