import { isDeepStrictEqual } from 'node:util'
import {
  type Address,
  findSecret,
  mapSecrets,
  mayKeepSecret,
  REDACTED,
  redactAddress,
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
  // Also restores parameters of the same name, which `findSecret` cannot tell apart.
  if (stored !== undefined && isDeepStrictEqual(address, redactAddress(stored))) return stored as A

  return mapSecrets(address, (secret, place) => {
    if (secret !== REDACTED) return secret
    const field = 'field' in place ? place.field : place.in
    const secretPath = typeof address === 'string' ? path : `${path}/${field}`

    const storedSecret = stored && findSecret(stored, place)
    if (storedSecret === undefined) {
      throw syntaxError(
        secretPath,
        `${REDACTED} refers to a stored secret, but none is stored: send the secret itself`,
      )
    }
    if (!mayKeepSecret(address, stored!, place)) {
      throw syntaxError(
        secretPath,
        `${REDACTED} refers to a secret that is stored for another scheme, host or port: send the secret itself`,
      )
    }
    return storedSecret
  })
}
