import type { Element } from '@eyrie/element'

/** The first frames are all measured, for a first average; later ones only sampled, since measuring has a cost, too. */
const ALWAYS_MEASURED = 100
const SAMPLE_INTERVAL = 16

/**
 * Wraps an element to measure its CPU time, in ms: that of the calling thread until `process` returns. Work after the first
 * `await` of the element cannot be attributed and is not included.
 */
export function measureElement(element: Element, onCost: (ms: number) => void): Element {
  let frames = 0
  return {
    view: element.view,
    size: element.size,
    metadata: element.metadata,
    process(frame, picture) {
      frames += 1
      if (frames > ALWAYS_MEASURED && frames % SAMPLE_INTERVAL !== 0) return element.process(frame, picture)
      const before = process.threadCpuUsage()
      try {
        return element.process(frame, picture)
      } finally {
        const { user, system } = process.threadCpuUsage(before)
        onCost((user + system) / 1000)
      }
    },
    close: () => element.close?.(),
  }
}
