import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { REDACTED } from '@eyrie/contract'
import type { Terminal } from '../command/terminal.ts'

/** Shorter secrets are not replaced wherever they occur: they would match parts of ordinary words. */
const MIN_SECRET_LENGTH = 4

const secretName = '[\\w-]*(?:password|passwd|token|secret|authorization|api_?key)[\\w-]*'
const urlPassword = /([a-z][a-z0-9+.-]*:\/\/[^\s/?#:@"]*:)([^\s/?#"]*)(?=@)/gi
const jsonMember = new RegExp(`("${secretName}"\\s*:\\s*)"((?:[^"\\\\]|\\\\.)*)"`, 'gi')
const assignment = new RegExp(`(\\b${secretName}=)([^\\s&"',;]+)`, 'gi')
const bearerToken = /(\bBearer\s+)([\w.~+/=-]+)/gi

/** Replaces the secrets, and everything in the position of a secret: passwords in URLs, after `password=`, … */
export function redact(text: string, secrets: readonly string[]): string {
  const variants = secrets
    .filter(secret => secret.length >= MIN_SECRET_LENGTH)
    .flatMap(secret => [secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret)])
    .sort((a, b) => b.length - a.length)
  return variants
    .reduce((redacted, secret) => redacted.replaceAll(secret, REDACTED), text)
    .replace(jsonMember, `$1"${REDACTED}"`)
    .replace(urlPassword, `$1${REDACTED}`)
    .replace(assignment, `$1${REDACTED}`)
    .replace(bearerToken, `$1${REDACTED}`)
}

/** Finds the secrets in a JSON text: members with the name of a secret, and passwords in URLs. */
export function findSecrets(json: string): string[] {
  const members = [...json.matchAll(jsonMember)].map(([, , text]) => JSON.parse(`"${text}"`) as string)
  const urlPasswords = [...json.matchAll(urlPassword)].map(([, , text = '']) => text)
  return [...members, ...urlPasswords, ...urlPasswords.map(decode)].filter(secret => secret !== REDACTED)
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** Reads all known secrets of the appliance: generated ones, those in the environment, and passwords of cameras. */
export async function readKnownSecrets({ data, environment = {} }: Terminal): Promise<string[]> {
  const folder = join(data, 'secrets')
  const names = await readdir(folder).catch(() => [])
  const variables = Object.entries(environment).filter(([name]) => /TOKEN|PASSWORD|SECRET/.test(name))
  const texts = await Promise.all([
    ...names.map(name => readIfExists(join(folder, name))),
    ...variables.map(([name, value = '']) => (name.endsWith('_FILE') ? readIfExists(value) : value)),
  ])
  const cameraSecrets = findSecrets(await readIfExists(join(data, 'engine/configuration.json')))
  return [...texts.flatMap(text => text.split(/[\s,]+/)), ...cameraSecrets]
}

const readIfExists = (file: string) => readFile(file, 'utf8').catch(() => '')
