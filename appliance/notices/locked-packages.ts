import { readFileSync } from 'node:fs'

const PACKAGES_FOLDER = 'node_modules/'

/** An entry of a package-lock.json: a package in a folder of node_modules. */
export interface LockedPackage {
  /** Path relative to the folder of the lockfile. */
  folder: string
  name: string
  version: string
  /** SPDX expression, or other text if the package states none. */
  license?: string
  /**
   * Hash of the archive, as in `sha512-<base64>`. Packages inside of the archive of
   * another one have none.
   */
  integrity?: string
  dev?: boolean
  /** Platforms for which the package is built; undefined: all. */
  os?: string | string[]
  cpu?: string | string[]
  libc?: string | string[]
  dependencies?: Record<string, string>
  optionalDependencies?: Record<string, string>
}

/**
 * Reads the packages that others have written from a lockfile, without development dependencies.
 */
export function readLockedPackages(file: string): LockedPackage[] {
  const lock: { packages: Record<string, Partial<LockedPackage> & { link?: boolean }> } =
    JSON.parse(readFileSync(file, 'utf8'))
  const packages: LockedPackage[] = []
  for (const [folder, locked] of Object.entries(lock.packages)) {
    // The other entries are Eyrie's own packages.
    const isThirdParty = folder.includes(PACKAGES_FOLDER) && !locked.link
    if (!isThirdParty || locked.dev) continue
    const name = folder.slice(folder.lastIndexOf(PACKAGES_FOLDER) + PACKAGES_FOLDER.length)
    packages.push({ ...locked, folder, name, version: locked.version ?? '' })
  }
  return packages
}
