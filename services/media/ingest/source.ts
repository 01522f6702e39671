import { isDeepStrictEqual } from 'node:util'
import type { CameraClock, DesiredSource, SourceStatus, ViewSpec } from '@eyrie/contract'
import type { Log } from '@eyrie/kit'
import type { Clock } from '../clock.ts'
import type { Decoders } from '../decode/decoders.ts'
import { createDecoding, type Decoding, type ViewListener } from '../decode/decoding.ts'
import { createRanking } from '../decode/ranking.ts'
import type { RingFolder } from '../decode/ring-folder.ts'
import type { Stream } from '../live/stream.ts'
import { displaySize, type Picture } from '../picture.ts'
import { createSound, type Sound } from '../sound/sound.ts'
import type { Encoders } from '../transcode/encoders.ts'
import { createVariants, type Variants } from '../transcode/variants.ts'
import { Fault, withoutCredentials } from './fault.ts'
import { type Form, formOf, NEXT_FORM } from './form.ts'
import { born, type LifeEvent, type Nature, step } from './lifecycle.ts'
import { openOrigin } from './origin.ts'
import { createPackets } from './packets.ts'
import { createReading } from './reading.ts'
import { createSession, type Outcome, type Session } from './session.ts'

export interface SourceListener extends ViewListener {
  status(status: SourceStatus): void
}

export interface SourceOptions {
  wanted: Pick<DesiredSource, 'id' | 'type' | 'address' | 'decoder' | 'pacing'>
  epoch: number
  /** Stream time at which it begins. */
  beginPts: number
  mediaRoots: readonly string[]
  rings: RingFolder
  decoders: Decoders
  encoders: Encoders
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
  readonly sound: Sound | undefined
  status(): SourceStatus
  want(views: Record<string, ViewSpec>, rate: number | undefined): Promise<void>
  grant: Decoding['grant']
  rings: Decoding['rings']
  readFrames: Decoding['read']
  stats(): ReturnType<Decoding['stats']> & { packets: number }
  /** Stream time that is later than all its pictures. */
  endPts(): number
  stop(): Promise<void>
}

/** A network that loses less costs a picture now and then. */
const LOSS_WORTH_TELLING = 0.02
/** Clocks that have drifted by less are told of as they were. */
const SKEW_WORTH_TELLING_S = 0.1

export function createSource(options: SourceOptions): Source {
  const { wanted, epoch, beginPts, clock, decoders, encoders, listener } = options
  const { id, type, pacing } = wanted
  const nature: Nature = type === 'file' ? 'once' : type === 'inf' ? 'looped' : 'endless'
  const name = withoutCredentials(wanted.address.url)
  const { log } = options
  const decoding = createDecoding({ source: id, epoch, pacing, rings: options.rings, listener })
  const variants = createVariants({ source: id, epoch, clock, log, encoders, read: decoding.read })
  const packets = createPackets(variants.writer, beginPts, clock, {
    onPicture: picture => void decode(picture),
    onPacket,
  })
  const sound = createSound()
  const stopping = new AbortController()
  const reading = createReading(stopping.signal)
  const ranking = createRanking<string>()
  let status: SourceStatus = { id, state: 'connecting' }
  let session: Session | undefined
  let life = born
  let form: Form = 'h264'

  const finished = play()

  async function play() {
    while (!stopping.signal.aborted) {
      const outcome = await playOnce().catch(error => (stopping.signal.aborted ? AGAIN : failure(error)))
      if (outcome.end === 'again') continue
      if (outcome.end === 'eos') {
        happen({ type: 'ended' })
        break
      }
      variants.writer.interrupt()
      const { message: reason, transient } = outcome.fault
      happen({ type: 'lost', reason, transient })
      if (life.nextTryAt === undefined) break
      await clock.sleep(life.nextTryAt - clock.now(), stopping.signal).catch(() => {})
      happen({ type: 'tried' })
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
    const before = packets.count()
    const { picture } = origin
    session = createSession({
      origin,
      form: picture ? formOf(picture.codec) : form,
      unpaced: pacing === 'all',
      ptsOffset: packets.nextPts(origin.live),
      clock,
      onSample: packets.read,
      onFailedBeside: error => {
        sound.failedBeside(error)
        decoding.failedBeside(error)
      },
      onClock: tellClock,
      onLoss: tellLoss,
    })
    sound.attach(origin.sound && pacing === 'realtime' ? session : undefined)
    try {
      if (picture) await decode(picture)
      else if (form !== 'any') await attach(form)
      return judge(await session.play(signal), packets.count() > before)
    } finally {
      // First nobody may hang anything more on this pipeline: its last packets may still be on their way here.
      const { pipeline } = session
      session = undefined
      sound.detach()
      await decoding.detach()
      await pipeline.dispose()
    }
  }

  /** What is to follow from the end of a session. */
  function judge(outcome: Outcome, played: boolean): Verdict {
    switch (outcome.end) {
      case 'stopped':
      case 'mispaced':
        return AGAIN
      case 'eos':
        if (nature === 'once' && played) return outcome
        if (nature === 'looped' && played) return AGAIN
        return lost(nature === 'endless' ? 'has ended the stream' : 'holds no picture')
      case 'unlinked': {
        const next = NEXT_FORM[form]
        if (nature !== 'endless' || !next || wanted.decoder === 'gst_h264')
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
        // One that came late may have got no keyframe before the end.
        if (outcome.unshown && decoding.isLate()) return judge({ end: 'eos' }, played)
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
    if (ranking.passOver(decoder, decoders.of(wanted.decoder, codec))) return AGAIN
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
    const decoder = ranking.best(decoders.of(wanted.decoder, codec))
    if (!decoder) {
      return session?.end(
        lost(`is ${codec}, which decoder ${wanted.decoder} does not know: choose gst`, false),
      )
    }
    tell({ decoder })
    if (session)
      await decoding.attach(session.pipeline, decoder, session.isPlaying).catch(undecodable(session))
  }

  /** Ends the session that was meant, which may have been followed by another meanwhile. */
  function undecodable(meant: Session | undefined) {
    return ({ message }: Error) => meant?.end({ end: 'undecodable', reason: message })
  }

  function onPacket(pts: number) {
    sound.look(pts)
    if (life.state !== 'running') happen({ type: 'heard' })
  }

  function happen(event: LifeEvent, facts: Pick<SourceStatus, 'loss'> = {}) {
    life = step(life, event, { nature, now: clock.now(), random: options.random })
    const { state, reason, failures, nextTryAt } = life
    const isLost = state === 'reconnecting' || state === 'failed'
    tell({
      ...{ state, reason, attempts: isLost ? failures : undefined, next_try_at: wallTime(nextTryAt) },
      ...(isLost && { clock: undefined, loss: undefined }),
      ...facts,
    })
  }

  const wallTime = (at: number | undefined) =>
    at === undefined ? undefined : new Date(clock.wall() + at - clock.now()).toISOString()

  function tellClock(told: CameraClock) {
    const drift = Math.abs((told.skew_s ?? 0) - (status.clock?.skew_s ?? 0))
    if (told.source !== status.clock?.source || drift > SKEW_WORTH_TELLING_S) tell({ clock: told })
  }

  function tellLoss(share: number) {
    const loss = share < LOSS_WORTH_TELLING ? undefined : Math.round(share * 100) / 100
    if (loss === status.loss) return
    happen({ type: 'ails', reason: loss === undefined ? undefined : losing(name, loss) }, { loss })
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
    sound,
    status: () => status,
    async want(views, rate) {
      reading.set(Object.keys(views).length > 0)
      await decoding.want(views, rate).catch(undecodable(session))
    },
    grant: decoding.grant,
    rings: decoding.rings,
    readFrames: decoding.read,
    stats: () => ({ ...decoding.stats(), packets: packets.count() }),
    endPts: packets.endPts,
    async stop() {
      stopping.abort()
      await finished
      await variants.close()
      await decoding.want({}, undefined)
    },
  }
}

const losing = (name: string, loss: number) =>
  `${name} loses ${Math.round(loss * 100)} % of its packets: check the network, lower the bit rate, or choose the transport tcp`

const AGAIN = { end: 'again' } as const

type Verdict = { end: 'again' } | { end: 'eos' } | { end: 'lost'; fault: Fault }

function failure(error: Error): Verdict {
  return {
    end: 'lost',
    fault: error instanceof Fault ? error : new Fault(error.message, { transient: true }),
  }
}
