import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { REDACTED } from '@eyrie/contract'
import type { Terminal } from '../command/terminal.ts'
import { unsealAddresses } from './sealed-addresses.ts'

/**
 * Removes passwords and tokens from the files of a support bundle. Two methods complement each
 * other: the known secrets of the appliance are replaced wherever they occur, and patterns such as
 * `password=…` also find unknown secrets.
 */

/** Known secrets that are shorter are not replaced: they would match parts of ordinary words. */
const MIN_SECRET_LENGTH = 4

const SECRET_NAME = '[\\w-]*(?:password|passwd|token|secret|authorization|api_?key)[\\w-]*'

// In each pattern, group 1 is the text before the secret, and group 2 is the secret.

/** `"password": "…"` in JSON. The secret may contain escape sequences, such as `\"`. */
const JSON_PATTERN = new RegExp(`("${SECRET_NAME}"\\s*:\\s*")((?:[^"\\\\]|\\\\.)*)(?=")`, 'gi')

/** `scheme://user:…@host` */
const URL_PATTERN = /([a-z][a-z0-9+.-]*:\/\/[^\s/?#:@"]*:)([^\s/?#"]*)(?=@)/gi

/** `password=…` in a query or a log entry. */
const ASSIGNMENT_PATTERN = new RegExp(`(\\b${SECRET_NAME}=)([^\\s&"',;]+)`, 'gi')

/** `Bearer …` in an Authorization header. */
const BEARER_PATTERN = /(\bBearer\s+)([\w.~+/=-]+)/gi

/** Replaces the known secrets, and everything that a pattern recognizes as a secret, with `***`. */
export function redact(text: string, knownSecrets: readonly string[]): string {
  let redacted = text
  for (const secret of listEncodings(knownSecrets)) redacted = redacted.replaceAll(secret, REDACTED)
  for (const pattern of [JSON_PATTERN, URL_PATTERN, ASSIGNMENT_PATTERN, BEARER_PATTERN]) {
    redacted = redacted.replace(pattern, `$1${REDACTED}`)
  }
  return redacted
}

/**
 * Returns the secrets as they appear in plain text, JSON and URLs. The longest come first, as
 * they may contain others.
 */
function listEncodings(secrets: readonly string[]): string[] {
  return secrets
    .filter(secret => secret.length >= MIN_SECRET_LENGTH)
    .flatMap(secret => {
      // Without the quotation marks.
      const jsonText = JSON.stringify(secret).slice(1, -1)
      return [secret, jsonText, encodeURIComponent(secret)]
    })
    .sort((a, b) => b.length - a.length)
}

/**
 * Finds the secrets in a JSON text: values of fields with the name of a secret, and passwords in
 * URLs.
 */
export function findSecrets(json: string): string[] {
  const fieldValues = matchSecrets(json, JSON_PATTERN).map(
    text => JSON.parse(`"${text}"`) as string,
  )
  const urlPasswords = matchSecrets(json, URL_PATTERN)
  const secrets = [...fieldValues, ...urlPasswords, ...urlPasswords.map(decodePercent)]
  return secrets.filter(secret => secret !== REDACTED)
}

const matchSecrets = (text: string, pattern: RegExp) =>
  [...text.matchAll(pattern)].map(match => match[2]!)

/** Returns the text unchanged if its percent-encoding is invalid. */
function decodePercent(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/**
 * Reads the known secrets of the appliance: its secret files, environment variables and
 * passwords of cameras.
 */
export async function readKnownSecrets({ data, environment = {} }: Terminal): Promise<string[]> {
  const configuration = await readIfExists(join(data, 'engine/configuration.json'))
  const key = await readIfExists(join(data, 'secrets/engine-key'))
  return [
    ...(await readSecretFiles(join(data, 'secrets'))),
    ...(await readSecretVariables(environment)),
    ...findSecrets(unsealAddresses(configuration, key)),
  ]
}

async function readSecretFiles(folder: string): Promise<string[]> {
  const names = await readdir(folder).catch(() => [])
  const texts = await Promise.all(names.map(name => readIfExists(join(folder, name))))
  return texts.flatMap(splitList)
}

/**
 * Reads the secrets in environment variables. A variable such as `EYRIE_TOKEN` contains secrets;
 * `EYRIE_TOKEN_FILE` contains the path of a file with secrets.
 */
async function readSecretVariables(
  environment: NonNullable<Terminal['environment']>,
): Promise<string[]> {
  const secrets: string[] = []
  for (const [name, value = ''] of Object.entries(environment)) {
    if (!/TOKEN|PASSWORD|SECRET/.test(name)) continue
    const text = name.endsWith('_FILE') ? await readIfExists(value) : value
    secrets.push(...splitList(text))
  }
  return secrets
}

/** Splits a list of secrets at commas and white space. */
const splitList = (text: string) => text.split(/[\s,]+/)

const readIfExists = (file: string) => readFile(file, 'utf8').catch(() => '')
