import { type Address, hidden, secretsInQuery as inQuery, type LongAddress } from './source.ts'

/** scheme://user: | password | @rest; the last @ of the authority ends the password. */
const inUrl = /^([a-z][a-z0-9+.-]*:\/\/[^/?#:@]*:)([^/?#]*)(@)/i

const urlOf = (address: Address) => (typeof address === 'string' ? address : address.url)

/** Where in an address a secret stands. */
export type SecretPlace = { in: 'userinfo' | 'password' | 'token' } | { in: 'query'; name: string }

/** An address as answers show it: without its passwords and tokens. */
export const hiddenAddress = <Kind extends Address>(address: Kind): Kind => mapSecrets(address, () => hidden)

/** An address with each of its secrets replaced. */
export function mapSecrets<Kind extends Address>(
  address: Kind,
  map: (secret: string, place: SecretPlace) => string,
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

/** The secret that stands at a place of an address; undefined: none does. */
export function secretOf(address: Address, place: SecretPlace): string | undefined {
  if (place.in === 'userinfo') return inUrl.exec(urlOf(address))?.[2]
  if (place.in === 'query')
    return [...urlOf(address).matchAll(inQuery)].find(([, , name]) => name === place.name)?.[3]
  return typeof address === 'string' ? undefined : address[place.in]
}
