import { isDeepStrictEqual } from 'node:util'
import {
  type Address,
  findSecret,
  mapSecrets,
  mayKeepSecret,
  REDACTED,
  redactAddress,
  type SecretLocation,
} from '@eyrie/contract'
import { syntaxError } from '@eyrie/contract/parse'

/**
 * Passwords and tokens in addresses. The API returns them as `***`, and a client that edits
 * a source or sink sends the `***` back. The stored secret then remains, if scheme, host
 * and port are unchanged.
 */

/**
 * Returns a copy of the source or sink in which passwords and tokens in the address
 * are replaced by `***`.
 */
export function hideSecrets<Resource extends { address: Address }>(resource: Resource): Resource {
  return { ...resource, address: redactAddress(resource.address) }
}

/**
 * Returns a copy of the address in which every `***` is replaced by the secret at the same place of
 * the stored address. Throws `EyrieError` (`syntax`) at `path` if no secret is stored there, or if
 * it is stored for another server.
 */
export function restoreSecrets<A extends Address>(
  address: A,
  stored: Address | undefined,
  path: string,
): A {
  // An unchanged address may have two query parameters of the same name. `findSecret` cannot
  // distinguish them.
  if (stored !== undefined && isDeepStrictEqual(address, redactAddress(stored))) return stored as A

  return mapSecrets(address, (secret, location) => {
    if (secret !== REDACTED) return secret

    const storedSecret = stored && findSecret(stored, location)
    if (!stored || storedSecret === undefined) {
      throw syntaxError(
        toSecretPath(address, location, path),
        `${REDACTED} refers to a stored secret, but none is stored: send the secret itself`,
      )
    }
    if (!mayKeepSecret(address, stored, location)) {
      throw syntaxError(
        toSecretPath(address, location, path),
        `${REDACTED} refers to a secret that is stored for another scheme, host or port: send the secret itself`,
      )
    }
    return storedSecret
  })
}

/** Returns the JSON pointer to the URL or the field of an address that contains a secret. */
function toSecretPath(address: Address, location: SecretLocation, path: string): string {
  if (typeof address === 'string') return path
  const field = 'field' in location ? location.field : location.in
  return `${path}/${field}`
}
