import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { readLockedPackages } from './locked-packages.ts'

interface ShippedPackage {
  folder: string
  name: string
  version: string
  license: string
  /**
   * The package is built for one platform. On other platforms it is not installed, and
   * has no licence text.
   */
  isPlatformSpecific: boolean
}

/**
 * Renders the notices for all npm packages that Eyrie ships: a table of licences, and the
 * licence texts. Reads the lockfile and the installed packages in `root`. The result is the
 * same on every platform.
 */
export function renderNotices(root: string): string {
  const packages = readShippedPackages(root)
  const rows = packages.map(({ name, version, license }) => `| ${name} | ${version} | ${license} |`)
  return [
    '# Third-party notices\n',
    'The npm packages that Eyrie is shipped with. Written by `make generate`.\n',
    '| Package | Version | Licence |\n|---|---|---|',
    `${rows.join('\n')}\n`,
    ...renderLicenseSections(root, packages),
  ].join('\n')
}

/** Renders each licence text once, below the names of all packages that contain it. */
function renderLicenseSections(root: string, packages: ShippedPackage[]): string[] {
  const namesByText = new Map<string, Set<string>>()
  for (const shipped of packages) {
    for (const text of readLicenseTexts(root, shipped)) {
      const names = namesByText.get(text) ?? new Set()
      names.add(`${shipped.name} ${shipped.version}`)
      namesByText.set(text, names)
    }
  }
  return [...namesByText].map(
    ([text, names]) => `## ${[...names].join(', ')}\n\n\`\`\`text\n${text}\n\`\`\`\n`,
  )
}

/** Returns the packages of the lockfile, without development dependencies. */
function readShippedPackages(root: string): ShippedPackage[] {
  const shipped = readLockedPackages(join(root, 'package-lock.json')).map(locked => ({
    folder: locked.folder,
    name: locked.name,
    version: locked.version,
    license: locked.license ?? 'not stated',
    isPlatformSpecific: locked.os !== undefined || locked.cpu !== undefined,
  }))
  return shipped.sort((a, b) => (a.name < b.name ? -1 : 1))
}

/**
 * Reads files such as `LICENSE`, `LICENSE-MIT`, `COPYING` and `NOTICE.txt` in the
 * folder of a package.
 */
function readLicenseTexts(root: string, { folder, isPlatformSpecific }: ShippedPackage): string[] {
  const path = join(root, folder)
  if (isPlatformSpecific || !existsSync(path)) return []
  const files = readdirSync(path).filter(file =>
    /^(licen[cs]e|copying|notice)([-_.].*)?$/i.test(file),
  )
  return files.sort().map(file => toCodeBlockText(readFileSync(join(path, file), 'utf8')))
}

/** Replaces the characters that would end a Markdown code block. */
function toCodeBlockText(text: string): string {
  return text.replaceAll('\r', '').replaceAll('```', "'''").trim()
}
