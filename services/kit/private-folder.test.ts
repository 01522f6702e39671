import { spawnSync } from 'node:child_process'
import { chmodSync, chownSync, lstatSync, mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { needs } from '../../test/fixtures/requirements/needs.ts'
import { root } from '../../test/fixtures/requirements/root.ts'
import { createTemporaryFolder } from '../../test/fixtures/temporary-folder.ts'
import { createSharedFolder } from './private-folder.ts'

const GROUP = 61_000
const SERVICE = { uid: 61_001, gid: GROUP }

/**
 * Creates or accepts the folder as another user. Returns the error message; empty if it is
 * accepted.
 */
function acceptAs(user: { uid: number; gid: number }, folder: string): string {
  const script = `
    import { createPrivateFolder } from '${join(import.meta.dirname, 'private-folder.ts')}'
    await createPrivateFolder(${JSON.stringify(folder)}).catch(({ message }) => process.stdout.write(message))`
  const args = ['--input-type=module-typescript', '-e', script]
  const { stdout, stderr, status } = spawnSync(process.execPath, args, {
    ...user,
    cwd: '/',
    env: {},
    encoding: 'utf8',
  })
  expect(status, stderr).toBe(0)
  return stdout
}

/** A path in a folder that everybody can enter. */
function createPath(): string {
  const folder = createTemporaryFolder()
  chmodSync(folder, 0o755)
  return join(folder, 'rings')
}

describe('folder that root shares with a group', needs(root), () => {
  it('is accepted by a service of the group only', async () => {
    const folder = createPath()
    await createSharedFolder(folder, GROUP)
    const { uid, gid, mode } = lstatSync(folder)
    expect({ uid, gid, mode: mode & 0o7777 }).toEqual({ uid: 0, gid: GROUP, mode: 0o770 })
    expect(acceptAs(SERVICE, folder)).toBe('')
    expect(acceptAs({ uid: 61_001, gid: 61_002 }, folder)).toContain('it belongs to user 0')
  })

  it('is not accepted if others can enter it, or if an ordinary user has created it', async () => {
    const folder = createPath()
    await createSharedFolder(folder, GROUP)
    chmodSync(folder, 0o777)
    expect(acceptAs(SERVICE, folder)).toContain('it belongs to user 0')
    chmodSync(folder, 0o770)
    chownSync(folder, 61_003, GROUP)
    expect(acceptAs(SERVICE, folder)).toContain('it belongs to user 61003')
  })

  it('may exist, such as a mount point, but only as a folder of root', async () => {
    const folder = createPath()
    mkdirSync(folder, { mode: 0o700 })
    await createSharedFolder(folder, GROUP)
    expect(acceptAs(SERVICE, folder)).toBe('')
    chownSync(folder, 61_003, GROUP)
    await expect(createSharedFolder(folder, GROUP)).rejects.toThrow('it belongs to user 61003')
  })

  it('is not created in place of a link', async () => {
    const folder = createPath()
    symlinkSync(createTemporaryFolder(), folder)
    await expect(createSharedFolder(folder, GROUP)).rejects.toThrow('it is not a folder')
  })
})
