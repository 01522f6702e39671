import type { Element } from '@eyrie/element'

/**
 * The element, with its CPU time told for each frame: that of the calling thread until it answers or first waits. What
 * it does after waiting cannot be told from what others do meanwhile, and is left out.
 */
export function measured(element: Element, onCost: (ms: number) => void): Element {
  return {
    view: element.view,
    size: element.size,
    metadata: element.metadata,
    process(frame, picture) {
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
