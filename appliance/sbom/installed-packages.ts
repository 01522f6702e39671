import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'

/** A Debian package that is installed on this machine. */
export interface InstalledPackage {
  name: string
  version: string
  architecture: string
  /**
   * Names of the packages that this one needs. If it needs one of several alternatives, the
   * names of all of them.
   */
  dependencies: string[]
  /**
   * Names of the virtual packages that this package provides, such as `awk`.
   * Packages can depend on them.
   */
  provides: string[]
}

/** The distribution of this machine, such as `debian` and `12`. */
export interface Distribution {
  id: string
  release: string
}

/** The fields that are read of each package, in the format of dpkg-query (man 1 dpkg-query). */
const FIELDS = {
  status: 'db:Status-Status',
  name: 'Package',
  version: 'Version',
  architecture: 'Architecture',
  preDepends: 'Pre-Depends',
  depends: 'Depends',
  provides: 'Provides',
}
type Fields = Record<keyof typeof FIELDS, string>

const MAX_OUTPUT_BYTES = 64 * 1024 * 1024

/**
 * Lists the installed packages. Removed packages, which dpkg still lists if their configuration
 * remains, are left out.
 */
export function readInstalledPackages(): InstalledPackage[] {
  const columns = Object.values(FIELDS).map(field => `\${${field}}`)
  return runProgram('dpkg-query', ['-W', '-f', `${columns.join('\t')}\n`])
    .map(parseFields)
    .filter(({ status }) => status === 'installed')
    .map(({ name, version, architecture, preDepends, depends, provides }) => ({
      name,
      version,
      architecture,
      dependencies: parseRelations(`${preDepends},${depends}`),
      provides: parseRelations(provides),
    }))
}

function parseFields(line: string): Fields {
  const values = line.split('\t')
  return Object.fromEntries(
    Object.keys(FIELDS).map((key, column) => [key, values[column] ?? '']),
  ) as Fields
}

/**
 * Parses a field such as `libc6 (>= 2.34), debconf (>= 0.5) | debconf-2.0, python3:any` (Debian
 * policy, section 7.1).
 */
const parseRelations = (text: string) =>
  text.split(/[,|]/).flatMap(relation => /^\s*([a-z0-9][a-z0-9+.-]*)/.exec(relation)?.[1] ?? [])

/**
 * Reads the distribution from os-release (man 5 os-release). Rolling distributions have no release:
 * it is then `unknown`.
 */
export function readDistribution(): Distribution {
  const text = readFileSync('/etc/os-release', 'utf8')
  const read = (name: string) => new RegExp(`^${name}="?([^"\\n]*)`, 'm').exec(text)?.[1]
  return { id: read('ID') ?? 'unknown', release: read('VERSION_ID') ?? 'unknown' }
}

/** Runs a program and returns the lines of its output that are not empty. */
export const runProgram = (program: string, args: string[]): string[] =>
  execFileSync(program, args, { encoding: 'utf8', maxBuffer: MAX_OUTPUT_BYTES })
    .split('\n')
    .filter(Boolean)
