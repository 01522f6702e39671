import { type Fragment, readFragment } from './fragment.ts'
import { type Timeline, timelineFrom } from './timeline.ts'

/** A media source fed with segments of one epoch, whose stream time never goes back. */
export interface Feed {
  /** Undefined until the first fragment. */
  readonly timeline: Timeline | undefined
  /** Initialisation segments and fragments, in their order. */
  append(segment: ArrayBuffer): Fragment | undefined
  /** What follows is coded differently; its initialisation segment comes next. */
  changeType(type: string): void
}

export interface FeedOptions {
  video: HTMLVideoElement
  type: string
  /** A segment has become part of the buffer. */
  onAppended(): void
  /** The browser refused what it was given, or another feed took over: this one is of no more use. */
  onEnded(reason: string): void
}

/** So much of the past stays in the buffer, in seconds. */
const KEPT_S = 5

/** Takes over the video element. */
export function createFeed({ video, type, onAppended, onEnded }: FeedOptions): Feed {
  const source = new MediaSource()
  const operations: ((buffer: SourceBuffer) => void)[] = []
  const keyframes: number[] = []
  let buffer: SourceBuffer | undefined
  let timeline: Timeline | undefined

  /** A source buffer does one thing at a time, and says when it has done it. */
  const proceed = () => {
    try {
      while (buffer && !buffer.updating && operations.length > 0) operations.shift()!(buffer)
    } catch (error) {
      end(error as Error)
    }
  }
  const end = (error: Error | MediaError | null) => {
    operations.length = 0
    onEnded(`the browser refused the video${error ? `: ${error.message}` : ''}`)
  }
  const enqueue = (operation: (buffer: SourceBuffer) => void) => {
    operations.push(operation)
    proceed()
  }

  /** Up to a keyframe, since what depends on a removed frame goes with it. */
  const trim = () => {
    const upTo = keyframes.findLast(time => time < video.currentTime - KEPT_S)
    if (upTo === undefined || keyframes[0] === upTo) return
    keyframes.splice(0, keyframes.indexOf(upTo))
    enqueue(buffer => buffer.remove(0, upTo))
  }

  const url = URL.createObjectURL(source)
  source.addEventListener(
    'sourceopen',
    () => {
      URL.revokeObjectURL(url)
      buffer = source.addSourceBuffer(type)
      buffer.addEventListener('updateend', () => {
        onAppended()
        proceed()
      })
      proceed()
    },
    { once: true },
  )
  for (const ended of ['sourceended', 'sourceclose']) source.addEventListener(ended, () => end(video.error))
  video.src = url

  return {
    get timeline() {
      return timeline
    },

    append(segment) {
      const fragment = readFragment(segment)
      if (fragment && !timeline) {
        timeline = timelineFrom(fragment.dts)
        const { timestampOffset } = timeline
        enqueue(buffer => {
          buffer.timestampOffset = timestampOffset
        })
      }
      enqueue(buffer => buffer.appendBuffer(segment))
      if (fragment?.keyframe && timeline) {
        keyframes.push(timeline.mediaTimeOf(fragment.pts))
        trim()
      }
      return fragment
    },

    changeType(newType) {
      enqueue(buffer => buffer.changeType(newType))
    },
  }
}
