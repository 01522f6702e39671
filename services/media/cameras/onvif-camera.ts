import { type AddressObject, REDACTED } from '@eyrie/contract'
import { querySecrets } from '@eyrie/contract/address'
import type { CameraReport } from '@eyrie/contract/camera'
import { explainUnreachable } from '../ingest/origin/reachability.ts'
import { SourceFault } from '../ingest/origin/source-fault.ts'
import { extractCredentials } from '../ingest/origin/url-credentials.ts'
import { type OnvifProfile, queryDevice } from '../onvif/onvif-device.ts'
import { SoapFault } from '../onvif/soap.ts'
import type { Clock } from '../runtime/clock.ts'

/** A camera as it describes itself over ONVIF, and the address of its first stream. */
export interface OnvifCamera {
  device: NonNullable<CameraReport['device']>
  streams: NonNullable<CameraReport['streams']>
  /** How far the camera's clock is ahead, in seconds. */
  skewS: number | undefined
  stream: AddressObject
}

/** Whether an address is `onvif://host` or that of an ONVIF device service. */
export const isOnvifAddress = (url: string): boolean => /^onvif:|^https?:\/\/[^/]+\/onvif\//i.test(url)

/** Throws a `SourceFault` if the camera cannot be reached or offers no stream. */
export async function openOnvifCamera(
  address: AddressObject,
  { clock, signal }: { clock: Clock; signal: AbortSignal },
): Promise<OnvifCamera> {
  const url = parseServiceUrl(address.url)
  const { username, password } = extractCredentials(url, address)
  const tlsInsecure = address.tls_insecure ?? false
  try {
    const login = username ? { username, password } : undefined
    const { manufacturer, model, firmware, profiles, skewMs } = await queryDevice(
      url,
      { login, tlsInsecure, signal },
      clock,
    )
    const [first] = profiles
    if (!first) throw new SoapFault('unsupported', 'offers no stream: configure one in its web interface')
    return {
      device: { manufacturer, model, firmware },
      streams: profiles.map(hideSecrets),
      skewS: skewMs === undefined ? undefined : Math.round(skewMs / 100) / 10,
      stream: { ...address, url: first.url, ...(username && { username, password }) },
    }
  } catch (error) {
    signal.throwIfAborted()
    const reason =
      error instanceof SoapFault ? error.message : await explainUnreachable(url, tlsInsecure, signal)
    throw new SourceFault(
      `${url.origin}${url.pathname} ${reason ?? 'closes the connection without a response: check the address'}`,
      { transient: true, cause: error },
    )
  }
}

function parseServiceUrl(text: string): URL {
  const url = URL.parse(text.replace(/^onvif:/i, 'http:'))
  if (!url?.host) throw new SourceFault('invalid ONVIF address: use onvif://host', { transient: false })
  if (url.pathname === '/') url.pathname = '/onvif/device_service'
  return url
}

function hideSecrets({ snapshotUrl, ...profile }: OnvifProfile) {
  const hideIn = (url: string) => url.replace(querySecrets, `$1$2=${REDACTED}`)
  return { ...profile, url: hideIn(profile.url), ...(snapshotUrl && { snapshot_url: hideIn(snapshotUrl) }) }
}
