import { isDeepStrictEqual } from 'node:util'
import type { CameraClock, SourceStatus } from '@eyrie/contract'
import type { Decoders } from '../decode/decoders.ts'
import { createDecoding } from '../decode/decoding.ts'
import { createElementRanking } from '../gstreamer/element-ranking.ts'
import { displaySize, type Picture } from '../gstreamer/picture.ts'
import { createSound } from '../sound/source-sound.ts'
import type { Source, SourceOptions } from '../sources/source.ts'
import { initialState, type LifecycleEvent, type PlayMode, transition } from '../sources/source-lifecycle.ts'
import { createSourceVariants } from '../transcode/source-variants.ts'
import { openOrigin } from './open-origin.ts'
import { SourceFault } from './origin/source-fault.ts'
import { stripCredentials } from './origin/url-credentials.ts'
import { FALLBACK_CODEC, type PacketCodec, toPacketCodec } from './packet-codec.ts'
import { createPipelineSession, type Outcome, type PipelineSession } from './pipeline-session.ts'
import { createReaderPresence } from './reader-presence.ts'
import { createSourcePackets } from './source-packets.ts'

/** A source played by GStreamer: a camera, a file, a test pattern or another instance's stream. */
export interface PipelineSourceOptions extends SourceOptions {
  /** Folders from which files may be read. */
  mediaRoots: readonly string[]
  decoders: Decoders
}

/** What follows the end of a session: another one immediately, the end of the source, or a reconnect with back-off. */
type Verdict = { end: 'retry' } | { end: 'eos' } | { end: 'lost'; fault: SourceFault }

const RETRY = { end: 'retry' } as const

/** Smaller losses cost a picture only occasionally and are not reported. */
const MIN_REPORTED_LOSS = 0.02
/** Smaller changes of the clock skew are not reported. */
const MIN_REPORTED_DRIFT_S = 0.1

export function createPipelineSource(options: PipelineSourceOptions): Source {
  const { identity, epoch, beginPts, clock, log, decoders, encoders, listener } = options
  const { id, type, pacing } = identity
  const mode = toPlayMode(type)
  const name = stripCredentials(identity.address.url)
  const decoding = createDecoding({ source: id, epoch, pacing, rings: options.rings, listener })
  const variants = createSourceVariants({ source: id, epoch, clock, log, encoders, read: decoding.addReader })
  const packets = createSourcePackets(variants.writer, beginPts, clock, {
    onPicture: picture => void updatePicture(picture),
    onPacket,
  })
  const sound = createSound()
  const stopping = new AbortController()
  const presence = createReaderPresence(stopping.signal)
  const ranking = createElementRanking<string>()
  let status: SourceStatus = { id, state: 'connecting' }
  let lifecycle = initialState
  let session: PipelineSession | undefined
  /** The codec to request, for origins whose codec is unknown before playback. */
  let codecToTry: PacketCodec = 'h264'

  const finished = playUntilStopped()

  async function playUntilStopped() {
    while (!stopping.signal.aborted) {
      const verdict = await playSession().catch(error => (stopping.signal.aborted ? RETRY : toVerdict(error)))
      if (verdict.end === 'retry') continue
      if (verdict.end === 'eos') {
        dispatch({ type: 'ended' })
        break
      }
      variants.writer.interrupt()
      const { message: reason, transient } = verdict.fault
      dispatch({ type: 'lost', reason, transient })
      if (lifecycle.nextAttemptAt === undefined) break
      await clock.sleep(lifecycle.nextAttemptAt - clock.now(), stopping.signal).catch(() => {})
      dispatch({ type: 'attempt' })
    }
    variants.end(status.reason ?? 'the stream has ended')
  }

  async function playSession(): Promise<Verdict> {
    const signal = pacing === 'all' ? await presence.waitForReaders() : stopping.signal
    const origin = await openOrigin(identity, {
      mediaRoots: options.mediaRoots,
      clock,
      signal: stopping.signal,
    })
    const packetsBefore = packets.count()
    const { picture } = origin
    session = createPipelineSession({
      origin,
      codec: picture ? toPacketCodec(picture.codec) : codecToTry,
      unpaced: pacing === 'all',
      ptsOffset: packets.nextPts(origin.live),
      clock,
      onSample: packets.read,
      onAuxiliaryFailure: error => {
        sound.auxiliaryFailed(error)
        decoding.onAuxiliaryFailure(error)
      },
      onClock: reportClock,
      onLoss: reportLoss,
    })
    sound.attach(origin.sound && pacing === 'realtime' ? session : undefined)
    try {
      if (picture) await updatePicture(picture)
      else if (codecToTry !== 'any') await attachDecoder(codecToTry)
      const outcome = await session.play(signal)
      return judge(outcome, packets.count() > packetsBefore)
    } finally {
      // Cleared first: packets that are still queued must not attach anything to this pipeline.
      const { pipeline } = session
      session = undefined
      sound.detach()
      await decoding.detach()
      await pipeline.dispose()
    }
  }

  /** Decides what follows the end of a session. */
  function judge(outcome: Outcome, hasPlayed: boolean): Verdict {
    switch (outcome.end) {
      case 'stopped':
      case 'mispaced':
        return RETRY
      case 'eos':
        if (mode === 'once' && hasPlayed) return outcome
        if (mode === 'looped' && hasPlayed) return RETRY
        return createLoss(mode === 'endless' ? 'ended the stream' : 'contains no picture')
      case 'unlinked':
        return tryNextCodec()
      case 'undecodable':
        // A decoder that was added late may have received no keyframe before the end.
        if (outcome.unshown && decoding.isLate()) return judge({ end: 'eos' }, hasPlayed)
        return tryNextDecoder(outcome.reason)
      case 'lost':
        // Another camera may be connected when the address responds again.
        codecToTry = 'h264'
        return outcome
    }
  }

  function tryNextCodec(): Verdict {
    const next = FALLBACK_CODEC[codecToTry]
    if (mode === 'endless' && next && identity.decoder !== 'gst_h264') {
      codecToTry = next
      return RETRY
    }
    const reason =
      codecToTry === 'h264'
        ? 'has no H.264 video: choose decoder gst for other codecs'
        : 'has no video that can be decoded: set the camera to H.264'
    return createLoss(reason, { transient: false })
  }

  function tryNextDecoder(reason: string): Verdict {
    const { codec = 'h264', decoder = identity.decoder } = status
    log.warn({ source: id, decoder, reason }, 'decoder failed')
    if (ranking.markFailed(decoder, decoders.elementsFor(identity.decoder, codec))) return RETRY
    return createLoss(`cannot be decoded by ${decoder}: ${reason}`)
  }

  async function updatePicture(picture: Picture) {
    const { codec, fps } = picture
    updateStatus({ ...displaySize(picture), codec, fps })
    variants.setCodec(codec)
    await decoding.setPicture(picture).catch(endUndecodable(session))
    await attachDecoder(codec)
  }

  async function attachDecoder(codec: string) {
    const decoder = ranking.best(decoders.elementsFor(identity.decoder, codec))
    if (!decoder) {
      const reason = `is ${codec}, which decoder ${identity.decoder} does not support: choose gst`
      return session?.end(createLoss(reason, { transient: false }))
    }
    updateStatus({ decoder })
    if (session)
      await decoding.attach(session.pipeline, decoder, session.hasStarted).catch(endUndecodable(session))
  }

  /** Returns an error handler that ends the session in which the error occurred, not one that has replaced it since. */
  function endUndecodable(failed: PipelineSession | undefined) {
    return ({ message }: Error) => failed?.end({ end: 'undecodable', reason: message })
  }

  function onPacket(pts: number) {
    sound.search(pts)
    if (lifecycle.state !== 'running') dispatch({ type: 'data' })
  }

  function dispatch(event: LifecycleEvent, facts: Pick<SourceStatus, 'loss'> = {}) {
    lifecycle = transition(lifecycle, event, { mode, now: clock.now(), random: options.random })
    const { state, reason, failures, nextAttemptAt } = lifecycle
    const isLost = state === 'reconnecting' || state === 'failed'
    updateStatus({
      state,
      reason,
      attempts: isLost ? failures : undefined,
      next_try_at: toWallTime(nextAttemptAt),
      ...(isLost && { clock: undefined, loss: undefined }),
      ...facts,
    })
  }

  const toWallTime = (at: number | undefined) =>
    at === undefined ? undefined : new Date(clock.wall() + at - clock.now()).toISOString()

  function reportClock(cameraClock: CameraClock) {
    const driftS = Math.abs((cameraClock.skew_s ?? 0) - (status.clock?.skew_s ?? 0))
    if (cameraClock.source !== status.clock?.source || driftS > MIN_REPORTED_DRIFT_S)
      updateStatus({ clock: cameraClock })
  }

  function reportLoss(share: number) {
    const loss = share < MIN_REPORTED_LOSS ? undefined : Math.round(share * 100) / 100
    if (loss === status.loss) return
    const reason = loss === undefined ? undefined : describeLoss(name, loss)
    dispatch({ type: 'degraded', reason }, { loss })
  }

  const createLoss = (reason: string, { transient } = { transient: true }) =>
    ({ end: 'lost', fault: new SourceFault(`${name} ${reason}`, { transient }) }) as const

  function updateStatus(change: Partial<SourceStatus>) {
    const next = { ...status, ...change }
    if (isDeepStrictEqual(next, status)) return
    const { state, reason } = next
    if (state !== status.state || reason !== status.reason) {
      const level = state === 'failed' || state === 'reconnecting' ? 'warn' : 'info'
      log[level]({ source: id, state, reason }, 'source state changed')
    }
    status = next
    listener.onStatus(status)
  }

  return {
    stream: variants.h264,
    variants,
    sound,
    status: () => status,
    async setViews(views, rate) {
      presence.set(Object.keys(views).length > 0)
      await decoding.setViews(views, rate).catch(endUndecodable(session))
    },
    grant: decoding.grant,
    rings: decoding.rings,
    addFrameReader: decoding.addReader,
    stats: () => ({ ...decoding.stats(), packets: packets.count() }),
    endPts: packets.endPts,
    async stop() {
      stopping.abort()
      await finished
      await variants.close()
      await decoding.setViews({}, undefined)
    },
  }
}

function toPlayMode(type: PipelineSourceOptions['identity']['type']): PlayMode {
  if (type === 'file') return 'once'
  return type === 'inf' ? 'looped' : 'endless'
}

function toVerdict(error: Error): Verdict {
  const fault = error instanceof SourceFault ? error : new SourceFault(error.message, { transient: true })
  return { end: 'lost', fault }
}

const describeLoss = (name: string, loss: number) =>
  `${name} loses ${Math.round(loss * 100)} % of its packets: check the network, lower the bit rate, or set transport to tcp`
