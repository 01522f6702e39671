import { EyrieError } from '@eyrie/contract'
import type { types } from 'mediasoup'

/** An H.264 format that the viewer takes in packets of packetization-mode 1. */
export interface OfferedH264 {
  payloadType: number
  /** As the offer has it, to be answered alike. */
  parameters: string
  /** Six hexadecimal digits: profile, constraints and level. */
  profileLevelId: string
}

/** Opus as the viewer takes it. */
export interface OfferedOpus {
  payloadType: number
  /** As the offer has it, to be answered alike. */
  parameters: string
}

/** One media section of an offer; all are answered, in their order. */
export interface OfferedSection {
  kind: string
  protocol: string
  formats: string
  mid: string
}

/** What a viewer's SDP says of how it can be reached and what it can play. */
export interface Offer {
  sections: OfferedSection[]
  /** Index of the section that is for the picture. */
  video: number
  h264: OfferedH264[]
  /** Where sound is to be received: index of the section that is for it, and how. */
  sound?: { section: number; opus: OfferedOpus } | undefined
  iceUsername: string
  fingerprint: types.DtlsFingerprint
}

const USUAL_PROFILE = '42e01f'
/** Bytes of the hashes that a certificate may be known by (RFC 8122). */
const HASH_BYTES = { 'sha-1': 20, 'sha-224': 28, 'sha-256': 32, 'sha-384': 48, 'sha-512': 64 } as const

/** Reads an SDP offer (RFC 8866, RFC 8829). Throws EyrieError that names what is missing. */
export function readOffer(sdp: string): Offer {
  const [session = '', ...media] = sdp.split(/\r?\n(?=m=)/)
  if (!/^v=0\r?\n/.test(session)) throw bad('it does not begin with v=0')
  const sections = media.map(readSection)
  const toReceive = (kind: string) =>
    media.findIndex(
      section => new RegExp(`^m=${kind} [1-9]`).test(section) && !/^a=(sendonly|inactive)\r?$/m.test(section),
    )
  const video = toReceive('video')
  if (video < 0) throw bad('there is no media section of video to receive')
  const own = media[video]!
  const attribute = (name: string) => attributeOf(own, name) ?? attributeOf(session, name)
  const iceUsername = attribute('ice-ufrag')
  if (!iceUsername) throw bad('it lacks a=ice-ufrag')
  if (attribute('setup') === 'passive') throw bad('a=setup must let the viewer be active: write actpass')
  const fingerprint = readFingerprint(attribute('fingerprint') ?? '')
  const sound = toReceive('audio')
  const opus = sound < 0 ? undefined : readOpus(media[sound]!)
  return {
    ...{ sections, video, h264: readH264(own), iceUsername, fingerprint },
    sound: opus && { section: sound, opus },
  }
}

/** The first value of `a=<name>:`. */
export function attributeOf(sdp: string, name: string): string | undefined {
  return new RegExp(`^a=${name}:(.*?)\\r?$`, 'm').exec(sdp)?.[1]
}

/**
 * The format to send a stream in: that of its profile, else that which every browser has, since browsers decode more
 * than they offer. Throws EyrieError where the viewer takes no H.264.
 */
export function chooseH264(offered: readonly OfferedH264[], avcC: Uint8Array): OfferedH264 {
  const profile = Buffer.from(avcC.subarray(1, 2)).toString('hex')
  const chosen =
    offered.find(({ profileLevelId }) => profileLevelId.startsWith(profile)) ??
    offered.find(({ profileLevelId }) => profileLevelId === USUAL_PROFILE) ??
    offered[0]
  if (chosen) return chosen
  throw new EyrieError(
    'type',
    'the offer has no H.264 with packetization-mode=1, in which streams are sent',
    {
      status: 406,
    },
  )
}

function readFingerprint(text: string): types.DtlsFingerprint {
  const [algorithm = '', value = ''] = text.split(' ')
  const known = Object.entries(HASH_BYTES).find(([name]) => name === algorithm.toLowerCase())
  if (!known || !new RegExp(`^([0-9a-f]{2}(:|$)){${known[1]}}$`, 'i').test(value))
    throw bad('it lacks a=fingerprint with a hash of SHA')
  return { algorithm: known[0] as types.FingerprintAlgorithm, value: value.toUpperCase() }
}

function readSection(section: string): OfferedSection {
  const [, kind, protocol, formats] = /^m=(\S+) \S+ (\S+) (.*?)\r?(\n|$)/.exec(section) ?? []
  const mid = attributeOf(section, 'mid')
  if (!kind || !protocol || !formats || !mid) throw bad('a media section is not whole, or lacks a=mid')
  return { kind, protocol, formats, mid }
}

function readH264(section: string): OfferedH264[] {
  const types = [...section.matchAll(/^a=rtpmap:(\d+) H264\/90000\r?$/gim)].map(([, type]) => Number(type))
  return types.flatMap(payloadType => {
    const parameters = fmtp(section, payloadType)
    const profileLevelId = /profile-level-id=([0-9a-f]{6})\b/i.exec(parameters)?.[1]?.toLowerCase()
    if (payloadType > 127 || !profileLevelId || !/packetization-mode=1\b/.test(parameters)) return []
    return [{ payloadType, parameters, profileLevelId }]
  })
}

function readOpus(section: string): OfferedOpus | undefined {
  const payloadType = Number(/^a=rtpmap:(\d+) opus\/48000\/2\r?$/im.exec(section)?.[1] ?? Number.NaN)
  return payloadType <= 127 ? { payloadType, parameters: fmtp(section, payloadType) } : undefined
}

function fmtp(section: string, payloadType: number): string {
  return new RegExp(`^a=fmtp:${payloadType} (.*?)\\r?$`, 'm').exec(section)?.[1] ?? ''
}

const bad = (what: string) => new EyrieError('syntax', `the offer cannot be answered: ${what}`)
