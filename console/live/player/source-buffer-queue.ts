/** What a source buffer is asked to do: one thing at a time, in order. */
export interface Steps<Fragment> {
  /** From now on there is a buffer. */
  begin(buffer: SourceBuffer): void
  /** Something to be done when all before it is done. */
  add(step: Step): void
  /** As `add`, before all that waits. */
  next(step: Step): void
  append(segment: ArrayBuffer, fragment: Fragment): void
  /** Leaves out the next fragment and those after it that are of no use without it. */
  skipToKeyframe(): void
  close(): void
}

type Step = (buffer: SourceBuffer) => void

interface Append<Fragment> {
  segment: ArrayBuffer
  fragment: Fragment
}

export interface StepsOptions<Fragment> {
  /** These are part of the buffer now. */
  onAppended(fragments: Fragment[]): void
  /** Nothing waits any more. */
  onIdle(): void
  /** The buffer takes the next fragment only when something has been removed from it or the fragment is left out. */
  onFull(): void
  onError(error: Error): void
}

/** Fragments that have come together are handed over together: a browser needs as long for one as for a hundred. */
const MOST_AT_ONCE_BYTES = 4 << 20
/** A browser that opens the page in the background takes nothing for a while. */
const MOST_WAITING_BYTES = 16 << 20

export function createSteps<Fragment extends { keyframe: boolean }>(
  options: StepsOptions<Fragment>,
): Steps<Fragment> {
  let waiting: (Step | Append<Fragment>)[] = []
  let waitingBytes = 0
  let buffer: SourceBuffer | undefined
  let needsKeyframe = false

  function proceed() {
    try {
      while (buffer && !buffer.updating && waiting.length > 0) {
        const [first] = waiting
        if (isAppend(first!)) appendTogether(buffer)
        else {
          waiting.shift()
          first!(buffer)
        }
      }
    } catch (error) {
      options.onError(error as Error)
    }
  }

  function appendTogether(buffer: SourceBuffer) {
    const appends: Append<Fragment>[] = []
    let bytes = 0
    for (const each of waiting) {
      if (!isAppend(each) || (bytes > 0 && bytes + each.segment.byteLength > MOST_AT_ONCE_BYTES)) break
      appends.push(each)
      bytes += each.segment.byteLength
    }
    try {
      buffer.appendBuffer(joined(appends, bytes))
    } catch (error) {
      if ((error as Error).name !== 'QuotaExceededError') throw error
      return options.onFull()
    }
    waiting.splice(0, appends.length)
    waitingBytes -= bytes
    options.onAppended(appends.map(({ fragment }) => fragment))
  }

  function leaveOut(isSpare: (append: Append<Fragment>, index: number) => boolean) {
    waiting = waiting.filter((each, index) => !isAppend(each) || !isSpare(each, index))
    waitingBytes = waiting.reduce((sum, each) => sum + (isAppend(each) ? each.segment.byteLength : 0), 0)
  }

  return {
    begin(begun) {
      buffer = begun
      buffer.addEventListener('updateend', () => {
        proceed()
        if (waiting.length === 0 && !begun.updating) options.onIdle()
      })
      proceed()
    },
    add(step) {
      waiting.push(step)
      proceed()
    },
    next(step) {
      waiting.unshift(step)
      proceed()
    },
    append(segment, fragment) {
      if (needsKeyframe && !fragment.keyframe) return
      needsKeyframe = false
      if (fragment.keyframe && waitingBytes > MOST_WAITING_BYTES) leaveOut(() => true)
      waiting.push({ segment, fragment })
      waitingBytes += segment.byteLength
      proceed()
    },
    skipToKeyframe() {
      const first = waiting.findIndex(isAppend)
      const keyframe = waiting.findIndex((each, i) => i > first && isAppend(each) && each.fragment.keyframe)
      needsKeyframe = keyframe < 0
      leaveOut((_, index) => needsKeyframe || index < keyframe)
    },
    close() {
      buffer = undefined
      leaveOut(() => true)
    },
  }
}

const isAppend = <Fragment>(step: Step | Append<Fragment>): step is Append<Fragment> =>
  typeof step !== 'function'

function joined(appends: Append<unknown>[], bytes: number): BufferSource {
  const [first] = appends
  if (appends.length === 1) return first!.segment
  const all = new Uint8Array(bytes)
  let at = 0
  for (const { segment } of appends) {
    all.set(new Uint8Array(segment), at)
    at += segment.byteLength
  }
  return all
}
