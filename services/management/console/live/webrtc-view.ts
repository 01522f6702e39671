import { backoffDelayMs } from '@eyrie/kit/backoff'
import { signal } from '@preact/signals'
import type { LiveView, LiveViewOptions, LiveViewState } from './live-view.ts'
import { createRtpClock, type RtpClock } from './rtp-clock.ts'
import { connectByWhep, Refusal, type WhepConnection } from './whep.ts'

/** Without a picture for so long after the offer, this way is not able. */
const BEGINNING_MS = 6_000
/** After so long without a frame media is asked whether it still knows of us. */
const SILENCE_MS = 1_500
const WAIT = { initialMs: 300, maxMs: 3_000 }
/** So many attempts to come back, then another way has its turn. */
const MOST_ATTEMPTS = 6
/** Metadata comes after its picture: so much later than that the picture is shown at the earliest. */
const MARGIN_MS = 20
const MOST_DELAY_MS = 2_000
const STEADY_MS = 40

interface Joined extends WhepConnection {
  clock: RtpClock
  lastFrameAt: number
}

/**
 * Plays a live stream by WebRTC. The picture is held back just as long as metadata needs; media's worker may die and come
 * back. Where there is none, no way for its packets, or nothing to send untouched, the view is not able.
 */
export function openWebRtcView({
  video,
  stream,
  sounding,
  lateness,
  onFrame,
  onUnable,
}: LiveViewOptions): LiveView {
  const state = signal<LiveViewState>({ kind: 'connecting' })
  const closing = new AbortController()
  let joined: Joined | undefined
  let failures = 0
  let delayMs = 0

  if (!('RTCPeerConnection' in globalThis)) onUnable('this browser has no WebRTC')
  else void join()
  let handle = video.requestVideoFrameCallback(showFrame)
  const watchdog = setInterval(() => void watch(), SILENCE_MS / 2)

  async function join() {
    try {
      const signal = AbortSignal.any([closing.signal, AbortSignal.timeout(BEGINNING_MS)])
      const played = new MediaStream()
      const onTrack = (track: MediaStreamTrack) => play(played, track)
      const path = `/live/streams/${stream}/whep?transcode=false`
      const connection = await connectByWhep(path, { sounding, onTrack, signal })
      if (closing.signal.aborted) return connection.close()
      const clock = createRtpClock(connection.joined.pts)
      const present = { ...connection, clock, lastFrameAt: performance.now() }
      joined = present
      delayMs = 0
      // Media says goodbye where it ends the connection; one that dies does not.
      connection.receiver.transport?.addEventListener('statechange', () => {
        if (joined === present && connection.receiver.transport?.state !== 'connected') void check(present)
      })
    } catch (error) {
      if (error instanceof Refusal) unable(error.message)
      else failed((error as Error).message)
    }
  }

  function play(played: MediaStream, track: MediaStreamTrack) {
    if (closing.signal.aborted) return
    played.addTrack(track)
    video.srcObject = played
    video.play().catch(() => {})
  }

  function failed(reason: string) {
    if (closing.signal.aborted) return
    leave()
    if (state.value.kind === 'connecting' || ++failures > MOST_ATTEMPTS) return unable(reason)
    state.value = { kind: 'lost', reason }
    setTimeout(() => closing.signal.aborted || void join(), backoffDelayMs(failures, WAIT))
  }

  function unable(reason: string) {
    leave()
    if (!closing.signal.aborted) onUnable(reason)
  }

  function leave() {
    joined?.close()
    joined = undefined
  }

  /** Silence may be the camera's; that of a worker which has died lasts for ever. */
  async function watch() {
    const watched = joined
    // In the background nothing is shown.
    if (!watched || document.hidden) return
    if (video.paused) video.play().catch(() => {})
    const silentMs = performance.now() - watched.lastFrameAt
    if (state.value.kind === 'connecting' && silentMs > BEGINNING_MS)
      return failed('no picture comes by WebRTC')
    if (silentMs >= SILENCE_MS) await check(watched)
  }

  async function check(asked: Joined) {
    const isKnown = await asked.isKnown().catch(() => false)
    if (asked === joined && !isKnown) failed('the connection was lost')
  }

  function showFrame(now: number, { rtpTimestamp, receiveTime }: VideoFrameCallbackMetadata) {
    handle = video.requestVideoFrameCallback(showFrame)
    if (!joined || video.readyState < HTMLMediaElement.HAVE_CURRENT_DATA) return
    // The video may have moved on since this was called; a VideoFrame is a picture with its own timestamp. Only pages
    // from https or localhost have it.
    const still = 'VideoFrame' in globalThis ? new VideoFrame(video) : undefined
    const shown = stillTimestamp(still) ?? rtpTimestamp
    const moment =
      shown === undefined ? undefined : { epoch: joined.joined.epoch, pts: joined.clock.ptsAt(shown) }
    onFrame(still ?? video, moment)
    still?.close()
    joined.lastFrameAt = now
    failures = 0
    if (moment && receiveTime !== undefined) lateness.pictureArrived(moment.pts, receiveTime)
    tell(receiveTime === undefined ? 0 : Math.max(0, now - receiveTime))
    holdBack(joined)
  }

  /** The browser's own buffer keeps a frame until what was found in it has come, and the sound with it. */
  function holdBack({ receiver, soundReceiver }: Joined) {
    const wantedMs = Math.min(MOST_DELAY_MS, lateness.p95Ms() + MARGIN_MS)
    if (Math.abs(wantedMs - delayMs) < MARGIN_MS) return
    delayMs = wantedMs
    receiver.jitterBufferTarget = wantedMs
    if (soundReceiver) soundReceiver.jitterBufferTarget = wantedMs
  }

  /** People read it: it changes only when something has really changed. */
  function tell(shownAfterMs: number) {
    const { videoWidth: width, videoHeight: height } = video
    const before = state.value
    const isSame =
      before.kind === 'playing' &&
      before.width === width &&
      before.height === height &&
      Math.abs(before.delayMs - shownAfterMs) < STEADY_MS
    if (!isSame) state.value = { kind: 'playing', width, height, delayMs: shownAfterMs }
  }

  return {
    state,
    close() {
      closing.abort()
      clearInterval(watchdog)
      video.cancelVideoFrameCallback(handle)
      leave()
      video.srcObject = null
    },
  }
}

/** Chromium tells it with the picture itself; others tell it of the frame that they have called for. */
function stillTimestamp(still: VideoFrame | undefined): number | undefined {
  const metadata: (() => { rtpTimestamp?: number }) | undefined = still && Reflect.get(still, 'metadata')
  return metadata?.call(still).rtpTimestamp
}
