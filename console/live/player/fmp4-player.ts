import type { StreamInfo } from '@eyrie/contract/live-stream'
import { signal } from '@preact/signals'
import { openReconnectingSocket } from '../../api/reconnecting-socket.ts'
import { observeFrames } from '../../video/frame-capture.ts'
import { createFmp4Buffer, type Fmp4Buffer } from './fmp4-buffer.ts'
import { calculateTargetDelay, correctPlayback } from './live-edge.ts'
import {
  type LivePlayer,
  type LivePlayerOptions,
  type LivePlayerState,
  updatePlaying,
} from './live-player.ts'

const WATCHDOG_INTERVAL_MS = 1_000
const MAX_SILENCE_MS = 10_000

/** The stream that was announced last. Its buffer keeps playing after the connection is lost. */
interface PlayedStream {
  info: StreamInfo
  buffer: Fmp4Buffer
  isConnected: boolean
}

/** Plays a live stream as fragmented MP4 over WebSocket, close to its live edge. */
export function createFmp4Player({
  video,
  stream,
  withSound,
  metadataDelay,
  onFrame,
  onUnavailable,
}: LivePlayerOptions): LivePlayer {
  const state = signal<LivePlayerState>({ kind: 'connecting' })
  let played: PlayedStream | undefined
  const seek = { startedMs: 0, durationS: 0 }
  let silentIntervals = 0

  const socket = openReconnectingSocket({
    path: () => `/live/streams/${stream}/ws?codecs=${listPlayableCodecs(withSound)}`,
    onMessage(data) {
      silentIntervals = 0
      if (typeof data === 'string') receiveInfo(JSON.parse(data))
      else receiveSegment(data)
    },
    onDisconnect(reason) {
      if (played) played.isConnected = false
      state.value = { kind: 'lost', reason }
    },
  })

  const stopObserving = observeFrames(video, (image, mediaTime) => {
    const pts = played?.buffer.clock?.toPts(mediaTime)
    onFrame(image, played && pts !== undefined ? { epoch: played.info.epoch, pts } : undefined)
  })

  function receiveInfo(info: StreamInfo) {
    const type = `video/mp4; codecs="${info.codecs}"`
    if (!canPlay(type)) {
      const reason = `this browser cannot play ${info.codecs}`
      onUnavailable(reason)
      return socket.reconnect(reason)
    }
    if (played?.isConnected && played.info.epoch === info.epoch) {
      played.buffer.changeType(type)
      played.info = info
    } else played = { info, buffer: openBuffer(type), isConnected: true }
  }

  function openBuffer(type: string): Fmp4Buffer {
    const opened = createFmp4Buffer({
      video,
      type,
      onIdle: adjustPlayback,
      onEnded: reason => {
        if (played?.buffer === opened) socket.reconnect(reason)
      },
    })
    return opened
  }

  function receiveSegment(segment: ArrayBuffer) {
    const fragment = played?.buffer.append(segment)
    if (fragment) metadataDelay.frameArrived(fragment.pts, performance.now())
  }

  /** Moves playback towards the live edge. */
  function adjustPlayback() {
    if (!played?.isConnected) return
    const { info, buffer } = played
    // With sound, playback continues in a hidden page.
    if (document.hidden && !withSound) return buffer.trimToNewest()
    const liveEdge = buffer.liveEdge()
    if (liveEdge === undefined || video.seeking) return
    const correction = correctPlayback({
      position: video.currentTime,
      ranges: toRanges(video.buffered),
      liveEdge,
      targetDelay: calculateTargetDelay(metadataDelay.p95Ms(), withSound),
      seekDuration: seek.durationS,
      audible: withSound,
    })
    if (!correction) return
    if ('seekTo' in correction) seekTo(correction.seekTo)
    else video.playbackRate = correction.playbackRate
    // A browser may pause video in the background, and may refuse to play; the next fragment tries again.
    if (video.paused) video.play().catch(() => {})
    const { width, height } = info
    const delayMs = Math.max(0, liveEdge - video.currentTime) * 1000
    state.value = updatePlaying(state.value, { kind: 'playing', width, height, delayMs })
  }

  function seekTo(mediaTime: number) {
    seek.startedMs = performance.now()
    video.currentTime = mediaTime
  }

  const onSeeked = () => {
    seek.durationS = (performance.now() - seek.startedMs) / 1000
    adjustPlayback()
  }

  // A dead network does not close the socket. Intervals are counted instead of time, because timers stop in a
  // suspended page, which has not lost its connection.
  const watchdog = setInterval(() => {
    silentIntervals += 1
    if (played?.isConnected && silentIntervals > MAX_SILENCE_MS / WATCHDOG_INTERVAL_MS)
      socket.reconnect(`no video received for ${MAX_SILENCE_MS / 1000} seconds`)
  }, WATCHDOG_INTERVAL_MS)
  video.addEventListener('seeked', onSeeked)
  document.addEventListener('visibilitychange', adjustPlayback)

  return {
    state,
    close() {
      clearInterval(watchdog)
      video.removeEventListener('seeked', onSeeked)
      document.removeEventListener('visibilitychange', adjustPlayback)
      stopObserving()
      socket.close()
      video.removeAttribute('src')
      video.load()
    },
  }
}

const canPlay = (type: string) => 'MediaSource' in globalThis && MediaSource.isTypeSupported(type)

/** H.265 is requested where the browser plays its main profile. Otherwise media transcodes it to H.264. */
function listPlayableCodecs(withSound: boolean): string {
  const playsHevc = canPlay('video/mp4; codecs="hvc1.1.6.L120.90"')
  return ['h264', ...(playsHevc ? ['h265'] : []), ...(withSound ? ['aac'] : [])].join(',')
}

const toRanges = (buffered: TimeRanges) =>
  Array.from({ length: buffered.length }, (_, i) => [buffered.start(i), buffered.end(i)] as const)
