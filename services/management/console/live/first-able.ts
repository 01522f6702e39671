import { backoffDelayMs } from '@eyrie/kit/backoff'
import { computed, effect, type ReadonlySignal, signal, untracked } from '@preact/signals'
import type { LiveView, LiveViewOpener, LiveViewOptions, StreamMoment } from './live-view.ts'

/** A live view that goes over to better ways by itself, and to one with sound where that is wanted. */
export interface SwitchedView extends LiveView {
  /** Whether what is shown is heard, too. */
  readonly hearing: ReadonlySignal<boolean>
}

export interface SwitchedViewOptions extends Omit<LiveViewOptions, 'video' | 'sounding' | 'onUnable'> {
  /** Puts a video element that is muted into the page. */
  createVideo(): HTMLVideoElement
  /** From 0 to 1; 0: no sound is wanted. */
  volume: ReadonlySignal<number>
}

/** One way of playing, in a video element of its own. */
interface Attempt {
  way: number
  sounding: boolean
  video: HTMLVideoElement
  view: LiveView
  /** When its first frame came. */
  begunAt?: number
}

/** A better way is tried again after so long, and ever more rarely while it leads to nothing. */
const AGAIN = { initialMs: 2_000, maxMs: 60_000 }
/** A view that remains so long behind what is shown has more delay, and is not going to catch up. */
const SETTLING_MS = 1_500

/**
 * Plays by the first of these ways that is able to. The last one is asked in any case: it says why there is no picture.
 * What would be better is opened beside what is shown, and takes its place where it has come to the same picture.
 */
export function openFirstAble(
  ways: readonly [LiveViewOpener, ...LiveViewOpener[]],
  { createVideo, volume, ...options }: SwitchedViewOptions,
): SwitchedView {
  const wanted = computed(() => volume.value > 0)
  let closed = false
  let shown: StreamMoment | undefined
  let beside: Attempt | undefined
  let failures = 0
  let timer: ReturnType<typeof setTimeout> | undefined
  const current = signal(open(0, wanted.peek()))
  const isShown = (attempt: Attempt) => attempt === current.peek()

  function open(way: number, sounding: boolean): Attempt {
    const video = createVideo()
    const attempt: Omit<Attempt, 'view'> & { view?: LiveView } = { way, sounding, video }
    const opened = attempt as Attempt
    opened.view = ways[way]!({
      ...options,
      video,
      sounding,
      lateness: {
        ...options.lateness,
        pictureArrived: (pts, nowMs) => {
          if (isShown(opened)) options.lateness.pictureArrived(pts, nowMs)
        },
      },
      onFrame(picture, moment) {
        if (opened === beside && hasCaughtUp(opened, moment)) takeOver(opened)
        if (!isShown(opened)) return
        shown = moment
        options.onFrame(picture, moment)
      },
      // A way may know at once that it is not able, before it has been returned.
      onUnable: () => queueMicrotask(() => giveUp(opened)),
    })
    return opened
  }

  function leave({ view, video }: Attempt) {
    view.close()
    video.remove()
  }

  function hasCaughtUp(attempt: Attempt, moment: StreamMoment | undefined): boolean {
    attempt.begunAt ??= performance.now()
    const isElsewhere = !shown || !moment || shown.epoch !== moment.epoch
    return isElsewhere || moment.pts >= shown!.pts || performance.now() - attempt.begunAt > SETTLING_MS
  }

  function takeOver(attempt: Attempt) {
    const before = current.peek()
    beside = undefined
    failures = 0
    current.value = attempt
    leave(before)
    turnVolume()
    improve()
  }

  function giveUp(attempt: Attempt) {
    if (closed) return
    if (attempt === beside) {
      leave(attempt)
      beside = undefined
      failures++
      improve()
    } else if (isShown(attempt) && attempt.way < ways.length - 1) {
      leave(attempt)
      current.value = open(attempt.way + 1, attempt.sounding)
      turnVolume()
      improve()
    }
  }

  /** Opens what would be better than what is shown, now or later. */
  function improve() {
    clearTimeout(timer)
    if (beside && beside.sounding !== wanted.peek()) {
      leave(beside)
      beside = undefined
    }
    const { way, sounding } = current.peek()
    const isWanted = sounding === wanted.peek()
    if (beside || (isWanted && way === 0)) return
    const begin = () => {
      beside = open(isWanted ? failures % way : way, wanted.peek())
    }
    if (!isWanted && failures === 0) begin()
    else timer = setTimeout(begin, backoffDelayMs(failures, AGAIN))
  }

  function turnVolume() {
    const { video, sounding } = current.peek()
    if (wanted.peek()) video.volume = volume.peek()
    video.muted = !sounding || !wanted.peek()
  }

  const stop = effect(() => {
    if (wanted.value !== current.peek().sounding) failures = 0
    untracked(improve)
  })
  const stopVolume = effect(() => {
    void volume.value
    turnVolume()
  })

  return {
    state: computed(() => current.value.view.state.value),
    hearing: computed(() => current.value.sounding && wanted.value),
    close() {
      closed = true
      stop()
      stopVolume()
      clearTimeout(timer)
      if (beside) leave(beside)
      leave(current.peek())
    },
  }
}
