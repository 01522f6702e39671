import type { AddressObject } from '@eyrie/contract'

/**
 * Removes the user name and password from a URL and returns them, or empty strings. The address's
 * own fields take precedence.
 */
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

/**
 * Decodes percent-encoding, but tolerates a literal % in a password, which should have
 * been written as %25.
 */
function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    // Decode only the ASCII characters. Other bytes may be part of an incomplete character.
    return text.replace(/%[0-9a-f]{2}/gi, escaped => {
      const byte = Number.parseInt(escaped.slice(1), 16)
      return byte < 0x80 ? String.fromCharCode(byte) : escaped
    })
  }
}

/**
 * Returns an address for logs and messages, without user name, password and query parameters, which
 * may contain secrets.
 */
export function stripCredentials(address: string): string {
  const stripped = address.replace(/^([a-z][a-z0-9+.-]*:\/\/)[^/]*@/i, '$1')
  return /^(rtsp|http)s?:/i.test(stripped) ? stripped.replace(/\?.*/, '') : stripped
}
