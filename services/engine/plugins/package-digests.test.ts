import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createLog } from '@eyrie/kit'
import { hashPackage } from '@eyrie/plugin-signature/package-files'
import { signPackage } from '@eyrie/plugin-signature/package-signature'
import { expect, it } from 'vitest'
import { createPublisher } from '../../../test/fixtures/engine/signed-package.ts'
import { writePlugin } from '../../../test/fixtures/engine/test-plugin.ts'
import { createTemporaryFolder } from '../../../test/fixtures/temporary-folder.ts'
import { openPackageDigests } from './package-digests.ts'
import { createPluginStore } from './plugin-store.ts'

it('package digests detect changed, added and renamed files, also after a restart', async () => {
  const folder = createTemporaryFolder()
  const files = join(folder, 'probe/1.0.0')
  mkdirSync(join(files, 'lib'), { recursive: true })
  const write = (name: string, content: string) => writeFileSync(join(files, name), content)
  write('element.ts', 'export default {}')
  write('lib/limit.ts', '3')
  const open = () => openPackageDigests(folder, createLog('test', 'silent'))
  const verify = () => open().verify('probe', '1.0.0')

  await open().record('probe', '1.0.0')
  await verify()
  write('lib/limit.ts', '4')
  await expect(verify()).rejects.toThrow(/files of version 1\.0\.0 of plugin probe have changed/)
  write('lib/limit.ts', '3')
  await verify()
  write('lib/added.ts', '')
  await expect(verify()).rejects.toThrow(/have changed/)

  // A version that an earlier release has installed has no digest.
  await open().delete('probe', '1.0.0')
  await verify()
  write('element.ts', 'export default { }')
  await expect(verify()).rejects.toThrow(/have changed/)
})

it('the signature of a plugin protects it, too, if someone replaces the digests', async () => {
  const folder = createTemporaryFolder()
  writePlugin(folder, { name: 'probe' })
  const files = join(folder, 'probe')
  const acme = createPublisher()
  writeFileSync(join(files, 'signature.json'), signPackage(await hashPackage(files), acme))
  const store = createPluginStore({
    folder: join(folder, 'data'),
    otherFolders: [],
    log: createLog('test', 'silent'),
  })
  mkdirSync(join(folder, 'data/probe'))
  const installed = join(folder, 'data/probe/1.0.0')
  renameSync(files, installed)

  const claim = { state: 'signed', publisher: acme.publisher, key: acme.key }
  expect(await store.verifyPackage('probe', '1.0.0')).toEqual(claim)
  writeFileSync(join(installed, 'element.ts'), 'export default {}')
  await expect(store.verifyPackage('probe', '1.0.0')).rejects.toThrow(
    /have changed since it was installed/,
  )

  rmSync(join(folder, 'data/digests.json'))
  const reopened = createPluginStore({
    folder: join(folder, 'data'),
    otherFolders: [],
    log: createLog('test', 'silent'),
  })
  await expect(reopened.verifyPackage('probe', '1.0.0')).rejects.toThrow(
    /"element\.ts" was changed after/,
  )
})
