import { sign, verify } from 'node:crypto'
import { parseAs } from '@eyrie/contract/parse'
import { pluginName, pluginVersion } from '@eyrie/contract/plugin'
import { publisherKey, publisherName } from '@eyrie/contract/plugin-signature'
import { sdkRange } from '@eyrie/contract/sdk-version'
import { z } from 'zod'
import { type SigningKey, toVerifyingKey } from './publisher-keys.ts'

/**
 * An entry of a registry: a version of a plugin that can be installed from there. Its publisher has
 * signed it, so that the registry itself need not be trusted.
 */

/** Text that is printed, and occupies one line of the signed text. */
const line = z
  .string()
  .min(1)
  .max(300)
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they could change the terminal, or end a line of the signed text
  .regex(/^[^\u0000-\u001f\u007f-\u009f\u2028\u2029]+$/, 'must not contain control characters')

const registryEntry = z.strictObject({
  name: pluginName,
  version: pluginVersion,
  sdk: sdkRange,
  license: line,
  description: line,
  published: z.iso.datetime({ precision: 3 }),
  bytes: z.int().positive(),
  sha256: z.string().regex(/^[0-9a-f]{64}$/, 'must be a SHA-256 in hexadecimal'),
  publisher: publisherName,
  key: publisherKey,
  signature: z.string().regex(/^[0-9a-f]{128}$/, 'must be an Ed25519 signature in hexadecimal'),
})

/** An entry whose signature matches its key. Whether the key is trusted is another question. */
export type RegistryEntry = z.infer<typeof registryEntry>

/** What the publisher signs. */
export type RegistryEntryContent = Omit<RegistryEntry, 'publisher' | 'key' | 'signature'>

/** Signs an entry. Throws an `Error` that names the field that an entry cannot contain. */
export function signRegistryEntry(
  content: RegistryEntryContent,
  { publisher, key, privateKey }: SigningKey,
): RegistryEntry {
  const unsigned = { ...content, publisher, key }
  const signature = sign(null, createSignedText(unsigned), privateKey).toString('hex')
  return parseAs(registryEntry, { ...unsigned, signature })
}

/** Reads an entry. Throws an `Error` if it is malformed or forged. */
export function readRegistryEntry(value: unknown): RegistryEntry {
  const entry = parseAs(registryEntry, value)
  const signature = Buffer.from(entry.signature, 'hex')
  if (verify(null, createSignedText(entry), toVerifyingKey(entry.key), signature)) return entry
  throw new Error('its signature does not match it: it was changed or forged')
}

/**
 * The text that is signed. No part of it can contain a line break, so that different entries have
 * different texts. Its first line ensures that the signature is not valid for anything else.
 */
const createSignedText = (entry: Omit<RegistryEntry, 'signature'>): Buffer =>
  Buffer.from(
    [
      'eyrie-plugin-registry-entry 1',
      `publisher ${entry.publisher}`,
      `name ${entry.name}`,
      `version ${entry.version}`,
      `sdk ${entry.sdk}`,
      `license ${entry.license}`,
      `description ${entry.description}`,
      `published ${entry.published}`,
      `bytes ${entry.bytes}`,
      `sha256 ${entry.sha256}`,
      '',
    ].join('\n'),
  )
