/**
 * Memory of the thread of an element, beyond which it is ended: for the objects on its heap,
 * and for its buffers.
 */
export const MAX_MEMORY_MIB = 512

const BYTES_PER_MIB = 2 ** 20
/** An element that stores each picture fills a gigabyte in a second. */
const CHECK_INTERVAL_MS = 200

/** The reason when V8 ends a thread, because its heap is full. */
export const HEAP_EXCEEDED = `it uses more than ${MAX_MEMORY_MIB} MiB of memory for objects`

/**
 * Watches the buffers of the calling thread, whose size V8 does not limit. Calls `onExcess` once
 * with the reason when they use too much memory.
 */
export function watchBuffers(onExcess: (reason: string) => void): void {
  const timer = setInterval(() => {
    const { arrayBuffers } = process.memoryUsage()
    const mib = Math.round(arrayBuffers / BYTES_PER_MIB)
    if (mib <= MAX_MEMORY_MIB) return
    clearInterval(timer)
    onExcess(`it uses ${mib} MiB of memory for buffers, more than ${MAX_MEMORY_MIB}`)
  }, CHECK_INTERVAL_MS)
  timer.unref()
}
