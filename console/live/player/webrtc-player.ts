import { backoffDelayMs } from '@eyrie/contract/backoff'
import { signal } from '@preact/signals'
import { ApiError } from '../../api/api-request.ts'
import { createVideoFrame } from '../../video/frame-capture.ts'
import type { StreamTime } from '../../video/metadata-buffer.ts'
import {
  type LivePlayer,
  type LivePlayerOptions,
  type LivePlayerState,
  updatePlaying,
} from './live-player.ts'
import { createRtpClock, type RtpClock } from './stream-clock.ts'
import { connectWhep, type WhepConnection } from './whep-client.ts'

/**
 * If no frame arrives within this time after the start of a connection, WebRTC does not
 * work in this network.
 */
const CONNECT_TIMEOUT_MS = 6_000
/**
 * After this time without a frame, the media service is asked whether the connection still exists.
 */
const MAX_SILENCE_MS = 1_500
/**
 * Interval of requests by which a management service that was restarted recognizes the connection,
 * which would end otherwise.
 */
const KEEPALIVE_MS = 15_000
const RECONNECT_BACKOFF = { initialMs: 300, maxMs: 3_000 }
/** After this many failed attempts to reconnect, the player reports that WebRTC is unavailable. */
const MAX_RECONNECTS = 6
/** Added to the measured delay of metadata. Smaller changes of the delay are ignored. */
const METADATA_MARGIN_MS = 20
const MAX_DELAY_MS = 2_000

interface Connection extends WhepConnection {
  clock: RtpClock
  lastFrameMs: number
  /**
   * Target delay of the jitter buffers, in which the browser collects packets before it plays them.
   */
  bufferedMs: number
}

/**
 * Plays a live stream over WebRTC and delays each frame until its metadata has arrived. WebRTC is
 * unavailable if the media service has no WebRTC worker, if the network blocks UDP, or if the
 * stream would have to be transcoded. When the worker restarts, the player reconnects.
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
  // A failure means nothing: the video is sent past the management service.
  const keepalive = setInterval(() => connection?.isAlive().catch(() => {}), KEEPALIVE_MS)

  async function connect() {
    try {
      const signal = AbortSignal.any([closing.signal, AbortSignal.timeout(CONNECT_TIMEOUT_MS)])
      const tracks = new MediaStream()
      const onTrack = (track: MediaStreamTrack) => playTrack(tracks, track)
      const path = `/live/streams/${stream}/whep?transcode=false`
      const whep = await connectWhep(path, { withSound, onTrack, signal })
      if (closing.signal.aborted) return whep.close()

      const opened = createConnection(whep)
      connection = opened

      // The media service closes the transport when it ends a connection. A crash of its worker is
      // detected by the watchdog.
      const { transport } = whep.videoReceiver
      transport?.addEventListener('statechange', () => {
        if (connection === opened && transport.state !== 'connected') void checkAlive(opened)
      })
    } catch (error) {
      if (isRefusal(error)) giveUp(error.message)
      else reconnect((error as Error).message)
    }
  }

  function playTrack(tracks: MediaStream, track: MediaStreamTrack) {
    if (closing.signal.aborted) return
    tracks.addTrack(track)
    video.srcObject = tracks
    // Browsers may reject play(). The watchdog retries it.
    video.play().catch(() => {})
  }

  function reconnect(reason: string) {
    if (closing.signal.aborted) return
    disconnect()
    failures += 1
    const hasNeverPlayed = state.value.kind === 'connecting'
    if (hasNeverPlayed || failures > MAX_RECONNECTS) return giveUp(reason)

    state.value = { kind: 'lost', reason }
    const retry = () => {
      if (!closing.signal.aborted) void connect()
    }
    setTimeout(retry, backoffDelayMs(failures, RECONNECT_BACKOFF))
  }

  function giveUp(reason: string) {
    disconnect()
    if (!closing.signal.aborted) onUnavailable(reason)
  }

  function disconnect() {
    connection?.close()
    connection = undefined
  }

  /** When no frames arrive, distinguishes a silent camera from a broken connection. */
  async function checkSilence() {
    // Frames are not presented in a hidden page.
    if (!connection || document.hidden) return
    if (video.paused) video.play().catch(() => {})
    const silentMs = performance.now() - connection.lastFrameMs
    if (state.value.kind === 'connecting' && silentMs > CONNECT_TIMEOUT_MS) {
      return reconnect('no video received over WebRTC')
    }
    if (silentMs >= MAX_SILENCE_MS) await checkAlive(connection)
  }

  /** Asks the media service whether it still has the connection, and reconnects if not. */
  async function checkAlive(checked: Connection) {
    const isAlive = await checked.isAlive().catch(() => false)
    if (checked === connection && !isAlive) reconnect('connection lost')
  }

  function showFrame(nowMs: number, { rtpTimestamp, receiveTime }: VideoFrameCallbackMetadata) {
    frameCallback = video.requestVideoFrameCallback(showFrame)
    if (!connection || video.readyState < HTMLMediaElement.HAVE_CURRENT_DATA) return

    const frame = createVideoFrame(video)
    const time = toStreamTime(connection, readRtpTimestamp(frame) ?? rtpTimestamp)
    try {
      onFrame(frame ?? video, time)
    } finally {
      frame?.close()
    }

    connection.lastFrameMs = nowMs
    failures = 0
    if (time && receiveTime !== undefined) metadataDelay.frameArrived(time.pts, receiveTime)
    state.value = updatePlaying(state.value, {
      kind: 'playing',
      width: video.videoWidth,
      height: video.videoHeight,
      delayMs: receiveTime === undefined ? 0 : Math.max(0, nowMs - receiveTime),
    })
    adjustJitterBuffers(connection, metadataDelay.p95Ms())
  }

  return {
    state,
    close() {
      closing.abort()
      clearInterval(watchdog)
      clearInterval(keepalive)
      video.cancelVideoFrameCallback(frameCallback)
      disconnect()
      video.srcObject = null
    },
  }
}

const createConnection = (whep: WhepConnection): Connection => ({
  ...whep,
  clock: createRtpClock(whep.startTime.pts),
  lastFrameMs: performance.now(),
  bufferedMs: 0,
})

/** Makes the jitter buffers delay frames and sound until the metadata has arrived. */
function adjustJitterBuffers(connection: Connection, metadataP95Ms: number) {
  const targetMs = Math.min(MAX_DELAY_MS, metadataP95Ms + METADATA_MARGIN_MS)
  if (Math.abs(targetMs - connection.bufferedMs) < METADATA_MARGIN_MS) return
  connection.bufferedMs = targetMs
  connection.videoReceiver.jitterBufferTarget = targetMs
  if (connection.soundReceiver) connection.soundReceiver.jitterBufferTarget = targetMs
}

/** Whether the media service has refused a request, so that a retry would fail, too. */
const isRefusal = (error: unknown): error is ApiError =>
  error instanceof ApiError && error.status >= 400 && error.status < 500

/**
 * Returns the position of a frame in the stream; undefined if the browser does not
 * report its RTP timestamp.
 */
function toStreamTime(
  connection: Connection,
  rtpTimestamp: number | undefined,
): StreamTime | undefined {
  if (rtpTimestamp === undefined) return undefined
  return { epoch: connection.startTime.epoch, pts: connection.clock.toPts(rtpTimestamp) }
}

/**
 * Chromium provides the RTP timestamp with the frame; other browsers provide it only
 * to the frame callback.
 */
function readRtpTimestamp(frame: VideoFrame | undefined): number | undefined {
  if (!frame) return undefined
  // The types of TypeScript do not contain this method.
  const readMetadata: (() => { rtpTimestamp?: number }) | undefined = Reflect.get(frame, 'metadata')
  return readMetadata?.call(frame).rtpTimestamp
}
