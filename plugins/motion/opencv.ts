import { createRequire } from 'node:module'
import type { Mat } from '@techstark/opencv-js'

export type { Mat }

/**
 * The OpenCV library, compiled to WebAssembly.
 *
 * The module has a `then` method that resolves with the module itself, so a promise that is
 * resolved with the module remains pending forever. `require` therefore loads the module, and the
 * promise below resolves without a value.
 */
export const cv: typeof import('@techstark/opencv-js') = createRequire(import.meta.url)(
  '@techstark/opencv-js',
)

await new Promise<void>(resolve => {
  if (cv.Mat) resolve()
  else cv.onRuntimeInitialized = resolve
})

/**
 * Background model with a Gaussian mixture per pixel (MOG2, Zivkovic 2004). Missing in
 * the package's types.
 */
export interface BackgroundSubtractor {
  /**
   * Writes 255 to `mask` for foreground pixels. A learning rate of 1 resets the
   * model, −1 is automatic.
   */
  apply(image: Mat, mask: Mat, learningRate: number): void
  delete(): void
}

/** The greatest `int` of OpenCV. */
const MAX_INT = 2 ** 31 - 1

export function createBackgroundSubtractor(
  history: number,
  threshold: number,
): BackgroundSubtractor {
  const { BackgroundSubtractorMOG2 } = cv as unknown as {
    BackgroundSubtractorMOG2: new (
      history: number,
      varianceThreshold: number,
      detectShadows: boolean,
    ) => BackgroundSubtractor
  }
  // In a grey picture, everything darker than the background would be classified as shadow.
  return new BackgroundSubtractorMOG2(Math.min(history, MAX_INT), threshold, false)
}
