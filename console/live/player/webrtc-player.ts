import { backoffDelayMs } from '@eyrie/contract/backoff'
import { signal } from '@preact/signals'
import { ApiError } from '../../api/api-request.ts'
import { createVideoFrame } from '../../video/frame-capture.ts'
import {
  type LivePlayer,
  type LivePlayerOptions,
  type LivePlayerState,
  updatePlaying,
} from './live-player.ts'
import { createRtpClock, type RtpClock } from './stream-clock.ts'
import { connectWhep, type WhepConnection } from './whep-client.ts'

/** Without a frame this long after the offer, WebRTC does not work here. */
const CONNECT_TIMEOUT_MS = 6_000
/** After this long without a frame, media is asked if the connection still exists. */
const MAX_SILENCE_MS = 1_500
const RECONNECT_BACKOFF = { initialMs: 300, maxMs: 3_000 }
/** After this many failed attempts to reconnect, another transport is used. */
const MAX_RECONNECTS = 6
const METADATA_MARGIN_MS = 20
const MAX_DELAY_MS = 2_000

interface Connection extends WhepConnection {
  clock: RtpClock
  lastFrameMs: number
  /** Target delay of the jitter buffer. */
  bufferedMs: number
}

/**
 * Plays a live stream over WebRTC and delays it until the metadata has arrived. Reconnects when the worker of media
 * restarts. It is unavailable without a worker, if the network blocks its packets, and for streams that would have to
 * be transcoded.
 */
export function createWebRtcPlayer({
  video,
  stream,
  withSound,
  metadataDelay,
  onFrame,
  onUnavailable,
}: LivePlayerOptions): LivePlayer {
  const state = signal<LivePlayerState>({ kind: 'connecting' })
  const closing = new AbortController()
  let connection: Connection | undefined
  let failures = 0

  if ('RTCPeerConnection' in globalThis) void connect()
  else onUnavailable('this browser does not support WebRTC')
  let frameCallback = video.requestVideoFrameCallback(showFrame)
  const watchdog = setInterval(() => void checkSilence(), MAX_SILENCE_MS / 2)

  async function connect() {
    try {
      const signal = AbortSignal.any([closing.signal, AbortSignal.timeout(CONNECT_TIMEOUT_MS)])
      const tracks = new MediaStream()
      const onTrack = (track: MediaStreamTrack) => playTrack(tracks, track)
      const path = `/live/streams/${stream}/whep?transcode=false`
      const whep = await connectWhep(path, { withSound, onTrack, signal })
      if (closing.signal.aborted) return whep.close()
      const clock = createRtpClock(whep.startTime.pts)
      const opened = { ...whep, clock, lastFrameMs: performance.now(), bufferedMs: 0 }
      connection = opened
      // Media closes the transport when it ends a connection. If its worker dies, only the watchdog notices.
      const { transport } = whep.videoReceiver
      transport?.addEventListener('statechange', () => {
        if (connection === opened && transport.state !== 'connected') void checkAlive(opened)
      })
    } catch (error) {
      const isRefused = error instanceof ApiError && error.status >= 400 && error.status < 500
      if (isRefused) giveUp(error.message)
      else reconnect((error as Error).message)
    }
  }

  function playTrack(tracks: MediaStream, track: MediaStreamTrack) {
    if (closing.signal.aborted) return
    tracks.addTrack(track)
    video.srcObject = tracks
    video.play().catch(() => {})
  }

  function reconnect(reason: string) {
    if (closing.signal.aborted) return
    disconnect()
    if (state.value.kind === 'connecting' || ++failures > MAX_RECONNECTS) return giveUp(reason)
    state.value = { kind: 'lost', reason }
    setTimeout(() => closing.signal.aborted || void connect(), backoffDelayMs(failures, RECONNECT_BACKOFF))
  }

  function giveUp(reason: string) {
    disconnect()
    if (!closing.signal.aborted) onUnavailable(reason)
  }

  function disconnect() {
    connection?.close()
    connection = undefined
  }

  /** Without frames, either the camera sends none or the connection is dead. */
  async function checkSilence() {
    // A hidden page shows no frames.
    if (!connection || document.hidden) return
    if (video.paused) video.play().catch(() => {})
    const silentMs = performance.now() - connection.lastFrameMs
    if (state.value.kind === 'connecting' && silentMs > CONNECT_TIMEOUT_MS)
      return reconnect('no video received over WebRTC')
    if (silentMs >= MAX_SILENCE_MS) await checkAlive(connection)
  }

  async function checkAlive(checked: Connection) {
    const isAlive = await checked.isAlive().catch(() => false)
    if (checked === connection && !isAlive) reconnect('connection lost')
  }

  function showFrame(nowMs: number, { rtpTimestamp, receiveTime }: VideoFrameCallbackMetadata) {
    frameCallback = video.requestVideoFrameCallback(showFrame)
    if (!connection || video.readyState < HTMLMediaElement.HAVE_CURRENT_DATA) return
    const frame = createVideoFrame(video)
    const timestamp = readRtpTimestamp(frame) ?? rtpTimestamp
    const { epoch } = connection.startTime
    const time = timestamp === undefined ? undefined : { epoch, pts: connection.clock.toPts(timestamp) }
    onFrame(frame ?? video, time)
    frame?.close()
    connection.lastFrameMs = nowMs
    failures = 0
    if (time && receiveTime !== undefined) metadataDelay.frameArrived(time.pts, receiveTime)
    state.value = updatePlaying(state.value, {
      kind: 'playing',
      width: video.videoWidth,
      height: video.videoHeight,
      delayMs: receiveTime === undefined ? 0 : Math.max(0, nowMs - receiveTime),
    })
    adjustJitterBuffer(connection)
  }

  /** Makes the jitter buffer hold frames, and the sound with them, until their metadata has arrived. */
  function adjustJitterBuffer(current: Connection) {
    const targetMs = Math.min(MAX_DELAY_MS, metadataDelay.p95Ms() + METADATA_MARGIN_MS)
    if (Math.abs(targetMs - current.bufferedMs) < METADATA_MARGIN_MS) return
    current.bufferedMs = targetMs
    current.videoReceiver.jitterBufferTarget = targetMs
    if (current.soundReceiver) current.soundReceiver.jitterBufferTarget = targetMs
  }

  return {
    state,
    close() {
      closing.abort()
      clearInterval(watchdog)
      video.cancelVideoFrameCallback(frameCallback)
      disconnect()
      video.srcObject = null
    },
  }
}

/** Chromium provides the RTP timestamp with the frame; other browsers provide it only to the frame callback. */
function readRtpTimestamp(frame: VideoFrame | undefined): number | undefined {
  const metadata: (() => { rtpTimestamp?: number }) | undefined = frame && Reflect.get(frame, 'metadata')
  return metadata?.call(frame).rtpTimestamp
}
