import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pluginName, pluginVersion } from '@eyrie/contract'
import { parseAs } from '@eyrie/contract/parse'
import { writeDurably } from '@eyrie/kit/durable-file'
import type { Log } from '@eyrie/kit/log'
import { hashPackage, type PackageFiles } from '@eyrie/plugin-signature/package-files'
import { z } from 'zod'

/** SHA-256 by plugin and version. */
const digestFile = z.record(pluginName, z.record(pluginVersion, z.string().regex(/^[0-9a-f]{64}$/)))
type Digests = z.infer<typeof digestFile>

/** The digests of the uploaded plugins, as they were when they were installed. */
export interface PackageDigests {
  record(name: string, version: string): Promise<void>
  delete(name: string, version: string): Promise<void>
  /**
   * Returns the files of a plugin. Throws an `Error` if they have changed. A plugin without a digest, which an earlier release
   * has installed, gets one.
   */
  verify(name: string, version: string): Promise<PackageFiles>
}

/** Opens the digests of the plugins in `folder` (`<folder>/<name>/<version>/`). */
export function openPackageDigests(folder: string, log: Log): PackageDigests {
  const file = join(folder, 'digests.json')
  let digests = readDigests(file, log)

  async function save(next: Digests): Promise<void> {
    digests = next
    await writeDurably(file, `${JSON.stringify(next, null, 2)}\n`)
  }

  const hash = (name: string, version: string) => hashPackage(join(folder, name, version))

  const store = (name: string, version: string, files: PackageFiles) =>
    save({ ...digests, [name]: { ...digests[name], [version]: computeDigest(files) } })

  return {
    record: async (name, version) => store(name, version, await hash(name, version)),
    delete: async (name, version) => {
      const { [version]: _, ...others } = digests[name] ?? {}
      await save({ ...digests, [name]: others })
    },
    verify: async (name, version) => {
      const files = await hash(name, version)
      const expected = digests[name]?.[version]
      if (expected === undefined) await store(name, version, files)
      if (expected === undefined || computeDigest(files) === expected) return files
      throw new Error(
        `the files of version ${version} of plugin ${name} have changed since it was installed: remove it and upload it again`,
      )
    },
  }
}

function readDigests(file: string, log: Log): Digests {
  try {
    return parseAs(digestFile, JSON.parse(readFileSync(file, 'utf8')))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT')
      log.error({ file, reason: (error as Error).message }, 'failed to read digests of plugins')
    return {}
  }
}

/** Returns the SHA-256 of the names and contents of all files. */
export function computeDigest(files: PackageFiles): string {
  const digest = createHash('sha256')
  for (const path of [...files.keys()].sort()) digest.update(`${files.get(path)} ${path}\n`)
  return digest.digest('hex')
}
