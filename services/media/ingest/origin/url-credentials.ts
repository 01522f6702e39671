import type { AddressObject } from '@eyrie/contract'

/** Returns the user name and password of an address, or empty strings, and removes them from the URL. */
export function extractCredentials(
  url: URL,
  { username, password }: Pick<AddressObject, 'username' | 'password'>,
): { username: string; password: string } {
  const credentials = {
    username: username ?? decode(url.username),
    password: password ?? decode(url.password),
  }
  url.username = ''
  url.password = ''
  return credentials
}

/** Tolerates a literal % in a password, which should have been written as %25. */
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

/** Returns an address for display: without user name, password and query parameters, which may contain secrets. */
export function stripCredentials(address: string): string {
  const stripped = address.replace(/^([a-z][a-z0-9+.-]*:\/\/)[^/]*@/i, '$1')
  return /^(rtsp|http)s?:/i.test(stripped) ? stripped.replace(/\?.*/, '') : stripped
}
