import { TICKS_PER_SECOND } from '@eyrie/contract/ticks'
import { type ReadonlySignal, signal } from '@preact/signals'
import type { StreamMoment } from '../../live/player/live-player.ts'
import { followFrames, takeFrame } from '../../video/frame-capture.ts'
import { openRun, type PlaybackRun } from './playback-loader.ts'
import type { Snap } from './frame-index.ts'
import type { RecordedMetadata } from './recorded-metadata.ts'

export type PlaybackPhase =
  | { kind: 'empty' }
  | { kind: 'loading' }
  | { kind: 'ready' }
  | { kind: 'ended' }
  | { kind: 'failed'; reason: string }

/** A recording that is looked at: times are ms since 1970. */
export interface Playback {
  readonly phase: ReadonlySignal<PlaybackPhase>
  /** When the picture that is shown was recorded. */
  readonly position: ReadonlySignal<number | undefined>
  readonly playing: ReadonlySignal<boolean>
  readonly rate: ReadonlySignal<number>
  readonly hasSound: ReadonlySignal<boolean>
  seek(timeMs: number, snap?: Snap): void
  play(): void
  pause(): void
  /** So many pictures on, or back. Pauses. */
  step(places: number): void
  setRate(rate: number): void
  close(): void
}

export interface PlaybackOptions {
  video: HTMLVideoElement
  stream: number
  metadata: RecordedMetadata
  /** A frame to be seen now, good during the call only; its moment counts in the ticks of this playback. */
  onFrame(picture: CanvasImageSource, moment: StreamMoment): void
  onMetadata(): void
  /** The first recorded moment behind this one; undefined where there is none. */
  nextRecorded(afterMs: number): number | undefined
}

/** What is asked for at once: the list of files is made beforehand. What follows is asked for in time. */
const RUN_MS = 2 * 3_600_000
/** A picture is shown from its time on; this much later no rounding leads to the one before. */
const INSIDE_S = 0.0005
/** Players stand still where sound or pictures are missing for a moment. */
const MOST_GAP_S = 3

export function createPlayback(options: PlaybackOptions): Playback {
  const { video, stream, metadata, onFrame, onMetadata, nextRecorded } = options
  const phase = signal<PlaybackPhase>({ kind: 'empty' })
  const position = signal<number>()
  const playing = signal(false)
  const rate = signal(1)
  const hasSound = signal(false)
  let run: PlaybackRun | undefined
  let runs = 0
  /** What is to be shown as soon as it has come. */
  let target: { timeMs: number; snap: Snap } | undefined
  let shownTicks = 0

  function load(fromMs: number) {
    run?.close()
    metadata.clear()
    const number = ++runs
    phase.value = { kind: 'loading' }
    run = openRun({
      ...{ video, stream, fromMs, toMs: fromMs + RUN_MS, rate: () => rate.value },
      isWaiting: () => target !== undefined,
      onPictures: settle,
      onMetadata(frame) {
        metadata.add(frame, number)
        onMetadata()
      },
      onFailed(reason) {
        playing.value = false
        phase.value = { kind: 'failed', reason }
      },
    })
    video.playbackRate = rate.value
  }

  /** Shows what was asked for, if it is there. */
  function settle() {
    if (!target || !run) return
    const ticks = run.times.find(target.timeMs, target.snap, run.complete)
    if (ticks === undefined) return
    target = undefined
    hasSound.value = run.hasSound
    moveTo(ticks)
  }

  function moveTo(ticks: number) {
    phase.value = { kind: 'ready' }
    video.currentTime = ticks / TICKS_PER_SECOND + INSIDE_S
    if (playing.value) start()
  }

  /** A browser may refuse to play before anybody has touched the page, or be told otherwise meanwhile. */
  function start() {
    video.playbackRate = rate.value
    video.play().catch(() => {
      playing.value = !video.paused
    })
  }

  function show(picture: CanvasImageSource, mediaTime: number) {
    if (!run || target || video.seeking) return
    shownTicks = Math.round(mediaTime * TICKS_PER_SECOND)
    position.value = run.times.recordedAt(shownTicks)
    onFrame(picture, { epoch: runs, pts: shownTicks })
    run.proceed()
  }

  const covers = ({ times }: PlaybackRun, timeMs: number) => {
    const [first, last] = [times.firstMs(), times.lastMs()]
    return first !== undefined && last !== undefined && timeMs >= first && timeMs <= last
  }

  function seek(timeMs: number, snap: Snap = 'before') {
    video.pause()
    target = { timeMs, snap }
    if (run && phase.value.kind !== 'failed' && covers(run, timeMs)) settle()
    else load(timeMs)
  }

  /** What is there ends here: there may be more behind it. */
  function goOn() {
    const last = run?.times.lastMs()
    const next = last === undefined ? undefined : nextRecorded(last)
    if (next !== undefined) return seek(next)
    playing.value = false
    phase.value = { kind: 'ended' }
  }

  function tryAgain() {
    const wanted = target?.timeMs ?? position.value
    if (wanted !== undefined) seek(wanted, target?.snap)
  }

  function step(places: number) {
    playback.pause()
    const ticks = run?.times.neighbour(shownTicks, places)
    const here = position.value
    if (ticks !== undefined) moveTo(ticks)
    else if (here !== undefined && places < 0) seek(here - 1)
    else if (run?.complete) goOn()
  }

  function onProgress() {
    run?.proceed()
    const { buffered, currentTime } = video
    for (let i = 0; i < buffered.length && !video.seeking && !target; i++) {
      const gap = buffered.start(i) - currentTime
      if (video.readyState <= HTMLMediaElement.HAVE_CURRENT_DATA && gap > 0 && gap < MOST_GAP_S)
        video.currentTime = buffered.start(i) + INSIDE_S
    }
  }

  const onSeeked = () => takeFrame(video, video.currentTime, show)
  const onEnded = () => {
    if (!target && playing.value) goOn()
  }
  const listeners = { timeupdate: onProgress, waiting: onProgress, seeked: onSeeked, ended: onEnded }
  for (const [event, listener] of Object.entries(listeners)) video.addEventListener(event, listener)
  const unfollow = followFrames(video, show)

  const playback: Playback = {
    phase,
    position,
    playing,
    rate,
    hasSound,
    seek,
    step,
    play() {
      playing.value = true
      const { kind } = phase.value
      if (kind === 'ready' && !video.ended) start()
      else if (kind === 'failed') tryAgain()
      else if (kind !== 'loading') goOn()
    },
    pause() {
      playing.value = false
      video.pause()
    },
    setRate(next) {
      rate.value = next
      video.playbackRate = next
      run?.proceed()
    },
    close() {
      unfollow()
      for (const [event, listener] of Object.entries(listeners)) video.removeEventListener(event, listener)
      run?.close()
      run = undefined
      video.removeAttribute('src')
      video.load()
    },
  }
  return playback
}
