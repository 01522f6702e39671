import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createLog } from '@eyrie/kit'
import { expect, it } from 'vitest'
import { createTemporaryFolder } from '../../../test/fixtures/temporary-folder.ts'
import { openPackageDigests } from './package-digests.ts'

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
