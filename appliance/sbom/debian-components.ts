import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import type { DependentComponent } from './component.ts'

const PACKAGE_LISTS = resolve(import.meta.dirname, '../setup/packages.sh')
const MAX_OUTPUT_BYTES = 64 << 20

interface InstalledPackage {
  name: string
  version: string
  architecture: string
  /** Names of packages; of alternatives, each. */
  dependencies: string[]
  /** Names of virtual packages. */
  provides: string[]
}

/** Returns the installed Debian packages that setup requires, and all installed packages that these need. */
export const listDebianComponents = (): DependentComponent[] =>
  listComponents((_, find) => {
    const reached = new Set<InstalledPackage>(readRequiredNames().flatMap(find))
    // A set is iterated in the order of insertion, including what is added meanwhile.
    for (const { dependencies } of reached) for (const found of dependencies.flatMap(find)) reached.add(found)
    return reached
  })

/** Returns all installed Debian packages. */
export const listAllDebianComponents = (): DependentComponent[] => listComponents(installed => installed)

function listComponents(
  select: (
    installed: InstalledPackage[],
    find: (name: string) => InstalledPackage[],
  ) => Iterable<InstalledPackage>,
): DependentComponent[] {
  const installed = readInstalledPackages()
  const distribution = readDistribution()
  const byName = Map.groupBy(
    installed.flatMap(found => [found.name, ...found.provides].map(name => ({ name, found }))),
    ({ name }) => name,
  )
  const find = (name: string) => (byName.get(name) ?? []).map(({ found }) => found)

  const toRef = ({ name, version, architecture }: InstalledPackage) =>
    `pkg:deb/${distribution.id}/${encodeURIComponent(name)}@${encodeURIComponent(version)}?arch=${architecture}&distro=${distribution.id}-${distribution.version}`

  return [...select(installed, find)].map(found => ({
    component: {
      type: 'library',
      'bom-ref': toRef(found),
      name: found.name,
      version: found.version,
      purl: toRef(found),
    },
    dependsOn: found.dependencies.flatMap(find).map(toRef),
  }))
}

/** Returns the names of the packages of the appliance, without those of the tests. */
function readRequiredNames(): string[] {
  const script = `source "$1"; printf '%s\\n' "\${run_packages[@]}" "\${worker_packages[@]}"`
  return runProgram('bash', ['-c', script, 'bash', PACKAGE_LISTS])
}

function readInstalledPackages(): InstalledPackage[] {
  const fields = [
    'db:Status-Status',
    'Package',
    'Version',
    'Architecture',
    'Pre-Depends',
    'Depends',
    'Provides',
  ]
  const format = `${fields.map(field => `\${${field}}`).join('\t')}\n`
  return runProgram('dpkg-query', ['-W', '-f', format])
    .map(line => line.split('\t'))
    .filter(([status]) => status === 'installed')
    .map(([, name = '', version = '', architecture = '', preDepends = '', depends = '', provides = '']) => ({
      name,
      version,
      architecture,
      dependencies: parseRelations(`${preDepends},${depends}`),
      provides: parseRelations(provides),
    }))
}

/** Parses a field such as `libc6 (>= 2.34), debconf (>= 0.5) | debconf-2.0, python3:any` (Debian policy, section 7.1). */
const parseRelations = (text: string) =>
  text.split(/[,|]/).flatMap(relation => /^\s*([a-z0-9][a-z0-9+.-]*)/.exec(relation)?.[1] ?? [])

/** Returns the distribution, such as `debian` and `12` (man 5 os-release). */
function readDistribution(): { id: string; version: string } {
  const text = readFileSync('/etc/os-release', 'utf8')
  const read = (name: string) => new RegExp(`^${name}="?([^"\\n]*)`, 'm').exec(text)?.[1] ?? 'unknown'
  return { id: read('ID'), version: read('VERSION_ID') }
}

const runProgram = (program: string, args: string[]) =>
  execFileSync(program, args, { encoding: 'utf8', maxBuffer: MAX_OUTPUT_BYTES }).split('\n').filter(Boolean)
