import { extendDuration, type Fragment, parseFragment, SOUND_TRACK } from './live-fragment.ts'
import { createPtsWatermark } from './pts-watermark.ts'
import { createSourceBufferQueue } from './source-buffer-queue.ts'
import { createMediaClock, type MediaClock } from './stream-clock.ts'

/** A `MediaSource` that is filled with the segments of one epoch, in which stream time only increases. */
export interface Fmp4Buffer {
  /** Undefined until the first fragment. */
  readonly clock: MediaClock | undefined
  /** Media time up to which all frames, and the sound if there is any, are buffered. */
  liveEdge(): number | undefined
  /** Appends an initialisation segment or a fragment. Returns the fragment if it is a video frame. */
  append(segment: ArrayBuffer): Fragment | undefined
  /** The codec changes with the next initialisation segment. */
  changeType(type: string): void
  /** Removes everything before the newest keyframe. Used while the page is hidden. */
  trimToNewest(): void
}

export interface Fmp4BufferOptions {
  video: HTMLVideoElement
  type: string
  /** All received segments are in the buffer. */
  onIdle(): void
  /** The browser rejected a segment, or the media source was closed. This buffer is no longer usable. */
  onEnded(reason: string): void
}

const RETENTION_S = 5
/**
 * A browser treats a frame that arrives more than two frame durations after the previous one as a discontinuity and
 * drops everything up to the next keyframe. Frames are therefore declared long; the next frame ends them.
 */
const DECLARED_DURATION_S = 1

/** Attaches a new media source to the video element. */
export function createFmp4Buffer({ video, type, onIdle, onEnded }: Fmp4BufferOptions): Fmp4Buffer {
  const source = new MediaSource()
  const watermark = createPtsWatermark()
  let clock: MediaClock | undefined
  let soundEndPts: number | undefined
  /** Media times of the keyframes in the buffer. */
  let keyframes: number[] = []

  const queue = createSourceBufferQueue<Fragment>({
    onAppended(fragments) {
      for (const fragment of fragments) {
        if (fragment.track === SOUND_TRACK) {
          soundEndPts = fragment.pts + fragment.duration
          continue
        }
        watermark.add(fragment)
        if (fragment.keyframe) keyframes.push(clock!.toMediaTime(fragment.pts))
      }
      trim(keyframes.findLast(time => time < video.currentTime - RETENTION_S))
    },
    onIdle,
    onFull: makeRoom,
    onError: end,
  })

  function end(error: Error | MediaError | null) {
    queue.close()
    onEnded(`the browser rejected the video${error ? `: ${error.message}` : ''}`)
  }

  /** Removes everything before a keyframe. Frames that depend on a removed frame must be removed, too. */
  function trim(keyframe: number | undefined) {
    if (keyframe === undefined || keyframes[0] === undefined || keyframes[0] >= keyframe) return
    keyframes = keyframes.filter(time => time >= keyframe)
    queue.runNext(buffer => buffer.remove(0, keyframe))
  }

  /** The buffer is full because playback is behind. Playback seeks to what is left. */
  function makeRoom() {
    if (keyframes.length > 1) return trim(keyframes.at(-1))
    keyframes = []
    queue.skipToKeyframe()
    queue.runNext(buffer => buffer.remove(0, Number.POSITIVE_INFINITY))
  }

  const url = URL.createObjectURL(source)
  source.addEventListener(
    'sourceopen',
    () => {
      URL.revokeObjectURL(url)
      queue.attach(source.addSourceBuffer(type))
    },
    { once: true },
  )
  for (const event of ['sourceended', 'sourceclose']) source.addEventListener(event, () => end(video.error))
  video.src = url

  function startClock(firstDts: number) {
    clock = createMediaClock(firstDts)
    const { timestampOffset } = clock
    queue.enqueue(buffer => {
      buffer.timestampOffset = timestampOffset
    })
  }

  return {
    get clock() {
      return clock
    },

    liveEdge() {
      const pts = watermark.value()
      return pts === undefined ? undefined : clock?.toMediaTime(Math.min(pts, soundEndPts ?? pts))
    },

    append(segment) {
      const fragment = parseFragment(segment)
      if (!fragment) {
        queue.enqueue(buffer => buffer.appendBuffer(segment))
        return undefined
      }
      if (!clock) startClock(fragment.dts)
      if (fragment.track === SOUND_TRACK) {
        // Not a keyframe: when frames are dropped up to the next keyframe, the sound in between is dropped, too.
        queue.append(segment, { ...fragment, keyframe: false })
        return undefined
      }
      extendDuration(segment, DECLARED_DURATION_S)
      queue.append(segment, fragment)
      return fragment
    },

    changeType(newType) {
      queue.enqueue(buffer => buffer.changeType(newType))
    },

    trimToNewest() {
      trim(keyframes.at(-1))
    },
  }
}
