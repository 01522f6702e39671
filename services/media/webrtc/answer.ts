import type { types } from 'mediasoup'
import type { Offer, OfferedH264 } from './offer.ts'

/** The server's end of a viewer's connection, as SDP describes it. */
export interface Endpoint {
  ice: types.IceParameters
  candidates: readonly types.IceCandidate[]
  fingerprints: readonly types.DtlsFingerprint[]
}

export interface Sent {
  format: OfferedH264
  ssrc: number
  cname: string
}

/** The SDP that answers an offer: the picture is sent, all else is declined (RFC 8829, 5.3). */
export function writeAnswer(offer: Offer, endpoint: Endpoint, sent: Sent): string {
  const { mid } = offer.sections[offer.video]!
  const session = [
    'v=0',
    'o=- 0 0 IN IP4 127.0.0.1',
    's=-',
    't=0 0',
    'a=ice-lite',
    `a=group:BUNDLE ${mid}`,
    'a=msid-semantic: WMS *',
  ]
  const media = offer.sections.flatMap((section, index) =>
    index === offer.video
      ? videoSection(section.protocol, mid, endpoint, sent)
      : [`m=${section.kind} 0 ${section.protocol} ${section.formats}`, `a=mid:${section.mid}`, 'a=inactive'],
  )
  return lines([...session, ...media])
}

/** What has changed by an ICE restart (RFC 8840). */
export function writeIceFragment(offer: Offer, endpoint: Pick<Endpoint, 'ice' | 'candidates'>): string {
  const { kind, protocol, mid } = offer.sections[offer.video]!
  return lines([
    'a=ice-lite',
    `a=group:BUNDLE ${mid}`,
    `m=${kind} 9 ${protocol} 0`,
    `a=mid:${mid}`,
    ...iceLines(endpoint),
  ])
}

function videoSection(
  protocol: string,
  mid: string,
  endpoint: Endpoint,
  { format, ssrc, cname }: Sent,
): string[] {
  const { payloadType, parameters } = format
  return [
    `m=video 9 ${protocol} ${payloadType}`,
    'c=IN IP4 0.0.0.0',
    `a=mid:${mid}`,
    'a=sendonly',
    'a=rtcp-mux',
    'a=rtcp-rsize',
    ...iceLines(endpoint),
    ...endpoint.fingerprints
      .filter(({ algorithm }) => algorithm === 'sha-256')
      .map(({ algorithm, value }) => `a=fingerprint:${algorithm} ${value}`),
    'a=setup:passive',
    `a=rtpmap:${payloadType} H264/90000`,
    `a=fmtp:${payloadType} ${parameters}`,
    ...['nack', 'nack pli', 'ccm fir'].map(feedback => `a=rtcp-fb:${payloadType} ${feedback}`),
    'a=msid:stream video',
    `a=ssrc:${ssrc} cname:${cname}`,
  ]
}

function iceLines({ ice, candidates }: Pick<Endpoint, 'ice' | 'candidates'>): string[] {
  return [
    `a=ice-ufrag:${ice.usernameFragment}`,
    `a=ice-pwd:${ice.password}`,
    ...candidates.map(candidateLine),
    'a=end-of-candidates',
  ]
}

function candidateLine({
  foundation,
  protocol,
  priority,
  address,
  port,
  type,
  tcpType,
}: types.IceCandidate): string {
  const how = tcpType ? ` tcptype ${tcpType}` : ''
  return `a=candidate:${foundation} 1 ${protocol} ${priority} ${address} ${port} typ ${type}${how}`
}

const lines = (all: readonly string[]) => `${all.join('\r\n')}\r\n`
