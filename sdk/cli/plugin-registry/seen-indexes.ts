import { existsSync } from 'node:fs'
import { open, readFile, rename } from 'node:fs/promises'
import { join } from 'node:path'
import type { RegistryEntry } from '@eyrie/plugin-signature/registry-entry'
import { z } from 'zod'
import { findLatest, type LatestEntries } from './registry-index.ts'

/**
 * Records in the data folder what this machine has seen in the indexes of registries: when each
 * publisher has published its latest entry. With this record, an index that is older than one seen
 * before can be recognized, even if it comes from the right server.
 */

const RECORD_FILE = 'plugin-registries.json'
const OWNER_ONLY_MODE = 0o600
/** The recorded times, by the name of the registry and the key of the publisher. */
const seenIndexes = z.record(z.string(), z.record(z.string(), z.string()))
type SeenIndexes = z.infer<typeof seenIndexes>

/** Returns what was recorded about a registry. Rejects with an `Error` if the record is damaged. */
export async function readSeen(data: string, registry: string): Promise<LatestEntries> {
  const seen = await readRecord(data)
  return seen[registry] ?? {}
}

/**
 * Records the latest entries of trusted publishers. Entries of other publishers are ignored: one
 * with a time in the future would have the effect that every later index is rejected as old. Does
 * nothing on a machine without a data folder.
 */
export async function recordSeen(
  data: string,
  registry: string,
  entries: readonly RegistryEntry[],
  trustedKeys: readonly string[],
): Promise<void> {
  if (!existsSync(data)) return
  const seen = await readRecord(data)
  const latest = findLatest(entries.filter(({ key }) => trustedKeys.includes(key)))
  await writeRecord(data, { ...seen, [registry]: { ...seen[registry], ...latest } })
}

async function readRecord(data: string): Promise<SeenIndexes> {
  const path = join(data, RECORD_FILE)
  if (!existsSync(path)) return {}
  try {
    return seenIndexes.parse(JSON.parse(await readFile(path, 'utf8')))
  } catch (cause) {
    const remedy = 'delete it, and the next index of each registry is accepted'
    throw new Error(`${path} is damaged: ${remedy}`, { cause })
  }
}

/** Replaces the record. A draft is written first, so that a crash never leaves half a record. */
async function writeRecord(data: string, seen: SeenIndexes): Promise<void> {
  const path = join(data, RECORD_FILE)
  const draft = `${path}.new`
  const file = await open(draft, 'w', OWNER_ONLY_MODE)
  try {
    await file.writeFile(`${JSON.stringify(seen, null, 2)}\n`)
    await file.sync()
  } finally {
    await file.close()
  }
  await rename(draft, path)
}
