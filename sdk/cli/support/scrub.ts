import { REDACTED } from '@eyrie/contract'

/** Shorter ones would be found in half of all words. */
const LEAST_LENGTH = 4

const secretName = '[\\w-]*(?:password|passwd|token|secret|authorization|api_?key)[\\w-]*'
const userinfo = /([a-z][a-z0-9+.-]*:\/\/[^\s/?#:@"]*:)([^\s/?#"]*)(?=@)/gi
const jsonMember = new RegExp(`("${secretName}"\\s*:\\s*)"((?:[^"\\\\]|\\\\.)*)"`, 'gi')
const assignment = new RegExp(`(\\b${secretName}=)([^\\s&"',;]+)`, 'gi')
const bearer = /(\bBearer\s+)([\w.~+/=-]+)/gi

/** A text without the known secrets, and without what stands where secrets do: in URLs, after `password=`, … */
export function scrub(text: string, secrets: readonly string[]): string {
  const known = secrets
    .filter(secret => secret.length >= LEAST_LENGTH)
    .flatMap(secret => [secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret)])
    .sort((a, b) => b.length - a.length)
  return known
    .reduce((rest, secret) => rest.replaceAll(secret, REDACTED), text)
    .replace(jsonMember, `$1"${REDACTED}"`)
    .replace(userinfo, `$1${REDACTED}`)
    .replace(assignment, `$1${REDACTED}`)
    .replace(bearer, `$1${REDACTED}`)
}

/** The secrets that a JSON text holds: those of telling names, and those in URLs. */
export function secretsIn(json: string): string[] {
  const members = [...json.matchAll(jsonMember)].map(([, , text]) => JSON.parse(`"${text}"`) as string)
  const inUrls = [...json.matchAll(userinfo)].map(([, , text = '']) => text)
  return [...members, ...inUrls, ...inUrls.map(decoded)].filter(secret => secret !== REDACTED)
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
