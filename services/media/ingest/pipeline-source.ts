import { isDeepStrictEqual } from 'node:util'
import type { CameraClock, SourceStatus } from '@eyrie/contract'
import type { Decoders } from '../decode/decoders.ts'
import { createDecoding } from '../decode/decoding.ts'
import { createElementRanking } from '../gstreamer/element-ranking.ts'
import { displaySize, type Picture } from '../gstreamer/picture.ts'
import { createSound } from '../sound/source-sound.ts'
import type { Source, SourceOptions } from '../sources/source.ts'
import { initialState, type LifecycleEvent, type Nature, transition } from '../sources/source-lifecycle.ts'
import { createSourceVariants } from '../transcode/source-variants.ts'
import { openOrigin } from './open-origin.ts'
import { SourceFault } from './origin/source-fault.ts'
import { withoutCredentials } from './origin/url-credentials.ts'
import { NEXT_FORM, type PacketForm, toPacketForm } from './packet-form.ts'
import { createPipelineSession, type Outcome, type PipelineSession } from './pipeline-session.ts'
import { createReaderPresence } from './reader-presence.ts'
import { createSourcePackets } from './source-packets.ts'

/** A source played by GStreamer: a camera, a file, a test pattern or another instance's stream. */
export interface PipelineSourceOptions extends SourceOptions {
  /** Folders from which files may be read. */
  mediaRoots: readonly string[]
  decoders: Decoders
}

/** Smaller losses only cost a picture now and then, and are not reported. */
const MIN_REPORTED_LOSS = 0.02
/** Smaller changes of the clock skew are not reported. */
const MIN_REPORTED_DRIFT_S = 0.1

export function createPipelineSource(options: PipelineSourceOptions): Source {
  const { wanted, epoch, beginPts, clock, decoders, encoders, listener } = options
  const { id, type, pacing } = wanted
  const nature: Nature = type === 'file' ? 'once' : type === 'inf' ? 'looped' : 'endless'
  const name = withoutCredentials(wanted.address.url)
  const { log } = options
  const decoding = createDecoding({ source: id, epoch, pacing, rings: options.rings, listener })
  const variants = createSourceVariants({ source: id, epoch, clock, log, encoders, read: decoding.read })
  const packets = createSourcePackets(variants.writer, beginPts, clock, {
    onPicture: picture => void showPicture(picture),
    onPacket,
  })
  const sound = createSound()
  const stopping = new AbortController()
  const presence = createReaderPresence(stopping.signal)
  const ranking = createElementRanking<string>()
  let status: SourceStatus = { id, state: 'connecting' }
  let session: PipelineSession | undefined
  let life = initialState
  let form: PacketForm = 'h264'

  const finished = playUntilStopped()

  async function playUntilStopped() {
    while (!stopping.signal.aborted) {
      const outcome = await playSession().catch(error => (stopping.signal.aborted ? RETRY : toVerdict(error)))
      if (outcome.end === 'retry') continue
      if (outcome.end === 'eos') {
        dispatch({ type: 'ended' })
        break
      }
      variants.writer.interrupt()
      const { message: reason, transient } = outcome.fault
      dispatch({ type: 'lost', reason, transient })
      if (life.nextTryAt === undefined) break
      await clock.sleep(life.nextTryAt - clock.now(), stopping.signal).catch(() => {})
      dispatch({ type: 'tried' })
    }
    variants.end(status.reason ?? 'the stream has come to its end')
  }

  async function playSession(): Promise<Verdict> {
    const signal = pacing === 'all' ? await presence.begun() : stopping.signal
    const origin = await openOrigin(wanted, {
      mediaRoots: options.mediaRoots,
      clock,
      signal: stopping.signal,
    })
    const before = packets.count()
    const { picture } = origin
    session = createPipelineSession({
      origin,
      form: picture ? toPacketForm(picture.codec) : form,
      unpaced: pacing === 'all',
      ptsOffset: packets.nextPts(origin.live),
      clock,
      onSample: packets.read,
      onAuxiliaryFailure: error => {
        sound.auxiliaryFailed(error)
        decoding.auxiliaryFailed(error)
      },
      onClock: reportClock,
      onLoss: reportLoss,
    })
    sound.attach(origin.sound && pacing === 'realtime' ? session : undefined)
    try {
      if (picture) await showPicture(picture)
      else if (form !== 'any') await attachDecoder(form)
      return judge(await session.play(signal), packets.count() > before)
    } finally {
      // Cleared first, so that the last packets, which may still be queued, attach nothing to this pipeline.
      const { pipeline } = session
      session = undefined
      sound.detach()
      await decoding.detach()
      await pipeline.dispose()
    }
  }

  /** Decides what follows the end of a session. */
  function judge(outcome: Outcome, played: boolean): Verdict {
    switch (outcome.end) {
      case 'stopped':
      case 'mispaced':
        return RETRY
      case 'eos':
        if (nature === 'once' && played) return outcome
        if (nature === 'looped' && played) return RETRY
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
        return RETRY
      }
      case 'undecodable':
        // A decoder that was added late may have received no keyframe before the end.
        if (outcome.unshown && decoding.isLate()) return judge({ end: 'eos' }, played)
        return tryNextDecoder(outcome.reason)
      case 'lost':
        // Another camera may be connected when the address answers again.
        form = 'h264'
        return outcome
    }
  }

  function tryNextDecoder(reason: string): Verdict {
    const { codec = 'h264', decoder = wanted.decoder } = status
    log.warn(`source ${id}: the decoder ${decoder} has failed: ${reason}`)
    if (ranking.markFailed(decoder, decoders.of(wanted.decoder, codec))) return RETRY
    return lost(`cannot be decoded by ${decoder}: ${reason}`)
  }

  async function showPicture(picture: Picture) {
    const { codec, fps } = picture
    updateStatus({ ...displaySize(picture), codec, fps })
    variants.setCodec(codec)
    await decoding.show(picture).catch(endUndecodable(session))
    await attachDecoder(codec)
  }

  async function attachDecoder(codec: string) {
    const decoder = ranking.best(decoders.of(wanted.decoder, codec))
    if (!decoder) {
      return session?.end(
        lost(`is ${codec}, which decoder ${wanted.decoder} does not know: choose gst`, false),
      )
    }
    updateStatus({ decoder })
    if (session)
      await decoding.attach(session.pipeline, decoder, session.hasStarted).catch(endUndecodable(session))
  }

  /** Handles an error by ending the session in which it occurred, not one that has replaced it since. */
  function endUndecodable(failed: PipelineSession | undefined) {
    return ({ message }: Error) => failed?.end({ end: 'undecodable', reason: message })
  }

  function onPacket(pts: number) {
    sound.search(pts)
    if (life.state !== 'running') dispatch({ type: 'heard' })
  }

  function dispatch(event: LifecycleEvent, facts: Pick<SourceStatus, 'loss'> = {}) {
    life = transition(life, event, { nature, now: clock.now(), random: options.random })
    const { state, reason, failures, nextTryAt } = life
    const isLost = state === 'reconnecting' || state === 'failed'
    updateStatus({
      ...{ state, reason, attempts: isLost ? failures : undefined, next_try_at: wallTime(nextTryAt) },
      ...(isLost && { clock: undefined, loss: undefined }),
      ...facts,
    })
  }

  const wallTime = (at: number | undefined) =>
    at === undefined ? undefined : new Date(clock.wall() + at - clock.now()).toISOString()

  function reportClock(cameraClock: CameraClock) {
    const drift = Math.abs((cameraClock.skew_s ?? 0) - (status.clock?.skew_s ?? 0))
    if (cameraClock.source !== status.clock?.source || drift > MIN_REPORTED_DRIFT_S)
      updateStatus({ clock: cameraClock })
  }

  function reportLoss(share: number) {
    const loss = share < MIN_REPORTED_LOSS ? undefined : Math.round(share * 100) / 100
    if (loss === status.loss) return
    dispatch(
      { type: 'degraded', reason: loss === undefined ? undefined : describeLoss(name, loss) },
      { loss },
    )
  }

  const lost = (reason: string, transient = true) =>
    ({ end: 'lost', fault: new SourceFault(`${name} ${reason}`, { transient }) }) as const

  function updateStatus(change: Partial<SourceStatus>) {
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
      presence.set(Object.keys(views).length > 0)
      await decoding.want(views, rate).catch(endUndecodable(session))
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

const describeLoss = (name: string, loss: number) =>
  `${name} loses ${Math.round(loss * 100)} % of its packets: check the network, lower the bit rate, or choose the transport tcp`

const RETRY = { end: 'retry' } as const

/** What follows the end of a session: another one at once, the end of the source, or a reconnect with back-off. */
type Verdict = { end: 'retry' } | { end: 'eos' } | { end: 'lost'; fault: SourceFault }

function toVerdict(error: Error): Verdict {
  return {
    end: 'lost',
    fault: error instanceof SourceFault ? error : new SourceFault(error.message, { transient: true }),
  }
}
