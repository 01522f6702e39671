import { existsSync } from 'node:fs'
import { open, readFile, rename } from 'node:fs/promises'
import { join } from 'node:path'
import type { RegistryEntry } from '@eyrie/plugin-signature/registry-entry'
import { z } from 'zod'
import { findLatest, type LatestEntries } from './registry-index.ts'

/**
 * What this machine has seen in the indexes of registries: when each publisher has
 * published its latest entry. This is stored in the data folder, so that a server cannot
 * present an old index later.
 */

const FILE = 'plugin-registries.json'
/** Times by the name of the registry and the key of the publisher. */
const seenIndexes = z.record(z.string(), z.record(z.string(), z.string()))

/** Returns what was recorded about a registry. Rejects with an `Error` if the record is damaged. */
export async function readSeen(data: string, registry: string): Promise<LatestEntries> {
  return (await readAll(data))[registry] ?? {}
}

/**
 * Records the latest entries of trusted publishers. An entry of anyone else could have a time in
 * the future, after which every index would be rejected as old. Does nothing on a machine
 * without a data folder.
 */
export async function recordSeen(
  data: string,
  registry: string,
  entries: readonly RegistryEntry[],
  trustedKeys: readonly string[],
): Promise<void> {
  if (!existsSync(data)) return
  const all = await readAll(data)
  const latest = findLatest(entries.filter(({ key }) => trustedKeys.includes(key)))
  const content = { ...all, [registry]: { ...all[registry], ...latest } }
  const path = join(data, FILE)
  const file = await open(`${path}.new`, 'w', 0o600)
  try {
    await file.writeFile(`${JSON.stringify(content, null, 2)}\n`)
    await file.sync()
  } finally {
    await file.close()
  }
  await rename(`${path}.new`, path)
}

async function readAll(data: string): Promise<z.infer<typeof seenIndexes>> {
  const path = join(data, FILE)
  if (!existsSync(path)) return {}
  try {
    return seenIndexes.parse(JSON.parse(await readFile(path, 'utf8')))
  } catch (cause) {
    throw new Error(
      `${path} is damaged: delete it, and the next index of each registry is accepted`,
      {
        cause,
      },
    )
  }
}
