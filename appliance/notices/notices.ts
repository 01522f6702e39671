import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

interface LockedPackage {
  version?: string
  license?: string
  link?: boolean
  dev?: boolean
  os?: string[]
  cpu?: string[]
}

interface ShippedPackage {
  folder: string
  name: string
  version: string
  license: string
  /** Built for one platform, so it may not be installed and its license text may not be readable. */
  isPlatformSpecific: boolean
}

/**
 * Renders the notices for all npm packages that Eyrie is shipped with: their licences and licence texts. Reads the
 * lockfile and the installed packages below `root`. The result is the same on every platform.
 */
export function renderNotices(root: string): string {
  const packages = readShippedPackages(root)
  const texts = Map.groupBy(
    packages.flatMap(shipped => readLicenseTexts(root, shipped).map(text => ({ shipped, text }))),
    ({ text }) => text,
  )
  const rows = packages.map(({ name, version, license }) => `| ${name} | ${version} | ${license} |`)
  const sections = [...texts].map(([text, of]) => {
    const names = of.map(({ shipped }) => `${shipped.name} ${shipped.version}`)
    return `## ${[...new Set(names)].join(', ')}\n\n\`\`\`text\n${text}\n\`\`\`\n`
  })
  return [
    '# Third-party notices\n',
    'The npm packages that Eyrie is shipped with. Written by `make generate`.\n',
    '| Package | Version | Licence |\n|---|---|---|',
    `${rows.join('\n')}\n`,
    ...sections,
  ].join('\n')
}

function readShippedPackages(root: string): ShippedPackage[] {
  const lock: { packages: Record<string, LockedPackage> } = JSON.parse(
    readFileSync(join(root, 'package-lock.json'), 'utf8'),
  )
  return Object.entries(lock.packages)
    .filter(([path, { link, dev }]) => path.includes('node_modules/') && !link && !dev)
    .map(([folder, { version = '', license = 'not stated', os, cpu }]) => ({
      folder,
      name: folder.slice(folder.lastIndexOf('node_modules/') + 'node_modules/'.length),
      version,
      license,
      isPlatformSpecific: os !== undefined || cpu !== undefined,
    }))
    .sort((a, b) => (a.name < b.name ? -1 : 1))
}

function readLicenseTexts(root: string, { folder, isPlatformSpecific }: ShippedPackage): string[] {
  const path = join(root, folder)
  if (isPlatformSpecific || !existsSync(path)) return []
  return readdirSync(path)
    .filter(file => /^(licen[cs]e|copying|notice)([-_.].*)?$/i.test(file))
    .sort()
    .map(file => readFileSync(join(path, file), 'utf8').replaceAll('\r', '').replaceAll('```', "'''").trim())
}
