import { attachMediaSource } from '../../video/media-source.ts'
import { extendDuration, type Fragment, parseFragment, SOUND_TRACK } from './live-fragment.ts'
import { createPtsWatermark } from './pts-watermark.ts'
import { createSourceBufferQueue } from './source-buffer-queue.ts'
import { createMediaClock, type MediaClock } from './stream-clock.ts'

/**
 * The `MediaSource` behind a video element, filled with fragmented MP4 of a live stream. It holds
 * one epoch, which is an uninterrupted part of the stream: timestamps only increase.
 *
 * Timestamps of the stream are in ticks of 90 kHz. A frame is presented at its `pts` and decoded at
 * its `dts`. Media time is the time of the video element, in seconds.
 */
export interface Fmp4Buffer {
  /** Undefined until the first fragment. */
  readonly clock: MediaClock | undefined
  /**
   * Media time up to which all frames and all sound are buffered. Undefined until the first frame.
   */
  liveEdge(): number | undefined
  /**
   * Appends an initialization segment or a fragment. Returns the fragment of a video frame,
   * otherwise undefined.
   */
  append(segment: ArrayBuffer): Fragment | undefined
  /** Must be called before an initialization segment with another codec. */
  changeType(type: string): void
  /** Removes everything before the newest keyframe, while a hidden page plays nothing. */
  trimToNewest(): void
}

export interface Fmp4BufferOptions {
  video: HTMLVideoElement
  /** MIME type with the codecs, such as `video/mp4; codecs="avc1.64001f"`. */
  type: string
  /** Called when all appended segments are in the buffer. */
  onIdle(): void
  /**
   * Called when the browser has rejected a segment or closed the media source. The buffer is
   * then no longer usable.
   */
  onEnded(reason: string): void
}

/** How much played video is retained. */
const RETENTION_S = 5
/**
 * Media Source Extensions (W3C, 2016), section 3.5.8: a frame more than two frame durations after
 * the previous one is a discontinuity, and everything up to the next keyframe is dropped. Frames
 * therefore declare a long duration. The next frame cuts it short.
 */
const DECLARED_DURATION_S = 1

/** Attaches a new media source to the video element. */
export function createFmp4Buffer({ video, type, onIdle, onEnded }: Fmp4BufferOptions): Fmp4Buffer {
  const appendedEnd = createAppendedEnd()
  let clock: MediaClock | undefined
  /** Media times of the keyframes in the buffer, in ascending order. */
  let keyframes: number[] = []

  const queue = createSourceBufferQueue<Fragment>({
    onAppended(fragments) {
      for (const fragment of fragments) {
        appendedEnd.add(fragment)
        // `append` counts no fragment of sound as a keyframe.
        if (fragment.isKeyframe && clock) keyframes.push(clock.toMediaTime(fragment.pts))
      }
      trimTo(keyframes.findLast(time => time < video.currentTime - RETENTION_S))
    },
    onIdle,
    onFull: makeRoom,
    onError: end,
  })

  function end(error: Error | MediaError | null) {
    queue.close()
    const reason = 'the browser rejected the video'
    onEnded(error ? `${reason}: ${error.message}` : reason)
  }

  /**
   * Removes everything before a keyframe. A removal must end at a keyframe, because other
   * frames need earlier ones.
   */
  function trimTo(keyframe: number | undefined) {
    if (keyframe === undefined || keyframes[0] === undefined || keyframes[0] >= keyframe) return
    keyframes = keyframes.filter(time => time >= keyframe)
    queue.runNext(buffer => buffer.remove(0, keyframe))
  }

  /**
   * Frees space in a full buffer. Playback, which is then far behind the newest frame, seeks to
   * the remaining frames.
   */
  function makeRoom() {
    if (keyframes.length > 1) return trimTo(keyframes.at(-1))
    keyframes = []
    queue.skipToKeyframe()
    queue.runNext(buffer => buffer.remove(0, Number.POSITIVE_INFINITY))
  }

  function startClock(firstDts: number) {
    clock = createMediaClock(firstDts)
    const { timestampOffset } = clock
    queue.enqueue(buffer => {
      buffer.timestampOffset = timestampOffset
    })
  }

  const source = attachMediaSource(video)
  const onOpen = () => queue.attach(source.addSourceBuffer(type))
  source.addEventListener('sourceopen', onOpen, { once: true })
  for (const event of ['sourceended', 'sourceclose']) {
    source.addEventListener(event, () => end(video.error))
  }

  return {
    get clock() {
      return clock
    },

    liveEdge() {
      const endPts = appendedEnd.pts()
      return endPts === undefined ? undefined : clock?.toMediaTime(endPts)
    },

    append(segment) {
      const fragment = parseFragment(segment)
      if (!fragment) {
        queue.enqueue(buffer => buffer.appendBuffer(segment))
        return undefined
      }

      if (!clock) startClock(fragment.dts)
      if (fragment.track === SOUND_TRACK) {
        // Not a keyframe, so that frames dropped up to the next keyframe are dropped
        // together with their sound.
        queue.append(segment, { ...fragment, isKeyframe: false })
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
      trimTo(keyframes.at(-1))
    },
  }
}

/** Tracks the end of the frames and the sound that were appended. */
function createAppendedEnd() {
  const watermark = createPtsWatermark()
  let soundEndPts: number | undefined

  return {
    add(fragment: Fragment) {
      if (fragment.track === SOUND_TRACK) soundEndPts = fragment.pts + fragment.duration
      else watermark.add(fragment)
    },

    /** The pts up to which both are complete. Undefined before the first frame. */
    pts(): number | undefined {
      const videoPts = watermark.value()
      if (videoPts === undefined || soundEndPts === undefined) return videoPts
      return Math.min(videoPts, soundEndPts)
    },
  }
}
