import type { Pipeline } from '../../node-gst/index.ts'
import type { Clock } from '../../runtime/clock.ts'

/** Measures the monotonic time at a pipeline's running time 0. */
export interface ArrivalAnchor {
  /** Returns the time in µs; undefined while the pipeline has no clock. */
  measureUs(): number | undefined
}

/** Number of recent measurements to consider. */
const MAX_MEASUREMENTS = 8

export function createArrivalAnchor(pipeline: Pipeline, clock: Pick<Clock, 'now'>): ArrivalAnchor {
  let measurements: number[] = []
  return {
    measureUs() {
      const nowMs = clock.now()
      const runningNs = pipeline.runningTime()
      if (runningNs === null) return undefined

      const measuredUs = nowMs * 1000 - runningNs / 1000
      measurements = [...measurements, measuredUs].slice(-MAX_MEASUREMENTS)
      // If the thread is preempted between the two readings, the difference is too small, so the
      // largest is the most accurate.
      return Math.max(...measurements)
    },
  }
}
