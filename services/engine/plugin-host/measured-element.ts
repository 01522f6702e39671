import type { Element } from '@eyrie/element'

/** Enough for a first average; asking the kernel at every frame would cost as much as a small element does. */
const ALL_MEASURED = 100
const ONE_IN = 16

/**
 * The element, with its CPU time told for its first frames and then for some: that of the calling thread until it answers
 * or first waits. What it does after waiting cannot be told from what others do meanwhile, and is left out.
 */
export function measured(element: Element, onCost: (ms: number) => void): Element {
  let frames = 0
  return {
    view: element.view,
    size: element.size,
    metadata: element.metadata,
    process(frame, picture) {
      frames += 1
      if (frames > ALL_MEASURED && frames % ONE_IN !== 0) return element.process(frame, picture)
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
