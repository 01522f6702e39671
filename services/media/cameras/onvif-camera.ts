import { type AddressObject, REDACTED } from '@eyrie/contract'
import { querySecrets } from '@eyrie/contract/address'
import type { CameraReport } from '@eyrie/contract/camera'
import { explainUnreachable } from '../ingest/origin/reachability.ts'
import { SourceFault } from '../ingest/origin/source-fault.ts'
import { extractCredentials } from '../ingest/origin/url-credentials.ts'
import { askDevice, type OnvifProfile } from '../onvif/onvif-device.ts'
import { SoapFault } from '../onvif/soap.ts'
import type { Clock } from '../runtime/clock.ts'

/** A camera that was asked by ONVIF, and its first stream, as a source would have it. */
export interface OnvifCamera {
  device: NonNullable<CameraReport['device']>
  streams: NonNullable<CameraReport['streams']>
  skewS: number | undefined
  stream: AddressObject
}

/** `onvif://host`, or the address of a device service. */
export const isOnvif = (url: string): boolean => /^onvif:|^https?:\/\/[^/]+\/onvif\//i.test(url)

/** Throws a Fault. */
export async function openOnvif(
  address: AddressObject,
  { clock, signal }: { clock: Clock; signal: AbortSignal },
): Promise<OnvifCamera> {
  const url = serviceOf(address.url)
  const { username, password } = extractCredentials(url, address)
  const tlsInsecure = address.tls_insecure ?? false
  const name = url.origin + url.pathname
  try {
    const login = username ? { username, password } : undefined
    const { profiles, skewMs, ...about } = await askDevice(url, { login, tlsInsecure, signal }, clock)
    const [first] = profiles
    if (!first) throw new SoapFault('unsupported', 'offers no stream: set one up in its own pages')
    return {
      device: { manufacturer: about.manufacturer, model: about.model, firmware: about.firmware },
      streams: profiles.map(described),
      skewS: skewMs === undefined ? undefined : Math.round(skewMs / 100) / 10,
      stream: { ...address, url: first.url, ...(username && { username, password }) },
    }
  } catch (error) {
    signal.throwIfAborted()
    const told = error instanceof SoapFault ? error.message : undefined
    const reason =
      told ?? (await explainUnreachable(url, tlsInsecure, signal)) ?? 'hangs up without an answer'
    throw new SourceFault(`${name} ${reason}`, { transient: true, cause: error })
  }
}

function serviceOf(text: string): URL {
  const url = URL.parse(text.replace(/^onvif:/i, 'http:'))
  if (!url?.host)
    throw new SourceFault('the address is none of ONVIF: write onvif://host', { transient: false })
  if (url.pathname === '/') url.pathname = '/onvif/device_service'
  return url
}

function described({ snapshotUrl, ...profile }: OnvifProfile) {
  const shown = (url: string) => url.replace(querySecrets, `$1$2=${REDACTED}`)
  return { ...profile, url: shown(profile.url), ...(snapshotUrl && { snapshot_url: shown(snapshotUrl) }) }
}
