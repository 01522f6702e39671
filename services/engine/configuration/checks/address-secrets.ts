import { type Address, findSecret, mapSecrets, REDACTED, redactAddress } from '@eyrie/contract'
import { syntaxError } from '@eyrie/contract/parse'

/** A copy of the source or sink in which `***` replaces passwords and tokens. */
export function hideSecrets<Resource extends { address: Address }>(resource: Resource): Resource {
  return { ...resource, address: redactAddress(resource.address) }
}

/**
 * A copy of the address in which the stored secrets replace every `***`.
 * Throws `EyrieError` (`syntax`) at `path` if there is no stored secret.
 */
export function restoreSecrets<A extends Address>(address: A, stored: Address | undefined, path: string): A {
  return mapSecrets(address, (secret, place) => {
    if (secret !== REDACTED) return secret
    const storedSecret = stored && findSecret(stored, place)
    if (storedSecret !== undefined) return storedSecret
    const field = place.in === 'userinfo' || place.in === 'query' ? 'url' : place.in
    throw syntaxError(
      typeof address === 'string' ? path : `${path}/${field}`,
      `${REDACTED} refers to a stored secret, but none is stored: send the secret itself`,
    )
  })
}
