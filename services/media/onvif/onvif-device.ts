import type { Clock } from '../runtime/clock.ts'
import { callSoap, SoapFault, type SoapPeer } from './soap.ts'
import { escapeXml, findAll, findFirst, findNumber, findText, type Xml } from './xml.ts'

/**
 * The description of an ONVIF camera or recorder, as it reports it over SOAP.
 * `queryDevice` obtains it.
 */
export interface OnvifDevice {
  manufacturer: string | undefined
  model: string | undefined
  firmware: string | undefined
  /**
   * How far the clock of the device is ahead of this machine's, in ms; undefined if the device does
   * not report its time.
   */
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
  /** URL of the stream. Its host is the one that was queried. */
  url: string
  snapshotUrl: string | undefined
  /** Identifies the camera of a device with several ones, such as a recorder. */
  videoSource: string | undefined
}

/** The device without its time, which is measured first. */
type UntimedPeer = Omit<SoapPeer, 'deviceNow'>

// XML namespaces of the ONVIF services.
const DEVICE = 'http://www.onvif.org/ver10/device/wsdl'
const MEDIA = 'http://www.onvif.org/ver10/media/wsdl'
const MEDIA2 = 'http://www.onvif.org/ver20/media/wsdl'
const SCHEMA = 'http://www.onvif.org/ver10/schema'

/** Limits the number of requests to recorders with many channels. */
const MAX_PROFILES = 32
/** Devices report whole seconds, which is half a second too early on average. */
const MEAN_TRUNCATION_MS = 500

/**
 * Queries the description, time and streams of a device. Throws `SoapFault`, or the
 * error of the connection.
 */
export async function queryDevice(
  url: URL,
  peer: UntimedPeer,
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

/**
 * Returns how far the clock of the device is ahead, in ms. The request is sent without a login,
 * because a login must contain the time of the device.
 */
async function measureSkew(
  url: URL,
  peer: UntimedPeer,
  clock: Pick<Clock, 'wall'>,
): Promise<number | undefined> {
  const sentAt = clock.wall()
  const anonymous: SoapPeer = { ...peer, login: undefined, deviceNow: () => sentAt }
  try {
    const body = await callSoap(url, `<GetSystemDateAndTime xmlns="${DEVICE}"/>`, anonymous)
    // The device has read its clock between request and response.
    const measuredAt = (sentAt + clock.wall()) / 2

    const path = ['GetSystemDateAndTimeResponse', 'SystemDateAndTime', 'UTCDateTime']
    const deviceTime = parseTime(findFirst(body, ...path))
    if (deviceTime === undefined) return undefined
    return deviceTime + MEAN_TRUNCATION_MS - measuredAt
  } catch (error) {
    if (error instanceof SoapFault && error.kind !== 'not-onvif') return undefined
    throw error
  }
}

/** Parses an ONVIF DateTime to ms since 1970. */
function parseTime(xml: Xml | undefined): number | undefined {
  const year = findNumber(xml, 'Date', 'Year')
  const month = findNumber(xml, 'Date', 'Month')
  const day = findNumber(xml, 'Date', 'Day')
  const hour = findNumber(xml, 'Time', 'Hour')
  const minute = findNumber(xml, 'Time', 'Minute')
  const second = findNumber(xml, 'Time', 'Second')
  if (year === undefined || month === undefined || day === undefined || hour === undefined) {
    return undefined
  }
  const time = Date.UTC(year, month - 1, day, hour, minute ?? 0, second ?? 0)
  return Number.isFinite(time) ? time : undefined
}

interface MediaServices {
  media: URL | undefined
  media2: URL | undefined
}

/**
 * Returns the URLs of the media services. Old devices do not support GetServices, and have no
 * Media2.
 */
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
    return { media: await queryOldMediaService(url, peer), media2: undefined }
  }
}

/** Returns the URL of the Media service of a device that does not support GetServices. */
async function queryOldMediaService(url: URL, peer: SoapPeer): Promise<URL | undefined> {
  const request = `<GetCapabilities xmlns="${DEVICE}"><Category>All</Category></GetCapabilities>`
  const response = await callSoap(url, request, peer)
  const address = findText(response, 'GetCapabilitiesResponse', 'Capabilities', 'Media', 'XAddr')
  return toQueriedHost(address, url)
}

/**
 * Replaces the host of an address with the queried one, because credentials must not be sent to
 * other hosts, and because a device behind a router does not know its public address.
 */
function toQueriedHost(address: string | undefined, queried: URL): URL | undefined {
  const url = address === undefined ? null : URL.parse(address)
  if (!url) return undefined
  url.hostname = queried.hostname
  url.username = ''
  url.password = ''
  return url
}

/** A request for a URL, and the XML path of the URL in the response. */
interface UrlRequest {
  request: string
  urlPath: string[]
}

/** The requests of a media service, and the XML paths of the results in its responses. */
interface MediaRequests {
  profile: OnvifProfile['profile']
  listProfiles: string
  encoderPath: string[]
  videoSourcePath: string[]
  getStream(token: string): UrlRequest
  getSnapshot(token: string): UrlRequest
}

const MEDIA2_REQUESTS: MediaRequests = {
  profile: 't',
  listProfiles: `<GetProfiles xmlns="${MEDIA2}"><Type>VideoSource</Type><Type>VideoEncoder</Type></GetProfiles>`,
  encoderPath: ['Configurations', 'VideoEncoder'],
  videoSourcePath: ['Configurations', 'VideoSource', 'SourceToken'],
  getStream: token => ({
    request: `<GetStreamUri xmlns="${MEDIA2}"><Protocol>RtspUnicast</Protocol><ProfileToken>${token}</ProfileToken></GetStreamUri>`,
    urlPath: ['GetStreamUriResponse', 'Uri'],
  }),
  getSnapshot: token => ({
    request: `<GetSnapshotUri xmlns="${MEDIA2}"><ProfileToken>${token}</ProfileToken></GetSnapshotUri>`,
    urlPath: ['GetSnapshotUriResponse', 'Uri'],
  }),
}

const MEDIA_REQUESTS: MediaRequests = {
  profile: 's',
  listProfiles: `<GetProfiles xmlns="${MEDIA}"/>`,
  encoderPath: ['VideoEncoderConfiguration'],
  videoSourcePath: ['VideoSourceConfiguration', 'SourceToken'],
  getStream: token => ({
    request: `<GetStreamUri xmlns="${MEDIA}"><StreamSetup><Stream xmlns="${SCHEMA}">RTP-Unicast</Stream><Transport xmlns="${SCHEMA}"><Protocol>RTSP</Protocol></Transport></StreamSetup><ProfileToken>${token}</ProfileToken></GetStreamUri>`,
    urlPath: ['GetStreamUriResponse', 'MediaUri', 'Uri'],
  }),
  getSnapshot: token => ({
    request: `<GetSnapshotUri xmlns="${MEDIA}"><ProfileToken>${token}</ProfileToken></GetSnapshotUri>`,
    urlPath: ['GetSnapshotUriResponse', 'MediaUri', 'Uri'],
  }),
}

/** Returns the profiles of Media2, followed by the profiles of Media that have other streams. */
async function queryProfiles(
  { media, media2 }: MediaServices,
  peer: SoapPeer,
): Promise<OnvifProfile[]> {
  const profilesT = media2 ? await queryStreams(media2, MEDIA2_REQUESTS, peer) : []
  const profilesS = media ? await queryStreams(media, MEDIA_REQUESTS, peer) : []
  const urls = new Set(profilesT.map(({ url }) => url))
  return [...profilesT, ...profilesS.filter(({ url }) => !urls.has(url))]
}

/** Returns the profiles that have a video encoder and a stream. */
async function queryStreams(
  service: URL,
  requests: MediaRequests,
  peer: SoapPeer,
): Promise<OnvifProfile[]> {
  const response = await callSoap(service, requests.listProfiles, peer)
  const described = findAll(response, 'GetProfilesResponse', 'Profiles')
  const profiles: OnvifProfile[] = []

  for (const profile of described.slice(0, MAX_PROFILES)) {
    const token = findText(profile, '@token')
    const encoder = findFirst(profile, ...requests.encoderPath)
    if (!token || !encoder) continue

    const escapedToken = escapeXml(token)
    const url = await queryUrl(service, requests.getStream(escapedToken), peer)
    if (!url) continue

    profiles.push({
      name: findText(profile, 'Name') ?? token,
      profile: requests.profile,
      codec: findText(encoder, 'Encoding')?.toLowerCase(),
      width: findNumber(encoder, 'Resolution', 'Width'),
      height: findNumber(encoder, 'Resolution', 'Height'),
      fps: findNumber(encoder, 'RateControl', 'FrameRateLimit'),
      url,
      snapshotUrl: await queryUrl(service, requests.getSnapshot(escapedToken), peer),
      videoSource: findText(profile, ...requests.videoSourcePath),
    })
  }
  return profiles
}

/**
 * Returns the URL that the device sends in response to the request; undefined if it does not
 * support the request.
 */
async function queryUrl(
  service: URL,
  { request, urlPath }: UrlRequest,
  peer: SoapPeer,
): Promise<string | undefined> {
  try {
    const response = await callSoap(service, request, peer)
    return toQueriedHost(findText(response, ...urlPath), service)?.href
  } catch (error) {
    // A profile may be useful without this URL.
    if (error instanceof SoapFault && error.kind === 'unsupported') return undefined
    throw error
  }
}
