import { type Fragment, prolong, readFragment, SOUND_TRACK } from './live-fragment.ts'
import { createReach } from './pts-watermark.ts'
import { createSteps } from './source-buffer-queue.ts'
import { type Timeline, timelineFrom } from './media-clock.ts'

/** A media source fed with segments of one epoch, whose stream time never goes back. */
export interface Feed {
  /** Undefined until the first fragment. */
  readonly timeline: Timeline | undefined
  /** Media time up to which every frame, and all the sound, has come and is in the buffer. */
  edge(): number | undefined
  /** Initialisation segments and fragments, in their order. Returns what is told of a frame. */
  append(segment: ArrayBuffer): Fragment | undefined
  /** What follows is coded differently; its initialisation segment comes next. */
  changeType(type: string): void
  /** Nobody looks: nothing is kept but what is needed to go on from the newest frame. */
  keepNewest(): void
}

export interface FeedOptions {
  video: HTMLVideoElement
  type: string
  /** All segments that have come are part of the buffer. */
  onAppended(): void
  /** The browser refused what it was given, or another feed took over: this one is of no more use. */
  onEnded(reason: string): void
}

/** So much of the past stays in the buffer, in seconds. */
const KEPT_S = 5
/**
 * A browser takes a frame that comes later than two durations after the one before for the beginning of something else,
 * and drops all up to the next keyframe. Frames are therefore said to last long; the next one ends them.
 */
const FRAME_LASTS_S = 1

/** Takes over the video element. */
export function createFeed({ video, type, onAppended, onEnded }: FeedOptions): Feed {
  const source = new MediaSource()
  const reach = createReach()
  let keyframes: number[] = []
  let timeline: Timeline | undefined
  let soundEnd: number | undefined

  const steps = createSteps<Fragment>({
    onAppended(fragments) {
      for (const fragment of fragments) {
        if (fragment.track === SOUND_TRACK) {
          soundEnd = fragment.pts + fragment.duration
          continue
        }
        reach.add(fragment)
        if (fragment.keyframe) keyframes.push(timeline!.mediaTimeOf(fragment.pts))
      }
      trim(keyframes.findLast(time => time < video.currentTime - KEPT_S))
    },
    onIdle: onAppended,
    onFull: makeRoom,
    onError: end,
  })

  function end(error: Error | MediaError | null) {
    steps.close()
    onEnded(`the browser refused the video${error ? `: ${error.message}` : ''}`)
  }

  /** Up to a keyframe, since what depends on a removed frame goes with it. */
  function trim(upTo: number | undefined) {
    if (upTo === undefined || keyframes[0] === undefined || keyframes[0] >= upTo) return
    keyframes = keyframes.filter(time => time >= upTo)
    steps.next(buffer => buffer.remove(0, upTo))
  }

  /** The buffer takes no more: playback is behind, and jumps to what is left. */
  function makeRoom() {
    if (keyframes.length > 1) return trim(keyframes.at(-1))
    keyframes = []
    steps.skipToKeyframe()
    steps.next(buffer => buffer.remove(0, Number.POSITIVE_INFINITY))
  }

  const url = URL.createObjectURL(source)
  source.addEventListener(
    'sourceopen',
    () => {
      URL.revokeObjectURL(url)
      steps.begin(source.addSourceBuffer(type))
    },
    { once: true },
  )
  for (const ended of ['sourceended', 'sourceclose']) source.addEventListener(ended, () => end(video.error))
  video.src = url

  return {
    get timeline() {
      return timeline
    },

    edge() {
      const pts = reach.pts()
      return pts === undefined ? undefined : timeline?.mediaTimeOf(Math.min(pts, soundEnd ?? pts))
    },

    append(segment) {
      const fragment = readFragment(segment)
      if (!fragment) {
        steps.add(buffer => buffer.appendBuffer(segment))
        return undefined
      }
      if (!timeline) {
        timeline = timelineFrom(fragment.dts)
        const { timestampOffset } = timeline
        steps.add(buffer => {
          buffer.timestampOffset = timestampOffset
        })
      }
      if (fragment.track === SOUND_TRACK) {
        // Nothing begins with it: where frames are left out up to a keyframe, so is the sound between.
        steps.append(segment, { ...fragment, keyframe: false })
        return undefined
      }
      prolong(segment, FRAME_LASTS_S)
      steps.append(segment, fragment)
      return fragment
    },

    changeType(newType) {
      steps.add(buffer => buffer.changeType(newType))
    },

    keepNewest() {
      trim(keyframes.at(-1))
    },
  }
}
