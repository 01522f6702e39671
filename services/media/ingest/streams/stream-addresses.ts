import { type AddressObject, hasSameServer } from '@eyrie/contract'

/** One of the two streams of a source. */
export type StreamName = 'main' | 'sub'

/** `scheme://user:password@` */
const USERINFO = /^[a-z][a-z0-9+.-]*:\/\/[^/?#]*@/i

/**
 * Splits an address with `sub_url` into the addresses of the two streams. User name and password
 * apply to both, unless `sub_url` contains its own or is on another server.
 */
export function toStreamAddresses({
  sub_url: subUrl = '',
  ...main
}: AddressObject): Record<StreamName, AddressObject> {
  const { username: _username, password: _password, token: _token, ...withoutSecrets } = main
  const hasOwnLogin = USERINFO.test(subUrl) || !hasSameServer(subUrl, main.url)
  const shared = hasOwnLogin ? withoutSecrets : main
  return { main, sub: { ...shared, url: subUrl } }
}
