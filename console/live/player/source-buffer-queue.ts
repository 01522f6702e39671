/** An operation on a source buffer, such as a removal. The buffer is not updating when it is called. */
type Operation = (buffer: SourceBuffer) => void

interface Append<Fragment> {
  segment: ArrayBuffer
  fragment: Fragment
}

/** Runs operations on a `SourceBuffer`, which accepts only one at a time, in order. */
export interface SourceBufferQueue<Fragment> {
  /** Sets the buffer and starts the queue. */
  attach(buffer: SourceBuffer): void
  enqueue(operation: Operation): void
  /** Runs an operation before everything else in the queue. */
  runNext(operation: Operation): void
  append(segment: ArrayBuffer, fragment: Fragment): void
  /** Drops the next fragment and the following ones that cannot be decoded without it. */
  skipToKeyframe(): void
  close(): void
}

export interface SourceBufferQueueOptions<Fragment> {
  /** The fragments were passed to the buffer. */
  onAppended(fragments: Fragment[]): void
  /** The queue is empty. */
  onIdle(): void
  /** The buffer is full. The next fragment is retried after an operation, unless it is skipped. */
  onFull(): void
  onError(error: Error): void
}

/** Fragments in the queue are appended together: one large append takes a browser no longer than one small one. */
const MAX_APPEND_BYTES = 4 << 20
/** A page that is opened in the background appends nothing for a while. */
const MAX_QUEUED_BYTES = 16 << 20

export function createSourceBufferQueue<Fragment extends { keyframe: boolean }>(
  options: SourceBufferQueueOptions<Fragment>,
): SourceBufferQueue<Fragment> {
  let queue: (Operation | Append<Fragment>)[] = []
  let buffer: SourceBuffer | undefined
  /** Fragments were dropped: those up to the next keyframe cannot be decoded. */
  let needsKeyframe = false

  function proceed() {
    try {
      while (buffer && !buffer.updating && queue.length > 0) {
        const [next] = queue
        if (isAppend(next!)) appendTogether(buffer)
        else {
          queue.shift()
          next!(buffer)
        }
      }
    } catch (error) {
      options.onError(error as Error)
    }
  }

  function appendTogether(buffer: SourceBuffer) {
    const appends: Append<Fragment>[] = []
    let bytes = 0
    for (const entry of queue) {
      if (!isAppend(entry) || (bytes > 0 && bytes + entry.segment.byteLength > MAX_APPEND_BYTES)) break
      appends.push(entry)
      bytes += entry.segment.byteLength
    }
    try {
      buffer.appendBuffer(concatenate(appends, bytes))
    } catch (error) {
      if ((error as Error).name !== 'QuotaExceededError') throw error
      return options.onFull()
    }
    queue.splice(0, appends.length)
    options.onAppended(appends.map(({ fragment }) => fragment))
  }

  const countQueuedBytes = () =>
    queue.reduce((sum, entry) => sum + (isAppend(entry) ? entry.segment.byteLength : 0), 0)

  function dropAppends(upTo = queue.length) {
    queue = queue.filter((entry, index) => !isAppend(entry) || index >= upTo)
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
      if (needsKeyframe && !fragment.keyframe) return
      needsKeyframe = false
      if (fragment.keyframe && countQueuedBytes() > MAX_QUEUED_BYTES) dropAppends()
      queue.push({ segment, fragment })
      proceed()
    },
    skipToKeyframe() {
      const first = queue.findIndex(isAppend)
      const keyframe = queue.findIndex((entry, i) => i > first && isAppend(entry) && entry.fragment.keyframe)
      needsKeyframe = keyframe < 0
      dropAppends(needsKeyframe ? undefined : keyframe)
    },
    close() {
      buffer = undefined
      dropAppends()
    },
  }
}

const isAppend = <Fragment>(entry: Operation | Append<Fragment>): entry is Append<Fragment> =>
  typeof entry !== 'function'

function concatenate(appends: Append<unknown>[], bytes: number): BufferSource {
  const [first] = appends
  if (appends.length === 1) return first!.segment
  const all = new Uint8Array(bytes)
  let offset = 0
  for (const { segment } of appends) {
    all.set(new Uint8Array(segment), offset)
    offset += segment.byteLength
  }
  return all
}
