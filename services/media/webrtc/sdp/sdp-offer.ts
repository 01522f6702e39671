import { EyrieError } from '@eyrie/contract'
import type { types } from 'mediasoup'
import { type MediaDescription, parse, parseParams } from 'sdp-transform'

/**
 * A format that a WebRTC viewer offers to receive, with the RTP payload type that it has
 * chosen for the format.
 */
export interface OfferedFormat {
  payloadType: number
  /** The `a=fmtp` value of the offer, repeated in the answer. */
  parameters: string
}

/** H.264 in packetization mode 1. */
export interface OfferedH264 extends OfferedFormat {
  /** Six lower-case hexadecimal digits: profile, constraints and level. */
  profileLevelId: string
}

/** One media section of an offer. The answer has the same sections in the same order. */
export interface OfferedSection {
  kind: string
  protocol: string
  payloads: string
  mid: string
}

/**
 * The parts of a viewer's SDP offer that the server needs: receivable formats and
 * connection parameters.
 */
export interface Offer {
  sections: OfferedSection[]
  /** Index of the section that receives video. */
  videoIndex: number
  h264: OfferedH264[]
  /**
   * Index of the section that receives audio, and its format; undefined if the viewer
   * does not accept Opus.
   */
  audio?: { index: number; opus: OfferedFormat } | undefined
  iceUsername: string
  fingerprint: types.DtlsFingerprint
}

/** Constrained baseline, which every browser decodes. */
const BASELINE_PROFILE = '42e01f'
const MAX_PAYLOAD_TYPE = 127
/** Lengths in bytes of the hash functions that a certificate fingerprint may use (RFC 8122). */
const HASH_BYTES = {
  'sha-1': 20,
  'sha-224': 28,
  'sha-256': 32,
  'sha-384': 48,
  'sha-512': 64,
} as const

/**
 * Parses an SDP offer (RFC 8866, RFC 8829). Throws `EyrieError` (`syntax`) if the
 * offer cannot be answered.
 */
export function parseOffer(sdp: string): Offer {
  if (!/^v=0\r?\n/.test(sdp)) throw createOfferError('it does not begin with v=0')

  const session = parse(sdp)
  const sections = session.media.map(toSection)
  const videoIndex = findReceiving(session.media, 'video')
  const video = session.media[videoIndex]
  if (!video) throw createOfferError('it has no media section that receives video')

  // Connection parameters may be at session level; those at media level have priority.
  const { iceUfrag, setup, fingerprint } = { ...session, ...video }
  if (!iceUfrag) throw createOfferError('it has no a=ice-ufrag')
  if (setup === 'passive') {
    throw createOfferError('a=setup:passive is not supported: offer a=setup:actpass')
  }

  const audioIndex = findReceiving(session.media, 'audio')
  const audio = session.media[audioIndex]
  const opus = audio && findOpus(audio)

  return {
    sections,
    videoIndex,
    h264: findH264(video),
    audio: opus && { index: audioIndex, opus },
    iceUsername: String(iceUfrag),
    fingerprint: parseFingerprint(fingerprint),
  }
}

/**
 * Returns the ICE username fragment of an SDP fragment (RFC 8840), which may be at
 * session or media level.
 */
export function parseIceUsername(fragment: string): string | undefined {
  const { iceUfrag, media } = parse(fragment)
  const username = iceUfrag ?? media.find(section => section.iceUfrag)?.iceUfrag
  return username === undefined ? undefined : String(username)
}

/**
 * Selects an offered format for a stream with this AVCDecoderConfigurationRecord. Prefers the
 * stream's own profile, then constrained baseline. If neither is offered, the first format is used,
 * because browsers decode more profiles than they offer. Throws `EyrieError` (`type`, status 406)
 * if the viewer offers no H.264.
 */
export function selectH264(offered: readonly OfferedH264[], avcC: Uint8Array): OfferedH264 {
  const profile = Buffer.from(avcC.subarray(1, 2)).toString('hex')
  const selected =
    offered.find(({ profileLevelId }) => profileLevelId.startsWith(profile)) ??
    offered.find(({ profileLevelId }) => profileLevelId === BASELINE_PROFILE) ??
    offered[0]
  if (selected) return selected
  throw new EyrieError('type', 'the offer has no H.264 with packetization-mode=1', { status: 406 })
}

/**
 * Returns the index of the first enabled section of this kind that receives; -1 if there is none.
 */
function findReceiving(media: readonly MediaDescription[], kind: string): number {
  return media.findIndex(
    ({ type, port, direction }) =>
      type === kind && port > 0 && direction !== 'sendonly' && direction !== 'inactive',
  )
}

/**
 * Checks a section. sdp-transform parses values that look like numbers as numbers, so
 * they are converted back.
 */
function toSection({ type, protocol, payloads, mid }: MediaDescription): OfferedSection {
  if (!type || !protocol || payloads === undefined || mid === undefined || mid === '') {
    throw createOfferError('a media section is incomplete or has no a=mid')
  }
  return { kind: type, protocol, payloads: String(payloads), mid: String(mid) }
}

/**
 * Returns the H.264 formats of a media section with packetization mode 1, in the order of the
 * offer.
 */
function findH264(section: MediaDescription): OfferedH264[] {
  const offered: OfferedH264[] = []
  for (const { payload, codec, rate } of section.rtp) {
    if (codec.toUpperCase() !== 'H264' || rate !== 90_000 || payload > MAX_PAYLOAD_TYPE) continue

    const parameters = findParameters(section, payload)
    const fields = parseParams(parameters)
    const profileLevelId = String(fields['profile-level-id']).toLowerCase()
    if (!/^[0-9a-f]{6}$/.test(profileLevelId) || fields['packetization-mode'] !== 1) continue
    offered.push({ payloadType: payload, parameters, profileLevelId })
  }
  return offered
}

function findOpus(section: MediaDescription): OfferedFormat | undefined {
  const opus = section.rtp.find(
    ({ codec, rate, encoding }) =>
      codec.toLowerCase() === 'opus' && rate === 48_000 && encoding === 2,
  )
  if (!opus || opus.payload > MAX_PAYLOAD_TYPE) return undefined
  return { payloadType: opus.payload, parameters: findParameters(section, opus.payload) }
}

function findParameters({ fmtp }: MediaDescription, payloadType: number): string {
  const format = fmtp.find(({ payload }) => payload === payloadType)
  return format ? String(format.config) : ''
}

function parseFingerprint(fingerprint: MediaDescription['fingerprint']): types.DtlsFingerprint {
  const hash = String(fingerprint?.hash)
  const algorithm = fingerprint?.type.toLowerCase()
  for (const [name, byteCount] of Object.entries(HASH_BYTES)) {
    const pattern = new RegExp(`^([0-9a-f]{2}(:|$)){${byteCount}}$`, 'i')
    if (name === algorithm && pattern.test(hash)) {
      return { algorithm: name as types.FingerprintAlgorithm, value: hash.toUpperCase() }
    }
  }
  throw createOfferError('it has no a=fingerprint with a SHA hash')
}

const createOfferError = (reason: string) =>
  new EyrieError('syntax', `the offer cannot be answered: ${reason}`)
