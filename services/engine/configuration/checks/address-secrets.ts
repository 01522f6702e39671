import { type Address, findSecret, mapSecrets, REDACTED, redactAddress } from '@eyrie/contract'
import { syntaxError } from '@eyrie/contract/parse'

/** The source or sink without its passwords and tokens. */
export function hideSecrets<Kind extends { address: Address }>(of: Kind): Kind {
  return { ...of, address: redactAddress(of.address) }
}

/**
 * An address in which every `***` has been replaced by the secret that is stored.
 * Throws EyrieError `syntax` where nothing is stored to be kept.
 */
export function keepSecrets<Kind extends Address>(
  address: Kind,
  stored: Address | undefined,
  at: string,
): Kind {
  return mapSecrets(address, (secret, place) => {
    if (secret !== REDACTED) return secret
    const kept = stored && findSecret(stored, place)
    if (kept !== undefined) return kept
    const field = place.in === 'userinfo' || place.in === 'query' ? 'url' : place.in
    throw syntaxError(
      typeof address === 'string' ? at : `${at}/${field}`,
      `${REDACTED} keeps a stored secret, and there is none: send the secret itself`,
    )
  })
}
