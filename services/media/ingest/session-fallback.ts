import type { Decoder } from '@eyrie/contract'
import type { Log } from '@eyrie/kit'
import type { Decoders } from '../decode/decoders.ts'
import { createElementRanking } from '../gstreamer/element-ranking.ts'
import type { PlayMode } from '../sources/source-lifecycle.ts'
import { SourceFault } from './origin/source-fault.ts'
import { createCodecSearch, type PacketCodec, toPacketCodec } from './packet-codec.ts'
import type { Outcome } from './pipeline-session.ts'

/** How a source continues after a session. */
export type NextStep =
  /** Another session starts immediately. */
  | { end: 'retry' }
  /** The source ends. */
  | { end: 'eos' }
  /** The source reconnects with back-off, unless the fault is permanent. */
  | { end: 'lost'; fault: SourceFault }

export const RETRY = { end: 'retry' } as const

export interface SessionFallbackOptions {
  /** Id of the source. */
  source: number
  /** Address of the source, for messages. */
  name: string
  mode: PlayMode
  /** The user's choice of the decoder. */
  decoder: Decoder
  decoders: Decoders
  log: Log
}

/** What is known about a session that has ended. */
export interface EndedSession {
  outcome: Outcome
  /** Whether packets have arrived. */
  hasPlayed: boolean
  /** Whether the decoder was added after packets had passed. */
  isDecoderLate: boolean
  /** Codec of the packets; undefined before it is known. */
  codec: string | undefined
  /** Element that decoded the packets; undefined before it is chosen. */
  decoder: string | undefined
}

/**
 * Decides how a source continues after a session. If the codec or the decoder of the session did
 * not work, another one is tried. The fallback remembers which of them have failed.
 */
export interface SessionFallback {
  /** Returns the codec that the next session accepts, for an origin that declares none. */
  codec(): PacketCodec
  /**
   * Must be called with the codec of the packets if the origin has not declared it. Returns whether
   * another session must begin, because `codec` has changed.
   */
  recognize(codec: string): boolean
  /**
   * Returns the best decoder for a codec, preferably one that has not failed; undefined if no
   * decoder supports the codec.
   */
  chooseDecoder(codec: string): string | undefined
  /** Returns the step after a session. */
  decide(session: EndedSession): NextStep
}

export function createSessionFallback(options: SessionFallbackOptions): SessionFallback {
  const { source, name, mode, decoders, log } = options
  const search = createCodecSearch()
  const ranking = createElementRanking<string>()

  const listDecoders = (codec: string) => decoders.elementsFor(options.decoder, codec)

  function afterEnd(hasPlayed: boolean): NextStep {
    if (mode === 'once' && hasPlayed) return { end: 'eos' }
    if (mode === 'looped' && hasPlayed) return RETRY
    search.clearRejections()
    const reason = mode === 'endless' ? 'ended the stream' : 'contains no picture'
    return createLoss(name, reason, { transient: true })
  }

  function afterOtherCodec(): NextStep {
    if (mode === 'endless' && search.rejectCurrent()) return RETRY
    const reason = 'has no video that can be decoded: set its video codec to H.264 or H.265'
    return createLoss(name, reason, { transient: false })
  }

  function afterDecoderFailure(session: EndedSession, reason: string): NextStep {
    // A session that failed before it had chosen a decoder is reported with the configured one.
    const { codec = 'h264', decoder = options.decoder } = session
    log.warn({ source, decoder, reason }, 'failed to decode source')

    const isAnotherLeft = ranking.markFailed(decoder, listDecoders(codec))
    if (isAnotherLeft) return RETRY
    return createLoss(name, `cannot be decoded by ${decoder}: ${reason}`, { transient: true })
  }

  return {
    codec: () => search.current,
    recognize: codec => search.switchTo(toPacketCodec(codec)),
    chooseDecoder: codec => ranking.best(listDecoders(codec)),

    decide(session) {
      const { outcome, hasPlayed, isDecoderLate } = session
      switch (outcome.end) {
        case 'stopped':
        case 'wrong-pacing':
        case 'recognized':
          return RETRY
        case 'eos':
          return afterEnd(hasPlayed)
        case 'other-codec':
          return afterOtherCodec()
        case 'undecodable':
          // A decoder that was added late may have received no keyframe before the end.
          if (outcome.isWithoutPicture && isDecoderLate) return afterEnd(hasPlayed)
          return afterDecoderFailure(session, outcome.reason)
        case 'lost':
          search.clearRejections()
          return outcome
      }
    },
  }
}

/**
 * Returns the step after a source was lost. `reason` is a predicate to append to its name, and
 * `transient` means that the source may recover by itself.
 */
export const createLoss = (name: string, reason: string, { transient }: { transient: boolean }) =>
  ({ end: 'lost', fault: new SourceFault(`${name} ${reason}`, { transient }) }) as const

/** Returns the step after a session that has thrown. */
export function toNextStep(error: Error): NextStep {
  const fault =
    error instanceof SourceFault ? error : new SourceFault(error.message, { transient: true })
  return { end: 'lost', fault }
}
