/**
 * An operation on a source buffer, such as a removal. It is called while the buffer is not
 * updating.
 */
type Operation = (buffer: SourceBuffer) => void

/** A segment to append, and the fragment that it contains. */
interface Append<Fragment> {
  segment: ArrayBuffer
  fragment: Fragment
}

type Entry<Fragment> = Operation | Append<Fragment>

/**
 * A queue of operations on a `SourceBuffer`, the browser's buffer of a video element. A
 * source buffer is updated asynchronously, and accepts an operation only when the
 * previous one has finished.
 */
export interface SourceBufferQueue<Fragment> {
  /** Sets the buffer and starts the queue. */
  attach(buffer: SourceBuffer): void
  enqueue(operation: Operation): void
  /** Adds an operation at the front of the queue. */
  runNext(operation: Operation): void
  append(segment: ArrayBuffer, fragment: Fragment): void
  /**
   * Drops the next fragment and the fragments up to the following keyframe, which cannot
   * be decoded without it.
   */
  skipToKeyframe(): void
  close(): void
}

export interface SourceBufferQueueOptions<Fragment> {
  /** Called with the fragments that were passed to the buffer. */
  onAppended(fragments: Fragment[]): void
  /** Called when the queue is empty and the buffer is not updating. */
  onIdle(): void
  /**
   * Called when the buffer has no space for the next fragment. Must free space, or skip the
   * fragment.
   */
  onFull(): void
  onError(error: Error): void
}

/**
 * Queued fragments are appended together, because a large append takes a browser no
 * longer than a small one.
 */
const MAX_APPEND_BYTES = 4 << 20
/** Limits the queue of a page that was opened in the background, where browsers delay appends. */
const MAX_QUEUED_BYTES = 16 << 20

export function createSourceBufferQueue<Fragment extends { isKeyframe: boolean }>(
  options: SourceBufferQueueOptions<Fragment>,
): SourceBufferQueue<Fragment> {
  let queue: Entry<Fragment>[] = []
  let buffer: SourceBuffer | undefined
  /**
   * Whether fragments were dropped, so that the following ones cannot be decoded up
   * to the next keyframe.
   */
  let needsKeyframe = false

  /** Executes operations until the queue is empty or the buffer is busy with one of them. */
  function proceed() {
    try {
      while (buffer && !buffer.updating) {
        const next = queue[0]
        if (!next) return
        if (isAppend(next)) {
          appendTogether(buffer)
        } else {
          queue.shift()
          next(buffer)
        }
      }
    } catch (error) {
      options.onError(error as Error)
    }
  }

  /** Appends several fragments at once. They remain in the queue if the buffer is full. */
  function appendTogether(buffer: SourceBuffer) {
    const appends = listNextAppends(queue)
    try {
      buffer.appendBuffer(concatenate(appends.map(({ segment }) => segment)))
    } catch (error) {
      if ((error as Error).name !== 'QuotaExceededError') throw error
      return options.onFull()
    }
    queue.splice(0, appends.length)
    options.onAppended(appends.map(({ fragment }) => fragment))
  }

  /** Drops the appends before this index of the queue. Other operations remain. */
  function dropAppendsBefore(endIndex: number) {
    queue = queue.filter((entry, index) => !isAppend(entry) || index >= endIndex)
  }

  return {
    attach(attached) {
      buffer = attached
      attached.addEventListener('updateend', () => {
        proceed()
        if (queue.length === 0 && !attached.updating) options.onIdle()
      })
      proceed()
    },
    enqueue(operation) {
      queue.push(operation)
      proceed()
    },
    runNext(operation) {
      queue.unshift(operation)
      proceed()
    },
    append(segment, fragment) {
      if (needsKeyframe && !fragment.isKeyframe) return
      needsKeyframe = false
      if (fragment.isKeyframe && countBytes(queue) > MAX_QUEUED_BYTES) {
        dropAppendsBefore(queue.length)
      }
      queue.push({ segment, fragment })
      proceed()
    },
    skipToKeyframe() {
      const skippedIndex = queue.findIndex(isAppend)
      const keyframeIndex = queue.findIndex(
        (entry, index) => index > skippedIndex && isAppend(entry) && entry.fragment.isKeyframe,
      )
      // Without a keyframe in the queue, later fragments are dropped, too.
      needsKeyframe = keyframeIndex < 0
      dropAppendsBefore(needsKeyframe ? queue.length : keyframeIndex)
    },
    close() {
      buffer = undefined
      dropAppendsBefore(queue.length)
    },
  }
}

const isAppend = <Fragment>(entry: Entry<Fragment>): entry is Append<Fragment> =>
  typeof entry !== 'function'

/** Returns the appends at the front of a queue, at least one, up to the size limit. */
function listNextAppends<Fragment>(queue: readonly Entry<Fragment>[]): Append<Fragment>[] {
  const appends: Append<Fragment>[] = []
  let byteCount = 0
  for (const entry of queue) {
    if (!isAppend(entry)) break
    byteCount += entry.segment.byteLength
    if (appends.length > 0 && byteCount > MAX_APPEND_BYTES) break
    appends.push(entry)
  }
  return appends
}

/** Returns the size of all segments in a queue. */
function countBytes<Fragment>(queue: readonly Entry<Fragment>[]): number {
  const segments = queue.filter(isAppend).map(({ segment }) => segment)
  return segments.reduce((sum, { byteLength }) => sum + byteLength, 0)
}

function concatenate(segments: ArrayBuffer[]): BufferSource {
  const [first] = segments
  if (segments.length === 1 && first) return first
  const byteCount = segments.reduce((sum, { byteLength }) => sum + byteLength, 0)
  const joined = new Uint8Array(byteCount)
  let offset = 0
  for (const segment of segments) {
    joined.set(new Uint8Array(segment), offset)
    offset += segment.byteLength
  }
  return joined
}
