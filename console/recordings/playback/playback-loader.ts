import type { RecordedFrame } from '@eyrie/contract/recording'
import { TICKS_PER_SECOND } from '@eyrie/contract/ticks'
import { ApiError } from '../../api/api-request.ts'
import { attachMediaSource } from '../../video/media-source.ts'
import { createFragmentSplicer, type SplicedFragment } from './fragment-splicer.ts'
import { createFrameIndex, type FrameIndex } from './frame-index.ts'
import { createPlaybackBuffer, type PlaybackBuffer } from './playback-buffer.ts'
import { isInitSegment } from './playback-fragment.ts'
import { createGate } from './playback-gate.ts'
import { type RecordingRequest, requestMetadata, requestRecording } from './recording-requests.ts'

/** What a loader loads, and how it communicates with the player. */
export interface PlaybackLoaderOptions {
  video: HTMLVideoElement
  stream: number
  /** Where to start, in ms since 1970. */
  fromMs: number
  playbackRate(): number
  /** A seek is waiting for its frame, so loading must not pause. */
  isSeeking(): boolean
  /** More frames are loaded, or the recording is complete. */
  onFrames(): void
  onMetadata(frame: RecordedFrame): void
  onError(reason: string): void
}

/**
 * Loads a recording into a media source, a few seconds ahead of playback. Browsers open only six
 * connections to a server, for all tabs together, so each request is for a short part that is read
 * at once.
 */
export interface PlaybackLoader {
  readonly frames: FrameIndex
  /** All frames are loaded that can be played in this media source. */
  readonly isComplete: boolean
  readonly hasSound: boolean
  /** Must be called when playback has advanced, so that more can be loaded. */
  resume(): void
  /** Ends loading. */
  close(): void
}

/** The next part is loaded when less video than this is ahead of playback, at normal speed. */
const AHEAD_S = 10
/** The same at the end of the recording, which may grow until then. */
const AHEAD_AT_END_S = 3
/** Length of a part. */
const PART_S = 20
/**
 * Length of the range that is searched for the part after a gap. The media service lists
 * all files of the range before it responds.
 */
const MAX_GAP_S = 2 * 3600
/**
 * After this many requests without new frames, the recording is complete. The first one is for the
 * next part, the second one for a part after a gap, and the third one is sent just before playback
 * reaches the end.
 */
const MAX_EMPTY_REQUESTS = 3
/** A failed request is repeated after this time, while there is video to play. */
const RETRY_MS = 1000
const MIN_AHEAD_TO_RETRY_S = 1

/** The place of a response in the loaded recording. */
interface PartPlace {
  /** Seconds to add to its times. */
  offsetS: number
  /** Where the loaded video ends, in seconds. */
  endS: number
}

/** Attaches a new media source to the video element. */
export function openPlaybackLoader(options: PlaybackLoaderOptions): PlaybackLoader {
  const { video, stream, fromMs, isSeeking, onFrames, onMetadata } = options
  const frames = createFrameIndex()
  const splicer = createFragmentSplicer()
  const progress = { isComplete: false, hasSound: false }
  let buffer: PlaybackBuffer | undefined
  const closing = new AbortController()
  const { signal } = closing
  const gate = createGate(signal)

  const source = attachMediaSource(video)
  const sourceOpen = once(source, 'sourceopen')

  /** How much video is loaded ahead of playback. */
  function getAheadS(): number {
    const { buffered, currentTime } = video
    return buffered.length === 0 ? 0 : buffered.end(buffered.length - 1) - currentTime
  }

  async function load() {
    let emptyRequests = 0
    while (emptyRequests < MAX_EMPTY_REQUESTS) {
      await gate.waitUntil(() => isSeeking() || getAheadS() < getMinAheadS(emptyRequests))
      const hasLoaded = await loadPart(emptyRequests === 0 ? PART_S : MAX_GAP_S)
      emptyRequests = hasLoaded ? 0 : emptyRequests + 1
    }

    for (const fragment of splicer.finish()) await append(fragment)
    progress.isComplete = true
    if (source.readyState === 'open') source.endOfStream()
    onFrames()
  }

  function getMinAheadS(emptyRequests: number): number {
    const isAtEnd = emptyRequests === MAX_EMPTY_REQUESTS - 1
    return (isAtEnd ? AHEAD_AT_END_S : AHEAD_S) * Math.max(1, options.playbackRate())
  }

  /** Loads the next part from a range of this length. Returns whether there is one. */
  async function loadPart(rangeS: number): Promise<boolean> {
    const { newest, count } = splicer
    // A long range is only searched for the next part.
    const maxS = rangeS > PART_S ? PART_S : Number.POSITIVE_INFINITY
    try {
      if (newest) await loadNextPart(newest, rangeS, maxS)
      else await loadFirstPart(rangeS, maxS)
    } catch (error) {
      const canSearchFurther = newest !== undefined || rangeS < MAX_GAP_S
      if (!isNothingRecorded(error) || !canSearchFurther) throw error
    }
    return splicer.count > count
  }

  async function loadFirstPart(rangeS: number, maxS: number) {
    const range = { stream, fromMs, toMs: fromMs + rangeS * 1000, signal }
    await Promise.all([
      retry(() => loadVideo(range, maxS)),
      retry(() => loadMetadata(range, { offsetS: 0, endS: maxS })),
    ])
  }

  async function loadNextPart(newest: SplicedFragment, rangeS: number, maxS: number) {
    // Rounded up, because a response starts with the last fragment captured until then.
    const startMs = Math.ceil(newest.capturedMs)
    const range = { stream, fromMs: startMs, toMs: getEndMs(newest) + rangeS * 1000, signal }
    const { count } = splicer
    await retry(() => loadVideo(range, maxS))
    if (splicer.count === count) return

    const { offsetS, decoding } = splicer.newest!
    const endS = decoding.end / TICKS_PER_SECOND
    await retry(() => loadMetadata(range, { offsetS, endS }))
  }

  /** Repeats a request that fails while there is video to play. */
  async function retry(sendRequest: () => Promise<void>) {
    for (;;) {
      try {
        return await sendRequest()
      } catch (error) {
        const canRetry = !isSeeking() && getAheadS() > MIN_AHEAD_TO_RETRY_S
        if (!isOutage(error) || !canRetry) throw error
        await new Promise(resolve => setTimeout(resolve, RETRY_MS))
        signal.throwIfAborted()
      }
    }
  }

  /**
   * Reads a part of the video of this length, without waiting until it is in the buffer. Ends
   * before another initialization segment, which needs another media source.
   */
  async function loadVideo(range: RecordingRequest, maxS: number) {
    const { type, fragments } = await requestRecording(range)
    const startTicks = splicer.newest?.decoding.end ?? 0
    splicer.startResponse()
    let appended = Promise.resolve()
    try {
      for await (const fragment of fragments) {
        if (isInitSegment(fragment)) {
          buffer ??= await openBuffer(type, fragment.bytes)
          if (!buffer.canContinue(type, fragment.bytes)) return
          continue
        }
        for (const spliced of splicer.splice(fragment)) {
          appended = appended.then(() => append(spliced))
          // The error is thrown when the part has been read.
          appended.catch(() => {})
        }
        if (splicer.newest!.decoding.end - startTicks >= maxS * TICKS_PER_SECOND) return
      }
    } finally {
      await appended
    }
  }

  async function openBuffer(type: string, init: Uint8Array<ArrayBuffer>): Promise<PlaybackBuffer> {
    if (!MediaSource.isTypeSupported(type)) {
      throw new Error(
        `this browser cannot play ${type}: download a clip and open it in another player`,
      )
    }
    await sourceOpen
    progress.hasSound = type.includes('mp4a')
    const opened = createPlaybackBuffer({ video, source, type, frames, gate, signal })
    await opened.start(init)
    return opened
  }

  async function append(fragment: SplicedFragment) {
    await buffer!.append(fragment)
    onFrames()
  }

  /** Reads the analysis results of a part of the video, which ends at `endS`. */
  async function loadMetadata(range: RecordingRequest, { offsetS, endS }: PartPlace) {
    for await (const frame of requestMetadata(range)) {
      signal.throwIfAborted()
      const at = frame.at + offsetS
      if (at >= endS) return
      onMetadata({ ...frame, at })
    }
  }

  load().catch((error: Error) => {
    if (!signal.aborted) options.onError(error.message)
  })

  return {
    frames,
    get isComplete() {
      return progress.isComplete
    },
    get hasSound() {
      return progress.hasSound
    },
    resume: gate.checkAgain,
    close() {
      closing.abort()
      gate.checkAgain()
    },
  }
}

const getEndMs = ({ originMs, end }: SplicedFragment) => originMs + (end / TICKS_PER_SECOND) * 1000

const isNothingRecorded = (error: unknown) => error instanceof ApiError && error.status === 404

/** Whether the appliance is unreachable, or a service of it has failed. */
const isOutage = (error: unknown) =>
  error instanceof ApiError && (error.status === 0 || error.status >= 500)

/** Resolves at the next event of this type. */
const once = (target: EventTarget, type: string) =>
  new Promise<void>(resolve => {
    target.addEventListener(type, () => resolve(), { once: true })
  })
