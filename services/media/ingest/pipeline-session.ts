import type { CameraClock } from '@eyrie/contract'
import { DECODER_NAME } from '../decode/decoders.ts'
import { isAuxiliary } from '../gstreamer/auxiliary-elements.ts'
import { isLinkFailure } from '../gstreamer/video-caps.ts'
import { type GstError, type Message, Pipeline, type Sample } from '../node-gst/index.ts'
import type { Clock } from '../runtime/clock.ts'
import { isMissingSoundWarning } from '../sound/sound-elements.ts'
import type { LipSync } from '../sound/sound-tap.ts'
import type { Origin } from './origin/origin.ts'
import { SourceFault } from './origin/source-fault.ts'
import { buildPacketElements, type PacketCodec } from './packet-codec.ts'
import { createCameraLipSync } from './timing/camera-lip-sync.ts'
import { createLossMeter, type Reception, readReception } from './timing/rtp-statistics.ts'
import { createWallClockAnchor } from './timing/wall-clock-anchor.ts'

/** Why a session ended. */
export type Outcome =
  | { end: 'eos' }
  | { end: 'stopped' }
  /** The pacing element would delay the first packet for hours. */
  | { end: 'mispaced' }
  | { end: 'lost'; fault: SourceFault }
  /** The decoder failed, not the source. `unshown`: the stream ended before the decoder found a picture. */
  | { end: 'undecodable'; reason: string; unshown?: boolean }
  /** The source does not offer video in the requested codec. */
  | { end: 'unlinked' }

export interface PipelineSessionOptions {
  origin: Origin
  /** The codec that the session accepts. */
  codec: PacketCodec
  /** Packets are read as fast as they are processed, instead of in real time. */
  unpaced: boolean
  /** Stream time at which the session begins, in 90 kHz ticks. */
  ptsOffset: number
  clock: Clock
  onSample(sample: Sample): void
  /** An auxiliary element has failed: neither packets nor frames are affected. */
  onAuxiliaryFailure(error: GstError): void
  /** Live sources only, at intervals: the clock that provides the capture times. */
  onClock(clock: CameraClock): void
  /** RTP only, every few seconds: the share of packets lost, 0 to 1. */
  onLoss(share: number): void
}

/** One connection to a source. */
export interface PipelineSession {
  /** A tee named `packets` provides the packets. */
  readonly pipeline: Pipeline
  /** RTP only: aligns sound with the picture by the camera's sender reports. */
  readonly lipSync: LipSync | undefined
  /** Packets that are not read in time are dropped. */
  readonly live: boolean
  /** Whether playback has started, so that packets may have passed. Stays true after the end. */
  hasStarted(): boolean
  /** Plays until the session ends or the signal fires. The caller disposes of the pipeline. */
  play(signal: AbortSignal): Promise<Outcome>
  /** Ends the session from outside. */
  end(outcome: Outcome): void
}

/** Packets that may be queued for the JavaScript thread. When the queue is full, a live source drops the oldest; a file waits. */
const MAX_HELD_PACKETS = 64
/** How often the RTP statistics are read. */
const RECEPTION_INTERVAL_MS = 100
/** How often pacing is checked until the first packet arrives. */
const PACING_INTERVAL_MS = 500

/** Throws a `SourceFault` or `GstError` if the pipeline cannot be created. */
export function createPipelineSession(options: PipelineSessionOptions): PipelineSession {
  const { origin, clock } = options
  const outcome = Promise.withResolvers<Outcome>()
  const pipeline = new Pipeline(buildLaunch(options), message => {
    if (message.type === 'error' && isAuxiliary(message.error))
      return options.onAuxiliaryFailure(message.error)
    const end = toOutcome(message, origin)
    if (end) outcome.resolve(end)
  })
  const ptsOffset = options.ptsOffset - (origin.timeline?.begins ?? 0)
  let phase: 'created' | 'playing' | 'over' = 'created'
  let hasPackets = false
  let lastPacketAt = clock.now()
  let receptionReadAt = lastPacketAt

  origin.configure(pipeline)
  pipeline.setTimeline({ ptsOffset })
  const anchor = createWallClockAnchor({ pipeline, origin, ptsOffset, clock })
  const lipSync = origin.rtp ? createCameraLipSync({ pipeline, ptsOffset }) : undefined
  const loss = createLossMeter(clock.now())
  const full = origin.live ? 'drop-oldest' : 'block'
  pipeline.samples('live', { queue: MAX_HELD_PACKETS, full }, sample => {
    lastPacketAt = clock.now()
    hasPackets = true
    // Queued packets may arrive after the end, when the pipeline can no longer be queried.
    if (phase !== 'over') trackTime(sample)
    options.onSample(sample)
    sample.release()
    if (phase !== 'over' && origin.live && lastPacketAt - receptionReadAt >= RECEPTION_INTERVAL_MS)
      updateReception()
  })

  function trackTime(sample: Sample) {
    anchor.addPacket(sample)
    if (sample.pts !== null) lipSync?.onPicture(sample.pts)
  }

  async function start(signal: AbortSignal) {
    await pipeline.setState('playing')
    anchor.start()
    if (isPaced(options)) await watchPacing(signal)
  }

  async function watchPacing(signal: AbortSignal) {
    while (!hasPackets && !signal.aborted) {
      if (isMispaced(pipeline)) return outcome.resolve({ end: 'mispaced' })
      await clock.sleep(PACING_INTERVAL_MS, signal).catch(() => {})
    }
  }

  function updateReception() {
    receptionReadAt = lastPacketAt
    const reception = origin.rtp ? readReception(pipeline) : undefined
    if (reception) trackReception(reception)
    options.onClock(anchor.cameraClock())
  }

  function trackReception(reception: Reception) {
    anchor.addReception(reception)
    const share = loss.measure(reception, clock.now())
    if (share !== undefined) options.onLoss(share)
  }

  /** Resolves once no packet has arrived for this long. */
  async function waitForSilence(limitMs: number, signal: AbortSignal): Promise<Outcome> {
    lastPacketAt = clock.now()
    for (;;) {
      const leftMs = lastPacketAt + limitMs - clock.now()
      if (leftMs <= 0) break
      await clock.sleep(leftMs, signal)
    }
    const received = origin.rtp ? (readReception(pipeline)?.received ?? 0) : 0
    const reason =
      received > 0
        ? `has sent ${received} packets but no picture for ${limitMs / 1000} s: check the camera and the network to it`
        : `has sent nothing for ${limitMs / 1000} s: check the camera and the network to it`
    return { end: 'lost', fault: new SourceFault(`${origin.name} ${reason}`, { transient: true }) }
  }

  return {
    pipeline,
    lipSync,
    live: origin.live,
    hasStarted: () => phase !== 'created',
    end: outcome.resolve,
    async play(signal) {
      const done = new AbortController()
      const ended = AbortSignal.any([signal, done.signal])
      signal.addEventListener('abort', () => outcome.resolve({ end: 'stopped' }), { signal: done.signal })
      if (signal.aborted) outcome.resolve({ end: 'stopped' })
      phase = 'playing'
      if (origin.silenceMs) waitForSilence(origin.silenceMs, ended).then(outcome.resolve, () => {})
      start(ended).catch(error => outcome.resolve(toErrorOutcome(error, origin)))
      try {
        return await outcome.promise
      } finally {
        phase = 'over'
        done.abort()
      }
    },
  }
}

const isPaced = ({ origin, unpaced }: PipelineSessionOptions) => !origin.live && !unpaced

function buildLaunch(options: PipelineSessionOptions): string {
  const { origin, codec, unpaced } = options
  const pace = isPaced(options) ? [PACING_ELEMENT] : []
  const sound = unpaced ? '' : (origin.sound ?? '')
  const sink = 'appsink name=live sync=false async=false'
  return `${[...buildPacketElements(codec, origin), ...pace, 'tee name=packets'].join(' ! ')} packets. ! ${sink} ${sound}`
}

function toOutcome(message: Message, origin: Origin): Outcome | Promise<Outcome> | undefined {
  if (message.type === 'eos') return { end: 'eos' }
  if (message.type === 'error') return toErrorOutcome(message.error, origin)
  if (message.type === 'warning' && isLinkFailure(message.error) && !isMissingSoundWarning(message.error))
    return { end: 'unlinked' }
  return undefined
}

function toErrorOutcome(error: GstError, origin: Origin): Outcome | Promise<Outcome> {
  // The message of all GStreamer decoders that receive no picture.
  const unshown = /no valid frames found/.test(error.debug ?? '')
  if (unshown || error.source === DECODER_NAME) return { end: 'undecodable', reason: error.message, unshown }
  if (isLinkFailure(error) || origin.hasNoH264?.(error)) return { end: 'unlinked' }
  // When a decoder refuses its input, the element before it may report the error.
  if (/reason not-negotiated/.test(error.debug ?? '')) return { end: 'undecodable', reason: error.message }
  return Promise.resolve(origin.fault(error)).then(fault => ({ end: 'lost', fault }))
}

const PACING = 'pace'

/** Passes each packet when it is due, relative to the first one. */
const PACING_ELEMENT = `clocksync name=${PACING} sync-to-first=true`

/**
 * Whether `clocksync` is going to delay the first packet for hours. On the way to PLAYING, an element receives its clock shortly
 * before its base time. A packet that reaches `clocksync` in between counts as late by the absolute clock value.
 */
function isMispaced(pipeline: Pipeline): boolean {
  const runningTime = pipeline.runningTime()
  return runningTime !== null && Number(pipeline.get(PACING, 'ts-offset')) > runningTime
}
