import type { Clock } from '../clock.ts'
import { isBeside } from '../decode/beside.ts'
import { DECODER } from '../decode/decoders.ts'
import { type GstError, type Message, Pipeline, type Sample } from '../node-gst/index.ts'
import { Fault } from './fault.ts'
import { type Form, formElements } from './form.ts'
import type { Origin } from './origin.ts'
import { isUnlinked } from './probe.ts'

/** How a session came to its end. */
export type Outcome =
  | { end: 'eos' }
  | { end: 'stopped' }
  | { end: 'lost'; fault: Fault }
  /** The decoder failed, not the source. */
  | { end: 'undecodable'; reason: string }
  /** There is something else than what was taken, or nothing. */
  | { end: 'unlinked' }

export interface SessionOptions {
  origin: Origin
  /** What is taken, and nothing else. */
  form: Form
  /** As fast as the readers go instead of in real time. */
  unpaced: boolean
  /** 90 kHz ticks of stream time at which it begins. */
  ptsOffset: number
  clock: Clock
  onSample(sample: Sample): void
  /** An element has failed on which neither packets nor frames depend. */
  onFailedBeside(error: GstError): void
}

/** One connection to a source, from the first packet to the last. */
export interface Session {
  /** Its packets come from a tee named `packets`. */
  readonly pipeline: Pipeline
  /** Plays until it ends or the signal fires. The pipeline is left to be disposed of. */
  play(signal: AbortSignal): Promise<Outcome>
  /** Ends it from outside. */
  end(outcome: Outcome): void
}

const PACKETS_HELD = 64

/** Throws a Fault or GstError where the pipeline cannot be made. */
export function createSession(options: SessionOptions): Session {
  const { origin, clock } = options
  const outcome = Promise.withResolvers<Outcome>()
  const pipeline = new Pipeline(sessionLaunch(options), message => {
    if (message.type === 'error' && isBeside(message.error)) return options.onFailedBeside(message.error)
    const end = endBy(message, origin)
    if (end) outcome.resolve(end)
  })
  const { begins = 0, anchorUs } = origin.timeline ?? {}
  let timeAnchorUs = anchorUs ?? anchorAt(0)
  let lastPacketAt = clock.now()

  origin.configure(pipeline)
  pipeline.setTimeline({ ptsOffset: options.ptsOffset - begins, timeAnchorUs })
  pipeline.samples('live', { queue: PACKETS_HELD, full: 'drop-oldest' }, sample => {
    lastPacketAt = clock.now()
    if (origin.live && origin.timeline) keepFromFuture(sample)
    options.onSample(sample)
    sample.release()
  })

  async function start() {
    await pipeline.setState('playing')
    const runningNs = pipeline.runningTime()
    if (runningNs === null || anchorUs !== undefined) return
    timeAnchorUs = anchorAt(runningNs)
    pipeline.setTimeline({ timeAnchorUs })
  }

  /** Wall clock at running time 0, when a picture of the beginning is taken at this running time. */
  function anchorAt(runningNs: number): number {
    return Math.round(clock.wall() * 1000 - runningNs / 1000 - (begins * 100) / 9)
  }

  /**
   * No picture is taken after it has come: where one seems to be, the others of this stream came late, too, such as those
   * of the group of pictures that a server sends first.
   */
  function keepFromFuture({ timeUs }: Sample) {
    const aheadUs = (timeUs ?? 0) - clock.wall() * 1000
    if (aheadUs <= 0) return
    timeAnchorUs -= Math.ceil(aheadUs)
    pipeline.setTimeline({ timeAnchorUs })
  }

  /** Resolves after a silence that only a lost source can explain. */
  async function silence(limitMs: number, signal: AbortSignal): Promise<Outcome> {
    lastPacketAt = clock.now()
    for (;;) {
      const leftMs = lastPacketAt + limitMs - clock.now()
      if (leftMs <= 0) break
      await clock.sleep(leftMs, signal)
    }
    const reason = `${origin.name} has sent nothing for ${limitMs / 1000} s: check the camera and the network to it`
    return { end: 'lost', fault: new Fault(reason, { transient: true }) }
  }

  return {
    pipeline,
    end: outcome.resolve,
    async play(signal) {
      const done = new AbortController()
      const either = AbortSignal.any([signal, done.signal])
      signal.addEventListener('abort', () => outcome.resolve({ end: 'stopped' }), { signal: done.signal })
      if (signal.aborted) outcome.resolve({ end: 'stopped' })
      if (origin.silenceMs) silence(origin.silenceMs, either).then(outcome.resolve, () => {})
      start().catch(error => outcome.resolve(endByError(error, origin)))
      try {
        return await outcome.promise
      } finally {
        done.abort()
      }
    },
  }
}

function sessionLaunch({ origin, form, unpaced }: SessionOptions): string {
  const pace = origin.live || unpaced ? [] : ['clocksync sync-to-first=true']
  const sink = 'appsink name=live sync=false async=false'
  return `${[...formElements(form, origin), ...pace, 'tee name=packets'].join(' ! ')} packets. ! ${sink}`
}

function endBy(message: Message, origin: Origin): Outcome | Promise<Outcome> | undefined {
  if (message.type === 'eos') return { end: 'eos' }
  if (message.type === 'error') return endByError(message.error, origin)
  if (message.type === 'warning' && isUnlinked(message.error)) return { end: 'unlinked' }
  return undefined
}

function endByError(error: GstError, origin: Origin): Outcome | Promise<Outcome> {
  if (error.source === DECODER) return { end: 'undecodable', reason: error.message }
  if (isUnlinked(error) || origin.hasNoH264?.(error)) return { end: 'unlinked' }
  // What a decoder refuses may be told by an element before it, where its refusal arrives.
  if (/reason not-negotiated/.test(error.debug ?? '')) return { end: 'undecodable', reason: error.message }
  return Promise.resolve(origin.fault(error)).then(fault => ({ end: 'lost', fault }))
}
