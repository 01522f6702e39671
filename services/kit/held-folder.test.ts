import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { rmdir } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createTemporaryFolder } from '../../test/fixtures/temporary-folder.ts'
import { holdFolder } from './held-folder.ts'

describe('held folder', () => {
  it('is created, and stays when the media service stops and removes empty folders', async () => {
    const folder = join(createTemporaryFolder(), 'rings')
    const release = await holdFolder(folder, 'engine')
    await expect(rmdir(folder)).rejects.toThrow('ENOTEMPTY')
    await release()
    expect(existsSync(folder)).toBe(false)
  })

  it('is left to the media service while that uses it', async () => {
    const folder = join(createTemporaryFolder(), 'rings')
    const release = await holdFolder(folder, 'engine')
    writeFileSync(join(folder, 'source-1-1.ring'), '')
    await release()
    expect(existsSync(folder)).toBe(true)
  })

  it('is rejected if other users can enter it', async () => {
    const folder = join(createTemporaryFolder(), 'rings')
    mkdirSync(folder, { mode: 0o750 })
    await expect(holdFolder(folder, 'engine')).rejects.toThrow(
      /other users can enter it.*set EYRIE_RING/,
    )
  })
})
