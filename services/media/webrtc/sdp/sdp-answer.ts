import type { types } from 'mediasoup'
import { type MediaDescription, type SessionDescription, write } from 'sdp-transform'
import type { Offer, OfferedFormat, OfferedSection } from './sdp-offer.ts'

/** The server's side of a viewer's connection. */
export interface Endpoint {
  ice: types.IceParameters
  candidates: readonly types.IceCandidate[]
  fingerprints: readonly types.DtlsFingerprint[]
}

/** The RTP streams that are sent to the viewer. */
export interface SentStreams {
  video: { format: OfferedFormat; ssrc: number }
  audio?: { format: OfferedFormat; ssrc: number } | undefined
  /** Receivers synchronise streams that have the same CNAME. */
  cname: string
}

const MSID = 'stream'
const H264_FEEDBACK = [{ type: 'nack' }, { type: 'nack', subtype: 'pli' }, { type: 'ccm', subtype: 'fir' }]

/** Writes the SDP answer to an offer: video and, if available, audio are sent, other sections declined (RFC 8829, 5.3). */
export function writeAnswer(offer: Offer, endpoint: Endpoint, sent: SentStreams): string {
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
    media: offer.sections.map((section, index): MediaDescription => {
      if (index === offer.videoSection) return describeVideo(section, endpoint, sent)
      if (sent.audio && index === offer.audio?.section)
        return describeAudio(section, endpoint, sent.audio, sent)
      return describeDeclined(section)
    }),
  })
}

/** `write` with its second parameter, which the type declarations lack. */
const writeLines = write as (description: SessionDescription, options: { outerOrder: string[] }) => string

/** Writes the SDP fragment with the new credentials after an ICE restart (RFC 8840). */
export function writeIceFragment(
  offer: Offer,
  endpoint: Pick<Endpoint, 'ice' | 'candidates'>,
  sent: Pick<SentStreams, 'audio'>,
): string {
  const sections = findSentSections(offer, sent)
  const { kind, protocol, mid } = sections[0]!
  const section: MediaDescription = {
    type: kind,
    port: 9,
    protocol,
    payloads: '0',
    rtp: [],
    fmtp: [],
    mid,
    ...describeIce(endpoint),
  }
  // A fragment has attributes at session level, but no v=, o=, s= or t= line.
  const fragment = { icelite: 'ice-lite', groups: [createBundle(sections)], media: [section] }
  return writeLines(fragment as SessionDescription, { outerOrder: ['a'] })
}

function findSentSections(offer: Offer, { audio }: Pick<SentStreams, 'audio'>): OfferedSection[] {
  const audioSection = audio && offer.audio?.section
  return offer.sections.filter((_, index) => index === offer.videoSection || index === audioSection)
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
  { cname }: SentStreams,
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

function describeSent({ kind, protocol, mid }: OfferedSection, endpoint: Endpoint, payloadType: number) {
  const fingerprint = endpoint.fingerprints.find(({ algorithm }) => algorithm === 'sha-256')
  return {
    type: kind,
    port: 9,
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
    candidates: candidates.map(({ foundation, protocol, priority, address, port, type, tcpType }) => ({
      foundation,
      component: 1,
      transport: protocol,
      priority,
      ip: address,
      port,
      type,
      ...(tcpType && { tcptype: tcpType }),
    })),
    endOfCandidates: 'end-of-candidates',
  } as const
}
