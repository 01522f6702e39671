import { describe, expect, it } from 'vitest'
import { renderNotices } from '../../appliance/notices/notices.ts'
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

/** libzmq inside `zeromq`: the MPL covers its own files and does not extend to ours. */
const exceptions = new Map([['node_modules/zeromq', 'MIT AND MPL-2.0']])

/** SPDX: one alternative of `OR` suffices, every part of `AND` must be permissive. */
const isPermissive = (license: string) =>
  license
    .replace(/^\((.*)\)$/, '$1')
    .split(' OR ')
    .some(alternative => alternative.split(' AND ').every(each => permissive.has(each)))

/** Development tools are not shipped. */
const isDevelopmentTool = (details: LockedPackage) => details.dev === true

describe('npm packages', () => {
  it('of the project share its version', () => {
    const { version } = JSON.parse(read('package.json'))
    const manifests = projectFiles().filter(file =>
      /^(sdk|services|console|appliance)\/.*package\.json$/.test(file),
    )
    expect(manifests.filter(file => JSON.parse(read(file)).version !== version)).toEqual([])
  })

  it('are pinned to exact versions', () => {
    const unpinned = projectFiles()
      .filter(file => /(^|\/)package\.json$/.test(file))
      .flatMap(file => {
        const { dependencies = {}, devDependencies = {} } = JSON.parse(read(file))
        return Object.entries({ ...dependencies, ...devDependencies })
          .filter(([, version]) => !/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(String(version)))
          .map(([name, version]) => `${file}: ${name} ${version}`)
      })
    expect(unpinned).toEqual([])
  })

  it('are locked for every platform, so that npm ci accepts the lockfile everywhere', () => {
    const optional = installed.flatMap(([path, { optionalDependencies = {} }]) =>
      Object.keys(optionalDependencies).map(name => [path, name] as const),
    )
    const missing = optional.filter(
      ([path, name]) =>
        !lock.packages[`node_modules/${name}`] && !lock.packages[`${path}/node_modules/${name}`],
    )
    expect(missing).toEqual([])
  })

  it('have no registry URL in the lockfile', () => {
    expect(
      installed.filter(([, { resolved }]) => resolved?.includes('://')).map(([path]) => path),
    ).toEqual([])
  })

  it('have permissive licences if they are shipped', () => {
    const others = installed
      .filter(
        ([, details]) =>
          !isDevelopmentTool(details) && !isPermissive(details.license ?? 'none stated'),
      )
      .filter(([path, { license }]) => exceptions.get(path) !== license)
      .map(([path, { license }]) => `${path}: ${license}`)
    expect(others).toEqual([])
  })

  it('are listed with their licences in the third-party notices if they are shipped', () => {
    expect(read('THIRD-PARTY-NOTICES.md')).toBe(renderNotices(root))
  })
})
