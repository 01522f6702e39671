import type { AddressObject } from '@eyrie/contract'

/** One of the two streams of a source. */
export type StreamName = 'main' | 'sub'

/** `scheme://user:password@` */
const USERINFO = /^[a-z][a-z0-9+.-]*:\/\/[^/?#]*@/i

/**
 * Splits an address with `sub_url` into the addresses of the two streams. User name and password apply to both, unless `sub_url`
 * contains its own.
 */
export function toStreamAddresses({
  sub_url: subUrl = '',
  ...main
}: AddressObject): Record<StreamName, AddressObject> {
  const { username: _username, password: _password, ...withoutLogin } = main
  const shared = USERINFO.test(subUrl) ? withoutLogin : main
  return { main, sub: { ...shared, url: subUrl } }
}
