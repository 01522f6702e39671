import type { AddressObject } from '@eyrie/contract'

/** User name and password of an address, empty where there is none; those in the URL are taken out of it. */
export function extractCredentials(
  url: URL,
  { username, password }: Pick<AddressObject, 'username' | 'password'>,
): { username: string; password: string } {
  const taken = { username: username ?? decode(url.username), password: password ?? decode(url.password) }
  url.username = ''
  url.password = ''
  return taken
}

/** Who writes a % into a password may not know that it stands for something. */
function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text.replace(/%[0-9a-f]{2}/gi, escaped => {
      const byte = Number.parseInt(escaped.slice(1), 16)
      return byte < 0x80 ? String.fromCharCode(byte) : escaped
    })
  }
}

/** An address safe to display: without user name and password, and without query parameters, which may hold them too. */
export function withoutCredentials(address: string): string {
  const shown = address.replace(/^([a-z][a-z0-9+.-]*:\/\/)[^/]*@/i, '$1')
  return /^(rtsp|http)s?:/i.test(shown) ? shown.replace(/\?.*/, '') : shown
}
