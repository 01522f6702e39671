import type { types } from 'mediasoup'
import { type MediaDescription, type SessionDescription, write } from 'sdp-transform'
import type { Offer, OfferedFormat, OfferedSection } from './sdp-offer.ts'

/**
 * The server's side of a viewer's WebRTC connection: its ICE and DTLS parameters, as the SDP
 * answer declares them.
 */
export interface Endpoint {
  ice: types.IceParameters
  candidates: readonly types.IceCandidate[]
  fingerprints: readonly types.DtlsFingerprint[]
}

/** RTP streams that the server sends to the viewer. */
export interface SentStreams {
  video: { format: OfferedFormat; ssrc: number }
  audio?: { format: OfferedFormat; ssrc: number } | undefined
  /** Receivers synchronize streams with the same CNAME. */
  cname: string
}

/** Identifier of the media stream that both tracks belong to. */
const MSID = 'stream'
/** The port that stands for an address determined by ICE (RFC 8840). */
const DISCARD_PORT = 9
const H264_FEEDBACK = [
  { type: 'nack' },
  { type: 'nack', subtype: 'pli' },
  { type: 'ccm', subtype: 'fir' },
]

/**
 * Writes the SDP answer to an offer (RFC 8829, 5.3). The server sends video and available audio,
 * and declines other sections.
 */
export function writeAnswer(offer: Offer, endpoint: Endpoint, sent: SentStreams): string {
  const media = offer.sections.map((section, index): MediaDescription => {
    if (index === offer.videoIndex) return describeVideo(section, endpoint, sent)
    const receivesSound = index === offer.audio?.index
    if (receivesSound && sent.audio) return describeAudio(section, endpoint, sent.audio, sent.cname)
    return describeDeclined(section)
  })

  return write({
    version: 0,
    origin: {
      username: '-',
      sessionId: 0,
      sessionVersion: 0,
      netType: 'IN',
      ipVer: 4,
      address: '127.0.0.1',
    },
    name: '-',
    timing: { start: 0, stop: 0 },
    icelite: 'ice-lite',
    groups: [createBundle(findSentSections(offer, sent))],
    msidSemantic: { semantic: 'WMS', token: '*' },
    media,
  })
}

/** Writes the SDP fragment with the server's new credentials after an ICE restart (RFC 8840). */
export function writeIceFragment(
  offer: Offer,
  endpoint: Pick<Endpoint, 'ice' | 'candidates'>,
  sent: Pick<SentStreams, 'audio'>,
): string {
  const sections = findSentSections(offer, sent)
  const { kind, protocol, mid } = sections[0]!
  const section: MediaDescription = {
    type: kind,
    port: DISCARD_PORT,
    protocol,
    payloads: '0',
    rtp: [],
    fmtp: [],
    mid,
    ...describeIce(endpoint),
  }
  // A fragment has attributes (a=) at session level, but none of the lines v=, o=, s= and t=
  // that the type requires.
  const fragment = { icelite: 'ice-lite', groups: [createBundle(sections)], media: [section] }
  return writeLines(fragment as SessionDescription, { outerOrder: ['a'] })
}

/**
 * `write` of sdp-transform with its second parameter, which is missing in the type declarations.
 */
const writeLines = write as (
  description: SessionDescription,
  options: { outerOrder: string[] },
) => string

/** Returns the sections of the offer in which the server sends. */
function findSentSections(offer: Offer, { audio }: Pick<SentStreams, 'audio'>): OfferedSection[] {
  const audioIndex = audio && offer.audio?.index
  return offer.sections.filter((_, index) => index === offer.videoIndex || index === audioIndex)
}

function createBundle(sections: readonly OfferedSection[]) {
  return { type: 'BUNDLE', mids: sections.map(({ mid }) => mid).join(' ') }
}

function describeVideo(
  section: OfferedSection,
  endpoint: Endpoint,
  { video: { format, ssrc }, cname }: SentStreams,
): MediaDescription {
  const { payloadType, parameters } = format
  return {
    ...describeSent(section, endpoint, payloadType),
    rtp: [{ payload: payloadType, codec: 'H264', rate: 90_000 }],
    fmtp: [{ payload: payloadType, config: parameters }],
    rtcpFb: H264_FEEDBACK.map(feedback => ({ payload: payloadType, ...feedback })),
    msid: [{ id: MSID, appdata: 'video' }],
    ssrcs: [{ id: ssrc, attribute: 'cname', value: cname }],
  }
}

function describeAudio(
  section: OfferedSection,
  endpoint: Endpoint,
  { format, ssrc }: NonNullable<SentStreams['audio']>,
  cname: string,
): MediaDescription {
  const { payloadType, parameters } = format
  return {
    ...describeSent(section, endpoint, payloadType),
    rtp: [{ payload: payloadType, codec: 'opus', rate: 48_000, encoding: 2 }],
    fmtp: parameters ? [{ payload: payloadType, config: parameters }] : [],
    msid: [{ id: MSID, appdata: 'sound' }],
    ssrcs: [{ id: ssrc, attribute: 'cname', value: cname }],
  }
}

/** Returns the fields that the sections for video and audio have in common. */
function describeSent(
  { kind, protocol, mid }: OfferedSection,
  endpoint: Endpoint,
  payloadType: number,
) {
  const fingerprint = endpoint.fingerprints.find(({ algorithm }) => algorithm === 'sha-256')
  return {
    type: kind,
    port: DISCARD_PORT,
    protocol,
    payloads: String(payloadType),
    connection: { version: 4, ip: '0.0.0.0' },
    mid,
    direction: 'sendonly',
    rtcpMux: 'rtcp-mux',
    rtcpRsize: 'rtcp-rsize',
    ...describeIce(endpoint),
    ...(fingerprint && { fingerprint: { type: fingerprint.algorithm, hash: fingerprint.value } }),
    setup: 'passive',
  } as const
}

function describeDeclined({ kind, protocol, payloads, mid }: OfferedSection): MediaDescription {
  return { type: kind, port: 0, protocol, payloads, rtp: [], fmtp: [], mid, direction: 'inactive' }
}

function describeIce({ ice, candidates }: Pick<Endpoint, 'ice' | 'candidates'>) {
  return {
    iceUfrag: ice.usernameFragment,
    icePwd: ice.password,
    candidates: candidates.map(
      ({ foundation, protocol, priority, address, port, type, tcpType }) => ({
        foundation,
        component: 1,
        transport: protocol,
        priority,
        ip: address,
        port,
        type,
        ...(tcpType && { tcptype: tcpType }),
      }),
    ),
    endOfCandidates: 'end-of-candidates',
  } as const
}
