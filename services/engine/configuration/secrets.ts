import { type Address, hidden, secretsInQuery as inQuery, type LongAddress } from '@eyrie/contract'
import { syntaxError } from '@eyrie/contract/parse'

/** scheme://user: | password | @rest; the last @ of the authority ends the password. */
const inUrl = /^([a-z][a-z0-9+.-]*:\/\/[^/?#:@]*:)([^/?#]*)(@)/i

const urlOf = (address: Address) => (typeof address === 'string' ? address : address.url)

/** The source or sink without its passwords and tokens. */
export function hideSecrets<Kind extends { address: Address }>(of: Kind): Kind {
  return { ...of, address: mapSecrets(of.address, () => hidden) }
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
    if (secret !== hidden) return secret
    const kept = stored && secretOf(stored, place)
    if (kept !== undefined) return kept
    const field = place.in === 'userinfo' || place.in === 'query' ? 'url' : place.in
    throw syntaxError(
      typeof address === 'string' ? at : `${at}/${field}`,
      `${hidden} keeps a stored secret, and there is none: send the secret itself`,
    )
  })
}

/** Where in an address a secret stands. */
type Place = { in: 'userinfo' | 'password' | 'token' } | { in: 'query'; name: string }

function mapSecrets<Kind extends Address>(
  address: Kind,
  map: (secret: string, place: Place) => string,
): Kind {
  const url = urlOf(address)
    .replace(
      inUrl,
      (_, before: string, secret: string, after: string) => before + map(secret, { in: 'userinfo' }) + after,
    )
    .replace(inQuery, (_, before: string, name: string, secret: string) => {
      return `${before}${name}=${map(secret, { in: 'query', name })}`
    })
  // What comes out is of the kind that went in.
  if (typeof address === 'string') return url as Kind
  const mapped: LongAddress = { ...address, url }
  if (address.password !== undefined) mapped.password = map(address.password, { in: 'password' })
  if (address.token !== undefined) mapped.token = map(address.token, { in: 'token' })
  return mapped as Kind
}

function secretOf(address: Address, place: Place): string | undefined {
  if (place.in === 'userinfo') return inUrl.exec(urlOf(address))?.[2]
  if (place.in === 'query')
    return [...urlOf(address).matchAll(inQuery)].find(([, , name]) => name === place.name)?.[3]
  return typeof address === 'string' ? undefined : address[place.in]
}
