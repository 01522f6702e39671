import { type AddressObject, REDACTED } from '@eyrie/contract'
import { QUERY_SECRETS } from '@eyrie/contract/address'
import type { CameraReport } from '@eyrie/contract/camera'
import type { OpenContext } from '../ingest/origin/origin.ts'
import { explainUnreachable } from '../ingest/origin/reachability.ts'
import { SourceFault } from '../ingest/origin/source-fault.ts'
import { extractCredentials } from '../ingest/origin/url-credentials.ts'
import { type OnvifProfile, queryDevice } from '../onvif/onvif-device.ts'
import { SoapFault } from '../onvif/soap.ts'
import { selectSubStream } from './sub-stream.ts'

/**
 * The description of a camera over ONVIF, the network protocol of IP cameras, and the address
 * of its first stream.
 */
export interface OnvifCamera {
  device: NonNullable<CameraReport['device']>
  streams: NonNullable<CameraReport['streams']>
  /**
   * URL of a smaller stream of the same camera, without secrets; undefined if the device offers
   * none.
   */
  subUrl: string | undefined
  /**
   * How far the camera's clock is ahead of this machine's, in seconds; undefined if the camera does
   * not report its time.
   */
  skewS: number | undefined
  /** Address of the first stream, with the credentials of the camera. */
  stream: AddressObject
}

/** Whether an address is `onvif://host`, or `http://host/onvif/…` of an ONVIF device service. */
export const isOnvifAddress = (url: string): boolean =>
  /^onvif:|^https?:\/\/[^/]+\/onvif\//i.test(url)

/**
 * Queries an ONVIF camera. Throws a `SourceFault` if the camera is unreachable or offers no stream.
 */
export async function openOnvifCamera(
  address: AddressObject,
  context: Pick<OpenContext, 'clock' | 'egress' | 'signal'>,
): Promise<OnvifCamera> {
  const { clock, egress, signal } = context
  const url = parseServiceUrl(address.url)
  const { username, password } = extractCredentials(url, address)
  const login = username ? { username, password } : undefined
  const tlsInsecure = address.tls_insecure ?? false

  try {
    const device = await queryDevice(url, { login, tlsInsecure, egress, signal }, clock)
    const { manufacturer, model, firmware, profiles, skewMs } = device
    const [firstProfile] = profiles
    if (!firstProfile) {
      throw new SoapFault('unsupported', 'offers no stream: configure one in its web interface')
    }

    const subStream = selectSubStream(firstProfile, profiles)
    return {
      device: { manufacturer, model, firmware },
      streams: profiles.map(toReportedStream),
      subUrl: subStream && redactUrl(subStream.url),
      skewS: skewMs === undefined ? undefined : toSeconds(skewMs),
      stream: { ...address, url: firstProfile.url, ...login },
    }
  } catch (error) {
    signal.throwIfAborted()
    const reason =
      error instanceof SoapFault
        ? error.message
        : await explainConnectionError({ url, tlsInsecure }, context)
    throw new SourceFault(`${url.origin}${url.pathname} ${reason}`, {
      transient: true,
      cause: error,
    })
  }
}

/** Returns the reason why a device could not be queried, to append to its address. */
async function explainConnectionError(
  server: { url: URL; tlsInsecure: boolean },
  context: Pick<OpenContext, 'egress' | 'signal'>,
): Promise<string> {
  const reason = await explainUnreachable(server, context)
  return reason ?? 'closes the connection without a response: check the address'
}

/** Converts ms to seconds, rounded to tenths. */
const toSeconds = (ms: number) => Math.round(ms / 100) / 10

/** Returns the URL of the device service, by default at the standard path. */
function parseServiceUrl(text: string): URL {
  const url = URL.parse(text.replace(/^onvif:/i, 'http:'))
  if (!url?.host) {
    throw new SourceFault('invalid ONVIF address: use onvif://host', { transient: false })
  }
  if (url.pathname === '/') url.pathname = '/onvif/device_service'
  return url
}

/**
 * Converts a profile for the report. Its URLs may contain secrets in the query, which are redacted.
 */
function toReportedStream({ snapshotUrl, videoSource: _, ...profile }: OnvifProfile) {
  const url = redactUrl(profile.url)
  return { ...profile, url, ...(snapshotUrl && { snapshot_url: redactUrl(snapshotUrl) }) }
}

/** Replaces the values of secret query parameters. The names remain. */
const redactUrl = (url: string) => url.replace(QUERY_SECRETS, `$1$2=${REDACTED}`)
