import { resolve } from 'node:path'
import type { DependentComponent } from './component.ts'
import {
  type Distribution,
  type InstalledPackage,
  readDistribution,
  readInstalledPackages,
  runProgram,
} from './installed-packages.ts'

const PACKAGE_LISTS = resolve(import.meta.dirname, '../setup/packages.sh')

/**
 * Returns the installed Debian packages that setup requires, and all installed
 * packages that these need.
 */
export function listDebianComponents(): DependentComponent[] {
  const index = indexByName(readInstalledPackages())
  return toComponents(findRequired(readRequiredNames(), index), index)
}

/** Returns all installed Debian packages. */
export function listAllDebianComponents(): DependentComponent[] {
  const installed = readInstalledPackages()
  return toComponents(installed, indexByName(installed))
}

/**
 * The installed packages by their own name and by the names of the virtual packages that they
 * provide.
 */
type PackageIndex = ReadonlyMap<string, InstalledPackage[]>

function indexByName(installed: readonly InstalledPackage[]): PackageIndex {
  const index = new Map<string, InstalledPackage[]>()
  for (const candidate of installed) {
    for (const name of [candidate.name, ...candidate.provides]) {
      const namesakes = index.get(name) ?? []
      index.set(name, [...namesakes, candidate])
    }
  }
  return index
}

/**
 * Returns the installed packages with these names. A name that is not installed, such as an unused
 * alternative, is left out.
 */
const findAll = (names: readonly string[], index: PackageIndex): InstalledPackage[] =>
  names.flatMap(name => index.get(name) ?? [])

/** Returns the named packages and, transitively, their dependencies, nearest first. */
function findRequired(names: readonly string[], index: PackageIndex): InstalledPackage[] {
  const required = new Set<InstalledPackage>()
  const queue = findAll(names, index)
  for (let next = queue.shift(); next; next = queue.shift()) {
    if (required.has(next)) continue
    required.add(next)
    queue.push(...findAll(next.dependencies, index))
  }
  return [...required]
}

function toComponents(
  packages: readonly InstalledPackage[],
  index: PackageIndex,
): DependentComponent[] {
  const distribution = readDistribution()
  return packages.map(installed => {
    const { name, version, dependencies } = installed
    const purl = toPackageUrl(installed, distribution)
    return {
      component: { type: 'library', 'bom-ref': purl, name, version, purl },
      dependsOn: findAll(dependencies, index).map(dependency =>
        toPackageUrl(dependency, distribution),
      ),
    }
  })
}

/** Returns the package URL (purl) of a Debian package. */
function toPackageUrl(
  { name, version, architecture }: InstalledPackage,
  { id, release }: Distribution,
): string {
  const identity = `${encodeURIComponent(name)}@${encodeURIComponent(version)}`
  return `pkg:deb/${id}/${identity}?arch=${architecture}&distro=${id}-${release}`
}

/** Returns the names of the packages of the appliance, without those of the tests. */
function readRequiredNames(): string[] {
  const script = `source "$1"; printf '%s\\n' "\${run_packages[@]}" "\${worker_packages[@]}"`
  return runProgram('bash', ['-c', script, 'bash', PACKAGE_LISTS])
}
