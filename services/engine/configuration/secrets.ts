import { type Address, hidden, type LongAddress, type Source } from '@eyrie/contract'
import { syntaxError } from '@eyrie/contract/parse'

/** scheme://user: | password | @rest; the last @ of the authority ends the password. */
const inUrl = /^([a-z][a-z0-9+.-]*:\/\/[^/?#:@]*:)([^/?#]*)(@)/i

const urlOf = (address: Address) => (typeof address === 'string' ? address : address.url)

/** The source without its passwords and tokens. */
export function hideSecrets(source: Source): Source {
  return { ...source, address: mapSecrets(source.address, () => hidden) }
}

/**
 * An address in which every `***` has been replaced by the secret that is stored.
 * Throws EyrieError `syntax` where nothing is stored to be kept.
 */
export function keepSecrets(address: Address, stored: Address | undefined, at: string): Address {
  return mapSecrets(address, (secret, field) => {
    if (secret !== hidden) return secret
    const kept = stored && secretOf(stored, field)
    if (kept !== undefined) return kept
    const place = typeof address === 'string' ? at : `${at}/${field}`
    throw syntaxError(place, `${hidden} keeps a stored secret, and there is none: send the secret itself`)
  })
}

type Field = 'url' | 'password' | 'token'

function mapSecrets(address: Address, map: (secret: string, field: Field) => string): Address {
  const url = urlOf(address).replace(
    inUrl,
    (_, before: string, secret: string, after: string) => before + map(secret, 'url') + after,
  )
  if (typeof address === 'string') return url
  const mapped: LongAddress = { ...address, url }
  if (address.password !== undefined) mapped.password = map(address.password, 'password')
  if (address.token !== undefined) mapped.token = map(address.token, 'token')
  return mapped
}

function secretOf(address: Address, field: Field): string | undefined {
  if (field === 'url') return inUrl.exec(urlOf(address))?.[2]
  return typeof address === 'string' ? undefined : address[field]
}
