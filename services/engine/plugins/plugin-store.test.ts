import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { createLog } from '@eyrie/kit'
import { beforeEach, describe, expect, it } from 'vitest'
import { type TestPlugin, writePlugin } from '../../../test/fixtures/engine/test-plugin.ts'
import { createTemporaryFolder } from '../../../test/fixtures/temporary-folder.ts'
import { readPlugin } from '../plugin-host/known-plugin.ts'
import { createPluginStore, type PluginStore } from './plugin-store.ts'

let folder: string
let store: PluginStore
beforeEach(() => {
  folder = createTemporaryFolder()
  store = createPluginStore({ folder, otherFolders: [], log: createLog('test', 'silent') })
})

/** Makes every write of a file fail, as a full disk does. Returns what ends that. */
function refuseWrites(file: string): () => void {
  const temporary = join(folder, `${file}.new`)
  mkdirSync(temporary)
  return () => rmSync(temporary, { recursive: true })
}

const install = (plugin: TestPlugin, action: 'add' | 'replace' = 'add') =>
  store.withDraftFolder(async draft => {
    writePlugin(draft, plugin)
    const uploaded = readPlugin(join(draft, 'probe'), 'uploaded')
    const [existing] = store.installed().plugins
    await (action === 'add' ? store.add(uploaded) : store.replace(existing!, uploaded))
  })
const listFolders = () =>
  readdirSync(folder, { withFileTypes: true }).flatMap(entry =>
    entry.isDirectory() ? entry.name : [],
  )

describe('plugin store on a disk that refuses writes', () => {
  it.each(['digests.json', 'active.json'])(
    'leaves no trace of a version that is added, if it cannot write %s',
    async file => {
      const endRefusal = refuseWrites(file)
      await expect(install({})).rejects.toThrow(/EISDIR/)
      endRefusal()
      expect(store.installed()).toEqual({ plugins: [], selected: {} })
      expect(existsSync(join(folder, 'probe/1.0.0'))).toBe(false)
    },
  )

  it('continues with the files that it cannot replace', async () => {
    const version = '1.0.0-dev'
    await install({ version, open: 'return 1' })
    const endRefusal = refuseWrites('digests.json')
    await expect(install({ version, open: 'return 2' }, 'replace')).rejects.toThrow(/EISDIR/)
    endRefusal()
    expect(readFileSync(join(folder, 'probe', version, 'element.ts'), 'utf8')).toContain('return 1')
    await store.verifyPackage('probe', version)
    expect(listFolders()).toEqual(['probe'])
  })

  it('frees the space of a version that is removed', async () => {
    await install({})
    const endRefusal = refuseWrites('active.json')
    await expect(store.remove(store.installed().plugins[0]!)).rejects.toThrow(/EISDIR/)
    endRefusal()
    expect(readdirSync(join(folder, 'probe'))).toEqual([])
    expect(listFolders()).toEqual(['probe'])
  })
})

it('packages without a digest are verified at the same time', async () => {
  await install({})
  await install({ version: '2.0.0' })
  rmSync(join(folder, 'digests.json'))
  const reopened = createPluginStore({ folder, otherFolders: [], log: createLog('test', 'silent') })
  const versions = ['1.0.0', '2.0.0']
  await Promise.all(versions.map(version => reopened.verifyPackage('probe', version)))
  const recorded = JSON.parse(readFileSync(join(folder, 'digests.json'), 'utf8'))
  expect(Object.keys(recorded.probe)).toEqual(expect.arrayContaining(versions))
})
