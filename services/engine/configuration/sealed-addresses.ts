import { isDeepStrictEqual } from 'node:util'
import { type Address, redactAddress } from '@eyrie/contract'
import { isEncrypted, type Secrets } from '@eyrie/kit/secrets'
import type { ConfigurationState } from './configuration-state.ts'

/** Encrypts the addresses in the configuration file that contain passwords or tokens. */

/**
 * Returns the content of the configuration file, in which an address with secrets is one encrypted
 * text.
 */
export function sealAddresses(state: ConfigurationState, { encrypt }: Secrets): object {
  const seal = <R extends { address: Address }>(resource: R) =>
    isSecret(resource.address)
      ? { ...resource, address: encrypt(JSON.stringify(resource.address)) }
      : resource
  return { ...state, sources: state.sources.map(seal), sinks: state.sinks.map(seal) }
}

/** An address that looks encrypted is encrypted, too, so that reading it back is unambiguous. */
function isSecret(address: Address): boolean {
  if (typeof address === 'string' && isEncrypted(address)) return true
  return !isDeepStrictEqual(redactAddress(address), address)
}

/**
 * Returns the content of a configuration file with its addresses decrypted. The content is not
 * validated yet. Throws an Error if an address was encrypted with another key or has been altered.
 */
export function unsealAddresses(content: unknown, { decrypt }: Secrets): unknown {
  return mapAddresses(content, address =>
    typeof address === 'string' && isEncrypted(address) ? JSON.parse(decrypt(address)) : address,
  )
}

function mapAddresses(content: unknown, map: (address: unknown) => unknown): unknown {
  if (!isRecord(content)) return content
  const mapResource = (resource: unknown) =>
    isRecord(resource) ? { ...resource, address: map(resource.address) } : resource
  const mapList = (list: unknown) => (Array.isArray(list) ? list.map(mapResource) : list)
  return { ...content, sources: mapList(content.sources), sinks: mapList(content.sinks) }
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
