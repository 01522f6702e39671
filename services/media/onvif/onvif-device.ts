import type { Clock } from '../runtime/clock.ts'
import { call, SoapFault, type SoapPeer } from './soap.ts'
import { allAt, escapeXml, firstAt, numberAt, textAt, type Xml } from './xml.ts'

/** What a device says of itself. */
export interface OnvifDevice {
  manufacturer: string | undefined
  model: string | undefined
  firmware: string | undefined
  /** How far its clock is ahead of this machine's, in ms; undefined where it tells no time. */
  skewMs: number | undefined
  profiles: OnvifProfile[]
}

/** A stream that the device offers. */
export interface OnvifProfile {
  name: string
  /** `s`: ONVIF Media, `t`: Media2, which has H.265 as well. */
  profile: 's' | 't'
  codec: string | undefined
  width: number | undefined
  height: number | undefined
  fps: number | undefined
  /** Address of the stream, on the host that was asked. */
  url: string
  snapshotUrl: string | undefined
}

const DEVICE = 'http://www.onvif.org/ver10/device/wsdl'
const MEDIA = 'http://www.onvif.org/ver10/media/wsdl'
const MEDIA2 = 'http://www.onvif.org/ver20/media/wsdl'
const SCHEMA = 'http://www.onvif.org/ver10/schema'
/** Devices with more are recorders with a channel each; what is asked has to come to an end. */
const MOST_PROFILES = 32

/** Asks a device what it is, what time it has and which streams there are. Throws SoapFault or the connection's error. */
export async function askDevice(
  url: URL,
  peer: Omit<SoapPeer, 'deviceNow'>,
  clock: Pick<Clock, 'wall'>,
): Promise<OnvifDevice> {
  const skewMs = await timeSkew(url, peer, clock)
  const known: SoapPeer = { ...peer, deviceNow: () => clock.wall() + (skewMs ?? 0) }
  const services = await servicesOf(url, known)
  const information = await call(url, `<GetDeviceInformation xmlns="${DEVICE}"/>`, known)
  const about = firstAt(information, 'GetDeviceInformationResponse')
  return {
    manufacturer: textAt(about, 'Manufacturer'),
    model: textAt(about, 'Model'),
    firmware: textAt(about, 'FirmwareVersion'),
    skewMs,
    profiles: await profilesOf(services, known),
  }
}

/** Asked without a login: whoever has to send one needs the device's time first. */
async function timeSkew(
  url: URL,
  peer: Omit<SoapPeer, 'deviceNow'>,
  clock: Pick<Clock, 'wall'>,
): Promise<number | undefined> {
  const asked = clock.wall()
  const anonymous: SoapPeer = { ...peer, login: undefined, deviceNow: () => asked }
  try {
    const body = await call(url, `<GetSystemDateAndTime xmlns="${DEVICE}"/>`, anonymous)
    const between = (asked + clock.wall()) / 2
    const path = ['GetSystemDateAndTimeResponse', 'SystemDateAndTime', 'UTCDateTime']
    const at = timeAt(firstAt(body, ...path))
    // It says whole seconds: on average half a one has passed.
    return at === undefined ? undefined : at + 500 - between
  } catch (error) {
    if (error instanceof SoapFault && error.kind !== 'not-onvif') return undefined
    throw error
  }
}

function timeAt(xml: Xml | undefined): number | undefined {
  const [year, month, day] = ['Year', 'Month', 'Day'].map(name => numberAt(xml, 'Date', name))
  const [hour, minute, second] = ['Hour', 'Minute', 'Second'].map(name => numberAt(xml, 'Time', name))
  if (year === undefined || month === undefined || day === undefined || hour === undefined) return undefined
  const at = Date.UTC(year, month - 1, day, hour, minute ?? 0, second ?? 0)
  return Number.isFinite(at) ? at : undefined
}

interface Services {
  media: URL | undefined
  media2: URL | undefined
}

async function servicesOf(url: URL, peer: SoapPeer): Promise<Services> {
  try {
    const request = `<GetServices xmlns="${DEVICE}"><IncludeCapability>false</IncludeCapability></GetServices>`
    const services = allAt(await call(url, request, peer), 'GetServicesResponse', 'Service')
    const at = (namespace: string) =>
      onHost(
        textAt(
          services.find(each => textAt(each, 'Namespace') === namespace),
          'XAddr',
        ),
        url,
      )
    return { media: at(MEDIA), media2: at(MEDIA2) }
  } catch (error) {
    if (!(error instanceof SoapFault) || error.kind !== 'unsupported') throw error
    const request = `<GetCapabilities xmlns="${DEVICE}"><Category>All</Category></GetCapabilities>`
    const path = ['GetCapabilitiesResponse', 'Capabilities', 'Media', 'XAddr']
    return { media: onHost(textAt(await call(url, request, peer), ...path), url), media2: undefined }
  }
}

/** Credentials are for the host that was asked, and behind a router a device does not know its own address. */
function onHost(address: string | undefined, asked: URL): URL | undefined {
  const url = address === undefined ? null : URL.parse(address)
  if (!url) return undefined
  url.hostname = asked.hostname
  url.username = ''
  url.password = ''
  return url
}

async function profilesOf({ media, media2 }: Services, peer: SoapPeer): Promise<OnvifProfile[]> {
  const [t, s] = [
    media2 && (await streams(media2, mediaT, peer)),
    media && (await streams(media, mediaS, peer)),
  ]
  const urls = new Set(t?.map(({ url }) => url))
  return [...(t ?? []), ...(s ?? []).filter(({ url }) => !urls.has(url))]
}

/** How the two media services are asked the same. */
interface MediaService {
  profile: OnvifProfile['profile']
  list: string
  encoder: string[]
  stream(token: string): string
  uri: string[]
  snapshot(token: string): string
  snapshotUri: string[]
}

const mediaT: MediaService = {
  profile: 't',
  list: `<GetProfiles xmlns="${MEDIA2}"><Type>VideoEncoder</Type></GetProfiles>`,
  encoder: ['Configurations', 'VideoEncoder'],
  stream: token =>
    `<GetStreamUri xmlns="${MEDIA2}"><Protocol>RtspUnicast</Protocol><ProfileToken>${token}</ProfileToken></GetStreamUri>`,
  uri: ['GetStreamUriResponse', 'Uri'],
  snapshot: token =>
    `<GetSnapshotUri xmlns="${MEDIA2}"><ProfileToken>${token}</ProfileToken></GetSnapshotUri>`,
  snapshotUri: ['GetSnapshotUriResponse', 'Uri'],
}

const mediaS: MediaService = {
  profile: 's',
  list: `<GetProfiles xmlns="${MEDIA}"/>`,
  encoder: ['VideoEncoderConfiguration'],
  stream: token =>
    `<GetStreamUri xmlns="${MEDIA}"><StreamSetup><Stream xmlns="${SCHEMA}">RTP-Unicast</Stream><Transport xmlns="${SCHEMA}"><Protocol>RTSP</Protocol></Transport></StreamSetup><ProfileToken>${token}</ProfileToken></GetStreamUri>`,
  uri: ['GetStreamUriResponse', 'MediaUri', 'Uri'],
  snapshot: token =>
    `<GetSnapshotUri xmlns="${MEDIA}"><ProfileToken>${token}</ProfileToken></GetSnapshotUri>`,
  snapshotUri: ['GetSnapshotUriResponse', 'MediaUri', 'Uri'],
}

async function streams(url: URL, service: MediaService, peer: SoapPeer): Promise<OnvifProfile[]> {
  const listed = allAt(await call(url, service.list, peer), 'GetProfilesResponse', 'Profiles')
  const found: OnvifProfile[] = []
  for (const profile of listed.slice(0, MOST_PROFILES)) {
    const token = textAt(profile, '@token')
    const encoder = firstAt(profile, ...service.encoder)
    if (!token || !encoder) continue
    const ask = async (request: (token: string) => string, path: string[]) =>
      onHost(textAt(await call(url, request(escapeXml(token)), peer), ...path), url)?.href
    const stream = await ask(service.stream, service.uri).catch(unlessUnsupported)
    if (!stream) continue
    found.push({
      name: textAt(profile, 'Name') ?? token,
      profile: service.profile,
      codec: textAt(encoder, 'Encoding')?.toLowerCase(),
      width: numberAt(encoder, 'Resolution', 'Width'),
      height: numberAt(encoder, 'Resolution', 'Height'),
      fps: numberAt(encoder, 'RateControl', 'FrameRateLimit'),
      url: stream,
      snapshotUrl: await ask(service.snapshot, service.snapshotUri).catch(unlessUnsupported),
    })
  }
  return found
}

/** What a device does not offer is no reason to do without the rest. */
function unlessUnsupported(error: unknown): undefined {
  if (error instanceof SoapFault && error.kind === 'unsupported') return undefined
  throw error
}
