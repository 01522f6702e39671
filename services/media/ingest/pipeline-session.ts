import type { CameraClock } from '@eyrie/contract'
import { DECODER } from '../decode/decoders.ts'
import { isAuxiliary } from '../gstreamer/auxiliary-elements.ts'
import { isLinkFailure } from '../gstreamer/video-caps.ts'
import { type GstError, type Message, Pipeline, type Sample } from '../node-gst/index.ts'
import type { Clock } from '../runtime/clock.ts'
import { isWithoutSound } from '../sound/sound-elements.ts'
import type { LipSync } from '../sound/sound-tap.ts'
import type { Origin } from './origin/origin.ts'
import { SourceFault } from './origin/source-fault.ts'
import { formElements, type PacketForm } from './packet-form.ts'
import { createAbsoluteTime } from './timing/absolute-time.ts'
import { createLipSync } from './timing/lip-sync.ts'
import { isMispaced, paceElement } from './timing/pacing.ts'
import { createLossMeter } from './timing/packet-loss.ts'
import { type Reception, readReception } from './timing/rtp-statistics.ts'

/** How a session came to its end. */
export type Outcome =
  | { end: 'eos' }
  | { end: 'stopped' }
  /** Its first packet would be held back for hours. */
  | { end: 'mispaced' }
  | { end: 'lost'; fault: SourceFault }
  /** The decoder failed, not the source. `unshown`: by the end of the stream it had found no picture in it. */
  | { end: 'undecodable'; reason: string; unshown?: boolean }
  /** There is something else than what was taken, or nothing. */
  | { end: 'unlinked' }

export interface PipelineSessionOptions {
  origin: Origin
  /** What is taken, and nothing else. */
  form: PacketForm
  /** As fast as the readers go instead of in real time. */
  unpaced: boolean
  /** 90 kHz ticks of stream time at which it begins. */
  ptsOffset: number
  clock: Clock
  onSample(sample: Sample): void
  /** An element has failed on which neither packets nor frames depend. */
  onFailedBeside(error: GstError): void
  /** Of a camera, now and then: whose clock tells when its pictures were taken. */
  onClock(clock: CameraClock): void
  /** Of a camera by RTP, every few seconds: the share of its packets that were lost. */
  onLoss(share: number): void
}

/** One connection to a source, from the first packet to the last. */
export interface PipelineSession {
  /** Its packets come from a tee named `packets`. */
  readonly pipeline: Pipeline
  /** Of a camera by RTP, which reports what belongs together. */
  readonly lipSync: LipSync | undefined
  /** What is not taken in time is lost. */
  readonly live: boolean
  /** From then on packets may have come. */
  isPlaying(): boolean
  /** Plays until it ends or the signal fires. The pipeline is left to be disposed of. */
  play(signal: AbortSignal): Promise<Outcome>
  /** Ends it from outside. */
  end(outcome: Outcome): void
}

/**
 * What may wait for this thread. A camera sends on, and what is too much is lost; what is read from a file waits there instead.
 */
const PACKETS_HELD = 64
/** How often is read what RTP's own statistics say. */
const RECEPTION_MS = 100
/** How often the pace is looked at until the first packet has come. */
const PACE_MS = 500

/** Throws a Fault or GstError where the pipeline cannot be made. */
export function createPipelineSession(options: PipelineSessionOptions): PipelineSession {
  const { origin, clock } = options
  const outcome = Promise.withResolvers<Outcome>()
  const pipeline = new Pipeline(sessionLaunch(options), message => {
    if (message.type === 'error' && isAuxiliary(message.error)) return options.onFailedBeside(message.error)
    const end = endBy(message, origin)
    if (end) outcome.resolve(end)
  })
  const begins = origin.timeline?.begins ?? 0
  const ptsOffset = options.ptsOffset - begins
  let lastPacketAt = clock.now()
  let readAt = lastPacketAt
  let over = false
  let playing = false
  let begun = false

  origin.configure(pipeline)
  pipeline.setTimeline({ ptsOffset })
  const time = createAbsoluteTime({ pipeline, origin, ptsOffset, clock })
  const lipSync = origin.rtp ? createLipSync({ pipeline, ptsOffset }) : undefined
  const loss = createLossMeter(clock.now())
  const full = origin.live ? 'drop-oldest' : 'block'
  pipeline.samples('live', { queue: PACKETS_HELD, full }, sample => {
    lastPacketAt = clock.now()
    begun = true
    // The last packets may come when there is no pipeline to be asked any more.
    if (!over) note(sample)
    options.onSample(sample)
    sample.release()
    if (!over && origin.live && lastPacketAt - readAt >= RECEPTION_MS) look()
  })

  function note(sample: Sample) {
    time.packet(sample)
    if (sample.pts !== null) lipSync?.seen(sample.pts)
  }

  async function start(signal: AbortSignal) {
    await pipeline.setState('playing')
    time.begin()
    if (isPaced(options)) await watchPace(signal)
  }

  async function watchPace(signal: AbortSignal) {
    while (!begun && !signal.aborted) {
      if (isMispaced(pipeline)) return outcome.resolve({ end: 'mispaced' })
      await clock.sleep(PACE_MS, signal).catch(() => {})
    }
  }

  function look() {
    readAt = lastPacketAt
    const reception = origin.rtp ? readReception(pipeline) : undefined
    if (reception) hear(reception)
    options.onClock(time.clock())
  }

  function hear(reception: Reception) {
    time.received(reception)
    const share = loss.measure(reception, clock.now())
    if (share !== undefined) options.onLoss(share)
  }

  /** Resolves after a silence that only a lost source can explain. */
  async function silence(limitMs: number, signal: AbortSignal): Promise<Outcome> {
    lastPacketAt = clock.now()
    for (;;) {
      const leftMs = lastPacketAt + limitMs - clock.now()
      if (leftMs <= 0) break
      await clock.sleep(leftMs, signal)
    }
    const received = origin.rtp ? (readReception(pipeline)?.received ?? 0) : 0
    const reason =
      received > 0
        ? `has sent ${received} packets and for ${limitMs / 1000} s no picture among them: check the camera, and the network to it`
        : `has sent nothing for ${limitMs / 1000} s: check the camera and the network to it`
    return { end: 'lost', fault: new SourceFault(`${origin.name} ${reason}`, { transient: true }) }
  }

  return {
    pipeline,
    lipSync,
    live: origin.live,
    isPlaying: () => playing,
    end: outcome.resolve,
    async play(signal) {
      const done = new AbortController()
      const either = AbortSignal.any([signal, done.signal])
      signal.addEventListener('abort', () => outcome.resolve({ end: 'stopped' }), { signal: done.signal })
      if (signal.aborted) outcome.resolve({ end: 'stopped' })
      playing = true
      if (origin.silenceMs) silence(origin.silenceMs, either).then(outcome.resolve, () => {})
      start(either).catch(error => outcome.resolve(endByError(error, origin)))
      try {
        return await outcome.promise
      } finally {
        over = true
        done.abort()
      }
    },
  }
}

const isPaced = ({ origin, unpaced }: PipelineSessionOptions) => !origin.live && !unpaced

function sessionLaunch(options: PipelineSessionOptions): string {
  const { origin, form, unpaced } = options
  const pace = isPaced(options) ? [paceElement] : []
  const sound = unpaced ? '' : (origin.sound ?? '')
  const sink = 'appsink name=live sync=false async=false'
  return `${[...formElements(form, origin), ...pace, 'tee name=packets'].join(' ! ')} packets. ! ${sink} ${sound}`
}

function endBy(message: Message, origin: Origin): Outcome | Promise<Outcome> | undefined {
  if (message.type === 'eos') return { end: 'eos' }
  if (message.type === 'error') return endByError(message.error, origin)
  if (message.type === 'warning' && isLinkFailure(message.error) && !isWithoutSound(message.error))
    return { end: 'unlinked' }
  return undefined
}

function endByError(error: GstError, origin: Origin): Outcome | Promise<Outcome> {
  // As all of GStreamer's decoders say it.
  const unshown = /no valid frames found/.test(error.debug ?? '')
  if (unshown || error.source === DECODER) return { end: 'undecodable', reason: error.message, unshown }
  if (isLinkFailure(error) || origin.hasNoH264?.(error)) return { end: 'unlinked' }
  // What a decoder refuses may be told by an element before it, where its refusal arrives.
  if (/reason not-negotiated/.test(error.debug ?? '')) return { end: 'undecodable', reason: error.message }
  return Promise.resolve(origin.fault(error)).then(fault => ({ end: 'lost', fault }))
}
