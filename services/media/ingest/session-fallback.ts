import type { Decoder } from '@eyrie/contract'
import type { Log } from '@eyrie/kit'
import type { Decoders } from '../decode/decoders.ts'
import { createElementRanking } from '../gstreamer/element-ranking.ts'
import type { PlayMode } from '../sources/source-lifecycle.ts'
import { SourceFault } from './origin/source-fault.ts'
import { createCodecSearch, type PacketCodec, toPacketCodec } from './packet-codec.ts'
import type { Outcome } from './pipeline-session.ts'

/**
 * The next step after a session: start another session immediately, end the source, or
 * reconnect with back-off.
 */
export type NextStep = { end: 'retry' } | { end: 'eos' } | { end: 'lost'; fault: SourceFault }

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
  /** Codec of the packets and element that decoded them; undefined before they are known. */
  codec: string | undefined
  decoder: string | undefined
}

/**
 * Decides how a source continues after a session, with another codec or decoder if those of the
 * session did not work. Remembers what has failed.
 */
export interface SessionFallback {
  /** Returns the codec that the next session accepts, for an origin that declares none. */
  codec(): PacketCodec
  /**
   * Must be called with the codec that an origin has sent without having declared it. Returns
   * whether another session must begin, which accepts this codec.
   */
  recognize(codec: string): boolean
  /**
   * Returns the best decoder for a codec, preferably one that has not failed; undefined if no
   * decoder supports the codec.
   */
  chooseDecoder(codec: string): string | undefined
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
    search.allowRejected()
    return createLoss(name, mode === 'endless' ? 'ended the stream' : 'contains no picture')
  }

  function tryNextCodec(): NextStep {
    if (mode === 'endless' && search.next()) return RETRY
    const reason = 'has no video that can be decoded: set its video codec to H.264 or H.265'
    return createLoss(name, reason, { transient: false })
  }

  function tryNextDecoder(reason: string, session: EndedSession): NextStep {
    const { codec = 'h264', decoder = options.decoder } = session
    log.warn({ source, decoder, reason }, 'failed to decode source')

    const isAnotherLeft = ranking.markFailed(decoder, listDecoders(codec))
    return isAnotherLeft ? RETRY : createLoss(name, `cannot be decoded by ${decoder}: ${reason}`)
  }

  return {
    codec: () => search.current,
    recognize: codec => search.select(toPacketCodec(codec)),
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
          return tryNextCodec()
        case 'undecodable':
          // A decoder that was added late may have received no keyframe before the end.
          if (outcome.isWithoutPicture && isDecoderLate) return afterEnd(hasPlayed)
          return tryNextDecoder(outcome.reason, session)
        case 'lost':
          search.allowRejected()
          return outcome
      }
    },
  }
}

/** Returns the step after a source was lost. `reason` continues a sentence about the source. */
export const createLoss = (name: string, reason: string, { transient } = { transient: true }) =>
  ({ end: 'lost', fault: new SourceFault(`${name} ${reason}`, { transient }) }) as const

/** Returns the step after an error of a session: reconnect, unless the error is permanent. */
export function toNextStep(error: Error): NextStep {
  const fault =
    error instanceof SourceFault ? error : new SourceFault(error.message, { transient: true })
  return { end: 'lost', fault }
}
