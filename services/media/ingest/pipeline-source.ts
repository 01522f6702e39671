import { isDeepStrictEqual } from 'node:util'
import type { CameraClock, SourceStatus } from '@eyrie/contract'
import { type Egress, findServerAddress, waitForServer } from '@eyrie/kit'
import type { Decoders } from '../decode/decoders.ts'
import { createDecoding, type Decoding } from '../decode/decoding.ts'
import { createPictureInspector } from '../decode/picture-inspector.ts'
import { createElementRanking } from '../gstreamer/element-ranking.ts'
import { displaySize, type Picture } from '../gstreamer/picture.ts'
import { createSound } from '../sound/source-sound.ts'
import type { Source, SourceOptions } from '../sources/source.ts'
import {
  INITIAL_STATE,
  type LifecycleEvent,
  type PlayMode,
  transition,
} from '../sources/source-lifecycle.ts'
import { createSourceVariants } from '../transcode/source-variants.ts'
import { type CrashSuspects, OPENING_MS, type OpeningAttempt } from './crash-suspects.ts'
import { openOrigin } from './open-origin.ts'
import type { Origin } from './origin/origin.ts'
import { SourceFault } from './origin/source-fault.ts'
import { stripCredentials } from './origin/url-credentials.ts'
import { createCodecSearch, toPacketCodec } from './packet-codec.ts'
import { createPipelineSession, type Outcome, type PipelineSession } from './pipeline-session.ts'
import { createReaderPresence } from './reader-presence.ts'
import { createSourcePackets } from './source-packets.ts'
import { createStreamPosition, type StreamPosition } from './stream-position.ts'
import type { SessionTiming } from './timing/stream-alignment.ts'

/**
 * Options of a source that GStreamer plays: a camera, a file, a test pattern or the live view
 * of another appliance.
 */
export interface PipelineSourceOptions extends SourceOptions {
  /** Folders from which files may be read. */
  mediaRoots: readonly string[]
  /** Opens the connections to cameras and servers. */
  egress: Egress
  decoders: Decoders
  suspects: CrashSuspects
  /**
   * Position in the stream time, for a source that shares it with another one. By default
   * the source has its own.
   */
  position?: StreamPosition
  /** Whether the sound is ignored. */
  isMuted?: boolean
  /** Called several times a second while packets of a live source arrive. */
  onTiming?(): void
}

/** A source that GStreamer plays, as a part of a source with several streams. */
export interface PipelineSource
  extends Source,
    Pick<Decoding, 'position' | 'continueFrom'>,
    Pick<PipelineSession, 'realign'> {
  /**
   * Returns how the stream time of the current session relates to clocks; undefined
   * while no pictures arrive.
   */
  timing(): SessionTiming | undefined
}

/**
 * The next step after a session: start another session immediately, end the source, or
 * reconnect with back-off.
 */
type NextStep = { end: 'retry' } | { end: 'eos' } | { end: 'lost'; fault: SourceFault }

const RETRY = { end: 'retry' } as const

/** Smaller losses affect a picture only occasionally and are not reported. */
const MIN_REPORTED_LOSS = 0.02
/** Smaller changes of the clock skew are not reported. */
const MIN_REPORTED_DRIFT_S = 0.1

/**
 * Creates a source that plays in sessions, each with its own GStreamer pipeline. After a failure,
 * the next session starts with back-off, or with another codec or decoder. Decoding, sound and live
 * views continue across sessions.
 */
export function createPipelineSource(options: PipelineSourceOptions): PipelineSource {
  const { identity, epoch, beginPts, clock, log, decoders, encoders, listener } = options
  const { position = createStreamPosition(beginPts, clock), isMuted = false, onTiming } = options
  const { id, type, pacing } = identity
  const mode = toPlayMode(type)
  const name = stripCredentials(identity.address.url)
  // Files and test patterns may be black or still.
  const inspector = mode === 'endless' ? createPictureInspector(clock) : undefined
  const decoding = createDecoding({
    source: id,
    epoch,
    pacing,
    rings: options.rings,
    listener,
    inspector,
  })
  const variants = createSourceVariants({
    source: id,
    epoch,
    clock,
    log,
    encoders,
    read: decoding.addReader,
  })
  const packets = createSourcePackets(variants.writer, position, {
    onPicture: picture => void updatePicture(picture),
    onPacket,
  })
  const sound = createSound()

  const stopping = new AbortController()
  const presence = createReaderPresence(stopping.signal)
  /** Remembers the decoders that have failed. */
  const ranking = createElementRanking<string>()

  let status: SourceStatus = { id, state: 'connecting' }
  let lifecycle = INITIAL_STATE
  /** The attempt to open the source; undefined once it has played for `OPENING_MS`. */
  let attempt: OpeningAttempt | undefined
  /** Time of the first packet of the attempt, in ms. */
  let playingSince: number | undefined
  let session: PipelineSession | undefined
  /** For an origin whose codec is unknown before playback. */
  const search = createCodecSearch()

  const finished = playUntilStopped()

  async function playUntilStopped() {
    while (!stopping.signal.aborted) {
      const step = await playSession().catch(error =>
        stopping.signal.aborted ? RETRY : toNextStep(error),
      )
      if (step.end === 'retry') continue
      if (step.end === 'eos') {
        dispatch({ type: 'ended' })
        break
      }

      variants.writer.interrupt()
      const { message: reason, transient } = step.fault
      dispatch({ type: 'lost', reason, transient })
      if (lifecycle.nextAttemptAt === undefined) break

      await waitForNextAttempt(lifecycle.nextAttemptAt - clock.now())
    }
    variants.end(status.reason ?? 'the stream has ended')
  }

  /** Waits for the back-off, or until the host of the source can be reached again. */
  async function waitForNextAttempt(delayMs: number) {
    const hasReturned = await waitForServer({
      address: findServerAddress(identity.address.url),
      egress: options.egress,
      sleep: signal => clock.sleep(delayMs, signal),
      signal: stopping.signal,
    })
    dispatch({ type: hasReturned ? 'returned' : 'attempt' })
  }

  async function playSession(): Promise<NextStep> {
    // With pacing `all`, no frame may be lost, so the source plays only while it has readers.
    const signal = pacing === 'all' ? await presence.waitForReaders() : stopping.signal
    playingSince = undefined
    attempt = await options.suspects.begin(identity, stopping.signal)
    try {
      return await openAndPlay(signal)
    } finally {
      endAttempt()
    }
  }

  /** Opens the address of the source and plays until the connection is lost or the file ends. */
  async function openAndPlay(signal: AbortSignal): Promise<NextStep> {
    const opened = await openOrigin(identity, {
      mediaRoots: options.mediaRoots,
      egress: options.egress,
      clock,
      signal: stopping.signal,
    })
    const origin: Origin = isMuted ? { ...opened, sound: undefined } : opened

    const packetsBefore = packets.count()
    session = createSession(origin)
    const hasSound = origin.sound !== undefined && pacing === 'realtime'
    sound.attach(hasSound ? session : undefined)

    try {
      if (origin.picture) await updatePicture(origin.picture)
      else if (search.current !== 'any') await attachDecoder(search.current)

      const outcome = await session.play(signal)
      return decideNextStep(outcome, packets.count() > packetsBefore)
    } finally {
      // Must be cleared first, because packets that are still queued must not attach
      // anything to this pipeline.
      const { pipeline } = session
      session = undefined
      sound.detach()
      await decoding.detach()
      await pipeline.dispose()
    }
  }

  function createSession(origin: Origin): PipelineSession {
    return createPipelineSession({
      origin,
      codec: origin.picture ? toPacketCodec(origin.picture.codec) : search.current,
      unpaced: pacing === 'all',
      ptsOffset: position.nextPts(origin.live),
      clock,
      onSample: packets.read,
      onAuxiliaryFailure(error) {
        sound.onAuxiliaryFailure(error)
        decoding.onAuxiliaryFailure(error)
      },
      onClock(cameraClock) {
        reportClock(cameraClock)
        onTiming?.()
      },
      onLoss: reportLoss,
    })
  }

  /** `hasPlayed`: whether packets have arrived in the session. */
  function decideNextStep(outcome: Outcome, hasPlayed: boolean): NextStep {
    switch (outcome.end) {
      case 'stopped':
      case 'mispaced':
      case 'recognised':
        return RETRY
      case 'eos':
        if (mode === 'once' && hasPlayed) return outcome
        if (mode === 'looped' && hasPlayed) return RETRY
        search.restart()
        return createLoss(mode === 'endless' ? 'ended the stream' : 'contains no picture')
      case 'unlinked':
        return tryNextCodec()
      case 'undecodable':
        // A decoder that was added late may have received no keyframe before the end.
        if (outcome.unshown && decoding.isLate()) return decideNextStep({ end: 'eos' }, hasPlayed)
        return tryNextDecoder(outcome.reason)
      case 'lost':
        search.restart()
        return outcome
    }
  }

  function tryNextCodec(): NextStep {
    if (mode === 'endless' && search.next()) return RETRY
    return createLoss('has no video that can be decoded: set its video codec to H.264 or H.265', {
      transient: false,
    })
  }

  function tryNextDecoder(reason: string): NextStep {
    const { codec = 'h264', decoder = identity.decoder } = status
    log.warn({ source: id, decoder, reason }, 'failed to decode source')

    const candidates = decoders.elementsFor(identity.decoder, codec)
    const isAnotherLeft = ranking.markFailed(decoder, candidates)
    if (isAnotherLeft) return RETRY
    return createLoss(`cannot be decoded by ${decoder}: ${reason}`)
  }

  /** Adapts decoding and live views to the format of the source's pictures. */
  async function updatePicture(picture: Picture) {
    const { codec, fps } = picture
    const isSearching = session !== undefined && !session.origin.picture
    if (isSearching && search.select(toPacketCodec(codec))) {
      return session?.end({ end: 'recognised' })
    }

    updateStatus({ ...displaySize(picture), codec, fps })
    variants.setCodec(codec)
    await decoding.setPicture(picture).catch(endUndecodable(session))
    await attachDecoder(codec)
  }

  async function attachDecoder(codec: string) {
    const decoder = ranking.best(decoders.elementsFor(identity.decoder, codec))
    if (!decoder) {
      const reason = `is ${codec}, which decoder ${identity.decoder} does not support: choose gst_h264`
      return session?.end(createLoss(reason, { transient: false }))
    }

    updateStatus({ decoder })
    if (session) {
      await decoding
        .attach(session.pipeline, decoder, session.hasStarted)
        .catch(endUndecodable(session))
    }
  }

  /**
   * Returns an error handler that ends this session, even if another one has replaced it by
   * the time of the error.
   */
  function endUndecodable(failed: PipelineSession | undefined) {
    return ({ message }: Error) => failed?.end({ end: 'undecodable', reason: message })
  }

  function onPacket(pts: number) {
    sound.searchIfDue(pts)
    if (lifecycle.state !== 'running') dispatch({ type: 'data' })
    if (attempt) endAttemptIfPlaying()
  }

  function endAttemptIfPlaying() {
    const now = clock.now()
    playingSince ??= now
    if (now - playingSince > OPENING_MS) endAttempt()
  }

  function endAttempt() {
    attempt?.end()
    attempt = undefined
  }

  /** Advances the state of the connection, and reports it. */
  function dispatch(event: LifecycleEvent, details: Pick<SourceStatus, 'loss'> = {}) {
    lifecycle = transition(lifecycle, event, { mode, now: clock.now(), random: options.random })
    const { state, reason, failures, nextAttemptAt } = lifecycle
    const isLost = state === 'reconnecting' || state === 'failed'
    updateStatus({
      state,
      reason,
      attempts: isLost ? failures : undefined,
      next_try_at: toWallTime(nextAttemptAt),
      ...(isLost && { clock: undefined, loss: undefined }),
      ...details,
    })
  }

  const toWallTime = (monotonicMs: number | undefined) =>
    monotonicMs === undefined
      ? undefined
      : new Date(clock.wall() + monotonicMs - clock.now()).toISOString()

  function reportClock(cameraClock: CameraClock) {
    const reported = status.clock
    const isSameSource = cameraClock.source === reported?.source
    const driftS = Math.abs((cameraClock.skew_s ?? 0) - (reported?.skew_s ?? 0))
    if (!isSameSource || driftS > MIN_REPORTED_DRIFT_S) updateStatus({ clock: cameraClock })
  }

  function reportLoss(share: number) {
    const roundedShare = Math.round(share * 100) / 100
    const loss = share < MIN_REPORTED_LOSS ? undefined : roundedShare
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
    pictureStatistics: () => inspector?.statistics(),
    endPts: position.endPts,
    position: decoding.position,
    continueFrom: decoding.continueFrom,
    timing: () => session?.timing(),
    realign: ptsOffset => session?.realign(ptsOffset),
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

/** Returns the step after an error of a session: reconnect, unless the error is permanent. */
function toNextStep(error: Error): NextStep {
  const fault =
    error instanceof SourceFault ? error : new SourceFault(error.message, { transient: true })
  return { end: 'lost', fault }
}

const describeLoss = (name: string, loss: number) =>
  `${name} loses ${Math.round(loss * 100)} % of its packets: check the network, lower the bit rate, or set transport to tcp`
