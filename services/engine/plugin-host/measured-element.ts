import type { Element } from '@eyrie/element'

const MICROSECONDS_PER_MS = 1000

/** The first frames are all measured, so that an average is available soon. */
const ALWAYS_MEASURED_FRAMES = 100
/** Later, only every 16th frame is measured, because the measurement itself takes time. */
const SAMPLE_INTERVAL_FRAMES = 16

/**
 * Wraps an element (a step of a pipeline) to measure its CPU time per frame, in ms. Only the time
 * until `process` returns is measured: work after the first `await` cannot be distinguished from
 * other work on the same thread.
 */
export function createMeasuredElement(element: Element, onCost: (ms: number) => void): Element {
  let frameCount = 0
  return {
    // Changes if its model is replaced by one that reads other pictures.
    get view() {
      return element.view
    },
    size: element.size,
    metadata: element.metadata,
    process(frame, picture) {
      frameCount += 1
      const isMeasured =
        frameCount <= ALWAYS_MEASURED_FRAMES || frameCount % SAMPLE_INTERVAL_FRAMES === 0
      if (!isMeasured) return element.process(frame, picture)

      const before = process.threadCpuUsage()
      try {
        return element.process(frame, picture)
      } finally {
        const { user, system } = process.threadCpuUsage(before)
        onCost((user + system) / MICROSECONDS_PER_MS)
      }
    },
    close: () => element.close?.(),
  }
}
