import { posix } from 'node:path'
import { type LockedPackage, readLockedPackages } from '../notices/locked-packages.ts'
import { type DependentComponent, toLicenses } from './component.ts'

/**
 * Returns the packages of a lockfile that npm installs on this machine. `isSelected` leaves some of
 * them out.
 */
export function listNpmComponents(
  lockfile: string,
  isSelected: (locked: LockedPackage) => boolean = () => true,
): DependentComponent[] {
  const packages = readLockedPackages(lockfile).filter(
    locked => isForThisMachine(locked) && isSelected(locked),
  )
  const byFolder = new Map(packages.map(locked => [locked.folder, locked]))
  return packages.map(locked => ({
    component: {
      type: 'library',
      'bom-ref': toPackageUrl(locked),
      name: locked.name,
      version: locked.version,
      purl: toPackageUrl(locked),
      ...toLicenses(locked.license),
      ...toHashes(locked.integrity),
    },
    dependsOn: Object.keys({ ...locked.dependencies, ...locked.optionalDependencies }).flatMap(
      name => findDependency(byFolder, locked.folder, name) ?? [],
    ),
  }))
}

const isForThisMachine = ({ os, cpu, libc }: LockedPackage) =>
  permits(os, process.platform) && permits(cpu, process.arch) && permits(libc, 'glibc')

/** Whether a package that is limited to some platforms can be installed on this one. */
const permits = (supported: string | string[] | undefined, platform: string) =>
  supported === undefined || [supported].flat().includes(platform)

/**
 * Returns the package URL, in which the @ of a scope is encoded, but not the slash behind the
 * scope.
 */
const toPackageUrl = ({ name, version }: LockedPackage) =>
  `pkg:npm/${name.replace('@', '%40')}@${encodeURIComponent(version)}`

function toHashes(integrity: string | undefined): Pick<DependentComponent['component'], 'hashes'> {
  const base64 = /^sha512-(\S+)/.exec(integrity ?? '')?.[1]
  if (!base64) return {}
  return { hashes: [{ alg: 'SHA-512', content: Buffer.from(base64, 'base64').toString('hex') }] }
}

/**
 * Returns the package URL of a dependency of the package in `folder`. Like Node, searches the
 * `node_modules` of this package, and then that of each package around it. Undefined if the
 * dependency is not installed on this machine.
 */
function findDependency(
  byFolder: ReadonlyMap<string, LockedPackage>,
  folder: string,
  name: string,
): string | undefined {
  const dependency = byFolder.get(posix.join(folder, 'node_modules', name))
  if (dependency) return toPackageUrl(dependency)
  // The empty folder is that of the lockfile, which is the outermost one.
  if (folder === '') return undefined
  const parentEnd = Math.max(0, folder.lastIndexOf('/node_modules/'))
  return findDependency(byFolder, folder.slice(0, parentEnd), name)
}
