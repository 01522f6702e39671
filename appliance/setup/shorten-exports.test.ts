import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createTemporaryFolder } from '../../test/fixtures/temporary-folder.ts'
import { shortenExports } from './shorten-exports.ts'

const SCRIPT = resolve(import.meta.dirname, 'shorten-exports.ts')

const filesOf = (path: string) => ({ import: `${path}.js`, require: `${path}.cjs` })
const exports = {
  '.': filesOf('./index'),
  './package.json': './package.json',
  './column': filesOf('./column'),
  './sql': filesOf('./sql/index'),
  './sql/sql': filesOf('./sql/sql'),
}

/** Creates a package with these exports, all of whose files exist. */
function createPackage() {
  const root = createTemporaryFolder()
  const folder = join(root, 'node_modules/many-exports')
  for (const path of ['index', 'column', 'sql/index', 'sql/sql', 'internal/hidden']) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, `${path}.cjs`), '')
    writeFileSync(join(folder, `${path}.js`), '')
  }
  writeFileSync(
    join(folder, 'package.json'),
    JSON.stringify({ name: 'many-exports', version: '1.2.3', exports }),
  )
  return folder
}

/** The file that Node finds for each path of the package. */
function resolveAll(folder: string, paths: string[]) {
  // In a process of its own, because Node keeps what it has read of a package.
  const program = `for (const path of ${JSON.stringify(paths)}) console.log(require.resolve(path))`
  const names = paths.map(path => path.replace(/^\./, 'many-exports'))
  return execFileSync(
    process.execPath,
    ['-e', program.replace(JSON.stringify(paths), JSON.stringify(names))],
    {
      cwd: resolve(folder, '../..'),
      encoding: 'utf8',
    },
  )
}

describe('shortened exports', () => {
  it('lead to the same files', () => {
    const folder = createPackage()
    const before = resolveAll(folder, Object.keys(exports))
    execFileSync(process.execPath, [SCRIPT, folder])
    const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
    expect(Object.keys(manifest.exports)).toEqual(['.', './package.json', './sql', './*'])
    expect(manifest).toMatchObject({ name: 'many-exports', version: '1.2.3' })
    expect(resolveAll(folder, Object.keys(exports))).toBe(before)
  })

  it('stay as they are when they have a pattern', () => {
    const patterns = { ...exports, './*': filesOf('./*') }
    expect(shortenExports(patterns)).toBe(patterns)
    const once = shortenExports(exports)
    expect(shortenExports(once)).toBe(once)
  })

  it('are those of the installed package whose entries took half a second to parse', () => {
    const manifest = join(
      dirname(createRequire(import.meta.url).resolve('drizzle-orm')),
      'package.json',
    )
    expect(JSON.parse(readFileSync(manifest, 'utf8')).exports).toHaveProperty(['./*'])
  })
})
