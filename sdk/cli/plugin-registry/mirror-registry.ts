import { changeRegistry, writePackage } from './registry-folder.ts'
import { assertNotOlder, findLatest, toLabel } from './registry-index.ts'
import { type Registry, readIndex, readPackage } from './registry-location.ts'

/**
 * Copies the packages and entries of a registry into a folder that has none or some of them. Every
 * signature and hash is verified, so that nothing changed is passed on. Returns the number of
 * packages that were copied, and of all in the source.
 */
export async function mirrorRegistry(
  source: Registry,
  folder: string,
): Promise<{ copied: number; total: number }> {
  const { entries, rejected } = await readIndex(source)
  const [first] = rejected
  if (first) throw new Error(`${source.name}: ${JSON.stringify(toLabel(first))}: ${first.reason}`)

  return changeRegistry(folder, async index => {
    const sourceKeys = new Set(entries.map(({ key }) => key))
    const seen = Object.entries(findLatest(index.entries)).filter(([key]) => sourceKeys.has(key))
    assertNotOlder(entries, Object.fromEntries(seen), source.name)
    const labels = new Map(index.entries.map(entry => [toLabel(entry), entry]))
    let copied = 0
    for (const entry of entries) {
      const existing = labels.get(toLabel(entry))
      if (existing && existing.sha256 !== entry.sha256) {
        throw new Error(
          `${folder} has ${toLabel(entry)} with different content than ${source.name}: use another folder`,
        )
      }
      if (await writePackage(folder, entry, () => readPackage(source, entry))) copied += 1
      labels.set(toLabel(entry), entry)
    }
    return { entries: [...labels.values()], result: { copied, total: entries.length } }
  })
}
