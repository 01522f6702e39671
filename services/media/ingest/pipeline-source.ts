import { type Egress, findServerAddress, waitForServer } from '@eyrie/kit'
import type { Decoders } from '../decode/decoders.ts'
import { createDecoding, type Decoding } from '../decode/decoding.ts'
import { createPictureInspector } from '../decode/picture-inspector.ts'
import { displaySize, type Picture } from '../gstreamer/picture.ts'
import { createSound } from '../sound/source-sound.ts'
import type { Source, SourceOptions } from '../sources/source.ts'
import type { PlayMode } from '../sources/source-lifecycle.ts'
import { createSourceVariants } from '../transcode/source-variants.ts'
import { createConnectionStatus } from './connection-status.ts'
import type { CrashSuspects, OpeningAttempt } from './crash-suspects.ts'
import { openOrigin } from './open-origin.ts'
import type { Origin } from './origin/origin.ts'
import { stripCredentials } from './origin/url-credentials.ts'
import { toPacketCodec } from './packet-codec.ts'
import { createPipelineSession, type PipelineSession } from './pipeline-session.ts'
import { createReaderPresence } from './reader-presence.ts'
import {
  createLoss,
  createSessionFallback,
  type NextStep,
  RETRY,
  toNextStep,
} from './session-fallback.ts'
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
 * Creates a source that plays in sessions, each with its own GStreamer pipeline. After a failure,
 * the next session starts with back-off, or with another codec or decoder. Decoding, sound and live
 * views continue across sessions.
 */
export function createPipelineSource(options: PipelineSourceOptions): PipelineSource {
  const { identity, epoch, beginPts, clock, log, encoders, listener } = options
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

  const status = createConnectionStatus({
    source: id,
    name,
    mode,
    clock,
    random: options.random,
    log,
    listener,
  })
  const fallback = createSessionFallback({
    source: id,
    name,
    mode,
    decoder: identity.decoder,
    decoders: options.decoders,
    log,
  })
  const stopping = new AbortController()
  const presence = createReaderPresence(stopping.signal)

  /** The attempt to open the source during a session. */
  let attempt: OpeningAttempt | undefined
  let session: PipelineSession | undefined

  const finished = playUntilStopped()

  async function playUntilStopped() {
    while (!stopping.signal.aborted) {
      const step = await playSession().catch(error =>
        stopping.signal.aborted ? RETRY : toNextStep(error),
      )
      if (step.end === 'retry') continue
      if (step.end === 'eos') {
        status.dispatch({ type: 'ended' })
        break
      }

      variants.writer.interrupt()
      const { message: reason, transient } = step.fault
      status.dispatch({ type: 'lost', reason, transient })
      const { nextAttemptAt } = status.lifecycle()
      if (nextAttemptAt === undefined) break

      await waitForNextAttempt(nextAttemptAt - clock.now())
    }
    variants.end(status.reported().reason ?? 'the stream has ended')
  }

  /** Waits for the back-off, or until the host of the source can be reached again. */
  async function waitForNextAttempt(delayMs: number) {
    const hasReturned = await waitForServer({
      address: findServerAddress(identity.address.url),
      egress: options.egress,
      sleep: signal => clock.sleep(delayMs, signal),
      signal: stopping.signal,
    })
    status.dispatch({ type: hasReturned ? 'returned' : 'attempt' })
  }

  async function playSession(): Promise<NextStep> {
    // With pacing `all`, no frame may be lost, so the source plays only while it has readers.
    const signal = pacing === 'all' ? await presence.waitForReaders() : stopping.signal
    attempt = await options.suspects.begin(identity, stopping.signal)
    try {
      return await openAndPlay(signal)
    } finally {
      attempt.end()
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
      else if (fallback.codec() !== 'any') await attachDecoder(fallback.codec())

      const outcome = await session.play(signal)
      const { codec, decoder } = status.reported()
      return fallback.decide({
        outcome,
        hasPlayed: packets.count() > packetsBefore,
        isDecoderLate: decoding.isLate(),
        codec,
        decoder,
      })
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
      codec: origin.picture ? toPacketCodec(origin.picture.codec) : fallback.codec(),
      unpaced: pacing === 'all',
      ptsOffset: position.nextPts(origin.isLive),
      clock,
      log,
      onSample: packets.read,
      onAuxiliaryFailure(error) {
        sound.onAuxiliaryFailure(error)
        decoding.onAuxiliaryFailure(error)
      },
      onClock(cameraClock) {
        status.updateClock(cameraClock)
        onTiming?.()
      },
      onLoss: status.updateLoss,
    })
  }

  /** Adapts decoding and live views to the format of the source's pictures. */
  async function updatePicture(picture: Picture) {
    const { codec, fps } = picture
    const isSearching = session !== undefined && !session.origin.picture
    if (isSearching && fallback.recognize(codec)) {
      return session?.end({ end: 'recognized' })
    }

    status.update({ ...displaySize(picture), codec, fps })
    variants.setCodec(codec)
    await decoding.setPicture(picture).catch(endUndecodable(session))
    await attachDecoder(codec)
  }

  async function attachDecoder(codec: string) {
    const decoder = fallback.chooseDecoder(codec)
    if (!decoder) {
      const reason = `is ${codec}, which decoder ${identity.decoder} does not support: choose gst_h264`
      return session?.end(createLoss(name, reason, { transient: false }))
    }

    status.update({ decoder })
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
    if (status.lifecycle().state !== 'running') status.dispatch({ type: 'data' })
    attempt?.onPacket()
  }

  return {
    stream: variants.h264,
    variants,
    sound,
    status: status.reported,
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
