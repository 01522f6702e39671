import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { pluginName, pluginVersion } from '@eyrie/contract'
import { writeDurably } from '@eyrie/kit/durable-file'
import { readJsonFile } from '@eyrie/kit/json-file'
import type { Log } from '@eyrie/kit/log'
import { hashPackage, type PackageFiles } from '@eyrie/plugin-signature/package-files'
import { Mutex } from 'async-mutex'
import { z } from 'zod'

/** The content of the file: a SHA-256 in hexadecimal digits, by plugin and version. */
const digestsByPlugin = z.record(
  pluginName,
  z.record(pluginVersion, z.string().regex(/^[0-9a-f]{64}$/)),
)
type Digests = z.infer<typeof digestsByPlugin>

/**
 * The digests of the files of uploaded plugins. The digest of a plugin is recorded when it is
 * installed. Files that have changed since then are detected before they run.
 */
export interface PackageDigests {
  /** Records the digest of the present files of a plugin. */
  record(name: string, version: string): Promise<void>
  /** Deletes the digest of a plugin that is removed. */
  delete(name: string, version: string): Promise<void>
  /**
   * Returns the files of a plugin. Rejects with an `Error` if they have changed since they were
   * recorded. If none are recorded, records the present ones: earlier releases of the engine
   * installed plugins without digests.
   */
  verify(name: string, version: string): Promise<PackageFiles>
}

/**
 * Opens the digests of the plugins in `folder`, each of which is in `<folder>/<name>/<version>/`.
 */
export function openPackageDigests(folder: string, log: Log): PackageDigests {
  const file = join(folder, 'digests.json')
  let digests = readDigests(file, log)
  // When the engine starts, several processes may need digests that are not recorded yet.
  const saving = new Mutex()

  /** Sets the digests of a plugin, by version. If they cannot be stored, nothing changes. */
  const save = (name: string, toNext: (recorded: Digests[string]) => Digests[string]) =>
    saving.runExclusive(async () => {
      const next = { ...digests, [name]: toNext(digests[name] ?? {}) }
      await writeDurably(file, `${JSON.stringify(next, null, 2)}\n`)
      digests = next
    })

  const saveDigest = (name: string, version: string, digest: string) =>
    save(name, recorded => ({ ...recorded, [version]: digest }))

  const hashFiles = (name: string, version: string) => hashPackage(join(folder, name, version))

  return {
    record: async (name, version) => {
      const files = await hashFiles(name, version)
      await saveDigest(name, version, computeDigest(files))
    },
    delete: (name, version) => save(name, ({ [version]: _, ...otherVersions }) => otherVersions),
    verify: async (name, version) => {
      const files = await hashFiles(name, version)
      const digest = computeDigest(files)
      const recorded = digests[name]?.[version]
      if (recorded === undefined) {
        await saveDigest(name, version, digest)
      } else if (recorded !== digest) {
        throw new Error(
          `the files of version ${version} of plugin ${name} have changed since it was installed: ` +
            'remove it and upload it again',
        )
      }
      return files
    },
  }
}

/**
 * Reads the digests. Returns none if the file is missing or unreadable: the digests are then
 * recorded again.
 */
function readDigests(file: string, log: Log): Digests {
  try {
    return readJsonFile(file, digestsByPlugin) ?? {}
  } catch (error) {
    log.error({ file, reason: (error as Error).message }, 'failed to read digests of plugins')
    return {}
  }
}

/**
 * Returns the SHA-256 of the names and contents of all files, in hexadecimal digits. `files`
 * maps the path of each file to the SHA-256 of its content, which represents the content.
 */
export function computeDigest(files: PackageFiles): string {
  const hash = createHash('sha256')
  for (const path of [...files.keys()].sort()) hash.update(`${files.get(path)} ${path}\n`)
  return hash.digest('hex')
}
