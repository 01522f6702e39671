import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { pluginName, pluginVersion } from '@eyrie/contract'
import { parseAs } from '@eyrie/contract/parse'
import { writeDurably } from '@eyrie/kit/durable-file'
import type { Log } from '@eyrie/kit/log'
import { z } from 'zod'

/** SHA-256 by plugin and version. */
const digestFile = z.record(pluginName, z.record(pluginVersion, z.string().regex(/^[0-9a-f]{64}$/)))
type Digests = z.infer<typeof digestFile>

/** The digests of the uploaded plugins, as they were when they were installed. */
export interface PackageDigests {
  record(name: string, version: string): Promise<void>
  delete(name: string, version: string): Promise<void>
  /**
   * Throws an `Error` if the files of a plugin have changed. A plugin without a digest, which an earlier release has installed,
   * gets one.
   */
  verify(name: string, version: string): Promise<void>
}

/** Opens the digests of the plugins in `folder` (`<folder>/<name>/<version>/`). */
export function openPackageDigests(folder: string, log: Log): PackageDigests {
  const file = join(folder, 'digests.json')
  let digests = readDigests(file, log)

  async function save(next: Digests): Promise<void> {
    digests = next
    await writeDurably(file, `${JSON.stringify(next, null, 2)}\n`)
  }

  const record = async (name: string, version: string) => {
    const digest = await computeDigest(join(folder, name, version))
    await save({ ...digests, [name]: { ...digests[name], [version]: digest } })
  }

  return {
    record,
    delete: async (name, version) => {
      const { [version]: _, ...others } = digests[name] ?? {}
      await save({ ...digests, [name]: others })
    },
    verify: async (name, version) => {
      const expected = digests[name]?.[version]
      if (expected === undefined) return record(name, version)
      if ((await computeDigest(join(folder, name, version))) === expected) return
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

/** Returns the SHA-256 of the names and contents of all files in a folder. */
export async function computeDigest(folder: string): Promise<string> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const files = entries
    .filter(entry => !entry.isDirectory())
    .map(entry => relative(folder, join(entry.parentPath, entry.name)))
    .sort()
  const digest = createHash('sha256')
  for (const file of files) {
    const content = createHash('sha256').update(await readFile(join(folder, file)))
    digest.update(`${content.digest('hex')} ${file}\n`)
  }
  return digest.digest('hex')
}
