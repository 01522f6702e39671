import type { CameraClock } from '@eyrie/contract'
import type { Log } from '@eyrie/kit'
import { DECODER_NAME } from '../decode/decoders.ts'
import { isAuxiliary } from '../gstreamer/auxiliary-elements.ts'
import { isLinkFailure, isNotNegotiated } from '../gstreamer/video-caps.ts'
import {
  type GstError,
  isCallbackError,
  type Message,
  Pipeline,
  type Sample,
} from '../node-gst/index.ts'
import type { Clock } from '../runtime/clock.ts'
import { isMissingSoundWarning } from '../sound/sound-elements.ts'
import type { LipSync } from '../sound/sound-tap.ts'
import type { Origin } from './origin/origin.ts'
import { SourceFault } from './origin/source-fault.ts'
import { buildPacketElements, type PacketCodec } from './packet-codec.ts'
import { createSilenceWatch } from './silence-watch.ts'
import { createArrivalAnchor } from './timing/arrival-anchor.ts'
import { createCameraLipSync } from './timing/camera-lip-sync.ts'
import { createLossMeter } from './timing/loss-meter.ts'
import { createPictureDistance } from './timing/picture-distance.ts'
import { type Reception, readReception } from './timing/rtp-statistics.ts'
import type { SessionTiming } from './timing/stream-alignment.ts'
import { createWallClockAnchor } from './timing/wall-clock-anchor.ts'

/** Name of the pacing element. */
const PACING = 'pace'

/**
 * Passes each packet when it is due, relative to the first one, so that a file plays in real time.
 */
const PACING_ELEMENT = `clocksync name=${PACING} sync-to-first=true`

/** The reason why a session ended. */
export type Outcome =
  | { end: 'eos' }
  | { end: 'stopped' }
  /** The pacing element would delay the first packet for hours: see `isPacedWrongly`. */
  | { end: 'wrong-pacing' }
  | { end: 'lost'; fault: SourceFault }
  /**
   * The decoder has failed, not the source. `isWithoutPicture`: the stream ended before the
   * decoder found a picture.
   */
  | { end: 'undecodable'; reason: string; isWithoutPicture?: boolean }
  /** The source does not offer video in the requested codec. */
  | { end: 'other-codec' }
  /** The source has sent a codec that a session for this codec can pass through. */
  | { end: 'recognized' }

export interface PipelineSessionOptions {
  origin: Origin
  /** Codec that the session accepts. */
  codec: PacketCodec
  /** Whether packets are read as fast as they are processed, instead of in real time. */
  unpaced: boolean
  /** Stream time at which the session begins, in 90 kHz ticks. */
  ptsOffset: number
  clock: Clock
  log: Log
  onSample(sample: Sample): void
  /**
   * Called when an auxiliary element, such as an encoder, has failed. Packets and decoded
   * frames are not affected.
   */
  onAuxiliaryFailure(error: GstError): void
  /** Called at intervals for live sources with the clock from which capture times are derived. */
  onClock(clock: CameraClock): void
  /**
   * Called every few seconds, if packets arrive over RTP, with the share of packets lost, 0 to 1.
   */
  onLoss(share: number): void
}

/**
 * One connection to a camera, or one playback of a file. The session has its own GStreamer
 * pipeline, which receives the packets of the coded video and passes them to JavaScript.
 */
export interface PipelineSession {
  /**
   * Other parts of the service add branches, such as the decoder. They get the packets
   * from the tee `packets`.
   */
  readonly pipeline: Pipeline
  readonly origin: Origin
  /** Aligns sound with video by the camera's sender reports; undefined without RTP. */
  readonly lipSync: LipSync | undefined
  /** Whether packets that are not read in time are dropped. */
  readonly isLive: boolean
  /** Returns whether playback has ever started: if so, packets may have passed the tee. */
  hasStarted(): boolean
  /**
   * Plays until the session ends or the signal fires. Afterwards the caller must
   * dispose of the pipeline.
   */
  play(signal: AbortSignal): Promise<Outcome>
  /** Ends the session with this outcome. */
  end(outcome: Outcome): void
  /**
   * Returns how stream time relates to clocks; undefined until the pipeline plays and
   * pictures have arrived.
   */
  timing(): SessionTiming | undefined
  /**
   * Changes the stream time of later pictures: `ptsOffset` is the stream time at running
   * time 0, in 90 kHz ticks.
   */
  realign(ptsOffset: number): void
}

/**
 * Length of the queue to the JavaScript thread. If the queue is full, a live source drops the
 * oldest packet, and a file waits.
 */
const MAX_QUEUED_PACKETS = 64
/** How often the RTP statistics are read. */
const RECEPTION_INTERVAL_MS = 100
/** How often pacing is checked until the first packet arrives. */
const PACING_INTERVAL_MS = 500

/** Throws a `SourceFault` or `GstError` if the pipeline cannot be created. */
export function createPipelineSession(options: PipelineSessionOptions): PipelineSession {
  const { origin, clock, log } = options
  const outcome = Promise.withResolvers<Outcome>()

  const pipeline = new Pipeline(buildLaunch(options), message => {
    if (message.type === 'error' && isCallbackError(message.error) && phase !== 'ended') {
      const { source: element, cause: err } = message.error
      log.error({ origin: origin.name, element, err }, 'failed to process data of source')
    }
    if (message.type === 'error' && isAuxiliary(message.error)) {
      return options.onAuxiliaryFailure(message.error)
    }
    const end = toOutcome(message, origin)
    if (end) outcome.resolve(end)
  })

  let ptsOffset = options.ptsOffset - (origin.timeline?.beginTicks ?? 0)
  let phase: 'created' | 'playing' | 'ended' = 'created'
  let hasPackets = false
  let receptionReadAt = clock.now()

  origin.configure(pipeline)
  pipeline.setTimeline({ ptsOffset })
  const anchor = createWallClockAnchor({ pipeline, origin, clock })
  const arrivalAnchor = createArrivalAnchor(pipeline, clock)
  const pictureDistance = createPictureDistance()
  const lipSync = origin.usesRtp ? createCameraLipSync(pipeline) : undefined
  const lossMeter = createLossMeter(clock.now())
  const silence = origin.silenceMs
    ? createSilenceWatch({
        name: origin.name,
        limitMs: origin.silenceMs,
        clock,
        countReceived: () => (origin.usesRtp ? (readReception(pipeline)?.received ?? 0) : 0),
      })
    : undefined
  pipeline.samples(
    'live',
    { queue: MAX_QUEUED_PACKETS, full: origin.isLive ? 'drop-oldest' : 'block' },
    onSample,
  )

  function onSample(sample: Sample) {
    hasPackets = true
    silence?.onPacket()
    // Queued packets may arrive after the end, when the pipeline can no longer be queried.
    if (phase !== 'ended') trackTime(sample)
    options.onSample(sample)
    sample.release()

    if (phase !== 'ended' && origin.isLive) updateReceptionIfDue()
  }

  function trackTime(sample: Sample) {
    anchor.addPacket(sample)
    if (sample.runningTicks !== null) pictureDistance.addPicture(sample.runningTicks)
    if (sample.pts !== null) lipSync?.onPicture(sample.pts)
  }

  async function start(signal: AbortSignal) {
    await pipeline.setState('playing')
    anchor.start()
    if (isPaced(options)) await watchPacing(signal)
  }

  /** Ends the session if the first packet would be delayed for hours. */
  async function watchPacing(signal: AbortSignal) {
    while (!hasPackets && !signal.aborted) {
      if (isPacedWrongly(pipeline)) return outcome.resolve({ end: 'wrong-pacing' })
      await clock.sleep(PACING_INTERVAL_MS, signal).catch(() => {})
    }
  }

  function updateReceptionIfDue() {
    const now = clock.now()
    if (now - receptionReadAt < RECEPTION_INTERVAL_MS) return
    receptionReadAt = now

    const reception = origin.usesRtp ? readReception(pipeline) : undefined
    if (reception) trackReception(reception)
    options.onClock(anchor.cameraClock())
  }

  function trackReception(reception: Reception) {
    anchor.addReception(reception)
    const share = lossMeter.measure(reception, clock.now())
    if (share !== undefined) options.onLoss(share)
  }

  return {
    pipeline,
    origin,
    lipSync,
    isLive: origin.isLive,
    hasStarted: () => phase !== 'created',
    end: outcome.resolve,

    timing() {
      const pictureTicks = pictureDistance.ticks()
      if (phase !== 'playing' || pictureTicks === undefined) return undefined

      const arrivalUs = arrivalAnchor.measureUs()
      if (arrivalUs === undefined) return undefined
      return { ptsOffset, arrivalUs, cameraUs: anchor.cameraAnchorUs(), pictureTicks }
    },

    realign(next) {
      ptsOffset = next
      pipeline.realign(next)
    },

    async play(signal) {
      const finished = new AbortController()
      const ended = AbortSignal.any([signal, finished.signal])
      const stop = () => outcome.resolve({ end: 'stopped' })
      signal.addEventListener('abort', stop, { signal: finished.signal })
      if (signal.aborted) stop()

      phase = 'playing'
      silence?.wait(ended).then(
        fault => outcome.resolve({ end: 'lost', fault }),
        () => {},
      )
      start(ended).catch(error => outcome.resolve(toErrorOutcome(error, origin)))

      try {
        return await outcome.promise
      } finally {
        phase = 'ended'
        finished.abort()
      }
    },
  }
}

/** Whether packets are delayed until they are due. Live packets arrive when they are due. */
const isPaced = ({ origin, unpaced }: PipelineSessionOptions) => !origin.isLive && !unpaced

/**
 * Returns the launch string of the pipeline. Its appsink `live` passes the packets to JavaScript.
 */
function buildLaunch(options: PipelineSessionOptions): string {
  const { origin, codec, unpaced } = options
  const elements = buildPacketElements(codec, origin)
  if (isPaced(options)) elements.push(PACING_ELEMENT)
  elements.push('tee name=packets')

  const sink = 'packets. ! appsink name=live sync=false async=false'
  const sound = unpaced ? '' : (origin.sound ?? '')
  return `${elements.join(' ! ')} ${sink} ${sound}`
}

/** Returns the outcome of a session that this message ends; undefined for other messages. */
function toOutcome(message: Message, origin: Origin): Outcome | Promise<Outcome> | undefined {
  if (message.type === 'eos') return { end: 'eos' }
  if (message.type === 'error') return toErrorOutcome(message.error, origin)
  if (message.type !== 'warning') return undefined

  const isVideoMissing = isLinkFailure(message.error) && !isMissingSoundWarning(message.error)
  return isVideoMissing ? { end: 'other-codec' } : undefined
}

function toErrorOutcome(error: GstError, origin: Origin): Outcome | Promise<Outcome> {
  if (isCallbackError(error)) {
    const reason = `${origin.name} stopped: ${error.message}`
    return { end: 'lost', fault: new SourceFault(reason, { transient: true, cause: error }) }
  }
  // All GStreamer decoders report this when the stream ends without a picture.
  const isWithoutPicture = /no valid frames found/.test(error.debug ?? '')
  if (isWithoutPicture || error.source === DECODER_NAME) {
    return { end: 'undecodable', reason: error.message, isWithoutPicture }
  }
  if (isLinkFailure(error) || origin.hasNoH264?.(error)) return { end: 'other-codec' }
  // If a decoder rejects its input, the error may come from the element before the decoder.
  if (isNotNegotiated(error)) return { end: 'undecodable', reason: error.message }
  return explainLoss(error, origin)
}

async function explainLoss(error: GstError, origin: Origin): Promise<Outcome> {
  return { end: 'lost', fault: await origin.explainError(error) }
}

/**
 * Returns whether `clocksync` is going to delay the first packet for hours. On the way to PLAYING,
 * GStreamer sets the clock of an element shortly before its base time. A packet that reaches
 * `clocksync` in between is timed against the absolute clock value.
 */
function isPacedWrongly(pipeline: Pipeline): boolean {
  const runningTime = pipeline.runningTime()
  return runningTime !== null && Number(pipeline.get(PACING, 'ts-offset')) > runningTime
}
