import type { StreamInfo } from '@eyrie/contract/live-stream'
import { signal } from '@preact/signals'
import { openReconnectingSocket } from '../../api/reconnecting-socket.ts'
import { observeFrames } from '../../video/frame-capture.ts'
import { detachMediaSource } from '../../video/media-source.ts'
import { createFmp4Buffer, type Fmp4Buffer } from './fmp4-buffer.ts'
import { calculateTargetDelay, correctPlayback } from './live-edge.ts'
import {
  type LivePlayer,
  type LivePlayerOptions,
  type LivePlayerState,
  updatePlaying,
} from './live-player.ts'

const WATCHDOG_INTERVAL_MS = 1_000
/** A connection on which nothing arrives for this long is considered broken. */
const MAX_SILENCE_MS = 10_000

/**
 * The stream that the media service announced last, and the buffer with its video. The buffer
 * continues to play after the connection is lost.
 */
interface PlayedStream {
  info: StreamInfo
  buffer: Fmp4Buffer
  isConnected: boolean
}

/**
 * Plays a live stream as fragmented MP4 over WebSocket, close to its live edge, the position of the
 * newest frame. The media service first sends a text message that describes the stream, and then
 * binary segments of MP4.
 */
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
  /** The last seek. The next one is expected to take as long. */
  const seek = { startedMs: 0, durationS: 0 }

  // A broken network does not close the socket.
  const watchdog = createWatchdog(() => {
    if (!played?.isConnected) return
    socket.reconnect(`no video received for ${MAX_SILENCE_MS / 1000} seconds`)
  })

  const socket = openReconnectingSocket({
    path: () => `/live/streams/${stream}/ws?codecs=${listPlayableCodecs(withSound)}`,
    onMessage(data) {
      watchdog.reset()
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

    // Timestamps are continuous within an epoch, so its video can be appended to the same buffer.
    if (played?.isConnected && played.info.epoch === info.epoch) {
      played.buffer.changeType(type)
      played.info = info
    } else {
      played = { info, buffer: openBuffer(type), isConnected: true }
    }
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
    // A hidden page plays nothing, except sound.
    if (document.hidden && !withSound) return buffer.trimToNewest()
    const liveEdge = buffer.liveEdge()
    if (liveEdge === undefined || video.seeking) return

    const correction = correctPlayback({
      position: video.currentTime,
      ranges: toRanges(video.buffered),
      liveEdge,
      targetDelay: calculateTargetDelay({ metadataP95Ms: metadataDelay.p95Ms(), withSound }),
      seekDuration: seek.durationS,
      withSound,
    })
    if (!correction) return
    if ('seekTo' in correction) seekTo(correction.seekTo)
    else video.playbackRate = correction.playbackRate

    // Browsers pause hidden videos, and may reject play(). The next fragment retries it.
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

  video.addEventListener('seeked', onSeeked)
  document.addEventListener('visibilitychange', adjustPlayback)

  return {
    state,
    close() {
      watchdog.close()
      video.removeEventListener('seeked', onSeeked)
      document.removeEventListener('visibilitychange', adjustPlayback)
      stopObserving()
      socket.close()
      detachMediaSource(video)
    },
  }
}

/**
 * Calls `onSilence` in each interval after `MAX_SILENCE_MS` without a reset. Counts intervals, not
 * time: the timer stops while the page is suspended, which does not mean that the connection is
 * lost.
 */
function createWatchdog(onSilence: () => void) {
  let silentIntervals = 0
  const timer = setInterval(() => {
    silentIntervals += 1
    if (silentIntervals > MAX_SILENCE_MS / WATCHDOG_INTERVAL_MS) onSilence()
  }, WATCHDOG_INTERVAL_MS)
  return {
    reset() {
      silentIntervals = 0
    },
    close: () => clearInterval(timer),
  }
}

const canPlay = (type: string) => 'MediaSource' in globalThis && MediaSource.isTypeSupported(type)

/**
 * Lists H.265 if the browser plays its Main profile. Otherwise the media service
 * transcodes H.265 to H.264.
 */
function listPlayableCodecs(withSound: boolean): string {
  const codecs = ['h264']
  if (canPlay('video/mp4; codecs="hvc1.1.6.L120.90"')) codecs.push('h265')
  if (withSound) codecs.push('aac')
  return codecs.join(',')
}

const toRanges = (buffered: TimeRanges) =>
  Array.from({ length: buffered.length }, (_, i) => [buffered.start(i), buffered.end(i)] as const)
