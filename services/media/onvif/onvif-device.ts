import type { Clock } from '../runtime/clock.ts'
import { callSoap, SoapFault, type SoapPeer } from './soap.ts'
import { escapeXml, findAll, findFirst, findNumber, findText, type Xml } from './xml.ts'

/** A device as it describes itself. */
export interface OnvifDevice {
  manufacturer: string | undefined
  model: string | undefined
  firmware: string | undefined
  /** How far its clock is ahead of this machine's, in ms; undefined if it does not report the time. */
  skewMs: number | undefined
  profiles: OnvifProfile[]
}

/** A stream that the device offers. */
export interface OnvifProfile {
  name: string
  /** `s`: ONVIF Media. `t`: Media2, which also supports H.265. */
  profile: 's' | 't'
  codec: string | undefined
  width: number | undefined
  height: number | undefined
  fps: number | undefined
  /** Address of the stream, on the host that was queried. */
  url: string
  snapshotUrl: string | undefined
}

type AnonymousPeer = Omit<SoapPeer, 'deviceNow'>

const DEVICE = 'http://www.onvif.org/ver10/device/wsdl'
const MEDIA = 'http://www.onvif.org/ver10/media/wsdl'
const MEDIA2 = 'http://www.onvif.org/ver20/media/wsdl'
const SCHEMA = 'http://www.onvif.org/ver10/schema'
/** Bounds the number of requests. Devices with more profiles are recorders with many channels. */
const MAX_PROFILES = 32

/** Queries a device's description, time and streams. Throws `SoapFault`, or the error of the connection. */
export async function queryDevice(
  url: URL,
  peer: AnonymousPeer,
  clock: Pick<Clock, 'wall'>,
): Promise<OnvifDevice> {
  const skewMs = await measureSkew(url, peer, clock)
  const timedPeer: SoapPeer = { ...peer, deviceNow: () => clock.wall() + (skewMs ?? 0) }
  const services = await queryServices(url, timedPeer)
  const response = await callSoap(url, `<GetDeviceInformation xmlns="${DEVICE}"/>`, timedPeer)
  const information = findFirst(response, 'GetDeviceInformationResponse')
  return {
    manufacturer: findText(information, 'Manufacturer'),
    model: findText(information, 'Model'),
    firmware: findText(information, 'FirmwareVersion'),
    skewMs,
    profiles: await queryProfiles(services, timedPeer),
  }
}

/** Needs no login, which in turn depends on the device's time. */
async function measureSkew(
  url: URL,
  peer: AnonymousPeer,
  clock: Pick<Clock, 'wall'>,
): Promise<number | undefined> {
  const sentAt = clock.wall()
  const anonymous: SoapPeer = { ...peer, login: undefined, deviceNow: () => sentAt }
  try {
    const body = await callSoap(url, `<GetSystemDateAndTime xmlns="${DEVICE}"/>`, anonymous)
    const measuredAt = (sentAt + clock.wall()) / 2
    const path = ['GetSystemDateAndTimeResponse', 'SystemDateAndTime', 'UTCDateTime']
    const deviceTime = parseTime(findFirst(body, ...path))
    // The device reports whole seconds, and is on average half a second further.
    return deviceTime === undefined ? undefined : deviceTime + 500 - measuredAt
  } catch (error) {
    if (error instanceof SoapFault && error.kind !== 'not-onvif') return undefined
    throw error
  }
}

function parseTime(xml: Xml | undefined): number | undefined {
  const year = findNumber(xml, 'Date', 'Year')
  const month = findNumber(xml, 'Date', 'Month')
  const day = findNumber(xml, 'Date', 'Day')
  const hour = findNumber(xml, 'Time', 'Hour')
  const minute = findNumber(xml, 'Time', 'Minute')
  const second = findNumber(xml, 'Time', 'Second')
  if (year === undefined || month === undefined || day === undefined || hour === undefined) return undefined
  const time = Date.UTC(year, month - 1, day, hour, minute ?? 0, second ?? 0)
  return Number.isFinite(time) ? time : undefined
}

interface MediaServices {
  media: URL | undefined
  media2: URL | undefined
}

/** Old devices do not support GetServices, and have no Media2. */
async function queryServices(url: URL, peer: SoapPeer): Promise<MediaServices> {
  try {
    const request = `<GetServices xmlns="${DEVICE}"><IncludeCapability>false</IncludeCapability></GetServices>`
    const services = findAll(await callSoap(url, request, peer), 'GetServicesResponse', 'Service')
    const findService = (namespace: string) => {
      const service = services.find(candidate => findText(candidate, 'Namespace') === namespace)
      return toQueriedHost(findText(service, 'XAddr'), url)
    }
    return { media: findService(MEDIA), media2: findService(MEDIA2) }
  } catch (error) {
    if (!(error instanceof SoapFault) || error.kind !== 'unsupported') throw error
    const request = `<GetCapabilities xmlns="${DEVICE}"><Category>All</Category></GetCapabilities>`
    const path = ['GetCapabilitiesResponse', 'Capabilities', 'Media', 'XAddr']
    return {
      media: toQueriedHost(findText(await callSoap(url, request, peer), ...path), url),
      media2: undefined,
    }
  }
}

/**
 * Replaces the host of an address by the one that was queried: credentials must not be sent to other hosts, and a device behind
 * a router does not know its own address.
 */
function toQueriedHost(address: string | undefined, queried: URL): URL | undefined {
  const url = address === undefined ? null : URL.parse(address)
  if (!url) return undefined
  url.hostname = queried.hostname
  url.username = ''
  url.password = ''
  return url
}

/** Returns the profiles of Media2 first, then those of Media with other streams. */
async function queryProfiles({ media, media2 }: MediaServices, peer: SoapPeer): Promise<OnvifProfile[]> {
  const profilesT = media2 ? await queryStreams(media2, MEDIA2_REQUESTS, peer) : []
  const profilesS = media ? await queryStreams(media, MEDIA_REQUESTS, peer) : []
  const urls = new Set(profilesT.map(({ url }) => url))
  return [...profilesT, ...profilesS.filter(({ url }) => !urls.has(url))]
}

/** The requests of a media service, and where its responses contain the results. */
interface MediaRequests {
  profile: OnvifProfile['profile']
  listProfiles: string
  encoderPath: string[]
  getStream(token: string): string
  streamPath: string[]
  getSnapshot(token: string): string
  snapshotPath: string[]
}

const MEDIA2_REQUESTS: MediaRequests = {
  profile: 't',
  listProfiles: `<GetProfiles xmlns="${MEDIA2}"><Type>VideoEncoder</Type></GetProfiles>`,
  encoderPath: ['Configurations', 'VideoEncoder'],
  getStream: token =>
    `<GetStreamUri xmlns="${MEDIA2}"><Protocol>RtspUnicast</Protocol><ProfileToken>${token}</ProfileToken></GetStreamUri>`,
  streamPath: ['GetStreamUriResponse', 'Uri'],
  getSnapshot: token =>
    `<GetSnapshotUri xmlns="${MEDIA2}"><ProfileToken>${token}</ProfileToken></GetSnapshotUri>`,
  snapshotPath: ['GetSnapshotUriResponse', 'Uri'],
}

const MEDIA_REQUESTS: MediaRequests = {
  profile: 's',
  listProfiles: `<GetProfiles xmlns="${MEDIA}"/>`,
  encoderPath: ['VideoEncoderConfiguration'],
  getStream: token =>
    `<GetStreamUri xmlns="${MEDIA}"><StreamSetup><Stream xmlns="${SCHEMA}">RTP-Unicast</Stream><Transport xmlns="${SCHEMA}"><Protocol>RTSP</Protocol></Transport></StreamSetup><ProfileToken>${token}</ProfileToken></GetStreamUri>`,
  streamPath: ['GetStreamUriResponse', 'MediaUri', 'Uri'],
  getSnapshot: token =>
    `<GetSnapshotUri xmlns="${MEDIA}"><ProfileToken>${token}</ProfileToken></GetSnapshotUri>`,
  snapshotPath: ['GetSnapshotUriResponse', 'MediaUri', 'Uri'],
}

async function queryStreams(service: URL, requests: MediaRequests, peer: SoapPeer): Promise<OnvifProfile[]> {
  const response = await callSoap(service, requests.listProfiles, peer)
  const profiles: OnvifProfile[] = []

  const queryUrl = async (request: string, path: string[]) => {
    try {
      return toQueriedHost(findText(await callSoap(service, request, peer), ...path), service)?.href
    } catch (error) {
      // The rest of the profile is still useful.
      if (error instanceof SoapFault && error.kind === 'unsupported') return undefined
      throw error
    }
  }

  for (const profile of findAll(response, 'GetProfilesResponse', 'Profiles').slice(0, MAX_PROFILES)) {
    const token = findText(profile, '@token')
    const encoder = findFirst(profile, ...requests.encoderPath)
    if (!token || !encoder) continue
    const escaped = escapeXml(token)
    const url = await queryUrl(requests.getStream(escaped), requests.streamPath)
    if (!url) continue
    profiles.push({
      name: findText(profile, 'Name') ?? token,
      profile: requests.profile,
      codec: findText(encoder, 'Encoding')?.toLowerCase(),
      width: findNumber(encoder, 'Resolution', 'Width'),
      height: findNumber(encoder, 'Resolution', 'Height'),
      fps: findNumber(encoder, 'RateControl', 'FrameRateLimit'),
      url,
      snapshotUrl: await queryUrl(requests.getSnapshot(escaped), requests.snapshotPath),
    })
  }
  return profiles
}
