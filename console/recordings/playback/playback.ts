import { type ReadonlySignal, signal } from '@preact/signals'
import { detachMediaSource } from '../../video/media-source.ts'
import type { StreamTime } from '../../video/metadata-buffer.ts'
import type { SeekTarget } from './frame-index.ts'
import { openPlaybackLoader, type PlaybackLoader } from './playback-loader.ts'
import { observeVideo, seekToFrame, skipGap } from './playback-video.ts'
import type { RecordedMetadata } from './recorded-metadata.ts'

/** What playback is doing. It is `empty` before the first seek. */
export type PlaybackPhase =
  | { kind: 'empty' }
  /** Waiting for the frame at the target. */
  | { kind: 'loading'; target: SeekTarget }
  | { kind: 'ready' }
  | { kind: 'ended' }
  /** `target` is set if loading failed before the frame at the target was shown. */
  | { kind: 'failed'; reason: string; target?: SeekTarget }

/**
 * Plays a recorded stream in a video element. Times are in ms since 1970. Within the loaded part of
 * the recording, frames are identified by their presentation time in ticks of 90 kHz.
 */
export interface Playback {
  readonly phase: ReadonlySignal<PlaybackPhase>
  /** Recording time of the frame on display. */
  readonly position: ReadonlySignal<number | undefined>
  readonly isPlaying: ReadonlySignal<boolean>
  readonly rate: ReadonlySignal<number>
  readonly hasSound: ReadonlySignal<boolean>
  /**
   * Shows the frame at a time, by default the last one at or before it, and continues to
   * play if it was playing.
   */
  seek(timeMs: number, match?: SeekTarget['match']): void
  play(): void
  pause(): void
  /** Pauses and steps by this many frames; negative steps go back. */
  step(frames: number): void
  setRate(rate: number): void
  close(): void
}

export interface PlaybackOptions {
  video: HTMLVideoElement
  stream: number
  metadata: RecordedMetadata
  /**
   * Draws a frame. The image is valid only during the call. The time is in ticks of this playback.
   */
  onFrame(image: CanvasImageSource, time: StreamTime): void
  /** More metadata is loaded. */
  onMetadata(): void
  /**
   * Returns the time at which playback continues after `endMs`; undefined at the end of the
   * recording. Throws if it cannot be determined.
   */
  findContinuation(endMs: number): Promise<number | undefined>
}

/** Opens playback in a video element. Nothing is loaded before the first seek. */
export function createPlayback(options: PlaybackOptions): Playback {
  const { video, stream, metadata, onFrame, onMetadata, findContinuation } = options
  const phase = signal<PlaybackPhase>({ kind: 'empty' })
  const position = signal<number>()
  const isPlaying = signal(false)
  const rate = signal(1)
  const hasSound = signal(false)
  let loader: PlaybackLoader | undefined
  /** Number of the current load. Metadata of a previous load must not match frames of this one. */
  let epoch = 0
  let displayedTicks = 0

  /** The target of a seek whose frame has not been shown yet. */
  const pendingTarget = () => ('target' in phase.value ? phase.value.target : undefined)

  /** Replaces the loaded part of the recording. */
  function load(fromMs: number) {
    loader?.close()
    metadata.clear()
    epoch += 1
    const loadEpoch = epoch
    loader = openPlaybackLoader({
      video,
      stream,
      fromMs,
      playbackRate: () => rate.value,
      isSeeking: () => pendingTarget() !== undefined,
      onFrames: showTarget,
      onMetadata(frame) {
        metadata.add(frame, loadEpoch)
        onMetadata()
      },
      onError(reason) {
        pause()
        phase.value = { kind: 'failed', reason, target: pendingTarget() }
      },
    })
    video.playbackRate = rate.value
  }

  /** Shows the frame at the target of the pending seek, if it is loaded. */
  function showTarget() {
    const target = pendingTarget()
    if (!target || !loader) return
    const ticks = loader.frames.find(target, loader.isComplete)
    if (ticks === undefined) return
    hasSound.value = loader.hasSound
    moveTo(ticks)
  }

  /** Moves to a loaded frame. */
  function moveTo(ticks: number) {
    phase.value = { kind: 'ready' }
    seekToFrame(video, ticks)
    if (isPlaying.value) startVideo()
  }

  function startVideo() {
    video.playbackRate = rate.value
    // Browsers may reject play() before the user has interacted with the page.
    video.play().catch(() => {
      isPlaying.value = !video.paused
    })
  }

  /** Draws a frame that the video element presents, unless a seek will replace it. */
  function showFrame(image: CanvasImageSource, ticks: number) {
    if (!loader || pendingTarget()) return
    displayedTicks = ticks
    position.value = loader.frames.getRecordedMs(ticks)
    onFrame(image, { epoch, pts: ticks })
    loader.resume()
  }

  /** Whether the loader can show the frame at a target, at once or after loading more. */
  function canShow(target: SeekTarget): boolean {
    const span = loader?.frames.getSpan()
    if (!span || phase.value.kind === 'failed') return false
    return target.timeMs >= span.firstMs && target.timeMs <= span.lastMs
  }

  function seek(timeMs: number, match: SeekTarget['match'] = 'before') {
    video.pause()
    const target = { timeMs, match }
    const isReusable = canShow(target)
    phase.value = { kind: 'loading', target }
    if (isReusable) showTarget()
    else load(timeMs)
  }

  /** Continues after the end of the loaded range. */
  async function continueAfterEnd() {
    const phaseAtEnd = phase.value
    const span = loader?.frames.getSpan()
    let nextPhase: PlaybackPhase = { kind: 'ended' }
    try {
      const next = span && (await findContinuation(span.endMs))
      // The user may have moved to another frame meanwhile.
      if (phase.value !== phaseAtEnd) return
      if (next !== undefined) return seek(next)
    } catch (error) {
      if (phase.value !== phaseAtEnd) return
      nextPhase = { kind: 'failed', reason: (error as Error).message }
    }
    isPlaying.value = false
    phase.value = nextPhase
  }

  /** Loads again after a failure. */
  function retry() {
    const target = pendingTarget()
    const timeMs = target?.timeMs ?? position.value
    if (timeMs !== undefined) seek(timeMs, target?.match)
  }

  function pause() {
    isPlaying.value = false
    video.pause()
  }

  function step(frames: number) {
    pause()
    const isPending = pendingTarget() !== undefined
    const neighbor = isPending ? undefined : loader?.frames.findNeighbor(displayedTicks, frames)
    if (neighbor !== undefined) return moveTo(neighbor)

    // The frame is outside the loaded part of the recording, or has not been loaded yet.
    if (position.value !== undefined && frames < 0) seek(position.value - 1)
    else if (loader?.isComplete) void continueAfterEnd()
    else if (position.value !== undefined && !isPending) seek(position.value, 'after')
  }

  const stopObserving = observeVideo(video, {
    onFrame: showFrame,
    onProgress() {
      loader?.resume()
      if (!pendingTarget()) skipGap(video)
    },
    onEnded() {
      if (!pendingTarget() && isPlaying.value) void continueAfterEnd()
    },
  })

  return {
    phase,
    position,
    isPlaying,
    rate,
    hasSound,
    seek,
    step,
    pause,
    play() {
      isPlaying.value = true
      const { kind } = phase.value
      if (kind === 'ready' && !video.ended) startVideo()
      else if (kind === 'failed') retry()
      else if (kind !== 'loading') void continueAfterEnd()
    },
    setRate(newRate) {
      rate.value = newRate
      video.playbackRate = newRate
      loader?.resume()
    },
    close() {
      stopObserving()
      loader?.close()
      loader = undefined
      detachMediaSource(video)
    },
  }
}
