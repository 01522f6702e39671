import type { types } from 'mediasoup'
import type { Offer, OfferedH264, OfferedOpus, OfferedSection } from './sdp-offer.ts'

/** The server's end of a viewer's connection, as SDP describes it. */
export interface Endpoint {
  ice: types.IceParameters
  candidates: readonly types.IceCandidate[]
  fingerprints: readonly types.DtlsFingerprint[]
}

export interface Sent {
  format: OfferedH264
  ssrc: number
  /** Picture and sound with the same name are played in time with each other. */
  cname: string
  sound?: { opus: OfferedOpus; ssrc: number } | undefined
}

/**
 * The SDP that answers an offer: the picture is sent, and the sound where there is any; all else is declined (RFC 8829,
 * 5.3).
 */
export function writeAnswer(offer: Offer, endpoint: Endpoint, sent: Sent): string {
  const sound = sent.sound && offer.sound?.section
  const session = [
    'v=0',
    'o=- 0 0 IN IP4 127.0.0.1',
    's=-',
    't=0 0',
    'a=ice-lite',
    bundle(sentSections(offer, sent)),
    'a=msid-semantic: WMS *',
  ]
  const media = offer.sections.flatMap((section, index) => {
    if (index === offer.video) return [...sending(section, endpoint, sent.format), ...pictureLines(sent)]
    if (index === sound)
      return [...sending(section, endpoint, sent.sound!.opus), ...soundLines(sent.cname, sent.sound!)]
    return [
      `m=${section.kind} 0 ${section.protocol} ${section.formats}`,
      `a=mid:${section.mid}`,
      'a=inactive',
    ]
  })
  return lines([...session, ...media])
}

/** What has changed by an ICE restart (RFC 8840). */
export function writeIceFragment(
  offer: Offer,
  endpoint: Pick<Endpoint, 'ice' | 'candidates'>,
  sent: Pick<Sent, 'sound'>,
): string {
  const sections = sentSections(offer, sent)
  const { kind, protocol, mid } = sections[0]!
  return lines([
    'a=ice-lite',
    bundle(sections),
    `m=${kind} 9 ${protocol} 0`,
    `a=mid:${mid}`,
    ...iceLines(endpoint),
  ])
}

const sentSections = (offer: Offer, { sound }: Pick<Sent, 'sound'>) =>
  offer.sections.filter((_, index) => index === offer.video || (sound && index === offer.sound?.section))

const bundle = (sections: readonly OfferedSection[]) =>
  `a=group:BUNDLE ${sections.map(({ mid }) => mid).join(' ')}`

function sending(
  { kind, protocol, mid }: OfferedSection,
  endpoint: Endpoint,
  { payloadType }: { payloadType: number },
): string[] {
  return [
    `m=${kind} 9 ${protocol} ${payloadType}`,
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
  ]
}

function pictureLines({ format: { payloadType, parameters }, ssrc, cname }: Sent): string[] {
  return [
    `a=rtpmap:${payloadType} H264/90000`,
    `a=fmtp:${payloadType} ${parameters}`,
    ...['nack', 'nack pli', 'ccm fir'].map(feedback => `a=rtcp-fb:${payloadType} ${feedback}`),
    'a=msid:stream video',
    `a=ssrc:${ssrc} cname:${cname}`,
  ]
}

function soundLines(cname: string, { opus, ssrc }: NonNullable<Sent['sound']>): string[] {
  const { payloadType, parameters } = opus
  return [
    `a=rtpmap:${payloadType} opus/48000/2`,
    ...(parameters ? [`a=fmtp:${payloadType} ${parameters}`] : []),
    'a=msid:stream sound',
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
