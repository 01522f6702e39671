import { isDeepStrictEqual } from 'node:util'
import type { SourceStatus, ViewSpec, WantedSource } from '@eyrie/contract'
import { backoffMs, type Log } from '@eyrie/kit'
import type { Clock } from '../clock.ts'
import type { Decoders } from '../decode/decoders.ts'
import { createDecoding, type Decoding, type ViewListener } from '../decode/decoding.ts'
import type { RingFolder } from '../decode/ring-folder.ts'
import type { Stream } from '../live/stream.ts'
import { displaySize, type Picture } from '../picture.ts'
import { createVariants, type Variants } from '../transcode/variants.ts'
import { Fault, withoutCredentials } from './fault.ts'
import { type Form, formOf, NEXT_FORM } from './form.ts'
import { openOrigin } from './origin.ts'
import { createPackets } from './packets.ts'
import { createReading } from './reading.ts'
import { createSession, type Outcome, type Session } from './session.ts'

export interface SourceListener extends ViewListener {
  status(status: SourceStatus): void
}

export interface SourceOptions {
  wanted: Pick<WantedSource, 'id' | 'type' | 'address' | 'decoder' | 'pacing'>
  epoch: number
  mediaRoots: readonly string[]
  rings: RingFolder
  decoders: Decoders
  clock: Clock
  random: () => number
  log: Log
  listener: SourceListener
}

/** A source through all its sessions: it is played, lost, found again and looped until it is stopped. */
export interface Source {
  /** The live view in H.264, whatever the source sends. */
  readonly stream: Stream
  readonly variants: Variants
  status(): SourceStatus
  want(views: Record<string, ViewSpec>, rate: number | undefined): Promise<void>
  grant: Decoding['grant']
  rings: Decoding['rings']
  readFrames: Decoding['read']
  stats(): ReturnType<Decoding['stats']> & { packets: number }
  stop(): Promise<void>
}

const BACKOFF = { firstMs: 500, mostMs: 30_000 }
/** A source that is lost sooner than this after it was found is waited for longer and longer. */
const STEADY_MS = 10_000

export function createSource(options: SourceOptions): Source {
  const { wanted, epoch, clock, decoders, listener } = options
  const { id, type, pacing } = wanted
  /** It has no end of its own: when it is gone it is lost, and waited for. */
  const endless = type !== 'file' && type !== 'inf'
  const name = withoutCredentials(wanted.address.url)
  const { log } = options
  const decoding = createDecoding({ source: id, epoch, pacing, rings: options.rings, listener })
  const variants = createVariants({ source: id, epoch, clock, log, read: decoding.read })
  const packets = createPackets(variants.writer, clock, {
    onPicture: picture => void decode(picture),
    onPacket,
  })
  const stopping = new AbortController()
  const reading = createReading(stopping.signal)
  const failedDecoders = new Set<string>()
  let status: SourceStatus = { id, state: 'connecting' }
  let session: Session | undefined
  let form: Form = 'h264'
  let failures = 0

  const finished = play()

  async function play() {
    while (!stopping.signal.aborted) {
      const outcome = await playOnce().catch(error => (stopping.signal.aborted ? AGAIN : failure(error)))
      if (outcome.end === 'again') continue
      if (outcome.end === 'eos') {
        tell({ state: 'ended', reason: undefined })
        break
      }
      variants.writer.interrupt()
      tell({ state: endless ? 'reconnecting' : 'failed', reason: outcome.fault.message })
      if (type === 'file' && !outcome.fault.transient) break
      await clock.sleep(backoffMs(failures++, BACKOFF, options.random), stopping.signal).catch(() => {})
    }
    variants.end(status.reason ?? 'the stream has come to its end')
  }

  async function playOnce(): Promise<Verdict> {
    const signal = pacing === 'all' ? await reading.begun() : stopping.signal
    const origin = await openOrigin(wanted, {
      mediaRoots: options.mediaRoots,
      clock,
      signal: stopping.signal,
    })
    const [begunAt, before] = [clock.now(), packets.count()]
    const { picture } = origin
    session = createSession({
      origin,
      form: picture ? formOf(picture.codec) : form,
      unpaced: pacing === 'all',
      ptsOffset: packets.nextPts(origin.live),
      clock,
      onSample: packets.read,
      onFailedBeside: decoding.failedBeside,
    })
    try {
      if (picture) await decode(picture)
      else if (form !== 'any') await attach(form)
      return judge(await session.play(signal), packets.count() > before)
    } finally {
      // First nobody may hang anything more on this pipeline: its last packets may still be on their way here.
      const { pipeline } = session
      session = undefined
      await decoding.detach()
      await pipeline.dispose()
      if (clock.now() - begunAt > STEADY_MS) failures = 0
    }
  }

  /** What is to follow from the end of a session. */
  function judge(outcome: Outcome, played: boolean): Verdict {
    switch (outcome.end) {
      case 'stopped':
        return { end: 'again' }
      case 'eos':
        if (type === 'file' && played) return outcome
        if (type === 'inf' && played) return { end: 'again' }
        return lost(endless ? 'has ended the stream' : 'holds no picture')
      case 'unlinked': {
        const next = NEXT_FORM[form]
        if (!endless || !next || wanted.decoder === 'gst_h264')
          return lost(
            form === 'h264'
              ? 'has no H.264 video: choose decoder gst for other codecs'
              : 'has no video that can be decoded: set the camera to H.264',
            false,
          )
        form = next
        return AGAIN
      }
      case 'undecodable':
        return nextDecoder(outcome.reason)
      case 'lost':
        // Another camera may hang there when it comes back.
        form = 'h264'
        return outcome
    }
  }

  function nextDecoder(reason: string): Verdict {
    const { codec = 'h264', decoder = wanted.decoder } = status
    log.warn(`source ${id}: the decoder ${decoder} has failed: ${reason}`)
    failedDecoders.add(decoder)
    if (decoders.choose(wanted.decoder, codec, failedDecoders)) return { end: 'again' }
    failedDecoders.clear()
    return lost(`cannot be decoded by ${decoder}: ${reason}`)
  }

  async function decode(picture: Picture) {
    const { codec, fps } = picture
    tell({ ...displaySize(picture), codec, fps })
    variants.show(codec)
    await decoding.show(picture).catch(undecodable(session))
    await attach(codec)
  }

  async function attach(codec: string) {
    const decoder = decoders.choose(wanted.decoder, codec, failedDecoders)
    if (!decoder) {
      return session?.end(
        lost(`is ${codec}, which decoder ${wanted.decoder} does not know: choose gst`, false),
      )
    }
    tell({ decoder })
    if (session) await decoding.attach(session.pipeline, decoder).catch(undecodable(session))
  }

  /** Ends the session that was meant, which may have been followed by another meanwhile. */
  function undecodable(meant: Session | undefined) {
    return ({ message }: Error) => meant?.end({ end: 'undecodable', reason: message })
  }

  function onPacket() {
    if (status.state === 'running') return
    tell({ state: 'running', reason: undefined })
  }

  const lost = (reason: string, transient = true) =>
    ({ end: 'lost', fault: new Fault(`${name} ${reason}`, { transient }) }) as const

  function tell(change: Partial<SourceStatus>) {
    const next = { ...status, ...change }
    if (isDeepStrictEqual(next, status)) return
    if (next.state !== status.state || next.reason !== status.reason) {
      const level = next.state === 'failed' || next.state === 'reconnecting' ? 'warn' : 'info'
      log[level](
        `source ${id} ${/ed$/.test(next.state) ? 'has' : 'is'} ${next.state}${next.reason ? `: ${next.reason}` : ''}`,
      )
    }
    status = next
    listener.status(status)
  }

  return {
    stream: variants.h264,
    variants,
    status: () => status,
    async want(views, rate) {
      reading.set(Object.keys(views).length > 0)
      await decoding.want(views, rate).catch(undecodable(session))
    },
    grant: decoding.grant,
    rings: decoding.rings,
    readFrames: decoding.read,
    stats: () => ({ ...decoding.stats(), packets: packets.count() }),
    async stop() {
      stopping.abort()
      await finished
      await variants.close()
      await decoding.want({}, undefined)
    },
  }
}

const AGAIN = { end: 'again' } as const

type Verdict = { end: 'again' } | { end: 'eos' } | { end: 'lost'; fault: Fault }

function failure(error: Error): Verdict {
  return {
    end: 'lost',
    fault: error instanceof Fault ? error : new Fault(error.message, { transient: true }),
  }
}
