import { type Address, hidden, secretsInQuery } from '@eyrie/contract'

/** An address as the engine shows it: without passwords and tokens. */
export function hiddenAddress(address: Address): Address {
  if (typeof address === 'string') return hiddenUrl(address)
  return {
    ...address,
    url: hiddenUrl(address.url),
    ...(address.password !== undefined && { password: hidden }),
    ...(address.token !== undefined && { token: hidden }),
  }
}

const hiddenUrl = (url: string) =>
  url
    .replace(/^([a-z][a-z0-9+.-]*:\/\/[^/?#:@]*:)[^/?#]*(@)/i, `$1${hidden}$2`)
    .replace(secretsInQuery, `$1$2=${hidden}`)
