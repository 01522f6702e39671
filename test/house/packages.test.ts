import { describe, expect, it } from 'vitest'
import { thirdPartyNotices } from '../../appliance/notices/notices.ts'
import { projectFiles, read, root } from './sources.ts'

interface LockedPackage {
  version?: string
  resolved?: string
  link?: boolean
  license?: string
  optionalDependencies?: Record<string, string>
  dev?: boolean
}

const lock: { packages: Record<string, LockedPackage> } = JSON.parse(read('package-lock.json'))
const installed = Object.entries(lock.packages).filter(
  ([path, { link }]) => path.includes('node_modules/') && !link,
)

const permissive = new Set(
  'MIT MIT-0 ISC BSD-2-Clause BSD-3-Clause Apache-2.0 0BSD BlueOak-1.0.0 CC0-1.0 Unlicense Zlib Python-2.0 CC-BY-4.0'.split(
    ' ',
  ),
)

/** libzmq inside `zeromq`: its files stay under their licence, and put none on ours. */
const accepted = new Map([['node_modules/zeromq', 'MIT AND MPL-2.0']])

/** Of alternatives one is enough, of licences that hold together each has to be permissive. */
const isPermissive = (license: string) =>
  license
    .replace(/^\((.*)\)$/, '$1')
    .split(' OR ')
    .some(alternative => alternative.split(' AND ').every(each => permissive.has(each)))

/** Tools that run at development time alone and are not part of what is shipped. */
const toolsOnly = (details: LockedPackage) => details.dev === true

describe('the npm packages', () => {
  it('of the project have its version', () => {
    const { version } = JSON.parse(read('package.json'))
    const own = projectFiles().filter(file =>
      /^(sdk|services|console|appliance)\/.*package\.json$/.test(file),
    )
    expect(own.filter(file => JSON.parse(read(file)).version !== version)).toEqual([])
  })

  it('are pinned to exact versions', () => {
    const loose = projectFiles()
      .filter(file => /(^|\/)package\.json$/.test(file))
      .flatMap(file => {
        const { dependencies = {}, devDependencies = {} } = JSON.parse(read(file))
        return Object.entries({ ...dependencies, ...devDependencies })
          .filter(([, version]) => !/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(String(version)))
          .map(([name, version]) => `${file}: ${name} ${version}`)
      })
    expect(loose).toEqual([])
  })

  it('are locked for every platform, so that no npm finds the lockfile out of step', () => {
    const wanted = installed.flatMap(([path, { optionalDependencies = {} }]) =>
      Object.keys(optionalDependencies).map(name => [path, name] as const),
    )
    const missing = wanted.filter(
      ([path, name]) =>
        !lock.packages[`node_modules/${name}`] && !lock.packages[`${path}/node_modules/${name}`],
    )
    expect(missing).toEqual([])
  })

  it('carry no registry address in the lockfile', () => {
    expect(installed.filter(([, { resolved }]) => resolved?.includes('://')).map(([path]) => path)).toEqual(
      [],
    )
  })

  it('that are shipped have permissive licences', () => {
    const others = installed
      .filter(([, details]) => !toolsOnly(details) && !isPermissive(details.license ?? 'none stated'))
      .filter(([path, { license }]) => accepted.get(path) !== license)
      .map(([path, { license }]) => `${path}: ${license}`)
    expect(others).toEqual([])
  })

  it('that are shipped are named in the notices, with their licences', () => {
    expect(read('THIRD-PARTY-NOTICES.md')).toBe(thirdPartyNotices(root))
  })
})
