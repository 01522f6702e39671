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

interface Shipped {
  folder: string
  name: string
  version: string
  license: string
  /** Made for one platform: its text is not there to be read everywhere. */
  isPlatformOwn: boolean
}

/**
 * What is shipped besides Eyrie's own files, with the licence of each npm package and its text as the package brings
 * it. Reads the lockfile and the installed packages under `root`; the same on every platform.
 */
export function thirdPartyNotices(root: string): string {
  const packages = shippedPackages(root)
  const texts = Map.groupBy(
    packages.flatMap(shipped => licenseTexts(root, shipped).map(text => ({ shipped, text }))),
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

function shippedPackages(root: string): Shipped[] {
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
      isPlatformOwn: os !== undefined || cpu !== undefined,
    }))
    .sort((a, b) => (a.name < b.name ? -1 : 1))
}

function licenseTexts(root: string, { folder, isPlatformOwn }: Shipped): string[] {
  const path = join(root, folder)
  if (isPlatformOwn || !existsSync(path)) return []
  return readdirSync(path)
    .filter(file => /^(licen[cs]e|copying|notice)([-_.].*)?$/i.test(file))
    .sort()
    .map(file => readFileSync(join(path, file), 'utf8').replaceAll('\r', '').replaceAll('```', "'''").trim())
}
